//! The engines `decimate` and `eliminate` against an independent brute force, and against what must hold.

#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use common::{
    check_against_brute_force, check_batch_against_rows, check_derivatives, check_draws, check_joint,
    check_mode, clamped_machines, close, rows_of_evidence, without_biases,
};
use isinglass::{Eliminate, Engine, Enumerate, Evidence, Spin, topology};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn agrees_with_brute_force((machine, evidence) in clamped_machines(12, 3.0), keep in any::<u64>()) {
        let engine = Eliminate::default();
        check_against_brute_force(&engine, &machine, &evidence, 1e-11);
        check_against_brute_force(&engine, &without_biases(&machine, keep), &evidence, 1e-11);
        check_against_brute_force(&engine, &without_biases(&machine, 0), &evidence, 1e-11);
    }

    #[test]
    fn strong_couplings_neither_overflow_nor_lose_digits((machine, evidence) in clamped_machines(10, 20.0), keep in any::<u64>()) {
        let engine = Eliminate::default();
        check_against_brute_force(&engine, &machine, &evidence, 1e-10);
        check_against_brute_force(&engine, &without_biases(&machine, keep), &evidence, 1e-10);
    }

    #[test]
    fn a_batch_agrees_with_its_rows((machine, _) in clamped_machines(10, 2.0), rows in 1..20usize, seed in any::<u64>()) {
        let cells = rows_of_evidence(machine.units(), rows, seed);
        check_batch_against_rows(&Eliminate::default(), &machine, &cells, 1e-12);
    }

    #[test]
    fn moments_are_the_derivatives_of_log_z((machine, evidence) in clamped_machines(8, 1.5)) {
        check_derivatives(&Eliminate::default(), &machine, &evidence);
    }

    #[test]
    fn no_state_beats_the_mode((machine, evidence) in clamped_machines(10, 2.0), keep in any::<u64>()) {
        let engine = Eliminate::default();
        check_mode(&engine, &machine, &evidence);
        check_mode(&engine, &without_biases(&machine, keep), &evidence);
    }

    /// Two ways to the same probabilities (Rüger 1997, eq. 6 and theorem 3.4).
    #[test]
    fn queries_by_ratio_and_by_fourier_agree((machine, evidence) in clamped_machines(10, 5.0), take in 0..5usize, keep in any::<u64>()) {
        let machine = without_biases(&machine, keep);
        let engine = Eliminate::default();
        let ask: Vec<usize> = evidence.free().take(take).collect::<Vec<_>>().into_iter().rev().collect();
        let ratio = engine.joint(&machine, &evidence, &ask).unwrap();
        let fourier = engine.joint_by_fourier(&machine, &evidence, &ask).unwrap();
        check_joint(&ratio, &machine, &evidence, 1e-11);
        for (a, b) in ratio.probabilities.iter().zip(&fourier.probabilities) {
            close(*a, *b, 1e-10, "probability by the two ways");
        }
    }

    /// Derivatives of log Z against joint moments, from which cumulants follow by another way.
    #[test]
    fn cumulants_are_those_of_the_joint_moments(
        (machine, evidence) in clamped_machines(9, 2.0),
        picks in proptest::collection::vec(any::<prop::sample::Index>(), 1..5),
    ) {
        let units: Vec<usize> = picks.iter().map(|pick| pick.index(machine.units())).collect();
        let one = Eliminate::default().cumulants(&machine, &evidence, &units).unwrap();
        let other = Enumerate::default().cumulants(&machine, &evidence, &units).unwrap();
        for ((places, a), (_, b)) in one.iter().zip(other.iter()) {
            close(a, b, 1e-10, &format!("cumulant of {places:?} of {units:?}"));
        }
    }

    /// `⟨exp(i Σ x s)⟩` summed over all states.
    #[test]
    fn the_characteristic_function_is_that_of_the_states(
        (machine, evidence) in clamped_machines(8, 3.0),
        xs in proptest::collection::vec(-4.0..4.0f64, 8),
    ) {
        let truth = common::brute_force(&machine, &evidence);
        let frequency: Vec<(usize, f64)> = (0..machine.units()).zip(xs).collect();
        let found = Eliminate::default().characteristic(&machine, &evidence, &[frequency.clone()]).unwrap()[0];
        let (mut re, mut im) = (0.0, 0.0);
        for (log, state) in &truth.states {
            let angle: f64 = frequency.iter().map(|&(unit, x)| x * f64::from(state[unit])).sum();
            re += (log - truth.log_z).exp() * angle.cos();
            im += (log - truth.log_z).exp() * angle.sin();
        }
        close(found.re, re, 1e-11, "real part");
        close(found.im, im, 1e-11, "imaginary part");
    }
}

#[test]
fn exact_draws_have_the_distribution_of_the_machine() {
    let engine = Eliminate::default();
    let mut evidence = Evidence::none(13);
    evidence.clamp(4, Spin::Down);
    let glass = topology::sherrington_kirkpatrick(13, 1.5, 3).unwrap();
    check_draws(&engine, &glass, &evidence);
    let tree = isinglass::Machine::from_graph(topology::tree(13, 2));
    let tree =
        tree.with_parameters(vec![0.7; 12], (0..13).map(|k| 0.1 * f64::from(k) - 0.6).collect()).unwrap();
    check_draws(&engine, &tree, &evidence);
}
