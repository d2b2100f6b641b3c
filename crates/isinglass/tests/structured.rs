//! Structured mean field: a bound at any time, never behind mean field, exact where nothing is cut.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use common::{
    brute_force, check_against_brute_force, check_batch_against_rows, check_derivatives, clamped_machines,
    close, rows_of_evidence,
};
use isinglass::engine::auto;
use isinglass::topology::{self, Neighbours, Numbers};
use isinglass::{
    Ask, Batch, Budget, Engine, Enumerate, Error, Evidence, Graph, Guarantee, Machine, MeanField, Pairs,
    Structured,
};
use proptest::prelude::*;

fn engine(width: usize) -> Structured {
    Structured::new().width(width)
}

fn stopped(width: usize, iterations: usize) -> Structured {
    engine(width).max_sweeps(iterations)
}

fn log_z(engine: &dyn Engine, machine: &Machine, evidence: &Evidence) -> f64 {
    engine.expectations(machine, evidence, Pairs::None).unwrap().log_z.unwrap()
}

/// Fully connected, weights and biases uniform on (−1, 1).
fn dense(units: usize, seed: u64) -> Machine {
    let numbers = Numbers::Uniform { low: -1.0, high: 1.0 };
    topology::full(units).with_numbers(&numbers, &numbers, seed).unwrap()
}

