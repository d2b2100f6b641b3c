//! Any concave objective, with the curvature that limited-memory BFGS learns.

use super::Objective;
use super::memory::{Memory, Pair};
use super::orthant::{Evaluated, Model};
use super::secant::{LEAST_CURVATURE, MEMORY};
use crate::Result;

/// An objective whose curvature is known from limited memory only.
pub(crate) struct Remembered<'a>(pub(crate) &'a dyn Objective);

impl Model for Remembered<'_> {
    type Parts = ();
    type Known = Memory;

    fn evaluate(&self, parameters: &[f64]) -> Result<Evaluated<()>> {
        let mut gradient = vec![0.0; parameters.len()];
        let value = self.0.value_and_gradient(parameters, &mut gradient)?;
        Ok(Evaluated { value, gradient, parts: () })
    }

    fn begin(&self, _here: &Evaluated<()>) -> Memory {
        Memory::new(MEMORY)
    }

    fn newton_step(&self, known: &Memory, slope: &[f64], is_free: &[bool]) -> Vec<f64> {
        let step = known.scaled_step(slope, |x| self.0.precondition(x));
        step.into_iter().zip(is_free).map(|(x, &free)| if free { x } else { 0.0 }).collect()
    }

    fn learn(&self, known: &mut Memory, step: &[f64], before: &Evaluated<()>, after: &Evaluated<()>) {
        known.learn(Pair::new(step.to_vec(), &before.gradient, &after.gradient), LEAST_CURVATURE);
    }

    fn fits(&self, _known: &Memory, _parts: &()) -> bool {
        true
    }
}
