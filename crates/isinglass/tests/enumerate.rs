//! The engine `enumerate` against an independent brute force, and against what must hold.

#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use std::sync::LazyLock;

use common::{
    brute_force, check_against_brute_force, check_batch_against_rows, check_derivatives, check_draws,
    check_joint, check_mode, clamped_machines, close, rows_of_evidence,
};
use isinglass::engine::ModeFinder;
use isinglass::topology::Numbers;
use isinglass::{
    Ask, Batch, Engine, Enumerate, Evidence, Graph, Machine, PairMoments, Pairs, Sampler, topology,
};
use proptest::prelude::*;

static ENGINE: LazyLock<Enumerate> = LazyLock::new(|| Enumerate::new().budget(isinglass::Budget(1 << 30)));

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn agrees_with_brute_force((machine, evidence) in clamped_machines(12, 3.0)) {
        check_against_brute_force(&*ENGINE, &machine, &evidence, 1e-11);
    }

    #[test]
    fn strong_couplings_neither_overflow_nor_lose_digits((machine, evidence) in clamped_machines(9, 20.0)) {
        check_against_brute_force(&*ENGINE, &machine, &evidence, 1e-10);
    }

    #[test]
    fn a_batch_agrees_with_its_rows((machine, _) in clamped_machines(9, 2.0), rows in 1..20usize, seed in any::<u64>()) {
        let cells = rows_of_evidence(machine.unit_count(), rows, seed);
        check_batch_against_rows(&*ENGINE, &machine, &cells, 1e-12);
    }

    #[test]
    fn the_conditional_machine_is_the_machine_under_evidence((machine, evidence) in clamped_machines(10, 2.0)) {
        let conditional = machine.conditional(&evidence).unwrap();
        let nothing = Evidence::none(conditional.unit_count());
        let inside = ENGINE.expectations(&conditional, &nothing, Pairs::None).unwrap();
        let whole = ENGINE.expectations(&machine, &evidence, Pairs::None).unwrap();
        close(inside.log_z.unwrap(), whole.log_z.unwrap(), 1e-12, "log Z");
        for (place, unit) in evidence.free().enumerate() {
            close(inside.means[place], whole.means[unit], 1e-12, "mean");
        }
    }

    #[test]
    fn queries_are_ratios_of_sums((machine, evidence) in clamped_machines(9, 2.0), take in 1..4usize) {
        let ask: Vec<usize> = evidence.free().take(take).collect::<Vec<_>>().into_iter().rev().collect();
        check_joint(&ENGINE.joint(&machine, &evidence, &ask).unwrap(), &machine, &evidence, 1e-11);
    }

    #[test]
    fn no_state_beats_the_mode((machine, evidence) in clamped_machines(10, 2.0)) {
        check_mode(&*ENGINE, &machine, &evidence);
    }

    /// ∂ log Z / ∂ θ_i = ⟨s_i⟩ / T, ∂ log Z / ∂ w_ij = ⟨s_i s_j⟩ / T.
    #[test]
    fn moments_are_the_derivatives_of_log_z((machine, evidence) in clamped_machines(8, 1.5)) {
        check_derivatives(&*ENGINE, &machine, &evidence);
    }

    #[test]
    fn symmetric_under_relabelling_and_flipping((machine, evidence) in clamped_machines(9, 2.0), flipped in any::<u16>()) {
        let n = machine.unit_count();
        let sign = |unit: usize| if flipped >> unit & 1 == 1 { -1.0 } else { 1.0 };
        let turn = |unit: usize| n - 1 - unit;
        let edges: Vec<(usize, usize, f64)> = machine.graph().edges().iter().zip(machine.weights())
            .map(|(&(a, b), &w)| (turn(a), turn(b), w * sign(a) * sign(b)))
            .collect();
        let units = (0..n).map(|k| isinglass::Unit::new(format!("y{k}"), machine.biases()[turn(k)] * sign(turn(k)))).collect();
        let other = Machine::new(units, edges).unwrap()
            .with_temperature(machine.temperature()).unwrap()
            .with_offset(machine.offset()).unwrap();
        let cells = (0..n).map(|k| evidence.cells()[turn(k)] * sign(turn(k)) as i8).collect();
        let other_evidence = Evidence::from_cells(cells).unwrap();
        let one = ENGINE.expectations(&machine, &evidence, Pairs::All).unwrap();
        let two = ENGINE.expectations(&other, &other_evidence, Pairs::All).unwrap();
        close(two.log_z.unwrap(), one.log_z.unwrap(), 1e-12, "log Z");
        for unit in 0..n {
            close(two.means[turn(unit)], sign(unit) * one.means[unit], 1e-12, "mean");
        }
    }
}

