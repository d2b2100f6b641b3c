//! Sampling engines at default settings against exact answers: do their error bars cover?
//!
//!     cargo run --release -p isinglass-benches --bin calibration -- machines [COUNT [FIRST SEED]]
//!     cargo run --release -p isinglass-benches --bin calibration -- ais [COUNT [FIRST SEED]]
//!     cargo run --release -p isinglass-benches --bin calibration -- lattices [COUNT [FIRST SEED]]
//!
//! `machines`: engine `temper` on random machines of 16 to 25 units, sparse and dense, from weak
//! couplings to β = 3, against enumeration; `ais`: that engine on the same. `lattices`: `temper` on 16 × 16 with couplings ±2 and biases N(0, 0.4), as
//! `make grid --coupling signs:2 --bias normal:0,0.4 --seed S` draws them, against elimination, and
//! the most probable state as well.

use std::process::ExitCode;
use std::time::Instant;

use isinglass::engine::ModeFinder;
use isinglass::topology::{self, Neighbours, Numbers};
use isinglass::{Ais, Eliminate, Engine, Enumerate, Evidence, Expectations, Machine, Pairs, Result, Temper};

/// Normal numbers with mean 0.
fn normal(deviation: f64) -> Numbers {
    Numbers::Normal { mean: 0.0, deviation }
}

/// Dense and sparse machines in turn, 16 to 25 units, six strengths.
fn machine(seed: u64) -> Result<Machine> {
    let units = 16 + (seed / 12 % 10) as usize;
    let strength = [0.3, 0.7, 1.0, 1.5, 2.0, 3.0][seed as usize / 2 % 6];
    if seed.is_multiple_of(2) {
        topology::sherrington_kirkpatrick(units, strength, seed)?.with_biases_drawn(&normal(0.3), seed)
    } else {
        let lattice = topology::grid(4, units / 4, Neighbours::Four);
        lattice.with_numbers(&normal(strength), &normal(0.3), seed)
    }
}

fn lattice(seed: u64) -> Result<Machine> {
    topology::grid(16, 16, Neighbours::Four).with_numbers(&Numbers::Signs(2.0), &normal(0.4), seed)
}

/// Found less true, and the standard error.
type Deviation = (f64, f64);

struct Compared {
    means: Vec<Deviation>,
    pairs: Vec<Deviation>,
    log_z: Deviation,
    converged: bool,
}

impl Compared {
    fn new(found: &Expectations, truth: &Expectations) -> Self {
        let zeros = |count: usize| vec![0.0; count];
        let (of_means, of_pairs, of_log_z) = match &found.errors {
            Some(errors) => {
                (errors.means.clone(), errors.correlations.clone(), errors.log_z.unwrap_or_default())
            }
            None => (zeros(found.means.len()), zeros(found.correlations.values.len()), 0.0),
        };
        let compare = |found: &[f64], truth: &[f64], errors: &[f64]| -> Vec<Deviation> {
            found
                .iter()
                .zip(truth)
                .zip(errors)
                .map(|((found, truth), &error)| (found - truth, error))
                .collect()
        };
        let log_z = found.log_z.unwrap_or(f64::NAN) - truth.log_z.unwrap_or(f64::NAN);
        Self {
            means: compare(&found.means, &truth.means, &of_means),
            pairs: compare(&found.correlations.values, &truth.correlations.values, &of_pairs),
            log_z: (log_z, of_log_z),
            converged: found.diagnostics.converged,
        }
    }

    fn moments(&self) -> impl Iterator<Item = &Deviation> {
        self.means.iter().chain(&self.pairs)
    }

    /// The largest deviation in standard errors.
    fn worst(&self) -> f64 {
        self.moments().chain([&self.log_z]).map(|&d| score(d)).fold(0.0, f64::max)
    }
}

fn score((deviation, error): Deviation) -> f64 {
    if deviation == 0.0 { 0.0 } else { deviation.abs() / error }
}

