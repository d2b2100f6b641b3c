//! Many rows of evidence at once, grouped by which units they clamp.

use std::collections::HashMap;
use std::ops::Range;

use crate::{Error, Result};

/// Rows of evidence with weights: the clamped phase of learning, a table to score or to complete.
///
/// Rows that clamp the same set of units stand together, since all that can be prepared from structure alone
/// depends on that set and not on the values. Answers come back in the order in which the rows were given.
///
/// # Example
/// ```
/// use isinglass::Batch;
/// let batch = Batch::new(3, &[1, 0, 0, -1, 1, 0, -1, 0, 0], &[1.0, 2.0, 1.0])?;
/// assert_eq!(batch.rows(), 3);
/// let group = &batch.groups()[0];
/// assert_eq!((group.free.as_slice(), group.rows.len()), ([1, 2].as_slice(), 2));
/// # Ok::<(), isinglass::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Batch {
    units: usize,
    cells: Vec<i8>,
    weights: Vec<f64>,
    groups: Vec<Group>,
    /// For each row in grouped order, its number in the order given.
    given: Vec<usize>,
}

/// Rows of a [`Batch`] with the same free units.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// The free units, in rising order.
    pub free: Vec<usize>,
    /// Which rows, in the batch's grouped order.
    pub rows: Range<usize>,
}

impl Batch {
    /// Group rows (row after row, −1, +1 and 0 for free) by their free units.
    ///
    /// # Errors
    /// A wrong number of cells, a cell other than −1, +1 and 0, a weight that is negative or not finite.
    pub fn new(units: usize, cells: &[i8], weights: &[f64]) -> Result<Self> {
        Error::check_length("cells of the batch", cells.len(), units.saturating_mul(weights.len()))?;
        if let Some(bad) = cells.iter().position(|cell| !(-1..=1).contains(cell)) {
            let place = format!("row {} of the batch, unit {}", bad / units, bad % units);
            return Err(Error::invalid(
                place,
                format!("found {}, expected -1, +1 or 0 for free", cells[bad]),
            ));
        }
        if let Some(bad) = weights.iter().position(|weight| !(weight.is_finite() && *weight >= 0.0)) {
            let problem = format!("the weight is {}, expected a finite number of at least 0", weights[bad]);
            return Err(Error::invalid(format!("row {bad} of the batch"), problem));
        }
        let mut numbers: HashMap<Vec<usize>, usize> = HashMap::new();
        let mut members: Vec<(Vec<usize>, Vec<usize>)> = Vec::new();
        for row in 0..weights.len() {
            let cells = &cells[row * units..(row + 1) * units];
            let free: Vec<usize> = (0..units).filter(|&unit| cells[unit] == 0).collect();
            let group = *numbers.entry(free).or_insert_with_key(|free| {
                members.push((free.clone(), Vec::new()));
                members.len() - 1
            });
            members[group].1.push(row);
        }
        let mut batch = Self {
            units,
            cells: Vec::with_capacity(cells.len()),
            weights: Vec::with_capacity(weights.len()),
            groups: Vec::with_capacity(members.len()),
            given: Vec::with_capacity(weights.len()),
        };
        for (free, rows) in members {
            let start = batch.given.len();
            for row in rows {
                batch.cells.extend(&cells[row * units..(row + 1) * units]);
                batch.weights.push(weights[row]);
                batch.given.push(row);
            }
            batch.groups.push(Group { free, rows: start..batch.given.len() });
        }
        Ok(batch)
    }

    /// The number of units of each row.
    pub fn units(&self) -> usize {
        self.units
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.given.len()
    }

    /// The groups, in the order of their first rows.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// The cells of a row, by its place in grouped order.
    pub fn row(&self, place: usize) -> &[i8] {
        &self.cells[place * self.units..(place + 1) * self.units]
    }

    /// The weights, in grouped order.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// For each row in grouped order, its number in the order given.
    pub fn given_order(&self) -> &[usize] {
        &self.given
    }
}