#[test]
fn every_size_up_to_22_units_is_right() {
    // Brute force over pairs would take minutes here: closed forms and a second way of summing instead.
    for n in 1..=22 {
        let machine = topology::chain(n)
            .with_numbers(&Numbers::Normal { mean: 0.0, deviation: 1.0 }, &Numbers::Constant(0.0), n as u64)
            .unwrap();
        let answer = ENGINE.expectations(&machine, &Evidence::none(n), Pairs::All).unwrap();
        let expected: f64 =
            n as f64 * 2f64.ln() + machine.weights().iter().map(|w| w.cosh().ln()).sum::<f64>();
        close(answer.log_z.unwrap(), expected, 1e-12, "log Z of a chain");
        for a in 0..n {
            for b in a + 1..n {
                let product: f64 = machine.weights()[a..b].iter().map(|w| w.tanh()).product();
                let found = answer.correlations.get(machine.graph(), a, b).unwrap();
                close(found, product, 1e-12, "pair moment of a chain");
            }
        }
    }
    for n in [18, 20, 22] {
        let machine = topology::full(n)
            .with_numbers(
                &Numbers::Uniform { low: -1.0, high: 1.0 },
                &Numbers::Uniform { low: -1.0, high: 1.0 },
                n as u64,
            )
            .unwrap()
            .with_temperature(1.7)
            .unwrap();
        // Clamping the last units both ways sums over the same states in another order.
        let whole = ENGINE.expectations(&machine, &Evidence::none(n), Pairs::All).unwrap();
        let mut mean = 0.0;
        let mut logs = Vec::new();
        for spin in [isinglass::Spin::Down, isinglass::Spin::Up] {
            let part = ENGINE.expectations(&machine, &common::given(n, n - 1, spin), Pairs::None).unwrap();
            logs.push(part.log_z.unwrap());
            let p = (part.log_z.unwrap() - whole.log_z.unwrap()).exp();
            mean += p * part.means[0];
        }
        close(
            isinglass::numeric::stable::log_sum(&logs),
            whole.log_z.unwrap(),
            1e-12,
            "log Z from its halves",
        );
        close(mean, whole.means[0], 1e-11, "mean from its halves");
    }
}

#[test]
fn one_plain_pass_over_two_million_states_agrees() {
    let n = 21;
    let machine = topology::sherrington_kirkpatrick(n, 1.3, 5).unwrap();
    let answer = ENGINE.expectations(&machine, &Evidence::none(n), Pairs::All).unwrap();
    let mut dense = vec![vec![0.0; n]; n];
    for (&(a, b), &w) in machine.graph().edges().iter().zip(machine.weights()) {
        dense[a][b] = w;
        dense[b][a] = w;
    }
    // Gray code: one unit turns at each step, and the energy changes by twice its field.
    let mut state = vec![-1.0; n];
    let mut log: f64 = machine.weights().iter().sum();
    let (mut z, mut m3, mut c27) = (0.0, 0.0, 0.0);
    for number in 0..1u32 << n {
        let weight = log.exp();
        z += weight;
        m3 += weight * state[3];
        c27 += weight * state[2] * state[7];
        let turning = (number + 1).trailing_zeros() as usize;
        if turning < n {
            let field: f64 = dense[turning].iter().zip(&state).map(|(w, s)| w * s).sum();
            log -= 2.0 * state[turning] * field;
            state[turning] = -state[turning];
        }
    }
    close(answer.log_z.unwrap(), z.ln(), 1e-9, "log Z");
    close(answer.means[3], m3 / z, 1e-9, "mean");
    close(answer.correlations.get(machine.graph(), 2, 7).unwrap(), c27 / z, 1e-9, "pair moment");
}

