//! Rows of a table, each with its own free units: the likelihood of each of them, and engines that
//! serve them all.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use common::{brute_force, close};
use isinglass::engine::Open;
use isinglass::engine::auto::{Choice, choose_for_rows};
use isinglass::likelihood::{Phases, TwoPhase, log_likelihoods};
use isinglass::score::score;
use isinglass::topology::{self, Numbers};
use isinglass::{
    Ais, Bethe, Budget, Decimate, Eliminate, Engine, Enumerate, Error, Evidence, Gibbs, Graph, Guarantee,
    Machine, MeanField, Role, Structured, Table, Trw,
};
use proptest::prelude::*;

/// Five columns, the first two inputs if so asked, and two hidden units; all coupled.
fn machine(with_inputs: bool, seed: u64) -> Machine {
    let roles = (0..7).map(|unit| match unit {
        0 | 1 if with_inputs => Role::Input,
        5 | 6 => Role::Hidden,
        _ => Role::Visible,
    });
    let numbers = Numbers::Uniform { low: -0.7, high: 0.7 };
    topology::full(7)
        .with_roles(roles.collect())
        .and_then(|machine| machine.with_numbers(&numbers, &numbers, seed))
        .and_then(|machine| machine.with_temperature(1.4)?.with_offset(3.0))
        .unwrap()
}

fn table(rows: &[[i8; 5]], weights: &[f64]) -> Table {
    let mut table = Table::new(["x0", "x1", "x2", "x3", "x4"]).unwrap();
    for (row, &weight) in rows.iter().zip(weights) {
        table.push(row, weight).unwrap();
    }
    table
}

/// Some cells missing.
fn rows_and_weights() -> impl Strategy<Value = (Vec<[i8; 5]>, Vec<f64>)> {
    let row = prop::array::uniform5(prop_oneof![3 => Just(1i8), 3 => Just(-1), 2 => Just(0)]);
    prop::collection::vec((row, 0.1f64..3.0), 1..12).prop_map(|rows| rows.into_iter().unzip())
}

proptest! {
    #[test]
    fn each_row_has_the_likelihood_of_a_plain_loop(
        (rows, weights) in rows_and_weights(),
        with_inputs: bool,
        seed in 0u64..1000,
    ) {
        let machine = machine(with_inputs, seed);
        let table = table(&rows, &weights);
        let engine = Eliminate::default();
        let phases = Phases::both(&engine);
        let found = log_likelihoods(&machine, &table, phases).unwrap();
        prop_assert_eq!((found.guarantee, &found.errors), (Guarantee::Exact, &None));
        for (distinct, &value) in found.values.iter().enumerate() {
            let mut cells = table.row(distinct).to_vec();
            cells.extend([0, 0]);
            let given = |(unit, &cell): (usize, &i8)| if with_inputs && unit < 2 { cell } else { 0 };
            let inputs = cells.iter().enumerate().map(given).collect();
            let log_z = |cells| brute_force(&machine, &Evidence::from_cells(cells).unwrap()).log_z;
            let expected = log_z(cells.clone()) - log_z(inputs);
            close(value, expected, 1e-10, "log-likelihood of a row");
        }
        let whole = score(&machine, &table, phases).unwrap().log_likelihood.unwrap();
        let sum: f64 = (0..table.distinct_count()).map(|row| table.weight(row) * found.values[row]).sum();
        close(sum / table.total_weight(), whole, 1e-10, "their average");
    }
}

#[test]
fn likelihoods_of_rows_are_worth_what_their_average_is() {
    let (machine, rows) = (machine(true, 3), [[1, 1, 0, -1, 1], [-1, 1, 1, 1, -1], [0, -1, 0, 1, 1]]);
    let table = table(&rows, &[1.0, 2.0, 0.5]);
    let exact = Enumerate::default();
    let ais = Ais::new().chains(64).temperatures(40.into());
    let mean_field = MeanField::new();
    let pairs: [(&dyn Engine, &dyn Engine); 7] = [
        (&exact, &ais),
        (&ais, &ais),
        (&mean_field, &exact),
        (&exact, &mean_field),
        (&mean_field, &Trw::default()),
        (&Structured::default(), &Bethe::default()),
        (&Decimate::default(), &exact),
    ];
    for (clamped, free) in pairs {
        let phases = Phases { clamped, free };
        let names = (clamped.name(), free.name());
        let (rows, whole) = match (log_likelihoods(&machine, &table, phases), score(&machine, &table, phases))
        {
            (Ok(rows), Ok(whole)) => (rows, whole),
            // Too wide for decimation, and both say so.
            (Err(_), Ok(whole)) => {
                assert!(whole.log_likelihood.is_none(), "{names:?}");
                continue;
            }
            other => panic!("{names:?}: {other:?}"),
        };
        let sum: f64 = (0..3).map(|row| table.weight(row) * rows.values[row]).sum();
        close(sum / 3.5, whole.log_likelihood.unwrap(), 1e-9, "average");
        assert_eq!(rows.errors.is_some(), whole.log_likelihood_error.is_some(), "{names:?}");
        assert!(rows.errors.iter().flatten().all(|error| *error > 0.0), "{names:?}");
        let expected = match names {
            ("enumerate", "ais") | ("ais", _) => Guarantee::Estimate,
            ("mean-field", "enumerate" | "trw") => Guarantee::LowerBound,
            ("enumerate", "mean-field") => Guarantee::UpperBound,
            _ => Guarantee::Approximation,
        };
        assert_eq!(rows.guarantee, expected, "{names:?}");
    }
    let phases = Phases { clamped: &exact, free: &Gibbs::default() };
    assert!(matches!(log_likelihoods(&machine, &table, phases), Err(Error::CannotDo { who: "gibbs", .. })));
}

