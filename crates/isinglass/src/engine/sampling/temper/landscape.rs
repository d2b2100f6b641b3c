//! The energies of a machine's states in double precision, and descent to a state that no small change betters.

use super::super::kernel::Couplings;
use crate::Machine;

/// Flips of pairs are tried, and parts of states exchanged, on graphs of up to this mean degree.
const SPARSE_DEGREE: usize = 16;

/// Energies that differ by this share of the largest possible one differ by rounding alone.
const ROUNDING: f64 = 1e-10;

/// The best state that a run has met, and its −E.
#[derive(Clone)]
pub(super) struct Best {
    pub(super) value: f64,
    pub(super) state: Vec<f64>,
}

impl Best {
    /// Worse than any state.
    pub(super) fn none(units: usize) -> Self {
        Self { value: f64::NEG_INFINITY, state: vec![1.0; units] }
    }

    /// The better of two; of equals the first.
    pub(super) fn or(self, other: Self) -> Self {
        if other.value > self.value { other } else { self }
    }
}

/// The energies of the states of the free units in double precision, with the sign turned.
pub(super) struct Landscape {
    offsets: Vec<usize>,
    neighbours: Vec<(u32, f64)>,
    fields: Vec<f64>,
    /// The most that any state can reach: every term at its best.
    limit: f64,
    /// Whether turning all units round leaves the energy as it is.
    is_symmetric: bool,
}

impl Landscape {
    pub(super) fn new(machine: &Machine, row: &[i8], couplings: &Couplings) -> Self {
        let places = couplings.places(row);
        let mut offsets = vec![0];
        let (mut neighbours, mut fields) = (Vec::new(), Vec::new());
        for &unit in &couplings.order {
            let mut field = machine.biases()[unit];
            for (other, edge) in machine.graph().neighbours(unit) {
                let weight = machine.weights()[edge];
                match places[other] {
                    Ok(place) => neighbours.push((place as u32, weight)),
                    Err(value) => field += weight * value,
                }
            }
            fields.push(field);
            offsets.push(neighbours.len());
        }
        let couplings: f64 = neighbours.iter().map(|(_, w): &(u32, f64)| w.abs()).sum();
        let limit = 0.5 * couplings + fields.iter().map(|h: &f64| h.abs()).sum::<f64>();
        let is_symmetric = fields.iter().all(|&h| h == 0.0);
        Self { offsets, neighbours, fields, limit, is_symmetric }
    }

    fn around(&self, place: usize) -> &[(u32, f64)] {
        &self.neighbours[self.offsets[place]..self.offsets[place + 1]]
    }

    /// The typical size of the field on a unit: the median of √(h² + Σ w²).
    pub(super) fn typical_field(&self) -> f64 {
        let size = |place: usize| {
            let squares: f64 = self.around(place).iter().map(|(_, w)| w * w).sum();
            (squares + self.fields[place].powi(2)).sqrt()
        };
        let mut sizes: Vec<f64> = (0..self.fields.len()).map(size).filter(|&size| size > 0.0).collect();
        sizes.sort_by(f64::total_cmp);
        sizes.get(sizes.len() / 2).copied().unwrap_or(1.0)
    }

    /// Whether units have few neighbours, so that states differ in several parts.
    pub(super) fn is_sparse(&self) -> bool {
        self.neighbours.len() <= SPARSE_DEGREE * self.fields.len()
    }

    /// Whether one −E is larger than another by more than rounding.
    pub(super) fn is_better(&self, value: f64, than: f64) -> bool {
        value > than + ROUNDING * self.limit.max(1.0)
    }

    /// Whether no state can be better: every coupling and bias is at its best.
    pub(super) fn is_at_limit(&self, value: f64) -> bool {
        !self.is_better(self.limit, value)
    }

    /// Goes downhill until no flip of a unit, nor of two neighbours, helps. Returns −E.
    pub(super) fn descend(&self, state: &mut [f64]) -> f64 {
        let units = state.len();
        let with_pairs = self.is_sparse();
        let mut pulls: Vec<f64> =
            (0..units).map(|place| self.fields[place] + self.sum_around(place, state)).collect();
        let mut has_changed = true;
        while has_changed {
            has_changed = false;
            for place in 0..units {
                let gain = -state[place] * pulls[place];
                if gain > 0.0 {
                    self.flip(place, state, &mut pulls);
                    has_changed = true;
                    continue;
                }
                if !with_pairs {
                    continue;
                }
                let helps = |&&(other, w): &&(u32, f64)| {
                    let other = other as usize;
                    gain - state[other] * pulls[other] + 2.0 * w * state[place] * state[other] > 1e-12
                };
                if let Some(&(other, _)) = self.around(place).iter().find(helps) {
                    self.flip(place, state, &mut pulls);
                    self.flip(other as usize, state, &mut pulls);
                    has_changed = true;
                }
            }
        }
        // Half of what a unit's neighbours contribute belongs to it, and all of its field.
        (0..units).map(|place| 0.5 * state[place] * (self.fields[place] + pulls[place])).sum()
    }

