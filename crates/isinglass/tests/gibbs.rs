//! The engine `gibbs`: estimates within their own standard errors, and honest about mixing.

#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use common::close;
use isinglass::topology::{self, Neighbours, Numbers};
use isinglass::{Ask, Batch, Engine, Enumerate, Evidence, Gibbs, Guarantee, Machine, Pairs, Sampler, Spin};

fn engine(seed: u64) -> Gibbs {
    Gibbs::new().seed(seed)
}

/// z-scores of all means and pair moments against exact ones: about standard normal if errors are
/// honest.
fn z_scores(machine: &Machine, evidence: &Evidence, seed: u64) -> Vec<f64> {
    let truth = Enumerate::default().expectations(machine, evidence, Pairs::All).unwrap();
    let found = engine(seed).expectations(machine, evidence, Pairs::All).unwrap();
    assert_eq!(found.guarantee, Guarantee::Estimate);
    assert_eq!(found.log_z, None);
    assert!(found.diagnostics.converged, "{:?}", found.diagnostics);
    let errors = found.errors.unwrap();
    let means = found.means.iter().zip(&truth.means).zip(&errors.means);
    let pairs = found.correlations.values.iter().zip(&truth.correlations.values).zip(&errors.correlations);
    means
        .chain(pairs)
        .filter(|(_, error)| **error > 0.0)
        .map(|((found, truth), error)| (found - truth) / error)
        .collect()
}

#[test]
fn standard_errors_are_honest() {
    let mut all = Vec::new();
    for seed in 0..6 {
        let machine = topology::full(10)
            .with_numbers(
                &Numbers::Normal { mean: 0.0, deviation: 0.4 },
                &Numbers::Normal { mean: 0.0, deviation: 0.5 },
                seed,
            )
            .unwrap()
            .with_temperature(1.3)
            .unwrap();
        all.extend(z_scores(&machine, &Evidence::none(10), seed));
        all.extend(z_scores(&machine, &common::given(10, 2, Spin::Up), seed + 100));
    }
    let mean_square = all.iter().map(|z| z * z).sum::<f64>() / all.len() as f64;
    assert!((0.7..1.4).contains(&mean_square), "mean z² is {mean_square}");
    let worst = all.iter().map(|z| z.abs()).fold(0.0, f64::max);
    assert!(worst < 5.0, "largest z is {worst} of {}", all.len());
}

#[test]
fn lattices_are_right_too() {
    let machine = topology::grid(4, 4, Neighbours::Eight)
        .with_numbers(&Numbers::Signs(0.3), &Numbers::Constant(0.2), 8)
        .unwrap();
    let scores = z_scores(&machine, &Evidence::none(16), 1);
    assert!(scores.iter().all(|z| z.abs() < 5.0));
}

#[test]
fn a_frozen_machine_is_not_called_converged() {
    // Two states of equal weight, and no way from one to the other.
    let machine =
        topology::full(12).with_numbers(&Numbers::Constant(5.0), &Numbers::Constant(0.0), 0).unwrap();
    let found = engine(0).expectations(&machine, &Evidence::none(12), Pairs::None).unwrap();
    assert!(!found.diagnostics.converged);
    assert_eq!(found.diagnostics.mixing.unwrap().r_hat, f64::INFINITY);
}

#[test]
fn queries_count_states() {
    let machine = topology::sherrington_kirkpatrick(8, 0.8, 4).unwrap();
    let evidence = common::given(8, 1, Spin::Down);
    let exact = Enumerate::default().joint(&machine, &evidence, &[5, 0, 7]).unwrap();
    let found = engine(3).joint(&machine, &evidence, &[5, 0, 7]).unwrap();
    close(found.probabilities.iter().sum(), 1.0, 1e-12, "sum of probabilities");
    for ((p, q), error) in found.probabilities.iter().zip(&exact.probabilities).zip(found.errors.unwrap()) {
        assert!((p - q).abs() < 5.0 * error, "{p} {q} ± {error}");
    }
}

#[test]
fn batches_give_each_row_its_own_answer() {
    let machine = topology::sherrington_kirkpatrick(7, 0.9, 2).unwrap();
    let cells = vec![0, 1, 0, 0, -1, 0, 0, /**/ 0, -1, 0, 0, 1, 0, 0, /**/ 1, 1, 1, 1, 1, 1, 1];
    let batch = Batch::new(7, &cells, &[1.0, 2.0, 0.5]).unwrap();
    let ask = Ask { statistics: true, means: true };
    let exact = Enumerate::default().batch(&machine, &batch, ask).unwrap();
    let found = engine(5).batch(&machine, &batch, ask).unwrap();
    for (a, b) in found.means.unwrap().iter().zip(exact.means.unwrap()) {
        assert!((a - b).abs() < 0.03, "{a} {b}");
    }
    let (found, exact) = (found.statistics.unwrap(), exact.statistics.unwrap());
    for (a, b) in found.edges.iter().zip(&exact.edges) {
        assert!((a - b).abs() < 0.06, "{a} {b}");
    }
}

#[test]
fn draws_follow_the_machine_and_the_evidence() {
    let machine = topology::sherrington_kirkpatrick(9, 0.7, 6).unwrap();
    let evidence = common::given(9, 3, Spin::Up);
    let exact = Enumerate::default().expectations(&machine, &evidence, Pairs::None).unwrap();
    let draws = engine(0).draw(&machine, &evidence, 20_001, 4).unwrap();
    assert_eq!(draws.cells.len(), 9 * 20_001);
    for unit in 0..9 {
        let sum: i32 = draws.cells.iter().skip(unit).step_by(9).map(|&s| i32::from(s)).sum();
        close(f64::from(sum) / 20_001.0, exact.means[unit], 0.04, "mean of draws");
    }
}

