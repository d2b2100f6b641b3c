//! What the integration tests share: random machines, and an independent brute force.

#![allow(dead_code, reason = "each test binary uses its own part")]
#![allow(missing_docs, clippy::unwrap_used, reason = "test helpers")]

pub(crate) mod structure;

use isinglass::topology::{self, Links, Neighbours};
use isinglass::{Evidence, Graph, Machine, Spin};
use proptest::prelude::*;

/// log Z, means and all pair moments by the plainest loop over states: nothing shared with the engines.
pub(crate) struct BruteForce {
    pub(crate) log_z: f64,
    pub(crate) means: Vec<f64>,
    pub(crate) pairs: Vec<Vec<f64>>,
    /// The log-weight of every state of the free units, and the state.
    pub(crate) states: Vec<(f64, Vec<i8>)>,
}

pub(crate) fn brute_force(machine: &Machine, evidence: &Evidence) -> BruteForce {
    let n = machine.units();
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
        (1..=most).prop_map(topology::chain),
        (1..=most, 1..4usize).prop_map(|(n, b)| topology::tree(n, b)),
        (1..=most).prop_map(topology::full),
        (1..=most.min(4), 1..=(most / 4).max(1), any::<bool>()).prop_map(|(r, c, eight)| {
            topology::grid(r, c, if eight { Neighbours::Eight } else { Neighbours::Four })
        }),
        (1..=most / 2, 1..=most / 2).prop_map(|(v, h)| {
            Graph::clone(topology::two_layer(v, &Links::Chain, h, &Links::Full).unwrap().graph())
        }),
    ]
}

/// A machine with weights of any size up to `strength`, any temperature, and evidence on any of its units.
pub(crate) fn clamped_machines(most: usize, strength: f64) -> impl Strategy<Value = (Machine, Evidence)> {
    graphs(most).prop_flat_map(move |graph| {
        let (n, m) = (graph.units(), graph.edges().len());
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
