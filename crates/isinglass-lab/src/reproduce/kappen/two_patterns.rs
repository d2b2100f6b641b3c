//! Figure 1: two units learn two patterns, by the exact gradient and by naive mean field.

use isinglass::likelihood::Phases;
use isinglass::topology::{self, Numbers};
use isinglass::{Engine, Enumerate, Machine, MeanField, Result, Table};
use rayon::prelude::*;

use crate::figure::PALETTE;
use crate::figure::axis::Axis;
use crate::figure::chart::{Chart, Series};
use crate::figure::sheet::Sheet;
use crate::reproduce::learning::{ascend, divergence};
use crate::reproduce::{Check, Column, Outcome, Settings};
use crate::statistics::median;
use crate::streams::seed_of;

const RATE: f64 = 0.1;
const MOMENTUM: f64 = 0.9;
const STEPS: usize = 500;
/// Starts: no verdict depends on a single one.
const STARTS: usize = 20;
/// K within this of the optimum counts as close, in nats: 1.4 % of ln 2, which is K at weight 0.
const NEAR: f64 = 0.01;

/// K, the weight and both thresholds along a fit.
struct Trajectory {
    k: Vec<f64>,
    w: Vec<f64>,
    thresholds: [Vec<f64>; 2],
}

impl Trajectory {
    /// Returns the norm of the gradient at each step but the last, from the change of the
    /// parameters: a change is the rate times the gradient plus the momentum times the previous
    /// change.
    fn gradient_norms(&self) -> Vec<f64> {
        let parameters = [&self.w, &self.thresholds[0], &self.thresholds[1]];
        let change = |numbers: &[f64], step: usize| numbers[step + 1] - numbers[step];
        let gradient = |numbers: &[f64], step: usize| {
            let before = if step == 0 { 0.0 } else { change(numbers, step - 1) };
            (change(numbers, step) - MOMENTUM * before) / RATE
        };
        let norm =
            |step| parameters.iter().map(|numbers| gradient(numbers, step).powi(2)).sum::<f64>().sqrt();
        (0..self.w.len() - 1).map(norm).collect()
    }
}

pub(super) fn run(settings: &Settings<'_>) -> Result<Outcome> {
    settings.progress.expect(STARTS * 2 * (STEPS + 1));
    let table = Table::from_rows(["x0", "x1"], [[1, 1], [-1, -1]])?;
    let small = Numbers::Normal { mean: 0.0, deviation: 0.1 };
    let follow = |start: &Machine, engine: &dyn Engine| -> Result<Trajectory> {
        let phases = Phases::both(engine);
        let path = ascend(phases, start, &table, (RATE, MOMENTUM), STEPS, settings.progress)?.machines;
        Ok(Trajectory {
            k: path.iter().map(|machine| divergence(machine, &table)).collect::<Result<_>>()?,
            w: path.iter().map(|machine| machine.weights()[0]).collect(),
            thresholds: [0, 1].map(|unit| path.iter().map(|machine| machine.biases()[unit]).collect()),
        })
    };
    let pair = |index: usize| -> Result<Pair> {
        let seed = seed_of(settings.seed, index as u64);
        let start = topology::full(2).with_numbers(&small, &small, seed)?;
        Ok(Pair {
            exact: follow(&start, &Enumerate::default())?,
            field: follow(&start, &MeanField::default())?,
        })
    };
    let pairs: Vec<Pair> = (0..STARTS).into_par_iter().map(pair).collect::<Result<_>>()?;
    Ok(Outcome {
        method: format!(
            "Two visible units; patterns (1, 1) and (−1, −1) with probability ½ each; gradient ascent with rate {RATE} and \
             momentum {MOMENTUM} for {STEPS} steps. Weight and thresholds start from N(0, 0.1²), the same for both methods \
             (the source gives neither its start nor the number of steps). {STARTS} starts: the figure shows the first, the \
             checks use all."
        ),
        figure: figure(&pairs[0]),
        columns: columns(&pairs),
        checks: checks(&pairs),
        remarks: format!(
            "The last check requires mean field to leave on more than half of the starts that come close: on a few starts \
             it oscillates so narrowly that K stays within {NEAR} nats to the end, although its parameters never settle."
        ),
    })
}

/// Both methods from one start.
struct Pair {
    exact: Trajectory,
    field: Trajectory,
}

