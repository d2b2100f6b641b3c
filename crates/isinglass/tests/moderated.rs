//! Moderated couplings: derivatives, the fit without covariates, coverage of intervals on simulated
//! J(x) = J₀ + xB, selection.

#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

use isinglass::learn::{CovariateRows, L1, Learner, ModeratedFit, PseudoLikelihood};
use isinglass::machine::{Moderated, Moderator};
use isinglass::{Enumerate, Evidence, Machine, Sampler, Table, topology};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// A standard normal number (Box and Muller 1958).
fn normal(random: &mut ChaCha8Rng) -> f64 {
    let (u, v): (f64, f64) = (1.0 - random.random::<f64>(), random.random());
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

/// Six units whose couplings and biases change with one covariate.
fn truth(random: &mut ChaCha8Rng) -> Moderated {
    let base = topology::full(6);
    let numbers = |random: &mut ChaCha8Rng, size: f64, count: usize| -> Vec<f64> {
        (0..count).map(|_| size * normal(random)).collect()
    };
    let (weights, biases) = (numbers(random, 0.25, 15), numbers(random, 0.2, 6));
    let base = base.with_parameters(weights, biases).unwrap();
    let (weights, biases) = (numbers(random, 0.15, 15), numbers(random, 0.2, 6));
    Moderated::new(base, vec![Moderator { name: "x".into(), mean: 0.0, deviation: 1.0, weights, biases }])
        .unwrap()
}

/// Rows, each drawn exactly from the machine of its own covariate.
fn draw(truth: &Moderated, rows: usize, random: &mut ChaCha8Rng) -> (Table, Vec<f64>) {
    let mut table = Table::new(truth.base().names().iter().cloned()).unwrap();
    let mut x = Vec::new();
    for _ in 0..rows {
        let value = normal(random);
        let machine = truth.at(&[("x", value)]).unwrap();
        let seed = random.random();
        let nothing = Evidence::none(machine.unit_count());
        table.push(&Enumerate::default().draw(&machine, &nothing, 1, seed).unwrap().cells, 1.0).unwrap();
        x.push(value);
    }
    (table, x)
}

fn fit(learner: &PseudoLikelihood, table: &Table, x: &[f64]) -> ModeratedFit {
    let start = topology::full(table.columns().len()).with_names(table.columns().iter().cloned()).unwrap();
    let covariates = [("x".to_owned(), x.to_vec())];
    learner.fit_moderated(&start, &CovariateRows { table, covariates: &covariates }).unwrap()
}

/// The parameters of a moderated machine, in the order of its errors.
fn numbers(machine: &Moderated) -> Vec<f64> {
    let moderators = machine.moderators().iter();
    let changes = moderators.flat_map(|m| m.weights.iter().chain(&m.biases).copied().collect::<Vec<_>>());
    [machine.base().weights(), machine.base().biases()].concat().into_iter().chain(changes).collect()
}

/// The share of 95 % intervals that cover the truth, and the number of intervals.
fn coverage(sets: u64, rows: usize) -> (f64, usize) {
    let (mut covered, mut all) = (0, 0);
    for set in 0..sets {
        let mut random = ChaCha8Rng::seed_from_u64(set);
        let truth = truth(&mut random);
        let (table, x) = draw(&truth, rows, &mut random);
        let found = fit(&PseudoLikelihood::default(), &table, &x);
        assert!(found.converged, "set {set}");
        // The fit's covariate is standardised; the truth's is not.
        let scale = &found.machine.moderators()[0];
        let base = truth.at(&[("x", scale.mean)]).unwrap();
        let moderator = &truth.moderators()[0];
        let changes = moderator.weights.iter().chain(&moderator.biases).map(|x| x * scale.deviation);
        let expected: Vec<f64> =
            [base.weights(), base.biases()].concat().into_iter().chain(changes).collect();
        let errors = found.errors.as_ref().unwrap();
        for ((value, error), truth) in numbers(&found.machine).iter().zip(errors).zip(&expected) {
            covered += usize::from((value - truth).abs() <= 1.959_964 * error);
            all += 1;
        }
    }
    (covered as f64 / all as f64, all)
}

#[test]
fn intervals_cover_the_truth_as_often_as_they_say() {
    // 40 sets of 42 parameters: the standard error of the share is below 0.01 even if those of a set
    // are strongly dependent.
    let (share, all) = coverage(40, 1000);
    assert!((0.93..=0.97).contains(&share), "{share} of {all}");
}

/// `cargo test -p isinglass --test moderated -- --ignored --nocapture`
#[test]
#[ignore = "a measurement of some minutes"]
fn coverage_over_many_sets() {
    for (sets, rows) in [(400, 500), (400, 1000), (200, 4000)] {
        let (share, all) = coverage(sets, rows);
        println!("{rows} rows: {:.2} % of {all} intervals cover the truth", 100.0 * share);
    }
}

#[test]
fn a_covariate_without_effect_leaves_the_plain_fit() {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let plain = Moderated::new(truth(&mut random).base().clone(), Vec::new()).unwrap();
    let machine = plain.at(&[]).unwrap();
    let draws = Enumerate::default().draw(&machine, &Evidence::none(6), 800, 3).unwrap();
    let table = Table::from_rows(machine.names().iter().cloned(), draws.cells.chunks(6)).unwrap();
    // Without covariates, the objective is that of the pseudo-likelihood.
    let start = topology::full(6);
    for l2 in [0.0, 0.05] {
        let learner = PseudoLikelihood::new().l2(l2).tolerance(1e-11);
        let expected = learner.fit(&start, &table).unwrap();
        let found = learner.fit_moderated(&start, &CovariateRows { table: &table, covariates: &[] }).unwrap();
        for (a, b) in numbers(&found.machine)
            .iter()
            .zip(expected.machine.weights().iter().chain(expected.machine.biases()))
        {
            assert!((a - b).abs() < 1e-7, "{a} {b}");
        }
        assert!((found.pseudo_log_likelihood - expected.pseudo_log_likelihood.unwrap()).abs() < 1e-10);
    }
    let l1 = PseudoLikelihood::new().l1(Some(L1::Weight(0.03))).tolerance(1e-11);
    let expected = l1.fit(&start, &table).unwrap().machine;
    let found = l1.fit_moderated(&start, &CovariateRows { table: &table, covariates: &[] }).unwrap();
    assert!(found.errors.is_none());
    for (&(a, b), weight) in start.graph().edges().iter().zip(found.machine.base().weights()) {
        let other = expected.graph().edge_between(a, b).map_or(0.0, |edge| expected.weights()[edge]);
        assert!((weight - other).abs() < 1e-6, "{a} {b}: {weight} {other}");
    }
}

#[test]
fn the_optimum_is_one() {
    // By a plain sum over rows and units that shares no code: no small change raises it.
    let mut random = ChaCha8Rng::seed_from_u64(8);
    let truth = truth(&mut random);
    let (table, x) = draw(&truth, 300, &mut random);
    let found = fit(&PseudoLikelihood::default(), &table, &x);
    let scale = &found.machine.moderators()[0];
    let value = |machine: &Moderated| -> f64 {
        let mut sum = 0.0;
        for (row, &x) in x.iter().enumerate() {
            let machine: Machine = machine.at(&[("x", x)]).unwrap();
            let cells = table.row(table.distinct_of()[row] as usize);
            for unit in 0..6 {
                let pull: f64 = machine
                    .graph()
                    .neighbours(unit)
                    .map(|(other, edge)| machine.weights()[edge] * f64::from(cells[other]))
                    .sum();
                sum -= (-2.0 * f64::from(cells[unit]) * (pull + machine.biases()[unit])).exp().ln_1p();
            }
        }
        sum / x.len() as f64
    };
    let best = value(&found.machine);
    assert!((best - found.pseudo_log_likelihood).abs() < 1e-12);
    for edge in [0, 7, 14] {
        for change in [-1e-3, 1e-3] {
            let mut weights = found.machine.base().weights().to_vec();
            weights[edge] += change;
            let base =
                found.machine.base().clone().with_parameters(weights, found.machine.base().biases().to_vec());
            assert!(value(&Moderated::new(base.unwrap(), vec![scale.clone()]).unwrap()) < best);
            let mut moved = scale.clone();
            moved.weights[edge] += change;
            assert!(value(&Moderated::new(found.machine.base().clone(), vec![moved]).unwrap()) < best);
        }
    }
}

#[test]
fn selection_finds_the_coupling_that_changes() {
    // A chain of six units; the coupling of the first two changes with x.
    let mut weights = vec![0.0; 15];
    let full = topology::full(6);
    for k in 0..5 {
        weights[full.graph().edge_between(k, k + 1).unwrap()] = 0.4;
    }
    let base = full.with_parameters(weights, vec![0.0; 6]).unwrap();
    let mut change = vec![0.0; 15];
    change[0] = 0.4;
    let moderator =
        Moderator { name: "x".into(), mean: 0.0, deviation: 1.0, weights: change, biases: vec![0.0; 6] };
    let truth = Moderated::new(base, vec![moderator]).unwrap();
    let mut random = ChaCha8Rng::seed_from_u64(11);
    let (table, x) = draw(&truth, 2000, &mut random);
    let found = fit(&PseudoLikelihood::new().l1(Some(L1::Ebic)), &table, &x);
    assert!(found.converged);
    let selected = |weights: &[f64]| -> Vec<(usize, usize)> {
        let edges = found.machine.base().graph().edges().iter().zip(weights);
        edges.filter(|(_, weight)| **weight != 0.0).map(|(&edge, _)| edge).collect()
    };
    // With γ = 0.25 a coupling that is not there is selected now and then.
    let couplings = selected(found.machine.base().weights());
    assert!((0..5).all(|k| couplings.contains(&(k, k + 1))) && couplings.len() <= 6, "{couplings:?}");
    let changes = selected(&found.machine.moderators()[0].weights);
    assert!(changes.contains(&(0, 1)) && changes.len() <= 2, "{changes:?}");
    let errors = found.errors.unwrap();
    // What was not selected has no error: it is 0.
    let dropped = 30 - couplings.len() - changes.len();
    assert_eq!(errors.iter().filter(|error| error.is_nan()).count(), dropped);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let table = Table::from_rows(["x0", "x1"], [[1, 1], [-1, 1], [1, -1], [-1, -1]]).unwrap();
    let start = topology::full(2);
    let learner = PseudoLikelihood::default();
    let refused = |values: Vec<f64>| {
        let covariates = [("age".to_owned(), values)];
        let rows = CovariateRows { table: &table, covariates: &covariates };
        learner.fit_moderated(&start, &rows).unwrap_err().to_string()
    };
    assert!(refused(vec![3.0; 4]).contains("covariate 'age': is 3 in all rows"));
    assert!(refused(vec![1.0]).contains("values of a covariate"));
    assert!(refused(vec![1.0, 2.0, f64::INFINITY, 0.0]).contains("row 3, covariate 'age'"));
    assert!(refused(vec![1.0, f64::NAN, f64::NAN, f64::NAN]).contains("fewer than two rows"));
    let one = Moderated::new(start.clone(), Vec::new()).unwrap();
    assert!(one.at(&[("age", 1.0)]).unwrap_err().to_string().contains("it has none"));
}
