//! Kinetic models: the optimum of the exact likelihood, errors against the Cramér–Rao bound, missing
//! cells and sessions.

#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

use isinglass::learn::{L1, Learner, PseudoLikelihood};
use isinglass::table::{kinetic, lagged};
use isinglass::{Machine, Table};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

const UNITS: usize = 8;

/// For each unit its couplings with the past, last its bias; and a series.
fn series(steps: usize, seed: u64) -> (Vec<Vec<f64>>, Vec<[i8; UNITS]>) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let truth: Vec<Vec<f64>> =
        (0..UNITS).map(|_| (0..=UNITS).map(|_| random.random_range(-0.5..0.5)).collect()).collect();
    let mut states = vec![[1i8; UNITS]];
    for step in 0..steps {
        let before = states[step];
        states.push(std::array::from_fn(|unit| {
            let up = 0.5 * (1.0 + field(&truth[unit], &before).tanh());
            if random.random::<f64>() < up { 1 } else { -1 }
        }));
    }
    (truth, states)
}

fn field(row: &[f64], before: &[i8]) -> f64 {
    row[UNITS] + row.iter().zip(before).map(|(w, &s)| w * f64::from(s)).sum::<f64>()
}

fn names() -> Vec<String> {
    (0..UNITS).map(|k| format!("x{k}")).collect()
}

fn fit(learner: &PseudoLikelihood, states: &[[i8; UNITS]]) -> Machine {
    let pairs = lagged(&Table::from_rows(names(), states).unwrap(), 1, None).unwrap().table;
    let fit = learner.fit(&kinetic(&names(), 1, &[]).unwrap(), &pairs).unwrap();
    assert!(fit.converged);
    fit.machine
}

/// The couplings of a fit as rows, with biases.
fn rows(machine: &Machine) -> Vec<Vec<f64>> {
    let coupling = |now: usize, past: usize| {
        machine.graph().edge_between(now, UNITS + past).map_or(0.0, |edge| machine.weights()[edge])
    };
    let row =
        |now: usize| (0..UNITS).map(|past| coupling(now, past)).chain([machine.biases()[now]]).collect();
    (0..UNITS).map(row).collect()
}

/// The inverse of a symmetric positive definite matrix, by Gauss and Jordan.
fn inverse(mut matrix: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let size = matrix.len();
    let mut inverse: Vec<Vec<f64>> =
        (0..size).map(|a| (0..size).map(|b| f64::from(u8::from(a == b))).collect()).collect();
    for k in 0..size {
        let pivot = matrix[k][k];
        for b in 0..size {
            matrix[k][b] /= pivot;
            inverse[k][b] /= pivot;
        }
        for a in (0..size).filter(|&a| a != k) {
            let factor = matrix[a][k];
            for b in 0..size {
                matrix[a][b] -= factor * matrix[k][b];
                inverse[a][b] -= factor * inverse[k][b];
            }
        }
    }
    inverse
}

#[test]
fn fits_are_the_maximum_of_the_likelihood_with_errors_near_the_least() {
    let (mut squares, mut least) = (0.0, 0.0);
    for seed in 0..4 {
        let (truth, states) = series(5000, seed);
        let found = rows(&fit(&PseudoLikelihood::default(), &states));
        for unit in 0..UNITS {
            let mut slope = [0.0; UNITS + 1];
            let mut information = vec![vec![0.0; UNITS + 1]; UNITS + 1];
            for pair in states.windows(2) {
                let x: Vec<f64> = pair[0].iter().map(|&s| f64::from(s)).chain([1.0]).collect();
                let residual = f64::from(pair[1][unit]) - field(&found[unit], &pair[0]).tanh();
                let bend = 1.0 - field(&truth[unit], &pair[0]).tanh().powi(2);
                for a in 0..=UNITS {
                    slope[a] += residual * x[a] / 5000.0;
                    for b in 0..=UNITS {
                        information[a][b] += bend * x[a] * x[b];
                    }
                }
            }
            // No derivative of the average likelihood is left.
            assert!(slope.iter().all(|slope| slope.abs() < 1e-8), "{slope:?}");
            let bound = inverse(information);
            for k in 0..=UNITS {
                squares += (found[unit][k] - truth[unit][k]).powi(2);
                least += bound[k][k];
            }
        }
    }
    // 288 errors: the ratio has a standard error of 0.04.
    let ratio = (squares / least).sqrt();
    assert!((0.85..1.15).contains(&ratio), "{ratio}");
}

#[test]
fn selection_keeps_arrows_of_one_direction() {
    let mut random = ChaCha8Rng::seed_from_u64(9);
    let mut states = vec![[1i8; UNITS]];
    for step in 0..3000 {
        let before = states[step];
        // x1 follows x0; all others are by chance.
        states.push(std::array::from_fn(|unit| {
            let field = if unit == 1 { 0.6 * f64::from(before[0]) } else { 0.0 };
            if random.random::<f64>() < 0.5 * (1.0 + f64::tanh(field)) { 1 } else { -1 }
        }));
    }
    let machine = fit(&PseudoLikelihood::new().l1(Some(L1::Ebic)), &states);
    let kept: Vec<(usize, usize)> = machine.graph().edges().to_vec();
    assert_eq!(kept, [(1, UNITS)]);
    assert!((machine.weights()[0] - 0.6).abs() < 0.1);
}
