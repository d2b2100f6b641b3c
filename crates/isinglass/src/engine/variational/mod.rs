//! Variational engines: a tractable family of distributions, and its best member.
//!
//! All of them look for a fixed point by iteration, under the same [`VariationalSettings`], and say whether they reached it. `mean_field` holds the engines
//! `mean-field`, `tap` and `linear-response`; `solver` brings machine and evidence to the search and its results back; `search` looks for the fixed points of rows
//! that stand side by side (`panel`), by sweeps (`sweep`) of updates (`update`), with the fields of `couplings`; `response` inverts the curvature at a fixed point. `bethe` and `mixture` are
//! the engines of these names, and `bethe_response` leads from its beliefs to a response. `offers` tells what they would cost.

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
pub use mean_field::{Around, LinearResponse, LinearResponseSettings, MeanField, Tap};
pub use mixture::{Mixture, MixtureComponents, MixtureSettings};
pub(super) use offers::offers;
pub use settings::{Annealing, Schedule, VariationalSettings};
pub use structured::{Structured, StructuredSettings};
pub use trw::{Trw, TrwSettings};

use mean_field::Theory;
