//! Options of the learners contrastive-divergence and mean-field-cd.

use clap::Args;

use super::learner::{LearnerName, Owned};
use crate::options::at_least;

/// How far the machine's own states are from the rows.
#[derive(Args)]
pub(super) struct ContrastiveOptions {
    /// contrastive-divergence: rows of a mini-batch; mean-field-cd: all rows
    #[arg(long, value_name = "N", value_parser = at_least::<1>)]
    batch: Option<usize>,
    /// contrastive-divergence, mean-field-cd: sweeps from the rows to the machine's own states
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
