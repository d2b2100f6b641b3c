//! The search for the best split: L-BFGS (Liu and Nocedal 1989) in which each number begins with its own curvature.
//!
//! Moments near ±1 hardly answer to their parameters, and neither does a subgraph with a small share; so steps begin from the inverse of the diagonal of the Hessian, `K ρ_k (1 − μ_k²)`, taken anew at every iteration.
//! The line search halves and doubles until the weak Wolfe conditions hold (Lewis and Overton 2013).

use std::collections::VecDeque;

use super::split::Bound;
use super::{Trw, TrwSettings};
use crate::{Error, Result};

/// Curvature pairs kept.
pub(super) const MEMORY: usize = 30;

/// A step must lower the value by at least this share of what the slope promises,
const DESCENT: f64 = 1e-4;

/// and the slope to at most this share.
const SLOPE: f64 = 0.9;

/// Trials along one direction.
const TRIALS: usize = 30;

/// Values differ by this share through rounding alone.
const ROUNDING: f64 = 1e-14;

/// Where the search ended.
pub(super) struct Found {
    pub(super) split: Vec<f64>,
    pub(super) iterations: usize,
    /// The largest slope.
    pub(super) residual: f64,
    pub(super) converged: bool,
}

/// A split with the value and its slopes there.
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

/// A step, and how the slopes changed along it.
struct Pair {
    step: Vec<f64>,
    change: Vec<f64>,
    inner: f64,
}

/// Lower the bound until the slopes vanish. The value never rises but by rounding.
///
/// # Errors
/// A bound that is not finite at the start.
pub(super) fn descend(bound: &mut Bound<'_>, settings: &TrwSettings) -> Result<Found> {
    let start = bound.start();
    let mut point = Point::at(bound, start);
    if !point.value.is_finite() {
        return Err(Error::Numerical {
            method: Trw::NAME,
            problem: "the bound is not finite at the start".into(),
        });
    }
    let mut scales = vec![0.0; point.x.len()];
    let mut pairs: VecDeque<Pair> = VecDeque::with_capacity(MEMORY);
    let mut iterations = 0;
    loop {
        let residual = point.slopes.iter().fold(0.0, |most: f64, slope| most.max(slope.abs()));
        let converged = residual <= settings.tolerance;
        if converged || iterations >= settings.iterations {
            return Ok(Found { split: point.x, iterations, residual, converged });
        }
        bound.inverse_curvatures(&mut scales);
        let direction = direction(&point.slopes, &scales, &pairs);
        match line_search(bound, &point, &direction) {
            Some(next) => {
                keep(&mut pairs, &point, &next);
                point = next;
                iterations += 1;
            }
            // Without memory of curvature there is nothing left to try.
            None if pairs.is_empty() => {
                return Ok(Found { split: point.x, iterations, residual, converged });
            }
            None => {
                pairs.clear();
                // The scales are those of the last evaluation.
                point = Point::at(bound, point.x);
            }
        }
    }
}

/// The direction of a quasi-Newton step, by the two loops over the pairs.
fn direction(slopes: &[f64], scales: &[f64], pairs: &VecDeque<Pair>) -> Vec<f64> {
    let square = |numbers: &[f64]| numbers.iter().zip(scales).map(|(x, scale)| x * x * scale).sum::<f64>();
    let mut direction: Vec<f64> = slopes.iter().map(|slope| -slope).collect();
    let mut shares = Vec::with_capacity(pairs.len());
    for pair in pairs.iter().rev() {
        let share = dot(&pair.step, &direction) / pair.inner;
        add(&mut direction, -share, &pair.change);
        shares.push(share);
    }
    let unit = match pairs.back() {
        Some(pair) => pair.inner / square(&pair.change),
        None => 1.0 / square(slopes).sqrt().max(1.0),
    };
    for (d, scale) in direction.iter_mut().zip(scales) {
        *d *= unit * scale;
    }
    for (pair, share) in pairs.iter().zip(shares.iter().rev()) {
        let back = dot(&pair.change, &direction) / pair.inner;
        add(&mut direction, share - back, &pair.step);
    }
    direction
}

/// A point along a direction that is lower, and where the slope has fallen too; `None` if nothing is lower.
fn line_search(bound: &mut Bound<'_>, from: &Point, direction: &[f64]) -> Option<Point> {
    let slope = dot(direction, &from.slopes);
    if slope >= 0.0 || !slope.is_finite() {
        return None;
    }
    let rounding = ROUNDING * from.value.abs().max(1.0);
    let (mut low, mut high, mut length) = (0.0, f64::INFINITY, 1.0);
    let mut best = None;
    for _ in 0..TRIALS {
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

/// Remember a step, unless the slopes did not rise along it.
fn keep(pairs: &mut VecDeque<Pair>, before: &Point, after: &Point) {
    let difference = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x - y).collect::<Vec<f64>>();
    let (step, change) = (difference(&after.x, &before.x), difference(&after.slopes, &before.slopes));
    let inner = dot(&step, &change);
    if inner > f64::EPSILON * (dot(&step, &step) * dot(&change, &change)).sqrt() {
        if pairs.len() == MEMORY {
            pairs.pop_front();
        }
        pairs.push_back(Pair { step, change, inner });
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn add(sum: &mut [f64], factor: f64, numbers: &[f64]) {
    for (sum, x) in sum.iter_mut().zip(numbers) {
        *sum += factor * x;
    }
}
