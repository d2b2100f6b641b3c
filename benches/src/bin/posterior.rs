//! How many effective draws a second does learner `bayes` make?
//!
//! 20 units × 1,000 rows, drawn from a random 5-regular graph with couplings N(0, 0.3²): the
//! pseudo-posterior on one thread, with its burn-in. The mean over couplings, and the one that mixes
//! worst.
//!
//!     RAYON_NUM_THREADS=1 cargo run --release -p isinglass-benches --bin posterior -- [UNITS [ROWS [SAMPLES]]]

use std::process::ExitCode;
use std::time::Instant;

use isinglass::learn::{Bayes, NoObserver};
use isinglass::topology::{self, Numbers};
use isinglass::{Enumerate, Evidence, Sampler, Table};

fn measure(units: usize, rows: usize, samples: usize) -> isinglass::Result<String> {
    let normal = |deviation| Numbers::Normal { mean: 0.0, deviation };
    let truth = topology::regular(units, 5, 1)?.with_numbers(&normal(0.3), &normal(0.2), 1)?;
    let drawn = Enumerate::default().draw(&truth, &Evidence::none(units), rows, 1)?;
    let table = Table::from_rows(truth.names(), drawn.cells.chunks(units))?;
    let learner = Bayes::new().samples(samples);
    let began = Instant::now();
    let start = topology::full(units).with_names(truth.names().iter().cloned())?;
    let found = learner.run(&start, &table, None, &mut NoObserver)?;
    let seconds = began.elapsed().as_secs_f64();
    let effective: Vec<f64> = found.couplings.iter().map(|found| found.weight.effective_samples).collect();
    let least = effective.iter().copied().fold(f64::INFINITY, f64::min);
    let mean = effective.iter().sum::<f64>() / effective.len() as f64;
    let sweeps = learner.chains * (learner.samples + learner.burn_in);
    let per_second = sweeps as f64 / seconds;
    let (mean, least) = (mean / seconds, least / seconds);
    Ok(format!(
        "{units} units, {rows} rows: {sweeps} sweeps in {seconds:.2} s, {per_second:.0} a second\n\
         effective draws a second: {mean:.0} on average, {least:.0} of the worst coupling\n{}",
        found.fit.stopped
    ))
}

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for people")]
fn main() -> ExitCode {
    let mut given = std::env::args().skip(1);
    let mut number = |usual| given.next().and_then(|text| text.parse().ok()).unwrap_or(usual);
    match measure(number(20), number(1000), number(1000)) {
        Ok(text) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
