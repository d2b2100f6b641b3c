//! Which couplings stay: zeros leave the graph, the rest is fitted again, screening finds it.

#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use std::ops::ControlFlow;

use common::close;
use isinglass::learn::{
    Bootstrap, Checkpoint, Fit, L1, Learner, Likelihood, NoObserver, Observer, PseudoLikelihood, Rise, Step,
};
use isinglass::topology::{self, Neighbours, Numbers};
use isinglass::{
    Budget, Eliminate, Enumerate, Error, Evidence, Graph, Machine, Note, Result, Role, Sampler, Table,
};

fn drawn(truth: &Machine, rows: usize, seed: u64) -> Table {
    let units = truth.unit_count();
    let draws = Eliminate::default().draw(truth, &Evidence::none(units), rows, seed).unwrap();
    Table::from_rows(truth.names().iter().cloned(), draws.cells.chunks(units)).unwrap()
}

fn full(truth: &Machine) -> Machine {
    let full = Machine::from_graph(Graph::full(truth.unit_count()));
    full.with_names(truth.names().iter().cloned()).unwrap()
}

fn chain(units: usize) -> Machine {
    let numbers = Numbers::Uniform { low: -0.2, high: 0.2 };
    topology::chain(units).with_numbers(&Numbers::Signs(0.8), &numbers, 3).unwrap()
}

#[test]
fn a_chain_of_sixty_is_found_as_a_chain_and_fitted_exactly() {
    let truth = chain(60);
    let table = drawn(&truth, 2000, 5);
    // With the usual γ, three of 1,711 pairs are expected to enter by chance.
    let ebic = PseudoLikelihood::new().l1(Some(L1::Ebic)).gamma(Some(2.0));
    for learner in [&ebic as &dyn Learner, &Rise::new()] {
        let found = learner.fit(&full(&truth), &table).unwrap();
        assert_eq!(found.machine.graph().edges(), truth.graph().edges(), "{}", learner.name());
        let refitted = |note: &Note| matches!(note, Note::Refitted { engine: Some(_), couplings: 59, .. });
        assert!(found.notes.iter().any(refitted), "{:?}", found.notes);
        // Exact maximum likelihood on the true graph.
        let best = Likelihood::new(&Eliminate::default()).fit(&truth, &table).unwrap();
        close(found.log_likelihood.unwrap(), best.log_likelihood.unwrap(), 1e-7, "log-likelihood");
    }
}

#[test]
fn zeros_and_what_is_below_the_least_leave_the_graph_and_the_rest_keeps_its_weight() {
    let truth = chain(8);
    let table = drawn(&truth, 300, 7);
    let start = full(&truth);
    let dense = PseudoLikelihood::new().l1(Some(L1::Weight(0.05)));
    let sparse = dense.fit(&start, &table).unwrap().machine;
    assert!(sparse.weights().len() < 28 && sparse.weights().iter().all(|&w| w != 0.0));
    let dropped = dense.least(Some(0.3)).fit(&start, &table).unwrap().machine;
    assert!(dropped.weights().len() < sparse.weights().len());
    for (&(a, b), &weight) in dropped.graph().edges().iter().zip(dropped.weights()) {
        let edge = sparse.graph().edge_between(a, b).unwrap();
        assert!(weight.abs() >= 0.3 && weight.to_bits() == sparse.weights()[edge].to_bits());
    }
    // Fitted again, couplings are no longer shrunk: those of the likelihood of the smaller graph.
    let refitted = dense.least(Some(0.3)).refit(Some(true)).fit(&start, &table).unwrap().machine;
    let best = Likelihood::new(&Enumerate::default()).fit(&dropped, &table).unwrap().machine;
    assert_eq!(refitted.graph().edges(), dropped.graph().edges());
    for (found, expected) in refitted.weights().iter().zip(best.weights()) {
        close(*found, *expected, 1e-3, "coupling");
    }
    // Without a budget for an exact engine, those of its pseudo-likelihood.
    let small = dense.least(Some(0.3)).refit(Some(true)).budget(Budget(200_000));
    let wide = topology::full(24).with_names((0..24).map(|k| format!("u{k}"))).unwrap();
    let many = Numbers::Uniform { low: -0.1, high: 0.1 };
    let rows = wide.clone().with_numbers(&many, &many, 1).unwrap();
    let draws = isinglass::Gibbs::default().draw(&rows, &Evidence::none(24), 200, 1).unwrap();
    let rows = Table::from_rows(wide.names().iter().cloned(), draws.cells.chunks(24)).unwrap();
    let notes = small.least(Some(0.0)).fit(&wide, &rows).unwrap().notes;
    assert!(notes.iter().any(|note| matches!(note, Note::Refitted { engine: None, .. })), "{notes:?}");
}

