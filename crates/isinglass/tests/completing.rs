//! Completion: means against sums over states, pieces against the whole, many patterns of missing
//! cells.

#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use common::{brute_force, close};
use isinglass::complete::{self, complete};
use isinglass::topology::{self, Links, Numbers};
use isinglass::{
    Ask, Batch, BatchExpectations, Budget, Decimate, Eliminate, Engine, Enumerate, Error, Evidence,
    Expectations, Gibbs, Guarantee, Machine, Pairs, Role, Spin, Table,
};
use proptest::prelude::*;

/// A two-layer machine with inputs, and a table with missing cells for some of its visible units.
fn machines_with_tables() -> impl Strategy<Value = (Machine, Table)> {
    (2..6usize, 0..3usize, any::<u64>(), 0.3..3.0f64, 0..3usize).prop_flat_map(
        |(visible, hidden, seed, temperature, without)| {
            let columns = visible.saturating_sub(without).max(1);
            let cell = prop_oneof![2 => Just(1i8), 2 => Just(-1i8), 2 => Just(0i8)];
            let row = proptest::collection::vec(cell, columns);
            proptest::collection::vec(row, 1..12).prop_map(move |rows| {
                let machine = topology::two_layer(visible, &Links::Full, hidden, &Links::Chain).unwrap();
                let mut roles = machine.roles().to_vec();
                for unit in (0..visible).filter(|unit| (seed >> unit).is_multiple_of(4)) {
                    roles[unit] = Role::Input;
                }
                let normal = Numbers::Normal { mean: 0.0, deviation: 0.8 };
                let machine = machine
                    .with_roles(roles)
                    .and_then(|machine| machine.with_numbers(&normal, &normal, seed))
                    .and_then(|machine| machine.with_temperature(temperature))
                    .unwrap();
                // Columns in another order than units.
                let names: Vec<String> =
                    machine.names()[visible - columns..visible].iter().rev().cloned().collect();
                (machine, Table::from_rows(names, rows).unwrap())
            })
        },
    )
}

/// The mean of each column by the plainest sums.
fn plain_means(machine: &Machine, table: &Table, columns: &[String], row: usize) -> Vec<f64> {
    let mut cells = vec![0; machine.unit_count()];
    for (name, &cell) in table.columns().iter().zip(table.row(row)) {
        cells[machine.position(name).unwrap()] = cell;
    }
    let truth = brute_force(machine, &Evidence::from_cells(cells).unwrap());
    columns.iter().map(|name| truth.means[machine.position(name).unwrap()]).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn cells_are_filled_with_their_conditional_means((machine, table) in machines_with_tables()) {
        let eliminate = Eliminate::default();
        for engine in [&Enumerate::default() as &dyn Engine, &eliminate] {
            let found = complete(&machine, &table, engine, Budget::default()).unwrap();
            prop_assert_eq!(found.guarantee, Guarantee::Exact);
            prop_assert!(found.diagnostics.converged);
            prop_assert_eq!(&found.columns()[..table.columns().len()], table.columns());
            let known = machine.roles().iter().filter(|&&role| role != Role::Hidden).count();
            prop_assert_eq!(found.columns().len(), known);
            prop_assert_eq!(found.added().len(), known - table.columns().len());
            prop_assert_eq!(found.filled(), table.missing_count() + table.row_count() * found.added().len());
            for row in 0..table.distinct_count() {
                let expected = plain_means(&machine, &table, found.columns(), row);
                let means: Vec<f64> = found.means(row).collect();
                prop_assert_eq!(means.len(), expected.len());
                for (mean, expected) in means.iter().zip(&expected) {
                    close(*mean, *expected, 1e-10, "mean of a cell");
                }
                for ((p, spin), mean) in found.probabilities(row).zip(found.state(row)).zip(expected) {
                    close(p, f64::midpoint(1.0, mean), 1e-10, "probability");
                    prop_assert!(f64::from(spin.value()) * mean > -1e-9);
                }
                for ((mean, spin), &cell) in means.iter().zip(found.state(row)).zip(table.row(row)) {
                    if cell != 0 {
                        prop_assert_eq!(*mean, f64::from(cell));
                        prop_assert_eq!(spin.value(), cell);
                    }
                }
            }
        }
    }

    /// What an engine is chosen for covers every row.
    #[test]
    fn open_units_cover_every_row((machine, table) in machines_with_tables()) {
        let Some(open) = complete::open(&machine, &table).unwrap() else {
            prop_assert_eq!(table.missing_count(), 0);
            return Ok(());
        };
        let mut most = 0;
        for row in 0..table.distinct_count() {
            let observed: Vec<usize> = table.columns().iter().zip(table.row(row))
                .filter(|(_, cell)| **cell != 0)
                .map(|(name, _)| machine.position(name).unwrap())
                .collect();
            let free: Vec<usize> = (0..machine.unit_count()).filter(|unit| !observed.contains(unit)).collect();
            let hidden = machine.with_role(Role::Hidden).count();
            if free.len() > hidden {
                most = most.max(free.len());
                prop_assert!(free.iter().all(|&unit| open.in_any_row.get(unit).is_none()));
            }
        }
        prop_assert_eq!(open.in_one_row.free_count(), most);
    }
}

/// Rows that each miss cells of their own.
fn patterns(columns: usize, rows: usize, share: u64) -> Vec<Vec<i8>> {
    let mut bits = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = || {
        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        bits
    };
    (0..rows)
        .map(|_| {
            (0..columns)
                .map(|_| match next() >> 32 {
                    x if x % 100 < share => 0,
                    x if x & 1 == 0 => 1,
                    _ => -1,
                })
                .collect()
        })
        .collect()
}

