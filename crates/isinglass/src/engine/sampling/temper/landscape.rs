//! The energies of a machine's states in double precision, and descent to a state that no small change betters.

use super::super::kernel::Couplings;
use crate::Machine;

/// Pairs are tried on graphs of up to this mean degree.
const PAIRED_DEGREE: usize = 16;

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
        Self { offsets, neighbours, fields, limit }
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
        let with_pairs = self.neighbours.len() <= PAIRED_DEGREE * units;
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
        (0..units)
            .map(|place| state[place] * (self.fields[place] + 0.5 * self.sum_around(place, state)))
            .sum()
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
