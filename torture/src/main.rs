//! `isinglass-torture PROGRAM SECONDS [--seed N] [PART…]`: a trial of the program, all parts at random.
//!
//! What is tried, and what is promised, is in `docs/reliability.md`. Each part has a file; parts take
//! turns, and each tries as much as its share of the time allows. The first failure ends the trial.

#[cfg(unix)]
mod answers;
#[cfg(unix)]
mod bombs;
#[cfg(unix)]
mod faults;
#[cfg(unix)]
mod files;
#[cfg(unix)]
mod kills;
#[cfg(unix)]
mod lines;
#[cfg(unix)]
mod reads;
#[cfg(unix)]
mod run;
#[cfg(unix)]
mod trial;

use std::process::ExitCode;

#[cfg(unix)]
fn main() -> ExitCode {
    trial::main()
}

/// Signals, limits and the memory of processes are those of Unix.
#[cfg(not(unix))]
fn main() -> ExitCode {
    ExitCode::FAILURE
}
