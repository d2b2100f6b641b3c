//! Figure 1: two units, two patterns, exact gradient and naive mean field.

use isinglass::learn::Phases;
use isinglass::topology::{self, Numbers};
use isinglass::{Engine, Enumerate, Machine, MeanField, Result, Table};

use crate::figure::PALETTE;
use crate::figure::axis::Axis;
use crate::figure::canvas::Stroke;
use crate::figure::chart::{Chart, Series};
use crate::figure::sheet::Sheet;
use crate::reproduce::chance::seed_of;
use crate::reproduce::learning::{ascend, divergence};
use crate::reproduce::outcome::check;
use crate::reproduce::{Column, Outcome, Settings};
use crate::statistics::turns;

const RATE: f64 = 0.1;
const MOMENTUM: f64 = 0.9;
const STEPS: usize = 500;

/// K, the weight and both thresholds along a fit.
struct Course {
    k: Vec<f64>,
    w: Vec<f64>,
    thresholds: [Vec<f64>; 2],
}

pub(super) fn run(settings: &Settings<'_>) -> Result<Outcome> {
    settings.watch.expect(2 * (STEPS + 1));
    let table = Table::from_rows(["x0", "x1"], [[1, 1], [-1, -1]])?;
    let small = Numbers::Normal { mean: 0.0, deviation: 0.1 };
    let start =
        Machine::from_graph(topology::full(2)).with_numbers(&small, &small, seed_of(settings.seed, 0))?;
    let course = |engine: &dyn Engine| -> Result<Course> {
        let phases = Phases { clamped: engine, free: engine };
        let path = ascend(phases, &start, &table, (RATE, MOMENTUM), STEPS, settings.watch)?.machines;
        Ok(Course {
            k: path.iter().map(|machine| divergence(machine, &table)).collect::<Result<_>>()?,
            w: path.iter().map(|machine| machine.weights()[0]).collect(),
            thresholds: [0, 1].map(|unit| path.iter().map(|machine| machine.biases()[unit]).collect()),
        })
    };
    let exact = course(&Enumerate::default())?;
    let field = course(&MeanField::default())?;

    let largest = |numbers: &[f64]| numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let least = |numbers: &[f64]| numbers.iter().copied().fold(f64::INFINITY, f64::min);
    let late = STEPS / 2;
    let last = exact.k[STEPS];
    let swings = turns(&field.thresholds[0][late..]);
    let (low, high) = (least(&field.k[late..]), largest(&field.k[late..]));
    let checks = vec![
        check(
            last < 0.05 && turns(&exact.thresholds[0][late..]) <= 1,
            format!(
                "exact learning settles: K is {last:.4} after {STEPS} steps, still falling as the weight grows without bound."
            ),
        ),
        check(
            swings > 4,
            format!(
                "naive mean field does not settle: in the second half the first threshold turns round {swings} times, between {:.2} and {:.2}.",
                least(&field.thresholds[0][late..]),
                largest(&field.thresholds[0][late..])
            ),
        ),
        check(
            low < 0.1 && high > 3.0 * low.max(0.05),
            format!(
                "mean field comes close to the best solution and leaves it again: K is between {low:.4} and {high:.3} in the second half."
            ),
        ),
    ];
    Ok(Outcome {
        set_up: format!(
            "Two visible units, patterns (1, 1) and (−1, −1) with probability ½ each, gradient ascent with rate {RATE} and momentum {MOMENTUM} for {STEPS} steps, from a weight and thresholds \
             drawn from N(0, 0.1²), the same for both methods (the source does not tell its start)."
        ),
        figure: figure(&exact, &field),
        columns: columns(&exact, &field),
        checks,
        remarks: String::new(),
    })
}

fn columns(exact: &Course, field: &Course) -> Vec<Column> {
    let steps = (0..exact.k.len()).map(|k| k as f64).collect();
    let mut columns = vec![Column::new("step", "step of learning", steps)];
    for (course, name, words) in [(exact, "exact", "exact gradient"), (field, "mf", "naive mean field")] {
        columns.push(Column::new(
            format!("k_{name}"),
            format!("Kullback divergence, nats: {words}"),
            course.k.clone(),
        ));
        columns.push(Column::new(format!("w_{name}"), format!("weight: {words}"), course.w.clone()));
        for (unit, thresholds) in course.thresholds.iter().enumerate() {
            let name = format!("theta{}_{name}", unit + 1);
            columns.push(Column::new(
                name,
                format!("threshold of unit {}: {words}", unit + 1),
                thresholds.clone(),
            ));
        }
    }
    columns
}

fn figure(exact: &Course, field: &Course) -> String {
    let points = |numbers: &[f64]| numbers.iter().enumerate().map(|(k, &y)| (k as f64, y)).collect();
    let chart = |label: &str, exact: &[f64], field: &[f64]| {
        let steps = Axis::new("step of learning").within(0.0, (exact.len() - 1) as f64);
        Chart::new(steps, Axis::new(label))
            .with(Series::line("naive mean field", PALETTE[1], points(field)).thin())
            .with(Series::line("exact gradient", PALETTE[0], points(exact)).stroke(Stroke::Dashed))
            .boxed()
    };
    Sheet::new("Two units learn (1, 1) and (−1, −1)")
        .row(270.0, [chart("K (nats)", &exact.k, &field.k), chart("weight w₁₂", &exact.w, &field.w)])
        .row(
            270.0,
            [0, 1].map(|unit| {
                chart(
                    ["threshold θ₁", "threshold θ₂"][unit],
                    &exact.thresholds[unit],
                    &field.thresholds[unit],
                )
            }),
        )
        .to_svg()
}
