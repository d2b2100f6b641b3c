//! The Python package: built into a fresh virtual environment, and tested there.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::steps::run;

/// The folder of the environment and the wheels.
const FOLDER: &str = "target/python";

/// Builds the wheel, installs it with what its tests need, and runs them; arguments go to pytest.
pub(crate) fn run_tests(arguments: &[String]) -> Result<(), String> {
    let python = interpreter()?;
    let environment = Path::new(FOLDER).join("venv");
    let wheels = Path::new(FOLDER).join("wheels");
    // A wheel of another version would be installed too.
    if wheels.exists() {
        std::fs::remove_dir_all(&wheels).map_err(|error| format!("{}: {error}", wheels.display()))?;
    }
    run(&python, &["-m", "venv", "--clear", text(&environment)?], &[])?;
    let programs = environment.join(if cfg!(windows) { "Scripts" } else { "bin" });
    let own_python = programs.join("python");
    let own_python = text(&own_python)?;
    run(own_python, &["-m", "pip", "install", "--quiet", "maturin>=1.9.4,<2"], &[])?;
    // The workspace's development profile is optimised, and builds much faster than a release.
    let build =
        ["-m", "maturin", "build", "--quiet", "--profile", "dev", "--interpreter", own_python, "--out"];
    run(own_python, &[&build[..], &[text(&wheels)?]].concat(), &[])?;
    let wheel = format!("{}[test]", text(&only_file(&wheels)?)?);
    run(own_python, &["-m", "pip", "install", "--quiet", &wheel], &[])?;
    run(own_python, &["-m", "ruff", "check", "--quiet", "python"], &[])?;
    run(own_python, &["-m", "ruff", "format", "--quiet", "--check", "python"], &[])?;
    // The examples of the installed package, and the tests.
    let mut all =
        vec!["-m", "pytest", "--quiet", "--pyargs", "--doctest-modules", "isinglass", "python/tests"];
    all.extend(arguments.iter().map(String::as_str));
    run(own_python, &all, &[("MPLBACKEND", "agg")])
}

/// A Python that can be run: the environment variable `PYTHON`, or `python3`, or `python`.
fn interpreter() -> Result<String, String> {
    let runs = |python: &String| {
        Command::new(python).arg("--version").output().is_ok_and(|output| output.status.success())
    };
    let candidates = std::env::var("PYTHON").into_iter().chain(["python3".to_owned(), "python".to_owned()]);
    candidates
        .into_iter()
        .find(runs)
        .ok_or_else(|| "the Python package needs Python 3.10 or newer".to_owned())
}

/// The one file of a folder.
fn only_file(folder: &Path) -> Result<PathBuf, String> {
    let problem = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut files = std::fs::read_dir(folder).map_err(problem)?;
    match (files.next(), files.next()) {
        (Some(file), None) => Ok(file.map_err(problem)?.path()),
        _ => Err(format!("{}: expected one wheel", folder.display())),
    }
}

fn text(path: &Path) -> Result<&str, String> {
    path.to_str().ok_or_else(|| format!("{}: the path is not valid Unicode", path.display()))
}
