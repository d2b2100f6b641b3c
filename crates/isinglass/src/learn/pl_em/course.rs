//! The course of a fit: iteration after iteration, from the start or from a state.

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use super::averages::{Averages, mean_change};
use super::e_step::Completed;
use super::{NAME, PseudoLikelihoodEm};
use crate::learn::{Observer, PseudoGain, State, Step};
use crate::optimize::Objective;
use crate::{Error, Machine, Result};

/// All that an iteration leaves to the next. Draws are made with the number of the iteration, so there is no random state.
#[derive(Serialize, Deserialize)]
pub(super) struct Course {
    parameters: Vec<f64>,
    averages: Averages,
    history: Vec<Step>,
    /// Why no iteration follows, and whether it is because the fit converged.
    end: Option<(bool, String)>,
}

impl Course {
    /// At the start, which the observer is told of.
    pub(super) fn begin(
        learner: &PseudoLikelihoodEm,
        start: &Machine,
        completed: &mut Completed,
        observer: &mut dyn Observer,
    ) -> Result<Self> {
        let parameters = completed.gain().parameters_of(start);
        let averages = Averages::new(parameters.len());
        let mut course = Self { parameters, averages, history: Vec::new(), end: None };
        completed.draw(start, 1)?;
        let mut gradient = vec![0.0; course.parameters.len()];
        let objective = completed.gain().value_and_gradient(&course.parameters, &mut gradient)?;
        let gradient_norm = gradient.iter().fold(0.0, |most: f64, g| most.max(g.abs()));
        let step = Step { iteration: 0, objective, gradient_norm };
        if !(objective.is_finite() && gradient_norm.is_finite()) {
            let problem = "the objective is not finite at the start".into();
            return Err(Error::Numerical { method: NAME, problem });
        }
        course.tell(learner, step, start, observer)?;
        Ok(course)
    }

    /// Go on from a state.
    ///
    /// # Errors
    /// A state of another learner, or of other parameters.
    pub(super) fn read(state: &State, gain: &PseudoGain, iterations: usize) -> Result<Self> {
        let mut course: Self = state.read(NAME)?;
        let parameters = gain.couplings() + gain.biases();
        let lengths = [course.parameters.len(), course.averages.parameters()];
        if lengths != [parameters; 2] || course.history.is_empty() {
            let problem = format!(
                "it is one of {} parameters, and the machine has {parameters}",
                course.parameters.len()
            );
            return Err(Error::invalid("state", problem));
        }
        // More iterations may be allowed by now, or a request to stop be forgotten.
        if course.end.as_ref().is_some_and(|(converged, _)| !converged) {
            course.end = course.out_of_time(iterations);
        }
        Ok(course)
    }

    /// Iterate until the fit has converged, or must stop: whether it has, and why it stopped.
    pub(super) fn run(
        &mut self,
        learner: &PseudoLikelihoodEm,
        completed: &mut Completed,
        observer: &mut dyn Observer,
    ) -> Result<(bool, String)> {
        loop {
            if let Some(end) = &self.end {
                return Ok(end.clone());
            }
            let iteration = self.iteration() + 1;
            let machine = completed.gain().machine_of(&self.parameters)?;
            completed.draw(&machine, iteration)?;
            let m_step = if completed.is_random() { learner.m_step } else { learner.m_step.in_full() };
            let found = m_step.climb(completed.gain(), self.parameters.clone(), iteration)?;
            let moved = mean_change(&self.parameters, &found.parameters);
            self.parameters = found.parameters;
            self.averages.add(&self.parameters);
            let change = if completed.is_random() { self.averages.speed() } else { Some(moved) };
            if change.is_some_and(|change| change <= learner.tolerance) {
                let what =
                    if completed.is_random() { "averages of the parameters" } else { "the parameters" };
                self.end = Some((true, format!("{what} changed by less than {:e}", learner.tolerance)));
            }
            let step = Step { iteration, objective: found.value, gradient_norm: found.slope };
            let machine = completed.gain().machine_of(&self.parameters)?;
            self.tell(learner, step, &machine, observer)?;
        }
    }

    /// Put a step on record and show it.
    fn tell(
        &mut self,
        learner: &PseudoLikelihoodEm,
        step: Step,
        machine: &Machine,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        self.history.push(step);
        if self.end.is_none() {
            self.end = self.out_of_time(learner.iterations);
        }
        let flow = observer.step(&step, machine)?;
        observer.state(&step, &|| State::of(NAME, self))?;
        if flow == ControlFlow::Break(()) && self.end.is_none() {
            self.end = Some((false, "stopped on request".into()));
        }
        Ok(())
    }

    fn out_of_time(&self, iterations: usize) -> Option<(bool, String)> {
        let is_over = self.iteration() >= iterations;
        is_over.then(|| (false, format!("reached the limit of {iterations} iterations")))
    }

    /// The last iteration.
    pub(super) fn iteration(&self) -> usize {
        self.history.last().map_or(0, |step| step.iteration)
    }

    /// The average over the last half of the iterations, or the last parameters where there are too few for it, or nothing is drawn.
    pub(super) fn kept(&self, is_random: bool) -> Vec<f64> {
        let average = if is_random { self.averages.of_last_half() } else { None };
        average.unwrap_or_else(|| self.parameters.clone())
    }

    pub(super) fn into_history(self) -> Vec<Step> {
        self.history
    }
}
