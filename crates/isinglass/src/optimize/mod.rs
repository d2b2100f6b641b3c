//! Optimisers: each [`Method`] maximises a function with its gradient.
//!
//! What they share (the record of the best point, the reasons to stop) is in `climb`.

mod adaptive;
mod cg;
mod climb;
mod lbfgs;
mod line_search;
pub(crate) mod memory;
mod momentum;
mod orthant;
mod remembered;
mod secant;
mod stop;
#[cfg(test)]
mod tests;

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use self::climb::Climb;
pub(crate) use self::climb::{Saved, Start, Visit};
use self::memory::dot;
pub(crate) use self::orthant::{Evaluated, Model, maximize_sparse, one_sided};
pub(crate) use self::remembered::Remembered;
pub use self::stop::{Period, Stop};
use crate::settings::choices;
use crate::{Error, Result};

/// A function to be made large, value and gradient in one call on plain slices.
pub trait Objective {
    /// The value at the parameters; the gradient is written into the slice.
    fn value_and_gradient(&self, parameters: &[f64], gradient: &mut [f64]) -> Result<f64>;

    /// The value alone. To be given by objectives for which that is cheaper.
    fn value(&self, parameters: &[f64]) -> Result<f64> {
        self.value_and_gradient(parameters, &mut vec![0.0; parameters.len()])
    }

    /// Whether the gradient is that of the value. If not, optimisers look for a zero of the
    /// gradient, and values decide nothing.
    fn gradient_is_of_value(&self) -> bool {
        true
    }

    /// Multiplies a gradient by an estimate of the inverse curvature: symmetric, positive definite,
    /// and the same everywhere. By default it is the identity.
    fn precondition(&self, _gradient: &mut [f64]) {}
}

choices! {
    /// How a learner follows its gradient.
    ///
    /// | optimizer | evaluations an iteration | good for |
    /// |---|---|---|
    /// | [`Lbfgs`](Optimizer::Lbfgs) | about 1 | nearly everything |
    /// | [`Cg`](Optimizer::Cg) | about 2 | very many parameters: it keeps two vectors only |
    /// | [`Momentum`](Optimizer::Momentum) | 1 | comparison with the literature; an objective with noise |
    /// | [`Adaptive`](Optimizer::Adaptive) | 2 to 3, one of them without gradient | no rate to be chosen, and an objective that never falls |
    pub enum Optimizer = Lbfgs {
        /// Limited-memory BFGS.
        Lbfgs = "lbfgs",
        /// Nonlinear conjugate gradients.
        Cg = "cg",
        /// Gradient ascent with a fixed rate and momentum.
        Momentum = "momentum",
        /// Gradient ascent whose rate adapts itself; the objective never falls.
        Adaptive = "adaptive",
    }
}

/// How to follow the gradient, with its numbers.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) enum Method {
    /// Limited-memory BFGS (Liu and Nocedal 1989) with a strong-Wolfe line search. For a gradient
    /// that is not that of the value, the same steps, shortened as the gradient itself requires.
    #[default]
    Lbfgs,
    /// Nonlinear conjugate gradients: the Polak–Ribière formula, cut off at 0 (Gilbert and Nocedal
    /// 1992), with a strong-Wolfe line search; restarted with the gradient wherever the direction
    /// hardly rises.
    Cg,
    /// Gradient ascent with a fixed rate and a heavy ball (Polyak 1964): `v ← μ v + η ∇L`, `x ← x +
    /// v`.
    ///
    /// The best point seen is kept. An iteration may lower the objective; with too large a rate it
    /// diverges, and the fit reports it.
    Momentum {
        /// The rate η, above 0.
        rate: f64,
        /// The share μ of the last step that is kept, from 0 to below 1.
        momentum: f64,
    },
    /// Steps along the normalised gradient whose length adapts itself (Rüger 1996, *Stable dynamic
    /// parameter adaptation*, NIPS 8).
    ///
    /// ```text
    /// g  = ∇L(x) / |∇L(x)|
    /// η' = ηζ  if L(x + ηζ g) ≥ L(x + g η/ζ),  otherwise η/ζ            ζ = 1.8
    /// x' = x + η' g
    /// ```
    ///
    /// If `L(x')` were below `L(x)`, η' is divided by ζ until it is not: the objective never falls.
    /// Values are compared, not slopes, so η follows the best length by at most a factor of ζ an
    /// iteration.
    Adaptive {
        /// The length η of the first step, above 0.
        rate: f64,
    },
}

impl Method {
    /// The rate of [`Method::Momentum`] and the first length of [`Method::Adaptive`] by default.
    const RATE: f64 = 0.1;
    /// The momentum of [`Method::Momentum`] by default.
    const MOMENTUM: f64 = 0.9;

    /// The method of an optimizer.
    pub(crate) fn new(optimizer: Optimizer, rate: Option<f64>, momentum: Option<f64>) -> Self {
        let rate = rate.unwrap_or(Self::RATE);
        match optimizer {
            Optimizer::Lbfgs => Self::Lbfgs,
            Optimizer::Cg => Self::Cg,
            Optimizer::Momentum => Self::Momentum { rate, momentum: momentum.unwrap_or(Self::MOMENTUM) },
            Optimizer::Adaptive => Self::Adaptive { rate },
        }
    }

