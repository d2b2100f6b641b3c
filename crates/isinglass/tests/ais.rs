//! The engine `ais`: log Z within its own standard error, without bias, and honest about weights.

#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use common::{brute_force, check_joint, clamped_machines, close, given};
use isinglass::engine::Importance;
use isinglass::learn::{Learner, Likelihood};
use isinglass::topology::{self, Neighbours, Numbers};
use isinglass::{
    Ais, Ask, Batch, Budget, Diagnostics, Eliminate, Engine, Enumerate, Error, Evidence, Guarantee, Machine,
    MeanField, Pairs, Spin, Table,
};
use proptest::prelude::*;

fn engine(seed: u64) -> Ais {
    Ais::new().seed(seed)
}

/// A few hasty runs.
fn hasty(chains: usize, temperatures: usize, seed: u64) -> Ais {
    Ais::new().chains(chains).temperatures(temperatures.into()).seed(seed)
}

/// Fully connected, weights of a standard deviation of `strength/√n`, biases as given.
fn glass(units: usize, strength: f64, bias: f64, seed: u64) -> Machine {
    let bound = strength * (3.0 / units as f64).sqrt();
    let weights = Numbers::Uniform { low: -bound, high: bound };
    let biases = Numbers::Uniform { low: -bias, high: bias };
    topology::full(units).with_numbers(&weights, &biases, seed).unwrap()
}

/// Twenty units are few enough to enumerate and many enough to be hard.
#[test]
fn log_z_is_within_its_standard_error() {
    let mut scores = Vec::new();
    for (strength, most) in [(0.3, 0.002), (1.0, 0.005), (2.0, 0.012), (4.0, 0.025)] {
        let mut errors = 0.0;
        for seed in 0..25 {
            let machine = glass(20, strength, 0.5, seed);
            let none = Evidence::none(20);
            let truth = Enumerate::default().expectations(&machine, &none, Pairs::None).unwrap();
            let found = engine(seed).expectations(&machine, &none, Pairs::None).unwrap();
            assert_eq!(found.guarantee, Guarantee::Estimate);
            assert!(found.diagnostics.converged, "{:?}", found.diagnostics);
            let error = found.errors.unwrap().log_z.unwrap();
            errors += error / 25.0;
            scores.push((found.log_z.unwrap() - truth.log_z.unwrap()) / error);
        }
        assert!(errors < most, "strength {strength}: the mean error is {errors}");
    }
    let within = |limit: f64| scores.iter().filter(|z| z.abs() < limit).count();
    assert!(within(3.0) >= 97, "{} of 100 within three errors", within(3.0));
    assert!((55..=82).contains(&within(1.0)), "{} of 100 within one error", within(1.0));
}

/// What defines the method: the mean weight has no bias, however hasty the runs. A wrong update or
/// a wrong weight gives one.
#[test]
fn z_has_no_bias_however_bad_the_runs() {
    for (seed, temperatures, sweeps) in [(0, 1, 1), (1, 2, 1), (2, 4, 1), (3, 8, 3)] {
        let machine = glass(8, 0.8, 0.6, seed).with_temperature(0.9).unwrap();
        let truth = brute_force(&machine, &Evidence::none(8)).log_z;
        let mut ratios = Vec::new();
        for repetition in 0..300 {
            let engine = hasty(512, temperatures, repetition).sweeps(sweeps);
            let found = engine.expectations(&machine, &Evidence::none(8), Pairs::None).unwrap();
            ratios.push((found.log_z.unwrap() - truth).exp());
        }
        let n = ratios.len() as f64;
        let mean = ratios.iter().sum::<f64>() / n;
        let variance = ratios.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let error = (variance / n).sqrt();
        assert!(error < 0.02, "{temperatures} steps: too noisy to tell, {error}");
        assert!((mean - 1.0).abs() < 4.0 * error, "{temperatures} steps: Z is off by {mean} ± {error}");
    }
}

/// Of all means and pair moments: how far from the truth, in standard errors.
fn moment_scores(machine: &Machine, evidence: &Evidence, seed: u64) -> Vec<f64> {
    let truth = Enumerate::default().expectations(machine, evidence, Pairs::All).unwrap();
    let found = engine(seed).expectations(machine, evidence, Pairs::All).unwrap();
    let errors = found.errors.unwrap();
    let log_z = (found.log_z.unwrap() - truth.log_z.unwrap()) / errors.log_z.unwrap();
    assert!(log_z.abs() < 4.0, "log Z is off by {log_z} errors");
    let means = found.means.iter().zip(&truth.means).zip(&errors.means);
    let pairs = found.correlations.values.iter().zip(&truth.correlations.values).zip(&errors.correlations);
    means
        .chain(pairs)
        .filter(|((found, truth), error)| {
            // Clamped units are known; nothing else is.
            assert!(**error > 0.0 || found == truth);
            **error > 0.0
        })
        .map(|((found, truth), error)| (found - truth) / error)
        .collect()
}

