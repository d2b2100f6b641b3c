//! Any concave objective, with the curvature that limited-memory BFGS learns of it.

use super::Objective;
use super::memory::{Memory, Pair};
use super::orthant::{Evaluated, Model};
use super::secant::{LEAST_CURVATURE, MEMORY};
use crate::Result;

/// An objective of whose curvature only what limited memory keeps is known.
pub(crate) struct Remembered<'a> {
    objective: &'a dyn Objective,
    memory: Memory,
}

impl<'a> Remembered<'a> {
    pub(crate) fn new(objective: &'a dyn Objective) -> Self {
        Self { objective, memory: Memory::new(MEMORY) }
    }
}

impl Model for Remembered<'_> {
    type Parts = ();

    fn evaluate(&self, parameters: &[f64]) -> Result<Evaluated<()>> {
        let mut gradient = vec![0.0; parameters.len()];
        let value = self.objective.value_and_gradient(parameters, &mut gradient)?;
        Ok(Evaluated { value, gradient, parts: () })
    }

    fn begin(&mut self, _here: &Evaluated<()>) {
        self.memory.clear();
    }

    fn newton_step(&self, slope: &[f64], is_free: &[bool]) -> Vec<f64> {
        let step = self.memory.scaled_step(slope);
        step.into_iter().zip(is_free).map(|(x, &free)| if free { x } else { 0.0 }).collect()
    }

    fn learn(&mut self, step: &[f64], before: &Evaluated<()>, after: &Evaluated<()>) {
        self.memory.learn(Pair::new(step.to_vec(), &before.gradient, &after.gradient), LEAST_CURVATURE);
    }
}
