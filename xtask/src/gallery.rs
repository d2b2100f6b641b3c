//! The gallery: every experiment run, its figure under `docs/gallery`, and a page about all of them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::say;

const PAGE: &str = "docs/gallery.md";
const FIGURES: &str = "docs/gallery";

/// Run all experiments, at the sources' sizes or for a quick look, and write the page.
pub(crate) fn run(quick: bool) -> Result<(), String> {
    let folder = crate::bench::target().join("gallery");
    let mut command = Command::new("cargo");
    command.args(["run", "--quiet", "--package", "isinglass-cli", "--", "reproduce", "all", "--json", "-o"]);
    command.arg(&folder).args(quick.then_some("--quick")).stderr(Stdio::inherit());
    let output = command.output().map_err(|error| format!("cargo run: {error}"))?;
    if !output.status.success() {
        return Err(format!("isinglass reproduce all: {}", output.status));
    }
    let document: Value = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("isinglass reproduce all: {error}"))?;
    let experiments = document["experiments"].as_array().ok_or("isinglass reproduce all: no experiments")?;
    fs::create_dir_all(FIGURES).map_err(|error| format!("{FIGURES}: {error}"))?;
    let mut page = head(quick);
    for experiment in experiments {
        let name = word(experiment, "name");
        let figure = format!("{name}.svg");
        copy(&folder.join(&figure), &Path::new(FIGURES).join(&figure))?;
        page += &entry(experiment);
    }
    fs::write(PAGE, page).map_err(|error| format!("{PAGE}: {error}"))?;
    say(&format!("{PAGE} shows {} experiments", experiments.len()));
    Ok(())
}

fn head(quick: bool) -> String {
    let (sizes, option) = if quick {
        ("smaller than the sources', for a quick look", " --quick")
    } else {
        ("those of the sources", "")
    };
    format!(
        "# Gallery\n\nEvery experiment of the sources, rerun. Sizes are {sizes}; seed 0. Written by `cargo xtask gallery{option}`; `isinglass reproduce NAME -o DIR{option}` makes one of them, with its numbers \
         as CSV and a longer text.\n"
    )
}

/// A figure and a paragraph.
fn entry(experiment: &Value) -> String {
    let checks = experiment["checks"].as_array().map_or(&[][..], Vec::as_slice);
    let found: Vec<String> = checks
        .iter()
        .map(|check| {
            let what = word(check, "what");
            if check["holds"] == true { what.to_owned() } else { format!("**Does not hold:** {what}") }
        })
        .map(|what| capital(&what))
        .collect();
    let (name, title) = (word(experiment, "name"), word(experiment, "title"));
    format!(
        "\n## {name}: {title}\n\n![{title}](gallery/{name}.svg)\n\n*{}.* {} What came out: {} **Verdict: {}.** {}\n",
        word(experiment, "source"),
        word(experiment, "claim"),
        found.join(" "),
        word(experiment, "verdict"),
        word(experiment, "remarks")
    )
    .replace(" \n", "\n")
}

fn word<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or("")
}

/// With its first letter large.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn copy(from: &Path, to: &Path) -> Result<PathBuf, String> {
    fs::copy(from, to).map_err(|error| format!("{}: {error}", from.display()))?;
    Ok(to.to_owned())
}
