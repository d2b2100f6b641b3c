//! The developer's commands: `cargo xtask ci`, `test`, `layers`, `reference`, `bench`, `gallery`,
//! `fuzz`, `torture`, `sbom`, `browser`, `python`.

mod bench;
mod browser;
mod gallery;
mod layers;
mod python;
mod reference;
mod sbom;
mod steps;
mod trials;
mod written;

use std::process::ExitCode;

use crate::written::Mode;

const HELP: &str = "\
cargo xtask ci             everything that must hold: formatting, lints, layers, tests, reference,
                           documentation, licences
cargo xtask test [ARGS]    the tests alone; arguments go to cargo test
cargo xtask layers         which module of the core may use which: checks the uses and writes the graph
                           into ARCHITECTURE.md; --check writes nothing
cargo xtask reference      docs/reference.md and the parameters of Python's estimators, from the settings
                           structs; --check writes nothing
cargo xtask bench [FILTER] the benchmarks: a table here, JSON in target/bench.json
cargo xtask gallery        docs/gallery.md and its figures, from every experiment; --quick runs small sizes
cargo xtask fuzz [--minutes N] [TARGET…]
                           the readers of files on files that nobody meant, with libFuzzer (a C++ compiler
                           is needed); --plain without it; --merge takes what reached new code into
                           fuzz/corpus
cargo xtask torture [--minutes N] [--seed N] [PART…]
                           the whole program on fuzzed files, random command lines, kills, full disks,
                           and its answers against plain sums: see docs/reliability.md
cargo xtask sbom           a bill of materials (CycloneDX) of what is shipped, in target/sbom.cdx.json
cargo xtask browser        reports in headless Chromium; pages and screenshots in target/browser;
                           --install only installs what it needs
cargo xtask python [ARGS]  the Python package, built into a fresh environment in target/python and
                           tested; arguments go to pytest
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.split_first() {
        Some((command, rest)) => match command.as_str() {
            "ci" if rest.is_empty() => steps::ci(),
            "test" => steps::test(rest),
            "bench" if rest.len() <= 1 => bench::run(rest.first().map(String::as_str)),
            "gallery" if rest.is_empty() => gallery::run(false),
            "gallery" if rest == ["--quick"] => gallery::run(true),
            "layers" if rest.is_empty() => layers::run(Mode::Write),
            "layers" if rest == ["--check"] => layers::run(Mode::Check),
            "reference" if rest.is_empty() => reference::run(Mode::Write),
            "reference" if rest == ["--check"] => reference::run(Mode::Check),
            "fuzz" => trials::fuzz(rest),
            "torture" => trials::torture(rest),
            "python" => python::run_tests(rest),
            "sbom" if rest.is_empty() => sbom::run(),
            "browser" if rest.is_empty() => browser::all(),
            "browser" if rest == ["--install"] => browser::install(),
            _ => Err(format!("unknown command\n\n{HELP}")),
        },
        None => Err(HELP.to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            say(&problem);
            ExitCode::FAILURE
        }
    }
}

/// Prints a line for the developer.
#[expect(clippy::print_stderr, reason = "this is a program for the terminal")]
fn say(line: &str) {
    eprintln!("{line}");
}
