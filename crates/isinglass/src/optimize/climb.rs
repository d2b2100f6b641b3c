//! What every optimiser does at every iteration: tell the observer, keep the best point, see whether it is time to stop.

use std::ops::ControlFlow;

use super::{OptimizerSettings, Optimum, Watch, rounding};
use crate::{Error, Result};

/// The record of one climb.
pub(super) struct Climb<'c, 'w> {
    settings: &'c OptimizerSettings,
    watch: &'c mut Watch<'w>,
    /// Whether values decide; otherwise the gradient does.
    by_value: bool,
    best: Vec<f64>,
    /// The value of the best point; without values to go by, its gradient's largest component, negated.
    best_value: f64,
    converged: bool,
}

impl<'c, 'w> Climb<'c, 'w> {
    pub(super) fn new(settings: &'c OptimizerSettings, watch: &'c mut Watch<'w>, by_value: bool) -> Self {
        Self { settings, watch, by_value, best: Vec::new(), best_value: f64::NEG_INFINITY, converged: false }
    }

    /// Note an iteration, the start being number 0; the reason to stop there, if there is one.
    ///
    /// # Errors
    /// A value or gradient that is not finite; an error of the observer.
    pub(super) fn visit(
        &mut self,
        iteration: usize,
        parameters: &[f64],
        value: f64,
        gradient: &[f64],
    ) -> Result<Option<String>> {
        let norm = largest(gradient);
        if !(value.is_finite() && norm.is_finite()) {
            return Err(self.broken(iteration));
        }
        let height = if self.by_value { value } else { -norm };
        // A flat place below one that was seen before is no optimum.
        self.converged =
            norm <= self.settings.tolerance && height >= self.best_value - rounding(self.best_value);
        if self.converged || height >= self.best_value {
            self.best.clear();
            self.best.extend_from_slice(parameters);
            self.best_value = height;
        }
        let watched = (self.watch)(iteration, parameters, value, norm)?;
        Ok(if self.converged {
            Some(format!("the gradient fell below {:e}", self.settings.tolerance))
        } else if watched == ControlFlow::Break(()) {
            Some("stopped on request".into())
        } else if iteration >= self.settings.iterations {
            Some(format!("reached the limit of {} iterations", self.settings.iterations))
        } else {
            None
        })
    }

    /// The best point, and why the climb stopped.
    pub(super) fn end(self, stopped: String) -> Optimum {
        Optimum { parameters: self.best, converged: self.converged, stopped }
    }

    /// The best point of a climb that can go no higher although the gradient is not small.
    pub(super) fn stuck(self) -> Optimum {
        let stopped = if self.by_value {
            "no further progress at the precision of the objective"
        } else {
            "no step along the gradient could be taken"
        };
        self.end(stopped.into())
    }

    /// The objective has no finite value or gradient.
    pub(super) fn broken(&self, iteration: usize) -> Error {
        let place =
            if iteration == 0 { "at the start".to_owned() } else { format!("after iteration {iteration}") };
        let problem = format!("the objective is not finite {place}");
        Error::Numerical { method: self.settings.method.name(), problem }
    }
}

/// The largest component; not finite if any component is not.
fn largest(gradient: &[f64]) -> f64 {
    let most = |most: f64, x: &f64| if most.is_nan() || x.is_nan() { f64::NAN } else { most.max(x.abs()) };
    gradient.iter().fold(0.0, most)
}
