//! What is written from the settings structs: `docs/reference.md`, and the parameters of Python's
//! estimators.

use std::process::Command;

use crate::written::{self, Mode};
use crate::{bench, steps};

const PAGE: &str = "docs/reference.md";
const PARAMETERS: &str = "python/isinglass/_parameters.py";

/// The comments between which the parameters stand.
const BEGIN: &str = "    # Settings of learners and engines: written by `cargo xtask reference`.";
const END: &str = "    # Settings: end.";

/// Writes both from the settings structs, or checks that they are up to date.
pub(crate) fn run(mode: Mode) -> Result<(), String> {
    // The whole workspace is named, so that dependencies have the features that they have in the tests.
    steps::run("cargo", &["build", "--quiet", "--workspace", "--example", "reference"], &[])?;
    written::file(mode, PAGE, &printed(&[])?)?;
    written::section(mode, PARAMETERS, (BEGIN, END), &printed(&["python"])?)
}

/// What the program prints that knows the settings.
fn printed(arguments: &[&str]) -> Result<String, String> {
    let program = bench::target().join("debug/examples/reference");
    let problem = |problem: &dyn std::fmt::Display| format!("{}: {problem}", program.display());
    let output = Command::new(&program).args(arguments).output().map_err(|error| problem(&error))?;
    if !output.status.success() {
        return Err(problem(&output.status));
    }
    String::from_utf8(output.stdout).map_err(|error| problem(&error))
}
