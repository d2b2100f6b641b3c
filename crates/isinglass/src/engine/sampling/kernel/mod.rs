//! Gibbs updates of many chains: one kernel for every sampler.
//!
//! A chain visits the units of [`Couplings`] in colour order and draws each by heat bath from
//! `p(s) ∝ exp(a Σ f_i s_i + b (Σ (h_i − f_i) s_i + Σ w_ij s_i s_j))`, with scales a and b of its own:
//! 1 and 1 for the machine, less for hotter levels of a ladder. The fields f are those of a reference
//! of independent units, by default the units' own, f = h (see [`Model`]). `lanes` puts chains side by side and walks along the
//! neighbours of a unit, or draws many of them at once (`trees`); `flips` follows one chain of a densely coupled machine with units side by
//! side and touches the fields only where a unit flipped. [`Chains`] takes whichever is cheaper.
//!
//! Single precision is enough: a relative error of 1e-7 in a field of a few units shifts a
//! probability by as much, far below the sampling error. Energies are summed in double precision.

mod chains;
mod couplings;
mod flips;
mod lanes;
mod trees;

pub(super) use chains::Chains;
pub(super) use couplings::{Couplings, Model};
pub(super) use lanes::choose;
pub(crate) use lanes::{Spins, add_pull};
pub(super) use trees::Forest;

use serde::{Deserialize, Serialize};

use crate::numeric::chance::WIDTH;

/// Chains of a vector.
pub(super) const CHAINS: usize = WIDTH;

/// The scales of a chain: of the reference's biases, and of the rest, couplings first of all.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Scales {
    pub(super) bias: f64,
    pub(super) coupling: f64,
}

impl Scales {
    /// Those of the machine itself.
    pub(super) const MACHINE: Self = Self { bias: 1.0, coupling: 1.0 };
}

/// What a state weighs: `Σ f_i s_i` in the reference, and the rest, `Σ (h_i − f_i) s_i + Σ w_ij s_i s_j`,
/// over the free units, divided by T.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct LogWeight {
    pub(super) bias: f64,
    pub(super) coupling: f64,
}

impl LogWeight {
    /// The logarithm of the unnormalised probability at some scales.
    pub(super) fn at(self, scales: Scales) -> f64 {
        scales.bias * self.bias + scales.coupling * self.coupling
    }
}
