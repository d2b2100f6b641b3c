//! A kinetic Ising model of a long series: time, and errors of couplings against the Cramér–Rao
//! bound.
//!
//!     cargo run --release -p isinglass-benches --bin kinetic -- [UNITS [STEPS [SERIES]]]
//!
//! Couplings are drawn from N(0, 1/UNITS), in both directions independently; biases are N(0, 0.1²).
//! The bound is the mean of the diagonal of the inverse Fisher information at the true couplings,
//! over the states of the series.

use std::process::ExitCode;
use std::time::Instant;

use faer::linalg::solvers::DenseSolveCore;
use faer::{Mat, Side};
use isinglass::learn::{Learner, PseudoLikelihood};
use isinglass::table::{kinetic, lagged};
use isinglass::{Result, Table};

/// Splitmix64 (Steele, Lea and Flood 2014).
struct Random(u64);

impl Random {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        let (u, v) = (1.0 - self.uniform(), self.uniform());
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    }
}

/// The couplings from the past (a row for each unit, last its bias), and a series.
fn series(units: usize, steps: usize, seed: u64) -> (Vec<Vec<f64>>, Vec<Vec<i8>>) {
    let mut random = Random(seed);
    let size = 1.0 / (units as f64).sqrt();
    let row = |random: &mut Random| {
        let mut row: Vec<f64> = (0..units).map(|_| size * random.normal()).collect();
        row.push(0.1 * random.normal());
        row
    };
    let truth: Vec<Vec<f64>> = (0..units).map(|_| row(&mut random)).collect();
    let mut states = vec![vec![1i8; units]];
    for step in 0..steps {
        let before = &states[step];
        let next = truth
            .iter()
            .map(|row| {
                let pull: f64 = row.iter().zip(before).map(|(w, &s)| w * f64::from(s)).sum();
                if random.uniform() < 0.5 * (1.0 + (pull + row[units]).tanh()) { 1 } else { -1 }
            })
            .collect();
        states.push(next);
    }
    (truth, states)
}

/// The mean over couplings of the least variance.
fn bound(truth: &[Vec<f64>], states: &[Vec<i8>]) -> f64 {
    let units = truth.len();
    let size = units + 1;
    let mut sum = 0.0;
    for row in truth {
        let mut information = vec![0.0; size * size];
        for before in &states[..states.len() - 1] {
            let pull: f64 = row.iter().zip(before).map(|(w, &s)| w * f64::from(s)).sum();
            let bend = 1.0 - (pull + row[units]).tanh().powi(2);
            for a in 0..size {
                let x = if a < units { bend * f64::from(before[a]) } else { bend };
                let line = &mut information[a * size..=a * size + a];
                for (slot, &s) in line.iter_mut().zip(before) {
                    *slot += x * f64::from(s);
                }
                if a == units {
                    line[units] += x;
                }
            }
        }
        let matrix = Mat::from_fn(size, size, |a, b| information[a.max(b) * size + a.min(b)]);
        let Ok(factor) = matrix.llt(Side::Lower) else { return f64::NAN };
        let inverse = factor.inverse();
        sum += (0..units).map(|k| inverse[(k, k)]).sum::<f64>();
    }
    sum / (units * units) as f64
}

#[expect(clippy::print_stdout, reason = "a program for people")]
fn run(units: usize, steps: usize, sets: u64) -> Result<()> {
    println!("series  seconds to fit  iterations  converged  RMSE  Cramér–Rao  ratio");
    for set in 0..sets {
        let (truth, states) = series(units, steps, set);
        let names: Vec<String> = (0..units).map(|k| format!("x{k}")).collect();
        let table = Table::from_rows(names.iter().cloned(), &states)?;
        let began = Instant::now();
        let pairs = lagged(&table, 1, None)?.table;
        let start = kinetic(&names, 1, &[])?;
        let fit = PseudoLikelihood::default().fit(&start, &pairs)?;
        let seconds = began.elapsed().as_secs_f64();
        let edges = fit.machine.graph().edges().iter().zip(fit.machine.weights());
        let squares: f64 = edges.map(|(&(now, past), w)| (w - truth[now][past - units]).powi(2)).sum();
        let rmse = (squares / (units * units) as f64).sqrt();
        let least = bound(&truth, &states).sqrt();
        println!(
            "{set:>6}  {seconds:>14.2}  {:>10}  {:>9}  {rmse:.6}  {least:.6}  {:.4}",
            fit.iterations(),
            fit.converged,
            rmse / least
        );
    }
    Ok(())
}

#[expect(clippy::print_stderr, reason = "a program for people")]
fn main() -> ExitCode {
    let number = |place: usize, default: usize| {
        std::env::args().nth(place).map_or(Some(default), |text| text.parse().ok())
    };
    let (Some(units), Some(steps), Some(sets)) = (number(1, 50), number(2, 100_000), number(3, 3)) else {
        eprintln!("expected numbers: UNITS STEPS SERIES");
        return ExitCode::from(2);
    };
    match run(units, steps, sets as u64) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
