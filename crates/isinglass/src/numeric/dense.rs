//! Dense matrices: products, Cholesky factors, eigenvalues. The only user of the linear algebra
//! crate. Everything runs on the calling thread, so that results are independent of threads.

use std::ops::{Index, IndexMut};

use faer::linalg::matmul::matmul;
use faer::linalg::solvers::{DenseSolveCore, Llt, Solve};
use faer::{Accum, Mat, MatMut, MatRef, Par, Side};

use crate::{Error, Result, cancel};

/// A matrix of f64, stored column by column.
#[derive(Debug, Clone)]
pub(crate) struct Matrix(Mat<f64>);

impl Matrix {
    /// A square matrix of zeros.
    pub(crate) fn zeros(size: usize) -> Self {
        Self(Mat::zeros(size, size))
    }

    /// A square matrix with ones on its diagonal.
    pub(crate) fn identity(size: usize) -> Self {
        Self(Mat::identity(size, size))
    }

    /// A square matrix of its elements, column by column.
    pub(crate) fn of_numbers(size: usize, numbers: &[f64]) -> Self {
        Self(Mat::from_fn(size, size, |row, column| numbers[column * size + row]))
    }

    /// The elements, column by column.
    pub(crate) fn numbers(&self) -> Vec<f64> {
        (0..self.size()).flat_map(|column| self.column(column)).copied().collect()
    }

    /// The number of rows, and of columns.
    pub(crate) fn size(&self) -> usize {
        self.0.nrows()
    }

    /// A column.
    pub(crate) fn column(&self, column: usize) -> &[f64] {
        self.0.col_as_slice(column)
    }

    /// A mutable column.
    pub(crate) fn column_mut(&mut self, column: usize) -> &mut [f64] {
        self.0.col_as_slice_mut(column)
    }

    /// Sets an element and its mirror image.
    pub(crate) fn set_both(&mut self, row: usize, column: usize, value: f64) {
        self.0[(row, column)] = value;
        self.0[(column, row)] = value;
    }

    /// The root of the sum of all squared elements.
    pub(crate) fn norm(&self) -> f64 {
        (0..self.size()).flat_map(|column| self.column(column)).map(|x| x * x).sum::<f64>().sqrt()
    }

    /// The product of two square matrices.
    pub(crate) fn times(&self, other: &Self) -> Self {
        cancel::point();
        let mut product = Mat::zeros(self.0.nrows(), other.0.ncols());
        matmul(&mut product, Accum::Replace, &self.0, &other.0, 1.0, Par::Seq);
        Self(product)
    }

    /// `out = rows · self`; `rows` and `out` are row-major.
    pub(crate) fn times_rows(&self, rows: &[f64], out: &mut [f64]) {
        let size = self.size();
        let count = rows.len() / size.max(1);
        let rows = MatRef::from_row_major_slice(rows, count, size);
        let out = MatMut::from_row_major_slice_mut(out, count, size);
        matmul(out, Accum::Replace, rows, &self.0, 1.0, Par::Seq);
    }

    /// The factor L of a symmetric matrix `L Lᵀ`, from its lower half, if it is positive definite.
    pub(crate) fn cholesky(&self) -> Option<Cholesky> {
        cancel::point();
        let factor = self.0.llt(Side::Lower).ok().map(Cholesky)?;
        factor.log_det().is_finite().then_some(factor)
    }

    /// Eigenvalues, rising, and eigenvectors of a symmetric matrix, from its lower half.
    ///
    /// # Errors
    /// [`Error::Numerical`] if the iteration does not end, as with numbers that are not finite.
    pub(crate) fn eigen(&self, method: &'static str) -> Result<Eigen> {
        cancel::point();
        let problem = "the eigenvalues of a matrix were not found";
        let failed = |_| Error::Numerical { method, problem: problem.into() };
        let found = self.0.self_adjoint_eigen(Side::Lower).map_err(failed)?;
        let values = found.S().column_vector().iter().copied().collect();
        Ok(Eigen { values, vectors: found.U().to_owned() })
    }
}

impl Index<(usize, usize)> for Matrix {
    type Output = f64;

    fn index(&self, place: (usize, usize)) -> &f64 {
        &self.0[place]
    }
}

impl IndexMut<(usize, usize)> for Matrix {
    fn index_mut(&mut self, place: (usize, usize)) -> &mut f64 {
        &mut self.0[place]
    }
}

/// The Cholesky factor of a positive definite matrix.
pub(crate) struct Cholesky(Llt<f64>);

