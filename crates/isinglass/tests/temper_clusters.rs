//! Clusters of bonds in the engine `temper`: the right distribution, and no slowing down where
//! units begin to order.

#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

use isinglass::engine::Moves;
use isinglass::topology::{self, Neighbours};
use isinglass::{Engine, Enumerate, Evidence, Machine, Pairs, Sampler, Temper};

/// A 4×4 lattice whose couplings one random state satisfies; its fields agree with that state, or
/// are of either sign, or there are none.
fn gauged(seed: u64) -> Machine {
    let grid = topology::grid(4, 4, Neighbours::Four);
    let mut bits = 0x9e37_79b9_7f4a_7c15u64.wrapping_mul(seed + 1);
    let mut next = || {
        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        (bits >> 40) as f64 / f64::from(1u32 << 24)
    };
    let sides: Vec<f64> = (0..16).map(|_| if next() < 0.5 { -1.0 } else { 1.0 }).collect();
    let strength = [0.3, 0.44, 0.7, 1.0][seed as usize % 4];
    let weights: Vec<f64> = (grid.graph().edges().iter())
        .map(|&(a, b)| sides[a] * sides[b] * strength * (0.5 + next()))
        .collect();
    let biases = (0..16).map(|unit| match seed % 3 {
        0 => 0.2 * next() * sides[unit],
        1 => 0.8 * (next() - 0.5),
        _ => 0.0,
    });
    let biases = biases.collect();
    grid.with_parameters(weights, biases).unwrap()
}

#[test]
fn errors_cover_the_truth_with_and_without_fields() {
    let mut scores = Vec::new();
    let mut log_z = Vec::new();
    for seed in 0..24 {
        let machine = gauged(seed);
        let none = Evidence::none(16);
        let truth = Enumerate::default().expectations(&machine, &none, Pairs::Edges).unwrap();
        let engine = Temper::new().seed(seed).moves(Moves::Cluster).sweeps(Some(2048)).burn_in(1024);
        let found = engine.expectations(&machine, &none, Pairs::Edges).unwrap();
        assert!(found.diagnostics.converged, "seed {seed}: {:?}", found.diagnostics);
        let errors = found.errors.unwrap();
        let score = |found: f64, truth: f64, error: f64| (found - truth) / error;
        for unit in 0..16 {
            scores.push(score(found.means[unit], truth.means[unit], errors.means[unit]));
        }
        let pairs = found.correlations.values.iter().zip(&truth.correlations.values);
        scores.extend(pairs.zip(&errors.correlations).map(|((&a, &b), &error)| score(a, b, error)));
        log_z.push(score(found.log_z.unwrap(), truth.log_z.unwrap(), errors.log_z.unwrap()));
    }
    let share = |limit: f64, scores: &[f64]| {
        scores.iter().filter(|z| z.abs() <= limit).count() as f64 / scores.len() as f64
    };
    assert!((0.92..0.985).contains(&share(2.0, &scores)), "{} within two errors", share(2.0, &scores));
    assert!(scores.iter().all(|z| z.abs() < 5.0));
    assert!(share(3.0, &log_z) >= 0.95, "log Z: {log_z:?}");
}

/// Twice the integrated autocorrelation time: steps for an independent sample.
fn correlation_time(series: &[f64]) -> f64 {
    let count = series.len();
    let mean = series.iter().sum::<f64>() / count as f64;
    let covariance = |lag: usize| {
        series.iter().zip(&series[lag..]).map(|(a, b)| (a - mean) * (b - mean)).sum::<f64>()
            / (count - lag) as f64
    };
    let variance = covariance(0);
    let mut time = 1.0;
    for lag in 1..count / 2 {
        time += 2.0 * covariance(lag) / variance;
        // A window of some correlation times (Sokal 1997).
        if lag as f64 > 3.0 * time {
            break;
        }
    }
    time
}

/// A ferromagnet of 32×32 units at the critical temperature. Visits of a unit count at all levels:
/// one for a sweep, one for a cluster move at half of the levels. Single chains need 100,000.
#[test]
fn a_critical_ferromagnet_does_not_slow_down() {
    const SIDE: usize = 32;
    const SWEEPS: usize = 1024;
    const LADDERS: usize = 16;
    let grid = topology::grid(SIDE, SIDE, Neighbours::Four);
    let edges = grid.graph().edges().len();
    let critical = 0.5 * (1.0 + 2f64.sqrt()).ln();
    let magnet = grid.with_parameters(vec![critical; edges], vec![0.0; SIDE * SIDE]).unwrap();
    let engine = Temper::new().moves(Moves::Cluster).sweeps(Some(SWEEPS)).burn_in(1024);
    let draws = engine.draw(&magnet, &Evidence::none(SIDE * SIDE), LADDERS * SWEEPS, 3).unwrap();
    let levels = draws.diagnostics.mixing.as_ref().unwrap().swap_rates.len() + 1;
    let total = |state: &[i8]| state.iter().map(|&s| f64::from(s)).sum::<f64>();
    let magnetisation: Vec<f64> = draws.cells.chunks(SIDE * SIDE).map(total).collect();
    let time = |of: fn(f64) -> f64| {
        let ladder = |first: usize| -> Vec<f64> {
            magnetisation.iter().skip(first).step_by(LADDERS).map(|&m| of(m)).collect()
        };
        (0..LADDERS).map(|first| correlation_time(&ladder(first))).sum::<f64>() / LADDERS as f64
    };
    let visits = |time: f64| levels as f64 * time * (1.0 + 0.5 / 8.0);
    let (signed, size) = (visits(time(|m| m)), visits(time(f64::abs)));
    assert!(signed < 1500.0 && size < 1500.0, "{levels} levels: {signed} visits for m, {size} for |m|");
}
