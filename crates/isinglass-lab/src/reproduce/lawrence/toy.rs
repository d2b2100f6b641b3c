//! Figures 2 and 3: two units that have to learn two modes.

use isinglass::likelihood::Phases;
use isinglass::topology::{self, Numbers};
use isinglass::{Engine, Enumerate, Evidence, Machine, MeanField, Mixture, Pairs, Result, Table};

use crate::figure::axis::Axis;
use crate::figure::canvas::Stroke;
use crate::figure::chart::{Chart, Series, Square};
use crate::figure::sheet::{Part, Sheet};
use crate::figure::{INK, PALETTE};
use crate::reproduce::chance::seed_of;
use crate::reproduce::learning::{ascend, divergence};
use crate::reproduce::outcome::check;
use crate::reproduce::{Column, Outcome, Settings};
use crate::statistics::turns;

const RATE: f64 = 0.25;
const STEPS: usize = 400;
/// Steps that figure 3 shows.
const SHOWN: usize = 40;

/// At most 20 iterations of inference; the tolerance is on the equations, where the source's is on the cost.
const MOST_SWEEPS: usize = 20;
const TOLERANCE: f64 = 1e-4;

fn mean_field() -> MeanField {
    MeanField::new().tolerance(TOLERANCE).max_sweeps(MOST_SWEEPS)
}

fn mixture() -> Mixture {
    Mixture::new().components(2).tolerance(TOLERANCE).max_sweeps(MOST_SWEEPS)
}

fn set_up() -> String {
    format!(
        "Two units, data (1, 1) twice and (−1, −1) once; gradient ascent with rate {RATE} for {STEPS} steps from N(0, 0.1²), the same start for all; at most 20 sweeps of inference a step, or until the equations hold to 1e-4 (the source: until the cost changes by no more than 0.01 %), from the fields anew at each step; no annealing."
    )
}

/// K, weight and biases along a fit.
struct Course {
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
    Ok(ascend(phases, &start, &data()?, (RATE, 0.0), STEPS, settings.watch)?.machines)
}

fn course(engine: &dyn Engine, settings: &Settings<'_>) -> Result<Course> {
    let (path, table) = (path(engine, settings)?, data()?);
    Ok(Course {
        k: path.iter().map(|machine| divergence(machine, &table)).collect::<Result<_>>()?,
        weight: path.iter().map(|machine| machine.weights()[0]).collect(),
        biases: [0, 1].map(|unit| path.iter().map(|machine| machine.biases()[unit]).collect()),
    })
}

pub(super) fn learning(settings: &Settings<'_>) -> Result<Outcome> {
    settings.watch.expect(3 * (STEPS + 1));
    let exact = course(&Enumerate::default(), settings)?;
    let field = course(&mean_field(), settings)?;
    let mixture = course(&mixture(), settings)?;

    let rise = |k: &[f64]| k.windows(2).map(|pair| pair[1] - pair[0]).fold(0.0, f64::max);
    let apart = mixture.k.iter().zip(&exact.k).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    let [of_exact, of_field, of_mixture] = [&exact, &field, &mixture].map(|course| turns(&course.biases[0]));
    let checks = vec![
        check(
            of_field > STEPS / 20 && rise(&field.k) > 1e-3,
            format!(
                "mean-field learning is unstable: a bias turns round {of_field} times in {STEPS} steps, and K rises by up to {:.3} nats in one step.",
                rise(&field.k)
            ),
        ),
        check(
            of_mixture <= of_exact + 2 && rise(&mixture.k) < 1e-4,
            format!(
                "learning with the mixture is well behaved: turns of its bias {of_mixture}, in exact learning {of_exact}; the largest rise of K in one step is {:.1e} nats.",
                rise(&mixture.k)
            ),
        ),
        check(
            apart < 0.02,
            format!(
                "the mixture is almost indistinguishable from exact learning: K differs by at most {apart:.4} nats; at the end it is {:.4} against {:.4} (mean field {:.3}).",
                mixture.k[STEPS], exact.k[STEPS], field.k[STEPS]
            ),
        ),
    ];
    let steps = (0..=STEPS).map(|k| k as f64).collect();
    let mut columns = vec![Column::new("step", "step of learning", steps)];
    for (course, name) in [(&exact, "exact"), (&field, "mean_field"), (&mixture, "mixture")] {
        let words = name.replace('_', " ");
        columns.push(Column::new(
            format!("k_{name}"),
            format!("Kullback divergence, nats: {words}"),
            course.k.clone(),
        ));
        columns.push(Column::new(
            format!("weight_{name}"),
            format!("weight: {words}"),
            course.weight.clone(),
        ));
        for (unit, biases) in course.biases.iter().enumerate() {
            columns.push(Column::new(
                format!("bias{}_{name}", unit + 1),
                format!("bias of unit {}: {words}", unit + 1),
                biases.clone(),
            ));
        }
    }
    let points = |numbers: &[f64]| numbers.iter().enumerate().map(|(k, &y)| (k as f64, y)).collect();
    let chart = |label: &str, of: &dyn Fn(&Course) -> Vec<f64>| -> Box<dyn Part> {
        Chart::new(Axis::new("step of learning").within(0.0, STEPS as f64), Axis::new(label))
            .with(Series::line("mean field", PALETTE[1], points(&of(&field))).thin())
            .with(Series::line("exact", INK, points(&of(&exact))))
            .with(Series::line("mixture of two", PALETTE[5], points(&of(&mixture))).stroke(Stroke::Dashed))
            .boxed()
    };
    let figure = Sheet::new("Two units learn (1, 1) twice and (−1, −1) once")
        .row(
            270.0,
            [chart("K (nats)", &|course| course.k.clone()), chart("weight", &|course| course.weight.clone())],
        )
        .row(
            270.0,
            [
                chart("bias of unit 1", &|course| course.biases[0].clone()),
                chart("bias of unit 2", &|course| course.biases[1].clone()),
            ],
        )
        .to_svg();
    let remarks = "Mean field's solution is near one mode at each step and pushes the biases towards the other; they go round in short cycles. Weights grow on the way, and a cycle moves as a whole once its lowest or highest bias no longer crosses 0, which decides the mode here.";
    Ok(Outcome { set_up: set_up(), columns, figure, checks, remarks: remarks.into() })
}

