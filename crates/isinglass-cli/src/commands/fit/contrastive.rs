//! Options of the learners contrastive-divergence and mean-field-cd.

use clap::Args;
use isinglass::learn::{ContrastiveDivergence, MeanFieldCd};

use super::Args as FitArgs;
use super::learner::{LearnerName, Owned};
use crate::options::{Common, at_least};

/// How far the machine's own states are from the rows.
#[derive(Args)]
pub(super) struct ContrastiveOptions {
    /// contrastive-divergence: rows of a mini-batch [default: 10]
    #[arg(long, value_name = "N", value_parser = at_least::<1>)]
    batch: Option<usize>,
    /// contrastive-divergence, mean-field-cd: sweeps from the rows to the machine's own states [default: 1]
    #[arg(long, value_name = "K", value_parser = at_least::<1>)]
    steps: Option<usize>,
    /// contrastive-divergence: the machine's own states go on from where they were, in --chains of their own, and not from the rows
    #[arg(long)]
    persistent: bool,
}

impl ContrastiveOptions {
    pub(super) fn owned(&self) -> [Owned; 3] {
        let sampled: &[LearnerName] = &[LearnerName::ContrastiveDivergence];
        let both: &[LearnerName] = &[LearnerName::ContrastiveDivergence, LearnerName::MeanFieldCd];
        [
            ("--batch", self.batch.is_some(), sampled),
            ("--steps", self.steps.is_some(), both),
            ("--persistent", self.persistent, sampled),
        ]
    }
}

impl FitArgs {
    pub(super) fn contrastive_divergence(&self, common: &Common) -> ContrastiveDivergence {
        let usual = ContrastiveDivergence::default();
        ContrastiveDivergence {
            steps: self.contrastive.steps.unwrap_or(usual.steps),
            persistent: self.contrastive.persistent,
            chains: self.engine.chains(),
            batch: self.contrastive.batch.unwrap_or(usual.batch),
            epochs: self.optimizer.iterations(usual.epochs),
            rate: self.optimizer.rate(usual.rate),
            momentum: self.optimizer.momentum(usual.momentum),
            l2: self.l2,
            seed: common.seed,
            budget: self.engine.budget,
            ..usual
        }
    }

    pub(super) fn mean_field_cd(&self) -> MeanFieldCd {
        let usual = MeanFieldCd::default();
        MeanFieldCd {
            steps: self.contrastive.steps.unwrap_or(usual.steps),
            rate: self.optimizer.rate(usual.rate),
            momentum: self.optimizer.momentum(usual.momentum),
            l2: self.l2,
            iterations: self.optimizer.iterations(usual.iterations),
            tolerance: self.optimizer.tolerance(usual.tolerance),
            budget: self.engine.budget,
            ..usual
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_tells_the_library_s_defaults() {
        let usual = ContrastiveDivergence::default();
        assert_eq!((usual.batch, usual.steps, MeanFieldCd::default().steps), (10, 1, 1));
    }
}