    /// The method in words.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Lbfgs => "L-BFGS",
            Self::Cg => "conjugate gradients",
            Self::Momentum { .. } => "gradient ascent with momentum",
            Self::Adaptive { .. } => "adaptive gradient ascent",
        }
    }
}

/// Refuses a rate or momentum that the optimizer does not have.
pub(crate) fn check_numbers(optimizer: Optimizer, rate: Option<f64>, momentum: Option<f64>) -> Result<()> {
    if rate.is_some() && !matches!(optimizer, Optimizer::Momentum | Optimizer::Adaptive) {
        return Err(Error::requires("rate", "optimizer", "momentum and adaptive"));
    }
    if momentum.is_some() && optimizer != Optimizer::Momentum {
        return Err(Error::requires("momentum", "optimizer", "momentum"));
    }
    Ok(())
}

/// How to optimise, and when to stop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct OptimizerSettings {
    /// How to follow the gradient.
    pub(crate) method: Method,
    /// Largest number of iterations.
    pub(crate) iterations: usize,
    /// Converged when no component of the gradient is larger than this.
    pub(crate) tolerance: f64,
}

/// The best point found.
pub(crate) struct Optimum {
    pub(crate) parameters: Vec<f64>,
    pub(crate) converged: bool,
    pub(crate) stopped: Stop,
}

/// Called at every iteration.
pub(crate) type Watch<'w> = dyn FnMut(&Visit<'_>) -> Result<ControlFlow<()>> + 'w;

/// Maximises from a start, or resumes a climb, by the method of the settings.
pub(crate) fn maximize(
    objective: &dyn Objective,
    start: Start<'_>,
    settings: &OptimizerSettings,
    watch: &mut Watch<'_>,
) -> Result<Optimum> {
    let of_value = objective.gradient_is_of_value();
    let climb = Climb::new(settings, watch, of_value);
    match settings.method {
        Method::Cg | Method::Adaptive { .. } if !of_value => Err(Error::CannotDo {
            who: settings.method.name(),
            what: "follow this gradient".into(),
            why: "it compares values, and the engine's moments are not the derivatives of its log Z; take L-BFGS or momentum".into(),
        }),
        Method::Lbfgs if !of_value => secant::maximize(objective, start, climb),
        Method::Lbfgs => lbfgs::maximize(objective, start, climb),
        Method::Cg => cg::maximize(objective, start, climb),
        Method::Momentum { rate, momentum } => momentum::maximize(objective, start, (rate, momentum), climb),
        Method::Adaptive { rate } => adaptive::maximize(objective, start, rate, climb),
    }
}

/// A place with its value and gradient.
#[derive(Serialize, Deserialize)]
struct Point {
    parameters: Vec<f64>,
    value: f64,
    gradient: Vec<f64>,
}

impl Point {
    /// The start, where an objective without a value is an error.
    fn start(objective: &dyn Objective, parameters: Vec<f64>) -> Result<Self> {
        let mut gradient = vec![0.0; parameters.len()];
        let value = objective.value_and_gradient(&parameters, &mut gradient)?;
        Ok(Self { parameters, value, gradient })
    }

    /// A place to try: its value is −∞ where the parameters overflow or the objective has no finite
    /// value.
    fn trial(objective: &dyn Objective, parameters: Vec<f64>) -> Result<Self> {
        let mut gradient = vec![0.0; parameters.len()];
        let value =
            finite_or_lowest(&parameters, || objective.value_and_gradient(&parameters, &mut gradient))?;
        Ok(Self { parameters, value, gradient })
    }

    /// Whether it is one of so many parameters.
    fn fits(&self, size: usize) -> bool {
        self.value.is_finite() && fits(&self.parameters, size) && fits(&self.gradient, size)
    }

    /// The parameters a step away.
    fn moved(&self, step: f64, direction: &[f64]) -> Vec<f64> {
        self.parameters.iter().zip(direction).map(|(x, d)| step.mul_add(*d, *x)).collect()
    }
}

/// Whether there are so many numbers, all of them finite.
fn fits(numbers: &[f64], size: usize) -> bool {
    numbers.len() == size && numbers.iter().all(|x| x.is_finite())
}

/// The value at a place to try: −∞ where the parameters overflow or the objective has no finite
/// value.
fn trial_value(objective: &dyn Objective, parameters: &[f64]) -> Result<f64> {
    finite_or_lowest(parameters, || objective.value(parameters))
}

fn finite_or_lowest(parameters: &[f64], value: impl FnOnce() -> Result<f64>) -> Result<f64> {
    if parameters.iter().any(|x| !x.is_finite()) {
        return Ok(f64::NEG_INFINITY);
    }
    match value() {
        Ok(value) if value.is_finite() => Ok(value),
        // An engine that cannot compute with numbers as large as these says that the step was too long.
        Ok(_) => Ok(f64::NEG_INFINITY),
        Err(error) if error.is_breakdown() => Ok(f64::NEG_INFINITY),
        Err(other) => Err(other),
    }
}

/// By how much two values may differ through rounding alone.
fn rounding(value: f64) -> f64 {
    64.0 * f64::EPSILON * value.abs().max(1.0)
}
