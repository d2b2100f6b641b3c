//! The iterations of a fit.

use serde::Serialize;

use super::averages::{Averages, mean_change};
use super::e_step::Completed;
use super::m_step::Ascent;
use super::{NAME, PseudoLikelihoodEm, SCALE};
use crate::learn::journal::{Iterated, are_within};
use crate::learn::{Step, Stop};
use crate::optimize::Objective;
use crate::{Error, Machine, Result};

/// A fit in progress. Random streams depend on the iteration alone, so there is no random state.
pub(super) struct Run<'a> {
    learner: &'a PseudoLikelihoodEm,
    completed: Completed,
    parameters: Vec<f64>,
    machine: Machine,
    averages: Averages,
    /// The change of the kept parameters in the last iteration, if known.
    change: Option<f64>,
}

impl<'a> Run<'a> {
    pub(super) fn new(learner: &'a PseudoLikelihoodEm, start: &Machine, completed: Completed) -> Self {
        let parameters = completed.gain().parameters_of(start);
        let averages = Averages::new(parameters.len());
        Self { learner, completed, parameters, machine: start.clone(), averages, change: None }
    }

    pub(super) fn completed(&self) -> &Completed {
        &self.completed
    }

    /// The average over the last half of the iterations; the last parameters if there are too few,
    /// or nothing is drawn.
    pub(super) fn kept(&self) -> Vec<f64> {
        let average = if self.completed.is_random() { self.averages.of_last_half() } else { None };
        average.unwrap_or_else(|| self.parameters.clone())
    }
}

impl Iterated for Run<'_> {
    /// Parameters, their averages, and the last change.
    type Rest = (Vec<f64>, Averages, Option<f64>);

    fn rest(&self) -> impl Serialize {
        (&self.parameters, &self.averages, self.change)
    }

    fn restore(&mut self, (parameters, averages, change): Self::Rest, iteration: usize) -> Result<()> {
        let gain = self.completed.gain();
        let count = gain.couplings() + gain.biases();
        Error::check_length("parameters of the state", parameters.len(), count)?;
        if !averages.are_of(count, iteration) {
            return Err(Error::checkpoint("its averages are not those of its iterations"));
        }
        self.machine = gain.machine_of(&parameters)?;
        (self.parameters, self.averages, self.change) = (parameters, averages, change);
        Ok(())
    }

    fn begin(&mut self) -> Result<Step> {
        self.completed.draw(&self.machine, 1)?;
        let mut gradient = vec![0.0; self.parameters.len()];
        let objective = self.completed.gain().value_and_gradient(&self.parameters, &mut gradient)?;
        let gradient_norm = gradient.iter().fold(0.0, |most: f64, g| most.max(g.abs()));
        if !(objective.is_finite() && gradient_norm.is_finite()) {
            let problem = "the objective is not finite at the start".into();
            return Err(Error::Numerical { method: NAME, problem });
        }
        Ok(Step { iteration: 0, objective, gradient_norm })
    }

    fn advance(&mut self, iteration: usize) -> Result<Option<Step>> {
        let Self { learner, completed, .. } = self;
        completed.draw(&self.machine, iteration)?;
        let m_step = if completed.is_random() { learner.ascent() } else { learner.ascent().in_full() };
        let found = m_step.climb(completed.gain(), self.parameters.clone(), iteration)?;
        let sound = are_within(&found.parameters, self.machine.temperature(), SCALE);
        if !(sound && found.value.is_finite() && found.slope.is_finite()) {
            return Ok(None);
        }
        let moved = mean_change(&self.parameters, &found.parameters);
        self.machine = completed.gain().machine_of(&found.parameters)?;
        self.parameters = found.parameters;
        self.averages.add(&self.parameters);
        self.change = if completed.is_random() { self.averages.speed() } else { Some(moved) };
        Ok(Some(Step { iteration, objective: found.value, gradient_norm: found.slope }))
    }

    fn machine(&self) -> &Machine {
        &self.machine
    }

    fn converged(&self, _last: &Step, tolerance: f64) -> Option<Stop> {
        let is_small = self.change.is_some_and(|change| change <= tolerance);
        is_small.then(|| Stop::Settled { tolerance, averages: self.completed.is_random() })
    }

    fn rate(&self) -> Option<f64> {
        match self.learner.ascent() {
            Ascent::Steps { rate, .. } => Some(rate),
            Ascent::Damped { .. } | Ascent::Lbfgs { .. } => None,
        }
    }
}
