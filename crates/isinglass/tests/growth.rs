//! Hidden units that are added to a machine, and rows that end a fit.

#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use std::ops::ControlFlow;

use common::close;
use isinglass::learn::{
    Conditioned, HeldOut, Learner, Likelihood, NoObserver, Observer, Step, Validation, grown, hold_out,
    new_names, splitting, start,
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

/// Rows of a machine with a hidden unit that is joined with all ten others, a chain among these.
fn of_two_classes(seed: u64, count: usize) -> (Machine, Table) {
    let chain = (0..9).map(|k| (k, k + 1));
    let graph = isinglass::Graph::new(11, chain.chain((0..10).map(|k| (k, 10)))).unwrap();
    let weight = |&(a, b): &(usize, usize)| if b == 10 { 0.7 } else { 0.3 + 0.1 * (a % 2) as f64 };
    let weights = graph.edges().iter().map(weight).collect();
    let mut biases = vec![-0.2; 11];
    biases[10] = -0.5;
    let truth = Machine::from_graph(graph).with_parameters(weights, biases).unwrap();
    let names: Vec<String> = (0..10).map(|k| format!("v{k}")).chain(["h".into()]).collect();
    let mut roles = vec![Role::Visible; 11];
    roles[10] = Role::Hidden;
    let truth = truth.with_names(names).unwrap().with_roles(roles).unwrap();
    let draws = Enumerate::default().draw(&truth, &Evidence::none(11), count, seed).unwrap();
    let rows = draws.cells.chunks(11).map(|cells| cells[..10].to_vec());
    let table = Table::from_rows(truth.names()[..10].iter().cloned(), rows).unwrap();
    (truth, table)
}

#[test]
fn conditionals_find_the_hidden_unit_that_drew_the_rows() {
    let engine = Enumerate::default();
    for seed in 0..4 {
        let (truth, table) = of_two_classes(seed, 3000);
        let (_, held_out) = of_two_classes(100 + seed, 3000);
        let visible = topology::full(10).with_names(table.columns().iter().cloned()).unwrap();
        let worth =
            |machine: &Machine| log_likelihood(machine, &held_out, Phases::both(&engine)).unwrap().value;
        let fits = Conditioned::new(&visible, &table, Some(&held_out)).hidden(1, 0.01);
        let found = fits.best(&[0.08, 0.04, 0.02, 0.01], &mut NoObserver).unwrap().unwrap();
        let machine = &found.machine;
        assert_eq!((machine.unit_count(), machine.names()[10].as_str()), (11, "h1"));
        assert!(machine.graph().edges().len() < 45 + 10, "the penalty drops couplings");
        // Twenty-nine parameters of the truth cost about 29 / 6000 nats.
        let best = worth(&truth);
        assert!(worth(machine) > best - 0.03, "{} {best}", worth(machine));
        // The same once more, with nobody to stop it.
        let again = Conditioned::new(&visible, &table, None).hidden(1, 0.01);
        assert_eq!(&again.again(&found, &mut NoObserver).unwrap().machine, machine);
    }
}

#[test]
fn conditionals_are_independent_of_threads_and_refuse_gaps() {
    let (_, table) = of_two_classes(1, 400);
    let (_, held_out) = of_two_classes(2, 400);
    let visible = topology::full(10).with_names(table.columns().iter().cloned()).unwrap();
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let fits = Conditioned::new(&visible, &table, Some(&held_out)).hidden(3, 0.05);
        pool.install(|| fits.best(&[0.05, 0.02], &mut NoObserver).unwrap())
    };
    assert_eq!(on(1), on(2));
    let gaps = Table::from_rows(table.columns().iter().cloned(), [[0, 1, 1, 1, 1, 1, 1, 1, 1, -1]]).unwrap();
    let refused = Conditioned::new(&visible, &gaps, None).hidden(1, 0.1).best(&[0.1], &mut NoObserver);
    assert!(matches!(refused, Err(Error::CannotDo { .. })));
}

#[test]
fn splitting_units_have_rows_on_both_sides() {
    let (_, table) = of_two_classes(3, 500);
    let visible = topology::full(10).with_names(table.columns().iter().cloned()).unwrap();
    let visible = visible.with_temperature(2.0).unwrap();
    let machine = splitting(&visible, 3, &table, 1, 0).unwrap();
    assert_ne!(machine, splitting(&visible, 3, &table, 1, 1).unwrap());
    for unit in 10..13 {
        let field = |row: &[i8]| {
            let around = machine.graph().neighbours(unit);
            let sum: f64 = around.map(|(other, edge)| machine.weights()[edge] * f64::from(row[other])).sum();
            (machine.biases()[unit] + sum) / machine.temperature()
        };
        let moment = |power: i32| {
            let of = |row: usize| table.weight(row) * field(table.row(row)).powi(power);
            (0..table.distinct_count()).map(of).sum::<f64>() / table.total_weight()
        };
        close(moment(1), 0.0, 1e-9, "mean");
        close(moment(2), 9.0, 1e-9, "variance");
    }
}
