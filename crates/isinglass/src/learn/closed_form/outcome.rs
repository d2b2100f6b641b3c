//! What a way of solving the equations leaves behind, and how its iterations are watched.

use std::ops::ControlFlow;

use super::Remedy;
use super::moments::Moments;
use super::parameters::machine_of;
use crate::learn::{Observer, Step};
use crate::numeric::dense::Matrix;
use crate::{Machine, Result};

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
        record.begin();
        // The answer is complete; whether the observer would stop here makes no difference.
        let _ = record.step(objective, 0.0, &precision)?;
        Ok(Self {
            precision,
            remedy,
            history: record.take(),
            converged: true,
            stopped: "closed form".into(),
            notes: Vec::new(),
        })
    }
}

/// Tells an observer of each iteration, and keeps it.
pub(super) struct Record<'a> {
    start: &'a Machine,
    pub(super) moments: &'a Moments,
    observer: &'a mut dyn Observer,
    history: Vec<Step>,
}

impl<'a> Record<'a> {
    pub(super) fn new(start: &'a Machine, moments: &'a Moments, observer: &'a mut dyn Observer) -> Self {
        Self { start, moments, observer, history: Vec::new() }
    }

    /// The machine of a solution.
    pub(super) fn machine(&self, precision: &Matrix) -> Result<Machine> {
        machine_of(self.start, self.moments, precision)
    }

    /// Forget the steps of another way.
    pub(super) fn begin(&mut self) {
        self.history.clear();
    }

    /// The steps since the beginning.
    pub(super) fn take(&mut self) -> Vec<Step> {
        std::mem::take(&mut self.history)
    }

    pub(super) fn step(
        &mut self,
        objective: f64,
        gradient_norm: f64,
        precision: &Matrix,
    ) -> Result<ControlFlow<()>> {
        let step = Step { iteration: self.history.len(), objective, gradient_norm };
        self.history.push(step);
        let machine = self.machine(precision)?;
        self.observer.step(&step, &machine)
    }
}
