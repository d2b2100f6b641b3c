//! Newton steps of covariance selection: the free elements are edges, and perhaps the diagonal.

use rayon::prelude::*;

use super::precision::dot;
use crate::Graph;
use crate::cancel;
use crate::numeric::dense::Matrix;

/// Conjugate gradients stop at this share of the gradient, or at a smaller one near the solution.
const COARSE: f64 = 0.1;

/// Units whose elements one task computes.
const PIECE: usize = 8;

/// The free elements of a symmetric matrix: edges in order, and the diagonal (empty if not free).
#[derive(Clone)]
struct Elements {
    edges: Vec<f64>,
    diagonal: Vec<f64>,
}

impl Elements {
    /// tr(X Y): each edge is in the matrix twice.
    fn inner(&self, other: &Self) -> f64 {
        2.0 * dot(&self.edges, &other.edges) + dot(&self.diagonal, &other.diagonal)
    }

    fn add(&mut self, factor: f64, other: &Self) {
        let pairs = self.edges.iter_mut().zip(&other.edges);
        for (x, y) in pairs.chain(self.diagonal.iter_mut().zip(&other.diagonal)) {
            *x += factor * y;
        }
    }
}

/// The symmetric X on the free elements with `Â X Â = G` there, by conjugate gradients;
/// `G` is 0 elsewhere. They are preconditioned with the free elements of `P G P`, the solution if
/// all elements were free.
///
/// *Complexity*: O(n · edges) for each of their iterations.
pub(super) fn step(
    graph: &Graph,
    diagonal: bool,
    precision: &Matrix,
    response: &Matrix,
    gradient: &Matrix,
) -> Matrix {
    let free = |of_edge: &dyn Fn(usize, usize) -> f64, of_unit: &dyn Fn(usize) -> f64| Elements {
        edges: graph.edges().iter().map(|&(a, b)| of_edge(a, b)).collect(),
        diagonal: (0..graph.unit_count()).filter(|_| diagonal).map(of_unit).collect(),
    };
    let mut left = free(&|a, b| gradient[(a, b)], &|k| gradient[(k, k)]);
    let mut found = free(&|_, _| 0.0, &|_| 0.0);
    let mut preconditioned = sandwich(graph, precision, &left);
    let mut direction = preconditioned.clone();
    let mut squares = left.inner(&preconditioned);
    let goal = squares * COARSE.min(squares.sqrt()).powi(2);
    // In exact arithmetic there are no more directions than elements.
    for _ in 0..found.edges.len() + found.diagonal.len() {
        cancel::point();
        let image = sandwich(graph, response, &direction);
        let curvature = direction.inner(&image);
        if curvature.is_nan() || curvature <= 0.0 {
            break;
        }
        let length = squares / curvature;
        found.add(length, &direction);
        left.add(-length, &image);
        preconditioned = sandwich(graph, precision, &left);
        let before = squares;
        squares = left.inner(&preconditioned);
        if squares <= goal {
            break;
        }
        preconditioned.add(squares / before, &direction);
        direction = preconditioned;
    }
    let mut step = Matrix::zeros(graph.unit_count());
    for (&(a, b), &x) in graph.edges().iter().zip(&found.edges) {
        step.set_both(a, b, x);
    }
    for (k, &x) in found.diagonal.iter().enumerate() {
        step[(k, k)] = x;
    }
    step
}

/// The free elements of `M X M` for a symmetric M with columns m: element (i, j) is `m_iᵀ X m_j`.
fn sandwich(graph: &Graph, matrix: &Matrix, x: &Elements) -> Elements {
    let of_unit = |unit: usize| {
        let column = matrix.column(unit);
        let mut product: Vec<f64> = column.iter().zip(&x.diagonal).map(|(m, x)| m * x).collect();
        product.resize(graph.unit_count(), 0.0);
        for (&(a, b), &x) in graph.edges().iter().zip(&x.edges) {
            product[a] += x * column[b];
            product[b] += x * column[a];
        }
        let above = graph.neighbours(unit).filter(|&(other, _)| other > unit);
        let edges: Vec<f64> = above.map(|(other, _)| dot(matrix.column(other), &product)).collect();
        (edges, dot(column, &product))
    };
    let columns: Vec<(Vec<f64>, f64)> =
        (0..graph.unit_count()).into_par_iter().with_min_len(PIECE).map(of_unit).collect();
    Elements {
        // Edges are sorted by their smaller units, then by their larger ones, like the graph's
        // rows.
        edges: columns.iter().flat_map(|(edges, _)| edges).copied().collect(),
        diagonal: columns.iter().map(|(_, own)| *own).take(x.diagonal.len()).collect(),
    }
}
