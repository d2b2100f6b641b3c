//! Figure 3: a machine of five units taken apart.

use std::collections::BTreeMap;

use isinglass::engine::{DecimationStep, UnitOrZero, explain_decimation};
use isinglass::{Decimate, Engine, Enumerate, Evidence, Machine, Pairs, Result, Unit};

use crate::figure::network::{Emphasis, Link, Network, Node};
use crate::figure::sheet::{Part, Sheet};
use crate::reproduce::outcome::check;
use crate::reproduce::{Column, Outcome, Settings};

/// The edges of the figure by the source's numbers, 0 the unit to which biases lead. The text names 01, 15 and 05 only; the other six are our reading of the figure.
/// The weights are ours: the source gives none.
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

/// Where units 0 to 5 are drawn.
const PLACES: [(f64, f64); UNITS + 1] =
    [(0.0, 0.42), (0.5, 0.0), (0.5, 1.0), (0.12, 1.0), (0.88, 1.0), (1.0, 0.42)];

/// Lines that cross, and where their labels are out of each other's way.
const CROSSING: [((usize, usize), f64); 2] = [((0, 4), 0.3), ((3, 5), 0.7)];

pub(super) fn run(settings: &Settings<'_>) -> Result<Outcome> {
    settings.watch.expect(1);
    let bias =
        |unit: usize| EDGES.iter().find(|edge| (edge.0, edge.1) == (0, unit)).map_or(0.0, |edge| edge.2);
    let units = (1..=UNITS).map(|unit| Unit::new(format!("{unit}"), bias(unit))).collect();
    let edges = EDGES.iter().filter(|edge| edge.0 > 0).map(|&(a, b, w)| (a - 1, b - 1, w));
    let machine = Machine::new(units, edges)?;
    let steps = explain_decimation(&machine, &[0, 1, 2, 3, 4])?;
    let nothing = Evidence::none(UNITS);
    let states = Enumerate::default().expectations(&machine, &nothing, Pairs::Edges)?;
    let network = Decimate::default().expectations(&machine, &nothing, Pairs::Edges)?;
    settings.watch.done();

    let truth = states.log_z.unwrap_or(f64::NAN);
    let mut log_z = 0.0;
    let sums: Vec<f64> = steps
        .iter()
        .map(|step| {
            log_z += step.log_factor;
            log_z
        })
        .collect();
    let off = (log_z - truth).abs();
    let moments = states.correlations.values.iter().chain(&states.means);
    let found = network.correlations.values.iter().chain(&network.means);
    let worst = moments.zip(found).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    let rule = (steps[0].corrections[0].2.tanh() - 0.8f64.tanh() * 0.9f64.tanh()).abs();
    let most = steps.iter().map(|step| step.neighbours.len()).max().unwrap_or(0);
    let checks = vec![
        check(
            rule < 1e-14,
            format!(
                "unit 1 is replaced by a correction of v₀₅, {:+.4}, whose hyperbolic tangent is the product of those of v₀₁ and v₁₅ (corollary 4.2; off by {rule:.0e}).",
                steps[0].corrections[0].2
            ),
        ),
        check(
            off < 1e-12,
            format!(
                "the factors multiply to Z: their logarithms add up to {log_z:.12}, and ln Z by all 32 states is {truth:.12} (off by {off:.0e})."
            ),
        ),
        check(
            steps.len() == UNITS && most <= 3,
            format!(
                "it takes {} steps for {UNITS} units, none with more than three neighbours.",
                steps.len()
            ),
        ),
        check(
            worst < 1e-12,
            format!("one pass backwards gives every mean and pair moment: off by at most {worst:.0e}."),
        ),
    ];
    let column = |of: &dyn Fn(&DecimationStep) -> f64| steps.iter().map(of).collect::<Vec<f64>>();
    let correction =
        |k: usize| column(&|step| step.corrections.get(k).map_or(f64::NAN, |&(_, _, gain)| gain));
    Ok(Outcome {
        set_up: "The machine of the source's figure 3: five units, and unit 0 to which biases lead. The text names the edges 01, 15 and 05 only; the other six (03, 04, 23, 24, 35 and 45) are our reading of the figure, and the weights are ours, since the source gives none. Units are taken out in the order 1 to 5.".into(),
        columns: vec![
            Column::new("step", "number of the step", (1..=steps.len()).map(|k| k as f64).collect()),
            Column::new("unit", "the unit that is taken out", column(&|step| step.unit as f64 + 1.0)),
            Column::new("neighbours", "how many neighbours it has, unit 0 included", column(&|step| step.neighbours.len() as f64)),
            Column::new("correction_1", "what a weight between two of its neighbours gains", correction(0)),
            Column::new("correction_2", "what a weight between two of its neighbours gains", correction(1)),
            Column::new("correction_3", "what a weight between two of its neighbours gains", correction(2)),
            Column::new("ln_factor", "logarithm of the factor by which Z changes, eq. 11", column(&|step| step.log_factor)),
            Column::new("ln_z", "sum of the logarithms so far", sums),
        ],
        figure: figure(&steps),
        checks,
        remarks: String::new(),
    })
}

/// The machine before each step, and at last unit 0 alone.
fn figure(steps: &[DecimationStep]) -> String {
    let mut weights: BTreeMap<(usize, usize), f64> = EDGES.iter().map(|&(a, b, w)| ((a, b), w)).collect();
    let mut new: Vec<(usize, usize)> = Vec::new();
    let mut left: Vec<usize> = (0..=UNITS).collect();
    let mut parts: Vec<Box<dyn Part>> = Vec::new();
    let number = |unit: UnitOrZero| unit.map_or(0, |unit| unit + 1);
    for (k, letter) in ('a'..='f').enumerate() {
        let step = steps.get(k);
        let leaving = step.map(|step| step.unit + 1);
        let place = |unit: usize| left.iter().position(|&other| other == unit).unwrap_or(0);
        let emphasis = |a: usize, b: usize| match leaving {
            Some(unit) if a == unit || b == unit => Emphasis::Leaving,
            _ if new.contains(&(a, b)) => Emphasis::New,
            _ => Emphasis::Plain,
        };
        let network = Network {
            title: leaving
                .map_or_else(|| format!("{letter}) trivial"), |unit| format!("{letter}) unit {unit} goes")),
            caption: step
                .map_or_else(|| "ln Z = 0".into(), |step| format!("ln factor = {:.4}", step.log_factor)),
            nodes: left
                .iter()
                .map(|&unit| Node {
                    name: unit.to_string(),
                    at: PLACES[unit],
                    emphasis: if Some(unit) == leaving { Emphasis::Leaving } else { Emphasis::Plain },
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
        let gone = step.unit + 1;
        weights.retain(|&(a, b), _| a != gone && b != gone);
        left.retain(|&unit| unit != gone);
        new.clear();
        for &(a, b, gain) in &step.corrections {
            let pair = (number(a).min(number(b)), number(a).max(number(b)));
            *weights.entry(pair).or_insert(0.0) += gain;
            new.push(pair);
        }
    }
    let second = parts.split_off(3);
    Sheet::new("A Boltzmann machine decimated: orange goes next, blue was corrected")
        .wide(860.0)
        .row(250.0, parts)
        .row(250.0, second)
        .to_svg()
}
