//! Variational engines: a tractable family of distributions, and its best member.
//!
//! All iterate to a fixed point under [`VariationalSettings`] and report whether they converged.
//!
//! - `mean_field`: the engines `mean-field`, `tap` and `linear-response`; `solver` computes their
//!   expectations from machine and evidence.
//! - `search` finds the fixed points of a `panel` of rows, by sweeps (`sweep`) of updates
//!   (`update`) with the fields of `couplings`.
//! - `limits`: what log Z can be at all; approximations beyond are refused.
//! - `response` inverts the curvature at a fixed point; `bethe_response` does so for beliefs.
//! - `bethe`, `logdet`, `mixture`, `structured` and `trw`: the engines of these names. `offers`: their
//!   costs.

/// Name and fingerprint of an engine that consists of its settings.
macro_rules! identity {
    () => {
        fn name(&self) -> &'static str {
            Self::NAME
        }

        fn fingerprint(&self) -> String {
            format!("{} {}", Self::NAME, self.settings.fingerprint())
        }
    };
}

mod bethe;
mod bethe_response;
mod couplings;
mod limits;
mod logdet;
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
pub use logdet::{LogDet, LogDetSettings};
pub use mean_field::{Around, LinearResponse, LinearResponseSettings, MeanField, Tap};
pub use mixture::{Mixture, MixtureComponents, MixtureSettings};
pub(super) use offers::offers;
pub use settings::{Annealing, Schedule, VariationalSettings};
pub use structured::{Structured, StructuredSettings};
pub use trw::{Trw, TrwSettings};

use self::mean_field::Theory;
use super::parts::{Part, statistics_bytes};
use super::{Ask, Diagnostics};
use crate::{Budget, Machine, Result};

/// Checks that the sums over rows that are required fit the budget.
fn check_statistics(engine: &'static str, budget: Budget, machine: &Machine, ask: Ask) -> Result<()> {
    if !ask.statistics {
        return Ok(());
    }
    let edges = machine.graph().edges().len();
    budget.check(engine, statistics_bytes(machine), || format!("the sums of {edges} edge moments"))
}

/// Adds the results of a row to a part.
fn record(
    part: &mut Part,
    ask: Ask,
    weight: f64,
    (log_z, diagnostics): (f64, Diagnostics),
    (means, moments): (Vec<f64>, &[f64]),
) {
    part.log_z.push(log_z);
    part.diagnostics = part.diagnostics.and(diagnostics);
    if let Some(sums) = &mut part.statistics {
        sums.add(&means, moments, weight);
    }
    if ask.means {
        part.means.extend(means);
    }
}
