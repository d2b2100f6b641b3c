//! Nonlinear conjugate gradients after Polak and Ribière, with a strong-Wolfe line search.
//!
//! Our own, since each search must begin with the step that the last one suggests: where the maximum lies at infinity (a column with one value,
//! say) steps grow without bound, and searches that always begin with the same step do not get there.

use super::line_search::search;
use super::{Climb, Objective, Optimum, Point, dot};
use crate::Result;

/// A direction that rises less than this, as the cosine of its angle with the gradient, is given up for the gradient.
const LEAST_COSINE: f64 = 0.01;

/// By how much at most a line search begins beyond the step that the last one suggests.
const GROWTH: f64 = 10.0;

pub(super) fn maximize(
    objective: &dyn Objective,
    start: Vec<f64>,
    mut climb: Climb<'_, '_>,
) -> Result<Optimum> {
    let mut here = Point::start(objective, start)?;
    if let Some(stopped) = climb.visit(0, &here.parameters, here.value, &here.gradient)? {
        return Ok(climb.end(stopped));
    }
    let mut direction = here.gradient.clone();
    let mut steepest = true;
    // At first no parameter moves by more than 1, which is much for a coupling.
    let fresh = |gradient: &[f64]| 1.0 / gradient.iter().fold(1.0, |most: f64, g| most.max(g.abs()));
    let mut step = fresh(&here.gradient);
    let mut iteration = 0;
    loop {
        let slope = dot(&here.gradient, &direction);
        let Some((taken, next)) = search(objective, &here, &direction, step)? else {
            if steepest {
                return Ok(climb.stuck());
            }
            direction.clone_from(&here.gradient);
            step = fresh(&here.gradient);
            steepest = true;
            continue;
        };
        iteration += 1;
        if let Some(stopped) = climb.visit(iteration, &next.parameters, next.value, &next.gradient)? {
            return Ok(climb.end(stopped));
        }
        // β = max(0, g'·(g' − g) / g·g): at 0 the method begins anew by itself.
        let beta = (dot(&next.gradient, &next.gradient) - dot(&next.gradient, &here.gradient))
            / dot(&here.gradient, &here.gradient);
        let beta = if beta.is_finite() { beta.max(0.0) } else { 0.0 };
        for (d, g) in direction.iter_mut().zip(&next.gradient) {
            *d = beta.mul_add(*d, *g);
        }
        let mut rise = dot(&next.gradient, &direction);
        let lengths = (dot(&direction, &direction) * dot(&next.gradient, &next.gradient)).sqrt();
        steepest = beta == 0.0;
        if rise.is_nan() || rise <= LEAST_COSINE * lengths {
            direction.clone_from(&next.gradient);
            steepest = true;
            rise = dot(&direction, &direction);
        }
        // The gain of one step is a fair guess at the gain of the next.
        let guess = taken * (slope / rise).min(GROWTH);
        step = if guess.is_finite() && guess > 0.0 { guess } else { fresh(&next.gradient) };
        here = next;
    }
}
