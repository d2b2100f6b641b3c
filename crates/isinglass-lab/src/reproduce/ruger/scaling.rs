//! The time that decimation takes against the number of units, beside Gibbs sampling.

use std::time::Instant;

use isinglass::topology::{Neighbours, Numbers};
use isinglass::{Decimate, Engine, Error, Evidence, Expectations, Gibbs, Graph, Machine, Pairs, Result};

use crate::figure::PALETTE;
use crate::figure::axis::Axis;
use crate::figure::canvas::Stroke;
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

/// The error of pair moments for which Gibbs sampling's time is told.
const ASKED: f64 = 1e-3;

/// What one size gave.
struct Measured {
    units: f64,
    build: f64,
    seconds: f64,
    gibbs: f64,
    error: f64,
}

impl Measured {
    /// The time in which Gibbs sampling would reach the error asked for: errors fall with the root of the number of kept states, and what comes before the first of them stays.
    fn gibbs_asked(&self) -> f64 {
        let kept = SAMPLES as f64 * (self.error / ASKED).powi(2);
        self.gibbs * (BURN_IN as f64 + kept) / (BURN_IN + SAMPLES) as f64
    }

    /// The sweeps that Gibbs sampling does in the time of decimation.
    fn sweeps_meanwhile(&self) -> f64 {
        (CHAINS * (BURN_IN + SAMPLES)) as f64 * self.seconds / self.gibbs
    }
}

pub(super) fn run(settings: &Settings<'_>) -> Result<Outcome> {
    let sizes = &SIZES[..settings.size(SIZES.len(), 5)];
    settings.watch.expect(sizes.len());
    let measured = |&units: &usize| {
        let measured = measure(units, settings.seed)?;
        settings.watch.done();
        Ok(measured)
    };
    // One thread for both, so that times compare the methods and not their use of cores.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let pool = pool.map_err(|error| Error::invalid("threads", format!("one cannot be started: {error}")))?;
    let found: Vec<Measured> = pool.install(|| sizes.iter().map(measured).collect::<Result<_>>())?;
    let column = |of: &dyn Fn(&Measured) -> f64| found.iter().map(of).collect::<Vec<f64>>();
    let points = |of: &dyn Fn(&Measured) -> f64| -> Vec<(f64, f64)> {
        found.iter().map(|m| (m.units, of(m))).collect()
    };
    // Below a thousand units, what a call costs whatever its size shows.
    let large: Vec<(f64, f64)> =
        found.iter().filter(|m| m.units >= 1000.0).map(|m| (m.units.log10(), m.seconds.log10())).collect();
    let power = slope(&large);
    let last = &found[found.len() - 1];
    let least = |of: &dyn Fn(&Measured) -> f64| column(of).into_iter().fold(f64::INFINITY, f64::min);
    let most = |of: &dyn Fn(&Measured) -> f64| column(of).into_iter().fold(0.0, f64::max);
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
            found.iter().all(|m| m.gibbs_asked() > m.seconds),
            format!(
                "Gibbs sampling is slow beside it: for errors of {ASKED} in pair moments (root mean square) it would take {:.0e} to {:.0e} times as long, both on one thread. In the time of decimation at {} units, whose answer is exact, it does {:.0} sweeps of one chain.",
                least(&|m| m.gibbs_asked() / m.seconds),
                most(&|m| m.gibbs_asked() / m.seconds),
                last.units,
                last.sweeps_meanwhile()
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
                .with(
                    series(
                        "Gibbs sampling for errors of 0.001, extrapolated",
                        3,
                        Marker::Plus,
                        &Measured::gibbs_asked,
                    )
                    .stroke(Stroke::Dotted),
                )
                .with(series("Gibbs sampling, 3200 states", 1, Marker::Ring, &|m| m.gibbs))
                .with(series("building the adjoint network, once", 2, Marker::Square, &|m| m.build))
                .with(series("decimation, exact", 0, Marker::Disc, &|m| m.seconds))
                .boxed()],
        )
        .to_svg();
    Ok(Outcome {
        set_up: format!(
            "Ladders of n units (two chains with rungs, biases everywhere; with unit 0 their treewidth is 3), weights and biases uniform on (−1, 1). Seconds for ln Z, all means and all pair moments of edges by the adjoint network, \
             the least of {RUNS} runs; the first call, which also finds the order and builds the network; and Gibbs sampling: {CHAINS} chains, {BURN_IN} sweeps each before the first of {SAMPLES} kept ones. All on one thread."
        ),
        columns: vec![
            Column::new("units", "number of units", column(&|m| m.units)),
            Column::times("seconds", "decimation: ln Z and all moments, seconds", column(&|m| m.seconds)),
            Column::times(
                "build_seconds",
                "the first call, order and adjoint network included, seconds",
                column(&|m| m.build),
            ),
            Column::times("gibbs_seconds", "Gibbs sampling, seconds", column(&|m| m.gibbs)),
            Column::new("gibbs_error", "root mean square error of its pair moments", column(&|m| m.error)),
            Column::times(
                "gibbs_seconds_asked",
                "what it would take for errors of 0.001, from its time and error, seconds",
                column(&Measured::gibbs_asked),
            ),
        ],
        figure,
        checks,
        remarks: format!(
            "How many times as long Gibbs sampling takes follows from the accuracy asked for, which is our choice: the time of a sweep is linear in the units, too, and errors fall with the root of the time. The {} states drawn here take {:.0} to {:.0} times \
             as long as decimation and leave errors of {:.3} to {:.3}. The source gives no figures for it.",
            CHAINS * SAMPLES,
            least(&|m| m.gibbs / m.seconds),
            most(&|m| m.gibbs / m.seconds),
            least(&|m| m.error),
            most(&|m| m.error)
        ),
    })
}

fn measure(units: usize, seed: u64) -> Result<Measured> {
    let numbers = Numbers::Uniform { low: -1.0, high: 1.0 };
    let ladder = Graph::grid(2, units / 2, Neighbours::Four);
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
    let sampler = Gibbs::new().chains(CHAINS).burn_in(BURN_IN).samples(SAMPLES).seed(seed);
    let (gibbs, estimate) = timed(&sampler)?;
    let pairs = truth.correlations.values.iter().zip(&estimate.correlations.values);
    Ok(Measured {
        units: units as f64,
        build,
        seconds,
        gibbs,
        error: root_mean_square(pairs.map(|(a, b)| a - b)),
    })
}
