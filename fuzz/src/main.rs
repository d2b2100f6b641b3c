//! `isinglass-fuzz SECONDS [TARGET…]`: reads changed files for so long, all targets in turn.

use std::process::ExitCode;
use std::time::Duration;

use isinglass_fuzz::{TARGETS, Target, run, target};

/// The seed; the commit fixes which changes are tried, the machine how many.
const SEED: u64 = 1997;

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "this is a program for the terminal")]
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((Ok(seconds), names)) =
        arguments.split_first().map(|(first, rest)| (first.parse::<f64>(), rest))
    else {
        eprintln!("expected: isinglass-fuzz SECONDS [TARGET…]");
        return ExitCode::from(2);
    };
    let chosen: Option<Vec<&Target>> = names.iter().map(|name| target(name)).collect();
    let Some(mut chosen) = chosen else {
        let known: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
        eprintln!("unknown target; there are {}", known.join(", "));
        return ExitCode::from(2);
    };
    if chosen.is_empty() {
        chosen = TARGETS.iter().collect();
    }
    let time = Duration::from_secs_f64(seconds / chosen.len() as f64);
    let threads = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    let mut failed = false;
    let mut total = 0;
    for target in chosen {
        match run(target, time, SEED, threads) {
            Ok(report) => {
                println!(
                    "{:>12}  {:>4} of the corpus, {:>8} changed",
                    target.name, report.corpus, report.changed
                );
                total += report.changed;
                if let Some(found) = report.found {
                    println!("FOUND: {}\n{}", found.file.display(), found.what);
                    failed = true;
                }
            }
            Err(error) => {
                eprintln!("{}: {error}", target.name);
                failed = true;
            }
        }
    }
    println!("{total} changed files were read");
    ExitCode::from(u8::from(failed))
}
