//! Conjugate gradients (Hestenes and Stiefel 1952) for a symmetric, positive definite matrix that is
//! known by its products alone.

use super::curvature::dot;

/// When a solution ends.
pub(super) struct Limits {
    pub(super) iterations: usize,
    /// The residual, relative to the right-hand side.
    pub(super) residual: f64,
}

/// Solves `A x = b` from 0.
///
/// *Arguments*: the right-hand side; a preconditioner, applied to residuals; the product with a
/// vector d, and `dᵀ A d`.
pub(super) fn solve(
    right: &[f64],
    limits: &Limits,
    precondition: impl Fn(&[f64]) -> Vec<f64>,
    times: impl Fn(&[f64]) -> (Vec<f64>, f64),
) -> Vec<f64> {
    let mut solution = vec![0.0; right.len()];
    let mut residual = right.to_vec();
    let mut direction = precondition(&residual);
    let mut size = dot(&residual, &direction);
    let goal = limits.residual * limits.residual * size;
    for _ in 0..limits.iterations {
        if size <= goal || size == 0.0 {
            break;
        }
        let (product, curvature) = times(&direction);
        let length = size / curvature;
        for k in 0..right.len() {
            solution[k] += length * direction[k];
            residual[k] -= length * product[k];
        }
        let next = precondition(&residual);
        let next_size = dot(&residual, &next);
        let keep = next_size / size;
        direction.iter_mut().zip(next).for_each(|(d, r)| *d = r + keep * *d);
        size = next_size;
    }
    solution
}
