//! Benchmarks: runs them, and collects the framework's results into one table and one JSON file.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use serde_json::{Value, json};

use crate::say;

/// The folder that cargo builds in; the results of the framework and ours are below it.
pub(crate) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from)
}

/// Runs the benchmarks whose names contain the filter.
pub(crate) fn run(filter: Option<&str>) -> Result<(), String> {
    let began = SystemTime::now();
    let mut command = Command::new("cargo");
    command.args(["bench", "--quiet", "--package", "isinglass-benches", "--benches", "--"]).args(filter);
    let status = command.status().map_err(|error| format!("cargo bench: {error}"))?;
    if !status.success() {
        return Err(format!("cargo bench: {status}"));
    }
    let mut found = Vec::new();
    collect(&target().join("criterion"), began, &mut found)?;
    found.sort_by(|a, b| a.name.cmp(&b.name));
    let width = found.iter().map(|result| result.name.chars().count()).max().unwrap_or(0);
    say("");
    for result in &found {
        say(&format!("{:<width$}  {:>12}  {}", result.name, duration(result.nanoseconds), result.rate()));
    }
    let summary: Vec<Value> = found
        .iter()
        .map(|result| json!({"name": result.name, "nanoseconds": result.nanoseconds, "elements": result.elements}))
        .collect();
    let path = target().join("bench.json");
    let text = format!("{:#}\n", Value::from(summary));
    fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    say(&format!("\n{} holds these figures", path.display()));
    Ok(())
}

/// The median time of one run, and the number of elements that it processed.
struct Measured {
    name: String,
    nanoseconds: f64,
    elements: Option<f64>,
}

impl Measured {
    fn rate(&self) -> String {
        self.elements.map_or_else(String::new, |elements| {
            format!("{:>9.1} million/s", elements / self.nanoseconds * 1e3)
        })
    }
}

/// Finds results newer than the start of the run, in any folder below.
fn collect(folder: &Path, since: SystemTime, found: &mut Vec<Measured>) -> Result<(), String> {
    let problem = |error: &dyn std::fmt::Display| format!("{}: {error}", folder.display());
    let estimates = folder.join("new/estimates.json");
    let fresh = fs::metadata(&estimates).and_then(|file| file.modified()).is_ok_and(|time| time >= since);
    if fresh {
        let read = |path: &Path| -> Result<Value, String> {
            let text = fs::read_to_string(path).map_err(|error| problem(&error))?;
            serde_json::from_str(&text).map_err(|error| problem(&error))
        };
        let (times, about) = (read(&estimates)?, read(&folder.join("new/benchmark.json"))?);
        found.push(Measured {
            name: about["full_id"].as_str().unwrap_or("?").to_owned(),
            nanoseconds: times["median"]["point_estimate"].as_f64().unwrap_or(f64::NAN),
            elements: about["throughput"]["Elements"].as_f64(),
        });
        return Ok(());
    }
    let Ok(entries) = fs::read_dir(folder) else {
        return Ok(());
    };
    for entry in entries {
        let path = entry.map_err(|error| problem(&error))?.path();
        if path.is_dir() {
            collect(&path, since, found)?;
        }
    }
    Ok(())
}

fn duration(nanoseconds: f64) -> String {
    match nanoseconds {
        x if x < 1e3 => format!("{x:.1} ns"),
        x if x < 1e6 => format!("{:.2} µs", x / 1e3),
        x if x < 1e9 => format!("{:.3} ms", x / 1e6),
        x => format!("{:.3} s", x / 1e9),
    }
}
