//! Fits by sampling against the machines that drew the rows: errors of couplings.
//!
//!     cargo run --release -p isinglass-benches --bin truth -- dense [MACHINES [ROWS [FIRST]]]
//!     cargo run --release -p isinglass-benches --bin truth -- sparse [MACHINES [ROWS [FIRST]]]
//!
//! `dense`: 40 to 60 units, couplings N(0, β²/n) with β from 0.5 to 1, biases N(0, 0.1²). The root of
//! the mean squared error of the couplings of the sampled fit and of pseudo-likelihood, beside the
//! least that a fit without bias can have on average, from Fisher's information at the truth.
//! `sparse`: random 3-regular graphs of 40 to 60 units, couplings N(0, β²), fitted on their edges;
//! there the exact optimum is found by `eliminate`, and errors are those for the same rows.

use std::process::ExitCode;
use std::time::Instant;

use faer::linalg::matmul::matmul;
use faer::linalg::solvers::DenseSolveCore;
use faer::{Accum, Mat, Par, Side};
use isinglass::learn::{Learner, Likelihood, PseudoLikelihood, SampledLikelihood, start};
use isinglass::topology::{self, Numbers};
use isinglass::{Eliminate, Evidence, Machine, Result, Sampler, Table, Temper};

/// Of so many draws one is kept, so that rows are independent.
const THIN: usize = 4;

/// States from which Fisher's information is estimated, in blocks.
const STATES: usize = 1 << 16;
const BLOCK: usize = 1 << 12;

fn normal(deviation: f64) -> Numbers {
    Numbers::Normal { mean: 0.0, deviation }
}

/// β of a machine, and its units.
fn sizes(seed: u64) -> (f64, usize) {
    (0.5 + 0.125 * (seed % 5) as f64, 40 + 5 * (seed / 5 % 5) as usize)
}

fn dense(seed: u64) -> Result<Machine> {
    let (beta, units) = sizes(seed);
    topology::sherrington_kirkpatrick(units, beta, seed)?.with_biases_drawn(&normal(0.1), seed)
}

fn sparse(seed: u64) -> Result<Machine> {
    let (beta, units) = sizes(seed);
    topology::regular(2 * (units / 2), 3, seed)?.with_numbers(&normal(beta), &normal(0.1), seed)
}

/// Rows of a machine, nearly independent.
fn rows_of(machine: &Machine, count: usize, seed: u64) -> Result<Table> {
    let units = machine.unit_count();
    let drawn = Temper::new().draw(machine, &Evidence::none(units), THIN * count, seed + 1000)?;
    Table::from_rows(machine.names().iter().cloned(), drawn.cells.chunks(units).step_by(THIN))
}

/// The root of the mean squared difference of couplings.
fn distance(found: &Machine, truth: &Machine) -> f64 {
    let both = found.weights().iter().zip(truth.weights());
    (both.map(|(a, b)| (a - b).powi(2)).sum::<f64>() / truth.weights().len() as f64).sqrt()
}

/// The root of the mean variance of couplings by the bound of Cramér and Rao.
fn floor(machine: &Machine, rows: usize, seed: u64) -> Result<f64> {
    let units = machine.unit_count();
    let edges = machine.graph().edges();
    let size = edges.len() + units;
    let drawn = Temper::new().draw(machine, &Evidence::none(units), 2 * STATES, seed + 2000)?;
    let mut squares = Mat::<f64>::zeros(size, size);
    let mut sums = vec![0.0; size];
    let states: Vec<&[i8]> = drawn.cells.chunks(units).step_by(2).collect();
    for block in states.chunks(BLOCK) {
        let statistic = |row: usize, k: usize| {
            let spin = |unit: usize| f64::from(block[row][unit]);
            edges.get(k).map_or_else(|| spin(k - edges.len()), |&(a, b)| spin(a) * spin(b))
        };
        let matrix = Mat::from_fn(block.len(), size, statistic);
        matmul(&mut squares, Accum::Add, matrix.transpose(), &matrix, 1.0, Par::Seq);
        for (k, sum) in sums.iter_mut().enumerate() {
            *sum += matrix.col(k).iter().sum::<f64>();
        }
    }
    let count = states.len() as f64;
    let covariance =
        Mat::from_fn(size, size, |a, b| squares[(a, b)] / count - sums[a] / count * (sums[b] / count));
    let factor = covariance.llt(Side::Lower).map_err(|error| isinglass::Error::Numerical {
        method: "the floor",
        problem: format!("{error:?}"),
    })?;
    let inverse = factor.inverse();
    let trace: f64 = (0..edges.len()).map(|k| inverse[(k, k)]).sum();
    // The inverse of a sampled covariance is too large by this factor on average.
    let excess = (count - size as f64 - 2.0) / (count - 1.0);
    Ok((trace / edges.len() as f64 / rows as f64 * excess).sqrt())
}

