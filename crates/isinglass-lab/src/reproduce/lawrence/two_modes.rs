//! Figures 2 and 3: two units learn two modes.

use isinglass::likelihood::Phases;
use isinglass::topology::{self, Numbers};
use isinglass::{Engine, Enumerate, Evidence, Machine, MeanField, Mixture, Pairs, Result, Table};

use crate::figure::axis::Axis;
use crate::figure::canvas::Stroke;
use crate::figure::chart::{Chart, Series, Square};
use crate::figure::sheet::{Part, Sheet};
use crate::figure::{INK, PALETTE};
use crate::reproduce::learning::{ascend, divergence};
use crate::reproduce::outcome::one_digit;
use crate::reproduce::{Check, Column, Outcome, Settings};
use crate::statistics::reversals;
use crate::streams::seed_of;

const RATE: f64 = 0.25;
const STEPS: usize = 400;
/// Steps that figure 3 shows.
const SHOWN: usize = 40;

/// At most 20 sweeps of inference. The tolerance is on the equations; the source's is on the cost.
const MAX_SWEEPS: usize = 20;
const TOLERANCE: f64 = 1e-4;

fn mean_field() -> MeanField {
    MeanField::new().tolerance(TOLERANCE).max_sweeps(MAX_SWEEPS)
}

fn mixture() -> Mixture {
    Mixture::new().components(2).tolerance(TOLERANCE).max_sweeps(MAX_SWEEPS)
}

fn method() -> String {
    format!(
        "Two units, data (1, 1) twice and (−1, −1) once; gradient ascent with rate {RATE} for {STEPS} steps from N(0, 0.1²), the \
         same start for all methods. Inference restarts from the fields at each step and takes at most 20 sweeps, or until the \
         equations hold to 1e-4 (the source: until the cost changes by no more than 0.01 %); no annealing."
    )
}

/// K, weight and biases along a fit.
struct Trajectory {
    k: Vec<f64>,
    weight: Vec<f64>,
    biases: [Vec<f64>; 2],
}

fn data() -> Result<Table> {
    Table::from_rows(["x0", "x1"], [[1, 1], [1, 1], [-1, -1]])
}

fn path(engine: &dyn Engine, settings: &Settings<'_>) -> Result<Vec<Machine>> {
    let small = Numbers::Normal { mean: 0.0, deviation: 0.1 };
    let start = topology::full(2).with_numbers(&small, &small, seed_of(settings.seed, 0))?;
    let phases = Phases::both(engine);
    Ok(ascend(phases, &start, &data()?, (RATE, 0.0), STEPS, settings.progress)?.machines)
}

fn trajectory(engine: &dyn Engine, settings: &Settings<'_>) -> Result<Trajectory> {
    let (path, table) = (path(engine, settings)?, data()?);
    Ok(Trajectory {
        k: path.iter().map(|machine| divergence(machine, &table)).collect::<Result<_>>()?,
        weight: path.iter().map(|machine| machine.weights()[0]).collect(),
        biases: [0, 1].map(|unit| path.iter().map(|machine| machine.biases()[unit]).collect()),
    })
}

pub(super) fn learning(settings: &Settings<'_>) -> Result<Outcome> {
    settings.progress.expect(3 * (STEPS + 1));
    let exact = trajectory(&Enumerate::default(), settings)?;
    let field = trajectory(&mean_field(), settings)?;
    let mixture = trajectory(&mixture(), settings)?;

    let rise = |k: &[f64]| k.windows(2).map(|pair| pair[1] - pair[0]).fold(0.0, f64::max);
    let difference = mixture.k.iter().zip(&exact.k).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    let [of_exact, of_field, of_mixture] = [&exact, &field, &mixture].map(|path| reversals(&path.biases[0]));
    let checks = vec![
        Check::new(
            "mean-field learning is unstable",
            of_field > STEPS / 20 && rise(&field.k) > 1e-3,
            format!(
                "a bias reverses direction {of_field} times in {STEPS} steps; K rises by up to {:.3} nats in a step",
                rise(&field.k)
            ),
        ),
        Check::new(
            "learning with the mixture is well behaved",
            of_mixture <= of_exact + 2 && rise(&mixture.k) < 1e-4,
            format!(
                "reversals of the bias: {of_mixture} (exact learning: {of_exact}); largest rise of K in a step: {} nats",
                one_digit(rise(&mixture.k))
            ),
        ),
        Check::new(
            "the mixture is almost indistinguishable from exact learning",
            difference < 0.02,
            format!(
                "K differs by at most {difference:.4} nats; at the end {:.4} (mixture), {:.4} (exact), {:.3} (mean field)",
                mixture.k[STEPS], exact.k[STEPS], field.k[STEPS]
            ),
        ),
    ];
    let steps = (0..=STEPS).map(|k| k as f64).collect();
    let mut columns = vec![Column::new("step", "learning step", steps)];
    for (path, name) in [(&exact, "exact"), (&field, "mean_field"), (&mixture, "mixture")] {
        let words = name.replace('_', " ");
        columns.push(Column::new(
            format!("k_{name}"),
            format!("Kullback–Leibler divergence, nats: {words}"),
            path.k.clone(),
        ));
        columns.push(Column::new(format!("weight_{name}"), format!("weight: {words}"), path.weight.clone()));
        for (unit, biases) in path.biases.iter().enumerate() {
            columns.push(Column::new(
                format!("bias{}_{name}", unit + 1),
                format!("bias of unit {}: {words}", unit + 1),
                biases.clone(),
            ));
        }
    }
    let points = |numbers: &[f64]| numbers.iter().enumerate().map(|(k, &y)| (k as f64, y)).collect();
    let chart = |label: &str, of: &dyn Fn(&Trajectory) -> Vec<f64>| -> Box<dyn Part> {
        Chart::new(Axis::new("learning step").within(0.0, STEPS as f64), Axis::new(label))
            .with(Series::line("mean field", PALETTE[1], points(&of(&field))).thin())
            .with(Series::line("exact", INK, points(&of(&exact))))
            .with(Series::line("mixture of two", PALETTE[5], points(&of(&mixture))).stroke(Stroke::Dashed))
            .boxed()
    };
    let figure = Sheet::new("Two units learn (1, 1) twice and (−1, −1) once")
        .row(270.0, [chart("K (nats)", &|path| path.k.clone()), chart("weight", &|path| path.weight.clone())])
        .row(
            270.0,
            [
                chart("bias of unit 1", &|path| path.biases[0].clone()),
                chart("bias of unit 2", &|path| path.biases[1].clone()),
            ],
        )
        .to_svg();
    let remarks = "At each step the mean-field solution is near one mode and the gradient moves the biases towards the other, so \
                   they run through short cycles. As the weight grows, a cycle shifts once its lowest or highest bias no longer \
                   crosses 0.";
    Ok(Outcome { method: method(), columns, figure, checks, remarks: remarks.into() })
}

