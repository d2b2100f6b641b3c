//! Time of decimation by number of units, compared with Gibbs sampling.

use std::time::Instant;

use isinglass::topology::{Neighbours, Numbers};
use isinglass::{Decimate, Engine, Error, Evidence, Expectations, Gibbs, Graph, Machine, Pairs, Result};

use crate::figure::PALETTE;
use crate::figure::axis::Axis;
use crate::figure::canvas::Stroke;
use crate::figure::chart::{Chart, Marker, Series};
use crate::figure::sheet::Sheet;
use crate::reproduce::{Check, Column, Outcome, Settings};
use crate::statistics::{root_mean_square, slope};
use crate::streams::seed_of;

const SIZES: [usize; 7] = [100, 300, 1000, 3000, 10_000, 30_000, 100_000];
/// Runs of which the shortest counts: it was disturbed least.
const RUNS: usize = 5;
const CHAINS: usize = 16;
const SAMPLES: usize = 200;
const BURN_IN: usize = 100;

/// The error of pair moments to which the time of Gibbs sampling is extrapolated.
const TARGET_ERROR: f64 = 1e-3;

/// The result for one size.
struct Measured {
    units: f64,
    build: f64,
    seconds: f64,
    gibbs: f64,
    error: f64,
}

impl Measured {
    /// Returns the time in which Gibbs sampling would reach the target error: errors fall with the
    /// square root of the number of kept states, and the burn-in stays.
    fn gibbs_at_target(&self) -> f64 {
        let kept = SAMPLES as f64 * (self.error / TARGET_ERROR).powi(2);
        self.gibbs * (BURN_IN as f64 + kept) / (BURN_IN + SAMPLES) as f64
    }

    /// Returns the number of Gibbs sweeps in the time of one decimation.
    fn sweeps_meanwhile(&self) -> f64 {
        (CHAINS * (BURN_IN + SAMPLES)) as f64 * self.seconds / self.gibbs
    }
}

pub(super) fn run(settings: &Settings<'_>) -> Result<Outcome> {
    let sizes = &SIZES[..settings.size(SIZES.len(), 5)];
    settings.progress.expect(sizes.len());
    let measured = |&units: &usize| {
        let measured = measure(units, settings.seed)?;
        settings.progress.done();
        Ok(measured)
    };
    // One thread for both: times compare the methods, not their use of cores.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let pool = pool.map_err(|error| Error::invalid("threads", format!("cannot start a thread: {error}")))?;
    let found: Vec<Measured> = pool.install(|| sizes.iter().map(measured).collect::<Result<_>>())?;
    let column = |of: &dyn Fn(&Measured) -> f64| found.iter().map(of).collect::<Vec<f64>>();
    let points = |of: &dyn Fn(&Measured) -> f64| -> Vec<(f64, f64)> {
        found.iter().map(|m| (m.units, of(m))).collect()
    };
    // Below a thousand units the constant cost of a call is visible.
    let large: Vec<(f64, f64)> =
        found.iter().filter(|m| m.units >= 1000.0).map(|m| (m.units.log10(), m.seconds.log10())).collect();
    let power = slope(&large);
    let last = &found[found.len() - 1];
    let least = |of: &dyn Fn(&Measured) -> f64| column(of).into_iter().fold(f64::INFINITY, f64::min);
    let most = |of: &dyn Fn(&Measured) -> f64| column(of).into_iter().fold(0.0, f64::max);
    let checks = vec![
        Check::new(
            "time is linear in the number of units",
            (0.8..1.25).contains(&power),
            format!(
                "exponent {power:.2} from 1000 units on; {:.2} ms for {} units, {:.0} ns per unit",
                1e3 * last.seconds,
                last.units,
                1e9 * last.seconds / last.units
            ),
        ),
        Check::new(
            "Gibbs sampling is comparatively slow",
            found.iter().all(|m| m.gibbs_at_target() > m.seconds),
            format!(
                "{:.0e} to {:.0e} times as long for an error of {TARGET_ERROR} in pair moments (root mean square, extrapolated); one \
                 decimation of {} units takes as long as {:.0} Gibbs sweeps",
                least(&|m| m.gibbs_at_target() / m.seconds),
                most(&|m| m.gibbs_at_target() / m.seconds),
                last.units,
                last.sweeps_meanwhile()
            ),
        ),
    ];
    let series = |name: &str, colour: usize, marker: Marker, of: &dyn Fn(&Measured) -> f64| {
        Series::line(name, PALETTE[colour], points(of)).marked(marker)
    };
    let figure = Sheet::new("Time for all moments of a ladder of n units")
        .row(
            420.0,
            [Chart::new(Axis::log("number of units n"), Axis::log("time (s)"))
                .with(
                    series(
                        "Gibbs sampling, extrapolated to errors of 0.001",
                        3,
                        Marker::Plus,
                        &Measured::gibbs_at_target,
                    )
                    .stroke(Stroke::Dotted),
                )
                .with(series("Gibbs sampling, 3200 states", 1, Marker::Ring, &|m| m.gibbs))
                .with(series("first call, which builds the adjoint network", 2, Marker::Square, &|m| m.build))
                .with(series("decimation, exact", 0, Marker::Disc, &|m| m.seconds))
                .boxed()],
        )
        .to_svg();
    Ok(Outcome {
        method: format!(
            "Ladders of n units (two chains with rungs; treewidth 3 with the bias unit 0), weights and biases uniform on (−1, 1). \
             Seconds for ln Z, all means and the pair moments of all edges by the adjoint network, the shortest of {RUNS} runs; for \
             the first call, which also finds the order and builds the network; and for Gibbs sampling with {CHAINS} chains, burn-in \
             {BURN_IN} and {SAMPLES} kept sweeps each. All on one thread."
        ),
        columns: vec![
            Column::new("units", "number of units", column(&|m| m.units)),
            Column::timed("seconds", "decimation: ln Z and all moments, seconds", column(&|m| m.seconds)),
            Column::timed(
                "build_seconds",
                "first call, order and adjoint network included, seconds",
                column(&|m| m.build),
            ),
            Column::timed("gibbs_seconds", "Gibbs sampling, seconds", column(&|m| m.gibbs)),
            Column::new("gibbs_error", "root mean square error of its pair moments", column(&|m| m.error)),
            Column::timed(
                "gibbs_seconds_asked",
                "extrapolation of its time to errors of 0.001, seconds",
                column(&Measured::gibbs_at_target),
            ),
        ],
        figure,
        checks,
        remarks: format!(
            "The ratio depends on the accuracy required, which is our choice: errors of Gibbs sampling fall with the square root of \
             its time. The {} states drawn here take {:.0} to {:.0} times as long as decimation and leave errors of {:.3} to {:.3}. \
             The source gives no figures.",
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
