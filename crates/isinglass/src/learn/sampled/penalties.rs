//! Penalties on couplings, in the coordinates of centred units: `u = w σ_i σ_j / T`.
//!
//! With `λ Σ |w|` steps keep to one orthant at a time (Andrew and Gao 2007). Gradients are sampled, so a
//! coupling that is 0 moves only if its gradient, averaged over iterations, is surely larger than λ: sampling
//! errors alone would let all couplings move.

use serde::{Deserialize, Serialize};

use super::coordinates::Coordinates;
use crate::Machine;
use crate::optimize::one_sided;

/// The gradient of a coupling that is 0 is larger than λ by so many standard errors before the
/// coupling moves. It is an average over iterations, whose weights fall by this factor.
const ENTERS: f64 = 2.0;
const FORGETS: f64 = 0.9;

/// λ of `λ/2 Σ w²`, and of `λ Σ |w|`.
#[derive(Clone, Copy)]
pub(super) struct Penalties {
    pub(super) l2: f64,
    pub(super) l1: f64,
}

/// A machine, and the coordinates in which steps from it are computed.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) machine: &'a Machine,
    pub(super) coordinates: &'a Coordinates,
}

/// Gradients of the couplings, averaged over iterations.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct Slopes {
    average: Vec<f64>,
    /// The variance of an average, as a share of that of one iteration.
    variance: f64,
}

impl Place<'_> {
    /// The weight of each coupling, and what a change of its coordinate by 1 adds to it.
    fn couplings(&self) -> impl Iterator<Item = (f64, f64)> {
        let deviations = &self.coordinates.deviations;
        let scale = |&(a, b): &(usize, usize)| self.machine.temperature() / (deviations[a] * deviations[b]);
        self.machine.weights().iter().copied().zip(self.machine.graph().edges().iter().map(scale))
    }
}

impl Penalties {
    /// What is taken off the objective.
    pub(super) fn of(self, weights: &[f64]) -> f64 {
        weights.iter().map(|w| 0.5 * self.l2 * w * w + self.l1 * w.abs()).sum()
    }

    /// Slopes with the gradients of one more iteration; none where nothing depends on them.
    pub(super) fn remember(self, slopes: &Slopes, latest: &[f64]) -> Slopes {
        if self.l1 == 0.0 {
            return Slopes::default();
        }
        if slopes.average.is_empty() {
            return Slopes { average: latest.to_vec(), variance: 1.0 };
        }
        let both = slopes.average.iter().zip(latest);
        Slopes {
            average: both.map(|(old, new)| FORGETS * old + (1.0 - FORGETS) * new).collect(),
            variance: FORGETS.powi(2) * slopes.variance + (1.0 - FORGETS).powi(2),
        }
    }

    /// Adds the penalties to a gradient, one-sided where there is a kink, and to the diagonal of the
    /// curvature. Returns for each parameter whether it moves.
    pub(super) fn bend(
        self,
        place: Place<'_>,
        (slopes, variance): (&Slopes, &[f64]),
        gradient: &mut [f64],
        diagonal: &mut [f64],
    ) -> Vec<bool> {
        let mut is_free = vec![true; gradient.len()];
        for (k, (weight, scale)) in place.couplings().enumerate() {
            gradient[k] -= self.l2 * weight * scale;
            diagonal[k] += self.l2 * scale * scale;
            if self.l1 > 0.0 && weight == 0.0 {
                let surely = ENTERS * (slopes.variance * variance[k]).sqrt();
                gradient[k] = one_sided(0.0, slopes.average[k], self.l1 * scale + surely);
                is_free[k] = gradient[k] != 0.0;
            } else if self.l1 > 0.0 {
                gradient[k] = one_sided(weight, gradient[k], self.l1 * scale);
            }
        }
        is_free
    }

    /// Cuts a step off at the sides of the orthant: a coupling that would change its sign becomes 0,
    /// one that is 0 follows its gradient.
    pub(super) fn stay_in_orthant(self, place: Place<'_>, gradient: &[f64], step: &mut [f64]) {
        if self.l1 == 0.0 {
            return;
        }
        for (k, (weight, scale)) in place.couplings().enumerate() {
            let here = weight / scale;
            let side = if here == 0.0 { gradient[k] } else { here };
            if (here + step[k]) * side <= 0.0 {
                step[k] = -here;
            }
        }
    }
}
