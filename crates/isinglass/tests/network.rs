//! The engines `decimate` and `eliminate` against an independent brute force, and against what must
//! hold.

#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use common::structure::{partial_tree, shuffled};
use common::{
    check_against_brute_force, check_batch_against_rows, check_derivatives, check_draws, check_joint,
    check_mode, clamped_machines, close, rows_of_evidence, without_biases,
};
use isinglass::engine::ModeFinder;
use isinglass::engine::explain_decimation;
use isinglass::topology::{self, Neighbours, Numbers};
use isinglass::{
    Budget, Decimate, Eliminate, Engine, Enumerate, Error, Evidence, Graph, Guarantee, Machine, Pairs,
    Sampler, Spin,
};
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
        let cells = rows_of_evidence(machine.unit_count(), rows, seed);
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
        let units: Vec<usize> = picks.iter().map(|pick| pick.index(machine.unit_count())).collect();
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
        let frequency: Vec<(usize, f64)> = (0..machine.unit_count()).zip(xs).collect();
        let found = Eliminate::default().characteristic(&machine, &evidence, std::slice::from_ref(&frequency)).unwrap()[0];
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
    let tree = topology::tree(13, 2);
    let tree =
        tree.with_parameters(vec![0.7; 12], (0..13).map(|k| 0.1 * f64::from(k) - 0.6).collect()).unwrap();
    check_draws(&engine, &tree, &evidence);
}

const NORMAL: Numbers = Numbers::Normal { mean: 0.0, deviation: 1.0 };
const NONE: Numbers = Numbers::Constant(0.0);

/// The answer of the tape against two other ways: decimation in plain steps, and derivatives of log
/// Z by biases through tables.
fn check_large(machine: &Machine) {
    let engine = Decimate::default();
    let n = machine.unit_count();
    let nothing = Evidence::none(n);
    let answer = engine.expectations(machine, &nothing, Pairs::Edges).unwrap();
    assert_eq!(answer.guarantee, Guarantee::Exact);
    let biased: Vec<usize> = (0..n).filter(|&unit| machine.biases()[unit] != 0.0).collect();
    let order = machine.graph().decimation_order(&biased).expect("a machine that is decimatable");
    let log_z: f64 = explain_decimation(machine, &order).unwrap().iter().map(|step| step.log_factor).sum();
    close(answer.log_z.unwrap(), log_z, 1e-12, "log Z");
    for edge in (0..machine.weights().len()).step_by(machine.weights().len() / 20) {
        let (a, b) = machine.graph().edges()[edge];
        let cumulants = engine.cumulants(machine, &nothing, &[a, b]).unwrap();
        close(answer.means[a], cumulants.get(&[0]).unwrap(), 1e-10, "mean");
        let both = cumulants.get(&[0, 1]).unwrap() + answer.means[a] * answer.means[b];
        close(answer.correlations.values[edge], both, 1e-10, "edge moment");
    }
}

#[test]
fn a_thousand_units_in_shuffled_partial_trees_are_right() {
    for seed in 0..4 {
        let three = partial_tree(1000, 3, 2 + 3 * seed, seed);
        check_large(&Machine::from_graph(three).with_numbers(&NORMAL, &NONE, seed).unwrap());
        let two = partial_tree(1000, 2, 2 + 3 * seed, seed);
        check_large(&Machine::from_graph(two).with_numbers(&NORMAL, &NORMAL, seed).unwrap());
    }
}

#[test]
fn chains_of_cubes_are_right() {
    // Two cubes share a corner; as many as make a thousand units.
    let count = 142;
    let mut edges = std::collections::BTreeSet::new();
    for cube in 0..count {
        for a in 0..8usize {
            for b in [a ^ 1, a ^ 2, a ^ 4].into_iter().filter(|&b| a < b) {
                edges.insert((7 * cube + a, 7 * cube + b));
            }
        }
    }
    let n = 7 * count + 1;
    let place = shuffled(n, 5);
    let graph = Graph::new(n, edges.into_iter().map(|(a, b)| (place[a], place[b]))).unwrap();
    check_large(&Machine::from_graph(graph).with_numbers(&NORMAL, &NONE, 3).unwrap());
}

/// Some units with a bias and some without: means come from tables where no weight to unit 0 tells
/// them.
#[test]
fn a_few_biases_in_a_wide_decimatable_machine_reach_every_mean() {
    let engine = Decimate::default();
    for seed in 0..20 {
        let graph = partial_tree(14, 3, 6, seed);
        let bias = |unit: usize| if unit == 3 { 0.7 } else { 0.0 };
        let machine = Machine::from_graph(graph).with_numbers(&NORMAL, &NONE, seed).unwrap();
        let machine =
            machine.clone().with_parameters(machine.weights().to_vec(), (0..14).map(bias).collect()).unwrap();
        if machine.graph().decimation_order(&[3]).is_some() {
            check_against_brute_force(&engine, &machine, &Evidence::none(14), 1e-11);
        }
    }
}

