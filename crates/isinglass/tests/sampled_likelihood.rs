//! Maximum likelihood by sampling, and the check of fits, against exact fits.

#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

use std::ops::ControlFlow;

use isinglass::learn::{
    Checkpoint, InformationGain, Learner, Likelihood, LikelihoodSettings, NoObserver, Objective, Observer,
    SampledLikelihood, Step, Verdict, check, independent_log_likelihood, start,
};
use isinglass::likelihood::{Phases, log_likelihood};
use isinglass::topology::{self, Numbers};
use isinglass::{Enumerate, Error, Evidence, Machine, Role, Sampler, Table, Temper, Unit};

/// Rows drawn from a machine without hidden units; a cell in so many is taken out.
fn rows_of(machine: &Machine, rows: usize, missing: Option<usize>) -> Table {
    let units = machine.unit_count();
    let draws = Enumerate::default().draw(machine, &Evidence::none(units), rows, 3).unwrap();
    let mut table = Table::new(machine.names().iter().cloned()).unwrap();
    for (k, row) in draws.cells.chunks(units).enumerate() {
        let mut row = row.to_vec();
        if missing.is_some_and(|every| k % every == 0) {
            row[k % units] = 0;
        }
        table.push(&row, 1.0).unwrap();
    }
    table
}

/// A dense machine of rare events: most units are up in a few rows of a hundred.
fn rare(units: usize) -> Machine {
    let numbers = |text: &str| text.parse::<Numbers>().unwrap();
    let glass = topology::sherrington_kirkpatrick(units, 0.5, 4).unwrap();
    glass.with_biases_drawn(&numbers("normal:-1.6,0.2"), 2).unwrap()
}

fn full_start(table: &Table) -> Machine {
    let names = table.columns().to_vec();
    start(&topology::full(names.len()).with_names(names).unwrap(), table, 0, 0).unwrap()
}

/// The largest component of the exact gradient, in standard errors of the rows' moments.
fn gradient_in_errors(machine: &Machine, table: &Table) -> f64 {
    let exact = Enumerate::default();
    let gain = InformationGain::new(Phases::both(&exact), machine, table, 0.0).unwrap();
    let parameters = gain.parameters_of(machine);
    let mut gradient = vec![0.0; parameters.len()];
    gain.value_and_gradient(&parameters, &mut gradient).unwrap();
    gradient.iter().fold(0.0f64, |most, g| most.max(g.abs())) * table.total_weight().sqrt()
}

/// The sampling error is far below that of the rows: the exact gradient is within one of their
/// standard errors, and the likelihood within what one parameter in ten is worth to it.
#[test]
fn the_optimum_is_that_of_exact_moments() {
    let exact = Enumerate::default();
    for (truth, missing) in [
        (topology::sherrington_kirkpatrick(12, 0.8, 1).unwrap(), None),
        (rare(12), None),
        (topology::sherrington_kirkpatrick(8, 0.8, 2).unwrap(), Some(5)),
    ] {
        let table = rows_of(&truth, 3000, missing);
        let begin = full_start(&table);
        let found = SampledLikelihood::new(Temper::new(), &exact).fit(&begin, &table).unwrap();
        assert!(found.converged, "{}", found.stopped);
        let best = Likelihood::new(&exact).fit(&begin, &table).unwrap();
        let phases = Phases::both(&exact);
        let value = log_likelihood(&found.machine, &table, phases).unwrap().value;
        let parameters = (truth.unit_count() * (truth.unit_count() + 1) / 2) as f64;
        let lost = best.log_likelihood.unwrap() - value;
        assert!(lost < 0.1 * parameters / (2.0 * 3000.0), "{lost}");
        assert!((found.log_likelihood.unwrap() - value).abs() < 0.05);
        let largest = gradient_in_errors(&found.machine, &table);
        assert!(largest < 1.0, "{largest} standard errors");
    }
}

#[test]
fn hidden_units_and_penalties() {
    let units = (0..6).map(|k| Unit::new(format!("v{k}"), 0.1)).collect();
    let edges = [(0, 1, 0.8), (1, 2, 0.7), (3, 4, 0.9), (4, 5, -0.8), (0, 5, 0.5)];
    let table = rows_of(&Machine::new(units, edges).unwrap(), 2000, None);
    let exact = Enumerate::default();
    let begin = start(&topology::rbm(6, 2).unwrap(), &table, 1, 0).unwrap();
    let mut settings = LikelihoodSettings::default();
    settings.l2 = 0.02.into();
    let found = SampledLikelihood::new(Temper::new(), &exact).with_settings(settings);
    let found = found.fit(&begin, &table).unwrap();
    assert!(found.converged, "{}", found.stopped);
    // Not a better optimum than the exact learner's from the same start, and hardly a worse one.
    let best = Likelihood::new(&exact).l2(0.02).fit(&begin, &table).unwrap();
    let gain = InformationGain::new(Phases::both(&exact), &begin, &table, 0.02).unwrap();
    let value = gain.value(&gain.parameters_of(&found.machine)).unwrap();
    let top = best.history[best.kept].objective;
    assert!(value < top + 1e-3 && value > top - 0.02, "{value} {top}");
}