#[test]
fn moments_are_within_their_standard_errors() {
    let mut all = Vec::new();
    for seed in 0..6 {
        let machine = glass(10, 1.2, 0.7, seed).with_temperature(1.4).unwrap().with_offset(-3.0).unwrap();
        all.extend(moment_scores(&machine, &Evidence::none(10), seed));
        all.extend(moment_scores(&machine, &given(10, 3, Spin::Down), seed + 100));
    }
    let lattice = topology::grid(4, 4, Neighbours::Eight)
        .with_numbers(&Numbers::Signs(0.4), &Numbers::Constant(0.2), 8)
        .unwrap();
    for seed in 1..=4 {
        all.extend(moment_scores(&lattice, &given(16, 5, Spin::Up), seed));
    }
    let mean_square = all.iter().map(|z| z * z).sum::<f64>() / all.len() as f64;
    assert!((0.75..1.3).contains(&mean_square), "mean z² is {mean_square} of {}", all.len());
    assert!(all.iter().filter(|z| z.abs() > 4.0).count() <= all.len() / 500);
}

/// Weights matter: with few steps the states alone are far off, and the weighted ones are not.
#[test]
fn moments_are_right_where_weights_are_uneven() {
    let machine = glass(8, 1.5, 0.8, 5);
    let truth = brute_force(&machine, &Evidence::none(8));
    let found = hasty(100_000, 2, 1).expectations(&machine, &Evidence::none(8), Pairs::Edges).unwrap();
    let errors = found.errors.unwrap();
    assert!(found.diagnostics.importance.unwrap().effective_samples < 50_000.0);
    for unit in 0..8 {
        let z = (found.means[unit] - truth.means[unit]) / errors.means[unit];
        assert!(z.abs() < 4.5 && errors.means[unit] < 0.01, "unit {unit}: {z}");
    }
    for (edge, ((a, b), moment)) in found.correlations.iter(machine.graph()).enumerate() {
        let z = (moment - truth.pairs[a][b]) / errors.correlations[edge];
        assert!(z.abs() < 4.5, "pair {a} {b}: {z}");
    }
}

#[test]
fn a_bad_run_says_so() {
    let machine = glass(30, 8.0, 0.5, 1);
    let bad = hasty(1024, 5, 0).expectations(&machine, &Evidence::none(30), Pairs::None).unwrap();
    let Importance { runs, temperatures, effective_samples, .. } = bad.diagnostics.importance.unwrap();
    assert_eq!((runs, temperatures), (1024, 5));
    assert!(!bad.diagnostics.converged && effective_samples < 30.0, "{effective_samples}");
    // Two valleys of equal weight are no trouble, though no chain ever crosses from one to the other.
    let two = topology::full(12).with_parameters(vec![5.0; 66], vec![0.0; 12]).unwrap();
    let found = engine(0).expectations(&two, &Evidence::none(12), Pairs::None).unwrap();
    assert!(found.diagnostics.converged);
    close(found.log_z.unwrap(), 330.0 + 2f64.ln(), 2e-4, "log Z");
    assert!(found.means.iter().zip(found.errors.unwrap().means).all(|(m, error)| m.abs() < 4.0 * error));
}

/// log Z, means, pair moments, joint states: exact where nothing is coupled.
#[test]
fn without_couplings_everything_is_exact() {
    let machine = topology::chain(4)
        .with_parameters(vec![0.0, 0.7, 0.0], vec![0.3, -30.0, 0.8, 0.0])
        .unwrap()
        .with_temperature(1.7)
        .unwrap()
        .with_offset(2.0)
        .unwrap();
    let evidence = given(4, 2, Spin::Down);
    common::check_against_brute_force(&engine(0), &machine, &evidence, 1e-13);
    let found = engine(0).expectations(&machine, &evidence, Pairs::All).unwrap();
    assert_eq!((found.guarantee, found.errors), (Guarantee::Exact, None));
    assert_eq!(found.diagnostics, Diagnostics::direct());
    let table = engine(0).joint(&machine, &evidence, &[3, 0, 1]).unwrap();
    assert_eq!((table.guarantee, &table.errors), (Guarantee::Exact, &None));
    check_joint(&table, &machine, &evidence, 1e-13);
    // Nothing free, no units at all.
    let all = Evidence::from_cells(vec![1, -1, -1, 1]).unwrap();
    common::check_against_brute_force(&engine(0), &machine, &all, 1e-13);
    let nothing = topology::full(0);
    let found = engine(0).expectations(&nothing, &Evidence::none(0), Pairs::All).unwrap();
    assert_eq!((found.log_z, found.guarantee), (Some(0.0), Guarantee::Exact));
}

