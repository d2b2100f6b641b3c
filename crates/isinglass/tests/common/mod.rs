//! What the integration tests share: random machines, and an independent brute force.

#![allow(dead_code, reason = "each test binary uses its own part")]
#![allow(missing_docs, clippy::unwrap_used, reason = "test helpers")]

pub(crate) mod contrastive;
pub(crate) mod structure;

use isinglass::engine::ModeFinder;
use isinglass::learn::Objective;
use isinglass::topology::{self, Links, Neighbours};
use isinglass::{
    Ask, Batch, Engine, Evidence, Expectations, Graph, JointTable, Machine, Pairs, Sampler, Spin,
};
use proptest::prelude::*;

/// log Z, means and all pair moments by the plainest loop over states: nothing shared with the
/// engines.
pub(crate) struct BruteForce {
    pub(crate) log_z: f64,
    pub(crate) means: Vec<f64>,
    pub(crate) pairs: Vec<Vec<f64>>,
    /// The log-weight of every state of the free units, and the state.
    pub(crate) states: Vec<(f64, Vec<i8>)>,
}

pub(crate) fn brute_force(machine: &Machine, evidence: &Evidence) -> BruteForce {
    let n = machine.unit_count();
    let free: Vec<usize> = (0..n).filter(|&unit| evidence.get(unit).is_none()).collect();
    let mut states = Vec::new();
    for number in 0..1u64 << free.len() {
        let mut state = evidence.cells().to_vec();
        for (bit, &unit) in free.iter().enumerate() {
            state[unit] = if number >> bit & 1 == 1 { 1 } else { -1 };
        }
        let mut energy = 0.0;
        for (edge, &(a, b)) in machine.graph().edges().iter().enumerate() {
            energy -= machine.weights()[edge] * f64::from(state[a]) * f64::from(state[b]);
        }
        for unit in 0..n {
            energy -= machine.biases()[unit] * f64::from(state[unit]);
        }
        states.push((-energy / machine.temperature() + machine.offset(), state));
    }
    let top = states.iter().map(|state| state.0).fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = states.iter().map(|state| (state.0 - top).exp()).sum();
    let log_z = top + sum.ln();
    let mut means = vec![0.0; n];
    let mut pairs = vec![vec![0.0; n]; n];
    for (log, state) in &states {
        let p = (log - log_z).exp();
        for a in 0..n {
            means[a] += p * f64::from(state[a]);
            for b in 0..n {
                pairs[a][b] += p * f64::from(state[a] * state[b]);
            }
        }
    }
    BruteForce { log_z, means, pairs, states }
}

/// |a − b| ≤ tolerance · max(1, |b|), with a message that says where.
#[track_caller]
pub(crate) fn close(found: f64, expected: f64, tolerance: f64, what: &str) {
    let scale = expected.abs().max(1.0);
    assert!((found - expected).abs() <= tolerance * scale, "{what}: found {found}, expected {expected}");
}

/// A structure of up to `most` units: each builder, or any edge list.
pub(crate) fn graphs(most: usize) -> impl Strategy<Value = Graph> {
    let any_edges = (1..=most).prop_flat_map(|n| {
        let pairs = n * (n - 1) / 2;
        proptest::collection::vec(any::<bool>(), pairs).prop_map(move |present| {
            let all = (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b)));
            Graph::new(n, all.zip(present).filter(|x| x.1).map(|x| x.0)).unwrap()
        })
    });
    prop_oneof![
        any_edges,
        (1..=most).prop_map(Graph::chain),
        (1..=most, 1..4usize).prop_map(|(n, b)| Graph::tree(n, b)),
        (1..=most).prop_map(Graph::full),
        (1..=most.min(4), 1..=(most / 4).max(1), any::<bool>()).prop_map(|(r, c, eight)| {
            Graph::grid(r, c, if eight { Neighbours::Eight } else { Neighbours::Four })
        }),
        (1..=most / 2, 1..=most / 2).prop_map(|(v, h)| {
            Graph::clone(topology::two_layer(v, &Links::Chain, h, &Links::Full).unwrap().graph())
        }),
    ]
}

/// A machine with weights of any size up to `strength`, any temperature, and evidence on any of its
/// units.
pub(crate) fn clamped_machines(most: usize, strength: f64) -> impl Strategy<Value = (Machine, Evidence)> {
    graphs(most).prop_flat_map(move |graph| {
        let (n, m) = (graph.unit_count(), graph.edges().len());
        let number = -strength..strength;
        (
            proptest::collection::vec(number.clone(), m),
            proptest::collection::vec(number, n),
            proptest::collection::vec(prop_oneof![3 => Just(0i8), 1 => Just(1), 1 => Just(-1)], n),
            prop_oneof![Just(1.0), 0.1..10.0f64],
            prop_oneof![Just(0.0), -5.0..5.0f64],
        )
            .prop_map(move |(weights, biases, cells, temperature, offset)| {
                let machine = Machine::from_graph(graph.clone())
                    .with_parameters(weights, biases)
                    .and_then(|machine| machine.with_temperature(temperature))
                    .and_then(|machine| machine.with_offset(offset))
                    .unwrap();
                (machine, Evidence::from_cells(cells).unwrap())
            })
    })
}

