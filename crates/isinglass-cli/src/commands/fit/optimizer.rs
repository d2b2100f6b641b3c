//! How the gradient is followed, from the options.

use clap::{Args, ValueEnum};
use isinglass::learn::{Method, OptimizerSettings};

use super::learner::{LearnerName, Owned, STEPWISE};
use super::non_negative;
use crate::options::{Usage, below_one};

/// Which optimiser, and when it stops.
#[derive(Args)]
#[command(next_help_heading = "Optimiser")]
pub(super) struct OptimizerOptions {
    /// likelihood, pseudo-likelihood: how to follow the gradient [default: lbfgs]
    #[arg(long, value_name = "OPTIMIZER")]
    optimizer: Option<OptimizerName>,
    /// momentum: the rate; adaptive: the length of the first step [default: 0.1]; contrastive learners [default: 0.02], --m-step gradient [default: 0.01]
    #[arg(long, value_name = "X", value_parser = positive, allow_hyphen_values = true)]
    rate: Option<f64>,
    /// momentum: the share of the last step that is kept, below 1 [default: 0.9]; contrastive-divergence [default: 0.5], mean-field-cd [default: 0]
    #[arg(long, value_name = "X", value_parser = below_one, allow_hyphen_values = true)]
    momentum: Option<f64>,
    /// Iterations at most [default: 1000; pl-em, mean-field-cd 500]; of contrastive-divergence, passes over the table [default: 10]
    #[arg(long, visible_alias = "epochs", value_name = "N")]
    iterations: Option<usize>,
    /// Converged when no component of the gradient is larger [default: 5e-7; pseudo-likelihood 1e-9; mean-field-cd 1e-5]; for pl-em, when parameters move by less on average [default: 5e-4]
    #[arg(long, value_name = "X", value_parser = non_negative, allow_hyphen_values = true)]
    tolerance: Option<f64>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OptimizerName {
    /// Limited-memory BFGS
    Lbfgs,
    /// Nonlinear conjugate gradients
    Cg,
    /// Gradient ascent with --rate and --momentum
    Momentum,
    /// Gradient ascent whose rate adapts itself; the objective never falls
    Adaptive,
}

impl OptimizerOptions {
    pub(super) fn owned(&self) -> [Owned; 5] {
        use LearnerName::{ContrastiveDivergence, Likelihood, MeanFieldCd, PlEm, PseudoLikelihood};
        let followed: &[LearnerName] = &[Likelihood, PseudoLikelihood];
        let swinging: &[LearnerName] = &[Likelihood, PseudoLikelihood, ContrastiveDivergence, MeanFieldCd];
        let settling: &[LearnerName] = &[Likelihood, PseudoLikelihood, PlEm, MeanFieldCd];
        [
            ("--optimizer", self.optimizer.is_some(), followed),
            ("--rate", self.rate.is_some(), STEPWISE),
            ("--momentum", self.momentum.is_some(), swinging),
            ("--iterations", self.iterations.is_some(), STEPWISE),
            ("--tolerance", self.tolerance.is_some(), settling),
        ]
    }

    /// Refuse options that do not belong to the optimiser, for learners that have one.
    pub(super) fn check(&self, learner: LearnerName, steps_are_asked: bool) -> Result<(), Usage> {
        use LearnerName::{Auto, Likelihood, PlEm, PseudoLikelihood};
        if learner == PlEm && self.rate.is_some() && !steps_are_asked {
            return Err(Usage("--rate belongs to --m-step gradient".into()));
        }
        if !matches!(learner, Auto | Likelihood | PseudoLikelihood) {
            return Ok(());
        }
        let name = self.optimizer.unwrap_or(OptimizerName::Lbfgs);
        if self.rate.is_some() && !matches!(name, OptimizerName::Momentum | OptimizerName::Adaptive) {
            let problem =
                format!("--rate belongs to --optimizer momentum and adaptive, not to {}", name.word());
            return Err(Usage(problem));
        }
        if self.momentum.is_some() && name != OptimizerName::Momentum {
            let problem = format!("--momentum belongs to --optimizer momentum, not to {}", name.word());
            return Err(Usage(problem));
        }
        Ok(())
    }

    /// How to follow a gradient; where nothing is said, as usual.
    pub(super) fn settings(&self, usual: OptimizerSettings) -> OptimizerSettings {
        let method = match self.optimizer {
            None => usual.method,
            Some(OptimizerName::Lbfgs) => Method::Lbfgs,
            Some(OptimizerName::Cg) => Method::Cg,
            Some(OptimizerName::Momentum) => Method::Momentum {
                rate: self.rate.unwrap_or(Method::MOMENTUM_RATE),
                momentum: self.momentum.unwrap_or(Method::MOMENTUM),
            },
            Some(OptimizerName::Adaptive) => {
                Method::Adaptive { rate: self.rate.unwrap_or(Method::ADAPTIVE_RATE) }
            }
        };
        OptimizerSettings {
            method,
            iterations: self.iterations(usual.iterations),
            tolerance: self.tolerance(usual.tolerance),
        }
    }

    pub(super) fn iterations(&self, usual: usize) -> usize {
        self.iterations.unwrap_or(usual)
    }

    pub(super) fn tolerance(&self, usual: f64) -> f64 {
        self.tolerance.unwrap_or(usual)
    }

    pub(super) fn rate(&self, usual: f64) -> f64 {
        self.rate.unwrap_or(usual)
    }

    pub(super) fn momentum(&self, usual: f64) -> f64 {
        self.momentum.unwrap_or(usual)
    }
}

impl OptimizerName {
    fn word(self) -> &'static str {
        match self {
            Self::Lbfgs => "lbfgs",
            Self::Cg => "cg",
            Self::Momentum => "momentum",
            Self::Adaptive => "adaptive",
        }
    }
}

/// A finite number above 0.
fn positive(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|x| x.is_finite() && *x > 0.0);
    number.ok_or_else(|| "expected a finite number above 0".into())
}

#[cfg(test)]
mod tests {
    use isinglass::learn::{MeanFieldCd, PseudoLikelihood, PseudoLikelihoodEm};

    use super::*;

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