#[test]
fn few_rows_with_many_free_units_agree_with_single_answers() {
    let machine = topology::sherrington_kirkpatrick(15, 1.1, 2).unwrap();
    let mut cells = vec![0; 2 * 15];
    cells[3] = 1;
    cells[15 + 3] = -1;
    let batch = Batch::new(15, &cells, &[1.0, 3.0]).unwrap();
    let ask = Ask { statistics: true, means: true };
    let answer = ENGINE.batch(&machine, &batch, ask).unwrap();
    let mut edges = vec![0.0; machine.weights().len()];
    for (row, weight) in [1.0, 3.0].into_iter().enumerate() {
        let evidence = Evidence::from_cells(cells[15 * row..15 * (row + 1)].to_vec()).unwrap();
        let single = ENGINE.expectations(&machine, &evidence, Pairs::Edges).unwrap();
        close(answer.log_z.as_ref().unwrap()[row], single.log_z.unwrap(), 1e-13, "log Z of a row");
        assert_eq!(answer.means.as_ref().unwrap()[15 * row..15 * (row + 1)], single.means);
        for (sum, value) in edges.iter_mut().zip(&single.correlations.values) {
            *sum += weight * value;
        }
    }
    for (found, expected) in answer.statistics.unwrap().edges.iter().zip(&edges) {
        close(*found, *expected, 1e-13, "summed pair moment");
    }
}

#[test]
fn an_offset_shifts_log_z_and_nothing_else() {
    let plain = topology::sherrington_kirkpatrick(6, 1.0, 3).unwrap();
    let shifted = plain.clone().with_offset(1e12).unwrap();
    let evidence = common::given(6, 2, isinglass::Spin::Up);
    let [one, two] =
        [&plain, &shifted].map(|machine| ENGINE.expectations(machine, &evidence, Pairs::All).unwrap());
    assert_eq!((one.means, one.correlations), (two.means, two.correlations));
    close(two.log_z.unwrap(), one.log_z.unwrap() + 1e12, 1e-15, "log Z");
    let [one, two] = [&plain, &shifted].map(|machine| ENGINE.joint(machine, &evidence, &[0, 4]).unwrap());
    assert_eq!(one.probabilities, two.probabilities);
}

#[test]
fn units_that_are_pinned_take_no_digits_from_the_others() {
    for bias in [1e3, 1e10, 1e16, 1e20] {
        let units = vec![
            isinglass::Unit::new("always", bias),
            isinglass::Unit::new("a", 0.3),
            isinglass::Unit::new("b", 0.3),
        ];
        let machine = Machine::new(units, [(0, 1, -0.2), (1, 2, 0.5)]).unwrap();
        let answer = ENGINE.expectations(&machine, &Evidence::none(3), Pairs::All).unwrap();
        let given = common::given(3, 0, isinglass::Spin::Up).cells().to_vec();
        let small =
            machine.conditional(&Evidence::from_cells(given).unwrap()).unwrap().with_offset(0.0).unwrap();
        let truth = brute_force(&small, &Evidence::none(2));
        assert_eq!((answer.means[0], answer.guarantee), (1.0, isinglass::Guarantee::Exact));
        close(answer.means[1], truth.means[0], 1e-14, "mean of a");
        close(
            answer.correlations.get(machine.graph(), 1, 2).unwrap(),
            truth.pairs[0][1],
            1e-14,
            "pair of a and b",
        );
        let joint = ENGINE.joint(&machine, &Evidence::none(3), &[1]).unwrap();
        close(joint.probabilities[1], f64::midpoint(1.0, truth.means[0]), 1e-14, "P(a)");
        assert_eq!(ENGINE.mode(&machine, &Evidence::none(3)).unwrap().state, [1, 1, 1]);
    }
    // Where large energies do decide between states, the answer is not called exact.
    let strong = topology::chain(3).with_parameters(vec![1e9; 2], vec![0.1; 3]).unwrap();
    let answer = ENGINE.expectations(&strong, &Evidence::none(3), Pairs::None).unwrap();
    assert_eq!(answer.guarantee, isinglass::Guarantee::Approximation);
    let draws = ENGINE.draw(&strong, &Evidence::none(3), 4, 0).unwrap();
    let mode = ENGINE.mode(&strong, &Evidence::none(3)).unwrap();
    assert_eq!([draws.guarantee, mode.guarantee], [isinglass::Guarantee::Approximation; 2]);
}