    /// Betters a state by parts of another one. The units in which the two differ fall into connected
    /// parts, and each may come from either state without regard to the others; every part comes
    /// from the better one (Tinós, Whitley & Chicano 2015).
    pub(super) fn cross(&self, state: &mut [f64], other: &[f64]) {
        let mut differs: Vec<bool> = state.iter().zip(other).map(|(a, b)| a != b).collect();
        // Without fields the other state turned round is as good.
        if self.is_symmetric && 2 * differs.iter().filter(|&&differs| differs).count() > state.len() {
            for differs in &mut differs {
                *differs = !*differs;
            }
        }
        let mut is_met = vec![false; state.len()];
        let mut part = Vec::new();
        for first in 0..state.len() {
            if !differs[first] || std::mem::replace(&mut is_met[first], true) {
                continue;
            }
            part.clear();
            part.push(first);
            let mut next = 0;
            let mut value = 0.0;
            while let Some(&place) = part.get(next) {
                next += 1;
                let mut field = self.fields[place];
                for &(other, w) in self.around(place) {
                    let other = other as usize;
                    if !differs[other] {
                        field += w * state[other];
                    } else if !std::mem::replace(&mut is_met[other], true) {
                        part.push(other);
                    }
                }
                value += field * state[place];
            }
            if value < 0.0 {
                for &place in &part {
                    state[place] = -state[place];
                }
            }
        }
    }

    fn sum_around(&self, place: usize, state: &[f64]) -> f64 {
        self.around(place).iter().map(|&(other, w)| w * state[other as usize]).sum()
    }

    fn flip(&self, place: usize, state: &mut [f64], pulls: &mut [f64]) {
        state[place] = -state[place];
        for &(other, w) in self.around(place) {
            pulls[other as usize] += 2.0 * w * state[place];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::{self, Neighbours, Numbers};
    use crate::{Evidence, Machine};

    fn energy(machine: &Machine, couplings: &Couplings, state: &[f64]) -> f64 {
        let mut cells = vec![0; state.len()];
        couplings.order.iter().zip(state).for_each(|(&unit, &s)| cells[unit] = s as i8);
        machine.energy(&cells)
    }

    /// Against every choice among the parts.
    #[test]
    fn crossing_takes_each_part_from_the_better_state() {
        let mut has_bettered = false;
        for (seed, bias) in [(1, "normal:0,0.5"), (2, "0"), (3, "normal:0,0.5"), (4, "0")] {
            let numbers = |text: &str| -> Numbers { text.parse().unwrap() };
            let machine = topology::grid(5, 6, Neighbours::Four)
                .with_numbers(&numbers("normal:0,1"), &numbers(bias), seed)
                .unwrap();
            let couplings = Couplings::new(&machine, &(0..30).collect::<Vec<_>>());
            let landscape = Landscape::new(&machine, Evidence::none(30).cells(), &couplings);
            let drawn = |salt: usize| -> Vec<f64> {
                let up = |k: usize| (k * k + salt * k + seed as usize) % 5 < 2;
                (0..30).map(|k| if up(k) { 1.0 } else { -1.0 }).collect()
            };
            let (a, b) = (drawn(1), drawn(3));
            let mut child = a.clone();
            landscape.cross(&mut child, &b);
            let of = |state: &[f64]| energy(&machine, &couplings, state);
            assert!(of(&child) <= of(&a).min(of(&b)) + 1e-9);
            has_bettered |= of(&child) < of(&a).min(of(&b)) - 1e-9;
            // What is left of the differences helps nowhere: neither state betters the child.
            let again = child.clone();
            landscape.cross(&mut child, &a);
            landscape.cross(&mut child, &b);
            assert!((of(&child) - of(&again)).abs() < 1e-9);
        }
        assert!(has_bettered);
    }
}