#[test]
fn refits_are_refused_without_a_selection_and_gaps_are_refused() {
    let truth = chain(4);
    let table = drawn(&truth, 50, 1);
    let error = PseudoLikelihood::new().refit(Some(true)).fit(&full(&truth), &table).unwrap_err();
    assert!(error.to_string().contains("refit"), "{error}");
    let mut gaps = Table::new(truth.names().iter().cloned()).unwrap();
    gaps.push(&[1, 0, -1, 1], 1.0).unwrap();
    assert!(matches!(Rise::new().fit(&full(&truth), &gaps), Err(Error::CannotDo { .. })));
    let over = Rise::new().budget(Budget(10)).fit(&full(&truth), &table);
    assert!(matches!(over, Err(Error::OverBudget { .. })));
}

/// Of three columns one at most is +1: unpenalised couplings have no finite optimum.
#[test]
fn couplings_that_data_do_not_bound_stay_finite() {
    let mut table = Table::new(["a", "b", "c"]).unwrap();
    for (row, weight) in [([1, -1, -1], 90.0), ([-1, 1, -1], 70.0), ([-1, -1, 1], 80.0), ([-1, -1, -1], 60.0)]
    {
        table.push(&row, weight).unwrap();
    }
    let start = topology::full(3).with_names(["a", "b", "c"]).unwrap();
    for learner in [&PseudoLikelihood::new().l1(Some(L1::Ebic)) as &dyn Learner, &Rise::new()] {
        let found = learner.fit(&start, &table).unwrap();
        let weights = found.machine.weights();
        assert!(found.converged && weights.len() == 3, "{}: {}, {weights:?}", learner.name(), found.stopped);
        assert!(weights.iter().all(|w| (-6.0..-1.0).contains(w)), "{weights:?}");
    }
}

/// The conditions of an optimum of the penalised screening objective, by the plainest loops.
#[test]
fn screening_solves_its_equations() {
    let truth = topology::sherrington_kirkpatrick(6, 0.8, 2).unwrap();
    let table = drawn(&truth, 400, 3);
    let start = full(&truth);
    let rows: Vec<Vec<f64>> = (0..table.distinct_count())
        .map(|k| table.row(k).iter().map(|&cell| f64::from(cell)).collect())
        .collect();
    for log in [false, true] {
        // Averages of two regressions solve neither: with one unit that has a regression, and
        // inputs otherwise, there is one estimate.
        let mut roles = vec![Role::Input; 6];
        roles[2] = Role::Visible;
        let star = Machine::from_graph(Graph::new(6, (0..6).filter(|&k| k != 2).map(|k| (2, k))).unwrap());
        let star = star.with_names(start.names().iter().cloned()).unwrap().with_roles(roles).unwrap();
        let penalty = 0.5;
        let learner = Rise::new().log(log).penalty(Some(penalty)).least(Some(0.0)).refit(Some(false));
        let found = learner.fit(&star, &table).unwrap();
        assert!(found.converged);
        let lambda = penalty * ((36.0f64 / 0.05).ln() / 400.0).sqrt();
        let coupling = |other: usize| {
            let edge = found.machine.graph().edge_between(2, other);
            edge.map_or(0.0, |edge| found.machine.weights()[edge])
        };
        let field = |row: &[f64]| {
            (0..6).filter(|&k| k != 2).fold(found.machine.biases()[2], |sum, k| sum + coupling(k) * row[k])
        };
        let weight = |k: usize| table.weight(k) / 400.0;
        let terms: Vec<f64> =
            rows.iter().enumerate().map(|(k, row)| weight(k) * (-row[2] * field(row)).exp()).collect();
        let sum: f64 = if log { terms.iter().sum() } else { 1.0 };
        let slope = |of: &dyn Fn(&[f64]) -> f64| -> f64 {
            rows.iter().zip(&terms).map(|(row, term)| row[2] * of(row) * term).sum::<f64>() / sum
        };
        close(slope(&|_| 1.0), 0.0, 1e-8, "bias");
        for other in (0..6).filter(|&k| k != 2) {
            let found = slope(&|row| row[other]);
            match coupling(other) {
                0.0 => assert!(found.abs() <= lambda + 1e-8, "{found} beyond {lambda}"),
                w => close(found, lambda * w.signum(), 1e-8, "coupling"),
            }
        }
    }
}

