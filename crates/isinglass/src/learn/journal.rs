//! The iterations of a fit: reported to an observer, recorded, and resumed.

use std::ops::ControlFlow;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::origin::Origin;
use super::{Checkpoint, Observer, Step};
use crate::optimize::{OptimizerSettings, Period, Saved, Stop, Visit};
use crate::{Error, Machine, Result};

/// The steps so far, and what their states belong to.
pub(super) struct Journal<'a> {
    origin: Origin<'a>,
    tolerance: f64,
    pub(super) history: Vec<Step>,
}

/// When a fit ends. It may be resumed with other limits, unless these would have ended it before.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    pub(super) iterations: usize,
    /// The fit has converged when what it watches is not above this.
    pub(super) tolerance: f64,
    /// What is counted.
    pub(super) period: Period,
}

/// What a checkpoint holds; `rest` is what the learner needs to resume.
#[derive(Serialize, Deserialize)]
struct Kept<H, R> {
    tolerance: f64,
    history: H,
    rest: R,
}

/// Where a fit is resumed: the state of its optimiser, and of the learner.
pub(super) struct Resumed<M> {
    pub(super) climb: Saved,
    pub(super) more: M,
}

impl<'a> Journal<'a> {
    /// One with some steps already, for a fit that does not converge.
    pub(super) fn with_history(origin: Origin<'a>, history: Vec<Step>) -> Self {
        Self { origin, tolerance: 0.0, history }
    }

    /// An empty one, or that of the checkpoint to resume from, for a fit by an optimiser.
    ///
    /// # Errors
    /// A state of another origin, or one at which these settings would have stopped before.
    pub(super) fn open<M: DeserializeOwned>(
        origin: Origin<'a>,
        settings: &OptimizerSettings,
        from: Option<&Checkpoint>,
    ) -> Result<(Self, Option<Resumed<M>>)> {
        let limits = Limits {
            iterations: settings.iterations,
            tolerance: settings.tolerance,
            period: Period::Iteration,
        };
        let (journal, rest) = Self::open_within(origin, limits, from)?;
        Ok((journal, rest.map(|(climb, more)| Resumed { climb, more })))
    }

    /// An empty one, or that of the checkpoint to resume from, with what its learner needs.
    fn open_within<R: DeserializeOwned>(
        origin: Origin<'a>,
        limits: Limits,
        from: Option<&Checkpoint>,
    ) -> Result<(Self, Option<R>)> {
        let Limits { iterations: most, tolerance, period } = limits;
        let Some(state) = from else { return Ok((Self { origin, tolerance, history: Vec::new() }, None)) };
        let kept: Kept<Vec<Step>, R> = origin.read(state)?;
        let refuse = |problem: String| Err(Error::checkpoint(problem));
        if kept.history.iter().enumerate().any(|(k, step)| step.iteration != k) || kept.history.is_empty() {
            return refuse(format!("its {period}s are not in order"));
        }
        let last = kept.history.len() - 1;
        if last > most {
            return refuse(format!("it is of {period} {last}, beyond the limit of {most} {period}s"));
        }
        if tolerance > kept.tolerance {
            let old = kept.tolerance;
            return refuse(format!(
                "it is of a fit with tolerance {old:e}, and with {tolerance:e} that might have ended before"
            ));
        }
        Ok((Self { origin, tolerance, history: kept.history }, Some(kept.rest)))
    }

    /// Records an iteration and reports it to the observer; one that was reported before is
    /// skipped.
    pub(super) fn report(
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
        self.put(step, machine, &|| Ok((visit.take()?, more)), observer)
    }

    /// Records a step and reports it to the observer, who may take a checkpoint.
    fn put<R: Serialize>(
        &mut self,
        step: Step,
        machine: &Machine,
        rest: &dyn Fn() -> Result<R>,
        observer: &mut dyn Observer,
    ) -> Result<ControlFlow<()>> {
        self.history.push(step);
        let flow = observer.step(&step, machine)?;
        observer.checkpoint(&step, &|| {
            self.origin.state(&Kept { tolerance: self.tolerance, history: &self.history, rest: rest()? })
        })?;
        Ok(flow)
    }
}

/// Reads a checkpoint of the same structure and learner, whatever its numbers, table and settings:
/// the steps, and what the learner needs to resume.
///
/// # Errors
/// A state of another learner or structure.
pub(super) fn left_behind<R: DeserializeOwned>(
    origin: &Origin<'_>,
    state: &Checkpoint,
) -> Result<(Vec<Step>, R)> {
    let kept: Kept<Vec<Step>, R> = origin.read_of_structure(state)?;
    Ok((kept.history, kept.rest))
}