/// A chain by its transfer matrix, in numbers that are scaled at every step.
fn chain_log_z(machine: &Machine) -> f64 {
    let (mut down, mut up, mut log) = (1.0f64, 1.0f64, 0.0);
    for unit in 0..machine.unit_count() {
        let bias = machine.biases()[unit];
        (down, up) = (down * (-bias).exp(), up * bias.exp());
        if let Some(w) = machine.weights().get(unit) {
            (down, up) = (down * w.exp() + up * (-w).exp(), down * (-w).exp() + up * w.exp());
        }
        log += (down + up).ln();
        (down, up) = (down / (down + up), up / (down + up));
    }
    log
}

#[test]
fn chains_of_any_length_are_right() {
    for n in [1, 2, 1000, 1_000_000] {
        let machine = topology::chain(n).with_numbers(&NORMAL, &NORMAL, 1).unwrap();
        for engine in [&Decimate::default() as &dyn Engine, &Eliminate::default()] {
            let answer = engine.expectations(&machine, &Evidence::none(n), Pairs::Edges).unwrap();
            close(answer.log_z.unwrap(), chain_log_z(&machine), 1e-13, "log Z of a chain");
            assert!(answer.means.iter().chain(&answer.correlations.values).all(|x| x.abs() <= 1.0));
        }
    }
    // Without biases, each edge is by itself.
    let machine = topology::chain(1000).with_numbers(&NORMAL, &NONE, 2).unwrap();
    let answer = Decimate::default().expectations(&machine, &Evidence::none(1000), Pairs::All).unwrap();
    for (moment, w) in
        (0..999).map(|a| answer.correlations.get(machine.graph(), a, a + 1)).zip(machine.weights())
    {
        close(moment.unwrap(), w.tanh(), 1e-14, "edge moment");
    }
    let far: f64 = machine.weights()[10..14].iter().map(|w| w.tanh()).product();
    close(answer.correlations.get(machine.graph(), 10, 14).unwrap(), far, 1e-14, "moment of a distant pair");
}

#[test]
fn what_is_too_wide_for_decimation_is_refused_with_the_reason_and_answered_by_elimination() {
    let clique = topology::full(5).with_numbers(&NORMAL, &NONE, 1).unwrap();
    let grid = Graph::grid(4, 4, Neighbours::Four);
    let grid = Machine::from_graph(grid).with_numbers(&NORMAL, &NORMAL, 1).unwrap();
    for machine in [clique, grid] {
        let nothing = Evidence::none(machine.unit_count());
        let refused = Decimate::default().expectations(&machine, &nothing, Pairs::Edges).unwrap_err();
        let text = refused.to_string();
        assert!(matches!(refused, Error::CannotDo { .. }), "{text}");
        assert!(text.contains("treewidth 4 or more") && text.contains("eliminate"), "{text}");
        check_against_brute_force(&Eliminate::default(), &machine, &nothing, 1e-11);
    }
}

#[test]
fn a_tight_budget_costs_time_but_not_a_bit() {
    let grid = Graph::grid(9, 9, Neighbours::Four);
    let machine = Machine::from_graph(grid).with_numbers(&NORMAL, &NORMAL, 8).unwrap();
    let nothing = Evidence::none(81);
    let roomy = Eliminate::default();
    let whole = roomy.expectations(&machine, &nothing, Pairs::Edges).unwrap();
    let draws = roomy.draw(&machine, &nothing, 20, 3).unwrap();
    let mode = roomy.mode(&machine, &nothing).unwrap();
    let mut least = None;
    for kib in (40..200).rev().step_by(4) {
        let tight = Eliminate::new().budget(Budget(kib << 10));
        match tight.expectations(&machine, &nothing, Pairs::Edges) {
            Ok(answer) => {
                assert_eq!(answer, whole, "{kib} KiB");
                assert_eq!(tight.draw(&machine, &nothing, 20, 3).unwrap(), draws);
                assert_eq!(tight.mode(&machine, &nothing).unwrap(), mode);
                least = Some(kib);
            }
            Err(Error::OverBudget { needed, budget, .. }) => assert!(needed > u128::from(budget.0)),
            Err(other) => panic!("{other}"),
        }
    }
    // All tables of all steps with their adjoints would take more than 180 KiB.
    assert!(least.is_some_and(|kib| kib < 120), "{least:?}");
}

