//! Every optimiser and several starts, on the likelihood of small tables.

#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use std::ops::ControlFlow;
use std::sync::LazyLock;

use common::close;
use isinglass::learn::{
    Factorized, Fit, InformationGain, Learner, Likelihood, Objective, Observer, Optimizer, Restarts, Step,
};
use isinglass::likelihood::Phases;
use isinglass::topology::{self, Links};
use isinglass::{Enumerate, Evidence, Machine, Sampler, Table, learn};
use proptest::prelude::*;

static ENGINE: LazyLock<Enumerate> = LazyLock::new(|| Enumerate::new().budget(isinglass::Budget(1 << 30)));

/// Rows drawn from a glass, some cells taken out.
fn rows_of_a_glass(units: usize, rows: usize, missing: bool) -> Table {
    let glass = topology::sherrington_kirkpatrick(units, 0.8, 5).unwrap();
    let draws = ENGINE.draw(&glass, &Evidence::none(units), rows, 2).unwrap();
    let mut table = Table::new((0..units).map(|k| format!("v{k}"))).unwrap();
    for (k, row) in draws.cells.chunks(units).enumerate() {
        let mut row = row.to_vec();
        if missing && k % 7 == 0 {
            row[k % units] = 0;
        }
        table.push(&row, 1.0 + (k % 3) as f64).unwrap();
    }
    table
}

const METHODS: [Optimizer; 4] = [Optimizer::Lbfgs, Optimizer::Cg, Optimizer::Momentum, Optimizer::Adaptive];

fn fit(method: Optimizer, structure: &Machine, table: &Table, iterations: usize) -> Fit {
    fit_with(Likelihood::new(&*ENGINE).optimizer(method).iterations(iterations), structure, table)
}

fn fit_with(learner: Likelihood<'_>, structure: &Machine, table: &Table) -> Fit {
    let begin = learn::start(structure, table, 3, 0).unwrap();
    learner.l2(0.01).fit(&begin, table).unwrap()
}

#[test]
fn all_methods_agree_where_there_is_one_maximum() {
    let table = rows_of_a_glass(5, 600, false);
    let structure = topology::two_layer(5, &Links::Full, 0, &Links::None).unwrap();
    let [first, others @ ..] = METHODS.map(|method| fit(method, &structure, &table, 20_000));
    assert!(first.converged);
    for (other, method) in others.iter().zip(&METHODS[1..]) {
        assert!(other.converged, "{}: {}", method.word(), other.stopped);
        close(other.best().unwrap().objective, first.best().unwrap().objective, 1e-10, method.word());
        let pairs = other.machine.weights().iter().zip(first.machine.weights());
        for (x, y) in pairs.chain(other.machine.biases().iter().zip(first.machine.biases())) {
            close(*x, *y, 1e-5, method.word());
        }
    }
}

#[test]
fn all_methods_climb_with_hidden_units_and_missing_cells() {
    let table = rows_of_a_glass(5, 300, true);
    let structure = topology::rbm(5, 2).unwrap();
    for method in METHODS {
        let found = fit(method, &structure, &table, 20_000);
        assert!(found.converged, "{}: {}", method.word(), found.stopped);
        let last = found.best().unwrap();
        assert!(last.objective > found.history[0].objective && last.gradient_norm <= 5e-7);
        let short = fit(method, &structure, &table, 7);
        assert_eq!((short.converged, short.iterations()), (false, 7), "{}", method.word());
        let again = fit(method, &structure, &table, 7);
        assert_eq!(short.machine, again.machine, "{}: the same every time", method.word());
    }
}

#[test]
fn adaptive_steps_never_lower_the_objective() {
    let table = rows_of_a_glass(4, 60, true);
    for rate in [1e-6, 0.1, 1e6] {
        let learner =
            Likelihood::new(&*ENGINE).optimizer(Optimizer::Adaptive).rate(Some(rate)).iterations(300);
        let found = fit_with(learner, &topology::rbm(4, 2).unwrap(), &table);
        assert!(found.history.windows(2).all(|pair| pair[1].objective >= pair[0].objective), "rate {rate}");
        assert!(found.best().unwrap().gradient_norm < 1e-2, "rate {rate}: {:?}", found.best());
    }
}

#[test]
fn a_bad_rate_is_refused_by_name() {
    let table = rows_of_a_glass(2, 10, false);
    let begin = topology::two_layer(2, &Links::Full, 0, &Links::None).unwrap();
    let learner = Likelihood::new(&*ENGINE).optimizer(Optimizer::Adaptive).rate(Some(0.0)).iterations(10);
    let message = learner.fit(&begin, &table).unwrap_err().to_string();
    assert_eq!(message, "rate: found 0, expected a finite number above 0");
}

