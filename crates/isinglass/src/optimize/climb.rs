//! What every optimiser does at every iteration: report it, keep the best point, decide whether to
//! stop; and how it is resumed.

use std::ops::ControlFlow;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{OptimizerSettings, Optimum, Point, Stop, Watch, fits, rounding};
use crate::cancel;
use crate::{Error, Result};

/// The state of a climb after an iteration, from which it is resumed with the same bits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Saved(Vec<u8>);

/// Where a climb begins.
pub(crate) struct Start<'s> {
    /// The parameters at iteration 0.
    pub(crate) parameters: Vec<f64>,
    /// The state of a climb from there, to resume it.
    pub(crate) from: Option<&'s Saved>,
}

impl From<Vec<f64>> for Start<'_> {
    fn from(parameters: Vec<f64>) -> Self {
        Self { parameters, from: None }
    }
}

/// An iteration, as its observer sees it.
pub(crate) struct Visit<'v> {
    /// Counted from 0, the start.
    pub(crate) iteration: usize,
    pub(crate) parameters: &'v [f64],
    pub(crate) value: f64,
    /// The largest component of the gradient.
    pub(crate) gradient_norm: f64,
    /// Whether this is the iteration that a climb is resumed from, reported before.
    pub(crate) again: bool,
    take: &'v dyn Fn() -> Result<Saved>,
}

impl Visit<'_> {
    /// The state of the climb. Making it costs as much as it is large.
    pub(crate) fn take(&self) -> Result<Saved> {
        (self.take)()
    }
}

/// What an optimiser carries from one iteration to the next, beside the record.
pub(super) trait Way: Serialize + DeserializeOwned {
    /// Whether it is one for so many parameters: a state that was read may be anything.
    fn fits(&self, size: usize) -> bool;
}

/// The record of one climb.
pub(super) struct Climb<'c, 'w> {
    settings: &'c OptimizerSettings,
    watch: &'c mut Watch<'w>,
    /// Whether values decide; otherwise the gradient does.
    by_value: bool,
    record: Record,
    /// Whether the next visit is that of the iteration that the climb is resumed from.
    again: bool,
    /// Where it converged.
    converged: Option<Vec<f64>>,
}

/// What has been seen. It does not depend on the limits, so that a climb may be resumed with
/// others.
#[derive(Serialize, Deserialize)]
struct Record {
    /// Iterations that were visited, the start among them.
    visited: usize,
    best: Vec<f64>,
    /// The value of the best point; without values to go by, its gradient's largest component,
    /// negated.
    best_value: f64,
}

impl<'c, 'w> Climb<'c, 'w> {
    pub(super) fn new(settings: &'c OptimizerSettings, watch: &'c mut Watch<'w>, by_value: bool) -> Self {
        let record = Record { visited: 0, best: Vec::new(), best_value: f64::NEG_INFINITY };
        Self { settings, watch, by_value, record, again: false, converged: None }
    }

    /// Returns where to begin: at the start, or where the climb to be resumed stood.
    ///
    /// # Errors
    /// Those of beginning; a state that is none of this optimiser.
    pub(super) fn begin<W: Way>(
        &mut self,
        start: Start<'_>,
        begin: impl FnOnce(Vec<f64>) -> Result<W>,
    ) -> Result<W> {
        let Some(Saved(bytes)) = start.from else { return begin(start.parameters) };
        let size = start.parameters.len();
        let is_ours =
            |(record, way): &(Record, W)| record.visited > 0 && fits(&record.best, size) && way.fits(size);
        let read = postcard::from_bytes(bytes).ok().filter(is_ours);
        let (record, way) = read.ok_or_else(|| Error::checkpoint("it is not one of this optimiser"))?;
        self.record = record;
        self.again = true;
        Ok(way)
    }

    /// The number of the iteration that was visited last, or 0.
    pub(super) fn iteration(&self) -> usize {
        self.record.visited.saturating_sub(1)
    }

    /// Records an iteration, counted from 0, the start; returns the reason to stop there, if any.
    ///
    /// # Errors
    /// A value or gradient that is not finite; an error of the observer.
    pub(super) fn visit(&mut self, here: &Point, way: &impl Way) -> Result<Option<Stop>> {
        self.visit_with(&here.parameters, here.value, &here.gradient, way)
    }

    /// The same, of an optimiser with a gradient of its own.
    pub(super) fn visit_with(
        &mut self,
        parameters: &[f64],
        value: f64,
        gradient: &[f64],
        way: &impl Way,
    ) -> Result<Option<Stop>> {
        cancel::point();
        let again = std::mem::take(&mut self.again);
        if !again {
            self.record.visited += 1;
        }
        let iteration = self.iteration();
        let gradient_norm = largest(gradient);
        if !(value.is_finite() && gradient_norm.is_finite()) {
            return Err(self.broken(iteration));
        }
        let height = if self.by_value { value } else { -gradient_norm };
        // A flat place below one that was seen before is no optimum.
        let best = self.record.best_value;
        if gradient_norm <= self.settings.tolerance && height >= best - rounding(best) {
            self.converged = Some(parameters.to_vec());
        }
        if height >= best {
            self.record.best.clear();
            self.record.best.extend_from_slice(parameters);
            self.record.best_value = height;
        }
        let record = &self.record;
        let take = || {
            let bytes = postcard::to_stdvec(&(record, way));
            bytes.map(Saved).map_err(|error| Error::checkpoint(error.to_string()))
        };
        let watched =
            (self.watch)(&Visit { iteration, parameters, value, gradient_norm, again, take: &take })?;
        Ok(if self.converged.is_some() {
            Some(Stop::Gradient { tolerance: self.settings.tolerance })
        } else if watched == ControlFlow::Break(()) {
            Some(Stop::Requested)
        } else if iteration >= self.settings.iterations {
            Some(Stop::Limit { iterations: self.settings.iterations })
        } else {
            None
        })
    }

    /// The best point, and why the climb stopped.
    pub(super) fn end(self, stopped: Stop) -> Optimum {
        let converged = self.converged.is_some();
        Optimum { parameters: self.converged.unwrap_or(self.record.best), converged, stopped }
    }

    /// The best point of a climb that can go no higher although the gradient is not small.
    pub(super) fn stuck(self) -> Optimum {
        let stopped = if self.by_value { Stop::NoProgress } else { Stop::NoStep };
        self.end(stopped)
    }

    /// The objective has no finite value or gradient.
    fn broken(&self, iteration: usize) -> Error {
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
