//! Options of the learners contrastive-divergence and mean-field-cd.

use clap::Args;

use super::non_negative;
use crate::options::at_least;

/// How far the machine's own states are from the rows.
#[derive(Args)]
#[command(next_help_heading = "Contrastive divergence")]
pub(super) struct ContrastiveOptions {
    /// contrastive-divergence: rows of a mini-batch [default: 10]
    #[arg(long, value_name = "N", value_parser = at_least::<1>)]
    pub(super) batch: Option<usize>,
    /// contrastive-divergence, mean-field-cd: sweeps from the rows to the machine's own states [default: 1]
    #[arg(long, value_name = "K", value_parser = at_least::<1>)]
    pub(super) steps: Option<usize>,
    /// contrastive-divergence: how fast the rate falls: in epoch t it is --rate / (1 + X t) [default: 0.5]
    #[arg(long, value_name = "X", value_parser = non_negative, allow_hyphen_values = true)]
    pub(super) rate_decay: Option<f64>,
    /// contrastive-divergence: the machine's own states go on from where they were, in --chains of their own [default: as many as a mini-batch has rows], and not from the rows
    #[arg(long)]
    pub(super) persistent: bool,
}

#[cfg(test)]
mod tests {
    use isinglass::learn::{ContrastiveDivergence, MeanFieldCd};

    #[test]
    fn the_help_tells_the_library_s_defaults() {
        let usual = ContrastiveDivergence::default();
        assert_eq!((usual.batch, usual.steps, MeanFieldCd::default().steps), (10, 1, 1));
        assert_eq!((usual.rate, usual.rate_decay, usual.momentum, usual.epochs), (0.02, 0.5, 0.5, 10));
        let mean_field = MeanFieldCd::default();
        assert_eq!((mean_field.rate, mean_field.momentum, mean_field.iterations), (0.02, 0.0, 500));
    }
}