/// Stops a fit and keeps its last checkpoint.
struct StopAfter(usize, Option<Checkpoint>);

impl Observer for StopAfter {
    fn step(&mut self, step: &Step, _: &Machine) -> isinglass::Result<ControlFlow<()>> {
        Ok(if step.iteration < self.0 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    }

    fn checkpoint(
        &mut self,
        _: &Step,
        take: &dyn Fn() -> isinglass::Result<Checkpoint>,
    ) -> isinglass::Result<()> {
        self.1 = Some(take()?);
        Ok(())
    }
}

#[test]
fn fits_are_the_same_on_any_threads_and_after_a_pause() {
    let table = rows_of(&topology::sherrington_kirkpatrick(9, 1.0, 6).unwrap(), 400, None);
    let begin = full_start(&table);
    let exact = Enumerate::default();
    let learner = SampledLikelihood::new(Temper::new().seed(7), &exact);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| learner.fit(&begin, &table).unwrap())
    };
    let whole = on(1);
    assert_eq!(whole, on(3));
    for stop in [0, 3, whole.iterations() - 1] {
        let mut observer = StopAfter(stop, None);
        learner.fit_with(&begin, &table, &mut observer).unwrap();
        let resumed = learner.fit_from(&begin, &table, observer.1.as_ref(), &mut NoObserver).unwrap();
        assert_eq!(whole, resumed, "stopped after {stop}");
    }
}

#[test]
fn what_needs_exact_gradients_is_refused() {
    let table = rows_of(&topology::full(3), 50, None);
    let exact = Enumerate::default();
    let fit = |settings, begin: &Machine| {
        SampledLikelihood::new(Temper::new(), &exact).with_settings(settings).fit(begin, &table)
    };
    let begin = full_start(&table);
    let mut settings = LikelihoodSettings::default();
    settings.tolerance = 1e-9;
    assert!(matches!(fit(settings, &begin), Err(Error::Setting { .. })));
    let roles = vec![Role::Input, Role::Visible, Role::Visible];
    let inputs = begin.with_roles(roles).unwrap();
    assert!(matches!(fit(LikelihoodSettings::default(), &inputs), Err(Error::CannotDo { .. })));
    assert!(matches!(check(&inputs, &table, &exact, &exact), Err(Error::CannotDo { .. })));
}

/// The machine that drew the rows deviates by their noise alone: 1 on average. Fitted ones deviate
/// less, others more, and worse ones than independent units are called unusable.
#[test]
fn the_check_knows_noise_from_misfit() {
    let engine = Temper::new().sweeps(Some(4096)).burn_in(1024);
    let mut squares = Vec::new();
    for seed in 0..8 {
        let truth = topology::sherrington_kirkpatrick(10, 0.7, seed).unwrap();
        let table = rows_of(&truth, 2000, None);
        let found = check(&truth, &table, &engine, &engine).unwrap();
        assert_ne!(found.verdict, Verdict::Unusable);
        squares.push(found.rms * found.rms);
        let best = Likelihood::new(&Enumerate::default()).fit(&full_start(&table), &table).unwrap();
        let fitted = check(&best.machine, &table, &engine, &engine).unwrap();
        assert!(fitted.verdict == Verdict::Reproduces && fitted.rms < 0.6, "{fitted:?}");
        let likelihood = fitted.log_likelihood.unwrap();
        let off = (likelihood.value - best.log_likelihood.unwrap()).abs();
        assert!(off < 4.5 * likelihood.error.unwrap(), "{off} ± {:?}", likelihood.error);
        assert!(likelihood.value > independent_log_likelihood(&best.machine, &table).unwrap());
        let cold = best.machine.with_temperature(0.15).unwrap();
        assert_eq!(check(&cold, &table, &engine, &engine).unwrap().verdict, Verdict::Unusable);
    }
    // Moments of a table are correlated, and the mean of eight squares has an error of about 0.15.
    let mean = squares.iter().sum::<f64>() / squares.len() as f64;
    assert!((0.5..1.6).contains(&mean), "{squares:?}");
}