#[test]
fn energies_beyond_the_range_of_numbers_are_refused() {
    let weights = vec![1e308; 3];
    let machine = topology::full(3).with_parameters(weights, vec![0.0; 3]).unwrap();
    let refusal = ENGINE.expectations(&machine, &Evidence::none(3), Pairs::None).unwrap_err();
    assert!(matches!(refusal, isinglass::Error::Numerical { .. }), "{refusal}");
    let cold = topology::full(3)
        .with_parameters(vec![1.0; 3], vec![0.5; 3])
        .and_then(|machine| machine.with_temperature(1e-310))
        .unwrap();
    assert!(ENGINE.draw(&cold, &Evidence::none(3), 2, 0).is_err());
    assert!(ENGINE.mode(&cold, &Evidence::none(3)).is_err());
    // Cold, but within range: everything in the ground state.
    let cool = cold.with_temperature(1e-200).unwrap();
    let answer = ENGINE.expectations(&cool, &Evidence::none(3), Pairs::All).unwrap();
    assert_eq!(answer.means, [1.0; 3]);
}

#[test]
fn batches_refuse_what_is_no_evidence() {
    let message = |cells: &[i8], weights: &[f64]| Batch::new(2, cells, weights).unwrap_err().to_string();
    assert_eq!(
        message(&[0, 1, 5, 0], &[1.0, 1.0]),
        "row 1 of the batch, unit 0: found 5, expected -1, +1 or 0 for free"
    );
    assert!(message(&[0, 1], &[f64::NAN]).contains("weight"));
    assert!(message(&[0, 1, 1], &[1.0]).contains("cells"));
}

#[test]
fn an_empty_machine_and_a_wholly_clamped_one_have_one_state() {
    let empty = Machine::from_graph(Graph::new(0, []).unwrap()).with_offset(0.7).unwrap();
    let answer = ENGINE.expectations(&empty, &Evidence::none(0), Pairs::All).unwrap();
    assert_eq!(answer.log_z, Some(0.7));
    let machine = topology::sherrington_kirkpatrick(5, 1.0, 1).unwrap();
    let evidence = Evidence::from_cells(vec![1, -1, -1, 1, 1]).unwrap();
    let answer = ENGINE.expectations(&machine, &evidence, Pairs::All).unwrap();
    close(answer.log_z.unwrap(), machine.log_weight(evidence.cells()), 1e-14, "log Z");
    assert_eq!(answer.means, [1.0, -1.0, -1.0, 1.0, 1.0]);
    assert_eq!(PairMoments::count(Pairs::All, machine.graph()), 10);
}

#[test]
fn too_many_units_are_refused_with_the_figure() {
    let machine = topology::chain(40);
    let refusal = ENGINE.expectations(&machine, &Evidence::none(40), Pairs::None).unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "enumerate: 40 free units (2^40 states of 8 bytes) needs 8 TiB, and the budget is 1 GiB"
    );
}

#[test]
fn exact_draws_have_the_distribution_of_the_machine() {
    let machine = topology::sherrington_kirkpatrick(13, 1.5, 3).unwrap();
    let mut evidence = Evidence::none(13);
    evidence.clamp(4, isinglass::Spin::Down);
    check_draws(&*ENGINE, &machine, &evidence);
}

#[test]
fn threads_do_not_change_a_bit() {
    let machine = topology::sherrington_kirkpatrick(17, 1.2, 9).unwrap();
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let answer = ENGINE.expectations(&machine, &Evidence::none(17), Pairs::All).unwrap();
            let draws = ENGINE.draw(&machine, &Evidence::none(17), 500, 3).unwrap();
            let joint = ENGINE.joint(&machine, &Evidence::none(17), &[3, 5, 16]).unwrap();
            (answer, draws, joint)
        })
    };
    assert_eq!(run(1), run(2));
    assert_eq!(run(1), run(5));
}
