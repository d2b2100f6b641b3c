//! What a piece of a mini-batch has to do, and the rows that it reads.

use std::ops::Range;

use crate::{Error, Machine, Result, Role, Table};

/// A table holds no more rows than this; weights that add up to more are shares, not counts.
const MOST_ROWS: f64 = u32::MAX as f64;

/// The rows of a table that have weight, for the units that are not hidden.
pub(super) struct Data {
    cells: Vec<i8>,
    width: usize,
    /// For each row its share of the weight of all.
    pub(super) shares: Vec<f64>,
    /// The rows of an epoch. Where all weights are whole numbers, a row of weight w counts as w rows: a table of rows and the same rows with their counts have equally long epochs.
    /// Otherwise the rows as they were given, those without weight left out.
    pub(super) given_rows: usize,
    /// Whether any cell is missing.
    pub(super) has_gaps: bool,
}

impl Data {
    /// # Errors
    /// A table that does not fit the machine, or whose rows have no weight.
    pub(super) fn new(machine: &Machine, table: &Table) -> Result<Self> {
        let (all, weights) = table.cells_for(machine)?;
        let units = machine.unit_count();
        let observed: Vec<usize> = (0..units).filter(|&unit| machine.roles()[unit] != Role::Hidden).collect();
        let kept: Vec<usize> = (0..weights.len()).filter(|&row| weights[row] > 0.0).collect();
        if kept.is_empty() {
            return Err(Error::invalid("table", "the rows have no weight"));
        }
        let mut cells = Vec::with_capacity(kept.len() * observed.len());
        for &row in &kept {
            cells.extend(observed.iter().map(|&unit| all[row * units + unit]));
        }
        let total = table.total_weight();
        let is_whole = total <= MOST_ROWS && kept.iter().all(|&row| weights[row].fract() == 0.0);
        let given = || table.distinct_of().iter().filter(|&&row| weights[row as usize] > 0.0).count();
        Ok(Self {
            has_gaps: cells.contains(&0),
            cells,
            width: observed.len(),
            shares: kept.iter().map(|&row| weights[row] / total).collect(),
            given_rows: if is_whole { total as usize } else { given() },
        })
    }

    /// The cells of a row; 0 for missing.
    #[inline(always)]
    pub(super) fn row(&self, row: u32) -> &[i8] {
        &self.cells[row as usize * self.width..][..self.width]
    }
}

/// What a piece of a mini-batch has to do.
pub(super) struct Job<'a> {
    pub(super) data: &'a Data,
    /// The rows of the mini-batch.
    pub(super) rows: &'a [u32],
    /// Those of the piece.
    pub(super) part: Range<usize>,
    /// The persistent chains of the piece.
    pub(super) chains: Range<usize>,
    /// All persistent chains; 0 if the steps begin with the rows.
    pub(super) all_chains: usize,
    /// Gibbs sweeps away from the rows, or of the chains.
    pub(super) steps: usize,
    /// Gibbs sweeps of hidden units and missing cells that depend on each other.
    pub(super) clamped_sweeps: usize,
}

impl Job<'_> {
    /// The rows of the piece.
    #[inline(always)]
    pub(super) fn own_rows(&self) -> impl Iterator<Item = u32> + '_ {
        self.rows[self.part.clone()].iter().copied()
    }

    /// The row whose inputs a state of the piece has while it goes its steps.
    #[inline(always)]
    pub(super) fn row_of_chain(&self, k: usize) -> u32 {
        let first = if self.all_chains > 0 { self.chains.start } else { self.part.start };
        self.rows[(first + k) % self.rows.len()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology;

    #[test]
    fn counts_and_rows_have_equally_long_epochs() {
        let machine = topology::full(2).with_names(["a", "b"]).unwrap();
        let epoch = |rows: &[([i8; 2], f64)]| {
            let mut table = Table::new(["a", "b"]).unwrap();
            for (row, weight) in rows {
                table.push(row, *weight).unwrap();
            }
            Data::new(&machine, &table).unwrap().given_rows
        };
        let (a, b) = ([1, 1], [-1, 1]);
        assert_eq!(epoch(&[(a, 1.0), (b, 1.0), (a, 1.0), (b, 1.0), (a, 1.0)]), 5);
        assert_eq!(epoch(&[(a, 3.0), (b, 2.0)]), 5);
        assert_eq!(epoch(&[(a, 3.0), (b, 0.0)]), 3, "rows without weight are none");
        assert_eq!(epoch(&[(a, 1.5), (b, 2.0), (b, 0.0)]), 3, "b is given twice");
        assert_eq!(epoch(&[(a, 1e12), (b, 1e12)]), 2, "more than a table holds");
    }
}