impl Cholesky {
    /// The inverse of the matrix, symmetric to the last bit.
    pub(crate) fn inverse(&self) -> Matrix {
        cancel::point();
        Matrix(self.0.inverse())
    }

    /// The logarithm of the determinant of the matrix.
    pub(crate) fn log_det(&self) -> f64 {
        2.0 * self.0.L().diagonal().column_vector().iter().map(|x| x.ln()).sum::<f64>()
    }

    /// Replaces a right-hand side by the solution.
    pub(crate) fn solve(&self, right: &mut [f64]) {
        let size = right.len();
        self.0.solve_in_place(MatMut::from_column_major_slice_mut(right, size, 1));
    }
}

/// Eigenvalues and eigenvectors of a symmetric matrix.
pub(crate) struct Eigen {
    /// In rising order.
    pub(crate) values: Vec<f64>,
    vectors: Mat<f64>,
}

impl Eigen {
    /// What no eigenvalue is off by more than, against those of the matrix.
    ///
    /// With `R = A V − V Θ` and the polar decomposition `V = U H`, `‖H − 1‖ ≤ ‖Vᵀ V − 1‖ = η`, one has
    /// `Uᵀ A U − Θ = Uᵀ R H⁻¹ + (H Θ − Θ H) H⁻¹`, so that by Weyl's inequality eigenvalues are off by
    /// `(‖R‖ + 2 η ‖Θ‖) / (1 − η)` at most; norms are Frobenius norms, and the rounding of the two
    /// products is added to them.
    pub(crate) fn error(&self, matrix: &Matrix) -> f64 {
        let size = self.values.len();
        let mut residual = Mat::zeros(size, size);
        matmul(&mut residual, Accum::Replace, &matrix.0, &self.vectors, 1.0, Par::Seq);
        for (column, &value) in self.values.iter().enumerate() {
            for (r, v) in residual.col_as_slice_mut(column).iter_mut().zip(self.vectors.col_as_slice(column))
            {
                *r -= value * v;
            }
        }
        let mut overlap = Mat::identity(size, size);
        matmul(&mut overlap, Accum::Add, self.vectors.transpose(), &self.vectors, -1.0, Par::Seq);
        let largest = self.values.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
        let rounding = (size + 2) as f64 * f64::EPSILON;
        let vectors = self.vectors.norm_l2();
        let eta = overlap.norm_l2() + rounding * vectors * vectors;
        let residual = residual.norm_l2() + rounding * vectors * (matrix.norm() + largest);
        if eta < 1.0 { (residual + 2.0 * eta * largest) / (1.0 - eta) } else { f64::INFINITY }
    }

    /// The matrix with the same eigenvectors and other eigenvalues.
    pub(crate) fn with_values(&self, values: &[f64]) -> Matrix {
        let mut scaled = self.vectors.clone();
        for (column, &value) in values.iter().enumerate() {
            for x in scaled.col_as_slice_mut(column) {
                *x *= value;
            }
        }
        let size = values.len();
        let mut product = Mat::zeros(size, size);
        matmul(&mut product, Accum::Replace, &scaled, self.vectors.transpose(), 1.0, Par::Seq);
        // Rounding differs in the two halves; callers rely on symmetry.
        let mut product = Matrix(product);
        for column in 0..size {
            for row in 0..column {
                let mean = 0.5 * (product[(row, column)] + product[(column, row)]);
                product.set_both(row, column, mean);
            }
        }
        product
    }
}

/// `out ← a b` (or `out ← out + a b`), all column-major; `a` is rows × inner.
pub(crate) fn multiply(out: &mut [f64], a: &[f64], b: &[f64], rows: usize, inner: usize, add: bool) {
    let accum = if add { Accum::Add } else { Accum::Replace };
    product(out, accum, MatRef::from_column_major_slice(a, rows, inner), b);
}

/// `out ← out + aᵀ b`, all column-major; `a` is inner × rows.
pub(crate) fn add_transposed_times(out: &mut [f64], a: &[f64], b: &[f64], rows: usize, inner: usize) {
    product(out, Accum::Add, MatRef::from_column_major_slice(a, inner, rows).transpose(), b);
}