/// Evidence on one unit.
pub(crate) fn given(units: usize, unit: usize, spin: Spin) -> Evidence {
    let mut evidence = Evidence::none(units);
    evidence.clamp(unit, spin);
    evidence
}

/// log Z, all means and all pair moments of an engine against brute force.
pub(crate) fn check_against_brute_force(
    engine: &dyn Engine,
    machine: &Machine,
    evidence: &Evidence,
    tolerance: f64,
) {
    let truth = brute_force(machine, evidence);
    let answer = engine.expectations(machine, evidence, Pairs::All).unwrap();
    close(answer.log_z.unwrap(), truth.log_z, tolerance, "log Z");
    for unit in 0..machine.unit_count() {
        close(answer.means[unit], truth.means[unit], tolerance, "mean");
        for other in unit + 1..machine.unit_count() {
            let found = answer.correlations.get(machine.graph(), unit, other).unwrap();
            close(found, truth.pairs[unit][other], tolerance, "pair moment");
        }
    }
    let edges = engine.expectations(machine, evidence, Pairs::Edges).unwrap();
    for ((a, b), value) in edges.correlations.iter(machine.graph()) {
        close(value, truth.pairs[a][b], tolerance, "edge moment");
    }
}

/// Rows of evidence with few patterns of free units, so that rows share them and lanes fill.
pub(crate) fn rows_of_evidence(units: usize, rows: usize, seed: u64) -> Vec<i8> {
    (0..rows * units)
        .map(|k| {
            let bits = seed.rotate_left((k % 61) as u32) ^ (k as u64).wrapping_mul(0x9e37_79b9);
            let free = (seed >> (k % units)) & 1 == 1 && !(k / units).is_multiple_of(3);
            if free {
                0
            } else if bits & 4 == 0 {
                1
            } else {
                -1
            }
        })
        .collect()
}

/// The answer for a batch against those for its rows one by one.
pub(crate) fn check_batch_against_rows(engine: &dyn Engine, machine: &Machine, cells: &[i8], tolerance: f64) {
    let n = machine.unit_count();
    let rows = cells.len() / n;
    let weights: Vec<f64> = (0..rows).map(|row| 0.5 + row as f64).collect();
    let batch = Batch::new(n, cells, &weights).unwrap();
    let answer = engine.batch(machine, &batch, Ask { statistics: true, means: true }).unwrap();
    let statistics = answer.statistics.unwrap();
    let mut means = vec![0.0; n];
    let mut edges = vec![0.0; machine.graph().edges().len()];
    for row in 0..rows {
        let evidence = Evidence::from_cells(cells[row * n..(row + 1) * n].to_vec()).unwrap();
        let single = engine.expectations(machine, &evidence, Pairs::Edges).unwrap();
        close(answer.log_z.as_ref().unwrap()[row], single.log_z.unwrap(), tolerance, "log Z of a row");
        for unit in 0..n {
            let found = answer.means.as_ref().unwrap()[row * n + unit];
            close(found, single.means[unit], tolerance, "mean in a row");
            means[unit] += weights[row] * single.means[unit];
        }
        for (sum, value) in edges.iter_mut().zip(&single.correlations.values) {
            *sum += weights[row] * value;
        }
    }
    close(statistics.weight, weights.iter().sum(), tolerance, "weight");
    for (found, expected) in statistics.means.iter().zip(&means) {
        close(*found, *expected, 10.0 * tolerance, "summed mean");
    }
    for (found, expected) in statistics.edges.iter().zip(&edges) {
        close(*found, *expected, 10.0 * tolerance, "summed edge moment");
    }
    let alone = engine.batch(machine, &batch, Ask::default()).unwrap();
    for (found, expected) in alone.log_z.unwrap().iter().zip(answer.log_z.unwrap()) {
        close(*found, expected, tolerance, "log Z without moments");
    }
}

/// The machine with some of its biases taken away.
pub(crate) fn without_biases(machine: &Machine, keep: u64) -> Machine {
    let bias = |(unit, &bias): (usize, &f64)| if keep >> (unit % 64) & 1 == 1 { bias } else { 0.0 };
    let biases = machine.biases().iter().enumerate().map(bias).collect();
    machine.clone().with_parameters(machine.weights().to_vec(), biases).unwrap()
}

