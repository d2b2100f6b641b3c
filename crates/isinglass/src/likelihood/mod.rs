//! Likelihoods of tables: the two phases of a likelihood, and pseudo-likelihoods.
//!
//! [`TwoPhase`] splits the rows of a table into what is clamped and what is free; averages
//! ([`AverageLikelihood`]), single rows ([`log_likelihoods`]) and the choice of engines ([`Open`])
//! all start from it. `conditionals` and `completion` hold log P(s_i | rest). Learners, brackets
//! and scores call this module; it calls engines and tables.
//!
//! [`Open`]: crate::engine::Open

mod average;
mod completion;
mod conditionals;
mod rows;
mod two_phase;

pub(crate) use average::ClampedRows;
pub use average::{AverageLikelihood, LogLikelihood, Moments, log_likelihood};
pub(crate) use completion::{cell_log_probabilities, completion, pseudo_log_likelihood};
pub(crate) use conditionals::{Conditionals, filled_pseudo_log_likelihood};
pub use rows::{RowLikelihoods, log_likelihoods};
pub use two_phase::TwoPhase;

use crate::engine::{Engine, WITH_LOG_Z};
use crate::{Error, Result};

/// The engine of each phase of a likelihood.
#[derive(Clone, Copy)]
pub struct Phases<'a> {
    /// With the cells of a row clamped: hidden units and missing cells are free.
    pub clamped: &'a dyn Engine,
    /// With the input units clamped alone.
    pub free: &'a dyn Engine,
}

impl<'a> Phases<'a> {
    /// One engine for both phases.
    pub fn both(engine: &'a dyn Engine) -> Self {
        Self { clamped: engine, free: engine }
    }
}

/// A part of an answer that a likelihood requires.
pub(crate) fn required<T>(engine: &dyn Engine, part: Option<T>) -> Result<T> {
    part.ok_or_else(|| without_log_z(engine))
}

/// Refuses an engine without log Z before any work is done.
fn check_log_z(engine: &dyn Engine) -> Result<()> {
    if engine.has_log_z() { Ok(()) } else { Err(without_log_z(engine)) }
}

fn without_log_z(engine: &dyn Engine) -> Error {
    Error::CannotDo {
        who: engine.name(),
        what: "compute a likelihood".into(),
        why: format!("it has no log Z; {WITH_LOG_Z}"),
    }
}
