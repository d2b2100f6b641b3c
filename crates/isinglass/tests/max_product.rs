//! Max-product: exact on forests whatever the ties, never better than exact elsewhere, the same alone and in batches.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use common::{brute_force, clamped_machines, close};
use isinglass::search::{MaxProduct, ModeFinder};
use isinglass::topology::{self, Links, Neighbours, Numbers};
use isinglass::{Batch, Budget, Eliminate, Enumerate, Error, Evidence, Graph, Guarantee, Machine};
use proptest::prelude::*;

/// Numbers that tie often, and some that are far larger than others.
fn tying() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => Just(0.0),
        4 => prop_oneof![Just(1.0), Just(-1.0), Just(0.5), Just(-0.5)],
        2 => -2.0..2.0f64,
        1 => prop_oneof![Just(1e5), Just(-1e5), Just(1e-9)],
    ]
}

/// Any forest, with evidence: each unit hangs on one before it, or on none.
fn forests(most: usize) -> impl Strategy<Value = (Machine, Evidence)> {
    (1..=most).prop_flat_map(|n| {
        (
            proptest::collection::vec(any::<proptest::sample::Index>(), n),
            proptest::collection::vec(tying(), n),
            proptest::collection::vec(tying(), n),
            proptest::collection::vec(prop_oneof![4 => Just(0i8), 1 => Just(1), 1 => Just(-1)], n),
            Just((0..n).collect::<Vec<usize>>()).prop_shuffle(),
            prop_oneof![Just(1.0), 0.1..10.0f64],
        )
            .prop_map(move |(hooks, weights, biases, cells, names, temperature)| {
                // One in n + 1 is a root.
                let hook = |k: usize| Some(hooks[k].index(k + 1)).filter(|&other| other < k);
                let edges =
                    (0..n).filter_map(|k| hook(k).map(|other| (names[k], names[other], weights[k])));
                let units = biases.iter().enumerate();
                let units = units.map(|(k, &bias)| isinglass::Unit::new(format!("u{k}"), bias)).collect();
                let machine = Machine::new(units, edges)
                    .and_then(|machine| machine.with_temperature(temperature))
                    .and_then(|machine| machine.with_offset(3.0))
                    .unwrap();
                (machine, Evidence::from_cells(cells).unwrap())
            })
    })
}

/// The largest energy that there could be: sums of energies are right to so many digits of it.
fn size(machine: &Machine) -> f64 {
    machine.weights().iter().chain(machine.biases()).map(|x| x.abs()).sum()
}

/// The lowest energy, by the plainest loop.
fn least_energy(machine: &Machine, evidence: &Evidence) -> f64 {
    let states = brute_force(machine, evidence).states;
    states.iter().map(|(_, state)| -machine.negative_energy(state)).fold(f64::INFINITY, f64::min)
}

/// Unit by unit from nothing, each to suit those that have a value; then until no flip helps.
fn greedy(machine: &Machine, evidence: &Evidence) -> Vec<i8> {
    let mut state = evidence.cells().to_vec();
    loop {
        let before = state.clone();
        for unit in evidence.free() {
            let pull = |(other, edge): (usize, usize)| machine.weights()[edge] * f64::from(state[other]);
            let field = machine.biases()[unit] + machine.graph().neighbours(unit).map(pull).sum::<f64>();
            if state[unit] == 0 || field * f64::from(state[unit]) < -1e-12 {
                state[unit] = if field >= 0.0 { 1 } else { -1 };
            }
        }
        if state == before {
            return state;
        }
    }
}

/// Against the evidence, against its own energy, against greed, against single flips.
fn check_decent(machine: &Machine, evidence: &Evidence) -> f64 {
    let mode = MaxProduct::default().mode(machine, evidence).unwrap();
    let rounding = 1e-15 * (1.0 + size(machine));
    close(mode.energy, -machine.negative_energy(&mode.state), 1e-14, "its energy");
    for unit in 0..machine.units() {
        match evidence.get(unit) {
            Some(spin) => assert_eq!(mode.state[unit], spin.value()),
            None => {
                assert!(mode.state[unit].abs() == 1);
                let mut flipped = mode.state.clone();
                flipped[unit] = -flipped[unit];
                let energy = -machine.negative_energy(&flipped);
                assert!(energy >= mode.energy - rounding, "unit {unit} betters it by a flip");
            }
        }
    }
    let greedy = -machine.negative_energy(&greedy(machine, evidence));
    assert!(mode.energy <= greedy + rounding, "greed finds {greedy}, not {}", mode.energy);
    mode.energy
}

proptest! {
    #[test]
    fn forests_are_exact_whatever_the_ties((machine, evidence) in forests(11)) {
        let mode = MaxProduct::default().mode(&machine, &evidence).unwrap();
        prop_assert_eq!(mode.guarantee, Guarantee::Exact);
        prop_assert!(mode.diagnostics.converged);
        let least = least_energy(&machine, &evidence);
        let rounding = 1e-15 * (1.0 + size(&machine));
        prop_assert!((mode.energy - least).abs() <= rounding, "found {}, not {least}", mode.energy);
        check_decent(&machine, &evidence);
    }

    #[test]
    fn cycles_are_decent_and_never_better_than_exact((machine, evidence) in clamped_machines(9, 2.0)) {
        let energy = check_decent(&machine, &evidence);
        let least = least_energy(&machine, &evidence);
        prop_assert!(energy >= least - 1e-12 * least.abs().max(1.0));
        let mode = MaxProduct::default().mode(&machine, &evidence).unwrap();
        if mode.guarantee == Guarantee::Exact {
            close(energy, least, 1e-12, "energy");
        }
    }
}
