//! What the kernels read: the rows of a table and their order in an epoch, and a machine's
//! structure.

use std::ops::Range;

use rand::RngExt;

use crate::numeric::streams::{Purpose, stream};
use crate::{Error, Machine, Result, Role, Table};

/// Weights that add up to more than a table can hold are shares, not counts.
const MOST_ROWS: f64 = u32::MAX as f64;

/// The rows of a table that have weight: the cells of visible and input units.
pub(super) struct Data {
    cells: Vec<i8>,
    width: usize,
    /// Each row's share of the total weight.
    pub(super) shares: Vec<f64>,
    /// Rows of an epoch. If all weights are whole numbers, a row of weight w counts as w rows, so
    /// that repeated rows and counted rows give equally long epochs. Otherwise the rows as given,
    /// without those of weight 0.
    pub(super) epoch_rows: usize,
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
            epoch_rows: if is_whole { total as usize } else { given() },
        })
    }

    /// The cells of a row; 0 for missing.
    #[inline(always)]
    pub(super) fn row(&self, row: u32) -> &[i8] {
        &self.cells[row as usize * self.width..][..self.width]
    }
}

/// Writes the rows of an epoch in random order, each as often as its weight requires.
///
/// Systematic sampling: with the weights laid end to end, rows are taken at even distances from a
/// random offset. A row's count is its expected count, rounded up or down at random without bias;
/// with equal weights each row is taken as often as it was given.
pub(super) fn rows_of_epoch(data: &Data, seed: u64, epoch: usize, out: &mut Vec<u32>) {
    let mut random = stream(seed, Purpose::RowOrder, epoch as u64);
    let count = data.epoch_rows;
    let from: f64 = random.random();
    out.clear();
    let mut end = 0.0;
    for (row, share) in data.shares.iter().enumerate() {
        end += share * count as f64;
        while out.len() < count && out.len() as f64 + from < end {
            out.push(row as u32);
        }
    }
    // Shares add up to 1 but for rounding.
    out.resize(count, data.shares.len() as u32 - 1);
    for place in (1..out.len()).rev() {
        out.swap(place, random.random_range(..=place));
    }
}

/// The visible, input and hidden units of a machine, and its edges in compressed rows.
pub(super) struct Structure {
    /// Visible and input units, in the machine's order.
    pub(super) observed: Vec<usize>,
    pub(super) visible: Vec<usize>,
    pub(super) hidden: Vec<usize>,
    /// For each unit the start of its slots in `around`.
    offsets: Vec<usize>,
    /// For each slot the neighbour and the number of the edge.
    pub(super) around: Vec<(u32, u32)>,
    pub(super) ends: Vec<(usize, usize)>,
}

impl Structure {
    pub(super) fn new(machine: &Machine) -> Self {
        let graph = machine.graph();
        let (hidden, observed) =
            (0..machine.unit_count()).partition(|&unit| machine.roles()[unit] == Role::Hidden);
        let (mut offsets, mut around) = (vec![0], Vec::new());
        for unit in 0..machine.unit_count() {
            around.extend(graph.neighbours(unit).map(|(other, edge)| (other as u32, edge as u32)));
            offsets.push(around.len());
        }
        let visible = machine.with_role(Role::Visible).collect();
        Self { observed, visible, hidden, offsets, around, ends: graph.edges().to_vec() }
    }

    pub(super) fn unit_count(&self) -> usize {
        self.offsets.len() - 1
    }

    #[inline(always)]
    pub(super) fn slots(&self, unit: usize) -> Range<usize> {
        self.offsets[unit]..self.offsets[unit + 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology;

    fn data(rows: &[([i8; 2], f64)]) -> Data {
        let mut table = Table::new(["a", "b"]).unwrap();
        for (row, weight) in rows {
            table.push(row, *weight).unwrap();
        }
        Data::new(&topology::full(2).with_names(["a", "b"]).unwrap(), &table).unwrap()
    }

    #[test]
    fn counts_and_rows_have_equally_long_epochs() {
        let (a, b) = ([1, 1], [-1, 1]);
        for (rows, expected, why) in [
            (&[(a, 1.0), (b, 1.0), (a, 1.0), (b, 1.0), (a, 1.0)][..], 5, "rows"),
            (&[(a, 3.0), (b, 2.0)], 5, "counts"),
            (&[(a, 3.0), (b, 0.0)], 3, "rows without weight do not count"),
            (&[(a, 1.5), (b, 2.0), (b, 0.0)], 3, "b is given twice"),
            (&[(a, 1e12), (b, 1e12)], 2, "more than a table holds"),
        ] {
            assert_eq!(data(rows).epoch_rows, expected, "{why}");
        }
    }

    #[test]
    fn rows_are_taken_as_often_as_they_weigh() {
        let weighted = [([1, 1], 2.0), ([1, -1], 1.0), ([1, 1], 1.0), ([-1, 1], 0.0), ([-1, -1], 0.4)];
        let data = data(&weighted);
        let mut rows = Vec::new();
        let mut counts = [0usize; 3];
        let epochs = 4000;
        for epoch in 0..epochs {
            rows_of_epoch(&data, 3, epoch, &mut rows);
            assert_eq!(rows.len(), 4);
            for &row in &rows {
                counts[row as usize] += 1;
            }
            let often = rows.iter().filter(|&&row| row == 0).count();
            assert!(often == 2 || often == 3, "3 of 4.4, for four rows");
        }
        for (count, weight) in counts.into_iter().zip([3.0, 1.0, 0.4]) {
            let expected = 4.0 * weight / 4.4;
            let found = count as f64 / epochs as f64;
            // An epoch's count is one of two neighbouring numbers: a deviation of at most 1/2.
            assert!((found - expected).abs() < 4.0 * 0.5 / (epochs as f64).sqrt(), "{found}, not {expected}");
        }
        let before = rows.clone();
        rows_of_epoch(&data, 3, epochs - 1, &mut rows);
        assert_eq!(rows, before);
    }

    #[test]
    fn equal_weights_take_every_row_once() {
        let names: Vec<String> = (0..10).map(|k| format!("x{k}")).collect();
        let machine = topology::full(10);
        let cells = |number: i32| (0..10).map(move |k| if number >> k & 1 == 1 { 1 } else { -1 });
        let table = Table::from_rows(names, (0..1000).map(|row| cells(row).collect::<Vec<i8>>())).unwrap();
        let data = Data::new(&machine, &table).unwrap();
        let mut rows = Vec::new();
        for epoch in 0..20 {
            rows_of_epoch(&data, 0, epoch, &mut rows);
            assert!(!rows.is_sorted());
            rows.sort_unstable();
            assert!(rows.iter().copied().eq(0..1000));
        }
    }
}
