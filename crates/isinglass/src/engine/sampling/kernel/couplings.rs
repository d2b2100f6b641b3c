//! The couplings among some free units, in the order in which a sweep visits them.

use std::sync::Arc;

use super::flips::Rows;
use crate::Machine;

/// The couplings among some free units, divided by T/2, in single precision.
pub(crate) struct Couplings {
    /// The units by their place in a sweep: colour by colour, in rising order within a colour. Units
    /// of a colour are not coupled, so that updates of one need not wait for another.
    pub(crate) order: Vec<usize>,
    offsets: Vec<usize>,
    neighbours: Vec<(u32, f32)>,
    /// How many neighbours of each place come before it.
    before: Vec<u32>,
    /// The same couplings as rows of a matrix, where that is cheaper.
    pub(super) rows: Option<Rows>,
}

impl Couplings {
    pub(crate) fn new(machine: &Machine, free: &[usize]) -> Self {
        let order = by_colour(machine, free);
        let mut place = vec![u32::MAX; machine.unit_count()];
        for (k, &unit) in order.iter().enumerate() {
            place[unit] = k as u32;
        }
        let scale = 2.0 / machine.temperature();
        let mut offsets = vec![0];
        let mut neighbours = Vec::new();
        let mut before = Vec::with_capacity(order.len());
        for (k, &unit) in order.iter().enumerate() {
            let around = machine.graph().neighbours(unit).filter(|&(other, _)| place[other] != u32::MAX);
            let coupling = |edge: usize| (scale * machine.weights()[edge]) as f32;
            let start = neighbours.len();
            neighbours.extend(around.map(|(other, edge)| (place[other], coupling(edge))));
            neighbours[start..].sort_unstable_by_key(|&(other, _)| other);
            before.push(neighbours[start..].partition_point(|&(other, _)| (other as usize) < k) as u32);
            offsets.push(neighbours.len());
        }
        let mut couplings = Self { order, offsets, neighbours, before, rows: None };
        couplings.rows = Rows::where_cheaper(&couplings);
        couplings
    }

    pub(super) fn len(&self) -> usize {
        self.order.len()
    }

    /// The same couplings with the last place first, so that sweeps visit units in the opposite order.
    fn reversed(&self) -> Self {
        let last = self.len() as u32;
        let mut offsets = vec![0];
        let mut neighbours = Vec::with_capacity(self.neighbours.len());
        let mut before = Vec::with_capacity(self.len());
        for place in (0..self.len()).rev() {
            neighbours.extend(self.around(place).iter().rev().map(|&(other, w)| (last - 1 - other, w)));
            before.push(self.split_around(place)[1].len() as u32);
            offsets.push(neighbours.len());
        }
        let order = self.order.iter().rev().copied().collect();
        let mut couplings = Self { order, offsets, neighbours, before, rows: None };
        couplings.rows = Rows::where_cheaper(&couplings);
        couplings
    }

    /// The neighbours of a place in rising order, each with its coupling.
    #[inline(always)]
    pub(crate) fn around(&self, place: usize) -> &[(u32, f32)] {
        &self.neighbours[self.offsets[place]..self.offsets[place + 1]]
    }

    /// The neighbours of a place: those before it and those after it.
    #[inline(always)]
    pub(super) fn split_around(&self, place: usize) -> [&[(u32, f32)]; 2] {
        self.around(place).split_at(self.before[place] as usize).into()
    }

    /// Whether no two of the units are coupled.
    pub(crate) fn are_none(&self) -> bool {
        self.neighbours.iter().all(|&(_, coupling)| coupling == 0.0)
    }

    /// Whether chains follow flips, along rows, in place of neighbours.
    pub(crate) fn follows_flips(&self) -> bool {
        self.rows.is_some()
    }

    /// For each unit of the machine, its place, or its value if it is clamped (not 0).
    pub(crate) fn places(&self, row: &[i8]) -> Vec<Result<usize, f64>> {
        let mut places: Vec<_> = row.iter().map(|&cell| Err(f64::from(cell))).collect();
        for (place, &unit) in self.order.iter().enumerate() {
            places[unit] = Ok(place);
        }
        places
    }

    /// The bytes of the couplings among some units with some edges.
    pub(crate) fn bytes(units: usize, edges: usize) -> u128 {
        // Growing vectors may take twice their length.
        24 * (units as u128 + 1) + 32 * edges as u128 + Rows::most_bytes(units, edges)
    }
}

/// The units sorted by the colours that a greedy pass gives them.
fn by_colour(machine: &Machine, free: &[usize]) -> Vec<usize> {
    const NONE: u32 = u32::MAX;
    let mut colour = vec![NONE; machine.unit_count()];
    let mut taken: Vec<usize> = Vec::new();
    for &unit in free {
        for (other, _) in machine.graph().neighbours(unit) {
            if colour[other] != NONE {
                let other = colour[other] as usize;
                if other >= taken.len() {
                    taken.resize(other + 1, usize::MAX);
                }
                taken[other] = unit;
            }
        }
        let first = taken.iter().position(|&by| by != unit).unwrap_or(taken.len());
        colour[unit] = first as u32;
    }
    let mut order = free.to_vec();
    order.sort_by_key(|&unit| colour[unit]);
    order
}

