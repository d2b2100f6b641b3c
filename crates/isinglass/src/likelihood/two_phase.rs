//! The rows of a table, split into the clamped and the free phase.

use std::collections::HashMap;

use crate::engine::{Open, Statistics};
use crate::table::{Batch, Group};
use crate::{Error, Machine, Result, Role, Table};

/// The rows of a table as evidence for a machine, split into the two phases of a likelihood.
///
/// ```text
/// log P(visible | input) = log Z(visible, input) − log Z(input)
/// ```
///
/// In the clamped phase the cells of a row are clamped, in the free phase its input cells alone.
/// Hidden units and missing cells are free in both. Rows with the same input cells share their free
/// phase.
///
/// # Example
/// ```
/// use isinglass::likelihood::TwoPhase;
/// use isinglass::prelude::*;
/// let table = Table::from_rows(["v0", "v1", "v2"], [[1, -1, 1], [1, 0, -1]])?;
/// let (clamped, free) = TwoPhase::new(&topology::rbm(3, 2)?, &table)?.open()?;
/// assert_eq!(clamped.in_one_row.cells(), [1, 0, 1, 0, 0]);
/// assert_eq!(free.in_one_row.free_count(), 5);
/// # Ok::<(), isinglass::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct TwoPhase {
    roles: Vec<Role>,
    cells: Vec<i8>,
    weights: Vec<f64>,
    /// The distinct states of the input units, row after row, with everything else free.
    inputs: Vec<i8>,
    /// For each row, the number of its input state.
    input_of: Vec<usize>,
}

impl TwoPhase {
    /// Splits the distinct rows of a table.
    ///
    /// # Errors
    /// A table that does not fit the machine.
    pub fn new(machine: &Machine, table: &Table) -> Result<Self> {
        let (cells, weights) = table.cells_for(machine)?;
        Ok(Self::of(machine, cells, weights))
    }

    /// Splits the distinct rows of positive weight.
    ///
    /// # Errors
    /// A table that does not fit the machine, or whose rows have no weight.
    pub fn weighted(machine: &Machine, table: &Table) -> Result<Self> {
        let (mut cells, mut weights) = table.cells_for(machine)?;
        if weights.iter().any(|&weight| weight <= 0.0) {
            let rows = cells.chunks_exact(machine.unit_count().max(1)).zip(&weights);
            cells = rows.filter(|(_, weight)| **weight > 0.0).flat_map(|(row, _)| row).copied().collect();
            weights.retain(|&weight| weight > 0.0);
        }
        if weights.is_empty() {
            return Err(Error::invalid("table", "the rows have no weight"));
        }
        Ok(Self::of(machine, cells, weights))
    }

    fn of(machine: &Machine, cells: Vec<i8>, weights: Vec<f64>) -> Self {
        let roles = machine.roles().to_vec();
        let given = |(&cell, &role): (&i8, &Role)| if role == Role::Input { cell } else { 0 };
        let mut known: HashMap<Vec<i8>, usize> = HashMap::new();
        let mut inputs = Vec::new();
        let mut number_of = |row: &[i8]| {
            let next = known.len();
            *known.entry(row.iter().zip(&roles).map(given).collect()).or_insert_with_key(|input| {
                inputs.extend_from_slice(input);
                next
            })
        };
        let input_of = cells.chunks_exact(roles.len().max(1)).map(&mut number_of).collect();
        Self { roles, cells, weights, inputs, input_of }
    }

    /// The rows as evidence, 0 where a unit is free.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[i8]> {
        self.cells.chunks_exact(self.roles.len().max(1))
    }

    /// The weight of each row.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The distinct states of the input units as evidence.
    pub fn inputs(&self) -> impl ExactSizeIterator<Item = &[i8]> {
        self.inputs.chunks_exact(self.roles.len().max(1))
    }

    /// For each row, the number of its input state.
    pub fn input_of(&self) -> &[usize] {
        &self.input_of
    }

    /// The rows without free units, with their weights.
    pub fn complete(&self) -> impl Iterator<Item = (&[i8], f64)> {
        self.rows().zip(self.weights.iter().copied()).filter(|(row, _)| !row.contains(&0))
    }

    /// The rows with free units, with their weights.
    pub fn incomplete(&self) -> impl Iterator<Item = (&[i8], f64)> {
        self.rows().zip(self.weights.iter().copied()).filter(|(row, _)| row.contains(&0))
    }

    /// The clamped phase: the moments of the rows without free units, and the other rows as a
    /// batch.
    ///
    /// # Errors
    /// A weight that is not finite.
    pub fn clamped(&self, machine: &Machine) -> Result<(Statistics, Batch)> {
        let mut statistics = Statistics::zero(machine.graph());
        self.complete().for_each(|(row, weight)| statistics.add_state(machine.graph(), row, weight));
        let (mut cells, mut weights) = (Vec::new(), Vec::new());
        for (row, weight) in self.incomplete() {
            cells.extend_from_slice(row);
            weights.push(weight);
        }
        Ok((statistics, Batch::new(self.roles.len(), &cells, &weights)?))
    }

    /// The free phase: the distinct states of the input units, with the sums of their rows'
    /// weights.
    ///
    /// # Errors
    /// A weight that is not finite.
    pub fn free(&self) -> Result<Batch> {
        let mut weights = vec![0.0; self.inputs().len()];
        for (&input, weight) in self.input_of.iter().zip(&self.weights) {
            weights[input] += weight;
        }
        Batch::new(self.roles.len(), &self.inputs, &weights)
    }

    /// The units that an engine must be able to sum out, in the clamped and in the free phase.
    ///
    /// # Errors
    /// A weight that is not finite.
    pub fn open(&self) -> Result<(Open, Open)> {
        let n = self.roles.len();
        let rows = Batch::new(n, &self.cells, &self.weights)?;
        let is_given = |unit: usize, group: &Group| {
            self.roles[unit] == Role::Input && group.free.binary_search(&unit).is_err()
        };
        let clamped = rows.groups().iter().map(|group| group.free.clone());
        let free = rows.groups().iter().map(|group| (0..n).filter(|&unit| !is_given(unit, group)).collect());
        Ok((Open::of(n, clamped), Open::of(n, free)))
    }
}
