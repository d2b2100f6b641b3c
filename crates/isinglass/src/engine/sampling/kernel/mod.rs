//! Gibbs updates of many chains: one kernel for every sampler.
//!
//! A chain visits the units of [`Couplings`] in colour order and draws each by heat bath from
//! `p(s) ∝ exp(Σ f_i s_i + b (Σ (h_i − f_i) s_i + Σ w_ij s_i s_j))`, with a scale b of its own: 1 for
//! the machine, less for hotter levels of a ladder. The fields f are those of a reference of
//! independent units, by default the units' own, f = h; with f = 0 the scale is that of 1/T (see
//! [`Model`]). What b multiplies is the weight of a state. `lanes` puts chains side by side and walks along the
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

use crate::numeric::chance::WIDTH;

/// Chains of a vector.
pub(super) const CHAINS: usize = WIDTH;
