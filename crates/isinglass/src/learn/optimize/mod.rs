//! The seam to the optimiser crate: maximise a function with its gradient.
//!
//! Nothing outside this folder knows which crate does the work.

mod lbfgs;

use std::ops::ControlFlow;

use crate::{Error, Result};

/// A function to be made large, value and gradient in one call on plain slices.
pub trait Objective {
    /// The value at the parameters; the gradient is written into the slice.
    fn value_and_gradient(&self, parameters: &[f64], gradient: &mut [f64]) -> Result<f64>;
}

/// When to stop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OptimizerSettings {
    /// Iterations at most.
    pub iterations: usize,
    /// Converged when no component of the gradient is larger than this.
    pub tolerance: f64,
}

impl Default for OptimizerSettings {
    fn default() -> Self {
        Self { iterations: 1000, tolerance: 5e-7 }
    }
}

/// The best point found.
pub(super) struct Optimum {
    pub(super) parameters: Vec<f64>,
    pub(super) value: f64,
    pub(super) converged: bool,
    pub(super) stopped: String,
}

/// Told of every iteration: its number, parameters, value and largest gradient component.
pub(super) type Watch<'w> = dyn FnMut(usize, &[f64], f64, f64) -> Result<ControlFlow<()>> + 'w;

/// Maximise by L-BFGS.
pub(super) fn maximize(
    objective: &dyn Objective,
    start: Vec<f64>,
    settings: &OptimizerSettings,
    watch: &mut Watch<'_>,
) -> Result<Optimum> {
    if !(settings.tolerance.is_finite() && settings.tolerance >= 0.0) {
        let problem = format!("found {}, expected a finite number of at least 0", settings.tolerance);
        return Err(Error::invalid("tolerance", problem));
    }
    lbfgs::maximize(objective, start, settings, watch)
}

/// The largest component; not finite if any component is not.
fn largest(gradient: &[f64]) -> f64 {
    let most = |most: f64, x: &f64| if most.is_nan() || x.is_nan() { f64::NAN } else { most.max(x.abs()) };
    gradient.iter().fold(0.0, most)
}