/// Strong fields leave runs that are all alike: the error must still cover what single precision
/// does.
#[test]
fn equal_weights_leave_the_rounding_of_single_precision() {
    let machine = topology::grid(20, 20, Neighbours::Four)
        .with_numbers(&Numbers::Constant(0.3), &Numbers::Constant(40.0), 0)
        .unwrap();
    let truth: f64 = 760.0 * 0.3 + 400.0 * 40.0;
    let found = hasty(64, 50, 0).expectations(&machine, &Evidence::none(400), Pairs::None).unwrap();
    let error = found.errors.unwrap();
    assert!(error.log_z.unwrap() < 1e-4);
    assert!((found.log_z.unwrap() - truth).abs() <= error.log_z.unwrap());
    // No run ever saw a unit down; 64 runs do not make that certain.
    assert_eq!(found.means, vec![1.0; 400]);
    assert!(error.means.iter().all(|error| (0.01..0.1).contains(error)));
}

#[test]
fn queries_count_weighted_states() {
    let machine = glass(9, 1.2, 0.4, 4);
    let evidence = given(9, 1, Spin::Down);
    let exact = Enumerate::default().joint(&machine, &evidence, &[5, 0, 7]).unwrap();
    let found = engine(3).joint(&machine, &evidence, &[5, 0, 7]).unwrap();
    assert_eq!(found.guarantee, Guarantee::Estimate);
    close(found.probabilities.iter().sum(), 1.0, 1e-12, "sum of probabilities");
    for ((p, q), error) in found.probabilities.iter().zip(&exact.probabilities).zip(found.errors.unwrap()) {
        assert!((p - q).abs() < 4.0 * error && error < 0.03, "{p} {q} ± {error}");
    }
    let refusal = hasty(100, 10, 0).joint(&machine, &evidence, &[0, 2, 3, 4, 5, 6, 7]).unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "ais cannot tell apart the 2^7 states of 7 units: it makes only 100 runs; ask for fewer units, or take more runs or an exact engine"
    );
}

#[test]
fn batches_give_each_row_its_own_answer() {
    let machine = glass(7, 1.0, 0.5, 2).with_temperature(0.8).unwrap().with_offset(1.5).unwrap();
    let cells = [
        [0, 1, 0, 0, -1, 0, 0],
        [1, 1, 1, 1, 1, 1, 1],
        [0, -1, 0, 0, 1, 0, 0],
        [0, 0, 0, 0, 0, 0, 0],
        [0, 1, 0, 0, -1, 0, 0],
    ];
    let weights = [1.0, 2.0, 0.5, 1.0, 3.0];
    let batch = Batch::new(7, &cells.concat(), &weights).unwrap();
    let ask = Ask { statistics: true, means: true };
    let exact = Enumerate::default().batch(&machine, &batch, ask).unwrap();
    let found = engine(5).batch(&machine, &batch, ask).unwrap();
    assert_eq!(found.guarantee, Guarantee::Estimate);
    let log_z = found.log_z.unwrap();
    for (a, b) in log_z.iter().zip(exact.log_z.unwrap()) {
        assert!((a - b).abs() < 0.02, "{a} {b}");
    }
    close(log_z[1], machine.log_weight(&cells[1]), 1e-13, "a complete row is exact");
    assert_ne!(log_z[0], log_z[4], "equal rows have streams of their own");
    for (a, b) in found.means.unwrap().iter().zip(exact.means.unwrap()) {
        assert!((a - b).abs() < 0.15, "{a} {b}");
    }
    let (sums, exact) = (found.statistics.unwrap(), exact.statistics.unwrap());
    close(sums.weight, 7.5, 1e-15, "weight");
    for (a, b) in sums.edges.iter().zip(&exact.edges).chain(sums.means.iter().zip(&exact.means)) {
        assert!((a - b).abs() < 0.4, "{a} {b}");
    }
    // The first row is the same alone.
    let alone = Evidence::from_cells(cells[0].to_vec()).unwrap();
    assert_eq!(engine(5).expectations(&machine, &alone, Pairs::None).unwrap().log_z.unwrap(), log_z[0]);
}

