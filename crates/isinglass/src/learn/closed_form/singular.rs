//! Singular covariances: least squares in the eigenvectors of the correlations, and the amount of
//! shrinkage.

use std::ops::ControlFlow;

use super::moments::Moments;
use super::outcome::End;
use crate::numeric::dense::{Eigen, Matrix};
use crate::{Error, Result};

/// A solution of eq. 33 by least squares.
pub(super) struct LeastSquares {
    /// A⁻¹, of correlations.
    pub(super) precision: Matrix,
    /// The largest eigenvalue of `Â − Ĉ₊`, which bounds its elements.
    pub(super) residual: f64,
    pub(super) end: End,
}

/// An iterate: the eigenvalues of Â.
struct Iterate<'a> {
    responses: Vec<f64>,
    targets: &'a [f64],
}

impl Iterate<'_> {
    fn differences(&self) -> impl Iterator<Item = f64> + '_ {
        self.responses.iter().zip(self.targets).map(|(a, c)| a - c)
    }

    /// −½ ‖Â − Ĉ₊‖².
    fn objective(&self) -> f64 {
        -0.5 * self.differences().map(|d| d * d).sum::<f64>()
    }

    fn residual(&self) -> f64 {
        self.differences().fold(0.0, |most, d| most.max(d.abs()))
    }

    /// The largest component of the gradient `A (A − C) A`.
    fn gradient(&self) -> f64 {
        let terms = self.responses.iter().zip(self.differences()).map(|(a, d)| a * a * d);
        terms.fold(0.0, |most: f64, x| most.max(x.abs()))
    }

    /// The iterate after a damped step; `None` where A would not stay positive definite.
    fn step(&self, damping: f64) -> Option<Self> {
        let moved = self.responses.iter().zip(self.differences()).map(|(&a, d)| {
            let square = a * a;
            1.0 / (1.0 / a + square * d / (square * square + damping))
        });
        let responses: Vec<f64> = moved.collect();
        let is_positive = responses.iter().all(|a| *a > 0.0 && a.is_finite());
        is_positive.then_some(Self { responses, targets: self.targets })
    }
}

/// Solves eq. 33 for all i and j by Levenberg–Marquardt, as in Kappen & Rodríguez 1997, section
/// 4.1.
///
/// The equations are `Â(ŵ) = Ĉ` with `Â⁻¹ = I − ŵ`, where every element of ŵ is free, the diagonal
/// too. A small change gives `dÂ = Â dŵ Â`, so with the sum of squares over *all* i and j (each
/// pair counts twice) a step solves
///
/// ```text
/// Â² dŵ Â² + μ dŵ = − Â (Â − Ĉ) Â
/// ```
///
/// which is one division per element in the eigenvectors of Â. The start ŵ = 0 has Â = I, whose
/// eigenvectors may be chosen as those of Ĉ, and no step leaves them. So one eigendecomposition
/// serves all iterations, and the eigenvalues `a_k` of Â move towards those of Ĉ, `c_k`:
///
/// ```text
/// 1/a_k ← 1/a_k + a_k² (a_k − c_k) / (a_k⁴ + μ)
/// ```
///
/// Where `c_k` = 0, a_k is halved again and again: the squares vanish at infinite weights only, and
/// the tolerance decides how large they become. A positive definite Â cannot reach an eigenvalue
/// below 0 (from pairwise estimates with missing cells); Ĉ₊ has 0 in its place.
///
/// *Arguments*: to resume, the number of iterations, the `a_k`, and after them μ.
pub(super) fn levenberg_marquardt(
    eigen: &Eigen,
    iterations: usize,
    tolerance: f64,
    from: Option<(usize, Vec<f64>)>,
    mut watch: impl FnMut(f64, f64, &Matrix, Vec<f64>) -> Result<ControlFlow<()>>,
) -> Result<LeastSquares> {
    let targets: Vec<f64> = eigen.values.iter().map(|c| c.max(0.0)).collect();
    let (mut count, mut responses) = from.unwrap_or((0, vec![1.0; targets.len()]));
    let mut damping = if responses.len() > targets.len() { responses[targets.len()] } else { 1e-3 };
    responses.truncate(targets.len());
    if damping <= 0.0 || responses.iter().any(|a| *a <= 0.0) {
        return Err(Error::checkpoint("its least squares have eigenvalues or a damping below 0"));
    }
    let mut state = Iterate { responses, targets: &targets };
    loop {
        let inverse: Vec<f64> = state.responses.iter().map(|a| 1.0 / a).collect();
        let precision = eigen.with_values(&inverse);
        let numbers = state.responses.iter().copied().chain([damping]).collect();
        let flow = watch(state.objective(), state.gradient(), &precision, numbers)?;
        let residual = state.residual();
        if let Some(end) = End::of(residual <= tolerance, false, flow, count == iterations) {
            return Ok(LeastSquares { precision, residual, end });
        }
        let objective = state.objective();
        loop {
            if let Some(next) = state.step(damping).filter(|next| next.objective() > objective) {
                state = next;
                damping *= 0.1;
                break;
            }
            damping *= 4.0;
            // A short enough step along the gradient always gains, up to rounding.
            if damping > 1e30 {
                return Ok(LeastSquares { precision, residual, end: End::Rounding });
            }
        }
        count += 1;
    }
}