/// The percentage of deviations within some standard errors.
fn within<'a>(limit: f64, all: impl Iterator<Item = &'a Deviation>) -> f64 {
    let (mut inside, mut count) = (0usize, 0usize);
    for &deviation in all {
        inside += usize::from(score(deviation) <= limit);
        count += 1;
    }
    100.0 * inside as f64 / count.max(1) as f64
}

fn largest<'a>(all: impl Iterator<Item = &'a Deviation>) -> f64 {
    all.map(|d| d.0.abs()).fold(0.0, f64::max)
}

#[expect(clippy::print_stdout, reason = "a program for people")]
fn machines<E: Engine>(count: u64, first: u64, engine: impl Fn(u64) -> E) -> Result<()> {
    let mut all = Vec::new();
    for seed in first..first + count {
        let machine = machine(seed)?;
        let none = Evidence::none(machine.unit_count());
        let truth = Enumerate::default().expectations(&machine, &none, Pairs::Edges)?;
        let found = engine(seed).expectations(&machine, &none, Pairs::Edges)?;
        let compared = Compared::new(&found, &truth);
        if compared.converged && compared.worst() > 5.0 {
            println!("seed {seed}: converged, but off by {:.1} standard errors", compared.worst());
        }
        all.push(compared);
    }
    let log_z: Vec<Deviation> = all.iter().map(|one| one.log_z).collect();
    println!("machines: {count}, converged: {}", all.iter().filter(|one| one.converged).count());
    for limit in [1.0, 2.0, 3.0, 4.0, 5.0] {
        println!(
            "within {limit}: {:.1} % of {} means, {:.1} % of {} edge moments, {:.1} % of log Z ({:.1} % if converged)",
            within(limit, all.iter().flat_map(|one| &one.means)),
            all.iter().map(|one| one.means.len()).sum::<usize>(),
            within(limit, all.iter().flat_map(|one| &one.pairs)),
            all.iter().map(|one| one.pairs.len()).sum::<usize>(),
            within(limit, log_z.iter()),
            within(limit, all.iter().filter(|one| one.converged).map(|one| &one.log_z)),
        );
    }
    Ok(())
}

#[expect(clippy::print_stdout, reason = "a program for people")]
fn lattices(count: u64, first: u64) -> Result<()> {
    println!("seed  log Z off ±error   mean off  within 4   wall s  converged  mode off, met, wall s");
    for seed in first..first + count {
        let machine = lattice(seed)?;
        let none = Evidence::none(machine.unit_count());
        let truth = Eliminate::default().expectations(&machine, &none, Pairs::Edges)?;
        let mode = Eliminate::default().mode(&machine, &none)?;
        let clock = Instant::now();
        let found = Temper::new().expectations(&machine, &none, Pairs::Edges)?;
        let seconds = clock.elapsed().as_secs_f64();
        let compared = Compared::new(&found, &truth);
        let clock = Instant::now();
        let best = Temper::new().mode(&machine, &none)?;
        let search = clock.elapsed().as_secs_f64();
        let met = best
            .meetings
            .map_or_else(String::new, |meetings| format!("{} of {}", meetings.met, meetings.runs));
        println!(
            "{seed:4}  {:9.3} ±{:.3}   {:8.3}  {:6.1} %  {seconds:7.1}  {:9}  {:.6}, {met}, {search:.1}",
            compared.log_z.0,
            compared.log_z.1,
            largest(compared.means.iter()),
            within(4.0, compared.moments()),
            compared.converged,
            best.energy - mode.energy,
        );
    }
    Ok(())
}

#[expect(clippy::print_stderr, reason = "a program for people")]
fn main() -> ExitCode {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let number =
        |at: usize, default: u64| given.get(at).and_then(|text| text.parse().ok()).unwrap_or(default);
    let done = match given.first().map(String::as_str) {
        Some("machines") => machines(number(1, 200), number(2, 0), |seed| Temper::new().seed(seed)),
        Some("ais") => machines(number(1, 1000), number(2, 0), |seed| Ais::new().seed(seed)),
        Some("lattices") => lattices(number(1, 21), number(2, 0)),
        _ => {
            eprintln!("expected: machines, ais or lattices, then a count and a first seed");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
