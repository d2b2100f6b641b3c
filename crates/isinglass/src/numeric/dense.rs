//! Dense symmetric matrices, through the linear-algebra crate.

use faer::linalg::solvers::{DenseSolveCore, Llt};
use faer::{MatRef, Side};

/// The inverse of a symmetric positive definite matrix (n × n, one row after the other); `None` if it is none.
///
/// *Complexity*: O(n³). *Accuracy*: that of a Cholesky factor, about the condition number times 1e-16.
pub(crate) fn inverse_of_positive_definite(matrix: &[f64], n: usize) -> Option<Vec<f64>> {
    let factor = Llt::new(MatRef::from_column_major_slice(matrix, n, n), Side::Lower).ok()?;
    let inverse = factor.inverse();
    let mut numbers: Vec<f64> = Vec::with_capacity(n * n);
    for column in 0..n {
        numbers.extend(inverse.col(column).iter());
    }
    numbers.iter().all(|x| x.is_finite()).then_some(numbers)
}
