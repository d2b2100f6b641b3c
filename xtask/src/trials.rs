//! Fuzzing of the readers, and the trial of the whole program.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::bench::target;
use crate::say;
use crate::steps::run;

/// What makes the compiler count which code an input reaches; these are options of the stable
/// compiler.
const INSTRUMENTS: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares";

/// The longest trial, in minutes.
const LONGEST: f64 = 10.0;

/// What `fuzz` and `torture` take.
#[derive(Debug, Default, PartialEq)]
struct Options {
    minutes: f64,
    plain: bool,
    merge: bool,
    seed: Option<String>,
    /// Targets or parts.
    names: Vec<String>,
}

impl Options {
    fn parse(arguments: &[String], minutes: f64) -> Result<Self, String> {
        let mut options = Self { minutes, ..Self::default() };
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let mut value = || rest.next().cloned().ok_or_else(|| format!("{argument} needs a value"));
            match argument.as_str() {
                "--minutes" => {
                    let minutes = value()?.parse::<f64>().ok().filter(|minutes| *minutes > 0.0);
                    options.minutes = minutes.ok_or("--minutes needs a number above 0")?;
                }
                "--seed" => options.seed = Some(value()?),
                "--plain" => options.plain = true,
                "--merge" => options.merge = true,
                name if name.starts_with('-') => return Err(format!("unknown option {name}")),
                name => options.names.push(name.to_owned()),
            }
        }
        Ok(options)
    }
}

/// Fuzzes the readers for some minutes: with libFuzzer, or without it by `--plain`.
pub(crate) fn fuzz(arguments: &[String]) -> Result<(), String> {
    let options = Options::parse(arguments, 5.0)?;
    if options.plain {
        build()?;
        let names = options.names.iter().map(String::as_str);
        let seconds = (60.0 * options.minutes).to_string();
        let all: Vec<&str> = [seconds.as_str()].into_iter().chain(names).collect();
        return run(&built("isinglass-fuzz"), &all, &[]);
    }
    guided(&options)
}

/// Builds the targets with libFuzzer, which needs a C++ compiler, and runs them in turn.
fn guided(options: &Options) -> Result<(), String> {
    let host = host()?;
    let folder = target().join("fuzz");
    let place = folder.display().to_string();
    let build = ["build", "--release", "--manifest-path", "fuzz/guided/Cargo.toml", "--target", &host];
    run("cargo", &[&build[..], &["--target-dir", &place]].concat(), &[("RUSTFLAGS", INSTRUMENTS)])?;
    let program = folder.join(&host).join("release/isinglass-fuzz-guided");
    let mut names = options.names.clone();
    if names.is_empty() {
        names = corpora()?;
    }
    let seconds = (60.0 * options.minutes / names.len() as f64).ceil();
    for name in &names {
        let grown = folder.join("corpus").join(name);
        let (kept, found) = (format!("fuzz/corpus/{name}"), format!("fuzz/found/{name}"));
        for path in [&grown, Path::new(&kept), Path::new(&found)] {
            fs::create_dir_all(path).map_err(|error| format!("{}: {error}", path.display()))?;
        }
        let grown = grown.display().to_string();
        let limits = ["-rss_limit_mb=1024", "-timeout=10", "-max_len=16384", "-print_final_stats=1"];
        let (time, artifacts) = (format!("-max_total_time={seconds}"), format!("-artifact_prefix={found}/"));
        let work = if options.merge {
            vec!["-merge=1", &kept, &grown]
        } else {
            vec![time.as_str(), artifacts.as_str(), &grown, &kept, &found]
        };
        let program = program.display().to_string();
        run(&program, &[&limits[..], &work].concat(), &[("ISINGLASS_FUZZ_TARGET", name)])?;
        // What never failed leaves no empty folder.
        let _ = fs::remove_dir(&found);
    }
    Ok(())
}

/// The targets that have a corpus.
fn corpora() -> Result<Vec<String>, String> {
    let entries = fs::read_dir("fuzz/corpus").map_err(|error| format!("fuzz/corpus: {error}"))?;
    let mut names: Vec<String> =
        entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    Ok(names)
}

/// The platform that the compiler builds for.
fn host() -> Result<String, String> {
    let told = Command::new("rustc").arg("-vV").output().map_err(|error| format!("rustc: {error}"))?;
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    let host = told.lines().find_map(|line| line.strip_prefix("host: ")).map(str::to_owned);
    host.ok_or_else(|| "rustc does not say what it builds for".to_owned())
}

/// Tries the whole program for some minutes.
pub(crate) fn torture(arguments: &[String]) -> Result<(), String> {
    let options = Options::parse(arguments, LONGEST)?;
    if options.minutes > LONGEST && options.names.is_empty() {
        say(&format!("longer than {LONGEST} minutes: name the part that is to take so long"));
        return Err("a whole trial takes at most 10 minutes".to_owned());
    }
    build()?;
    let seconds = (60.0 * options.minutes).to_string();
    let mut all = vec![built("isinglass"), seconds];
    if let Some(seed) = options.seed {
        all.extend(["--seed".to_owned(), seed]);
    }
    all.extend(options.names);
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    run(&built("isinglass-torture"), &all, &[])
}

/// A minute of fuzzing and a minute of the trial, by programs that were built before.
pub(crate) fn a_minute_of_each() -> Result<(), String> {
    run(&built("isinglass-fuzz"), &["60"], &[])?;
    run(&built("isinglass-torture"), &[&built("isinglass"), "60"], &[])
}

/// Builds the programs, all at once, so that they share what they are built of.
fn build() -> Result<(), String> {
    let packages = ["-p", "isinglass-cli", "-p", "isinglass-fuzz", "-p", "isinglass-torture"];
    run("cargo", &[&["build", "--quiet"][..], &packages].concat(), &[])
}

/// A program that was built.
fn built(name: &str) -> String {
    target().join("debug").join(name).display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_minutes_a_seed_and_names() {
        let parse =
            |line: &str| Options::parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>(), 5.0);
        let found = parse("--minutes 0.5 csv --seed 7 npy --plain").unwrap();
        assert_eq!((found.minutes, found.plain, found.seed.as_deref()), (0.5, true, Some("7")));
        assert_eq!(found.names, ["csv", "npy"]);
        assert_eq!(parse("").unwrap().minutes, 5.0);
        assert!(parse("--minutes 0").is_err() && parse("--minutes").is_err() && parse("--hours 1").is_err());
    }
}
