//! A smooth objective less Σ λ_k |x_k|: limited-memory BFGS within one orthant at a time (Andrew and Gao 2007, "OWL-QN").
//!
//! Each step stays within the orthant of the place it starts from, where the penalty is linear; what would cross a side is set to 0 there.
//! The gradient that counts is the one-sided one of the whole, which vanishes just where the conditions of an optimum hold.
//!
//! The smooth part is to be concave: where values differ by rounding only, a smaller gradient is then a step in the right direction, and the optimum is
//! found to more digits than values alone could tell.

use super::memory::{Memory, Pair, difference, norm};
use super::secant::{LEAST_CURVATURE, MEMORY};
use super::{Climb, Objective, OptimizerSettings, Optimum, Point, Watch, dot, rounding};
use crate::Result;

/// A step gains this share of what the slope promises, at least.
const INCREASE: f64 = 1e-4;

/// Halvings of a step at most.
const HALVINGS: usize = 40;

/// Maximise `objective − Σ λ_k |x_k|`, with a concave objective, from a start; all λ may be 0. Where λ_k > 0, zeros of the answer are exact.
pub(crate) fn maximize_sparse(
    objective: &dyn Objective,
    lambdas: &[f64],
    start: Vec<f64>,
    settings: &OptimizerSettings,
    watch: &mut Watch<'_>,
) -> Result<Optimum> {
    settings.check()?;
    let mut climb = Climb::new(settings, watch, true);
    let mut memory = Memory::new(MEMORY);
    let mut here = Place::new(Point::start(objective, start)?, lambdas);
    let mut iteration = 0;
    loop {
        if let Some(stopped) = climb.visit(iteration, &here.point.parameters, here.value, &here.slope)? {
            return Ok(climb.end(stopped));
        }
        iteration += 1;
        let next = loop {
            if let Some(next) = here.step(objective, lambdas, &memory)? {
                break next;
            }
            if memory.is_empty() {
                return Ok(climb.stuck());
            }
            memory.clear();
        };
        let moved = difference(&next.point.parameters, &here.point.parameters);
        memory.learn(Pair::new(moved, &here.point.gradient, &next.point.gradient), LEAST_CURVATURE);
        here = next;
    }
}

/// A place, with the value and the one-sided gradient of the whole.
struct Place {
    /// The smooth part.
    point: Point,
    value: f64,
    slope: Vec<f64>,
}

impl Place {
    fn new(point: Point, lambdas: &[f64]) -> Self {
        let penalty: f64 = point.parameters.iter().zip(lambdas).map(|(x, lambda)| lambda * x.abs()).sum();
        let sides = point.parameters.iter().zip(&point.gradient).zip(lambdas);
        let slope = sides.map(|((&x, &g), &lambda)| one_sided(x, g, lambda)).collect();
        Self { value: point.value - penalty, slope, point }
    }

    /// The longest of a step, its half, its quarter … that gains enough.
    fn step(&self, objective: &dyn Objective, lambdas: &[f64], memory: &Memory) -> Result<Option<Self>> {
        let mut direction = memory.scaled_step(&self.slope);
        // No coordinate leaves 0, or moves, against its own slope.
        for ((d, &slope), &lambda) in direction.iter_mut().zip(&self.slope).zip(lambdas) {
            if lambda > 0.0 && *d * slope <= 0.0 {
                *d = 0.0;
            }
        }
        if dot(&direction, &self.slope) <= 0.0 {
            direction.clone_from(&self.slope);
        }
        let mut length = if memory.is_empty() { (1.0 / norm(&self.slope)).min(1.0) } else { 1.0 };
        for _ in 0..HALVINGS {
            let next = Self::new(Point::trial(objective, self.moved(length, &direction, lambdas))?, lambdas);
            let steps = next.point.parameters.iter().zip(&self.point.parameters).zip(&self.slope);
            let promised: f64 = steps.map(|((x, y), slope)| (x - y) * slope).sum();
            let gain = next.value - self.value;
            // Where values can no longer tell, the slopes must.
            let is_better = gain >= -rounding(self.value) && norm(&next.slope) < norm(&self.slope);
            if gain.is_finite() && (gain >= INCREASE * promised && gain > rounding(self.value) || is_better) {
                return Ok(Some(next));
            }
            length *= 0.5;
        }
        Ok(None)
    }

    /// A step away, cut off where it would leave the orthant.
    fn moved(&self, length: f64, direction: &[f64], lambdas: &[f64]) -> Vec<f64> {
        let mut moved = self.point.moved(length, direction);
        for (k, x) in moved.iter_mut().enumerate() {
            let here = self.point.parameters[k];
            let side = if here == 0.0 { self.slope[k] } else { here };
            if lambdas[k] > 0.0 && *x * side <= 0.0 {
                *x = 0.0;
            }
        }
        moved
    }
}

/// The derivative of `f − λ|x|` in the direction in which it rises; 0 where it rises in neither.
fn one_sided(x: f64, gradient: f64, lambda: f64) -> f64 {
    if x > 0.0 {
        gradient - lambda
    } else if x < 0.0 {
        gradient + lambda
    } else {
        gradient.signum() * (gradient.abs() - lambda).max(0.0)
    }
}
