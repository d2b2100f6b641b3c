//! What a way of solving the equations leaves behind, and how its iterations are watched.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use super::Remedy;
use super::moments::Moments;
use super::parameters::machine_of;
use crate::learn::origin::Origin;
use crate::learn::{Checkpoint, Observer, Step};
use crate::numeric::dense::Matrix;
use crate::{Error, Machine, Result};

/// How an iteration ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The equations hold to the tolerance.
    Converged,
    /// The inverse passed its limit: there is no solution, or hardly one.
    Unbounded,
    /// The iterations are used up.
    Limit,
    /// The observer asked for it.
    Request,
    /// No step gains any more.
    Rounding,
}

/// A solution, and how it was come by.
pub(super) struct Outcome {
    /// A⁻¹, of correlations.
    pub(super) precision: Matrix,
    pub(super) remedy: Remedy,
    pub(super) history: Vec<Step>,
    pub(super) converged: bool,
    pub(super) stopped: String,
    pub(super) notes: Vec<String>,
}

impl Outcome {
    /// Of a formula: one step. The objective is what the remedy, if there is one, leaves of the equations.
    pub(super) fn formula(
        record: &mut Record<'_>,
        precision: Matrix,
        objective: f64,
        remedy: Remedy,
    ) -> Result<Self> {
        record.begin(0)?;
        // The answer is complete; whether the observer would stop here makes no difference.
        let _ = record.step(objective, 0.0, &precision, Vec::new())?;
        Ok(Self {
            precision,
            remedy,
            history: record.history(),
            converged: true,
            stopped: "closed form".into(),
            notes: Vec::new(),
        })
    }
}

/// Tells an observer of each iteration, and keeps it; knows where a fit that is gone on with stood.
pub(super) struct Record<'a> {
    start: &'a Machine,
    pub(super) moments: &'a Moments,
    observer: &'a mut dyn Observer,
    origin: Origin<'a>,
    /// The ways to a solution that have ended, one after another, and the present one.
    ended: Vec<Way>,
    way: Way,
    /// Of the state to go on from, what is still ahead.
    ahead: VecDeque<Way>,
    /// Whether the next step is one that was told before.
    again: bool,
}

/// A way to a solution: its steps, and the numbers from which it goes on.
#[derive(Clone, Default, Serialize, Deserialize)]
struct Way {
    history: Vec<Step>,
    numbers: Vec<f64>,
}

impl<'a> Record<'a> {
    /// An empty one, or that of a state; no way of it may have more than so many iterations.
    pub(super) fn new(
        (start, moments): (&'a Machine, &'a Moments),
        origin: Origin<'a>,
        from: Option<&Checkpoint>,
        iterations: usize,
        observer: &'a mut dyn Observer,
    ) -> Result<Self> {
        let mut ahead = VecDeque::new();
        if let Some(state) = from {
            let (ended, way): (VecDeque<Way>, Way) = origin.read(state)?;
            ahead = ended;
            ahead.push_back(way);
        }
        let longest = ahead.iter().map(|way| way.history.len()).max().unwrap_or(0);
        if longest > iterations.saturating_add(1) {
            let problem =
                format!("it is of iteration {}, beyond the limit of {iterations} iterations", longest - 1);
            return Err(Error::checkpoint(problem));
        }
        if ahead.iter().any(|way| way.history.is_empty()) {
            return Err(Error::checkpoint("it has no iterations"));
        }
        let (ended, way) = (Vec::new(), Way::default());
        Ok(Self { start, moments, observer, origin, ended, way, ahead, again: false })
    }

    /// The machine of a solution.
    pub(super) fn machine(&self, precision: &Matrix) -> Result<Machine> {
        machine_of(self.start, self.moments, precision)
    }

    /// Begin a way that goes on from so many numbers.
    ///
    /// *Returns*: the number of its iterations and these numbers, where there is a state that knows them.
    pub(super) fn begin(&mut self, size: usize) -> Result<Option<(usize, Vec<f64>)>> {
        let known = self.ahead.pop_front();
        let before = std::mem::take(&mut self.way);
        if !before.history.is_empty() {
            self.ended.push(before);
        }
        let Some(way) = known else { return Ok(None) };
        Error::check_length("numbers of the state", way.numbers.len(), size)?;
        if way.numbers.iter().any(|x| !x.is_finite()) {
            return Err(Error::checkpoint("its numbers are not finite"));
        }
        self.way = way;
        self.again = true;
        Ok(Some((self.way.history.len() - 1, self.way.numbers.clone())))
    }

    /// The steps of the present way.
    pub(super) fn history(&self) -> Vec<Step> {
        self.way.history.clone()
    }

    /// *Arguments*: the step, its solution, and the numbers from which to go on there.
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
        // A way that goes on where it had ended before leads to another place: what came after it is to be done again.
        self.ahead.clear();
        let machine = self.machine(precision)?;
        let step = Step { iteration: self.way.history.len(), objective, gradient_norm };
        self.way.history.push(step);
        self.way.numbers = numbers;
        let flow = self.observer.step(&step, &machine)?;
        let (origin, ended, way) = (&self.origin, &self.ended, &self.way);
        self.observer.checkpoint(&step, &|| origin.state(&(ended, way)))?;
        Ok(flow)
    }
}
