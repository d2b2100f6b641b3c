//! The result of a method for the equations, and the record of its iterations.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use super::moments::Moments;
use crate::learn::origin::Origin;
use crate::learn::{Checkpoint, Observer, Step, Stop};
use crate::numeric::dense::Matrix;
use crate::{Error, Machine, Note, Result};

/// How an iteration ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The equations hold to the tolerance.
    Converged,
    /// The inverse passed its limit: there is no solution, or hardly one.
    Unbounded,
    /// The iterations are used up.
    Limit,
    /// The observer requested it.
    Request,
    /// No step gains any more.
    Rounding,
}

impl End {
    /// Whether an iteration ends, and why.
    pub(super) fn of(converged: bool, unbounded: bool, flow: ControlFlow<()>, limit: bool) -> Option<Self> {
        let ends = [
            (converged, Self::Converged),
            (unbounded, Self::Unbounded),
            (flow.is_break(), Self::Request),
            (limit, Self::Limit),
        ];
        ends.into_iter().find(|(holds, _)| *holds).map(|(_, end)| end)
    }
}

/// A solution with its history.
pub(super) struct Outcome {
    /// A⁻¹, of correlations.
    pub(super) precision: Matrix,
    pub(super) history: Vec<Step>,
    pub(super) converged: bool,
    pub(super) stopped: Stop,
    pub(super) notes: Vec<Note>,
}

impl Outcome {
    /// The outcome of a formula: one step. The objective is the residual that a remedy leaves.
    pub(super) fn formula(record: &mut Record<'_>, precision: Matrix, objective: f64) -> Result<Self> {
        record.begin(0)?;
        // The result is complete: a request to stop has no effect.
        let _ = record.step(objective, 0.0, &precision, Vec::new())?;
        Ok(Self {
            precision,
            history: record.history(),
            converged: true,
            stopped: Stop::ClosedForm,
            notes: Vec::new(),
        })
    }
}

/// Reports each iteration to an observer and records it; replays a state to resume from.
pub(super) struct Record<'a> {
    start: &'a Machine,
    pub(super) moments: &'a Moments,
    observer: &'a mut dyn Observer,
    origin: Origin<'a>,
    /// The methods that have ended, in order, and the current one.
    ended: Vec<Stage>,
    stage: Stage,
    /// The part of the state to resume from that is still ahead.
    ahead: VecDeque<Stage>,
    /// Whether the next step was reported before.
    again: bool,
}

/// One method's steps, and the numbers from which it can be resumed.
#[derive(Clone, Default, Serialize, Deserialize)]
struct Stage {
    history: Vec<Step>,
    numbers: Vec<f64>,
}

impl<'a> Record<'a> {
    /// An empty record, or that of a state, in which no method may have more than `iterations`.
    pub(super) fn new(
        (start, moments): (&'a Machine, &'a Moments),
        origin: Origin<'a>,
        from: Option<&Checkpoint>,
        iterations: usize,
        observer: &'a mut dyn Observer,
    ) -> Result<Self> {
        let mut ahead = VecDeque::new();
        if let Some(state) = from {
            let (ended, stage): (VecDeque<Stage>, Stage) = origin.read(state)?;
            ahead = ended;
            ahead.push_back(stage);
        }
        let longest = ahead.iter().map(|stage| stage.history.len()).max().unwrap_or(0);
        if longest > iterations.saturating_add(1) {
            let problem =
                format!("it is of iteration {}, beyond the limit of {iterations} iterations", longest - 1);
            return Err(Error::checkpoint(problem));
        }
        if ahead.iter().any(|stage| stage.history.is_empty()) {
            return Err(Error::checkpoint("it has no iterations"));
        }
        let (ended, stage) = (Vec::new(), Stage::default());
        Ok(Self { start, moments, observer, origin, ended, stage, ahead, again: false })
    }

    pub(super) fn machine(&self, precision: &Matrix) -> Result<Machine> {
        self.moments.machine(self.start, precision)
    }

    /// Begins a method that can be resumed from `size` numbers; returns the number of its
    /// iterations and these numbers, if the state has them.
    pub(super) fn begin(&mut self, size: usize) -> Result<Option<(usize, Vec<f64>)>> {
        let known = self.ahead.pop_front();
        let before = std::mem::take(&mut self.stage);
        if !before.history.is_empty() {
            self.ended.push(before);
        }
        let Some(stage) = known else { return Ok(None) };
        Error::check_length("numbers of the state", stage.numbers.len(), size)?;
        if stage.numbers.iter().any(|x| !x.is_finite()) {
            return Err(Error::checkpoint("its numbers are not finite"));
        }
        self.stage = stage;
        self.again = true;
        Ok(Some((self.stage.history.len() - 1, self.stage.numbers.clone())))
    }

    pub(super) fn history(&self) -> Vec<Step> {
        self.stage.history.clone()
    }

    /// *Arguments*: the step, its solution, and the numbers from which to resume there.
    pub(super) fn step(
        &mut self,
        objective: f64,
        gradient_norm: f64,
        precision: &Matrix,
        numbers: Vec<f64>,
    ) -> Result<ControlFlow<()>> {
        if std::mem::take(&mut self.again) {
            return Ok(ControlFlow::Continue(()));
        }
        // A method that continues beyond its state gives another result: discard what followed it.
        self.ahead.clear();
        let machine = self.machine(precision)?;
        let step = Step { iteration: self.stage.history.len(), objective, gradient_norm };
        self.stage.history.push(step);
        self.stage.numbers = numbers;
        let flow = self.observer.step(&step, &machine)?;
        let (origin, ended, stage) = (&self.origin, &self.ended, &self.stage);
        self.observer.checkpoint(&step, &|| origin.state(&(ended, stage)))?;
        Ok(flow)
    }
}