/// A machine under one evidence, prepared for sweeps, with a reference of independent units.
///
/// The log-weight `Σ h_i s_i + Σ w_ij s_i s_j` is split in two: that of the reference, `Σ f_i s_i`,
/// and the rest, `Σ (h_i − f_i) s_i + Σ w_ij s_i s_j`, which each chain scales by itself. A reference
/// in the units' own fields, f = h, leaves the couplings alone as the rest; one of free units, f = 0,
/// leaves everything.
#[derive(Clone)]
pub(crate) struct Model {
    pub(crate) couplings: Arc<Couplings>,
    /// The fields h/T by place, with the pull of the clamped units.
    fields: Vec<f64>,
    /// Those of the reference, f/T, doubled.
    pub(super) biases: Vec<f32>,
    /// What is left of the fields, (h − f)/T, doubled.
    pub(super) shifts: Vec<f32>,
}

impl Model {
    /// With the couplings of the units that the row leaves free.
    pub(crate) fn new(machine: &Machine, row: &[i8], couplings: &Arc<Couplings>) -> Self {
        let field = |&unit: &usize| {
            let around = machine.graph().neighbours(unit);
            let pull: f64 = around.map(|(other, edge)| machine.weights()[edge] * f64::from(row[other])).sum();
            (machine.biases()[unit] + pull) / machine.temperature()
        };
        let fields: Vec<f64> = couplings.order.iter().map(field).collect();
        let biases = fields.iter().map(|h| (2.0 * h) as f32).collect();
        let shifts = vec![0.0; fields.len()];
        Self { couplings: Arc::clone(couplings), fields, biases, shifts }
    }

    /// The same with the last place first: sweeps of one are those of the other, backwards in time.
    pub(crate) fn reversed(&self) -> Self {
        let couplings = Arc::new(self.couplings.reversed());
        let fields = self.fields.iter().rev().copied().collect();
        let [biases, shifts] = [&self.biases, &self.shifts].map(|x| x.iter().rev().copied().collect());
        Self { couplings, fields, biases, shifts }
    }

    /// The fields f/T of the reference, where they are not the units' own.
    pub(crate) fn reference(&self) -> Option<Vec<f64>> {
        let own = self.shifts.iter().all(|&shift| shift == 0.0);
        (!own).then(|| self.biases.iter().map(|&bias| 0.5 * f64::from(bias)).collect())
    }

    /// Takes independent units with some fields f/T as the reference; without these, in their own.
    pub(crate) fn set_reference(&mut self, reference: Option<&[f64]>) {
        let reference = reference.unwrap_or(&self.fields);
        for (place, f) in reference.iter().enumerate() {
            self.biases[place] = (2.0 * f) as f32;
            self.shifts[place] = (2.0 * self.fields[place] - f64::from(self.biases[place])) as f32;
        }
    }

    pub(crate) fn units(&self) -> usize {
        self.biases.len()
    }

    /// Takes free units as the reference.
    pub(crate) fn set_free_reference(&mut self) {
        self.set_reference(Some(&vec![0.0; self.units()]));
    }

    /// The field on a place without its neighbours, at some scale.
    pub(crate) fn field(&self, place: usize, scale: f64) -> f64 {
        0.5 * (f64::from(self.biases[place]) + scale * f64::from(self.shifts[place]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::{self, Neighbours};

    #[test]
    fn units_of_a_colour_are_not_coupled() {
        let grid =
            topology::grid(6, 7, Neighbours::Four).with_parameters(vec![0.5; 71], vec![0.0; 42]).unwrap();
        let couplings = Couplings::new(&grid, &(0..42).collect::<Vec<_>>());
        // Two colours: the first has no neighbours before it, the second none after it.
        for place in 0..42 {
            let [before, after] = couplings.split_around(place);
            assert!(if place < 21 { before.is_empty() } else { after.is_empty() });
            for &(other, _) in couplings.around(place) {
                let (a, b) = (couplings.order[place], couplings.order[other as usize]);
                assert!(grid.graph().edge_between(a, b).is_some());
            }
        }
        // Backwards: the same couplings, in the opposite order.
        let reversed = couplings.reversed();
        for place in 0..42 {
            let unit = |order: &[usize], &(other, coupling): &(u32, f32)| (order[other as usize], coupling);
            let [before, after] = couplings.split_around(place);
            let [later, earlier] = reversed.split_around(41 - place);
            let backwards = |part: &[(u32, f32)]| -> Vec<(usize, f32)> {
                part.iter().rev().map(|end| unit(&reversed.order, end)).collect()
            };
            let forwards = |part: &[(u32, f32)]| -> Vec<(usize, f32)> {
                part.iter().map(|end| unit(&couplings.order, end)).collect()
            };
            assert_eq!(couplings.order[place], reversed.order[41 - place]);
            assert_eq!((forwards(before), forwards(after)), (backwards(earlier), backwards(later)));
        }
        let full = Couplings::new(&topology::full(5), &[4, 1, 2]);
        assert_eq!(full.order, [4, 1, 2]);
        assert!(full.are_none());
    }
}
