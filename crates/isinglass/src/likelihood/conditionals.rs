//! log P(s_i | all other units of the row), for many rows at once.
//!
//! ```text
//! log P(s_i | rest) = −ln(1 + e^(−2 s_i h_i / T))        h_i = θ_i + Σ_j w_ij s_j
//! ```
//!
//! The fields of many rows are a product of the matrix of rows with that of couplings; in sparse
//! graphs, they are summed along the edges.

use rayon::prelude::*;

use crate::cancel;
use crate::numeric::dense::Matrix;
use crate::numeric::stable::log_sigmoid_twice;
use crate::{Machine, Result, Role, Table};

/// Rows whose fields are computed together.
const ROWS: usize = 128;

/// A product is used if at least one pair of units in so many is joined: it needs more operations
/// than the edges do, but each is faster.
const DENSE: usize = 16;

/// Makes something of a row and the log P(s_i | all other units) of its units.
type Make<'a, T> = dyn Fn(&[i8], &dyn Fn(&[i8], usize) -> f64) -> T + 'a;

/// A machine, prepared for the conditional probabilities of its units.
pub(crate) struct Conditionals<'a> {
    machine: &'a Machine,
    /// All couplings, in dense graphs.
    couplings: Option<Matrix>,
}

impl<'a> Conditionals<'a> {
    /// *Memory*: 16 bytes for each pair of units if at least one pair in sixteen is joined.
    pub(crate) fn new(machine: &'a Machine) -> Self {
        let n = machine.unit_count();
        let edges = machine.graph().edges();
        let is_dense = n > 1 && edges.len() >= n * (n - 1) / 2 / DENSE;
        let couplings = is_dense.then(|| {
            let mut couplings = Matrix::zeros(n);
            for (&(a, b), &weight) in edges.iter().zip(machine.weights()) {
                couplings.set_both(a, b, weight);
            }
            couplings
        });
        Self { machine, couplings }
    }

    /// Σ over weighted rows of Σ over some units of log P(s_i | all other units).
    ///
    /// A cell of 0 is left out of the sum, and replaced by `fill` in the fields of the others.
    pub(crate) fn sum(&self, rows: &[(&[i8], f64)], units: &[usize], fill: &[f64]) -> f64 {
        // Cut by the number of rows alone, and added in order: the same sum on any number of
        // threads.
        let parts: Vec<f64> = rows.par_chunks(ROWS).map(|rows| self.sum_of_some(rows, units, fill)).collect();
        parts.into_iter().sum()
    }

    fn sum_of_some(&self, rows: &[(&[i8], f64)], units: &[usize], fill: &[f64]) -> f64 {
        let cells: Vec<&[i8]> = rows.iter().map(|(row, _)| *row).collect();
        let values = self.of_some(&cells, units, fill);
        rows.iter().zip(values).fold(0.0, |sum, ((_, weight), value)| sum + weight * value)
    }

    /// The sum over some units, for each of complete rows.
    pub(crate) fn of_rows(&self, rows: &[&[i8]], units: &[usize]) -> Vec<f64> {
        let fill = vec![0.0; self.machine.unit_count()];
        rows.par_chunks(ROWS).flat_map_iter(|rows| self.of_some(rows, units, &fill)).collect()
    }

    /// For each of complete rows, log P(s_i | all other units) of some units in turn.
    pub(crate) fn each(&self, rows: &[&[i8]], units: &[usize]) -> Vec<f64> {
        let fill = vec![0.0; self.machine.unit_count()];
        rows.par_chunks(ROWS)
            .flat_map_iter(|rows| {
                self.some(rows, &fill, &|row, of_unit| {
                    units.iter().map(|&unit| of_unit(row, unit)).collect::<Vec<f64>>()
                })
            })
            .flatten_iter()
            .collect()
    }

    fn of_some(&self, rows: &[&[i8]], units: &[usize], fill: &[f64]) -> Vec<f64> {
        self.some(rows, fill, &|row, of_unit| {
            units.iter().filter(|&&unit| row[unit] != 0).map(|&unit| of_unit(row, unit)).sum::<f64>()
        })
    }

