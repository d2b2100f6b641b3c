//! Figure 2: means of the hidden units from draws given data.

use isinglass::engine::ModeFinder;
use isinglass::search::MaxProduct;
use isinglass::{Engine, Enumerate, Evidence, Machine, Pairs, Result, Sampler};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::{SWEEPS, VISIBLE, generating_machine};
use crate::figure::PALETTE;
use crate::figure::axis::Axis;
use crate::figure::chart::{Chart, Marker, Series};
use crate::figure::sheet::Sheet;
use crate::reproduce::{Check, Column, Outcome, Settings};
use crate::statistics::{mean, variance};
use crate::streams::{Purpose, seed_of, stream};

const HIDDEN: usize = 3;
const J: f64 = 0.3;
const MAX_DRAWS: usize = 20;
const DATA: [usize; 2] = [100, 1000];
const MACHINES: usize = 200;

/// The result for one machine.
struct Found {
    /// The error by number of draws, for both numbers of data points.
    errors: [Vec<f64>; 2],
    /// The variance of a hidden unit's conditional mean between data points, averaged over hidden
    /// units.
    between: f64,
    /// The variance of a hidden unit given a data point.
    within: f64,
}

pub(super) fn run(settings: &Settings<'_>) -> Result<Outcome> {
    let machines = settings.size(MACHINES, 60);
    settings.progress.expect(machines);
    let found: Vec<Found> = (0..machines as u64)
        .into_par_iter()
        .map(|index| {
            let errors = errors_of(settings.seed, index)?;
            settings.progress.done();
            Ok(errors)
        })
        .collect::<Result<_>>()?;
    let average = |which: usize| -> Vec<f64> {
        let at = |k: usize| mean(&found.iter().map(|found| found.errors[which][k]).collect::<Vec<_>>());
        (0..MAX_DRAWS).map(at).collect()
    };
    let (few, many) = (average(0), average(1));
    let over = |of: &dyn Fn(&Found) -> f64| mean(&found.iter().map(of).collect::<Vec<_>>());
    let (between, within) = (over(&|found| found.between), over(&|found| found.within));
    let last = MAX_DRAWS - 1;
    let change = |errors: &[f64], k: usize| errors[k - 1] / errors[last];
    let by_data = mean(&few) / mean(&many);
    let same_rows = few[last] / many[1];
    let checks = vec![
        Check::new(
            "the error hardly depends on K",
            change(&few, 1) < 1.5 && change(&many, 1) < 1.5,
            format!(
                "error relative to K = {MAX_DRAWS}: {:.2} (M = 100) and {:.2} (M = 1000) for K = 1, {:.2} and {:.2} for K = 2",
                change(&few, 1),
                change(&many, 1),
                change(&few, 2),
                change(&many, 2)
            ),
        ),
        Check::new(
            "the error depends strongly on M",
            by_data > 5.0,
            format!("{by_data:.1} times the error with a tenth of the data points (mean over K)"),
        ),
        Check::new(
            "for 2000 completed rows, more data points beat more draws",
            same_rows > 2.0,
            format!("error {:.1e} with M = 100, K = 20; {:.1e} with M = 1000, K = 2", few[last], many[1]),
        ),
    ];
    let draws: Vec<f64> = (1..=MAX_DRAWS).map(|k| k as f64).collect();
    let points = |errors: &[f64]| draws.iter().copied().zip(errors.iter().copied()).collect();
    let figure = Sheet::new("Means of hidden units from K draws for each of M data points")
        .row(
            400.0,
            [Chart::new(
                Axis::new("draws per data point, K").within(0.0, 20.5),
                Axis::log("mean squared error of ⟨s⟩"),
            )
            .with(Series::line("M = 100", PALETTE[1], points(&few)).marked(Marker::Ring))
            .with(Series::line("M = 1000", PALETTE[0], points(&many)).marked(Marker::Disc))
            .boxed()],
        )
        .to_svg();
    Ok(Outcome {
        method: format!(
            "{machines} machines of {VISIBLE} visible and {HIDDEN} hidden units, biases uniform on (−0.1, 0.1), couplings on \
             (−{J}, {J}). M = 100 and 1000 exact draws of the visible units; for each, K Gibbs samples of the hidden units, started \
             at the max-product state and λ = {SWEEPS} sweeps apart (the source gives no λ here). Error: squared difference between \
             the mean of a hidden unit over all completed rows and the exact mean, averaged over hidden units and machines (the \
             source does not give their number)."
        ),
        columns: vec![
            Column::new("k", "draws per data point", draws.clone()),
            Column::new("m100", "mean squared error of hidden means, M = 100", few.clone()),
            Column::new("m1000", "mean squared error of hidden means, M = 1000", many.clone()),
        ],
        figure,
        checks,
        remarks: format!(
            "The error is (B + W/K)/M, with B the variance of a hidden unit's conditional mean between data points and W its \
             variance given one. With B = {between:.2} and W = {within:.2}, K = 1 has {:.1} times the error of K = {MAX_DRAWS}, which \
             a single realisation may not show; from K = 8 on little changes ({:.2} and {:.2} times).",
            (between + within) / (between + within / MAX_DRAWS as f64),
            change(&few, 8),
            change(&many, 8)
        ),
    })
}