#[test]
fn strong_lattices_are_recovered_from_few_rows() {
    let mut perfect = [0; 2];
    for seed in 0..4 {
        let truth = topology::grid(5, 5, Neighbours::Four);
        let truth = truth.with_numbers(&Numbers::Signs(1.0), &Numbers::Constant(0.0), seed).unwrap();
        let table = drawn(&truth, 3000, seed + 1);
        let ebic = PseudoLikelihood::new().l1(Some(L1::Ebic)).gamma(Some(1.5));
        let learners = [&ebic as &dyn Learner, &Rise::new()];
        for (learner, count) in learners.into_iter().zip(&mut perfect) {
            let found = learner.fit(&full(&truth), &table).unwrap();
            *count += usize::from(found.machine.graph().edges() == truth.graph().edges());
        }
    }
    assert!(perfect.iter().all(|&count| count >= 3), "{perfect:?}");
}

/// Keeps the last checkpoint, and stops after some steps.
struct Last(Option<Checkpoint>, usize);

impl Observer for Last {
    fn step(&mut self, step: &Step, _: &Machine) -> Result<ControlFlow<()>> {
        Ok(if step.iteration < self.1 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    }

    fn checkpoint(&mut self, _: &Step, take: &dyn Fn() -> Result<Checkpoint>) -> Result<()> {
        self.0 = Some(take()?);
        Ok(())
    }
}

#[test]
fn a_selection_is_resumed_and_fitted_again_with_the_same_bits() {
    let truth = chain(7);
    let (table, start) = (drawn(&truth, 400, 2), full(&chain(7)));
    let learners: [&dyn Learner; 3] = [
        &PseudoLikelihood::new().l1(Some(L1::Weight(0.03))).refit(Some(true)),
        &PseudoLikelihood::new().l1(Some(L1::Ebic)),
        &Rise::new().log(true),
    ];
    for learner in learners {
        let whole: Fit = learner.fit(&start, &table).unwrap();
        let mut last = Last(None, 2);
        learner.fit_with(&start, &table, &mut last).unwrap();
        let resumed = learner.fit_from(&start, &table, last.0.as_ref(), &mut NoObserver).unwrap();
        assert_eq!(resumed, whole, "{}", learner.name());
    }
}

#[test]
fn resamples_select_anew() {
    let truth = chain(5);
    let (table, start) = (drawn(&truth, 200, 4), full(&chain(5)));
    let learner = PseudoLikelihood::new().l1(Some(L1::Ebic));
    let fit = learner.fit(&start, &table).unwrap();
    let bootstrap = Bootstrap { resamples: 40, ..Bootstrap::default() };
    let go = |_, _| ControlFlow::Continue(());
    let found = bootstrap.run(&learner, &start, &fit.machine, &table, &go).unwrap();
    assert_eq!(found.couplings.len(), fit.machine.weights().len());
    assert!(found.couplings.iter().all(|interval| interval.low <= interval.high && interval.not_zero > 0.3));
}
