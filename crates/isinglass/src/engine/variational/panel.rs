//! A panel: rows of evidence side by side, with the fields of their clamped units on the free ones.

use std::ops::Range;

use fearless_simd::{Level, Simd, dispatch};

use crate::Machine;
use crate::engine::Statistics;
use crate::numeric::lanes::LANES;
use crate::optimize::memory::dot;
use crate::table::Batch;

/// Rows of evidence with the same free units. Stored by unit, `width` rows each, divided by T.
pub(super) struct Panel {
    /// The number of rows; lanes from there to `width` are padding.
    pub(super) rows: usize,
    pub(super) width: usize,
    /// The value of every unit of the machine; 0 where it is free.
    pub(super) values: Vec<f64>,
    /// The field on each free unit.
    pub(super) fields: Vec<f64>,
    /// Constants to add to the log Z of the free units.
    pub(super) shifts: Vec<f64>,
}

/// The most rows of a panel, and the most numbers for its free units.
const ROWS: usize = 192;
const NUMBERS: usize = 1 << 21;

impl Panel {
    /// Returns how many rows go into one panel.
    pub(super) fn rows_at_once(units: usize) -> usize {
        (NUMBERS / units.max(1) / LANES * LANES).clamp(LANES, ROWS)
    }

    fn width_of(rows: usize) -> usize {
        if rows == 1 { 1 } else { rows.next_multiple_of(LANES) }
    }

    /// Returns the bytes of a panel and of the search on it.
    pub(super) fn bytes(units: usize, free: usize, rows: usize) -> u128 {
        // Values; fields, means, variances, changes, best start, a smaller panel of open rows.
        8 * Self::width_of(rows) as u128 * (units as u128 + 10 * free as u128)
    }

    /// Computes fields and constants. *Complexity*: linear in units and edges, for each row.
    pub(super) fn new(machine: &Machine, free: &[usize], rows: &[&[i8]]) -> Self {
        dispatch!(Level::new(), simd => Self::build(simd, machine, free, rows))
    }

    /// The generic body of [`new`](Self::new), compiled for each instruction set.
    #[inline(always)]
    fn build<S: Simd>(_simd: S, machine: &Machine, free: &[usize], rows: &[&[i8]]) -> Self {
        let (n, width) = (machine.unit_count(), Self::width_of(rows.len()));
        let temperature = machine.temperature();
        let mut values = vec![0.0; n * width];
        for (lane, row) in rows.iter().enumerate() {
            for (unit, &cell) in row.iter().enumerate() {
                values[unit * width + lane] = f64::from(cell);
            }
        }
        let of = |unit: usize| &values[unit * width..(unit + 1) * width];
        let mut is_free = vec![false; n];
        for &unit in free {
            is_free[unit] = true;
        }
        let mut constants = vec![0.0; width];
        for unit in (0..n).filter(|&unit| !is_free[unit]) {
            // The field of its bias and of earlier clamped units: each pair counts once.
            let mut pulls = vec![machine.biases()[unit]; width];
            for (other, edge) in machine.graph().neighbours(unit).take_while(|&(other, _)| other < unit) {
                add_scaled(&mut pulls, machine.weights()[edge], of(other));
            }
            constants.iter_mut().zip(&pulls).zip(of(unit)).for_each(|((sum, pull), s)| *sum += pull * s);
        }
        let mut fields = vec![0.0; free.len() * width];
        for (field, &unit) in fields.chunks_exact_mut(width).zip(free) {
            field.fill(machine.biases()[unit]);
            for (other, edge) in machine.graph().neighbours(unit).filter(|&(other, _)| !is_free[other]) {
                add_scaled(field, machine.weights()[edge], of(other));
            }
            for x in field {
                *x /= temperature;
            }
        }
        let shifts = constants.iter().map(|x| x / temperature + machine.offset()).collect();
        Self { rows: rows.len(), width, values, fields, shifts }
    }

    /// Iterates over the panels of some rows of a batch, with the weights of their rows.
    pub(super) fn each<'a>(
        machine: &'a Machine,
        free: &'a [usize],
        batch: &'a Batch,
        rows: &Range<usize>,
    ) -> impl Iterator<Item = (Self, &'a [f64])> {
        let (at_once, end) = (Self::rows_at_once(free.len()), rows.end);
        rows.clone().step_by(at_once).map(move |start| {
            let places = start..end.min(start + at_once);
            let cells: Vec<&[i8]> = places.clone().map(|place| batch.row(place)).collect();
            (Self::new(machine, free, &cells), &batch.weights()[places])
        })
    }

    /// Returns a panel of one row of free units with these fields.
    pub(super) fn of_fields(fields: &[f64]) -> Self {
        Self { rows: 1, width: 1, values: Vec::new(), fields: fields.to_vec(), shifts: vec![0.0] }
    }

    /// Writes the means of the free units into `values`.
    pub(super) fn insert(&mut self, free: &[usize], means: &[f64]) {
        for (&unit, means) in free.iter().zip(means.chunks_exact(self.width)) {
            self.values[unit * self.width..(unit + 1) * self.width].copy_from_slice(means);
        }
    }

    /// Returns the values of a unit in all rows.
    pub(super) fn of(&self, unit: usize) -> &[f64] {
        &self.values[unit * self.width..(unit + 1) * self.width]
    }

    /// Iterates over the values of each row, one row after the other.
    pub(super) fn rows_of_values(&self) -> impl Iterator<Item = f64> {
        (0..self.rows).flat_map(|row| self.values.iter().skip(row).step_by(self.width).copied())
    }

    /// Adds the weighted sums over rows of the means and of their products along edges. Returns the
    /// weights, padded with 0 to the panel's width.
    pub(super) fn add_statistics(
        &self,
        machine: &Machine,
        weights: &[f64],
        sums: &mut Statistics,
    ) -> Vec<f64> {
        let mut weights = weights.to_vec();
        weights.resize(self.width, 0.0);
        sums.weight += weights.iter().sum::<f64>();
        for (unit, sum) in sums.means.iter_mut().enumerate() {
            *sum += dot(&weights, self.of(unit));
        }
        let mut weighted = vec![0.0; self.width];
        let mut last = usize::MAX;
        for (&(a, b), sum) in machine.graph().edges().iter().zip(&mut sums.edges) {
            if a != last {
                weighted.iter_mut().zip(&weights).zip(self.of(a)).for_each(|((x, w), m)| *x = w * m);
                last = a;
            }
            *sum += dot(&weighted, self.of(b));
        }
        weights
    }
}

#[inline(always)]
fn add_scaled(sums: &mut [f64], scale: f64, numbers: &[f64]) {
    for (sum, x) in sums.iter_mut().zip(numbers) {
        *sum += scale * x;
    }
}
