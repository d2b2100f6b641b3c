//! Rows of evidence side by side: what their clamped units do to the free ones.

use crate::Machine;
use crate::numeric::lanes::LANES;

/// Rows of evidence with the same free units. All numbers stand unit after unit, `width` rows each, divided by T.
pub(super) struct Panel {
    /// The rows that there are; those up to `width` fill the lanes.
    pub(super) rows: usize,
    pub(super) width: usize,
    /// The value of every unit of the machine; 0 where it is free.
    pub(super) values: Vec<f64>,
    /// The field on each free unit.
    pub(super) fields: Vec<f64>,
    /// What is to be added to the log Z of the free units.
    pub(super) shifts: Vec<f64>,
}

/// Rows that are solved together, and the numbers that a panel may hold for its free units.
const ROWS: usize = 96;
const NUMBERS: usize = 1 << 21;

impl Panel {
    /// How many rows go into one panel.
    pub(super) fn rows_at_once(units: usize) -> usize {
        (NUMBERS / units.max(1) / LANES * LANES).clamp(LANES, ROWS)
    }

    /// The lanes that some rows take.
    fn width_of(rows: usize) -> usize {
        if rows == 1 { 1 } else { rows.next_multiple_of(LANES) }
    }

    /// The bytes of a panel for some rows, and of the search on it.
    pub(super) fn bytes(units: usize, free: usize, rows: usize) -> u128 {
        // Values; fields, means, variances, changes, the best start, and a smaller panel of the rows that take longer.
        8 * Self::width_of(rows) as u128 * (units as u128 + 10 * free as u128)
    }

    /// *Complexity*: linear in units and edges, for each row.
    pub(super) fn new(machine: &Machine, free: &[usize], rows: &[&[i8]]) -> Self {
        let (n, width) = (machine.units(), Self::width_of(rows.len()));
        let temperature = machine.temperature();
        let mut values = vec![0.0; n * width];
        for (lane, row) in rows.iter().enumerate() {
            for (unit, &cell) in row.iter().enumerate() {
                values[unit * width + lane] = f64::from(cell);
            }
        }
        let of = |unit: usize| &values[unit * width..(unit + 1) * width];
        let clamped = free.len() < n;
        let mut constants = vec![0.0; width];
        if clamped {
            for (unit, bias) in machine.biases().iter().enumerate() {
                for (sum, value) in constants.iter_mut().zip(of(unit)) {
                    *sum += bias * value;
                }
            }
            for (&(a, b), w) in machine.graph().edges().iter().zip(machine.weights()) {
                for ((sum, x), y) in constants.iter_mut().zip(of(a)).zip(of(b)) {
                    *sum += w * x * y;
                }
            }
        }
        let mut fields = vec![0.0; free.len() * width];
        for (field, &unit) in fields.chunks_exact_mut(width).zip(free) {
            field.fill(machine.biases()[unit]);
            if clamped {
                for (other, edge) in machine.graph().neighbours(unit) {
                    let w = machine.weights()[edge];
                    for (sum, value) in field.iter_mut().zip(of(other)) {
                        *sum += w * value;
                    }
                }
            }
            field.iter_mut().for_each(|x| *x /= temperature);
        }
        let shifts = constants.iter().map(|x| x / temperature + machine.offset()).collect();
        Self { rows: rows.len(), width, values, fields, shifts }
    }

    /// Write the means of the free units among the values of the clamped ones.
    pub(super) fn insert(&mut self, free: &[usize], means: &[f64]) {
        for (&unit, means) in free.iter().zip(means.chunks_exact(self.width)) {
            self.values[unit * self.width..(unit + 1) * self.width].copy_from_slice(means);
        }
    }

    /// The values of a unit in all rows.
    pub(super) fn of(&self, unit: usize) -> &[f64] {
        &self.values[unit * self.width..(unit + 1) * self.width]
    }
}
