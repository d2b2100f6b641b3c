//! The checks of the project, one program after another.

use std::process::Command;
use std::time::Instant;

use crate::written::Mode;
use crate::{browser, layers, python, reference, say, trials};

/// The environment variable that makes a missing optional program a failure instead of a skipped
/// check.
pub(crate) const REQUIRE_ALL: &str = "ISINGLASS_REQUIRE_ALL_CHECKS";

/// The seed of property tests, so that a commit that has passed the checks passes them again.
/// `cargo xtask test` draws other cases each time.
const SEED: (&str, &str) = ("PROPTEST_RNG_SEED", "1997");

/// Runs everything that must hold.
pub(crate) fn ci() -> Result<(), String> {
    let began = Instant::now();
    run("cargo", &["fmt", "--all", "--check"], &[])?;
    say("── cargo xtask layers --check");
    layers::run(Mode::Check)?;
    run("cargo", &["clippy", "--workspace", "--all-targets", "--all-features", "--", "-D", "warnings"], &[])?;
    // Parquet first, so that the run ends with the tests that cover most of the project. The whole
    // workspace is named, so that both build dependencies with the same features, and so once.
    let parquet = ["test", "--workspace", "--features", "isinglass-files/parquet"];
    let tests = ["--test", "tables", "--test", "bad_files"];
    run("cargo", &[&parquet[..], &tests].concat(), &[SEED])?;
    run("cargo", &["test", "--workspace"], &[SEED])?;
    // The tests have built these, too.
    trials::a_minute_of_each()?;
    say("── cargo xtask reference --check");
    reference::run(Mode::Check)?;
    // What the README's `cargo run --example` runs; the tests have built it, and alone it would be
    // built again with other features.
    run(&crate::bench::target().join("debug/examples/decimation").display().to_string(), &[], &[])?;
    browser::if_installed()?;
    run("cargo", &["doc", "--workspace", "--no-deps", "--quiet"], &[("RUSTDOCFLAGS", "-D warnings")])?;
    optional(
        "cargo-deny",
        "cargo install --locked cargo-deny",
        &["deny", "--log-level", "error", "check", "licenses", "bans", "sources"],
    )?;
    advisories()?;
    python::run_tests(&[])?;
    say(&format!("all checks passed in {:.0} s", began.elapsed().as_secs_f64()));
    Ok(())
}

/// Runs unit, property, documentation and command-line tests.
pub(crate) fn test(arguments: &[String]) -> Result<(), String> {
    let mut all = vec!["test", "--workspace"];
    all.extend(arguments.iter().map(String::as_str));
    run("cargo", &all, &[])
}

/// Runs a check by a cargo subcommand that a developer may not have.
fn optional(program: &str, install: &str, arguments: &[&str]) -> Result<(), String> {
    let is_installed = Command::new(program).arg("--version").output().is_ok_and(|out| out.status.success());
    if is_installed {
        run("cargo", arguments, &[])
    } else if std::env::var_os(REQUIRE_ALL).is_some() {
        Err(format!("{program} is missing, and every check is required here"))
    } else {
        say(&format!("SKIPPED: cargo {} ({program} is missing; {install})", arguments[0]));
        Ok(())
    }
}

/// Looks for advisories about dependencies, where their database can be reached.
fn advisories() -> Result<(), String> {
    let arguments = ["deny", "--log-level", "error", "check", "advisories"];
    let line = format!("cargo {}", arguments.join(" "));
    say(&format!("── {line}"));
    let output =
        Command::new("cargo").args(arguments).output().map_err(|error| format!("{line}: {error}"))?;
    let told = String::from_utf8_lossy(&output.stderr);
    if output.status.success() {
        return Ok(());
    }
    if is_out_of_reach(&told) {
        say("SKIPPED: cargo deny check advisories (the advisory database cannot be reached)");
        return Ok(());
    }
    say(&told);
    if told.contains("no such command") && std::env::var_os(REQUIRE_ALL).is_none() {
        say(
            "SKIPPED: cargo deny check advisories (cargo-deny is missing; cargo install --locked cargo-deny)",
        );
        return Ok(());
    }
    Err(format!("{line}: {}", output.status))
}

/// Whether cargo-deny failed for want of the database, and not for what is in it.
fn is_out_of_reach(told: &str) -> bool {
    told.contains("failed to fetch advisory database")
}

/// Runs a program, and prints what it runs and for how long.
pub(crate) fn run(program: &str, arguments: &[&str], environment: &[(&str, &str)]) -> Result<(), String> {
    let line = format!("{program} {}", arguments.join(" "));
    say(&format!("── {line}"));
    let began = Instant::now();
    let status = Command::new(program)
        .args(arguments)
        .envs(environment.iter().copied())
        .status()
        .map_err(|error| format!("{line}: {error}"))?;
    if status.success() {
        say(&format!("   {:.0} s", began.elapsed().as_secs_f64()));
        Ok(())
    } else {
        Err(format!("{line}: {status}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_database_is_told_from_an_advisory() {
        let fetch = "[ERROR] failed to fetch advisory database https://github.com/RustSec/advisory-db with cli: failed to clone";
        assert!(is_out_of_reach(fetch));
        assert!(!is_out_of_reach("error[vulnerability]: use after free\n ID: RUSTSEC-2099-0001"));
    }
}