#[test]
fn seeds_fix_results_on_any_number_of_threads() {
    let machine = topology::grid(6, 6, Neighbours::Four)
        .with_numbers(&Numbers::Signs(0.5), &Numbers::Constant(0.1), 1)
        .unwrap();
    let run = |threads: usize, seed: u64| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| engine(seed).expectations(&machine, &Evidence::none(36), Pairs::Edges).unwrap())
    };
    assert_eq!(run(1, 7), run(2, 7));
    assert_ne!(run(1, 7).means, run(1, 8).means);
}

/// Probabilities near 0 and 1 are as likely to be missed on one side as on the other.
#[test]
fn rare_states_are_as_rare_on_both_sides() {
    let rare = |sign: f64| {
        let machine = topology::chain(1).with_parameters(vec![], vec![sign * 3.0]).unwrap();
        let engine = engine(2).samples(20_000);
        let found = engine.expectations(&machine, &Evidence::none(1), Pairs::None).unwrap();
        let truth = (sign * 3.0).tanh();
        let z = (found.means[0] - truth) / found.errors.unwrap().means[0];
        assert!(z.abs() < 4.0, "{z}");
    };
    rare(1.0);
    rare(-1.0);
    // A field that no chain ever leaves: all agree, and none claims to be certain.
    let machine = topology::chain(2).with_parameters(vec![0.0], vec![-30.0, 30.0]).unwrap();
    let found = engine(2).expectations(&machine, &Evidence::none(2), Pairs::None).unwrap();
    assert_eq!(found.means, [-1.0, 1.0]);
    assert!(found.diagnostics.converged);
    assert_eq!(found.diagnostics.mixing.unwrap().effective_samples, 32.0);
    assert!(found.errors.unwrap().means.iter().all(|error| (0.01..0.1).contains(error)));
}

/// Turning all fields turns all means.
#[test]
fn symmetric_under_flipping_within_the_errors() {
    let numbers = Numbers::Normal { mean: 0.0, deviation: 0.4 };
    let machine = topology::full(9).with_numbers(&numbers, &numbers, 4).unwrap();
    let turned = machine.biases().iter().map(|b| -b).collect();
    let turned = machine.clone().with_parameters(machine.weights().to_vec(), turned).unwrap();
    let [one, two] = [(&machine, 1), (&turned, 2)]
        .map(|(machine, seed)| engine(seed).expectations(machine, &Evidence::none(9), Pairs::None).unwrap());
    for unit in 0..9 {
        let error = one.errors.as_ref().unwrap().means[unit].hypot(two.errors.as_ref().unwrap().means[unit]);
        assert!((one.means[unit] + two.means[unit]).abs() < 5.0 * error);
    }
}

#[test]
fn a_batch_is_converged_only_if_every_row_is() {
    // With x0 up the others are free of it and mix; with x0 down they stick together in one of two states.
    let edges = [(0, 1, -2.0), (0, 2, -2.0), (1, 2, 2.0)];
    let units = ["a", "b", "c"].map(|name| isinglass::Unit::new(name, 0.0)).to_vec();
    let machine = Machine::new(units, edges).unwrap();
    let mixing = Batch::new(3, &[0, 1, -1, 0, 1, 1], &[1.0, 1.0]).unwrap();
    let ask = Ask { statistics: false, means: true };
    let good = engine(0).batch(&machine, &mixing, ask).unwrap().diagnostics;
    let stuck = topology::full(3).with_parameters(vec![9.0; 3], vec![0.0; 3]).unwrap();
    let rows = Batch::new(3, &[1, 0, 0, 0, 0, 0], &[1.0, 1.0]).unwrap();
    let bad = engine(0).batch(&stuck, &rows, ask).unwrap().diagnostics;
    assert!(good.converged && !bad.converged);
    let both = good.and(bad.clone());
    assert!(!both.converged);
    assert_eq!(both.mixing.unwrap().r_hat, bad.mixing.unwrap().r_hat);
}

#[test]
fn numbers_beyond_single_precision_are_refused() {
    let machine = topology::chain(2).with_parameters(vec![1e200], vec![0.0; 2]).unwrap();
    let refusal = engine(0).expectations(&machine, &Evidence::none(2), Pairs::None).unwrap_err();
    assert!(refusal.to_string().starts_with("gibbs: weights and biases"), "{refusal}");
}

#[test]
fn chains_that_stick_cost_no_more_than_others() {
    // Long runs of a bimodal machine: every lag is correlated. The time must stay far below quadratic.
    let machine = topology::full(6).with_parameters(vec![0.45; 15], vec![0.0; 6]).unwrap();
    let engine = engine(1).samples(200_000);
    let began = std::time::Instant::now();
    let found = engine.expectations(&machine, &Evidence::none(6), Pairs::All).unwrap();
    assert!(began.elapsed().as_secs() < 30, "{:?}", began.elapsed());
    assert!(found.means.iter().zip(&found.errors.unwrap().means).all(|(m, error)| m.abs() < 5.0 * error));
}

#[test]
fn memory_is_estimated_before_it_is_taken() {
    let machine = topology::chain(1000);
    let engine = engine(0).samples(10_000_000);
    let refusal = engine.expectations(&machine, &Evidence::none(1000), Pairs::None).unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "gibbs: keeping 10000000 states of 1000 units in 32 chains needs 37.3 GiB, and the budget is 1 GiB"
    );
    let refusal = engine.samples(2).expectations(&machine, &Evidence::none(1000), Pairs::None).unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "samples: found 2, expected a whole number of at least 4, so that chains can be compared"
    );
}
