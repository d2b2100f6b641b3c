//! Ladders of levels from a distribution that is known to the machine's own, and their tuning.

use serde::{Deserialize, Serialize};

use super::super::kernel::Model;
use crate::numeric::stable::log_cosh;

/// What a ladder begins with: the reference of its model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Start {
    /// Independent units with the machine's means, as burn-in finds them.
    Means,
    /// Independent units in their own fields.
    Fields,
    /// Free units: the levels are those of a temperature.
    Free,
}

/// The levels of a ladder, hottest first; the last is the machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Ladder {
    /// The scale of each level: of what the machine has beyond the reference.
    pub(super) points: Vec<f64>,
    /// Whether levels may be moved and added.
    pub(super) is_tunable: bool,
    pub(super) start: Start,
}

/// The share of swaps that is rejected between neighbouring levels, at most; half of them would give
/// the most round trips for the work (Syed et al. 2022, section 5).
const REJECTED: f64 = 0.4;

/// The numbers of levels are multiples of this: two ladders then fill whole vectors.
const STEP: usize = 8;

/// The most levels that are chosen.
pub(super) const MOST: usize = 512;

impl Ladder {
    /// What the machine has beyond the reference switched on in even steps.
    pub(super) fn from_reference(levels: usize) -> Self {
        let last = (levels - 1) as f64;
        let points = (0..levels).map(|k| k as f64 / last).collect();
        Self { points, is_tunable: true, start: Start::Means }
    }

    /// The couplings switched on in even steps, from independent units in their own fields.
    pub(super) fn from_fields(levels: usize) -> Self {
        Self { start: Start::Fields, ..Self::from_reference(levels) }
    }

    /// All of the energy switched on in even steps, from free units to some scale.
    pub(super) fn of_scales(levels: usize, last: f64) -> Self {
        let points = (0..levels).map(|k| last * k as f64 / (levels - 1) as f64).collect();
        Self { points, is_tunable: true, start: Start::Free }
    }

    /// Given temperatures, relative to the machine's own, from infinity down.
    pub(super) fn of_temperatures(temperatures: &[f64]) -> Self {
        let mut points: Vec<f64> = temperatures.iter().map(|t| 1.0 / t).collect();
        points.push(0.0);
        points.sort_by(f64::total_cmp);
        points.dedup();
        Self { points, is_tunable: false, start: Start::Free }
    }

    pub(super) fn levels(&self) -> usize {
        self.points.len()
    }

    /// log Z of the hottest level over the free units.
    pub(super) fn hottest_log_z(&self, model: &Model) -> f64 {
        let term = |place: usize| std::f64::consts::LN_2 + log_cosh(model.field(place, self.points[0]));
        (0..model.units()).map(term).sum()
    }

    /// The number of levels that the rejected shares of neighbours call for.
    ///
    /// The sum Λ of the shares measures the ladder's length (the communication barrier); levels far
    /// apart, which reject nearly everything, hide part of it.
    pub(super) fn wanted_levels(&self, rejected: &[f64]) -> usize {
        let length: f64 = rejected.iter().sum();
        let hidden = rejected.iter().any(|&share| share > 0.8);
        let wanted = if hidden { 2 * self.levels() } else { (length / REJECTED).ceil() as usize + 1 };
        wanted.next_multiple_of(STEP).clamp(STEP, MOST)
    }

    /// Levels at equal shares of the ladder's length (Syed et al. 2022, algorithm 4), some of them.
    pub(super) fn tuned(&self, rejected: &[f64], levels: usize) -> Self {
        // A floor keeps levels that never reject from collapsing into one.
        let floor = 1e-3 + 0.02 * rejected.iter().sum::<f64>() / rejected.len() as f64;
        let mut at = vec![0.0];
        for share in rejected {
            at.push(at[at.len() - 1] + share.max(floor));
        }
        let total = at[at.len() - 1];
        let last = (levels - 1) as f64;
        let point = |k: usize| {
            let goal = total * k as f64 / last;
            let right = at.partition_point(|&x| x < goal).clamp(1, at.len() - 1);
            let share = ((goal - at[right - 1]) / (at[right] - at[right - 1])).clamp(0.0, 1.0);
            let (low, high) = (self.points[right - 1], self.points[right]);
            low + share * (high - low)
        };
        let mut points: Vec<f64> = (0..levels).map(point).collect();
        // Free of rounding at both ends.
        points[0] = self.points[0];
        points[levels - 1] = self.points[self.levels() - 1];
        Self { points, ..*self }
    }

    /// The level of this ladder that is nearest to each level of another one.
    pub(super) fn nearest(&self, other: &Self) -> Vec<usize> {
        let nearest = |point: &f64| {
            let distance = |level: usize| (self.points[level] - point).abs();
            (0..self.levels()).min_by(|&a, &b| distance(a).total_cmp(&distance(b))).unwrap_or(0)
        };
        other.points.iter().map(nearest).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tuning_moves_levels_to_where_swaps_are_rejected() {
        let even = Ladder::from_reference(9);
        // All of the rejection lies between 0.5 and 0.75.
        let rejected = [0.0, 0.0, 0.0, 0.0, 0.6, 0.6, 0.0, 0.0];
        let tuned = even.tuned(&rejected, 9);
        let inside = tuned.points.iter().filter(|p| (0.5..=0.75).contains(*p)).count();
        assert!(inside >= 7, "{:?}", tuned.points);
        assert_eq!((tuned.points[0], tuned.points[8]), (0.0, 1.0));
        assert!(tuned.points.windows(2).all(|two| two[0] < two[1]));
        assert_eq!(even.wanted_levels(&rejected), 8);
        assert_eq!(even.wanted_levels(&[0.9; 8]), 24);
        assert_eq!(even.tuned(&[0.3; 8], 17).points[8], 0.5);
    }

    #[test]
    fn given_temperatures_begin_at_infinity() {
        let ladder = Ladder::of_temperatures(&[1.0, 4.0, 2.0]);
        assert_eq!(ladder.points, [0.0, 0.25, 0.5, 1.0]);
        assert!(!ladder.is_tunable);
    }
}