/// Inputs that are joined with an output each, or with all of them.
#[derive(Clone, Copy)]
enum Inputs {
    Pendant,
    Dense(usize),
}

/// Outputs, two groups of inputs, and two rows: each misses the inputs of one group.
fn groups_and_rows(outputs: usize, groups: [Inputs; 2]) -> (Machine, Table) {
    let (mut edges, mut ends, mut next) = (Vec::new(), Vec::new(), outputs);
    for group in groups {
        match group {
            Inputs::Pendant => edges.extend((0..outputs).map(|k| (k, next + k))),
            Inputs::Dense(count) => {
                edges.extend((0..count).flat_map(|d| (0..outputs).map(move |k| (k, next + d))));
            }
        }
        let count = if let Inputs::Dense(count) = group { count } else { outputs };
        ends.push(next..next + count);
        next += count;
    }
    let mut roles = vec![Role::Visible; outputs];
    roles.resize(next, Role::Input);
    let machine = Machine::from_graph(Graph::new(next, edges).unwrap()).with_roles(roles).unwrap();
    let rows: Vec<Vec<i8>> = ends
        .iter()
        .map(|missing| (0..next).map(|unit| i8::from(!missing.contains(&unit))).collect())
        .collect();
    let table = Table::from_rows(machine.names().iter().cloned(), &rows).unwrap();
    (machine, table)
}

#[test]
fn an_engine_serves_the_hard_rows_beside_the_easy_ones() {
    use Inputs::{Dense, Pendant};
    let serves =
        |open: &Open, machine: &Machine, budget| match choose_for_rows(machine, open, budget).unwrap() {
            Choice::Exact { engine, .. } => Some(engine.name()),
            Choice::Sampling { .. } => None,
        };
    let (usual, small) = (Budget::default(), Budget(1 << 19));
    for (outputs, groups, budget, expected) in [
        // Decimation does the easy row, with more units free in it, but not the hard one.
        (4, [Pendant, Dense(3)], usual, Some("enumerate")),
        (18, [Pendant, Dense(14)], usual, Some("eliminate")),
        // Together they are too much, each is not.
        (20, [Dense(9), Dense(8)], small, Some("eliminate")),
        // The hard row is too much, though fewer units are free in it.
        (32, [Pendant, Dense(30)], usual, None),
    ] {
        let (machine, table) = groups_and_rows(outputs, groups);
        let (_, free) = TwoPhase::new(&machine, &table).unwrap().open().unwrap();
        assert!(free.rows_differ());
        assert_eq!(serves(&free, &machine, budget), expected, "{outputs} outputs, {budget:?}");
        if let Choice::Exact { engine, .. } = choose_for_rows(&machine, &free, budget).unwrap() {
            let phases = Phases { clamped: &*engine, free: &*engine };
            assert!(log_likelihoods(&machine, &table, phases).is_ok());
        }
        let one_row = Open::alike(free.in_any_row.clone());
        assert_eq!(serves(&one_row, &machine, budget).is_some(), budget == usual && expected.is_some());
    }
}

/// Preparations for all rows at once are beyond the budget, those for a few are not.
#[test]
fn many_patterns_are_asked_about_in_pieces() {
    let columns = 60;
    let machine =
        topology::chain(columns).with_parameters(vec![0.3; columns - 1], vec![0.1; columns]).unwrap();
    let cell = |row: usize, column: usize| {
        let mixed = (row * 7919 + column * 104_729 + row * column * 31) % 97;
        if mixed < 40 {
            0
        } else if mixed.is_multiple_of(2) {
            1i8
        } else {
            -1
        }
    };
    let rows: Vec<Vec<i8>> =
        (0..200).map(|row| (0..columns).map(|column| cell(row, column)).collect()).collect();
    let table = Table::from_rows(machine.names().iter().cloned(), &rows).unwrap();
    let of = |budget| {
        let engine = Decimate::new().budget(budget);
        let all = TwoPhase::new(&machine, &table).unwrap().open().unwrap().0;
        assert!(all.rows_differ());
        let refused =
            engine.batch(&machine, &table.evidence_for(&machine).unwrap(), isinglass::Ask::default());
        let phases = Phases::both(&engine);
        (log_likelihoods(&machine, &table, phases).unwrap().values, refused.is_err())
    };
    let (whole, none_refused) = of(Budget::default());
    let (pieces, refused) = of(Budget(1 << 16));
    assert_eq!((none_refused, refused), (false, true));
    assert_eq!(whole, pieces);
}
