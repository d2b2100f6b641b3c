//! Figure 2: how well draws of the hidden units given data reproduce their means.

use isinglass::search::{MaxProduct, ModeFinder};
use isinglass::{Engine, Enumerate, Evidence, Machine, Pairs, Result, Sampler};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::{VISIBLE, generating_machine};
use crate::figure::PALETTE;
use crate::figure::axis::Axis;
use crate::figure::chart::{Chart, Marker, Series};
use crate::figure::sheet::Sheet;
use crate::reproduce::chance::{Purpose, seed_of, stream};
use crate::reproduce::outcome::check;
use crate::reproduce::{Column, Outcome, Settings};
use crate::statistics::mean;

const HIDDEN: usize = 3;
const J: f64 = 0.3;
/// Sweeps from one draw to the next, λ.
const SWEEPS: usize = 2;
const MOST_DRAWS: usize = 20;
const DATA: [usize; 2] = [100, 1000];
const MACHINES: usize = 50;

pub(super) fn run(settings: &Settings<'_>) -> Result<Outcome> {
    let machines = settings.size(MACHINES, 12);
    settings.watch.expect(machines);
    let found: Vec<[Vec<f64>; 2]> = (0..machines as u64)
        .into_par_iter()
        .map(|index| {
            let errors = errors_of(settings.seed, index)?;
            settings.watch.done();
            Ok(errors)
        })
        .collect::<Result<_>>()?;
    let average = |which: usize| -> Vec<f64> {
        let at = |k: usize| mean(&found.iter().map(|errors| errors[which][k]).collect::<Vec<_>>());
        (0..MOST_DRAWS).map(at).collect()
    };
    let (few, many) = (average(0), average(1));
    let change = |errors: &[f64]| errors[1] / errors[MOST_DRAWS - 1];
    let ratio = few[MOST_DRAWS - 1] / many[1];
    let checks = vec![
        check(
            change(&few) < 1.5 && change(&many) < 1.5,
            format!(
                "the error hardly depends on K: with 2 draws it is {:.2} times that with {MOST_DRAWS} for M = 100, and {:.2} times for M = 1000.",
                change(&few),
                change(&many)
            ),
        ),
        check(
            ratio > 3.0,
            format!(
                "it depends strongly on M: of 2000 completed rows each, 100 data points with 20 draws leave {ratio:.1} times the error of 1000 with 2 ({:.1e} against {:.1e}).",
                few[MOST_DRAWS - 1],
                many[1]
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
             hidden units and K Gibbs samples from there, {SWEEPS} sweeps apart. Mean square of the difference between the mean of a hidden unit over all completed rows and the exact one, averaged over hidden units and machines (the \
             source does not tell how many it took)."
        ),
        columns: vec![
            Column::new("k", "draws for a data point", draws.clone()),
            Column::new("m100", "mean squared error of hidden means, M = 100", few),
            Column::new("m1000", "mean squared error of hidden means, M = 1000", many),
        ],
        figure,
        checks,
        remarks: String::new(),
    })
}

/// The error against the number of draws on one machine, for both numbers of data points.
fn errors_of(seed: u64, index: u64) -> Result<[Vec<f64>; 2]> {
    let machine = generating_machine(HIDDEN, J, seed_of(seed, index))?;
    let (engine, likely) = (Enumerate::default(), MaxProduct::default());
    let nothing = Evidence::none(machine.units());
    let truth = engine.expectations(&machine, &nothing, Pairs::None)?.means[VISIBLE..].to_vec();
    let data = engine.draw(&machine, &nothing, DATA[1], seed_of(seed, index))?.cells;
    let mut random = stream(seed, Purpose::Patterns, (4 << 32) + index);
    let mut errors = [Vec::new(), Vec::new()];
    for (errors, count) in errors.iter_mut().zip(DATA) {
        // Sums over rows of every hidden unit, for each number of draws.
        let mut sums = vec![[0.0; HIDDEN]; MOST_DRAWS];
        for row in data.chunks_exact(machine.units()).take(count) {
            let cells = row[..VISIBLE].iter().copied().chain([0; HIDDEN]).collect();
            let given = machine.conditional(&Evidence::from_cells(cells)?)?;
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
    Ok(errors)
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
