//! Learning with approximate engines in both phases: gradients, fixed points, swings, and what is
//! kept.

#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use common::{check_gradient, close};
use isinglass::engine::{Around, VariationalSettings};
use isinglass::learn::{Factorized, InformationGain, Learner, Likelihood, Objective, Optimizer, start};
use isinglass::likelihood::Phases;
use isinglass::topology::{self, Numbers};
use isinglass::{
    Bethe, Engine, Enumerate, Evidence, LinearResponse, Machine, MeanField, Pairs, Sampler, Table, Tap, score,
};

fn engines() -> Vec<Box<dyn Engine>> {
    let settings = VariationalSettings::default().tolerance(1e-13);
    vec![Box::new(MeanField::from(settings)), Box::new(Tap::from(settings)), Box::new(Bethe::from(settings))]
}

fn responses() -> [LinearResponse; 3] {
    [Around::MeanField, Around::Tap, Around::Bethe].map(|around| LinearResponse::new().around(around))
}

/// Rows drawn from a machine with weak couplings.
fn weakly_coupled(units: usize, rows: usize, reach: f64) -> Table {
    let numbers = Numbers::Uniform { low: -reach, high: reach };
    let machine = topology::full(units).with_numbers(&numbers, &numbers, 7).unwrap();
    let draws = Enumerate::default().draw(&machine, &Evidence::none(units), rows, 1).unwrap();
    Table::from_rows(machine.names().iter().cloned(), draws.cells.chunks(units)).unwrap()
}

/// The exact average log-likelihood of a row.
fn exact_likelihood(machine: &Machine, table: &Table) -> f64 {
    let engine = Enumerate::default();
    score::score(machine, table, Phases::both(&engine)).unwrap().log_likelihood.unwrap()
}

#[test]
fn gradients_are_those_of_the_approximate_likelihood() {
    let mut table = Table::new(["v0", "v1", "v2", "v3"]).unwrap();
    for (row, weight) in
        [([1, 1, -1, 0], 1.0), ([1, 0, 1, -1], 2.0), ([-1, -1, 0, 0], 1.5), ([1, -1, 1, 1], 1.0)]
    {
        table.push(&row, weight).unwrap();
    }
    let structure = topology::two_layer(4, &topology::Links::Full, 2, &topology::Links::Chain).unwrap();
    let numbers = Numbers::Uniform { low: -0.2, high: 0.2 };
    let machine = structure.with_numbers(&numbers, &numbers, 3).unwrap();
    for engine in engines() {
        let phases = Phases { clamped: &*engine, free: &*engine };
        let gain = InformationGain::new(phases, &machine, &table, 0.01).unwrap();
        check_gradient(&gain, &gain.parameters_of(&machine), 1e-6, engine.name());
        assert!(gain.gradient_is_of_value());
    }
    for engine in responses() {
        let gain = InformationGain::new(Phases::both(&engine), &machine, &table, 0.0).unwrap();
        assert!(!gain.gradient_is_of_value());
    }
}

#[test]
fn naive_mean_field_swings_on_correlated_data_and_the_best_machine_is_kept() {
    // Kappen & Rodríguez 1997, figure 1.
    let table = Table::from_rows(["a", "b"], [[1, 1], [-1, -1]]).unwrap();
    let begin = topology::full(2).with_names(["a", "b"]).unwrap();
    let engine = MeanField::default();
    let by_momentum = |engine| {
        Likelihood::new(engine)
            .optimizer(Optimizer::Momentum)
            .rate(Some(0.1))
            .momentum(Some(0.9))
            .iterations(300)
    };
    let fit = by_momentum(&engine as &dyn Engine).fit(&begin, &table).unwrap();
    assert!(!fit.converged);
    assert!(
        fit.notes.iter().any(|note| note.to_string().starts_with("the fit oscillates: ")),
        "{:?}",
        fit.notes
    );
    assert!(fit.notes.iter().any(|note| note.to_string().contains("section 2.3")), "{:?}", fit.notes);
    // The truth has log-likelihood −ln 2; the biases swing about 0, and the best machine seen is near.
    let gap = -2f64.ln() - exact_likelihood(&fit.machine, &table);
    assert!((0.0..0.1).contains(&gap), "the machine kept is {gap} from the truth");
    assert!(fit.kept > 0 && fit.kept < fit.history.len());
    assert_eq!(fit.best().unwrap().iteration, fit.kept);
    // The exact gradient, for comparison, ends where it should.
    let exact = Enumerate::default();
    let other = by_momentum(&exact).fit(&begin, &table).unwrap();
    assert!(-2f64.ln() - exact_likelihood(&other.machine, &table) < 0.02);
    assert_eq!(other.pseudo_log_likelihood, None);
}