/// Lower bound of the eigenvalues, for any number of rows.
const LEAST_SHARE: f64 = 1e-6;

/// λ: the share that minimises the expected squared error of the correlations, as estimated from
/// the table (Ledoit and Wolf 2003; for correlations, Schäfer and Strimmer 2005):
///
/// ```text
/// λ = Σ_{i≠j} Var(Ĉ_ij) / Σ_{i≠j} Ĉ_ij²        Var(Ĉ_ij) = (1 + 4 m_i m_j Ĉ_ij / (σ_i σ_j) − Ĉ_ij²) / (N − 1)
/// ```
///
/// The variance needs no second pass over the rows: for ±1 units, `(s_i − m_i)²(s_j − m_j)²` has
/// the mean `σ_i² σ_j² + 4 m_i m_j C_ij`.
///
/// λ is at least 1/(N + 1), as if one more row of independent units had been seen: rows that all
/// agree have no variance, and would leave the matrix singular. It is also large enough to lift all
/// eigenvalues to that bound.
pub(super) fn shrinkage(moments: &Moments, least_eigenvalue: f64) -> f64 {
    let scaled = moments.scaled_means();
    let (mut variances, mut squares) = (0.0, 0.0);
    for k in 0..moments.size() {
        for (other, &r) in moments.correlations.column(k).iter().enumerate().take(k) {
            variances += (1.0 + 4.0 * scaled[k] * scaled[other] * r - r * r).max(0.0);
            squares += r * r;
        }
    }
    let rows = moments.rows;
    let estimate = if squares > 0.0 && rows > 1.0 { variances / (rows - 1.0) / squares } else { 1.0 };
    let floor = (1.0 / (rows + 1.0)).max(LEAST_SHARE);
    let lifting = (floor - least_eigenvalue) / (1.0 - least_eigenvalue).max(f64::MIN_POSITIVE);
    estimate.max(floor).max(lifting).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Table, topology};

    /// Columns of which the third repeats the first.
    fn moments() -> (Moments, Table) {
        let rows = [[1i8, 1, 1, 1], [1, -1, 1, 1], [-1, -1, -1, 1], [1, 1, 1, -1], [-1, 1, -1, 1]];
        let table = Table::from_rows(["a", "b", "c", "d"], rows).unwrap();
        let start = topology::full(4).with_names(["a", "b", "c", "d"]).unwrap();
        (Moments::of(&start, &table).unwrap(), table)
    }

    /// Levenberg–Marquardt with the whole Jacobian: unknowns are all n² elements of w, residuals
    /// all n² of A − C.
    fn plain(correlations: &Matrix, tolerance: f64) -> (Matrix, usize) {
        let n = correlations.size();
        let difference = |precision: &Matrix| {
            let response = precision.cholesky().map(|factor| factor.inverse())?;
            let mut left = response.clone();
            for a in 0..n {
                for b in 0..n {
                    left[(a, b)] -= correlations[(a, b)];
                }
            }
            Some((response, left))
        };
        let squares = |left: &Matrix| (0..n).flat_map(|k| left.column(k)).map(|x| x * x).sum::<f64>();
        let mut precision = Matrix::identity(n);
        let mut damping = 1e-3;
        let mut count = 0;
        loop {
            let (response, left) = difference(&precision).unwrap();
            let eigen = left.eigen("test").unwrap();
            if eigen.values.iter().all(|x| x.abs() <= tolerance) {
                return (precision, count);
            }
            // J = A ⊗ A, of which the transpose is itself.
            let index = |a: usize, b: usize| a * n + b;
            let mut normal = Matrix::identity(n * n);
            let mut right = vec![0.0; n * n];
            let jacobian = |a: usize, b: usize, c: usize, d: usize| response[(a, c)] * response[(b, d)];
            for (a, b, c, d) in all_four(n) {
                right[index(c, d)] += jacobian(a, b, c, d) * left[(a, b)];
                normal[(index(a, b), index(c, d))] *= damping;
            }
            for (a, b, c, d) in all_four(n) {
                for (e, f) in (0..n).flat_map(|e| (0..n).map(move |f| (e, f))) {
                    normal[(index(a, b), index(c, d))] += jacobian(e, f, a, b) * jacobian(e, f, c, d);
                }
            }
            normal.cholesky().unwrap().solve(&mut right);
            let mut trial = precision.clone();
            for a in 0..n {
                for b in 0..n {
                    trial[(a, b)] += right[index(a, b)];
                }
            }
            match difference(&trial).filter(|(_, next)| squares(next) < squares(&left)) {
                Some(_) => {
                    precision = trial;
                    damping *= 0.1;
                    count += 1;
                }
                None => damping *= 4.0,
            }
        }
    }

    fn all_four(n: usize) -> impl Iterator<Item = (usize, usize, usize, usize)> {
        (0..n.pow(4)).map(move |k| (k / n.pow(3), k / n.pow(2) % n, k / n % n, k % n))
    }

    #[test]
    fn least_squares_are_those_of_the_whole_jacobian() {
        let (moments, _) = moments();
        let eigen = moments.correlations.eigen("test").unwrap();
        let mut objectives = Vec::new();
        let found = levenberg_marquardt(&eigen, 100, 0.02, None, |objective, _, _, _| {
            objectives.push(objective);
            Ok(ControlFlow::Continue(()))
        })
        .unwrap();
        assert!(found.end == End::Converged && found.residual <= 0.02);
        assert!(objectives.windows(2).all(|pair| pair[1] > pair[0]), "{objectives:?}");
        let (expected, count) = plain(&moments.correlations, 0.02);
        assert_eq!(objectives.len(), count + 1);
        for a in 0..4 {
            for b in 0..4 {
                let (found, expected) = (found.precision[(a, b)], expected[(a, b)]);
                assert!(
                    (found - expected).abs() < 1e-6 * expected.abs().max(1.0),
                    "{found}, expected {expected}"
                );
            }
        }
    }

    #[test]
    fn the_share_is_that_of_variances_over_rows() {
        let (moments, table) = moments();
        let n = table.row_count() as f64;
        let row = |k: u32| table.row(k as usize).iter().map(|&cell| f64::from(cell)).collect::<Vec<_>>();
        let rows: Vec<Vec<f64>> = table.distinct_of().iter().map(|&k| row(k)).collect();
        let scaled = |row: &[f64], k: usize| (row[k] - moments.means[k]) / moments.deviations[k];
        let (mut variances, mut squares) = (0.0, 0.0);
        for a in 0..4 {
            for b in (0..4).filter(|&b| b != a) {
                let products: Vec<f64> = rows.iter().map(|row| scaled(row, a) * scaled(row, b)).collect();
                let mean = products.iter().sum::<f64>() / n;
                variances += products.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n / (n - 1.0);
                squares += mean * mean;
            }
        }
        let expected = variances / squares;
        assert!((0.2..1.0).contains(&expected), "neither bound is met: {expected}");
        assert!((shrinkage(&moments, 0.0) - expected).abs() < 1e-12);
        // An eigenvalue of −1 is lifted to 1/6, if that takes more.
        assert!((shrinkage(&moments, -1.0) - expected.max(7.0 / 12.0)).abs() < 1e-12);
    }
}
