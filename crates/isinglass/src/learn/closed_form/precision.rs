//! Eq. 33 for some pairs only, or without self-couplings: a convex problem, by Newton's method.
//!
//! With `P = Â⁻¹` the equations `Â_ij = Ĉ_ij` for the free elements of P are the stationarity of
//!
//! ```text
//! Φ(P) = ½ log det P − ½ tr(Ĉ P)        ∂Φ/∂P_ij = Â_ij − Ĉ_ij  (i ≠ j; half of that on the diagonal)
//! ```
//!
//! the log-likelihood of a Gaussian for a row of standardised columns, up to a constant. It is
//! strictly concave where P is positive definite: Newton's method with a line search finds the only
//! solution.
//!
//! *Without self-couplings* the diagonal of P is 1. Positive definite matrices with a unit diagonal
//! are bounded, and Φ falls to −∞ at their border: there is a solution for any Ĉ. *With
//! self-couplings and a structure that is not full*, it is covariance selection (Dempster 1972): Â
//! agrees with Ĉ on the diagonal and on the edges, and P is 0 elsewhere. A solution exists exactly
//! if some positive definite matrix agrees with Ĉ there.

use std::ops::ControlFlow;

use super::outcome::End;
use super::selection;
use crate::numeric::dense::{Cholesky, Matrix};
use crate::{Error, Graph, Result};

/// The equations hold when no free element of Â − Ĉ is larger.
const TOLERANCE: f64 = 1e-10;

/// Below this decrement (Nesterov and Nemirovskii 1994) full steps converge quadratically.
const SURE: f64 = 0.25;

/// The free elements of P.
pub(super) enum Free<'a> {
    /// All but the diagonal.
    Pairs,
    /// The edges of a graph, and perhaps the diagonal.
    Edges { graph: &'a Graph, diagonal: bool },
}

pub(super) struct Solution {
    pub(super) precision: Matrix,
    pub(super) end: End,
    /// The largest free element of Â − Ĉ.
    pub(super) residual: f64,
}

/// Solves for the free elements, from P = I or from a number of iterations and their P.
///
/// *Complexity*: O(n³) per iteration without self-couplings; for a structure, O(n³) and O(n ·
/// edges) for each iteration of conjugate gradients.
pub(super) fn solve(
    correlations: &Matrix,
    free: &Free<'_>,
    (iterations, largest): (usize, f64),
    from: Option<(usize, Vec<f64>)>,
    mut watch: impl FnMut(f64, f64, &Matrix) -> Result<ControlFlow<()>>,
) -> Result<Solution> {
    let size = correlations.size();
    let (mut count, mut precision) = match from {
        None => (0, Matrix::identity(size)),
        Some((count, numbers)) => (count, Matrix::of_numbers(size, &numbers)),
    };
    // Only an invalid state has none.
    let factor = precision.cholesky();
    let mut factor = factor.ok_or_else(|| Error::checkpoint("its matrix is not positive definite"))?;
    loop {
        let response = factor.inverse();
        let value = objective(correlations, &precision, &factor);
        let gradient = free.gradient(&response, correlations);
        let residual = largest_element(&gradient);
        let flow = watch(value, residual, &precision)?;
        let is_unbounded = (0..size).any(|k| precision[(k, k)] > largest);
        if let Some(end) = End::of(residual <= TOLERANCE, is_unbounded, flow, count == iterations) {
            return Ok(Solution { precision, end, residual });
        }
        let step = match free {
            Free::Pairs => step_of_pairs(&precision, &gradient),
            Free::Edges { graph, diagonal } => {
                Some(selection::step(graph, *diagonal, &precision, &response, &gradient))
            }
        };
        let moved = step.and_then(|step| line_search(correlations, &precision, value, &step, &gradient));
        let Some((next, next_factor)) = moved else {
            return Ok(Solution { precision, end: End::Rounding, residual });
        };
        precision = next;
        factor = next_factor;
        count += 1;
    }
}

