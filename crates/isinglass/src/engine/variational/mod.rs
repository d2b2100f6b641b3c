//! Variational engines: a tractable family of distributions, and its best member.
//!
//! All iterate to a fixed point under [`VariationalSettings`] and report whether they converged.
//!
//! - `mean_field`: the engines `mean-field`, `tap` and `linear-response`; `solver` computes their
//! expectations from machine and evidence.
//! - `search` finds the fixed points of a `panel` of rows, by sweeps (`sweep`) of updates
//! (`update`) with the fields of `couplings`.
//! - `response` inverts the curvature at a fixed point; `bethe_response` does so for beliefs.
//! - `bethe`, `mixture`, `structured` and `trw`: the engines of these names. `offers`: their costs.

mod bethe;
mod bethe_response;
mod couplings;
mod lane_group;
mod mean_field;
mod mixture;
mod offers;
mod panel;
mod response;
mod search;
mod settings;
mod solver;
mod structured;
mod sweep;
mod trw;
mod update;

pub use bethe::Bethe;
pub use mean_field::{Around, LinearResponse, MeanField, Tap};
pub use mixture::{Mixture, MixtureComponents};
pub(super) use offers::offers;
pub use settings::{Annealing, Schedule, VariationalSettings};
pub use structured::{Structured, StructuredSettings};
pub use trw::{Trw, TrwSettings};

use mean_field::Theory;