#[test]
fn pieces_within_a_tight_budget_give_what_one_batch_gives() {
    let normal = Numbers::Normal { mean: 0.0, deviation: 1.0 };
    let machine = topology::chain(40).with_numbers(&normal, &normal, 3).unwrap();
    let table = Table::from_rows(machine.names().iter().cloned(), patterns(40, 300, 40)).unwrap();
    let whole = complete(&machine, &table, &Decimate::default(), Budget::default()).unwrap();
    // Room for the networks of a few rows, and for the means; not for the networks of all.
    let budget = Budget(200_000);
    let pieces = complete(&machine, &table, &Decimate::new().budget(budget), budget).unwrap();
    for row in 0..table.distinct_count() {
        assert!(whole.means(row).eq(pieces.means(row)));
    }
    let refused = complete(&machine, &table, &Decimate::new().budget(Budget(2000)), budget).unwrap_err();
    assert!(matches!(refused, Error::OverBudget { who: "decimate", .. }), "{refused}");
    let refused = complete(&machine, &table, &Decimate::default(), Budget(1000)).unwrap_err();
    assert!(matches!(refused, Error::OverBudget { who: "complete", .. }), "{refused}");
}

#[test]
fn equal_chances_are_filled_with_plus_one() {
    // Rounding may leave a mean of -1e-17 where symmetry says 0.
    let machine = topology::chain(9).with_parameters(vec![0.3; 8], vec![0.0; 9]).unwrap();
    let table = Table::from_rows(machine.names().iter().cloned(), [[0i8; 9]]).unwrap();
    for engine in [&Enumerate::default() as &dyn Engine, &Decimate::default()] {
        let found = complete(&machine, &table, engine, Budget::default()).unwrap();
        assert!(found.state(0).all(|spin| spin == Spin::Up));
    }
}

#[test]
fn complete_tables_need_no_engine() {
    let machine = topology::rbm(3, 40).unwrap();
    let table = Table::from_rows(["v0", "v1", "v2"], [[1i8, -1, 1], [-1, -1, 1]]).unwrap();
    let none = Enumerate::new().budget(Budget(0));
    let found = complete(&machine, &table, &none, Budget::default()).unwrap();
    assert_eq!((found.filled(), found.guarantee), (0, Guarantee::Exact));
    assert!(found.means(1).eq([-1.0, -1.0, 1.0]));
    assert!(complete::open(&machine, &table).unwrap().is_none());
}

#[test]
fn estimates_say_so_and_come_near() {
    let normal = Numbers::Normal { mean: 0.0, deviation: 0.4 };
    let machine = topology::full(6).with_numbers(&normal, &normal, 1).unwrap();
    let table = Table::from_rows(machine.names().iter().cloned(), patterns(6, 20, 50)).unwrap();
    let found = complete(&machine, &table, &Gibbs::default(), Budget::default()).unwrap();
    assert_eq!(found.guarantee, Guarantee::Estimate);
    assert!(found.diagnostics.mixing.is_some());
    for row in 0..table.distinct_count() {
        for (mean, expected) in found.means(row).zip(plain_means(&machine, &table, found.columns(), row)) {
            // 32,000 states: five standard errors.
            assert!((mean - expected).abs() < 0.03, "{mean}, exactly {expected}");
        }
    }
}

/// An engine whose log Z is a bound.
#[derive(Debug)]
struct Bounded;

impl Engine for Bounded {
    fn name(&self) -> &'static str {
        "bounded"
    }

    fn fingerprint(&self) -> String {
        self.name().into()
    }

    fn expectations(
        &self,
        machine: &Machine,
        evidence: &Evidence,
        pairs: Pairs,
    ) -> isinglass::Result<Expectations> {
        Enumerate::default().expectations(machine, evidence, pairs)
    }

    fn batch(&self, machine: &Machine, batch: &Batch, ask: Ask) -> isinglass::Result<BatchExpectations> {
        let answer = Enumerate::default().batch(machine, batch, ask)?;
        Ok(BatchExpectations { guarantee: Guarantee::LowerBound, ..answer })
    }
}

#[test]
fn a_bound_on_log_z_is_no_bound_on_means() {
    let machine = topology::rbm(2, 1).unwrap();
    let table = Table::from_rows(["v0", "v1"], [[1i8, 0]]).unwrap();
    let found = complete(&machine, &table, &Bounded, Budget::default()).unwrap();
    assert_eq!(found.guarantee, Guarantee::Approximation);
}

#[test]
fn the_user_is_told_what_was_filled_without_ground() {
    let machine = topology::rbm(4, 1).unwrap();
    let mut roles = machine.roles().to_vec();
    roles[0] = Role::Input;
    let machine = machine.with_roles(roles).unwrap();
    let table = Table::from_rows(["v0", "v1"], [[0i8, 0], [1, 0]]).unwrap();
    let found = complete(&machine, &table, &Enumerate::default(), Budget::default()).unwrap();
    assert_eq!(
        found.notes.iter().map(ToString::to_string).collect::<Vec<_>>(),
        [
            "1 column without values, filled all through (v1)",
            "2 columns added at the end, for units that the table has no column for (v2, v3)",
            "1 column of inputs, whose own distribution is not learned, filled all the same (v0)",
        ]
    );
    let unknown = Table::from_rows(["v0", "w"], [[0i8, 0]]).unwrap();
    assert!(complete(&machine, &unknown, &Enumerate::default(), Budget::default()).is_err());
    assert!(complete::open(&machine, &unknown).is_err());
}
