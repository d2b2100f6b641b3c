//! How the gradient is followed, from the options.

use clap::{Args, ValueEnum};
use isinglass::learn::{Method, OptimizerSettings};

use super::non_negative;
use crate::options::{Usage, below_one};

/// Which optimiser, and when it stops.
#[derive(Args)]
pub(super) struct OptimizerOptions {
    /// likelihood: how to follow the gradient [default: lbfgs]
    #[arg(long, value_name = "OPTIMIZER")]
    optimizer: Option<OptimizerName>,
    /// momentum: the rate; adaptive: the length of the first step [default: 0.1]
    #[arg(long, value_name = "X", value_parser = positive, allow_hyphen_values = true)]
    rate: Option<f64>,
    /// momentum: the share of the last step that is kept, below 1 [default: 0.9]
    #[arg(long, value_name = "X", value_parser = below_one, allow_hyphen_values = true)]
    momentum: Option<f64>,
    /// likelihood: iterations at most
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(super) iterations: usize,
    /// likelihood: converged when no component of the gradient is larger
    #[arg(long, value_name = "X", default_value = "5e-7", value_parser = non_negative, allow_hyphen_values = true)]
    tolerance: f64,
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
    /// What the library is to do; options that do not belong to the optimiser are refused.
    pub(super) fn settings(&self) -> Result<OptimizerSettings, Usage> {
        let name = self.optimizer.unwrap_or(OptimizerName::Lbfgs);
        let takes_rate = matches!(name, OptimizerName::Momentum | OptimizerName::Adaptive);
        if self.rate.is_some() && !takes_rate {
            let problem =
                format!("--rate belongs to --optimizer momentum and adaptive, not to {}", name.word());
            return Err(Usage(problem));
        }
        if self.momentum.is_some() && name != OptimizerName::Momentum {
            let problem = format!("--momentum belongs to --optimizer momentum, not to {}", name.word());
            return Err(Usage(problem));
        }
        let method = match name {
            OptimizerName::Lbfgs => Method::Lbfgs,
            OptimizerName::Cg => Method::Cg,
            OptimizerName::Momentum => Method::Momentum {
                rate: self.rate.unwrap_or(Method::MOMENTUM_RATE),
                momentum: self.momentum.unwrap_or(Method::MOMENTUM),
            },
            OptimizerName::Adaptive => Method::Adaptive { rate: self.rate.unwrap_or(Method::ADAPTIVE_RATE) },
        };
        Ok(OptimizerSettings { method, iterations: self.iterations, tolerance: self.tolerance })
    }

    /// The first option given that only following a gradient can use.
    pub(super) fn given(&self) -> Option<&'static str> {
        let given = [
            (self.optimizer.is_some(), "--optimizer"),
            (self.rate.is_some(), "--rate"),
            (self.momentum.is_some(), "--momentum"),
        ];
        given.into_iter().find(|(is_given, _)| *is_given).map(|(_, option)| option)
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
    use super::*;

    #[test]
    fn the_help_tells_the_library_s_defaults() {
        assert_eq!((Method::MOMENTUM_RATE, Method::ADAPTIVE_RATE, Method::MOMENTUM), (0.1, 0.1, 0.9));
        let settings = OptimizerSettings::default();
        assert_eq!((settings.method, settings.iterations, settings.tolerance), (Method::Lbfgs, 1000, 5e-7));
    }
}
