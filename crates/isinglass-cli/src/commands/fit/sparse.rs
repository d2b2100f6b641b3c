//! Options of the learner pseudo-likelihood that make couplings exactly 0.

use clap::Args;
use isinglass_plan::{L1, RuleName};

use super::non_negative;
use crate::engine_options::named;

/// Which couplings are there at all.
#[derive(Args)]
#[command(next_help_heading = "Pseudo-likelihood")]
pub(super) struct SparseOptions {
    /// Penalise couplings with X times the sum of their absolute values, which makes many exactly 0; or ebic: choose the penalty for each column by the extended BIC
    #[arg(long, value_name = "X|ebic", allow_hyphen_values = true)]
    pub(super) l1: Option<L1>,
    /// --l1 ebic: the larger, the fewer couplings; 0 is the plain BIC [default: 0.25]
    #[arg(long, value_name = "X", value_parser = non_negative, allow_hyphen_values = true)]
    pub(super) gamma: Option<f64>,
    /// --l1 ebic: a coupling stays if both of its columns want it, or if either does [default: and]
    #[arg(long, value_name = "RULE", value_parser = named::<RuleName>())]
    pub(super) rule: Option<RuleName>,
}

#[cfg(test)]
mod tests {
    use isinglass::learn::{EbicPaths, Rule};

    #[test]
    fn the_help_tells_the_library_s_defaults() {
        let usual = EbicPaths::default();
        assert_eq!((usual.gamma, usual.rule), (0.25, Rule::And));
    }
}
