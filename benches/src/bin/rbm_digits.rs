//! For `peers/contrastive_divergence.py`: fits a restricted machine by contrastive divergence,
//! prints the time of the library's call, and scores the machine and the peer's in the same way.
//!
//! Arguments: hidden units, rows of a mini-batch, epochs. Input: on the first line the weights and
//! biases of the peer's machine, ±1 units, visible first; then rows of −1 and 1. Output: seconds;
//! for our machine and for the peer's the log-likelihood of a row and its standard error.

use std::io::{Read, Write};
use std::time::Instant;

use isinglass::learn::{ContrastiveDivergence, Learner, start};
use isinglass::likelihood::{Phases, log_likelihood};
use isinglass::{Ais, Eliminate, Machine, Table, topology};

/// Runs, of which the fastest is printed: other work on the computer only adds to the time.
const RUNS: usize = 10;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<usize> = std::env::args().skip(1).map(|x| x.parse()).collect::<Result<_, _>>()?;
    let [hidden, batch, epochs] = arguments[..] else {
        return Err("expected HIDDEN BATCH EPOCHS".into());
    };
    let mut input = String::new();
    std::io::stdin().read_to_string(&mut input)?;
    let mut lines = input.lines();
    let numbers: Vec<f64> =
        lines.next().unwrap_or_default().split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
    let rows: Vec<Vec<i8>> = lines
        .map(|line| line.split_whitespace().map(str::parse).collect::<Result<_, _>>())
        .collect::<Result<_, _>>()?;
    let visible = rows.first().map_or(0, Vec::len);
    let table = Table::from_rows((0..visible).map(|k| format!("v{k}")), &rows)?;
    let structure = topology::rbm(visible, hidden)?;
    let (weights, biases) = numbers.split_at(visible * hidden);
    let other = structure.clone().with_parameters(weights.to_vec(), biases.to_vec())?;

    let begin = start(&structure, &table, 0, 0)?;
    let learner = ContrastiveDivergence::new().batch(batch).iterations(epochs);
    let mut best = f64::INFINITY;
    let mut ours = begin.clone();
    for _ in 0..RUNS {
        let clock = Instant::now();
        let fit = learner.fit(&begin, &table)?;
        best = best.min(clock.elapsed().as_secs_f64());
        ours = fit.machine;
    }
    let mut out = std::io::stdout();
    writeln!(out, "{best}")?;
    for machine in [&ours, &other] {
        let (value, error) = score(machine, &table)?;
        writeln!(out, "{value} {error}")?;
    }
    Ok(())
}

/// The log-likelihood of a row: hidden units summed out exactly, log Z by annealed importance
/// sampling.
fn score(machine: &Machine, table: &Table) -> isinglass::Result<(f64, f64)> {
    let free = Ais::new().temperatures(2000.into());
    let clamped = Eliminate::default();
    let phases = Phases { clamped: &clamped, free: &free };
    let found = log_likelihood(machine, table, phases)?;
    Ok((found.value, found.error.unwrap_or(0.0)))
}
