//! Hidden units that are added to a machine, and rows that end a fit.

#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use std::ops::ControlFlow;

use common::close;
use isinglass::learn::{
    HeldOut, Learner, Likelihood, NoObserver, Observer, Step, Validation, grown, hold_out, new_names, start,
};
use isinglass::likelihood::{Phases, log_likelihood};
use isinglass::topology::{self, Numbers};
use isinglass::{Enumerate, Error, Evidence, Machine, Result, Role, Sampler, Table};

/// Six columns, of which one is mostly the product of three others: no pair tells of it.
fn rows(seed: u64, count: usize) -> Table {
    let draws = Enumerate::default().draw(&topology::full(7), &Evidence::none(7), 3 * count, seed).unwrap();
    let rows = draws.cells.chunks(21).map(|cells| {
        // One of eight is turned.
        let turn = if cells[7..10] == [1, 1, 1] { -1 } else { 1 };
        [cells[0], cells[1], cells[2], cells[3], cells[4], turn * cells[0] * cells[1] * cells[2]]
    });
    Table::from_rows((0..6).map(|k| format!("v{k}")), rows).unwrap()
}

fn pairs(table: &Table) -> Machine {
    let start = topology::full(6).with_names(table.columns().iter().cloned()).unwrap();
    Likelihood::new(&Enumerate::default()).fit(&start, table).unwrap().machine
}

#[test]
fn growing_never_lowers_the_exact_likelihood_of_the_table() {
    let engine = Enumerate::default();
    let both = Phases::both(&engine);
    for seed in 0..8 {
        let table = rows(seed, 2000);
        let mut machine = pairs(&table);
        let mut value = log_likelihood(&machine, &table, both).unwrap().value;
        for count in [1, 2] {
            let begin = grown(&machine, count, &table, &engine, seed).unwrap();
            let first = log_likelihood(&begin, &table, both).unwrap().value;
            let fit = Likelihood::new(&engine).iterations(60).fit(&begin, &table).unwrap();
            let found = fit.log_likelihood.unwrap();
            assert!(found >= first && found > value, "{found} {first} {value}");
            (machine, value) = (fit.machine, found);
        }
    }
}

#[test]
fn new_units_are_joined_with_all_others_that_are_not_hidden_and_named_anew() {
    let table = rows(1, 300);
    let names = ["h1", "v1", "v2", "v3", "v4", "v5"];
    let renamed = (0..table.distinct_count()).map(|row| table.row(row).to_vec());
    let table = Table::from_rows(names, renamed).unwrap();
    let numbers = Numbers::Uniform { low: -0.3, high: 0.3 };
    let before = topology::chain(6).with_names(names).unwrap().with_numbers(&numbers, &numbers, 2).unwrap();
    let before = before.with_temperature(2.0).unwrap();
    let machine = grown(&before, 2, &table, &Enumerate::default(), 0).unwrap();
    assert_eq!(machine.names()[6..], ["_h1", "_h2"]);
    assert_eq!(machine.roles()[6..], [Role::Hidden, Role::Hidden]);
    assert_eq!((machine.graph().edges().len(), machine.temperature()), (5 + 12, 2.0));
    for (edge, &(a, b)) in machine.graph().edges().iter().enumerate() {
        if let Some(old) = before.graph().edge_between(a, b) {
            assert_eq!(machine.weights()[edge], before.weights()[old]);
        } else {
            assert!(a < 6 && b >= 6);
        }
    }
    assert_eq!(machine.biases()[..6], *before.biases());
    // Where draws tell nothing more, units begin small.
    let many = grown(&before, 60, &table, &Enumerate::default(), 0).unwrap();
    assert_eq!(many.unit_count(), 66);
    assert_eq!(new_names(&["a".into()], 2, 2), ["h3", "h4"]);
}

#[test]
fn threads_change_no_bit() {
    let table = rows(3, 500);
    let machine = pairs(&table);
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| grown(&machine, 3, &table, &Enumerate::default(), 5).unwrap())
    };
    assert_eq!(on(1), on(2));
}

