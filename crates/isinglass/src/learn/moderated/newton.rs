//! Newton's method for a concave function less penalties on squares and absolute values.

use super::joint::Slopes;
use crate::numeric::dense::Matrix;

/// What is taken off the function, and which parameters may differ from 0.
pub(super) struct Penalty {
    /// λ of `λ |x|`, for each parameter.
    pub(super) l1: Vec<f64>,
    /// λ of `λ/2 x²`, for each parameter.
    pub(super) l2: Vec<f64>,
    pub(super) free: Vec<bool>,
}

/// Where the search ended.
pub(super) struct Optimum {
    pub(super) parameters: Vec<f64>,
    pub(super) converged: bool,
    pub(super) iterations: usize,
}

/// Halvings of a step before it is rejected.
const HALVINGS: usize = 40;

/// Sweeps over the parameters of a quadratic problem, and when they have settled.
const SWEEPS: usize = 2000;
const SETTLED: f64 = 1e-12;

/// Added to the curvature, so that a direction without any does not end the search.
const LEAST_CURVATURE: f64 = 1e-10;

/// Maximises a function less the penalties: each step maximises its quadratic expansion less the
/// penalties, and is halved until the objective rises (Lee, Sun and Saunders 2014, "Proximal
/// Newton-type methods").
///
/// `limits` are the number of iterations, and the largest component of the one-sided gradient at
/// which the search has converged.
pub(super) fn maximize(
    evaluate: &dyn Fn(&[f64], bool) -> Slopes,
    start: Vec<f64>,
    penalty: &Penalty,
    (iterations, tolerance): (usize, f64),
) -> Optimum {
    let free: Vec<usize> = (0..start.len()).filter(|&k| penalty.free[k]).collect();
    let mut here = start;
    for (x, is_free) in here.iter_mut().zip(&penalty.free) {
        *x = if *is_free { *x } else { 0.0 };
    }
    for iteration in 0..iterations {
        let (value, gradient, curvature) = evaluate(&here, true);
        let slope = |k: usize| gradient[k] - penalty.l2[k] * here[k];
        let steepest = free.iter().map(|&k| penalty.one_sided(k, here[k], slope(k))).fold(0.0, f64::max);
        if steepest <= tolerance {
            return Optimum { parameters: here, converged: true, iterations: iteration };
        }
        let count = here.len();
        let mut bend = Matrix::zeros(free.len());
        for (i, &a) in free.iter().enumerate() {
            for (j, &b) in free.iter().enumerate() {
                bend[(i, j)] = curvature[b * count + a];
            }
            bend[(i, i)] += penalty.l2[a] + LEAST_CURVATURE;
        }
        let slopes: Vec<f64> = free.iter().map(|&k| slope(k)).collect();
        let step = penalty.step(&free, &here, &slopes, &bend);
        let objective = value - penalty.of(&here);
        let mut length = 1.0;
        let next = (0..HALVINGS).find_map(|_| {
            let mut there = here.clone();
            free.iter().zip(&step).for_each(|(&k, step)| there[k] += length * step);
            length *= 0.5;
            (evaluate(&there, false).0 - penalty.of(&there) > objective).then_some(there)
        });
        match next {
            Some(there) => here = there,
            // No step raises the objective any more: rounding, unless the gradient is still large.
            None => {
                let converged = steepest <= tolerance.max(1e-7);
                return Optimum { parameters: here, converged, iterations: iteration };
            }
        }
    }
    Optimum { parameters: here, converged: false, iterations }
}

impl Penalty {
    fn of(&self, parameters: &[f64]) -> f64 {
        let each = parameters.iter().zip(self.l1.iter().zip(&self.l2));
        each.map(|(x, (l1, l2))| l1 * x.abs() + 0.5 * l2 * x * x).sum()
    }

    /// The size of the one-sided derivative.
    fn one_sided(&self, k: usize, x: f64, slope: f64) -> f64 {
        let l1 = self.l1[k];
        if x == 0.0 { (slope.abs() - l1).max(0.0) } else { (slope - l1 * x.signum()).abs() }
    }

    /// The step to the maximum of the quadratic expansion less the penalties.
    fn step(&self, free: &[usize], here: &[f64], slopes: &[f64], bend: &Matrix) -> Vec<f64> {
        if free.iter().all(|&k| self.l1[k] == 0.0)
            && let Some(factor) = bend.cholesky()
        {
            let mut step = slopes.to_vec();
            factor.solve(&mut step);
            return step;
        }
        // One parameter after the other, each to its maximum given the others.
        let mut step = vec![0.0; free.len()];
        let mut bent = vec![0.0; free.len()];
        for _ in 0..SWEEPS {
            let mut largest: f64 = 0.0;
            for (i, &k) in free.iter().enumerate() {
                let own = bend[(i, i)];
                let pull = slopes[i] - (bent[i] - own * step[i]) + own * here[k];
                let there = pull.signum() * (pull.abs() - self.l1[k]).max(0.0) / own;
                let change = there - here[k] - step[i];
                if change != 0.0 {
                    step[i] += change;
                    bent.iter_mut().zip(bend.column(i)).for_each(|(sum, bend)| *sum += change * bend);
                    largest = largest.max(change.abs() * own.sqrt());
                }
            }
            if largest <= SETTLED {
                break;
            }
        }
        // A sum that ends at 0 but for rounding is 0.
        for (step, &k) in step.iter_mut().zip(free) {
            if (here[k] + *step).abs() < 1e-15 {
                *step = -here[k];
            }
        }
        step
    }
}