#[test]
fn seeds_fix_results_on_any_number_of_threads() {
    let machine = topology::grid(6, 6, Neighbours::Four)
        .with_numbers(&Numbers::Signs(0.5), &Numbers::Constant(0.1), 1)
        .unwrap();
    let rows: Vec<i8> = common::rows_of_evidence(36, 20, 0x0123_4567_89ab_cdef);
    let batch = Batch::new(36, &rows, &[1.0; 20]).unwrap();
    let run = |threads: usize, seed: u64| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let engine = hasty(200, 40, seed);
        pool.install(|| {
            let single = engine.expectations(&machine, &Evidence::none(36), Pairs::Edges).unwrap();
            let rows = engine.batch(&machine, &batch, Ask { statistics: true, means: true }).unwrap();
            (single, rows)
        })
    };
    assert_eq!(run(1, 7), run(2, 7));
    assert_ne!(run(1, 7).0.log_z, run(1, 8).0.log_z);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Any graph, temperature, offset and evidence. One of a million such comparisons goes beyond
    /// five errors by chance alone.
    #[test]
    fn log_z_of_any_machine((machine, evidence) in clamped_machines(9, 0.8)) {
        let machine = if machine.temperature() < 0.7 { machine.with_temperature(0.7).unwrap() } else { machine };
        let truth = brute_force(&machine, &evidence).log_z;
        let found = hasty(512, 300, 3).expectations(&machine, &evidence, Pairs::None).unwrap();
        let off = (found.log_z.unwrap() - truth).abs();
        match found.errors {
            None => prop_assert!(off < 1e-12 * truth.abs().max(1.0), "{}", off),
            Some(errors) => prop_assert!(off < 5.0 * errors.log_z.unwrap() + 1e-6, "{} {:?}", off, errors.log_z),
        }
    }
}

/// A batch is as good as its worst row.
#[test]
fn diagnostics_keep_the_worst() {
    let importance = |effective_samples, log_z| Importance {
        runs: 64,
        temperatures: 10,
        effective_samples,
        forward_log_z: 3.0,
        forward_error: 0.03,
        reverse_runs: 64,
        reverse_log_z: 3.1,
        reverse_error: 0.1,
        log_z,
        log_z_error: 0.04,
    };
    let of =
        |converged, effective_samples| Diagnostics::weighted(converged, importance(effective_samples, 3.0));
    let both = of(true, 60.0).and(of(false, 3.0));
    assert_eq!(both, of(false, 3.0));
    assert_eq!(of(true, 60.0).and(Diagnostics::direct()), of(true, 60.0));
    // Ends that disagree are worse than few runs: here by three standard errors of the difference.
    let apart = importance(60.0, 3.151);
    assert!(!apart.ends_agree() && importance(60.0, 3.149).ends_agree() && apart.has_many_runs());
    assert!(!importance(31.0, 3.0).has_many_runs());
    // Known no better than by 32 runs of equal weight, half of all.
    assert!(!Importance { log_z_error: 0.18, ..importance(60.0, 3.0) }.ends_agree());
    let worse = of(false, 3.0).and(Diagnostics::weighted(false, apart));
    assert_eq!(worse.importance, Some(apart));
}

#[test]
fn settings_and_numbers_out_of_range_are_refused() {
    let machine = glass(5, 1.0, 0.0, 0);
    let none = Evidence::none(5);
    let refusal = |chains, temperatures, sweeps| {
        let engine = hasty(chains, temperatures, 0).sweeps(sweeps);
        engine.expectations(&machine, &none, Pairs::None).unwrap_err().to_string()
    };
    assert_eq!(refusal(1, 10, 1), "chains: found 1, expected a whole number of at least 2");
    assert_eq!(refusal(16, 0, 1), "temperatures: found 0, expected a whole number of at least 1");
    assert_eq!(refusal(16, 10, 0), "sweeps: found 0, expected a whole number of at least 1");
    let huge = topology::chain(2).with_parameters(vec![1e200], vec![0.0; 2]).unwrap();
    let refused = engine(0).expectations(&huge, &Evidence::none(2), Pairs::None);
    assert!(matches!(refused, Err(Error::Numerical { .. })));
    let engine = engine(0).budget(Budget(10_000));
    assert!(matches!(engine.expectations(&machine, &none, Pairs::None), Err(Error::OverBudget { .. })));
    let engine = engine.chains(usize::MAX);
    assert!(matches!(engine.expectations(&machine, &none, Pairs::None), Err(Error::OverBudget { .. })));
}

