//! Binary data: rows of −1, +1 and missing cells, with weights.
//!
//! A [`Table`] keeps each distinct row once: learning and scoring cost as much as there are
//! distinct rows.

mod batch;
mod lagged;

pub use batch::{Batch, Group};
pub use lagged::{Lagged, kinetic, lagged, of_past, past_name};

use std::hash::BuildHasher;

use hashbrown::DefaultHashBuilder;
use hashbrown::hash_table::{Entry, HashTable};

use crate::machine::nearest;
use crate::{Error, Machine, Result, Role};

/// Named columns of −1, +1 and 0 (missing); distinct rows with their summed weights.
///
/// # Example
/// ```
/// use isinglass::Table;
/// let mut table = Table::new(["a", "b"])?;
/// table.push(&[1, -1], 1.0)?;
/// table.push(&[1, 0], 1.0)?;      // b is missing here
/// table.push(&[1, -1], 2.0)?;     // counts twice
/// assert_eq!((table.row_count(), table.distinct_count()), (3, 2));
/// assert_eq!((table.row(0), table.weight(0)), ([1, -1].as_slice(), 3.0));
/// assert_eq!(table.means(), [Some(1.0), Some(-1.0)]);
/// # Ok::<(), isinglass::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Table {
    columns: Vec<String>,
    cells: Vec<i8>,
    weights: Vec<f64>,
    /// For each row as given, the number of its distinct row.
    distinct_of: Vec<u32>,
    lookup: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

/// Two tables are equal if they hold the same rows in the same order.
impl PartialEq for Table {
    fn eq(&self, other: &Self) -> bool {
        self.columns == other.columns
            && self.cells == other.cells
            && self.weights == other.weights
            && self.distinct_of == other.distinct_of
    }
}

impl Table {
    /// An empty table.
    ///
    /// # Errors
    /// An empty or repeated column name.
    pub fn new<N: Into<String>>(columns: impl IntoIterator<Item = N>) -> Result<Self> {
        let columns: Vec<String> = columns.into_iter().map(Into::into).collect();
        let mut seen = std::collections::HashMap::new();
        for (k, name) in columns.iter().enumerate() {
            let place = format!("column {}", k + 1);
            if name.is_empty() {
                return Err(Error::invalid(place, "has no name"));
            }
            if let Some(first) = seen.insert(name, k) {
                let problem = format!("'{name}' is also the name of column {}", first + 1);
                return Err(Error::invalid(place, problem));
            }
        }
        Ok(Self {
            columns,
            cells: Vec::new(),
            weights: Vec::new(),
            distinct_of: Vec::new(),
            lookup: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
        })
    }

    /// A table of rows of weight 1.
    pub fn from_rows<N: Into<String>, R: AsRef<[i8]>>(
        columns: impl IntoIterator<Item = N>,
        rows: impl IntoIterator<Item = R>,
    ) -> Result<Self> {
        let mut table = Self::new(columns)?;
        for row in rows {
            table.push(row.as_ref(), 1.0)?;
        }
        Ok(table)
    }

    /// Adds a row.
    ///
    /// # Errors
    /// A wrong number of cells, a cell other than −1, +1 and 0, an invalid weight; no memory is left.
    pub fn push(&mut self, row: &[i8], weight: f64) -> Result<()> {
        let number = self.distinct_of.len() + 1;
        let invalid = |problem: String| Err(Error::invalid(format!("row {number}"), problem));
        Error::check_length("cells of a row", row.len(), self.columns.len())?;
        if let Some(bad) = row.iter().position(|cell| !(-1..=1).contains(cell)) {
            let (column, found) = (&self.columns[bad], row[bad]);
            return invalid(format!("column '{column}' holds {found}, expected -1, +1 or 0 for missing"));
        }
        if !(weight.is_finite() && weight >= 0.0) {
            return invalid(format!("the weight is {weight}, expected a finite number of at least 0"));
        }
        if number > u32::MAX as usize {
            return invalid("a table holds at most 2^32 - 1 rows".into());
        }
        self.make_room()?;
        let (cells, hasher, width) = (&self.cells, &self.hasher, self.columns.len());
        let stored = |&k: &u32| &cells[k as usize * width..(k as usize + 1) * width];
        let entry =
            self.lookup.entry(hasher.hash_one(row), |k| stored(k) == row, |k| hasher.hash_one(stored(k)));
        let number = match entry {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(entry) => {
                let number = self.weights.len() as u32;
                entry.insert(number);
                self.cells.extend_from_slice(row);
                self.weights.push(0.0);
                number
            }
        };
        self.weights[number as usize] += weight;
        self.distinct_of.push(number);
        Ok(())
    }

