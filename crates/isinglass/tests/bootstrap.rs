//! Bootstrap intervals: how often they cover the truth, against the binomial spread of a plain
//! model, threads, the order of rows, failures.

#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

use isinglass::learn::{
    Bootstrap, Bootstrapped, Checkpoint, ContrastiveDivergence, Factorized, Fit, L1, Learner, Likelihood,
    MeanFieldCd, Observer, PseudoLikelihood, PseudoLikelihoodEm, start,
};
use isinglass::{Budget, Enumerate, Error, Evidence, Machine, Sampler, Table, topology};

fn on_and_on(_done: usize, _of: usize) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn truth() -> Machine {
    topology::full(4)
        .with_names(["a", "b", "c", "d"])
        .and_then(|m| m.with_parameters(vec![0.4, -0.3, 0.0, 0.2, 0.0, -0.5], vec![0.3, 0.0, -0.2, 0.1]))
        .unwrap()
}

fn draw(machine: &Machine, rows: usize, seed: u64) -> Table {
    let draws =
        Enumerate::default().draw(machine, &Evidence::none(machine.unit_count()), rows, seed).unwrap();
    Table::from_rows(machine.names().iter().cloned(), draws.cells.chunks(machine.unit_count())).unwrap()
}

fn zero() -> Machine {
    truth().with_parameters(vec![0.0; 6], vec![0.0; 4]).unwrap()
}

fn fitted(learner: &dyn Learner, table: &Table) -> Machine {
    learner.fit(&zero(), table).unwrap().machine
}

fn run(
    bootstrap: Bootstrap,
    learner: &(dyn Learner + Sync),
    machine: &Machine,
    table: &Table,
) -> Bootstrapped {
    let start = machine.clone();
    let start =
        start.with_parameters(vec![0.0; machine.weights().len()], vec![0.0; machine.unit_count()]).unwrap();
    bootstrap.run(learner, &start, machine, table, &on_and_on).unwrap()
}

#[test]
fn intervals_cover_the_truth_as_often_as_they_say() {
    let (truth, learner) = (truth(), PseudoLikelihood::default());
    let numbers = [truth.weights(), truth.biases()].concat();
    let tables = 80;
    let mut covered = 0;
    for seed in 0..tables {
        let table = draw(&truth, 600, seed);
        let machine = fitted(&learner, &table);
        let bootstrap = Bootstrap { resamples: 200, level: 0.9, seed, ..Bootstrap::default() };
        let found = run(bootstrap, &learner, &machine, &table);
        assert_eq!((found.resamples, found.failed, found.unconverged), (200, 0, 0));
        let intervals = found.couplings.iter().chain(&found.biases);
        covered += intervals.zip(&numbers).filter(|(i, x)| i.low <= **x && **x <= i.high).count();
    }
    // 800 intervals, ten of them from one table and so not independent: as if there were 80 to 800. Four standard deviations of the fewest would be 0.13; of the
    // most 0.04. Percentile intervals of 600 rows are short of their level by 0.01 or so.
    let share = covered as f64 / (tables * 10) as f64;
    assert!((share - 0.9).abs() < 0.05, "{share}");
}

#[test]
fn a_bias_alone_varies_as_the_binomial_distribution_says() {
    // 300 of 400 rows are up: the mean of a resample is binomial, with quantiles about 1.96 standard deviations off.
    let mut table = Table::new(["a"]).unwrap();
    table.push(&[1], 300.0).unwrap();
    table.push(&[-1], 100.0).unwrap();
    let machine = topology::full(1).with_names(["a"]).unwrap();
    let machine = Factorized.fit(&machine, &table).unwrap().machine;
    let found = run(Bootstrap { resamples: 4000, ..Bootstrap::default() }, &Factorized, &machine, &table);
    let deviation = (0.75f64 * 0.25 / 400.0).sqrt();
    for (limit, side) in [(found.biases[0].low, -1.0), (found.biases[0].high, 1.0)] {
        let share = 0.5 * (1.0 + limit.tanh());
        let expected = 0.75 + side * 1.96 * deviation;
        // A quantile of 4000 draws has a standard error of 0.04 deviations; counts are whole, 0.12 deviations apart.
        assert!((share - expected).abs() < 0.25 * deviation, "{share}, expected {expected}");
    }
    assert_eq!(found.biases[0].fitted, machine.biases()[0]);
    assert_eq!((found.biases[0].not_zero, found.biases[0].same_sign), (1.0, 1.0));
}