/// The bounds of an engine: at most log Z, at least that of mean field.
fn check_bounds(machine: &Machine, evidence: &Evidence, width: usize) {
    let truth = brute_force(machine, evidence).log_z;
    let product = log_z(&MeanField::default(), machine, evidence);
    let room = |x: f64| 1e-10 * x.abs().max(1.0);
    for iterations in [0, 1, 2, 5, 1000] {
        let answer = stopped(width, iterations).expectations(machine, evidence, Pairs::None).unwrap();
        let bound = answer.log_z.unwrap();
        assert!(bound <= truth + room(truth), "{iterations} iterations: {bound} above {truth}");
        assert!(bound >= product - room(product), "{iterations} iterations: {bound} below {product}");
        match answer.guarantee {
            Guarantee::Exact => close(bound, truth, 1e-9, "exact log Z"),
            guarantee => assert_eq!(guarantee, Guarantee::LowerBound),
        }
        if iterations == 1000 {
            assert!(answer.diagnostics.converged, "{:?}", answer.diagnostics);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn it_is_a_bound_at_any_time_and_never_behind_mean_field(
        (machine, evidence) in clamped_machines(12, 3.0), width in 1usize..=3
    ) {
        check_bounds(&machine, &evidence, width);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn a_width_that_suffices_is_exact((machine, evidence) in clamped_machines(9, 3.0)) {
        // The machine of the free units has the structure that counts.
        let bounds = machine.conditional(&evidence).unwrap().graph().treewidth_bounds(9);
        prop_assume!(bounds.lower == bounds.upper && bounds.upper <= 3);
        let engine = engine(bounds.upper.max(1));
        let answer = engine.expectations(&machine, &evidence, Pairs::None).unwrap();
        prop_assert_eq!(answer.guarantee, Guarantee::Exact);
        check_against_brute_force(&engine, &machine, &evidence, 1e-9);
    }

    #[test]
    fn rows_of_a_batch_are_rows_alone((machine, _) in clamped_machines(8, 1.0), seed: u64, width in 1usize..=3) {
        let cells = rows_of_evidence(machine.unit_count(), 12, seed);
        check_batch_against_rows(&engine(width), &machine, &cells, 1e-13);
    }

    #[test]
    fn flipped_spins_flip_the_answer((machine, evidence) in clamped_machines(8, 1.0), unit in 0usize..8) {
        let unit = unit % machine.unit_count();
        let edges = machine.graph().edges().iter().zip(machine.weights());
        let weights = edges.map(|(&(a, b), w)| if a == unit || b == unit { -w } else { *w }).collect();
        let mut biases = machine.biases().to_vec();
        biases[unit] = -biases[unit];
        let flipped = machine.clone().with_parameters(weights, biases).unwrap();
        let mut cells = evidence.cells().to_vec();
        cells[unit] = -cells[unit];
        let turned = Evidence::from_cells(cells).unwrap();
        let both = |engine: &dyn Engine| (log_z(engine, &machine, &evidence), log_z(engine, &flipped, &turned));
        // The start of mean field is not symmetric, and may lead to another of its fixed points.
        let (there, here) = both(&MeanField::default());
        prop_assume!((there - here).abs() < 1e-12);
        let (there, here) = both(&stopped(3, 0));
        close(here, there, 1e-9, "log Z of the flipped machine");
    }
}

#[test]
fn moments_are_the_derivatives_of_the_bound() {
    for width in 1..=3 {
        for seed in 0..3 {
            let numbers = Numbers::Uniform { low: -0.4, high: 0.4 };
            let machine = topology::full(7).with_numbers(&numbers, &numbers, seed).unwrap();
            let machine = machine.with_temperature(1.3).unwrap();
            check_derivatives(&engine(width), &machine, &Evidence::none(7));
        }
    }
}

#[test]
fn the_gap_on_ten_units_is_far_below_that_of_mean_field() {
    let nothing = Evidence::none(10);
    let patient = engine(3).starts(4);
    let (mut one, mut four, mut product) = (0.0, 0.0, 0.0);
    for seed in 0..100 {
        let machine = dense(10, seed);
        let truth = log_z(&Enumerate::default(), &machine, &nothing);
        one += (truth - log_z(&engine(3), &machine, &nothing)) / 100.0;
        four += (truth - log_z(&patient, &machine, &nothing)) / 100.0;
        product += (truth - log_z(&MeanField::default(), &machine, &nothing)) / 100.0;
    }
    println!("mean gap: {one:.4} with one start, {four:.4} with four, {product:.4} of mean field");
    assert!(product > 0.6);
    assert!(one < 0.13, "{one}");
    assert!(four < 0.1, "{four}");
}

#[test]
fn wider_is_better_on_the_whole() {
    let nothing = Evidence::none(36);
    let numbers = Numbers::Uniform { low: -1.0, high: 1.0 };
    let grid = topology::grid(6, 6, Neighbours::Four);
    let grid = grid.with_numbers(&numbers, &numbers, 1).unwrap();
    let bounds = [1, 2, 3].map(|width| log_z(&engine(width), &grid, &nothing));
    assert!(bounds[0] < bounds[1] && bounds[1] < bounds[2], "{bounds:?}");
}

#[test]
fn symmetry_that_mean_field_breaks_can_stay() {
    // Without biases every mean is 0. Mean field takes a side and loses ln 2; with the ring's chain kept, nothing needs to.
    let ring = Graph::new(12, (0..12).map(|k| (k, (k + 1) % 12))).unwrap();
    let machine = Machine::from_graph(ring).with_parameters(vec![2.0; 12], vec![0.0; 12]).unwrap();
    let nothing = Evidence::none(12);
    let answer = engine(1).expectations(&machine, &nothing, Pairs::All).unwrap();
    let truth = brute_force(&machine, &nothing);
    assert!(truth.log_z - answer.log_z.unwrap() < 0.1);
    assert!(answer.means.iter().all(|m| m.abs() < 1e-6));
}

#[test]
fn all_pairs_and_edges_agree_where_couplings_are_cut_or_zero() {
    let mut weights = dense(8, 3).weights().to_vec();
    for k in [0, 5, 9, 20] {
        weights[k] = 0.0;
    }
    let machine = dense(8, 3).with_parameters(weights, vec![0.1; 8]).unwrap();
    for width in 1..=3 {
        let edges = engine(width).expectations(&machine, &Evidence::none(8), Pairs::Edges).unwrap();
        let all = engine(width).expectations(&machine, &Evidence::none(8), Pairs::All).unwrap();
        for ((a, b), value) in edges.correlations.iter(machine.graph()) {
            close(all.correlations.get(machine.graph(), a, b).unwrap(), value, 1e-13, "pair moment");
        }
        assert_eq!(edges.log_z, all.log_z);
    }
}

#[test]
fn huge_numbers_give_no_nan() {
    for scale in [30.0, 1e3, 1e8, 1e100] {
        for seed in 0..5 {
            let small = dense(7, seed);
            let times = |numbers: &[f64]| numbers.iter().map(|x| scale * x).collect::<Vec<_>>();
            let (weights, biases) = (times(small.weights()), times(small.biases()));
            let machine = small.with_parameters(weights, biases).unwrap();
            let nothing = Evidence::none(7);
            let answer = engine(2).expectations(&machine, &nothing, Pairs::All).unwrap();
            let truth = brute_force(&machine, &nothing).log_z;
            let product = log_z(&MeanField::default(), &machine, &nothing);
            let bound = answer.log_z.unwrap();
            assert!(bound <= truth + 1e-10 * truth.abs() && bound >= product - 1e-10 * product.abs());
            assert!(answer.means.iter().chain(&answer.correlations.values).all(|x| x.abs() <= 1.0 + 1e-12));
        }
    }
    let machine = dense(7, 0).with_parameters(vec![1e200; 21], vec![0.0; 7]).unwrap();
    let refused = engine(3).expectations(&machine, &Evidence::none(7), Pairs::None);
    assert!(matches!(refused, Err(Error::Numerical { .. })));
}

#[test]
fn machines_without_choices_are_exact() {
    let machine = dense(5, 0);
    let everything = Evidence::from_cells(vec![1, -1, 1, 1, -1]).unwrap();
    let answer = engine(3).expectations(&machine, &everything, Pairs::All).unwrap();
    close(answer.log_z.unwrap(), machine.log_weight(&[1, -1, 1, 1, -1]), 1e-14, "log Z");
    assert_eq!((answer.guarantee, answer.diagnostics.converged), (Guarantee::Exact, true));
    for graph in [Graph::new(1, []).unwrap(), Graph::new(4, [(0, 2)]).unwrap()] {
        let n = graph.unit_count();
        let machine = Machine::from_graph(graph);
        check_against_brute_force(&engine(1), &machine, &Evidence::none(n), 1e-12);
    }
}

#[test]
fn an_early_end_is_told() {
    let machine = dense(10, 1);
    let is_reported = |iterations| {
        let answer = stopped(3, iterations).expectations(&machine, &Evidence::none(10), Pairs::None).unwrap();
        let iteration = answer.diagnostics.iteration.unwrap();
        assert_eq!(answer.diagnostics.converged, iteration.residual <= 1e-9);
        assert!(iteration.sweeps <= iterations);
        answer.diagnostics.converged
    };
    assert!(!is_reported(0) && !is_reported(2) && is_reported(1000));
}

#[test]
fn answers_do_not_depend_on_the_number_of_threads() {
    let machine = dense(9, 2);
    let cells = rows_of_evidence(9, 40, 0x1234_5678_9abc_def1);
    let batch = Batch::new(9, &cells, &[1.0; 40]).unwrap();
    let ask = Ask { statistics: true, means: true };
    let engine = engine(2).starts(3).seed(5);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| engine.batch(&machine, &batch, ask).unwrap())
    };
    assert_eq!(on(1), on(3));
}

#[test]
fn more_starts_raise_the_bound_on_the_whole() {
    let sum = |starts: usize| -> f64 {
        let engine = engine(2).starts(starts);
        (0..10).map(|seed| log_z(&engine, &dense(9, 100 + seed), &Evidence::none(9))).sum()
    };
    let (one, six) = (sum(1), sum(6));
    assert!(six > one + 0.1, "{six} with six starts, {one} with one");
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let machine = dense(5, 0);
    let message = |engine: Structured| {
        engine.expectations(&machine, &Evidence::none(5), Pairs::None).unwrap_err().to_string()
    };
    assert_eq!(message(engine(0)), "width: found 0, expected 1, 2 or 3");
    assert_eq!(message(engine(4)), "width: found 4, expected 1, 2 or 3");
    assert_eq!(
        message(Structured::new().starts(0)),
        "starts: found 0, expected a whole number of at least 1"
    );
    assert_eq!(
        message(Structured::new().tolerance(0.0)),
        "tolerance: found 0, expected a finite number above 0"
    );
    let small = Structured::new().budget(Budget(1000));
    let refused = small.expectations(&machine, &Evidence::none(5), Pairs::None);
    assert!(matches!(refused, Err(Error::OverBudget { .. })));
    let rows = Batch::new(5, &[0; 5], &[1.0]).unwrap();
    assert!(matches!(small.batch(&machine, &rows, Ask::default()), Err(Error::OverBudget { .. })));
}

/// What the engine refuses whatever the budget is reported as such, with the other engines' offers.
#[test]
fn numbers_too_large_are_no_offer() {
    let huge = topology::full(6).with_parameters(vec![1e145; 15], vec![0.0; 6]).unwrap();
    let offers = auto::offers(&huge, &Evidence::none(6), Budget::default()).unwrap();
    let of = |name: &str| offers.iter().find(|offer| offer.engine == name).unwrap();
    assert!(!of("structured").available && of("structured").bytes.is_none() && of("enumerate").available);
}

/// States that hardly occur do not set the pace: without a limit to their logits it takes 139
/// steps, most of them tried ten times.
#[test]
fn strong_couplings_on_a_lattice_take_few_steps() {
    let (couplings, biases) =
        (Numbers::Uniform { low: -1.7, high: 1.7 }, Numbers::Uniform { low: -0.1, high: 0.1 });
    let lattice = Graph::grid(30, 30, Neighbours::Four);
    let machine = Machine::from_graph(lattice).with_numbers(&couplings, &biases, 0).unwrap();
    let answer = engine(3).expectations(&machine, &Evidence::none(900), Pairs::None).unwrap();
    assert!(answer.diagnostics.converged && answer.diagnostics.iteration.unwrap().sweeps < 100);
}