#[test]
fn fixed_points_of_learning_match_the_data_and_come_near_to_exact_learning() {
    let table = weakly_coupled(6, 4000, 0.25);
    let names = table.columns().to_vec();
    let begin = topology::full(6).with_names(names).unwrap();
    let exact = Enumerate::default();
    let best = Likelihood::new(&exact).fit(&begin, &table).unwrap().log_likelihood.unwrap();
    let alone = Factorized.fit(&begin, &table).unwrap().log_likelihood.unwrap();
    let mut candidates: Vec<Box<dyn Engine>> = vec![Box::new(Tap::default()), Box::new(Bethe::default())];
    candidates.extend(responses().map(|engine| Box::new(engine) as Box<dyn Engine>));
    for engine in candidates {
        let fit = Likelihood::new(&*engine).fit(&begin, &table).unwrap();
        assert!(fit.converged, "{}: {} {:?}", engine.name(), fit.stopped, fit.notes);
        let found = engine.expectations(&fit.machine, &Evidence::none(6), Pairs::Edges).unwrap();
        for ((a, b), moment) in found.correlations.iter(fit.machine.graph()) {
            let rows = 0..table.distinct_count();
            let sum: f64 = rows.map(|k| table.weight(k) * f64::from(table.row(k)[a] * table.row(k)[b])).sum();
            close(moment, sum / table.total_weight(), 1e-6, engine.name());
        }
        let share = (best - exact_likelihood(&fit.machine, &table)) / (best - alone);
        assert!((0.0..0.15).contains(&share), "{} loses {share} of what couplings gain", engine.name());
        assert!(fit.pseudo_log_likelihood.is_some());
    }
}

#[test]
fn hidden_units_and_missing_cells_are_learned_with_too() {
    let mut table = Table::new(["v0", "v1", "v2", "v3", "v4"]).unwrap();
    let complete = weakly_coupled(5, 300, 0.6);
    for k in 0..complete.distinct_count() {
        let mut row = complete.row(k).to_vec();
        if k % 3 == 0 {
            row[k % 5] = 0;
        }
        table.push(&row, complete.weight(k)).unwrap();
    }
    let structure = topology::two_layer(5, &topology::Links::Full, 2, &topology::Links::Full).unwrap();
    let begin = start(&structure, &table, 0, 0).unwrap();
    let mut candidates = engines();
    candidates.extend(responses().map(|engine| Box::new(engine) as Box<dyn Engine>));
    for engine in candidates {
        let fit = Likelihood::new(&*engine).l2(0.01).iterations(40).fit(&begin, &table).unwrap();
        let (before, after) = (exact_likelihood(&begin, &table), exact_likelihood(&fit.machine, &table));
        assert!(after > before + 0.01, "{}: {before} became {after}, {:?}", engine.name(), fit.notes);
    }
}

#[test]
fn methods_that_compare_values_refuse_a_gradient_without_one() {
    let table = weakly_coupled(3, 50, 0.3);
    let begin = topology::full(3).with_names(table.columns().to_vec()).unwrap();
    let engine = LinearResponse::default();
    for method in [Optimizer::Cg, Optimizer::Adaptive] {
        let error = Likelihood::new(&engine).optimizer(method).fit(&begin, &table).unwrap_err();
        assert!(error.to_string().contains("take L-BFGS or momentum"), "{error}");
    }
    let learner = Likelihood::new(&engine).optimizer(Optimizer::Momentum).rate(Some(0.3)).momentum(Some(0.8));
    let fit = learner.fit(&begin, &table).unwrap();
    assert!(fit.converged, "{}", fit.stopped);
}

#[test]
fn hidden_units_find_what_drives_the_visible_ones() {
    // Two hidden causes of four columns each, and no couplings among the columns: what is learned, hidden units have learned.
    let edges = (0..8).map(|column| (column, 8 + column / 4, 0.5));
    let units = (0..10).map(|k| isinglass::Unit::new(format!("u{k}"), 0.1)).collect();
    let truth = Machine::new(units, edges).unwrap();
    let draws = Enumerate::default().draw(&truth, &Evidence::none(10), 4000, 3).unwrap();
    let rows = draws.cells.chunks(10).map(|state| &state[..8]);
    let table = Table::from_rows((0..8).map(|k| format!("v{k}")), rows).unwrap();
    let begin = start(&topology::rbm(8, 2).unwrap(), &table, 0, 0).unwrap();
    let exact = Enumerate::default();
    let best = Likelihood::new(&exact).l2(0.002).iterations(150).fit(&begin, &table).unwrap();
    let before = exact_likelihood(&begin, &table);
    let gain = best.log_likelihood.unwrap() - before;
    assert!(gain > 0.01, "there is {gain} to be learned");
    for (around, least) in [(Around::MeanField, 0.5), (Around::Bethe, 0.95)] {
        let engine = LinearResponse::new().around(around);
        let learner = Likelihood::new(&engine).l2(0.002).iterations(150);
        let fit = learner.fit(&begin, &table).unwrap();
        let share = (exact_likelihood(&fit.machine, &table) - before) / gain;
        assert!(share > least, "{around:?}: {share} of what can be learned; {} {:?}", fit.stopped, fit.notes);
    }
}