#[test]
fn the_same_bytes_on_any_number_of_threads_and_for_rows_in_any_order() {
    let table = draw(&truth(), 500, 3);
    let learner = PseudoLikelihood::new().l1(Some(L1::Weight(0.02)));
    let machine = fitted(&learner, &table);
    let bootstrap = Bootstrap { resamples: 60, seed: 5, ..Bootstrap::default() };
    let on = |threads: usize, table: &Table| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| run(bootstrap, &learner, &machine, table))
    };
    let first = on(1, &table);
    assert_eq!(first, on(2, &table));
    let mut turned = Table::new(table.columns().iter().cloned()).unwrap();
    for row in (0..table.distinct_count()).rev() {
        turned.push(table.row(row), table.weight(row)).unwrap();
    }
    assert_eq!(first, on(2, &turned));
    assert_ne!(first, run(Bootstrap { seed: 6, ..bootstrap }, &learner, &machine, &table));
    // With a penalty, couplings that are not there are 0 in some resamples.
    assert!(first.couplings.iter().any(|x| x.not_zero < 1.0 && x.same_sign < 1.0));
    assert!(first.couplings.iter().all(|x| x.low <= x.high && (0.0..=1.0).contains(&x.same_sign)));
}

#[test]
fn weights_that_are_not_whole_keep_their_sum_and_the_number_of_rows() {
    struct Sums;
    impl Learner for Sums {
        fn name(&self) -> &'static str {
            "sums"
        }
        fn fit_from(
            &self,
            start: &Machine,
            table: &Table,
            _from: Option<&Checkpoint>,
            observer: &mut dyn Observer,
        ) -> isinglass::Result<Fit> {
            assert!((table.total_weight() - 7.5).abs() < 1e-12);
            assert_eq!(table.row_count(), 3);
            for row in 0..table.distinct_count() {
                let count = table.weight(row) / 7.5 * 3.0;
                assert!((count - count.round()).abs() < 1e-12 && count > 0.5);
            }
            Factorized.fit_with(start, table, observer)
        }
    }
    let mut table = Table::new(["a", "b"]).unwrap();
    for (row, weight) in [([1, 1], 0.5), ([-1, 1], 4.75), ([1, -1], 2.25)] {
        table.push(&row, weight).unwrap();
    }
    let machine = topology::full(2).with_names(["a", "b"]).unwrap();
    assert_eq!(
        run(Bootstrap { resamples: 50, ..Bootstrap::default() }, &Sums, &machine, &table).resamples,
        50
    );
}

/// Fails, or does not converge, on some of the resamples.
struct Moody;

impl Learner for Moody {
    fn name(&self) -> &'static str {
        "moody"
    }

    fn fit_from(
        &self,
        start: &Machine,
        table: &Table,
        _from: Option<&Checkpoint>,
        observer: &mut dyn Observer,
    ) -> isinglass::Result<Fit> {
        let up = table.means()[0].unwrap();
        if up > 0.3 {
            return Err(Error::Numerical { method: "moody", problem: "too high".into() });
        }
        let mut fit = Factorized.fit_with(start, table, observer)?;
        fit.converged = up > 0.0;
        Ok(fit)
    }
}