/// Keeps what held-out rows are worth, computed directly.
struct Direct<'a> {
    held_out: &'a Table,
    values: Vec<f64>,
}

impl Observer for Direct<'_> {
    fn step(&mut self, _step: &Step, machine: &Machine) -> Result<ControlFlow<()>> {
        let engine = Enumerate::default();
        self.values.push(log_likelihood(machine, self.held_out, Phases::both(&engine))?.value);
        Ok(ControlFlow::Continue(()))
    }
}

#[test]
fn validation_follows_the_held_out_likelihood_and_keeps_its_best_machine() {
    let all = rows(5, 150);
    let (table, held_out) = hold_out(&all, 1).unwrap();
    assert_eq!(table.total_weight() + held_out.total_weight(), 150.0);
    let names: Vec<String> = table.columns().iter().cloned().chain(new_names(&[], 0, 5)).collect();
    let structure = topology::rbm(6, 5).unwrap().with_names(names).unwrap();
    let begin = start(&structure, &table, 2, 0).unwrap();
    let engine = Enumerate::default();
    let l2 = 1e-3;
    let mut direct = Direct { held_out: &held_out, values: Vec::new() };
    let mut watch =
        Validation::new(&engine, &begin, (&table, &held_out), (l2, 0.0), &mut direct).unwrap().spaced(3, 1);
    let fit = Likelihood::new(&engine).l2(l2).fit_with(&begin, &table, &mut watch).unwrap();
    let (seen, best) = watch.finish();
    let (best, machine) = best.unwrap();
    for seen in &seen {
        assert_eq!(seen.iteration % 3, 0);
        close(seen.held_out, direct.values[seen.iteration], 1e-9, "held-out likelihood");
        assert!(seen.held_out <= best.held_out);
    }
    let of =
        |machine: &Machine, table: &Table| log_likelihood(machine, table, Phases::both(&engine)).unwrap();
    close(best.held_out, of(&machine, &held_out).value, 1e-9, "the best machine");
    close(best.log_likelihood, of(&machine, &table).value, 1e-9, "for the table");
    // Few rows and many hidden units: the fit itself is worse for other rows.
    let last = of(&fit.machine, &held_out).value;
    assert!(best.held_out > last + 0.001 && fit.iterations() < 1000, "{} {last}", best.held_out);
    let found = HeldOut::of(&machine, &held_out, Phases::both(&engine)).unwrap();
    close(found.mean, best.held_out, 1e-9, "by rows");
    let (rise, error) = found.above(&HeldOut::of(&fit.machine, &held_out, Phases::both(&engine)).unwrap());
    close(rise, best.held_out - last, 1e-9, "difference");
    assert!(error > 0.0 && error < found.error);
}

#[test]
fn rows_without_weight_and_inputs_are_refused() {
    let table = rows(5, 50);
    let machine = pairs(&table);
    let mut weightless = Table::new(table.columns().iter().cloned()).unwrap();
    weightless.push(&[1; 6], 0.0).unwrap();
    let engine = Enumerate::default();
    let error = grown(&machine, 1, &weightless, &engine, 0).unwrap_err().to_string();
    assert!(error.contains("no weight"), "{error}");
    let mut nobody = NoObserver;
    let refused = Validation::new(&engine, &machine, (&table, &weightless), (0.0, 0.0), &mut nobody);
    assert!(refused.is_err());
    let mut roles = machine.roles().to_vec();
    roles[0] = Role::Input;
    let with_inputs = machine.with_roles(roles).unwrap();
    let refused = Validation::new(&engine, &with_inputs, (&table, &table), (0.0, 0.0), &mut nobody);
    assert!(matches!(refused.err(), Some(Error::CannotDo { .. })));
    assert_eq!(grown(&with_inputs, 2, &table, &engine, 0).unwrap().unit_count(), 8);
}
