//! Figure 3: a machine of five units, decimated step by step.

use std::collections::BTreeMap;

use isinglass::engine::{DecimationStep, UnitOrZero, explain_decimation};
use isinglass::{Decimate, Engine, Enumerate, Evidence, Machine, Pairs, Result, Unit};

use crate::figure::network::{Emphasis, Link, Network, Node};
use crate::figure::sheet::{Part, Sheet};
use crate::reproduce::outcome::one_digit;
use crate::reproduce::{Check, Column, Outcome, Settings};

/// The edges of the figure by the source's numbers; unit 0 carries the biases. The text names 01,
/// 15 and 05 only; the other six are our reading of the figure. The weights are ours: the source
/// gives none.
const EDGES: [(usize, usize, f64); 9] = [
    (0, 1, 0.8),
    (0, 3, -0.4),
    (0, 4, 0.3),
    (0, 5, 0.2),
    (1, 5, 0.9),
    (2, 3, -0.7),
    (2, 4, 0.5),
    (3, 5, 0.6),
    (4, 5, -1.1),
];
const UNITS: usize = 5;

/// Positions of units 0 to 5 in the drawing.
const PLACES: [(f64, f64); UNITS + 1] =
    [(0.0, 0.42), (0.5, 0.0), (0.5, 1.0), (0.12, 1.0), (0.88, 1.0), (1.0, 0.42)];

/// Lines that cross, and positions of their labels that do not overlap.
const CROSSING: [((usize, usize), f64); 2] = [((0, 4), 0.3), ((3, 5), 0.7)];

pub(super) fn run(settings: &Settings<'_>) -> Result<Outcome> {
    settings.progress.expect(1);
    let bias =
        |unit: usize| EDGES.iter().find(|edge| (edge.0, edge.1) == (0, unit)).map_or(0.0, |edge| edge.2);
    let units = (1..=UNITS).map(|unit| Unit::new(format!("{unit}"), bias(unit))).collect();
    let edges = EDGES.iter().filter(|edge| edge.0 > 0).map(|&(a, b, w)| (a - 1, b - 1, w));
    let machine = Machine::new(units, edges)?;
    let steps = explain_decimation(&machine, &[0, 1, 2, 3, 4])?;
    let nothing = Evidence::none(UNITS);
    let states = Enumerate::default().expectations(&machine, &nothing, Pairs::Edges)?;
    let network = Decimate::default().expectations(&machine, &nothing, Pairs::Edges)?;
    settings.progress.done();

    let truth = states.log_z.unwrap_or(f64::NAN);
    let mut log_z = 0.0;
    let sums: Vec<f64> = steps
        .iter()
        .map(|step| {
            log_z += step.log_factor;
            log_z
        })
        .collect();
    let error = (log_z - truth).abs();
    let moments = states.correlations.values.iter().chain(&states.means);
    let found = network.correlations.values.iter().chain(&network.means);
    let worst = moments.zip(found).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    let rule = (steps[0].corrections[0].2.tanh() - 0.8f64.tanh() * 0.9f64.tanh()).abs();
    let most = steps.iter().map(|step| step.neighbours.len()).max().unwrap_or(0);
    let checks = vec![
        Check::new(
            "removing unit 1 corrects v₀₅ by artanh(tanh v₀₁ · tanh v₁₅) (corollary 4.2)",
            rule < 1e-14,
            format!("correction {:+.4}, error {}", steps[0].corrections[0].2, one_digit(rule)),
        ),
        Check::new(
            "the factors multiply to Z",
            error < 1e-12,
            format!(
                "sum of their logarithms {log_z:.12}; ln Z over all 32 states {truth:.12}; error {}",
                one_digit(error)
            ),
        ),
        Check::new(
            "as many steps as units",
            steps.len() == UNITS && most <= 3,
            format!("{} steps for {UNITS} units, at most {most} neighbours per step", steps.len()),
        ),
        Check::new(
            "one backward pass gives all means and pair moments",
            worst < 1e-12,
            format!("error at most {}", one_digit(worst)),
        ),
    ];
    let column = |of: &dyn Fn(&DecimationStep) -> f64| steps.iter().map(of).collect::<Vec<f64>>();
    let correction =
        |k: usize| column(&|step| step.corrections.get(k).map_or(f64::NAN, |&(_, _, correction)| correction));
    Ok(Outcome {
        method: "The machine of the source's figure 3: five units, and unit 0, which carries the biases. The text names the edges \
                 01, 15 and 05 only; the other six (03, 04, 23, 24, 35 and 45) are our reading of the figure, and the weights are \
                 ours, since the source gives none. Units are removed in the order 1 to 5."
            .into(),
        columns: vec![
            Column::new("step", "number of the step", (1..=steps.len()).map(|k| k as f64).collect()),
            Column::new("unit", "the unit that is removed", column(&|step| step.unit as f64 + 1.0)),
            Column::new("neighbours", "number of its neighbours, unit 0 included", column(&|step| step.neighbours.len() as f64)),
            Column::new("correction_1", "correction of a weight between two of its neighbours", correction(0)),
            Column::new("correction_2", "correction of a weight between two of its neighbours", correction(1)),
            Column::new("correction_3", "correction of a weight between two of its neighbours", correction(2)),
            Column::new("ln_factor", "logarithm of the factor by which Z changes, eq. 11", column(&|step| step.log_factor)),
            Column::new("ln_z", "sum of the logarithms so far", sums),
        ],
        figure: figure(&steps),
        checks,
        remarks: String::new(),
    })
}