/// Many visible units under a few hidden ones: as many tables over the same units, of which one is
/// alive at a time.
#[test]
fn wide_restricted_machines_need_room_for_few_tables() {
    let rbm = topology::rbm(400, 12).unwrap().with_numbers(&NORMAL, &NORMAL, 4).unwrap();
    let nothing = Evidence::none(412);
    let tight = Eliminate::new().budget(Budget(4 << 20));
    let answer = tight.expectations(&rbm, &nothing, Pairs::Edges).unwrap();
    // The other way round: the visible units summed out by hand, for each state of the hidden ones.
    let logs: Vec<f64> = (0..1 << 12)
        .map(|state: usize| {
            let s = |k: usize| if state >> k & 1 == 1 { 1.0 } else { -1.0 };
            let own: f64 = (0..12).map(|k| rbm.biases()[400 + k] * s(k)).sum();
            let visible = (0..400).map(|v| {
                let pull = rbm.graph().neighbours(v).map(|(h, edge)| rbm.weights()[edge] * s(h - 400));
                let field = rbm.biases()[v] + pull.sum::<f64>();
                field.abs() + (-2.0 * field.abs()).exp().ln_1p()
            });
            own + visible.sum::<f64>()
        })
        .collect();
    close(answer.log_z.unwrap(), isinglass::numeric::stable::log_sum(&logs), 1e-12, "log Z");
    let (_, shares) = isinglass::numeric::stable::shares(&logs);
    for k in 0..12 {
        let mean: f64 =
            shares.iter().enumerate().map(|(state, p)| if state >> k & 1 == 1 { *p } else { -p }).sum();
        close(answer.means[400 + k], mean, 1e-11, "mean of a hidden unit");
    }
}

#[test]
fn budgets_hold_without_tables_too() {
    let chain = topology::chain(100_000).with_numbers(&NORMAL, &NORMAL, 1).unwrap();
    let refused =
        Decimate::new().budget(Budget(128 << 10)).expectations(&chain, &Evidence::none(100_000), Pairs::None);
    assert!(matches!(refused, Err(Error::OverBudget { needed, .. }) if needed > 5 << 20), "{refused:?}");
    let small = Decimate::new().budget(Budget(64 << 20));
    assert!(small.expectations(&chain, &Evidence::none(100_000), Pairs::None).is_ok());
    let refused = small.expectations(&chain, &Evidence::none(100_000), Pairs::All);
    assert!(matches!(refused, Err(Error::OverBudget { needed: 80_000_000_000, .. })), "{refused:?}");
    // Far beyond what any system has.
    let clique = topology::full(58).with_numbers(&NORMAL, &NORMAL, 1).unwrap();
    let boundless = Eliminate::new().budget(Budget(u64::MAX));
    assert!(boundless.expectations(&clique, &Evidence::none(58), Pairs::None).is_err());
    assert!(boundless.cumulants(&clique, &Evidence::none(58), &[0]).is_err());
    assert!(boundless.mode(&clique, &Evidence::none(58)).is_err());
}

/// A field that leaves many units of a star no choice is found in one go.
#[test]
fn pinned_leaves_of_a_large_hub_cost_little() {
    let n = 200_000;
    let star = Graph::new(n, (1..n).map(|leaf| (0, leaf))).unwrap();
    let biases = (0..n).map(|unit| if unit == 0 { 0.0 } else { 1000.0 }).collect();
    let machine = Machine::from_graph(star).with_parameters(vec![1e-6; n - 1], biases).unwrap();
    let answer = Decimate::default().expectations(&machine, &Evidence::none(n), Pairs::None).unwrap();
    close(answer.means[0], (1e-6 * (n - 1) as f64).tanh(), 1e-11, "mean of the hub");
}

