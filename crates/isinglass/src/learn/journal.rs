//! The iterations of a fit that follows a gradient: told to an observer, kept, and gone on with.

use std::ops::ControlFlow;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::origin::Origin;
use super::{Observer, State, Step};
use crate::optimize::{OptimizerSettings, Saved, Visit};
use crate::{Error, Machine, Result};

/// The steps so far, and what their states belong to.
pub(super) struct Journal<'a> {
    origin: Origin<'a>,
    tolerance: f64,
    pub(super) history: Vec<Step>,
}

/// What a state holds; `more` is what the learner remembers beside its optimiser.
#[derive(Serialize, Deserialize)]
struct Kept<H, M> {
    tolerance: f64,
    history: H,
    climb: Saved,
    more: M,
}

/// Where a fit that was interrupted goes on: with its optimiser there, and with what the learner remembered beside it.
pub(super) struct Resumed<M> {
    pub(super) climb: Saved,
    pub(super) more: M,
}

impl<'a> Journal<'a> {
    /// An empty one, or that of the state to go on from.
    ///
    /// # Errors
    /// A state of another origin, or one at which these settings would have stopped before.
    pub(super) fn open<M: DeserializeOwned>(
        origin: Origin<'a>,
        settings: &OptimizerSettings,
        from: Option<&State>,
    ) -> Result<(Self, Option<Resumed<M>>)> {
        let tolerance = settings.tolerance;
        let Some(state) = from else { return Ok((Self { origin, tolerance, history: Vec::new() }, None)) };
        let kept: Kept<Vec<Step>, M> = origin.read(state)?;
        let refuse = |problem: String| Err(Error::invalid("state", problem));
        if kept.history.iter().enumerate().any(|(k, step)| step.iteration != k) || kept.history.is_empty() {
            return refuse("its iterations are not in order".into());
        }
        let iteration = kept.history.len() - 1;
        if iteration > settings.iterations {
            let most = settings.iterations;
            return refuse(format!("it is of iteration {iteration}, beyond the limit of {most} iterations"));
        }
        if tolerance > kept.tolerance {
            let old = kept.tolerance;
            return refuse(format!(
                "it is of a fit with tolerance {old:e}, and with {tolerance:e} that might have ended before"
            ));
        }
        let resumed = Resumed { climb: kept.climb, more: kept.more };
        Ok((Self { origin, tolerance, history: kept.history }, Some(resumed)))
    }

    /// Keep an iteration and tell the observer, who may take the state; one that was told before is passed over.
    pub(super) fn tell(
        &mut self,
        visit: &Visit<'_>,
        machine: &Machine,
        more: &impl Serialize,
        observer: &mut dyn Observer,
    ) -> Result<ControlFlow<()>> {
        if visit.again {
            return Ok(ControlFlow::Continue(()));
        }
        let step =
            Step { iteration: visit.iteration, objective: visit.value, gradient_norm: visit.gradient_norm };
        self.history.push(step);
        let flow = observer.step(&step, machine)?;
        observer.state(&step, &|| {
            let climb = visit.take()?;
            self.origin.state(&Kept { tolerance: self.tolerance, history: &self.history, climb, more })
        })?;
        Ok(flow)
    }
}