fn checks(pairs: &[Pair]) -> Vec<Check> {
    let late = STEPS / 2;
    let ends: Vec<f64> = pairs.iter().map(|pair| pair.exact.k[STEPS]).collect();
    let fell = pairs.iter().filter(|pair| pair.exact.k[STEPS] < pair.exact.k[late]).count();
    let norms = |of: &dyn Fn(&Pair) -> &Trajectory| -> Vec<f64> {
        pairs.iter().flat_map(|pair| of(pair).gradient_norms().split_off(late)).collect()
    };
    let (exact_norms, field_norms) = (norms(&|pair| &pair.exact), norms(&|pair| &pair.field));
    // K of mean field above that of exact learning at the same step, in the second half, where
    // exact learning is near its end.
    let above = |Pair { exact, field }: &Pair| -> Vec<f64> {
        field.k[late..].iter().zip(&exact.k[late..]).map(|(field, exact)| field - exact).collect()
    };
    let gaps: Vec<Vec<f64>> = pairs.iter().map(above).collect();
    let first_near = |gaps: &[f64]| gaps.iter().position(|gap| *gap < NEAR);
    let near = gaps.iter().filter(|gaps| first_near(gaps).is_some()).count();
    let stays =
        |gaps: &[f64]| first_near(gaps).is_some_and(|first| gaps[first..].iter().all(|gap| *gap < NEAR));
    let stayed = gaps.iter().filter(|gaps| stays(gaps)).count();
    let farthest: Vec<f64> = gaps.iter().map(|gaps| largest(gaps)).collect();
    vec![
        Check::new(
            "exact learning: K falls to 0",
            largest(&ends) < NEAR && fell == pairs.len(),
            format!(
                "after {STEPS} steps K = {:.4} (median of {STARTS} starts), at most {:.4}; still falling on {fell} of {STARTS}",
                median(&ends),
                largest(&ends)
            ),
        ),
        Check::new(
            "naive mean field does not converge",
            least(&field_norms) > 10.0 * largest(&exact_norms),
            format!(
                "norm of its gradient in the second half: at least {:.2}; exact learning: at most {:.3}",
                least(&field_norms),
                largest(&exact_norms)
            ),
        ),
        Check::new(
            "mean field comes close to the optimum but does not stay",
            near > 0 && 2 * stayed < near,
            format!(
                "within {NEAR} nats of exact learning on {near} of {STARTS} starts, leaves again on {}; largest gap {:.2} nats \
                 (median; range {:.3} to {:.2})",
                near - stayed,
                median(&farthest),
                least(&farthest),
                largest(&farthest)
            ),
        ),
    ]
}

fn largest(numbers: &[f64]) -> f64 {
    numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

fn least(numbers: &[f64]) -> f64 {
    numbers.iter().copied().fold(f64::INFINITY, f64::min)
}

fn columns(pairs: &[Pair]) -> Vec<Column> {
    let Pair { exact, field } = &pairs[0];
    let steps = (0..exact.k.len()).map(|k| k as f64).collect();
    let mut columns = vec![Column::new("step", "learning step", steps)];
    for (trajectory, name, words) in [(exact, "exact", "exact gradient"), (field, "mf", "naive mean field")] {
        columns.push(Column::new(
            format!("k_{name}"),
            format!("Kullback–Leibler divergence, nats: {words}"),
            trajectory.k.clone(),
        ));
        columns.push(Column::new(format!("w_{name}"), format!("weight: {words}"), trajectory.w.clone()));
        for (unit, thresholds) in trajectory.thresholds.iter().enumerate() {
            let name = format!("theta{}_{name}", unit + 1);
            columns.push(Column::new(
                name,
                format!("threshold of unit {}: {words}", unit + 1),
                thresholds.clone(),
            ));
        }
    }
    let middle = |of: &dyn Fn(&Pair) -> &Trajectory| -> Vec<f64> {
        (0..=STEPS)
            .map(|step| median(&pairs.iter().map(|pair| of(pair).k[step]).collect::<Vec<_>>()))
            .collect()
    };
    let meaning =
        |words: &str| format!("Kullback–Leibler divergence, nats, median of {STARTS} starts: {words}");
    columns.push(Column::new("k_exact_median", meaning("exact gradient"), middle(&|pair| &pair.exact)));
    columns.push(Column::new("k_mf_median", meaning("naive mean field"), middle(&|pair| &pair.field)));
    columns
}

fn figure(Pair { exact, field }: &Pair) -> String {
    let points = |numbers: &[f64]| numbers.iter().enumerate().map(|(k, &y)| (k as f64, y)).collect();
    let chart = |label: &str, exact: &[f64], field: &[f64]| {
        let steps = Axis::new("learning step").within(0.0, (exact.len() - 1) as f64);
        // The source dots mean field. Over oscillations as narrow as these, dots take hundreds of
        // kilobytes and are no easier to read than a thin line.
        Chart::new(steps, Axis::new(label))
            .with(Series::line("naive mean field", PALETTE[1], points(field)).thin())
            .with(Series::line("exact gradient", PALETTE[0], points(exact)))
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
