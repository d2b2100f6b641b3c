//! Options of the learner pl-em.

use clap::{Args, ValueEnum};
use isinglass::learn::{EStep, MStep, PseudoLikelihoodEm};

use super::Args as FitArgs;
use super::learner::{LearnerName, Owned};
use crate::options::{Common, Usage, at_least};

/// How hidden units and missing cells are drawn, and what is done with the rows that come of it.
#[derive(Args)]
#[command(next_help_heading = "Pseudo-likelihood EM (pl-em)")]
pub(super) struct DrawsOptions {
    /// How hidden units and missing cells are drawn [default: auto]
    #[arg(long, value_name = "HOW")]
    draws: Option<DrawsName>,
    /// --draws gibbs: sweeps from one draw to the next [default: 2]; see --samples for the number of draws
    #[arg(long, value_name = "N", value_parser = at_least::<1>)]
    sweeps: Option<usize>,
    /// How far the pseudo-likelihood is climbed between draws [default: damped]
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
    /// To the top of the pseudo-likelihood less what keeps parameters near where they were
    Damped,
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

    /// Whether the pseudo-likelihood is climbed by steps along its gradient.
    pub(super) fn steps_are_asked(&self) -> bool {
        self.m_step == Some(MStepName::Gradient)
    }

    /// Refuse options that do not go together.
    pub(super) fn check(&self) -> Result<(), Usage> {
        if self.sweeps.is_some() && self.draws.is_some_and(|draws| draws != DrawsName::Gibbs) {
            return Err(Usage("--sweeps belongs to --draws gibbs".into()));
        }
        Ok(())
    }
}

impl FitArgs {
    pub(super) fn pl_em(&self, common: &Common) -> PseudoLikelihoodEm {
        let usual = PseudoLikelihoodEm::default();
        let options = &self.draws;
        let e_step = match (options.draws, options.sweeps) {
            (Some(DrawsName::Exact), _) => EStep::Exact,
            (Some(DrawsName::Gibbs), None) => EStep::SOURCE,
            // Sweeps are asked for, and exact draws have none.
            (_, Some(sweeps)) => EStep::Gibbs { sweeps },
            (None | Some(DrawsName::Auto), None) => EStep::Auto,
        };
        let m_step = match options.m_step {
            None | Some(MStepName::Damped) => usual.m_step,
            Some(MStepName::Lbfgs) => MStep::FULL,
            Some(MStepName::Gradient) => MStep::Steps { count: 20, rate: self.optimizer.rate(0.01) },
        };
        PseudoLikelihoodEm {
            e_step,
            draws: self.engine.samples().unwrap_or(usual.draws),
            m_step,
            iterations: self.optimizer.iterations(usual.iterations),
            tolerance: self.optimizer.tolerance(usual.tolerance),
            l2: self.l2,
            seed: common.seed,
            budget: self.engine.budget,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_tells_the_library_s_defaults() {
        let usual = PseudoLikelihoodEm::default();
        assert_eq!((usual.draws, usual.e_step, EStep::SOURCE), (3, EStep::Auto, EStep::Gibbs { sweeps: 2 }));
        assert!(matches!(usual.m_step, MStep::Damped { .. }));
    }
}
