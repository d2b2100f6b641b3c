//! Options of the learner pl-em.

use clap::{Args, ValueEnum};

use super::learner::{LearnerName, Owned};
use crate::options::at_least;

/// How hidden units and missing cells are drawn, and what is done with the rows that come of it.
#[derive(Args)]
pub(super) struct DrawsOptions {
    /// pl-em: how hidden units and missing cells are drawn [default: auto]
    #[arg(long, value_name = "HOW")]
    draws: Option<DrawsName>,
    /// pl-em with --draws gibbs: sweeps from one draw to the next [default: 2]; see --samples for the number of draws
    #[arg(long, value_name = "N", value_parser = at_least::<1>)]
    sweeps: Option<usize>,
    /// pl-em: how far the pseudo-likelihood is climbed between draws [default: lbfgs]
    #[arg(long, value_name = "HOW")]
    m_step: Option<MStepName>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(super) enum DrawsName {
    /// exact where the links among the units drawn allow it within the budget, otherwise gibbs
    Auto,
    /// Independent draws from the exact conditional distribution
    Exact,
    /// Gibbs sampling from the most probable state that max-product finds
    Gibbs,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(super) enum MStepName {
    /// To the top, by limited-memory BFGS
    Lbfgs,
    /// 20 gradient steps of --rate [default: 0.01]
    Gradient,
}

impl DrawsOptions {
    pub(super) fn owned(&self) -> [Owned; 3] {
        let owner: &[LearnerName] = &[LearnerName::PlEm];
        [
            ("--draws", self.draws.is_some(), owner),
            ("--sweeps", self.sweeps.is_some(), owner),
            ("--m-step", self.m_step.is_some(), owner),
        ]
    }
}
