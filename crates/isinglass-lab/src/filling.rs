//! Rows of a table as given, and with their missing cells filled in.

use isinglass::complete::complete;
use isinglass::{Budget, Engine, Guarantee, Machine, Result, Spin, Table};

/// The rows of a table as given.
pub(crate) fn rows(table: &Table) -> impl Iterator<Item = &[i8]> {
    table.distinct_of().iter().map(|&row| table.row(row as usize))
}

/// The rows of a table as given, each missing cell filled in given the rest of its row.
pub(crate) struct Filled {
    /// With the more probable value.
    pub(crate) cells: Vec<Vec<i8>>,
    /// P(+1); of a cell that is known, 0 or 1.
    pub(crate) probabilities: Vec<Vec<f64>>,
    /// What kind of answer the probabilities are.
    pub(crate) guarantee: Guarantee,
}

impl Filled {
    pub(crate) fn of(machine: &Machine, table: &Table, engine: &dyn Engine) -> Result<Self> {
        let found = complete(machine, table, engine, Budget::default())?;
        let cell = |spin| if spin == Spin::Up { 1 } else { -1 };
        let order = || table.distinct_of().iter().map(|&row| row as usize);
        Ok(Self {
            cells: order().map(|row| found.state(row).map(cell).collect()).collect(),
            probabilities: order().map(|row| found.probabilities(row).collect()).collect(),
            guarantee: found.guarantee,
        })
    }
}