/// Errors of a machine's fits.
struct Errors {
    sampled: f64,
    pseudo: f64,
    /// The exact optimum, or the bound.
    floor: f64,
}

fn measure(is_dense: bool, seed: u64, rows: usize) -> Result<Errors> {
    let truth = if is_dense { dense(seed)? } else { sparse(seed)? };
    let table = rows_of(&truth, rows, seed)?;
    let structure = Machine::from_graph(truth.graph().clone()).with_names(truth.names().iter().cloned())?;
    let begin = start(&structure, &table, 0, 0)?;
    let exact = Eliminate::default();
    let clock = Instant::now();
    let sampled = SampledLikelihood::new(Temper::new(), &exact).fit(&begin, &table)?;
    let seconds = clock.elapsed().as_secs_f64();
    let pseudo = PseudoLikelihood::new().fit(&begin, &table)?;
    let floor = if is_dense {
        floor(&truth, rows, seed)?
    } else {
        distance(&Likelihood::new(&exact).fit(&begin, &table)?.machine, &truth)
    };
    let found = Errors {
        sampled: distance(&sampled.machine, &truth),
        pseudo: distance(&pseudo.machine, &truth),
        floor,
    };
    let (beta, units) = sizes(seed);
    let Errors { sampled: of_sampled, pseudo: of_pseudo, floor } = found;
    #[expect(clippy::print_stdout, reason = "a program for people")]
    {
        println!(
            "| {seed} | {units} | {beta} | {of_sampled:.6} | {of_pseudo:.6} | {floor:.6} | {:.4} | {:.4} | {} | {} | {seconds:.1} |",
            of_sampled / of_pseudo,
            of_sampled / floor,
            sampled.converged,
            sampled.iterations(),
        );
    }
    Ok(found)
}

fn run(kind: &str, machines: u64, rows: usize, first: u64) -> Result<()> {
    let floor = if kind == "dense" { "least on average" } else { "exact optimum" };
    #[expect(clippy::print_stdout, reason = "a program for people")]
    {
        println!("{kind} machines, {rows} rows: errors of couplings\n");
        println!(
            "| machine | units | β | sampled | pseudo-likelihood | {floor} | to pseudo | to {floor} | converged | iterations | seconds |\n|---|---|---|---|---|---|---|---|---|---|---|"
        );
    }
    let found: Vec<Errors> =
        (first..first + machines).map(|seed| measure(kind == "dense", seed, rows)).collect::<Result<_>>()?;
    let lower = found.iter().filter(|one| one.sampled < one.pseudo).count();
    let ratio = |of: &dyn Fn(&Errors) -> f64| {
        let logs = found.iter().map(|one| (one.sampled / of(one)).ln());
        (logs.sum::<f64>() / found.len() as f64).exp()
    };
    let (to_pseudo, to_floor) = (ratio(&|one| one.pseudo), ratio(&|one| one.floor));
    #[expect(clippy::print_stdout, reason = "a program for people")]
    {
        println!("\nbelow pseudo-likelihood in {lower} of {machines}; ratio {to_pseudo:.4}");
        println!("to the {floor}: {to_floor:.4}");
    }
    Ok(())
}

#[expect(clippy::print_stderr, reason = "a program for people")]
fn main() -> ExitCode {
    let mut given = std::env::args().skip(1);
    let kind = given.next().filter(|kind| kind == "dense" || kind == "sparse");
    let machines = given.next().and_then(|text| text.parse().ok()).unwrap_or(20);
    let rows = given.next().and_then(|text| text.parse().ok()).unwrap_or(20_000);
    let first = given.next().and_then(|text| text.parse().ok()).unwrap_or(0);
    let Some(kind) = kind else {
        eprintln!("which machines: dense or sparse?");
        return ExitCode::FAILURE;
    };
    match run(&kind, machines, rows, first) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