    /// Makes room for one more row, so that a lack of memory is an error.
    fn make_room(&mut self) -> Result<()> {
        let (cells, hasher, width) = (&self.cells, &self.hasher, self.columns.len());
        let stored = |&k: &u32| hasher.hash_one(&cells[k as usize * width..(k as usize + 1) * width]);
        let has_room = self.lookup.try_reserve(1, stored).is_ok()
            && self.cells.try_reserve(width).is_ok()
            && self.weights.try_reserve(1).is_ok()
            && self.distinct_of.try_reserve(1).is_ok();
        if has_room { Ok(()) } else { Err(Error::OutOfMemory { what: "the table", held: self.bytes() }) }
    }

    /// The bytes that the rows take.
    pub fn bytes(&self) -> u128 {
        /// The weight of a distinct row and its place in the lookup, which is at most seven eighths full.
        const OF_DISTINCT: u128 = 8 + 8;
        let (rows, distinct) = (self.row_count() as u128, self.distinct_count() as u128);
        self.cells.len() as u128 + OF_DISTINCT * distinct + 4 * rows
    }

    /// The column names.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The number of rows as given.
    pub fn row_count(&self) -> usize {
        self.distinct_of.len()
    }

    /// The number of distinct rows.
    pub fn distinct_count(&self) -> usize {
        self.weights.len()
    }

    /// For each row as given, the number of its distinct row.
    pub fn distinct_of(&self) -> &[u32] {
        &self.distinct_of
    }

    /// A distinct row: −1, +1 and 0 for missing.
    pub fn row(&self, distinct: usize) -> &[i8] {
        let width = self.columns.len();
        &self.cells[distinct * width..(distinct + 1) * width]
    }

    /// The summed weight of a distinct row.
    pub fn weight(&self, distinct: usize) -> f64 {
        self.weights[distinct]
    }

    /// The summed weight of all rows.
    pub fn total_weight(&self) -> f64 {
        self.weights.iter().sum()
    }

    /// The number of missing cells among the rows as given.
    pub fn missing_count(&self) -> usize {
        let missing = |k: usize| self.row(k).iter().filter(|&&cell| cell == 0).count();
        let missing: Vec<usize> = (0..self.distinct_count()).map(missing).collect();
        self.distinct_of.iter().map(|&k| missing[k as usize]).sum()
    }

    /// The weighted mean of each column over its present cells; `None` for a column without any.
    pub fn means(&self) -> Vec<Option<f64>> {
        self.column_sums().into_iter().map(|(weight, sum)| (weight > 0.0).then(|| sum / weight)).collect()
    }

    /// For each column, the weight of its present cells and the weighted sum of their values.
    pub fn column_sums(&self) -> Vec<(f64, f64)> {
        let mut sums = vec![(0.0, 0.0); self.columns.len()];
        for k in 0..self.distinct_count() {
            let weight = self.weights[k];
            for (sum, &cell) in sums.iter_mut().zip(self.row(k)) {
                if cell != 0 {
                    sum.0 += weight;
                    sum.1 += weight * f64::from(cell);
                }
            }
        }
        sums
    }

    /// The distinct rows as evidence for a machine, with their weights; columns are matched with
    /// units by name, and hidden units are free.
    ///
    /// # Errors
    /// A column that is not a visible or input unit, or a visible or input unit without a column.
    pub fn evidence_for(&self, machine: &Machine) -> Result<Batch> {
        let (cells, weights) = self.cells_for(machine)?;
        Batch::new(machine.unit_count(), &cells, &weights)
    }

    /// The position of each column's unit; every visible and input unit must have a column.
    pub(crate) fn positions_in(&self, machine: &Machine) -> Result<Vec<usize>> {
        let positions = self.columns_in(machine)?;
        if let Some(&lacking) = units_without_column(machine, &positions).first() {
            let problem =
                format!("is {} in the machine, but the table has no column for it", machine.roles()[lacking]);
            return Err(Error::invalid(format!("unit '{}'", machine.name(lacking)), problem));
        }
        Ok(positions)
    }

