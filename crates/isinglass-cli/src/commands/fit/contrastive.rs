//! Options of the learners contrastive-divergence and mean-field-cd.

use clap::Args;
use isinglass::learn::{ContrastiveDivergence, MeanFieldCd};

use super::Args as FitArgs;
use super::learner::{LearnerName, Owned};
use super::non_negative;
use crate::options::{Common, Usage, at_least};

/// How far the machine's own states are from the rows.
#[derive(Args)]
#[command(next_help_heading = "Contrastive divergence")]
pub(super) struct ContrastiveOptions {
    /// contrastive-divergence: rows of a mini-batch [default: 10]
    #[arg(long, value_name = "N", value_parser = at_least::<1>)]
    batch: Option<usize>,
    /// contrastive-divergence, mean-field-cd: sweeps from the rows to the machine's own states [default: 1]
    #[arg(long, value_name = "K", value_parser = at_least::<1>)]
    steps: Option<usize>,
    /// contrastive-divergence: how fast the rate falls: in epoch t it is --rate / (1 + X t) [default: 0.5]
    #[arg(long, value_name = "X", value_parser = non_negative, allow_hyphen_values = true)]
    rate_decay: Option<f64>,
    /// contrastive-divergence: the machine's own states go on from where they were, in --chains of their own [default: as many as a mini-batch has rows], and not from the rows
    #[arg(long)]
    persistent: bool,
}

impl ContrastiveOptions {
    pub(super) fn owned(&self) -> [Owned; 4] {
        let sampled: &[LearnerName] = &[LearnerName::ContrastiveDivergence];
        let both: &[LearnerName] = &[LearnerName::ContrastiveDivergence, LearnerName::MeanFieldCd];
        [
            ("--batch", self.batch.is_some(), sampled),
            ("--steps", self.steps.is_some(), both),
            ("--rate-decay", self.rate_decay.is_some(), sampled),
            ("--persistent", self.persistent, sampled),
        ]
    }
}

impl FitArgs {
    /// Refuse options that do not go together.
    pub(super) fn check_contrastive(&self) -> Result<(), Usage> {
        if self.learner == LearnerName::ContrastiveDivergence
            && self.engine.chains().is_some()
            && !self.contrastive.persistent
        {
            return Err(Usage("--chains belongs to --persistent".into()));
        }
        Ok(())
    }

    pub(super) fn contrastive_divergence(&self, common: &Common) -> ContrastiveDivergence {
        let usual = ContrastiveDivergence::default();
        ContrastiveDivergence {
            steps: self.contrastive.steps.unwrap_or(usual.steps),
            persistent: self.contrastive.persistent,
            chains: self.engine.chains(),
            batch: self.contrastive.batch.unwrap_or(usual.batch),
            epochs: self.optimizer.iterations(usual.epochs),
            rate: self.optimizer.rate(usual.rate),
            rate_decay: self.contrastive.rate_decay.unwrap_or(usual.rate_decay),
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
        assert_eq!((usual.rate, usual.rate_decay, usual.momentum, usual.epochs), (0.02, 0.5, 0.5, 10));
        let mean_field = MeanFieldCd::default();
        assert_eq!((mean_field.rate, mean_field.momentum, mean_field.iterations), (0.02, 0.0, 500));
    }
}