fn product(out: &mut [f64], accum: Accum, a: MatRef<'_, f64>, b: &[f64]) {
    let (rows, inner) = (a.nrows(), a.ncols());
    if rows == 0 || out.is_empty() {
        return;
    }
    let columns = out.len() / rows;
    debug_assert_eq!((out.len(), b.len()), (rows * columns, inner * columns));
    let out = MatMut::from_column_major_slice_mut(out, rows, columns);
    matmul(out, accum, a, MatRef::from_column_major_slice(b, inner, columns), 1.0, Par::Seq);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// `B Bᵀ + I` for any B: positive definite.
    fn positive(size: usize) -> impl Strategy<Value = Matrix> {
        proptest::collection::vec(-1.0..1.0f64, size * size).prop_map(move |numbers| {
            let mut matrix = Matrix::identity(size);
            for row in 0..size {
                for column in 0..size {
                    matrix[(row, column)] +=
                        (0..size).map(|k| numbers[row * size + k] * numbers[column * size + k]).sum::<f64>();
                }
            }
            matrix
        })
    }

    fn assert_close(a: &Matrix, b: &Matrix) {
        for row in 0..a.size() {
            for column in 0..a.size() {
                assert!((a[(row, column)] - b[(row, column)]).abs() < 1e-11, "({row}, {column})");
            }
        }
    }

    proptest! {
        #[test]
        fn factors_and_eigenvalues_put_the_matrix_together_again(matrix in (1..9usize).prop_flat_map(positive)) {
            let size = matrix.size();
            let factor = matrix.cholesky().unwrap();
            assert_close(&factor.inverse().times(&matrix), &Matrix::identity(size));
            let eigen = matrix.eigen("test").unwrap();
            assert_close(&eigen.with_values(&eigen.values), &matrix);
            let error = eigen.error(&matrix);
            prop_assert!(error < 1e-12, "{}", error);
            let mut off = eigen.values.clone();
            off[0] -= 1e-3;
            let wrong = Eigen { values: off, vectors: eigen.vectors.clone() }.error(&matrix);
            prop_assert!((1e-3..1.1e-3).contains(&wrong), "{}", wrong);
            let log_det: f64 = eigen.values.iter().map(|x| x.ln()).sum();
            prop_assert!((factor.log_det() - log_det).abs() < 1e-11);
            let mut solved: Vec<f64> = matrix.column(size - 1).to_vec();
            factor.solve(&mut solved);
            prop_assert!(solved.iter().enumerate().all(|(k, x)| (x - f64::from(k + 1 == size)).abs() < 1e-11));
            let mut rows = vec![0.0; 2 * size];
            let twice = [matrix.column(0), matrix.column(0)].concat();
            factor.inverse().times_rows(&twice, &mut rows);
            prop_assert!(rows.iter().enumerate().all(|(k, x)| (x - f64::from(k % size == 0)).abs() < 1e-11));
        }
    }

    #[test]
    fn what_is_not_positive_definite_has_no_factor() {
        let mut matrix = Matrix::identity(2);
        matrix.set_both(0, 1, 2.0);
        assert!(matrix.cholesky().is_none());
        matrix.set_both(0, 1, f64::NAN);
        assert!(matrix.cholesky().is_none());
        assert!(Matrix::zeros(1).cholesky().is_none());
        assert_eq!(Matrix::zeros(0).cholesky().map(|factor| factor.log_det()), Some(0.0));
    }

    #[test]
    fn products_are_those_of_plain_loops() {
        let number = |k: usize| ((k * 7919 + 13) % 101) as f64 / 50.0 - 1.0;
        for (rows, inner, columns) in [(1, 1, 1), (1, 5, 3), (7, 3, 2), (96, 40, 32), (5, 0, 2)] {
            let a: Vec<f64> = (0..rows * inner).map(number).collect();
            let b: Vec<f64> = (0..inner * columns).map(|k| number(k + 31)).collect();
            let mut out = vec![1.0; rows * columns];
            multiply(&mut out, &a, &b, rows, inner, true);
            for r in 0..rows {
                for c in 0..columns {
                    let plain: f64 = (0..inner).map(|k| a[k * rows + r] * b[c * inner + k]).sum();
                    assert!((out[c * rows + r] - 1.0 - plain).abs() < 1e-13);
                }
            }
            multiply(&mut out, &a, &b, rows, inner, false);
            let plain: f64 = (0..inner).map(|k| a[k * rows] * b[k]).sum();
            assert!((out[0] - plain).abs() < 1e-13);
            add_transposed_times(&mut out, &a, &b, rows, inner);
            let last: f64 = (0..inner).map(|k| a[(rows - 1) * inner + k] * b[k]).sum();
            let before: f64 = (0..inner).map(|k| a[k * rows + rows - 1] * b[k]).sum();
            assert!((out[rows - 1] - before - last).abs() < 1e-13);
        }
    }
}
