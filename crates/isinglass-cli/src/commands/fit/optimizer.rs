//! How the gradient is followed, from the options.

use clap::Args;
use isinglass_plan::OptimizerName;

use super::non_negative;
use crate::engine_options::named;
use crate::options::below_one;

/// Which optimiser, and when it stops.
#[derive(Args)]
#[command(next_help_heading = "Optimiser")]
pub(super) struct OptimizerOptions {
    /// likelihood, pseudo-likelihood: how to follow the gradient [default: lbfgs]
    #[arg(long, value_name = "OPTIMIZER", value_parser = named::<OptimizerName>())]
    pub(super) optimizer: Option<OptimizerName>,
    /// momentum: the rate; adaptive: the length of the first step [default: 0.1]; contrastive learners [default: 0.02], --m-step gradient [default: 0.01]
    #[arg(long, value_name = "X", value_parser = positive, allow_hyphen_values = true)]
    pub(super) rate: Option<f64>,
    /// momentum: the share of the last step that is kept, below 1 [default: 0.9]; contrastive-divergence [default: 0.5], mean-field-cd [default: 0]
    #[arg(long, value_name = "X", value_parser = below_one, allow_hyphen_values = true)]
    pub(super) momentum: Option<f64>,
    /// Iterations at most [default: 1000; pl-em, mean-field-cd 500]; of contrastive-divergence, passes over the table [default: 10]
    #[arg(long, visible_alias = "epochs", value_name = "N")]
    pub(super) iterations: Option<usize>,
    /// Converged when no component of the gradient is larger [default: 5e-7; pseudo-likelihood 1e-9; mean-field-cd 1e-5]; for pl-em, when parameters move by less on average [default: 5e-4]
    #[arg(long, value_name = "X", value_parser = non_negative, allow_hyphen_values = true)]
    pub(super) tolerance: Option<f64>,
}

/// A finite number above 0.
fn positive(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|x| x.is_finite() && *x > 0.0);
    number.ok_or_else(|| "expected a finite number above 0".into())
}

#[cfg(test)]
mod tests {
    use isinglass::learn::{MeanFieldCd, Method, OptimizerSettings, PseudoLikelihood, PseudoLikelihoodEm};

    #[test]
    #[expect(clippy::float_cmp, reason = "defaults are what they are")]
    fn the_help_tells_the_library_s_defaults() {
        assert_eq!((Method::MOMENTUM_RATE, Method::ADAPTIVE_RATE, Method::MOMENTUM), (0.1, 0.1, 0.9));
        let usual = OptimizerSettings::default();
        assert_eq!((usual.method, usual.iterations, usual.tolerance), (Method::Lbfgs, 1000, 5e-7));
        assert_eq!(PseudoLikelihood::default().settings, OptimizerSettings { tolerance: 1e-9, ..usual });
        let drawn = PseudoLikelihoodEm::default();
        assert_eq!((drawn.iterations, drawn.tolerance), (500, 5e-4));
        assert_eq!(MeanFieldCd::default().tolerance, 1e-5);
    }
}