/// A penalty so strong that the rate cannot hold it: steps grow without bound.
#[test]
fn divergence_is_told_and_the_best_machine_kept() {
    let table = rows_of_a_glass(3, 50, false);
    let structure = topology::two_layer(3, &Links::Full, 0, &Links::None).unwrap();
    let begin = learn::start(&structure, &table, 0, 0).unwrap();
    let learner = Likelihood::new(&*ENGINE)
        .l2(5.0)
        .optimizer(Optimizer::Momentum)
        .rate(Some(1.0))
        .momentum(Some(0.0))
        .iterations(10_000);
    let found = learner.fit(&begin, &table).unwrap();
    assert!(!found.converged && found.stopped.to_string().starts_with("diverged"), "{}", found.stopped);
    assert!(found.log_likelihood.unwrap() >= found.history[0].objective);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn no_method_ends_below_its_start(
        cells in proptest::collection::vec(-1..=1i8, 3 * 8),
        method in proptest::sample::select(METHODS.to_vec()),
        (hidden, seed) in (0..3usize, any::<u64>()),
        iterations in 0..60usize,
    ) {
        let table = Table::from_rows(["v0", "v1", "v2"], cells.chunks(3)).unwrap();
        let structure = topology::two_layer(3, &Links::Full, hidden, &Links::None).unwrap();
        let begin = learn::start(&structure, &table, seed, 0).unwrap();
        let learner = Likelihood::new(&*ENGINE).l2(0.02).optimizer(method).iterations(iterations);
        let found = learner.fit(&begin, &table).unwrap();
        let gain = InformationGain::new(Phases::both(&*ENGINE), &begin, &table, 0.02).unwrap();
        let parameters = gain.parameters_of(&found.machine);
        let value = gain.value(&parameters).unwrap();
        prop_assert!(value >= found.history[0].objective - 1e-13, "{}", method.word());
        close(value, found.best().unwrap().objective, 1e-12, "the machine kept is the best");
        // The value alone is that which comes with the gradient.
        let mut gradient = vec![0.0; parameters.len()];
        let fused = gain.value_and_gradient(&parameters, &mut gradient).unwrap();
        close(value, fused, 1e-13, "value alone");
        let norm = gradient.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        prop_assert!(!found.converged || norm <= 5e-7 * (1.0 + 1e-6), "{}: {}", method.word(), norm);
        prop_assert_eq!(found.converged, found.stopped.to_string().starts_with("the gradient fell"));
    }
}

/// Counts starts; breaks off in the first iteration of one of them.
#[derive(Default)]
struct Starts {
    reported: Vec<(usize, usize)>,
    stop_in: Option<usize>,
}

impl Observer for Starts {
    fn step(&mut self, step: &Step, _: &Machine) -> isinglass::Result<ControlFlow<()>> {
        let here = self.reported.last().map(|start| start.0);
        let stop = self.stop_in.is_some() && here == self.stop_in && step.iteration == 1;
        Ok(if stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }

    fn restart(&mut self, restart: usize, count: usize) {
        self.reported.push((restart, count));
    }
}

fn parity() -> Table {
    Table::from_rows(["v0", "v1", "v2"], [[1i8, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]).unwrap()
}

#[test]
fn restarts_keep_the_best_and_more_of_them_are_never_worse() {
    let (table, structure) = (parity(), topology::two_layer(3, &Links::Full, 1, &Links::None).unwrap());
    let learner = Likelihood::new(&*ENGINE).l2(0.003);
    let of = |count| Restarts { count, seed: 1 }.fit(&learner, &structure, &table).unwrap();
    let ((one, of_one), (six, of_six)) = (of(1), of(6));
    let alone = learner.fit(&learn::start(&structure, &table, 1, 0).unwrap(), &table).unwrap();
    assert_eq!(one, alone, "one start is a fit from it");
    assert_eq!(of_one[0], of_six[0]);
    assert_eq!(of_six.len(), 6);
    let highest = of_six.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    assert_eq!(six.best().unwrap().objective, highest);
    assert_eq!(of_six.iter().position(|x| *x == highest), Some(Restarts::best(&of_six)));
    assert_eq!((six, of_six), of(6));
}

#[test]
fn restarts_are_reported_and_can_be_stopped() {
    let (table, structure) = (parity(), topology::rbm(3, 2).unwrap());
    let learner = Likelihood::new(&*ENGINE).l2(0.003);
    let mut all = Starts::default();
    Restarts { count: 3, seed: 0 }.fit_with(&learner, &structure, &table, &mut all).unwrap();
    assert_eq!(all.reported, [(0, 3), (1, 3), (2, 3)]);
    let mut some = Starts { stop_in: Some(1), ..Starts::default() };
    let restarts = Restarts { count: 5, seed: 0 };
    let (fit, qualities) = restarts.fit_with(&learner, &structure, &table, &mut some).unwrap();
    assert_eq!((some.reported.len(), qualities.len()), (2, 2));
    assert_eq!(fit.notes.last().unwrap().to_string(), "stopped on request in restart 2 of 5");
    // The first was finished and is better than a second that was not.
    assert!(Restarts::best(&qualities) == 0 && fit.converged);
    let message = Restarts { count: 0, seed: 0 }.fit(&learner, &structure, &table);
    assert_eq!(message.unwrap_err().to_string(), "restarts: found 0, expected at least 1");
}

#[test]
fn without_hidden_units_one_start_is_enough_and_a_note_says_so() {
    let (table, structure) = (parity(), topology::two_layer(3, &Links::Full, 0, &Links::None).unwrap());
    for learner in [&Likelihood::new(&*ENGINE) as &dyn Learner, &Factorized] {
        let mut starts = Starts::default();
        let restarts = Restarts { count: 9, seed: 0 };
        let (fit, qualities) = restarts.fit_with(learner, &structure, &table, &mut starts).unwrap();
        assert_eq!((starts.reported.as_slice(), qualities.len()), ([(0, 1)].as_slice(), 1));
        assert!(fit.notes.last().unwrap().to_string().ends_with("1 start in place of 9"));
    }
}