fn errors_of(seed: u64, index: u64) -> Result<Found> {
    let machine = generating_machine(HIDDEN, J, seed_of(seed, index))?;
    let (engine, likely) = (Enumerate::default(), MaxProduct::default());
    let nothing = Evidence::none(machine.unit_count());
    let truth = engine.expectations(&machine, &nothing, Pairs::None)?.means[VISIBLE..].to_vec();
    let data = engine.draw(&machine, &nothing, DATA[1], seed_of(seed, index))?.cells;
    let mut random = stream(seed, Purpose::Patterns, (4 << 32) + index);
    let mut errors = [Vec::new(), Vec::new()];
    let mut conditional: Vec<Vec<f64>> = Vec::new();
    for (errors, count) in errors.iter_mut().zip(DATA) {
        // Sums over rows of every hidden unit, for each number of draws.
        let mut sums = vec![[0.0; HIDDEN]; MAX_DRAWS];
        for row in data.chunks_exact(machine.unit_count()).take(count) {
            let cells = row[..VISIBLE].iter().copied().chain([0; HIDDEN]).collect();
            let given = machine.conditional(&Evidence::from_cells(cells)?)?;
            if count == DATA[1] {
                conditional.push(engine.expectations(&given, &Evidence::none(HIDDEN), Pairs::None)?.means);
            }
            let mut state = likely.mode(&given, &Evidence::none(HIDDEN))?.state;
            for sum in &mut sums {
                for _ in 0..SWEEPS {
                    sweep(&given, &mut state, &mut random);
                }
                for (sum, &spin) in sum.iter_mut().zip(&state) {
                    *sum += f64::from(spin);
                }
            }
        }
        let mut total = [0.0; HIDDEN];
        for (k, sum) in sums.iter().enumerate() {
            for (total, sum) in total.iter_mut().zip(sum) {
                *total += sum;
            }
            let states = ((k + 1) * count) as f64;
            let squares = total.iter().zip(&truth).map(|(total, truth)| (total / states - truth).powi(2));
            errors.push(squares.sum::<f64>() / HIDDEN as f64);
        }
    }
    let of_units = |of: &dyn Fn(&[f64]) -> f64| {
        let unit = |unit: usize| of(&conditional.iter().map(|means| means[unit]).collect::<Vec<_>>());
        mean(&(0..HIDDEN).map(unit).collect::<Vec<_>>())
    };
    let between = of_units(&variance);
    let within = of_units(&|means| mean(&means.iter().map(|m| 1.0 - m * m).collect::<Vec<_>>()));
    Ok(Found { errors, between, within })
}

/// Redraws every unit of a small machine given the others, one after another.
fn sweep(machine: &Machine, state: &mut [i8], random: &mut ChaCha8Rng) {
    for unit in 0..state.len() {
        let edges = machine.graph().edges().iter().zip(machine.weights());
        let pull = edges.map(|(&(a, b), w)| match unit {
            unit if unit == a => w * f64::from(state[b]),
            unit if unit == b => w * f64::from(state[a]),
            _ => 0.0,
        });
        let field = machine.biases()[unit] + pull.sum::<f64>();
        let up = 1.0 / (1.0 + (-2.0 * field / machine.temperature()).exp());
        state[unit] = if random.random::<f64>() < up { 1 } else { -1 };
    }
}