impl Free<'_> {
    /// The free elements of Â − Ĉ; 0 for the others.
    fn gradient(&self, response: &Matrix, correlations: &Matrix) -> Matrix {
        let size = response.size();
        let mut gradient = Matrix::zeros(size);
        match self {
            Self::Pairs => {
                for k in 0..size {
                    let pairs = response.column(k).iter().zip(correlations.column(k));
                    for (slot, (a, c)) in gradient.column_mut(k).iter_mut().zip(pairs) {
                        *slot = a - c;
                    }
                    gradient[(k, k)] = 0.0;
                }
            }
            Self::Edges { graph, diagonal } => {
                for &(a, b) in graph.edges() {
                    gradient.set_both(a, b, response[(a, b)] - correlations[(a, b)]);
                }
                for k in (0..size).filter(|_| *diagonal) {
                    gradient[(k, k)] = response[(k, k)] - correlations[(k, k)];
                }
            }
        }
        gradient
    }
}

fn objective(correlations: &Matrix, precision: &Matrix, factor: &Cholesky) -> f64 {
    0.5 * (factor.log_det() - inner(correlations, precision))
}

/// tr(X Y) of symmetric matrices.
fn inner(a: &Matrix, b: &Matrix) -> f64 {
    (0..a.size()).map(|k| dot(a.column(k), b.column(k))).sum()
}

pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn largest_element(matrix: &Matrix) -> f64 {
    let of_column = |k: usize| matrix.column(k).iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    (0..matrix.size()).map(of_column).fold(0.0, f64::max)
}

/// `P + t X` with its factor, for the first t of 1, ½, ¼ … at which Φ gains enough. tr(X G) is the
/// squared Newton decrement.
fn line_search(
    correlations: &Matrix,
    precision: &Matrix,
    value: f64,
    step: &Matrix,
    gradient: &Matrix,
) -> Option<(Matrix, Cholesky)> {
    let slope = inner(step, gradient);
    if slope.is_nan() || slope <= 0.0 {
        return None;
    }
    let mut length = 1.0;
    while length > 1e-12 {
        let mut trial = precision.clone();
        for k in 0..trial.size() {
            for (x, d) in trial.column_mut(k).iter_mut().zip(step.column(k)) {
                *x += length * d;
            }
        }
        if let Some(factor) = trial.cholesky() {
            // Φ has both terms halved, and so rises with half the slope.
            let gain = objective(correlations, &trial, &factor) - value;
            if slope.sqrt() < SURE || gain >= 1e-4 * length * 0.5 * slope {
                return Some((trial, factor));
            }
        }
        length *= 0.5;
    }
    None
}

/// The exact Newton step for all elements but the diagonal: `Â X Â` must agree with the gradient G
/// off the diagonal, so `X = P (G + diag ν) P`, where ν makes the diagonal of X vanish:
///
/// ```text
/// (P ∘ P) ν = − diag(P G P)
/// ```
///
/// with the elementwise product, which is positive definite as P is.
fn step_of_pairs(precision: &Matrix, gradient: &Matrix) -> Option<Matrix> {
    let size = precision.size();
    let mut product = gradient.times(precision);
    let mut squares = precision.clone();
    for k in 0..size {
        squares.column_mut(k).iter_mut().for_each(|x| *x *= *x);
    }
    let mut shifts: Vec<f64> = (0..size).map(|k| -dot(precision.column(k), product.column(k))).collect();
    squares.cholesky()?.solve(&mut shifts);
    for k in 0..size {
        let rows = precision.column(k).iter().zip(&shifts);
        for (slot, (p, shift)) in product.column_mut(k).iter_mut().zip(rows) {
            *slot += shift * p;
        }
    }
    let mut step = precision.times(&product);
    for k in 0..size {
        for other in 0..k {
            let mean = 0.5 * (step[(other, k)] + step[(k, other)]);
            step.set_both(other, k, mean);
        }
        step[(k, k)] = 0.0;
    }
    Some(step)
}