/// Learning follows the weighted moments, and comes near to where exact moments lead.
#[test]
fn a_machine_can_be_learned() {
    let truth = glass(4, 1.0, 0.5, 3);
    let draws = Enumerate::default();
    let draws = isinglass::Sampler::draw(&draws, &truth, &Evidence::none(4), 2000, 1).unwrap();
    let table =
        Table::from_rows(["x0", "x1", "x2", "x3"], draws.cells.as_chunks::<4>().0.iter().copied()).unwrap();
    let start = topology::full(4);
    let exact = Likelihood::new(&Enumerate::default()).fit(&start, &table).unwrap().machine;
    let engine = hasty(1024, 100, 0);
    assert!(!engine.moments_are_derivatives() && engine.has_log_z() && engine.sampler().is_none());
    let found = Likelihood::new(&engine).fit(&start, &table).unwrap().machine;
    for (a, b) in found.weights().iter().zip(exact.weights()) {
        assert!((a - b).abs() < 0.15, "{a} {b}");
    }
    // The bound of mean field stands below.
    let bound = MeanField::default().expectations(&exact, &Evidence::none(4), Pairs::None).unwrap();
    let log_z = engine.expectations(&exact, &Evidence::none(4), Pairs::None).unwrap().log_z;
    assert!(bound.log_z < log_z);
}

/// Dense and sparse machines of 12 units, weak and strong: how often two standard errors cover the
/// truth, and how far apart the ends are.
#[test]
fn errors_are_calibrated_and_ends_agree() {
    let (mut scores, mut distances) = (Vec::new(), Vec::new());
    for strength in [0.3, 1.0, 2.0] {
        let lattice = topology::grid(3, 4, Neighbours::Four);
        for seed in 0..40 {
            let machine = if seed % 2 == 0 {
                glass(12, strength, 0.5, seed)
            } else {
                let biases = Numbers::Uniform { low: -0.3, high: 0.3 };
                lattice.clone().with_numbers(&Numbers::Signs(strength), &biases, seed).unwrap()
            };
            let truth = brute_force(&machine, &Evidence::none(12)).log_z;
            let found =
                hasty(512, 200, seed).expectations(&machine, &Evidence::none(12), Pairs::None).unwrap();
            scores.push((found.log_z.unwrap() - truth) / found.errors.unwrap().log_z.unwrap());
            assert!(found.diagnostics.converged, "{:?}", found.diagnostics);
            let ends = found.diagnostics.importance.unwrap();
            let distance = ends.reverse_log_z - ends.forward_log_z;
            distances.push(distance / ends.forward_error.hypot(ends.reverse_error));
        }
    }
    for (what, scores) in [("log Z", &scores), ("the distance of the ends", &distances)] {
        let mean_square = scores.iter().map(|z| z * z).sum::<f64>() / 120.0;
        let within = scores.iter().filter(|z| z.abs() <= 2.0).count();
        // Of 120: 114.5 ± 2.3 within two errors; a mean square of 1 ± 0.13.
        assert!((108..=120).contains(&within), "{what}: {within} of 120 within two errors");
        assert!((0.65..1.4).contains(&mean_square), "{what}: mean z² is {mean_square}");
    }
}

/// A glass in which most runs to the machine end in the wrong valleys: log Z is still between the
/// ends, or covered.
#[test]
fn a_hard_glass_is_covered_or_called_so() {
    let machine = topology::grid(16, 16, Neighbours::Four)
        .with_numbers(&Numbers::Signs(2.0), &Numbers::Normal { mean: 0.0, deviation: 0.4 }, 3)
        .unwrap();
    let none = Evidence::none(256);
    let truth = Eliminate::default().expectations(&machine, &none, Pairs::None).unwrap().log_z.unwrap();
    let found = hasty(256, 250, 0).expectations(&machine, &none, Pairs::None).unwrap();
    let error = found.errors.unwrap().log_z.unwrap();
    let ends = found.diagnostics.importance.unwrap();
    assert!(!found.diagnostics.converged, "{:?}", found.diagnostics);
    assert!((found.log_z.unwrap() - truth).abs() <= 3.0 * error, "{truth}: {:?} ± {error}", found.log_z);
    assert!(ends.forward_log_z < truth && truth < ends.reverse_log_z, "{truth}: {ends:?}");
}