    /// The position of each column's unit; there may be units without a column.
    pub(crate) fn columns_in(&self, machine: &Machine) -> Result<Vec<usize>> {
        let position = |name: &String| {
            let problem = match machine.position(name) {
                Ok(position) if machine.roles()[position] != Role::Hidden => return Ok(position),
                Ok(_) => "the unit of that name is hidden in the machine; drop the column".into(),
                Err(_) => {
                    let hint =
                        nearest(name, machine.names()).map(|near| format!(" (did you mean '{near}'?)"));
                    format!(
                        "the machine has no unit of that name{}; drop the column",
                        hint.unwrap_or_default()
                    )
                }
            };
            Err(Error::invalid(format!("column '{name}'"), problem))
        };
        self.columns.iter().map(position).collect()
    }

    /// As [`Table::evidence_for`], not grouped: cells row after row in the machine's order.
    pub(crate) fn cells_for(&self, machine: &Machine) -> Result<(Vec<i8>, Vec<f64>)> {
        let positions = self.positions_in(machine)?;
        let n = machine.unit_count();
        let mut cells = vec![0; self.distinct_count() * n];
        for k in 0..self.distinct_count() {
            for (&position, &cell) in positions.iter().zip(self.row(k)) {
                cells[k * n + position] = cell;
            }
        }
        Ok((cells, self.weights.clone()))
    }
}

/// The visible and input units that are not among the columns' positions.
pub(crate) fn units_without_column(machine: &Machine, positions: &[usize]) -> Vec<usize> {
    let mut lacking: Vec<bool> = machine.roles().iter().map(|&role| role != Role::Hidden).collect();
    for &unit in positions {
        lacking[unit] = false;
    }
    (0..machine.unit_count()).filter(|&unit| lacking[unit]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology;

    #[test]
    fn equal_rows_are_kept_once_and_found_again() {
        let rows = [[1, 1, -1], [1, 0, -1], [1, 1, -1], [-1, -1, -1], [1, 0, -1]];
        let table = Table::from_rows(["a", "b", "c"], rows).unwrap();
        assert_eq!(table.distinct_count(), 3);
        for (k, row) in rows.iter().enumerate() {
            assert_eq!(table.row(table.distinct_of()[k] as usize), row);
        }
        assert_eq!(table.total_weight(), 5.0);
        assert_eq!(table.missing_count(), 2);
    }

    #[test]
    fn bad_rows_are_refused_with_their_place() {
        let mut table = Table::new(["a", "b"]).unwrap();
        table.push(&[1, 1], 1.0).unwrap();
        assert_eq!(
            table.push(&[1, 3], 1.0).unwrap_err().to_string(),
            "row 2: column 'b' holds 3, expected -1, +1 or 0 for missing"
        );
        assert!(table.push(&[1], 1.0).is_err());
        assert!(table.push(&[1, 1], f64::NAN).is_err());
        assert!(table.push(&[1, 1], -1.0).is_err());
        assert_eq!(table.row_count(), 1);
        assert!(Table::new(["a", "a"]).is_err());
        assert!(Table::new(["a", ""]).is_err());
    }

    #[test]
    fn columns_find_their_units_by_name() {
        let machine = topology::rbm(2, 1).unwrap();
        let table = Table::from_rows(["v1", "v0"], [[1, -1]]).unwrap();
        let batch = table.evidence_for(&machine).unwrap();
        assert_eq!(batch.row(0), [-1, 1, 0]);
        let message = |names: [&str; 2]| {
            let table = Table::from_rows(names, [[1, 1]]).unwrap();
            table.evidence_for(&machine).unwrap_err().to_string()
        };
        assert_eq!(
            message(["v0", "v2"]),
            "column 'v2': the machine has no unit of that name (did you mean 'v0'?); drop the column"
        );
        assert!(message(["v0", "h0"]).contains("hidden"));
        let short = Table::from_rows(["v0"], [[1]]).unwrap();
        assert_eq!(
            short.evidence_for(&machine).unwrap_err().to_string(),
            "unit 'v1': is visible in the machine, but the table has no column for it"
        );
    }
}