#[test]
fn failures_are_counted_and_a_stop_keeps_what_is_done() {
    let table = Table::from_rows(["a"], [[1], [1], [1], [-1], [-1]]).unwrap();
    let machine = topology::full(1).with_names(["a"]).unwrap();
    let bootstrap = Bootstrap { resamples: 100, ..Bootstrap::default() };
    let found = run(bootstrap, &Moody, &machine, &table);
    assert!(found.failed > 0 && found.unconverged > 0);
    assert_eq!(found.failed + found.resamples, 100);
    assert!(
        found.notes[0].to_string().contains("too high")
            && found.notes[1].to_string().contains("not converged"),
        "{:?}",
        found.notes
    );

    let most = AtomicUsize::new(0);
    let few = |done: usize, of: usize| {
        assert_eq!(of, 100);
        most.fetch_max(done, Ordering::Relaxed);
        if done < 10 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let found = bootstrap.run(&Factorized, &machine, &machine, &table, &few).unwrap();
    assert!((5..100).contains(&found.resamples) && most.load(Ordering::Relaxed) >= 10, "{}", found.resamples);
    assert!(found.notes[0].to_string().starts_with("stopped on request after"), "{:?}", found.notes);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let table = Table::from_rows(["a"], [[1], [-1]]).unwrap();
    let machine = topology::full(1).with_names(["a"]).unwrap();
    let good = Bootstrap::default();
    let bad = [
        (Bootstrap { resamples: 0, ..good }, "resamples"),
        (Bootstrap { level: 1.0, ..good }, "level"),
        (Bootstrap { level: f64::NAN, ..good }, "level"),
        (Bootstrap { budget: Budget(1000), ..good }, "1000 resamples"),
    ];
    for (bootstrap, word) in bad {
        let message =
            bootstrap.run(&Factorized, &machine, &machine, &table, &on_and_on).unwrap_err().to_string();
        assert!(message.contains(word), "{message}");
    }
    let empty = Table::new(["a"]).unwrap();
    let message = good.run(&Factorized, &machine, &machine, &empty, &on_and_on).unwrap_err().to_string();
    assert!(message.contains("no weight"), "{message}");
    let learner = PseudoLikelihood::new().tolerance(f64::NAN);
    assert!(matches!(good.run(&learner, &machine, &machine, &table, &on_and_on), Err(Error::Setting { .. })));
}

#[test]
fn intervals_contain_what_every_learner_found() {
    let table = draw(&truth(), 300, 8);
    let engine = Enumerate::default();
    let likelihood = Likelihood::new(&engine);
    // Far from their optima, which they never come to.
    let stopped_early = PseudoLikelihood::new().iterations(2).tolerance(5e-7);
    let sampled = ContrastiveDivergence::new().iterations(5);
    let means = MeanFieldCd::new().iterations(30);
    let learners: [&(dyn Learner + Sync); 6] = [
        &likelihood,
        &PseudoLikelihood::default(),
        &stopped_early,
        &PseudoLikelihoodEm::default(),
        &sampled,
        &means,
    ];
    for learner in learners {
        let bootstrap = Bootstrap { resamples: 80, level: 0.99, seed: 1, ..Bootstrap::default() };
        let found = run(bootstrap, learner, &fitted(learner, &table), &table);
        for interval in found.couplings.iter().chain(&found.biases) {
            let holds = interval.low < interval.fitted && interval.fitted < interval.high;
            assert!(holds, "{}: {interval:?}", learner.name());
        }
    }
}

#[test]
fn couplings_without_a_finite_optimum_are_told() {
    let mut table = Table::new(["a", "b"]).unwrap();
    table.push(&[1, 1], 30.0).unwrap();
    table.push(&[-1, -1], 20.0).unwrap();
    let zero = topology::full(2).with_names(["a", "b"]).unwrap();
    let bootstrap = Bootstrap { resamples: 40, ..Bootstrap::default() };
    let note = |learner: &PseudoLikelihood| {
        let machine = learner.fit(&zero, &table).unwrap().machine;
        let found = run(bootstrap, learner, &machine, &table);
        (found.notes.iter().any(|note| note.to_string().contains("no finite optimum")), found.couplings[0])
    };
    let (is_noted, _) = note(&PseudoLikelihood::default());
    assert!(is_noted);
    let (is_noted, coupling) = note(&PseudoLikelihood::new().l2(0.01));
    assert!(!is_noted && coupling.low < coupling.high, "{coupling:?}");
}

#[test]
fn hidden_units_are_turned_as_in_the_fit() {
    let table = draw(&truth(), 300, 2);
    let machine = topology::rbm(4, 1).unwrap().with_names(["a", "b", "c", "d", "h"]).unwrap();
    let begin = start(&machine, &table, 0, 0).unwrap();
    let learner = ContrastiveDivergence::new().iterations(3).rate(0.05);
    let fit = learner.fit(&begin, &table).unwrap().machine;
    // The same machine, with its hidden unit the other way round.
    let turn = |x: &f64| -x;
    let mut biases = fit.biases().to_vec();
    biases[4] = -biases[4];
    let turned = fit.clone().with_parameters(fit.weights().iter().map(turn).collect(), biases).unwrap();
    let bootstrap = Bootstrap { resamples: 30, ..Bootstrap::default() };
    let [one, other] =
        [&fit, &turned].map(|like| bootstrap.run(&learner, &begin, like, &table, &on_and_on).unwrap());
    for (x, y) in one.couplings.iter().zip(&other.couplings).chain([(&one.biases[4], &other.biases[4])]) {
        assert!((x.low + y.high).abs() < 1e-12 && (x.high + y.low).abs() < 1e-12, "{x:?} {y:?}");
    }
    assert_eq!(one.biases[..4], other.biases[..4]);
}

#[test]
fn a_stop_comes_within_a_fit() {
    let table = draw(&truth(), 300, 2);
    let endless = ContrastiveDivergence::new().iterations(usize::MAX);
    let asked = AtomicUsize::new(0);
    let soon = |done: usize, _of: usize| {
        assert_eq!(done, 0);
        let often = asked.fetch_add(1, Ordering::Relaxed);
        if often < 5 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let error = Bootstrap::default().run(&endless, &zero(), &zero(), &table, &soon).unwrap_err().to_string();
    assert!(error.contains("stopped on request before any resample was done"), "{error}");
}