/// Whether the mean-field equations of two units have a solution near each of the two modes.
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

pub(super) fn hopping(settings: &Settings<'_>) -> Result<Outcome> {
    settings.watch.expect(STEPS + 1);
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
    let far = means.iter().flatten().filter(|m| m.abs() > 0.5).count() as f64 / (2.0 * shown.len() as f64);
    // The source's analysis: one solution of the mean-field equations while the weight is small, two later.
    let several: Vec<bool> = path.iter().map(has_two_solutions).collect();
    let first = several.iter().position(|two| *two).unwrap_or(STEPS);
    let late = several[STEPS - SHOWN..].iter().filter(|two| **two).count();
    let checks = vec![
        check(
            jumps >= 4,
            format!(
                "the mean-field solution jumps between two modes: {jumps} times in {SHOWN} steps the mean of unit 1 changes its sign."
            ),
        ),
        check(
            far > 0.9,
            format!("it is always in one of the two: {:.0} % of its means are beyond ±0.5.", 100.0 * far),
        ),
        check(
            !several[0] && late == shown.len(),
            format!(
                "the equations of mean field have one solution while the weight is small, and two once it has grown: two from step {first} on, and at {late} of the {} steps shown.",
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
    // Room for the squares below the curve.
    let floor = low - 0.35 * (high - low);
    let points = steps.iter().copied().zip(bias.iter().copied()).collect();
    let figure = Sheet::new("Mean field hops between the modes, and the bias follows")
        .row(
            400.0,
            [Chart::new(
                Axis::new("step of learning").within((STEPS - SHOWN) as f64 - 0.8, STEPS as f64 + 0.8),
                Axis::new("bias of unit 1").within(floor, high + 0.1 * (high - low)),
            )
            .titled("squares: means of unit 1 (above) and unit 2; area is size, filled is +, open is −")
            .with(Series::line("", PALETTE[1], points))
            .with_squares(squares)
            .boxed()],
        )
        .to_svg();
    let [first, second] = means;
    Ok(Outcome {
        set_up: format!("{} Mean field alone; the last {SHOWN} steps.", set_up()),
        columns: vec![
            Column::new("step", "step of learning", steps),
            Column::new("bias", "bias of unit 1", bias),
            Column::new("m1", "mean of unit 1 in the free phase, by mean field", first),
            Column::new("m2", "mean of unit 2 in the free phase, by mean field", second),
        ],
        figure,
        checks,
        remarks: "Which of two solutions is found depends on where the search begins. Here it begins at the fields, so the signs of the biases decide; the source, whose text speaks of falling off the edges of a cusp, seems to begin at the solution of the step before.".into(),
    })
}
