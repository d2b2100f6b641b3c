//! Nonlinear conjugate gradients after Polak and Ribière, with a strong-Wolfe line search and the
//! objective's preconditioner.
//!
//! Each search begins with the step that the last one suggests: where the maximum lies at infinity
//! (as for a constant column) steps grow without bound, and searches with a fixed first step do not
//! get there.

use serde::{Deserialize, Serialize};

use super::climb::{Start, Way};
use super::line_search::search;
use super::{Climb, Objective, Optimum, Point, dot, fits};
use crate::Result;

/// A direction whose cosine with the gradient is a smaller share of that of the steepest direction
/// is replaced by the steepest one.
const LEAST_COSINE: f64 = 0.01;

/// Most growth of the first step of a line search over what the last one suggests.
const GROWTH: f64 = 10.0;

/// The share of the slope left by a line search; small, as conjugate directions need nearly exact
/// ones.
const FLAT: f64 = 0.1;

#[derive(Serialize, Deserialize)]
struct Conjugate {
    here: Point,
    direction: Vec<f64>,
    steepest: bool,
    /// The first step of the line search.
    step: f64,
}

impl Way for Conjugate {
    fn fits(&self, size: usize) -> bool {
        self.here.fits(size) && fits(&self.direction, size) && self.step.is_finite() && self.step > 0.0
    }
}

pub(super) fn maximize(
    objective: &dyn Objective,
    start: Start<'_>,
    mut climb: Climb<'_, '_>,
) -> Result<Optimum> {
    let mut way = climb.begin(start, |parameters| {
        let here = Point::start(objective, parameters)?;
        let direction = scaled(objective, &here.gradient);
        let step = fresh(&direction);
        Ok(Conjugate { here, direction, steepest: true, step })
    })?;
    loop {
        if let Some(stopped) = climb.visit(&way.here, &way)? {
            return Ok(climb.end(stopped));
        }
        let (taken, next) = loop {
            if let Some(found) = search(objective, &way.here, &way.direction, way.step, FLAT)? {
                break found;
            }
            if way.steepest {
                return Ok(climb.stuck());
            }
            way.restart(objective);
        };
        way.turn(objective, taken, next);
    }
}

/// The first step: no parameter moves by more than 1, which is much for a coupling.
fn fresh(direction: &[f64]) -> f64 {
    1.0 / direction.iter().fold(1.0, |most: f64, d| most.max(d.abs()))
}

/// The direction of steepest ascent, in the coordinates in which the preconditioner is the
/// identity.
fn scaled(objective: &dyn Objective, gradient: &[f64]) -> Vec<f64> {
    let mut direction = gradient.to_vec();
    objective.precondition(&mut direction);
    direction
}

impl Conjugate {
    /// Restarts along the gradient.
    fn restart(&mut self, objective: &dyn Objective) {
        self.direction = scaled(objective, &self.here.gradient);
        self.step = fresh(&self.direction);
        self.steepest = true;
    }

    /// Chooses the direction after a step.
    fn turn(&mut self, objective: &dyn Objective, taken: f64, next: Point) {
        let Self { here, direction, .. } = self;
        let slope = dot(&here.gradient, direction);
        let steepest = scaled(objective, &next.gradient);
        let square = dot(&next.gradient, &steepest);
        // β = max(0, g'·M(g' − g) / g·Mg): at 0 the method restarts by itself.
        let beta = (square - dot(&here.gradient, &steepest))
            / dot(&here.gradient, &scaled(objective, &here.gradient));
        let beta = if beta.is_finite() { beta.max(0.0) } else { 0.0 };
        for (d, g) in direction.iter_mut().zip(&steepest) {
            *d = beta.mul_add(*d, *g);
        }
        let mut rise = dot(&next.gradient, direction);
        let lengths = (dot(direction, direction) * dot(&next.gradient, &next.gradient)).sqrt();
        let cosine = dot(&next.gradient, &steepest)
            / (dot(&steepest, &steepest) * dot(&next.gradient, &next.gradient)).sqrt();
        self.steepest = beta == 0.0;
        // Compared with the cosine of the steepest direction, which a preconditioner makes smaller.
        if rise.is_nan() || rise <= LEAST_COSINE * cosine * lengths {
            direction.clone_from(&steepest);
            self.steepest = true;
            rise = square;
        }
        // Assume that the next step gains as much as this one.
        let guess = taken * (slope / rise).min(GROWTH);
        self.step = if guess.is_finite() && guess > 0.0 { guess } else { fresh(direction) };
        self.here = next;
    }
}
