//! Zeros of a gradient that does not belong to any value: steps of limited-memory BFGS, shortened
//! by the gradient itself.
//!
//! If the gradient fell along the last step, as near a maximum, a step must make it smaller. If it
//! grew, as near the saddles at which fits with hidden units begin, that would lead back to the
//! saddle; there a step must only not overshoot the maximum along its own direction.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::climb::{Start, Way};
use super::memory::{Memory, Pair, dot, norm};
use super::{Climb, Objective, Optimum, Point, Stop};
use crate::Result;

/// Curvature pairs kept.
pub(super) const MEMORY: usize = 20;

/// Gradients are compared with the largest of so many before, to allow for bends.
const PATIENCE: usize = 5;

/// A step that must make the gradient smaller does so by at least this share of its length.
const DECREASE: f64 = 1e-4;

/// Halvings after which a step need no longer make the gradient smaller.
const HALVINGS_FOR_DECREASE: usize = 6;

/// No step makes the gradient larger than this times the largest before.
const GROWTH: f64 = 1.5;

/// A step may overshoot the maximum along its direction while the slope back is at most this share
/// of the slope up.
const OVERSHOOT: f64 = 0.5;

/// No parameter moves by more than this in one step: couplings and biases of 1 are strong.
const LONGEST: f64 = 1.0;

/// Most halvings of a step.
const HALVINGS: usize = 30;

/// Iterations without a smaller gradient after which the search has stalled.
const STALLED_AFTER: usize = 200;

/// Pairs of steps and changes of the gradient with a smaller cosine say nothing about curvature.
pub(super) const LEAST_CURVATURE: f64 = 1e-8;

pub(super) fn maximize(
    objective: &dyn Objective,
    start: Start<'_>,
    mut climb: Climb<'_, '_>,
) -> Result<Optimum> {
    let mut search = climb.begin(start, |parameters| Search::start(objective, parameters))?;
    loop {
        if let Some(stopped) = climb.visit(&search.here, &search)? {
            return Ok(climb.end(stopped));
        }
        if search.has_stalled(climb.iteration()) {
            return Ok(climb.end(Stop::Stalled { iterations: STALLED_AFTER }));
        }
        let Some((step, next)) = search.step(objective)? else {
            return Ok(climb.stuck());
        };
        search.learn(step, next);
    }
}

#[derive(Serialize, Deserialize)]
struct Search {
    here: Point,
    memory: Memory,
    norms: VecDeque<f64>,
    /// Whether the gradient fell along the last step.
    falls: bool,
    /// The smallest norm of a gradient, and its iteration.
    smallest: (f64, usize),
}

impl Way for Search {
    fn fits(&self, size: usize) -> bool {
        self.here.fits(size) && self.memory.fits(size, MEMORY) && self.norms.iter().all(|x| x.is_finite())
    }
}

impl Search {
    fn start(objective: &dyn Objective, parameters: Vec<f64>) -> Result<Self> {
        Ok(Self {
            here: Point::start(objective, parameters)?,
            memory: Memory::new(MEMORY),
            norms: VecDeque::new(),
            falls: false,
            smallest: (f64::INFINITY, 0),
        })
    }

    /// Whether the gradient has not become smaller for too long.
    fn has_stalled(&mut self, iteration: usize) -> bool {
        let norm = norm(&self.here.gradient);
        if norm < self.smallest.0 {
            self.smallest = (norm, iteration);
        }
        iteration.saturating_sub(self.smallest.1) >= STALLED_AFTER
    }

    /// A step and its end point; without the learned curvature if necessary.
    fn step(&mut self, objective: &dyn Objective) -> Result<Option<(Vec<f64>, Point)>> {
        self.norms.push_back(norm(&self.here.gradient));
        if self.norms.len() > PATIENCE {
            self.norms.pop_front();
        }
        loop {
            let mut direction = self.memory.scaled_step(&self.here.gradient, |_| ());
            if dot(&direction, &self.here.gradient) <= 0.0 {
                self.memory.clear();
                direction.clone_from(&self.here.gradient);
            }
            if let Some(found) = self.shortened(objective, &direction)? {
                return Ok(Some(found));
            }
            if self.memory.is_empty() {
                return Ok(None);
            }
            self.memory.clear();
        }
    }

    /// The longest acceptable of a step, its half, its quarter …
    fn shortened(&self, objective: &dyn Objective, direction: &[f64]) -> Result<Option<(Vec<f64>, Point)>> {
        let slope = dot(direction, &self.here.gradient);
        let largest = direction.iter().fold(0.0, |most: f64, d| most.max(d.abs()));
        let limit = self.norms.iter().copied().fold(0.0, f64::max);
        let mut fallback = None;
        for halving in 0..HALVINGS {
            let length = (LONGEST / largest).min(1.0) * 0.5f64.powi(halving as i32);
            let next = Point::trial(objective, self.here.moved(length, direction))?;
            if !next.value.is_finite() {
                continue;
            }
            let norm = norm(&next.gradient);
            let step = || direction.iter().map(|d| length * d).collect();
            if self.falls && norm <= (1.0 - DECREASE * length) * limit {
                return Ok(Some((step(), next)));
            }
            if norm <= GROWTH * limit && dot(direction, &next.gradient) >= -OVERSHOOT * slope {
                if !self.falls {
                    return Ok(Some((step(), next)));
                }
                fallback.get_or_insert_with(|| (step(), next));
            }
            if halving >= HALVINGS_FOR_DECREASE && fallback.is_some() {
                break;
            }
        }
        Ok(fallback)
    }

    /// Takes a step, and remembers its curvature.
    fn learn(&mut self, step: Vec<f64>, next: Point) {
        let pair = Pair::new(step, &self.here.gradient, &next.gradient);
        self.falls = self.memory.learn(pair, LEAST_CURVATURE);
        self.here = next;
    }
}
