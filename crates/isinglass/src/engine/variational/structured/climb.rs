//! Maximises the bound from a start.
//!
//! Limited-memory BFGS (Liu and Nocedal 1989), preconditioned by the natural gradient (Amari 1998):
//! the gradient divided by the Fisher information, which is diagonal in the logits. So logits of
//! rare states, whose gradient is tiny, move as far as the others.

use super::bound::{Row, Work};
use crate::cancel;
use crate::optimize::memory::{Memory, Pair, difference, dot};

/// Curvature pairs kept.
const MEMORY: usize = 16;

/// A step must gain at least this share of what the slope predicts.
const SUFFICIENT: f64 = 1e-4;

/// Steps with gains below rounding must leave at most this share of the slope or the residual.
const FLATTER: f64 = 0.9;

/// Gains below this share of the value may be rounding.
const ROUNDING: f64 = 1e-11;

/// The most trials along a direction.
const TRIALS: usize = 30;

/// The least information that is used: the gradient there is below any tolerance.
const LEAST_INFORMATION: f64 = 1e-14;

/// The longest step of a logit: rare states would hold back all others.
const LONGEST: f64 = 10.0;

/// The end of a climb.
#[derive(Debug, Clone)]
pub(super) struct Top {
    pub(super) logits: Vec<f64>,
    pub(super) value: f64,
    /// The largest component of the gradient.
    pub(super) residual: f64,
    pub(super) iterations: usize,
}

/// A point with its bound, gradient and information.
struct Place {
    logits: Vec<f64>,
    value: f64,
    gradient: Vec<f64>,
    information: Vec<f64>,
}

impl Place {
    fn new(row: &Row<'_>, logits: Vec<f64>, work: &mut Work) -> Self {
        let mut gradient = vec![0.0; logits.len()];
        let mut information = vec![0.0; logits.len()];
        let value = row.gradient(&logits, work, &mut gradient, &mut information);
        Self { logits, value, gradient, information }
    }

    fn residual(&self) -> f64 {
        self.gradient.iter().fold(0.0, |most: f64, x| most.max(x.abs()))
    }
}

/// Returns the bytes of a climb besides [`Work`].
pub(super) fn bytes(logits: usize) -> u128 {
    8 * (2 * MEMORY + 12) as u128 * logits as u128
}

/// Maximises until the gradient is within the tolerance, steps run out, or rounding hides gains.
pub(super) fn climb(
    row: &Row<'_>,
    start: Vec<f64>,
    work: &mut Work,
    tolerance: f64,
    iterations: usize,
) -> Top {
    let mut place = Place::new(row, start, work);
    let mut memory = Memory::new(MEMORY);
    let mut taken = 0;
    while taken < iterations && place.residual() > tolerance {
        let direction = direction(&place, &memory);
        let Some(next) = search(row, &place, &direction, work) else {
            if memory.is_empty() {
                break;
            }
            // Falls back to the natural gradient.
            memory.clear();
            continue;
        };
        let moved = difference(&next.logits, &place.logits);
        memory.learn(Pair::new(moved, &place.gradient, &next.gradient), f64::EPSILON);
        place = next;
        taken += 1;
    }
    Top { residual: place.residual(), value: place.value, logits: place.logits, iterations: taken }
}

/// Returns the step of limited-memory BFGS, preconditioned by the natural gradient.
fn direction(place: &Place, memory: &Memory) -> Vec<f64> {
    let mut direction = memory.newton_step(place.gradient.clone(), |direction| {
        for (x, information) in direction.iter_mut().zip(&place.information) {
            *x /= information.max(LEAST_INFORMATION);
        }
    });
    for x in &mut direction {
        *x = x.clamp(-LONGEST, LONGEST);
    }
    direction
}

/// Returns a point along the direction that is higher, or as high and flatter.
fn search(row: &Row<'_>, place: &Place, direction: &[f64], work: &mut Work) -> Option<Place> {
    let slope = dot(&place.gradient, direction);
    if !(slope > 0.0 && slope.is_finite()) {
        return None;
    }
    let rounding = ROUNDING * place.value.abs().max(1.0);
    let mut length = 1.0;
    for _ in 0..TRIALS {
        cancel::point();
        let logits = place.logits.iter().zip(direction).map(|(x, d)| x + length * d).collect();
        let next = Place::new(row, logits, work);
        let gain = next.value - place.value;
        let left = dot(&next.gradient, direction);
        if gain >= SUFFICIENT * length * slope && gain > 0.0
            || gain.abs() <= rounding
                && (left.abs() <= FLATTER * slope || next.residual() <= FLATTER * place.residual())
        {
            return Some(next);
        }
        // The maximum of the parabola through both values and the first slope.
        let fitted = slope * length / (2.0 * (slope * length - gain)) * length;
        length = if fitted.is_finite() { fitted.clamp(0.1 * length, 0.5 * length) } else { 0.1 * length };
    }
    None
}