    /// What is made of the log P(s_i | all other units) of each row.
    fn some<T>(&self, rows: &[&[i8]], fill: &[f64], make: &Make<'_, T>) -> Vec<T> {
        cancel::point();
        let n = self.machine.unit_count();
        let (biases, temperature) = (self.machine.biases(), self.machine.temperature());
        let mut cells = Vec::with_capacity(rows.len() * n);
        for row in rows {
            let value = |(&cell, &fill): (&i8, &f64)| if cell == 0 { fill } else { f64::from(cell) };
            cells.extend(row.iter().zip(fill).map(value));
        }
        let mut pulls = Vec::new();
        if let Some(couplings) = &self.couplings {
            pulls.resize(cells.len(), 0.0);
            couplings.times_rows(&cells, &mut pulls);
        }
        let of_row = |(k, row): (usize, &&[i8])| {
            let place = k * n..(k + 1) * n;
            let pull = |unit: usize| match &self.couplings {
                Some(_) => pulls[place.start + unit],
                None => self.pull(&cells[place.clone()], unit),
            };
            let of_unit = |row: &[i8], unit: usize| {
                log_sigmoid_twice(f64::from(row[unit]) * (biases[unit] + pull(unit)) / temperature)
            };
            make(row, &of_unit)
        };
        rows.iter().enumerate().map(of_row).collect()
    }

    /// Σ_j w_ij s_j along the edges of a unit.
    fn pull(&self, cells: &[f64], unit: usize) -> f64 {
        let around = self.machine.graph().neighbours(unit);
        around.map(|(other, edge)| self.machine.weights()[edge] * cells[other]).sum()
    }
}

/// The average over rows of Σ over visible units of log P(s_i | all other units), with missing
/// cells at their columns' means.
pub(crate) fn filled_pseudo_log_likelihood(machine: &Machine, table: &Table, fill: &[f64]) -> Result<f64> {
    let (cells, weights) = table.cells_for(machine)?;
    let rows: Vec<(&[i8], f64)> = cells.chunks_exact(machine.unit_count().max(1)).zip(weights).collect();
    let units: Vec<usize> = machine.with_role(Role::Visible).collect();
    Ok(Conditionals::new(machine).sum(&rows, &units, fill) / table.total_weight())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Graph;
    use crate::topology::{Links, Numbers};

    /// By the plainest loop.
    fn plain(machine: &Machine, rows: &[(&[i8], f64)], units: &[usize], fill: &[f64]) -> f64 {
        let value = |row: &[i8], unit: usize| if row[unit] == 0 { fill[unit] } else { f64::from(row[unit]) };
        let mut sum = 0.0;
        for (row, weight) in rows {
            for &unit in units.iter().filter(|&&unit| row[unit] != 0) {
                let mut field = machine.biases()[unit];
                for (&(a, b), w) in machine.graph().edges().iter().zip(machine.weights()) {
                    field += if a == unit { w * value(row, b) } else { 0.0 };
                    field += if b == unit { w * value(row, a) } else { 0.0 };
                }
                let odds = 2.0 * f64::from(row[unit]) * field / machine.temperature();
                sum -= weight * (-odds).exp().ln_1p();
            }
        }
        sum
    }

    #[test]
    fn products_and_edges_give_what_a_plain_loop_gives() {
        let numbers = Numbers::Uniform { low: -1.0, high: 1.0 };
        let cells: Vec<i8> = (0..300 * 40)
            .map(|k: u32| [1, -1, -1, 1, 0][(k.wrapping_mul(2_654_435_761) >> 13) as usize % 5])
            .collect();
        let fill: Vec<f64> = (0..40).map(|k| f64::from(k) / 40.0 - 0.5).collect();
        let rows: Vec<(&[i8], f64)> =
            cells.chunks(40).enumerate().map(|(k, row)| (row, 0.1 * k as f64)).collect();
        let units: Vec<usize> = (0..40).filter(|unit| unit % 7 != 0).collect();
        for graph in [Graph::full(40), Links::Chain.graph(40).unwrap(), Graph::full(1)] {
            if graph.unit_count() == 1 {
                let one = Machine::from_graph(graph);
                let found = Conditionals::new(&one).sum(&[(&[1], 2.0)], &[0], &[0.0]);
                assert!((found + 2.0 * 2f64.ln()).abs() < 1e-15);
                continue;
            }
            let machine = Machine::from_graph(graph)
                .with_numbers(&numbers, &numbers, 3)
                .and_then(|machine| machine.with_temperature(1.7))
                .unwrap();
            let found = Conditionals::new(&machine).sum(&rows, &units, &fill);
            let expected = plain(&machine, &rows, &units, &fill);
            assert!((found - expected).abs() < 1e-11 * expected.abs(), "{found}, expected {expected}");
        }
    }
}
