//! Where a gradient vanishes that is not the gradient of any value: the steps of limited-memory BFGS, shortened until the slope along them says that they do not overshoot.
//!
//! Making the gradient smaller would not do as a rule: near a saddle, where fits with hidden units begin, the way up leads through larger gradients.

use std::collections::VecDeque;

use super::{Climb, Objective, Optimum, Point, dot};
use crate::Result;

/// Curvature pairs kept.
const MEMORY: usize = 20;

/// A step may overshoot the top along its direction as long as the slope back is no steeper than this share of the slope up.
const OVERSHOOT: f64 = 0.5;

/// No parameter moves by more than this in one step: couplings and biases of 1 are strong.
const LONGEST: f64 = 1.0;

/// Halvings of a step at most.
const HALVINGS: usize = 30;

/// Pairs of steps and changes of the gradient whose cosine is below this say nothing about curvature.
const LEAST_CURVATURE: f64 = 1e-8;

pub(super) fn maximize(
    objective: &dyn Objective,
    start: Vec<f64>,
    mut climb: Climb<'_, '_>,
) -> Result<Optimum> {
    let mut here = Point::start(objective, start)?;
    let mut pairs: VecDeque<Pair> = VecDeque::new();
    let mut iteration = 0;
    loop {
        if let Some(stopped) = climb.visit(iteration, &here.parameters, here.value, &here.gradient)? {
            return Ok(climb.end(stopped));
        }
        iteration += 1;
        let Some((step, next)) = shortened(objective, &here, &mut pairs)? else {
            return Ok(climb.stuck());
        };
        let pair = Pair::new(step, &here.gradient, &next.gradient);
        if pair.product > LEAST_CURVATURE * norm(&pair.step) * norm(&pair.change) {
            if pairs.len() == MEMORY {
                pairs.pop_front();
            }
            pairs.push_back(pair);
        }
        here = next;
    }
}

/// The longest of the step, its half, its quarter … that does not overshoot; without what was learned of the curvature if need be.
fn shortened(
    objective: &dyn Objective,
    here: &Point,
    pairs: &mut VecDeque<Pair>,
) -> Result<Option<(Vec<f64>, Point)>> {
    loop {
        let mut direction = newton_step(pairs, &here.gradient);
        if dot(&direction, &here.gradient) <= 0.0 {
            pairs.clear();
            direction.clone_from(&here.gradient);
        }
        let slope = dot(&direction, &here.gradient);
        let largest = direction.iter().fold(0.0, |most: f64, d| most.max(d.abs()));
        let first = (LONGEST / largest).min(1.0);
        for halving in 0..HALVINGS {
            let length = first * 0.5f64.powi(halving as i32);
            let next = Point::trial(objective, here.moved(length, &direction))?;
            if next.value.is_finite() && dot(&direction, &next.gradient) >= -OVERSHOOT * slope {
                return Ok(Some((direction.iter().map(|d| length * d).collect(), next)));
            }
        }
        if pairs.is_empty() {
            return Ok(None);
        }
        pairs.clear();
    }
}

/// A step, and by how much the gradient fell along it.
struct Pair {
    step: Vec<f64>,
    change: Vec<f64>,
    product: f64,
}

impl Pair {
    fn new(step: Vec<f64>, before: &[f64], after: &[f64]) -> Self {
        let change: Vec<f64> = before.iter().zip(after).map(|(x, y)| x - y).collect();
        Self { product: dot(&step, &change), step, change }
    }
}

/// The gradient times an inverse curvature that agrees with the pairs (Nocedal 1980, the two-loop recursion).
fn newton_step(pairs: &VecDeque<Pair>, gradient: &[f64]) -> Vec<f64> {
    let mut direction = gradient.to_vec();
    let mut shares = Vec::with_capacity(pairs.len());
    for pair in pairs.iter().rev() {
        let share = dot(&pair.step, &direction) / pair.product;
        add(&mut direction, -share, &pair.change);
        shares.push(share);
    }
    if let Some(last) = pairs.back() {
        let scale = last.product / dot(&last.change, &last.change);
        for d in &mut direction {
            *d *= scale;
        }
    }
    for (pair, share) in pairs.iter().zip(shares.into_iter().rev()) {
        let other = dot(&pair.change, &direction) / pair.product;
        add(&mut direction, share - other, &pair.step);
    }
    direction
}

fn add(sum: &mut [f64], scale: f64, x: &[f64]) {
    sum.iter_mut().zip(x).for_each(|(sum, x)| *sum += scale * x);
}

fn norm(x: &[f64]) -> f64 {
    dot(x, x).sqrt()
}
