//! The time that decimation takes against the number of units, beside Gibbs sampling.

use std::time::Instant;

use isinglass::engine::GibbsSettings;
use isinglass::topology::{self, Neighbours, Numbers};
use isinglass::{Decimate, Engine, Evidence, Expectations, Gibbs, Machine, Pairs, Result};

use crate::figure::PALETTE;
use crate::figure::axis::Axis;
use crate::figure::chart::{Chart, Marker, Series};
use crate::figure::sheet::Sheet;
use crate::reproduce::chance::seed_of;
use crate::reproduce::outcome::check;
use crate::reproduce::{Column, Outcome, Settings};
use crate::statistics::{root_mean_square, slope};

const SIZES: [usize; 7] = [100, 300, 1000, 3000, 10_000, 30_000, 100_000];
/// The least of some runs is the one that was disturbed least.
const RUNS: usize = 5;
const CHAINS: usize = 16;
const SAMPLES: usize = 200;
const BURN_IN: usize = 100;

/// What one size gave.
struct Measured {
    units: f64,
    build: f64,
    seconds: f64,
    gibbs: f64,
    error: f64,
}

pub(super) fn run(settings: &Settings<'_>) -> Result<Outcome> {
    let sizes = &SIZES[..settings.size(SIZES.len(), 5)];
    settings.watch.expect(sizes.len());
    let found: Vec<Measured> = sizes
        .iter()
        .map(|&units| {
            let measured = measure(units, settings.seed)?;
            settings.watch.done();
            Ok(measured)
        })
        .collect::<Result<_>>()?;
    let column = |of: &dyn Fn(&Measured) -> f64| found.iter().map(of).collect::<Vec<f64>>();
    let points = |of: &dyn Fn(&Measured) -> f64| -> Vec<(f64, f64)> {
        found.iter().map(|m| (m.units, of(m))).collect()
    };
    // Below a thousand units, what a call costs whatever its size shows.
    let large: Vec<(f64, f64)> =
        found.iter().filter(|m| m.units >= 1000.0).map(|m| (m.units.log10(), m.seconds.log10())).collect();
    let power = slope(&large);
    let last = &found[found.len() - 1];
    let (error_low, error_high) =
        found.iter().fold((f64::INFINITY, 0.0f64), |(a, b), m| (a.min(m.error), b.max(m.error)));
    let checks = vec![
        check(
            (0.8..1.25).contains(&power),
            format!(
                "time grows in proportion to the units: as their power {power:.2} from 1000 units on; {:.2} ms for {} units, {:.0} ns a unit.",
                1e3 * last.seconds,
                last.units,
                1e9 * last.seconds / last.units
            ),
        ),
        check(
            found.iter().all(|m| m.gibbs > 3.0 * m.seconds),
            format!(
                "Gibbs sampling is slow beside it: {CHAINS} chains with {SAMPLES} kept states each take {:.0} times as long at {} units, and leave errors of {error_low:.3} to {error_high:.3} in pair moments (root mean square).",
                last.gibbs / last.seconds,
                last.units
            ),
        ),
    ];
    let series = |name: &str, colour: usize, marker: Marker, of: &dyn Fn(&Measured) -> f64| {
        Series::line(name, PALETTE[colour], points(of)).marked(marker)
    };
    let figure = Sheet::new("All moments of a ladder of n units")
        .row(
            420.0,
            [Chart::new(Axis::log("number of units n"), Axis::log("time (s)"))
                .with(series("Gibbs sampling, 3200 states", 1, Marker::Ring, &|m| m.gibbs))
                .with(series("building the adjoint network, once", 2, Marker::Square, &|m| m.build))
                .with(series("decimation, exact", 0, Marker::Disc, &|m| m.seconds))
                .boxed()],
        )
        .to_svg();
    Ok(Outcome {
        set_up: format!(
            "Ladders of n units (two chains with rungs, biases everywhere; with unit 0 their treewidth is 3), weights and biases uniform on (−1, 1). Seconds for ln Z, all means and all pair moments of edges by the adjoint network, \
             the least of {RUNS} runs; the first call, which also finds the order and builds the network; and Gibbs sampling: {CHAINS} chains, {BURN_IN} sweeps each before the first of {SAMPLES} kept ones, on all cores."
        ),
        columns: vec![
            Column::new("units", "number of units", column(&|m| m.units)),
            Column::times("seconds", "decimation: ln Z and all moments, seconds", column(&|m| m.seconds)),
            Column::times("build_seconds", "the first call, order and adjoint network included, seconds", column(&|m| m.build)),
            Column::times("gibbs_seconds", "Gibbs sampling, seconds", column(&|m| m.gibbs)),
            Column::new("gibbs_error", "root mean square error of its pair moments", column(&|m| m.error)),
        ],
        figure,
        checks,
        remarks: "The cost of a sweep of Gibbs sampling is linear in the units, too; what it lacks is accuracy, which comes with the square root of the time.".into(),
    })
}

fn measure(units: usize, seed: u64) -> Result<Measured> {
    let numbers = Numbers::Uniform { low: -1.0, high: 1.0 };
    let ladder = topology::grid(2, units / 2, Neighbours::Four);
    let machine =
        Machine::from_graph(ladder).with_numbers(&numbers, &numbers, seed_of(seed, units as u64))?;
    let nothing = Evidence::none(units);
    let timed = |engine: &dyn Engine| -> Result<(f64, Expectations)> {
        let began = Instant::now();
        let answer = engine.expectations(&machine, &nothing, Pairs::Edges)?;
        Ok((began.elapsed().as_secs_f64(), answer))
    };
    let engine = Decimate::default();
    let (build, truth) = timed(&engine)?;
    let mut seconds = f64::INFINITY;
    for _ in 0..RUNS {
        seconds = seconds.min(timed(&engine)?.0);
    }
    let settings = GibbsSettings {
        chains: CHAINS,
        burn_in: BURN_IN,
        samples: SAMPLES,
        seed,
        ..GibbsSettings::default()
    };
    let (gibbs, estimate) = timed(&Gibbs { settings })?;
    let pairs = truth.correlations.values.iter().zip(&estimate.correlations.values);
    Ok(Measured {
        units: units as f64,
        build,
        seconds,
        gibbs,
        error: root_mean_square(pairs.map(|(a, b)| a - b)),
    })
}