#[test]
fn threads_do_not_change_a_bit() {
    let grid = Graph::grid(5, 6, Neighbours::Eight);
    let machine = Machine::from_graph(grid).with_numbers(&NORMAL, &NORMAL, 2).unwrap();
    let cells = rows_of_evidence(30, 200, 0x1234_5678_9abc_def0);
    let batch = isinglass::Batch::new(30, &cells, &vec![1.5; 200]).unwrap();
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let engine = Eliminate::default();
            let nothing = Evidence::none(30);
            (
                engine.expectations(&machine, &nothing, Pairs::All).unwrap(),
                engine.batch(&machine, &batch, isinglass::Ask { statistics: true, means: true }).unwrap(),
                engine.draw(&machine, &nothing, 700, 3).unwrap(),
                engine.joint(&machine, &nothing, &[3, 5, 16]).unwrap(),
            )
        })
    };
    let one = run(1);
    assert_eq!(one, run(2));
    assert_eq!(one, run(5));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    /// Flipping a unit's sign changes the signs of what it is in; new names for units change
    /// nothing.
    #[test]
    fn symmetric_under_relabelling_and_flipping((machine, evidence) in clamped_machines(14, 3.0), seed in any::<u64>(), flip in any::<u16>()) {
        let n = machine.unit_count();
        let engine = Eliminate::default();
        let answer = engine.expectations(&machine, &evidence, Pairs::Edges).unwrap();
        let place = shuffled(n, seed);
        let sign = |unit: usize| if flip >> unit & 1 == 1 { -1.0 } else { 1.0 };
        let mut units: Vec<Option<isinglass::Unit>> = vec![None; n];
        let mut cells = vec![0; n];
        for unit in 0..n {
            units[place[unit]] = Some(isinglass::Unit::new(machine.name(unit), sign(unit) * machine.biases()[unit]));
            cells[place[unit]] = sign(unit) as i8 * evidence.cells()[unit];
        }
        let edges = machine.graph().edges().iter().zip(machine.weights());
        let edges = edges.map(|(&(a, b), w)| (place[a], place[b], sign(a) * sign(b) * w));
        let other = Machine::new(units.into_iter().map(Option::unwrap).collect(), edges).unwrap()
            .with_temperature(machine.temperature()).unwrap()
            .with_offset(machine.offset()).unwrap();
        let found = engine.expectations(&other, &Evidence::from_cells(cells).unwrap(), Pairs::Edges).unwrap();
        close(found.log_z.unwrap(), answer.log_z.unwrap(), 1e-11, "log Z");
        for unit in 0..n {
            close(sign(unit) * found.means[place[unit]], answer.means[unit], 1e-11, "mean");
        }
        for ((a, b), moment) in answer.correlations.iter(machine.graph()) {
            let there = found.correlations.get(other.graph(), place[a], place[b]).unwrap();
            close(sign(a) * sign(b) * there, moment, 1e-11, "edge moment");
        }
    }

    /// Clamping more units never takes an engine beyond what it could do before, and rows agree
    /// with the conditional machine.
    #[test]
    fn the_conditional_machine_is_the_machine_under_evidence((machine, evidence) in clamped_machines(12, 2.0)) {
        let engine = Eliminate::default();
        let answer = engine.expectations(&machine, &evidence, Pairs::None).unwrap();
        let conditional = machine.conditional(&evidence).unwrap();
        let alone = engine.expectations(&conditional, &Evidence::none(conditional.unit_count()), Pairs::None).unwrap();
        close(answer.log_z.unwrap(), alone.log_z.unwrap(), 1e-12, "log Z");
        for (k, unit) in evidence.free().enumerate() {
            close(answer.means[unit], alone.means[k], 1e-12, "mean");
        }
    }

    /// Decimatable machines of up to 20 units with strong weights at any temperature, whatever is
    /// clamped, against enumeration.
    #[test]
    fn twenty_strongly_coupled_units_are_right(
        n in 4..=20usize,
        width in 2..=3usize,
        seed in any::<u64>(),
        temperature in 0.1..10.0f64,
        cells in proptest::collection::vec(prop_oneof![4 => Just(0i8), 1 => Just(1), 1 => Just(-1)], 20),
    ) {
        let strong = Numbers::Uniform { low: -20.0, high: 20.0 };
        // With biases everywhere, unit 0 takes one of the three neighbours.
        let biases = if width == 2 { &strong } else { &NONE };
        let machine = Machine::from_graph(partial_tree(n, width, 5, seed))
            .with_numbers(&strong, biases, seed).unwrap()
            .with_temperature(temperature).unwrap();
        let engines: [&dyn Engine; 2] = [&Decimate::default(), &Eliminate::default()];
        // Clamping turns couplings to biases, and can take a machine without any beyond decimation.
        let clamped = Evidence::from_cells(cells[..n].to_vec()).unwrap();
        let nothing = Evidence::none(n);
        for (engine, evidence) in [(engines[0], &nothing), (engines[1], &nothing), (engines[1], &clamped)] {
            let found = engine.expectations(&machine, evidence, Pairs::Edges).unwrap();
            let truth = Enumerate::default().expectations(&machine, evidence, Pairs::Edges).unwrap();
            prop_assert_eq!(found.guarantee, Guarantee::Exact);
            close(found.log_z.unwrap(), truth.log_z.unwrap(), 1e-12, "log Z");
            for (x, y) in found.means.iter().zip(&truth.means) {
                close(*x, *y, 1e-9, "mean");
            }
            for (x, y) in found.correlations.values.iter().zip(&truth.correlations.values) {
                close(*x, *y, 1e-9, "edge moment");
            }
        }
        if width == 2 {
            let found = engines[0].expectations(&machine, &clamped, Pairs::Edges).unwrap();
            let truth = Enumerate::default().expectations(&machine, &clamped, Pairs::Edges).unwrap();
            close(found.log_z.unwrap(), truth.log_z.unwrap(), 1e-12, "log Z, clamped");
        }
    }
}