/// Draws the machine before each step, and at last unit 0 alone.
fn figure(steps: &[DecimationStep]) -> String {
    let mut weights: BTreeMap<(usize, usize), f64> = EDGES.iter().map(|&(a, b, w)| ((a, b), w)).collect();
    let mut new: Vec<(usize, usize)> = Vec::new();
    let mut remaining: Vec<usize> = (0..=UNITS).collect();
    let mut parts: Vec<Box<dyn Part>> = Vec::new();
    let number = |unit: UnitOrZero| unit.map_or(0, |unit| unit + 1);
    for (k, letter) in ('a'..='f').enumerate() {
        let step = steps.get(k);
        let leaving = step.map(|step| step.unit + 1);
        let place = |unit: usize| remaining.iter().position(|&other| other == unit).unwrap_or(0);
        let emphasis = |a: usize, b: usize| match leaving {
            Some(unit) if a == unit || b == unit => Emphasis::Removed,
            _ if new.contains(&(a, b)) => Emphasis::New,
            _ => Emphasis::Plain,
        };
        let network = Network {
            title: leaving.map_or_else(
                || format!("{letter}) trivial"),
                |unit| format!("{letter}) unit {unit} is removed"),
            ),
            caption: step
                .map_or_else(|| "ln Z = 0".into(), |step| format!("ln factor = {:.4}", step.log_factor)),
            nodes: remaining
                .iter()
                .map(|&unit| Node {
                    name: unit.to_string(),
                    at: PLACES[unit],
                    emphasis: if Some(unit) == leaving { Emphasis::Removed } else { Emphasis::Plain },
                })
                .collect(),
            links: weights
                .iter()
                .map(|(&(a, b), w)| Link {
                    ends: (place(a), place(b)),
                    label: format!("{w:+.2}").replace('-', "−"),
                    label_at: CROSSING.iter().find(|(pair, _)| *pair == (a, b)).map_or(0.5, |(_, at)| *at),
                    emphasis: emphasis(a, b),
                })
                .collect(),
        };
        parts.push(network.boxed());
        let Some(step) = step else { break };
        let removed = step.unit + 1;
        weights.retain(|&(a, b), _| a != removed && b != removed);
        remaining.retain(|&unit| unit != removed);
        new.clear();
        for &(a, b, correction) in &step.corrections {
            let pair = (number(a).min(number(b)), number(a).max(number(b)));
            *weights.entry(pair).or_insert(0.0) += correction;
            new.push(pair);
        }
    }
    let second = parts.split_off(3);
    Sheet::new("Decimation of a Boltzmann machine: orange is removed next, blue was corrected")
        .wide(860.0)
        .row(250.0, parts)
        .row(250.0, second)
        .to_svg()
}
