//! The command line of the trial, its parts, and its report.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;

use crate::{answers, bombs, faults, kills, lines, reads};

/// A part of the trial.
struct Part {
    name: &'static str,
    run: fn(&mut Trial) -> anyhow::Result<()>,
    /// Its share of the time.
    share: f64,
}

const PARTS: [Part; 7] = [
    Part { name: "reads", run: reads::run, share: 0.15 },
    Part { name: "bombs", run: bombs::run, share: 0.05 },
    Part { name: "lines", run: lines::run, share: 0.35 },
    Part { name: "kills", run: kills::run, share: 0.2 },
    Part { name: "faults", run: faults::run, share: 0.1 },
    Part { name: "exact", run: answers::exact, share: 0.1 },
    Part { name: "bounds", run: answers::bounds, share: 0.05 },
];

/// What a part has at hand.
pub(crate) struct Trial {
    pub(crate) program: PathBuf,
    pub(crate) random: ChaCha8Rng,
    pub(crate) seed: u64,
    end: Instant,
    counts: Vec<(String, u64)>,
    /// The largest memory of a command beyond its budget, in bytes, and the command.
    memory: Option<(i64, String)>,
}

impl Trial {
    /// Whether there is time for more.
    pub(crate) fn goes_on(&self) -> bool {
        Instant::now() < self.end
    }

    /// The time that is left.
    pub(crate) fn left(&self) -> Duration {
        self.end.saturating_duration_since(Instant::now())
    }

    /// Counts something that went as it should.
    pub(crate) fn count(&mut self, what: impl Into<String>) {
        self.add(what, 1);
    }

    pub(crate) fn add(&mut self, what: impl Into<String>, more: u64) {
        let what = what.into();
        match self.counts.iter_mut().find(|(known, _)| *known == what) {
            Some((_, count)) => *count += more,
            None => self.counts.push((what, more)),
        }
    }

    /// Notes how much memory a command has taken beyond its budget.
    pub(crate) fn note_memory(&mut self, taken: u64, budget: u64, line: &str) {
        let beyond = taken as i64 - budget as i64;
        if self.memory.as_ref().is_none_or(|(most, _)| beyond > *most) {
            self.memory = Some((beyond, line.to_owned()));
        }
    }
}

struct Request {
    program: PathBuf,
    seconds: f64,
    seed: u64,
    parts: Vec<&'static Part>,
}

fn request() -> anyhow::Result<Request> {
    let mut arguments = std::env::args().skip(1);
    let usage = "isinglass-torture PROGRAM SECONDS [--seed N] [PART…]";
    let (Some(program), Some(seconds)) = (arguments.next(), arguments.next()) else { bail!("{usage}") };
    let program = Path::new(&program).canonicalize().with_context(|| program.clone())?;
    let seconds = seconds.parse().context("SECONDS")?;
    let (mut seed, mut parts) = (0, Vec::new());
    while let Some(argument) = arguments.next() {
        if argument == "--seed" {
            seed = arguments.next().context("--seed N")?.parse().context("--seed")?;
        } else {
            let part = PARTS.iter().find(|part| part.name == argument);
            let names = PARTS.iter().map(|part| part.name).collect::<Vec<_>>();
            parts.push(part.with_context(|| format!("{argument}: expected one of {}", names.join(", ")))?);
        }
    }
    if parts.is_empty() {
        parts = PARTS.iter().collect();
    }
    Ok(Request { program, seconds, seed, parts })
}

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "this is a program for the terminal")]
pub(crate) fn main() -> ExitCode {
    let Request { program, seconds, seed, parts } = match request() {
        Ok(request) => request,
        Err(error) => {
            eprintln!("{error:#}");
            return ExitCode::from(2);
        }
    };
    let shares: f64 = parts.iter().map(|part| part.share).sum();
    let mut failed = false;
    for part in parts {
        let began = Instant::now();
        let mut trial = Trial {
            program: program.clone(),
            random: ChaCha8Rng::seed_from_u64(seed),
            seed,
            end: began + Duration::from_secs_f64(seconds * part.share / shares),
            counts: Vec::new(),
            memory: None,
        };
        let done = (part.run)(&mut trial);
        println!("{} ({:.0} s, seed {seed})", part.name, began.elapsed().as_secs_f64());
        for (what, count) in &trial.counts {
            println!("  {count:>9}  {what}");
        }
        if let Some((beyond, line)) = &trial.memory {
            println!(
                "  most memory beyond the budget: {:.0} MiB, by {line}",
                *beyond as f64 / f64::from(1 << 20)
            );
        }
        if let Err(error) = done {
            println!("FAILED: {error:#}");
            failed = true;
            break;
        }
    }
    ExitCode::from(u8::from(failed))
}
