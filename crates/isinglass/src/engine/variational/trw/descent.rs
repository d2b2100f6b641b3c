//! Minimises the bound over splits: L-BFGS (Liu and Nocedal 1989) with a diagonal preconditioner.
//!
//! Moments near ±1 hardly respond to their parameters, nor do those of a subgraph with a small
//! share; so each step is preconditioned by the inverse of the current Hessian's diagonal,
//! `K ρ_k (1 − μ_k²)`. The line search attains weak Wolfe conditions by bisection (Lewis and
//! Overton 2013).

use super::split::Bound;
use super::{Trw, TrwSettings};
use crate::cancel;
use crate::optimize::memory::{Memory, Pair, add, difference, dot};
use crate::progress::Task;
use crate::{Error, Result};

/// Curvature pairs kept.
pub(super) const MEMORY: usize = 30;

/// A step must lower the value by at least this share of what the slope predicts,
const DESCENT: f64 = 1e-4;

/// and the slope to at most this share.
const SLOPE: f64 = 0.9;

/// The most trials along one direction.
const TRIALS: usize = 30;

/// Values differ by this share through rounding alone.
const ROUNDING: f64 = 1e-14;

/// The end of the search.
pub(super) struct Found {
    pub(super) split: Vec<f64>,
    pub(super) iterations: usize,
    /// The largest slope.
    pub(super) residual: f64,
    pub(super) converged: bool,
}

/// A split with its value and slopes.
struct Point {
    x: Vec<f64>,
    value: f64,
    slopes: Vec<f64>,
}

impl Point {
    fn at(bound: &mut Bound<'_>, x: Vec<f64>) -> Self {
        let mut slopes = vec![0.0; x.len()];
        let value = bound.value_and_slopes(&x, &mut slopes);
        Self { x, value, slopes }
    }
}

/// Minimises the bound until the slopes vanish. The value never rises except by rounding.
///
/// # Errors
/// A bound that is not finite at the start.
pub(super) fn descend(bound: &mut Bound<'_>, settings: &TrwSettings) -> Result<Found> {
    let start = bound.start()?;
    let mut point = Point::at(bound, start);
    if !point.value.is_finite() {
        return Err(Error::Numerical {
            method: Trw::NAME,
            problem: "the bound is not finite at the start".into(),
        });
    }
    let mut scales = vec![0.0; point.x.len()];
    let mut memory = Memory::new(MEMORY);
    let mut iterations = 0;
    let task = Task::open_ended();
    loop {
        let residual = point.slopes.iter().fold(0.0, |most: f64, slope| most.max(slope.abs()));
        let converged = residual <= settings.tolerance;
        if converged || iterations >= settings.max_sweeps {
            return Ok(Found { split: point.x, iterations, residual, converged });
        }
        bound.inverse_curvatures(&mut scales);
        let direction = direction(&point.slopes, &scales, &memory);
        match line_search(bound, &point, &direction) {
            Some(next) => {
                // `Pair` is for maximisation: it takes the fall of the gradient.
                let step = difference(&next.x, &point.x);
                memory.learn(Pair::new(step, &next.slopes, &point.slopes), f64::EPSILON);
                point = next;
                iterations += 1;
                task.done(1);
            }
            // The preconditioned gradient alone has failed: the search ends.
            None if memory.is_empty() => {
                return Ok(Found { split: point.x, iterations, residual, converged });
            }
            None => {
                memory.clear();
                // Restores the scales, which are those of the last evaluation.
                point = Point::at(bound, point.x);
            }
        }
    }
}

fn direction(slopes: &[f64], scales: &[f64], memory: &Memory) -> Vec<f64> {
    let square = |numbers: &[f64]| numbers.iter().zip(scales).map(|(x, scale)| x * x * scale).sum::<f64>();
    let unit = match memory.last() {
        Some(last) => last.product / square(&last.fall),
        None => 1.0 / square(slopes).sqrt().max(1.0),
    };
    memory.newton_step(slopes.iter().map(|slope| -slope).collect(), |direction| {
        for (d, scale) in direction.iter_mut().zip(scales) {
            *d *= unit * scale;
        }
    })
}

/// Returns a point along a direction with lower value and slope; `None` if no value is lower.
fn line_search(bound: &mut Bound<'_>, from: &Point, direction: &[f64]) -> Option<Point> {
    let slope = dot(direction, &from.slopes);
    if slope >= 0.0 || !slope.is_finite() {
        return None;
    }
    let rounding = ROUNDING * from.value.abs().max(1.0);
    let (mut low, mut high, mut length) = (0.0, f64::INFINITY, 1.0);
    let mut best = None;
    for _ in 0..TRIALS {
        cancel::point();
        let mut x = from.x.clone();
        add(&mut x, length, direction);
        let point = Point::at(bound, x);
        if point.value <= from.value + DESCENT * length * slope + rounding {
            let is_flat = dot(direction, &point.slopes) >= SLOPE * slope;
            best = Some(point);
            if is_flat {
                break;
            }
            low = length;
        } else {
            high = length;
        }
        length = if high.is_finite() { f64::midpoint(low, high) } else { 2.0 * low };
    }
    best
}
