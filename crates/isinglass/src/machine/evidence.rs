//! Which units are clamped, and to what.

use super::Spin;
use crate::{Error, Result};

/// Clamped units and their values; all other units are free.
///
/// # Example
/// ```
/// use isinglass::{Evidence, Spin};
/// let mut evidence = Evidence::none(3);
/// evidence.clamp(1, Spin::Down);
/// assert_eq!(evidence.cells(), [0, -1, 0]);
/// assert_eq!(evidence.free().collect::<Vec<_>>(), [0, 2]);
/// assert_eq!(evidence.get(1), Some(Spin::Down));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Evidence {
    cells: Vec<i8>,
}

impl Evidence {
    /// Nothing is clamped.
    pub fn none(units: usize) -> Self {
        Self { cells: vec![0; units] }
    }

    /// From a row of −1, +1 and 0 (free).
    ///
    /// # Errors
    /// Any other value, with its position.
    pub fn from_cells(cells: Vec<i8>) -> Result<Self> {
        if let Some(at) = cells.iter().position(|cell| !(-1..=1).contains(cell)) {
            let problem = format!("found {}, expected -1, +1 or 0 for free", cells[at]);
            return Err(Error::invalid(format!("evidence for unit {at}"), problem));
        }
        Ok(Self { cells })
    }

    /// From a row that holds only −1, +1 and 0.
    pub(crate) fn from_row(row: &[i8]) -> Self {
        debug_assert!(row.iter().all(|cell| (-1..=1).contains(cell)));
        Self { cells: row.to_vec() }
    }

    /// Clamps one unit.
    pub fn clamp(&mut self, unit: usize, spin: Spin) {
        self.cells[unit] = spin.value();
    }

    /// The value a unit is clamped to, or `None` if it is free.
    pub fn get(&self, unit: usize) -> Option<Spin> {
        Spin::of(self.cells[unit])
    }

    /// The row of −1, +1 and 0 (free).
    pub fn cells(&self) -> &[i8] {
        &self.cells
    }

    /// The number of units, clamped or free.
    pub fn unit_count(&self) -> usize {
        self.cells.len()
    }

    /// The positions of the free units.
    pub fn free(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.cells.len()).filter(|&unit| self.cells[unit] == 0)
    }

    /// The number of free units.
    pub fn free_count(&self) -> usize {
        self.free().count()
    }
}