/// Returns whether the mean-field equations of two units have a solution near each of the two
/// modes.
fn has_two_solutions(machine: &Machine) -> bool {
    let (weight, biases) = (machine.weights()[0], machine.biases());
    let settle = |start: f64| {
        let mut means = [start; 2];
        for _ in 0..10_000 {
            means[0] = (biases[0] + weight * means[1]).tanh();
            means[1] = (biases[1] + weight * means[0]).tanh();
        }
        means[0]
    };
    settle(1.0) - settle(-1.0) > 1e-3
}

pub(super) fn jumps(settings: &Settings<'_>) -> Result<Outcome> {
    settings.progress.expect(STEPS + 1);
    let engine = mean_field();
    let path = path(&engine, settings)?;
    let shown = &path[STEPS - SHOWN..];
    let mut bias = Vec::new();
    let mut means: [Vec<f64>; 2] = [Vec::new(), Vec::new()];
    for machine in shown {
        let found = engine.expectations(machine, &Evidence::none(2), Pairs::None)?.means;
        bias.push(machine.biases()[0]);
        means[0].push(found[0]);
        means[1].push(found[1]);
    }
    let jumps = means[0].windows(2).filter(|pair| pair[0] * pair[1] < 0.0).count();
    let near_mode =
        means.iter().flatten().filter(|m| m.abs() > 0.5).count() as f64 / (2.0 * shown.len() as f64);
    // The source's analysis: one solution of the mean-field equations while the weight is small,
    // two later.
    let bistable: Vec<bool> = path.iter().map(has_two_solutions).collect();
    let first = bistable.iter().position(|two| *two).unwrap_or(STEPS);
    let late = bistable[STEPS - SHOWN..].iter().filter(|two| **two).count();
    let checks = vec![
        Check::new(
            "the mean-field solution jumps between two modes",
            jumps >= 4,
            format!("the mean of unit 1 changes sign {jumps} times in {SHOWN} steps"),
        ),
        Check::new(
            "it is always near one of the two",
            near_mode > 0.9,
            format!("{:.0} % of its means are beyond ±0.5", 100.0 * near_mode),
        ),
        Check::new(
            "one solution while the weight is small, two later",
            !bistable[0] && late == shown.len(),
            format!(
                "one at the start, two from step {first} on and at {late} of the {} steps shown",
                shown.len()
            ),
        ),
    ];
    let steps: Vec<f64> = (STEPS - SHOWN..=STEPS).map(|k| k as f64).collect();
    let squares = (0..2).flat_map(|unit| {
        let values = steps.iter().zip(&means[unit]);
        values
            .map(move |(&at, &value)| Square { at, above: 30.0 - 14.0 * unit as f64, value, side: 9.0 })
            .collect::<Vec<_>>()
    });
    let (low, high) =
        bias.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(*x), high.max(*x)));
    // Space for the squares below the curve.
    let floor = low - 0.35 * (high - low);
    let points = steps.iter().copied().zip(bias.iter().copied()).collect();
    let figure = Sheet::new("Mean field jumps between the modes, and the bias follows")
        .row(
            400.0,
            [Chart::new(
                Axis::new("learning step").within((STEPS - SHOWN) as f64 - 0.8, STEPS as f64 + 0.8),
                Axis::new("bias of unit 1").within(floor, high + 0.1 * (high - low)),
            )
            .titled("squares: means of unit 1 (upper row) and unit 2; area: size, filled: +, open: −")
            .with(Series::line("", PALETTE[1], points))
            .with_squares(squares)
            .boxed()],
        )
        .to_svg();
    let [first, second] = means;
    Ok(Outcome {
        method: format!("{} Mean field only; the last {SHOWN} steps.", method()),
        columns: vec![
            Column::new("step", "learning step", steps),
            Column::new("bias", "bias of unit 1", bias),
            Column::new("m1", "mean of unit 1 in the free phase, by mean field", first),
            Column::new("m2", "mean of unit 2 in the free phase, by mean field", second),
        ],
        figure,
        checks,
        remarks: "Which of two solutions is found depends on the starting point. Ours is the fields, so the signs of the biases \
                  decide; the source, which speaks of falling off the edges of a cusp, seems to start at the previous solution."
            .into(),
    })
}
