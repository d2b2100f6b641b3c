//! The couplings among free units, cut into steps of a sweep: single units, or bunches of four with
//! the same neighbours.
//!
//! In dense machines and in the layers of restricted ones most of the time goes into loading
//! states. A bunch shares the walk along its neighbours and loads each state once.

use std::ops::Range;

use super::super::kernel::Couplings;
use crate::Machine;

/// Units of a bunch.
pub(super) const BUNCH: usize = 4;

/// A neighbour, and its couplings with the units of a bunch.
pub(super) type Shared = (u32, [f32; BUNCH]);

/// What rows with the same free units share.
pub(super) struct Wiring {
    couplings: Couplings,
    pub(super) steps: Vec<Step>,
    /// The neighbours of all bunches, one bunch after another.
    shared: Vec<Shared>,
}

/// A step of a sweep.
pub(super) enum Step {
    /// A unit, and the number of its neighbours before it.
    Unit(usize, usize),
    /// A bunch of units.
    Bunch(Bunch),
}

/// Successive units with the same neighbours, apart from each other.
pub(super) struct Bunch {
    pub(super) first: usize,
    /// Couplings of the units with each other, times 2.
    pub(super) inner: [[f32; BUNCH]; BUNCH],
    before: Range<usize>,
    after: Range<usize>,
}

impl Wiring {
    pub(super) fn new(machine: &Machine, free: &[usize]) -> Self {
        let mut wiring =
            Self { couplings: Couplings::new(machine, free), steps: Vec::new(), shared: Vec::new() };
        let mut unit = 0;
        while unit < free.len() {
            let bunch = if unit + BUNCH <= free.len() { wiring.bunch(unit) } else { None };
            if let Some(bunch) = bunch {
                wiring.steps.push(Step::Bunch(bunch));
                unit += BUNCH;
            } else {
                let around = wiring.couplings.around(unit);
                let before = around.partition_point(|&(other, _)| (other as usize) < unit);
                wiring.steps.push(Step::Unit(unit, before));
                unit += 1;
            }
        }
        wiring
    }

    /// The bunch that begins with a unit, if there is one; adds its neighbours.
    fn bunch(&mut self, first: usize) -> Option<Bunch> {
        let place = |other: u32| (other as usize).checked_sub(first).filter(|&place| place < BUNCH);
        let outer = |k: usize| {
            self.couplings.around(first + k).iter().copied().filter(|&(other, _)| place(other).is_none())
        };
        let same = |k: usize| outer(0).map(|(other, _)| other).eq(outer(k).map(|(other, _)| other));
        if !(1..BUNCH).all(same) {
            return None;
        }
        let start = self.shared.len();
        let mut shared: Vec<Shared> = outer(0).map(|(other, _)| (other, [0.0; BUNCH])).collect();
        let mut inner = [[0.0; BUNCH]; BUNCH];
        for k in 0..BUNCH {
            for ((_, couplings), (_, coupling)) in shared.iter_mut().zip(outer(k)) {
                couplings[k] = coupling;
            }
            for &(other, coupling) in self.couplings.around(first + k) {
                if let Some(place) = place(other) {
                    inner[k][place] = coupling;
                }
            }
        }
        let middle = start + shared.partition_point(|&(other, _)| (other as usize) < first);
        self.shared.append(&mut shared);
        Some(Bunch { first, inner, before: start..middle, after: middle..self.shared.len() })
    }

    /// The neighbours of a unit: those before it and those after it.
    #[inline(always)]
    pub(super) fn around(&self, unit: usize, before: usize) -> [&[(u32, f32)]; 2] {
        self.couplings.around(unit).split_at(before).into()
    }

    /// The neighbours of a bunch: those before it and those after it.
    #[inline(always)]
    pub(super) fn around_bunch(&self, bunch: &Bunch) -> [&[Shared]; 2] {
        [&self.shared[bunch.before.clone()], &self.shared[bunch.after.clone()]]
    }

    /// Whether no two of the units are coupled.
    pub(super) fn are_none(&self) -> bool {
        self.couplings.are_none()
    }

    /// The bytes for some units with some edges.
    pub(super) fn bytes(units: usize, edges: usize) -> u128 {
        let shared = (2 * edges).div_ceil(BUNCH) * size_of::<Shared>();
        // Growing vectors may take twice their length.
        2 * (Couplings::bytes(units, edges) + (shared + units * size_of::<Step>()) as u128)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::{self, Neighbours};

    fn bunches(wiring: &Wiring) -> Vec<usize> {
        let first = |step: &Step| match step {
            Step::Bunch(bunch) => Some(bunch.first),
            Step::Unit(..) => None,
        };
        wiring.steps.iter().filter_map(first).collect()
    }

    #[test]
    fn layers_and_dense_machines_make_bunches_and_lattices_do_not() {
        let of = |machine: &Machine| Wiring::new(machine, &(0..machine.unit_count()).collect::<Vec<_>>());
        assert_eq!(bunches(&of(&topology::full(11))), [0, 4]);
        // Six visible and nine hidden units: none of the bunches reaches across the layers.
        assert_eq!(bunches(&of(&topology::rbm(6, 9).unwrap())), [0, 6, 10]);
        assert!(bunches(&of(&topology::grid(5, 5, Neighbours::Four))).is_empty());
        // Without their neighbours, what is left of a layer has none.
        let rbm = topology::rbm(4, 3).unwrap();
        let left = Wiring::new(&rbm, &[0, 1, 2, 3]);
        assert!(bunches(&left) == [0] && left.are_none());
    }
}