/// The probabilities of joint states against sums over all states.
pub(crate) fn check_joint(table: &JointTable, machine: &Machine, evidence: &Evidence, tolerance: f64) {
    let truth = brute_force(machine, evidence);
    close(table.probabilities.iter().sum(), 1.0, tolerance, "sum of probabilities");
    for (number, &p) in table.probabilities.iter().enumerate() {
        let state = JointTable::state(table.units.len(), number);
        let agrees = |s: &[i8]| table.units.iter().zip(&state).all(|(&unit, &x)| s[unit] == x);
        let states = truth.states.iter().filter(|(_, s)| agrees(s));
        let expected: f64 = states.map(|(log, _)| (log - truth.log_z).exp()).sum();
        close(p, expected, tolerance, "probability of a joint state");
    }
}

/// No state has more weight than the mode.
pub(crate) fn check_mode(finder: &dyn ModeFinder, machine: &Machine, evidence: &Evidence) {
    let truth = brute_force(machine, evidence);
    let mode = finder.mode(machine, evidence).unwrap();
    let best = truth.states.iter().map(|state| state.0).fold(f64::NEG_INFINITY, f64::max);
    close(machine.log_weight(&mode.state), best, 1e-12, "log-weight of the mode");
    close(mode.energy, -machine.temperature() * best, 1e-12, "its energy");
    for unit in 0..machine.unit_count() {
        assert!(
            evidence.get(unit).is_none_or(|spin| spin.value() == mode.state[unit]),
            "clamped unit {unit}"
        );
    }
}

/// ∂ log Z / ∂ θ_i = ⟨s_i⟩ / T, ∂ log Z / ∂ w_ij = ⟨s_i s_j⟩ / T, by finite differences.
pub(crate) fn check_derivatives(engine: &dyn Engine, machine: &Machine, evidence: &Evidence) {
    let answer = engine.expectations(machine, evidence, Pairs::Edges).unwrap();
    let step = 1e-4 * machine.temperature();
    let edges = machine.weights().len();
    let parameters: Vec<f64> = machine.weights().iter().chain(machine.biases()).copied().collect();
    let slope = |k: usize| {
        let at = |x: f64| {
            let mut moved = parameters.clone();
            moved[k] += x;
            let moved =
                machine.clone().with_parameters(moved[..edges].to_vec(), moved[edges..].to_vec()).unwrap();
            engine.expectations(&moved, evidence, Pairs::None).unwrap().log_z.unwrap()
        };
        (at(step) - at(-step)) / (2.0 * step) * machine.temperature()
    };
    let moments = answer.correlations.values.iter().chain(&answer.means);
    for (k, moment) in moments.enumerate() {
        close(slope(k), *moment, 1e-7, "slope of log Z");
    }
}

/// The moments of many draws are those of the machine, within five standard deviations.
pub(crate) fn check_draws(engine: &dyn Sampler, machine: &Machine, evidence: &Evidence) {
    let n = machine.unit_count();
    let count = 40_000;
    let draws = engine.draw(machine, evidence, count, 17).unwrap();
    let truth = brute_force(machine, evidence);
    for a in 0..n {
        for b in 0..n {
            let sum: i32 = draws.cells.chunks(n).map(|state| i32::from(state[a] * state[b])).sum();
            let found = f64::from(sum) / count as f64;
            let deviation = ((1.0 - truth.pairs[a][b].powi(2)) / count as f64).sqrt();
            let error = (found - truth.pairs[a][b]).abs();
            assert!(error <= 5.0 * deviation + 1e-12, "{a} {b}: {found}");
        }
    }
    assert_eq!(draws, engine.draw(machine, evidence, count, 17).unwrap());
    assert_ne!(draws, engine.draw(machine, evidence, count, 18).unwrap());
}

/// log Z, means and pair moments alike.
#[track_caller]
pub(crate) fn check_equal(found: &Expectations, expected: &Expectations, tolerance: f64) {
    close(found.log_z.unwrap(), expected.log_z.unwrap(), tolerance, "log Z");
    for (x, y) in found.means.iter().zip(&expected.means) {
        close(*x, *y, tolerance, "mean");
    }
    assert_eq!(found.correlations.values.len(), expected.correlations.values.len());
    for (x, y) in found.correlations.values.iter().zip(&expected.correlations.values) {
        close(*x, *y, tolerance, "pair moment");
    }
}

/// The gradient of an objective against differences of its value, over a small step.
#[track_caller]
pub(crate) fn check_gradient(objective: &dyn Objective, at: &[f64], tolerance: f64, what: &str) {
    const STEP: f64 = 1e-4;
    let mut gradient = vec![0.0; at.len()];
    objective.value_and_gradient(at, &mut gradient).unwrap();
    for k in 0..at.len() {
        let value = |shift: f64| {
            let mut moved = at.to_vec();
            moved[k] += shift;
            objective.value(&moved).unwrap()
        };
        close(gradient[k], (value(STEP) - value(-STEP)) / (2.0 * STEP), tolerance, what);
    }
}