/// The state of a fit that has ended.
pub(super) fn state_at_the_end(
    origin: &Origin<'_>,
    history: &[Step],
    rest: &impl Serialize,
) -> Result<Checkpoint> {
    origin.state(&Kept { tolerance: 0.0, history, rest })
}

/// A fit that makes its iterations itself, without an optimiser.
pub(super) trait Iterated {
    /// What is needed to resume, as read from a checkpoint.
    type Rest: DeserializeOwned;

    /// The same, as it is put in.
    fn rest(&self) -> impl Serialize;

    /// Resumes from an iteration.
    ///
    /// # Errors
    /// What was read is not of this machine.
    fn restore(&mut self, rest: Self::Rest, iteration: usize) -> Result<()>;

    /// Evaluates the start.
    fn begin(&mut self) -> Result<Step>;

    /// Makes an iteration. Returns `None` if parameters diverge: the machine, and all that the
    /// result is made of, are then unchanged.
    fn advance(&mut self, iteration: usize) -> Result<Option<Step>>;

    /// The machine of the last iteration.
    fn machine(&self) -> &Machine;

    /// By what the fit has converged with its last step, if it has.
    fn converged(&self, last: &Step, tolerance: f64) -> Option<Stop>;

    /// Why a fit ends that has made all its iterations.
    fn complete(&self, limits: Limits) -> Stop {
        Stop::Limit { iterations: limits.iterations }
    }

    /// The rate of its steps, where it has one.
    fn rate(&self) -> Option<f64>;
}

/// How a fit ended.
pub(super) struct Ended {
    pub(super) history: Vec<Step>,
    pub(super) converged: bool,
    pub(super) stopped: Stop,
    /// Whether parameters diverged: the fit cannot be resumed then.
    pub(super) diverged: bool,
}

/// Iterates from the start or from a checkpoint, until the fit has converged or must stop.
///
/// # Errors
/// A state of another origin, or one at which these limits would have stopped the fit before;
/// [`Error::Numerical`] where parameters run away in the first iteration. Later, the machine of the
/// iteration before is kept.
pub(super) fn iterate<I: Iterated>(
    method: &'static str,
    fit: &mut I,
    (origin, limits): (Origin<'_>, Limits),
    from: Option<&Checkpoint>,
    observer: &mut dyn Observer,
) -> Result<Ended> {
    let (journal, rest) = Journal::open_within(origin, limits, from)?;
    if let Some(rest) = rest {
        fit.restore(rest, journal.history.len() - 1)?;
    }
    iterate_on(method, fit, journal, limits, observer)
}

/// Iterates with a journal: from where it ends, or from the start if it is empty.
pub(super) fn iterate_on<I: Iterated>(
    method: &'static str,
    fit: &mut I,
    mut journal: Journal<'_>,
    limits: Limits,
    observer: &mut dyn Observer,
) -> Result<Ended> {
    let mut flow = ControlFlow::Continue(());
    if journal.history.is_empty() {
        let step = fit.begin()?;
        flow = journal.put(step, fit.machine(), &|| Ok(fit.rest()), observer)?;
    }
    loop {
        // The start has been reported, or was read with the checkpoint.
        let last = journal.history[journal.history.len() - 1];
        let mut diverges = false;
        let end = if let Some(stopped) = fit.converged(&last, limits.tolerance) {
            Some((true, stopped))
        } else if last.iteration >= limits.iterations {
            Some((false, fit.complete(limits)))
        } else if flow == ControlFlow::Break(()) {
            Some((false, Stop::Requested))
        } else if let Some(step) = fit.advance(last.iteration + 1)? {
            flow = journal.put(step, fit.machine(), &|| Ok(fit.rest()), observer)?;
            None
        } else {
            let (period, iteration) = (limits.period, last.iteration + 1);
            let stopped = Stop::Diverged { period, iteration, rate: fit.rate() };
            if iteration == 1 {
                return Err(Error::Numerical { method, problem: stopped.to_string() });
            }
            diverges = true;
            Some((false, stopped))
        };
        if let Some((converged, stopped)) = end {
            return Ok(Ended { history: journal.history, converged, stopped, diverged: diverges });
        }
    }
}

/// Whether energies of parameters, which may be no numbers, are below a limit.
pub(super) fn are_within(parameters: &[f64], temperature: f64, limit: f64) -> bool {
    parameters.iter().map(|x| x.abs()).sum::<f64>() / temperature < limit
}
