//! Figure 2: how well draws of the hidden units given data reproduce their means.

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
use crate::reproduce::chance::{Purpose, seed_of, stream};
use crate::reproduce::outcome::check;
use crate::reproduce::{Column, Outcome, Settings};
use crate::statistics::{mean, variance};

const HIDDEN: usize = 3;
const J: f64 = 0.3;
const MOST_DRAWS: usize = 20;
const DATA: [usize; 2] = [100, 1000];
const MACHINES: usize = 200;

/// What one machine gave.
struct Found {
    /// The error against the number of draws, for both numbers of data points.
    errors: [Vec<f64>; 2],
    /// The variance of a hidden unit's conditional mean from one data point to the next, averaged over hidden units.
    between: f64,
    /// The variance that is left of a hidden unit given a data point.
    within: f64,
}

pub(super) fn run(settings: &Settings<'_>) -> Result<Outcome> {
    let machines = settings.size(MACHINES, 60);
    settings.watch.expect(machines);
    let found: Vec<Found> = (0..machines as u64)
        .into_par_iter()
        .map(|index| {
            let errors = errors_of(settings.seed, index)?;
            settings.watch.done();
            Ok(errors)
        })
        .collect::<Result<_>>()?;
    let average = |which: usize| -> Vec<f64> {
        let at = |k: usize| mean(&found.iter().map(|found| found.errors[which][k]).collect::<Vec<_>>());
        (0..MOST_DRAWS).map(at).collect()
    };
    let (few, many) = (average(0), average(1));
    let over = |of: &dyn Fn(&Found) -> f64| mean(&found.iter().map(of).collect::<Vec<_>>());
    let (between, within) = (over(&|found| found.between), over(&|found| found.within));
    let last = MOST_DRAWS - 1;
    let change = |errors: &[f64], k: usize| errors[k - 1] / errors[last];
    let by_data = mean(&few) / mean(&many);
    let same_rows = few[last] / many[1];
    let checks = vec![
        check(
            change(&few, 1) < 1.5 && change(&many, 1) < 1.5,
            format!(
                "the error hardly depends on K: with one draw it is {:.2} times that with {MOST_DRAWS} for M = 100, and {:.2} times for M = 1000; with two {:.2} and {:.2} times.",
                change(&few, 1),
                change(&many, 1),
                change(&few, 2),
                change(&many, 2)
            ),
        ),
        check(
            by_data > 5.0,
            format!(
                "it depends strongly on M: a tenth of the data points leave {by_data:.1} times the error, whatever K."
            ),
        ),
        check(
            same_rows > 2.0,
            format!(
                "of 2000 completed rows each, 100 data points with 20 draws are worse than 1000 with 2: an error of {:.1e} against {:.1e}.",
                few[last], many[1]
            ),
        ),
    ];
    let draws: Vec<f64> = (1..=MOST_DRAWS).map(|k| k as f64).collect();
    let points = |errors: &[f64]| draws.iter().copied().zip(errors.iter().copied()).collect();
    let figure = Sheet::new("Means of hidden units from K draws for each of M data points")
        .row(
            400.0,
            [Chart::new(
                Axis::new("draws for a data point, K").within(0.0, 20.5),
                Axis::log("mean squared error of ⟨s⟩"),
            )
            .with(Series::line("M = 100", PALETTE[1], points(&few)).marked(Marker::Ring))
            .with(Series::line("M = 1000", PALETTE[0], points(&many)).marked(Marker::Disc))
            .boxed()],
        )
        .to_svg();
    Ok(Outcome {
        set_up: format!(
            "{machines} machines of {VISIBLE} visible and {HIDDEN} hidden units, biases uniform on (−0.1, 0.1), couplings on (−{J}, {J}); M = 100 and 1000 exact draws of the visible units; for each, the max-product state of the \
             hidden units and K Gibbs samples from there, λ = {SWEEPS} sweeps apart (the source tells no λ here). Mean square of the difference between the mean of a hidden unit over all completed rows and the exact one, averaged over hidden units and machines (the \
             source does not tell how many it took)."
        ),
        columns: vec![
            Column::new("k", "draws for a data point", draws.clone()),
            Column::new("m100", "mean squared error of hidden means, M = 100", few.clone()),
            Column::new("m1000", "mean squared error of hidden means, M = 1000", many.clone()),
        ],
        figure,
        checks,
        remarks: format!(
            "The error of a mean over M data points with K independent draws each is (B + W/K)/M, with B the variance of a hidden unit's conditional mean from one data point to the next and W what is left of its variance given one. \
             Here B = {between:.2} and W = {within:.2}: going from K = 1 to {MOST_DRAWS} must help by a factor of {:.1}, and it does. A single realisation, where B outweighs the rest by chance, may not show it. From K = 8 on little changes: errors are {:.2} and {:.2} times those with {MOST_DRAWS}.",
            (between + within) / (between + within / MOST_DRAWS as f64),
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
        let mut sums = vec![[0.0; HIDDEN]; MOST_DRAWS];
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

/// Every unit of a small machine drawn anew given the others, one after the other.
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
