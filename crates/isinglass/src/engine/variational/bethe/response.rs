//! Tests the linear response around `bethe` against finite differences.
//!
//! The susceptibility `A_ij = ∂⟨s_i⟩/∂h_j` of a Bethe fixed point has an inverse as sparse as the
//! couplings (Welling & Teh 2004; Ricci-Tersenghi 2012):
//!
//! ```text
//! (A⁻¹)_ij = −c_ij / D_ij        (A⁻¹)_ii = (1 − d_i)/(1 − m_i²) + Σ_j (1 − m_j²) / D_ij        D_ij = (1 − m_i²)(1 − m_j²) − c_ij²
//! ```
//!
//! with the sum over the `d_i` neighbours of i and c the covariances of couplings.

use proptest::prelude::*;

use super::{Bethe, Solved, Solver};
use crate::engine::{Engine, Pairs};
use crate::topology;
use crate::{Evidence, Graph, Machine};

/// The inverse susceptibility of the free units.
fn inverse(machine: &Machine, free: &[usize], solved: &Solved<1>) -> Vec<Vec<f64>> {
    let mut inverse = vec![vec![0.0; free.len()]; free.len()];
    for (k, &unit) in free.iter().enumerate() {
        inverse[k][k] = 1.0 / solved.variances[unit][0];
    }
    for (edge, &(a, b)) in machine.graph().edges().iter().enumerate() {
        let (Ok(i), Ok(j)) = (free.binary_search(&a), free.binary_search(&b)) else { continue };
        let ([x], [y], [c]) = (solved.variances[a], solved.variances[b], solved.covariances[edge]);
        let determinant = x * y * solved.unexplained[edge][0];
        assert!((determinant - (x * y - c * c)).abs() < 1e-9, "determinant {determinant}");
        inverse[i][i] += y / determinant - 1.0 / x;
        inverse[j][j] += x / determinant - 1.0 / y;
        inverse[i][j] -= c / determinant;
        inverse[j][i] -= c / determinant;
    }
    inverse
}

/// A⁻¹ times the finite differences of the means by the biases is the identity.
fn check(machine: &Machine, evidence: &Evidence) {
    let engine = Bethe::default();
    let free: Vec<usize> = evidence.free().collect();
    let solver = Solver::new(machine, &free, &engine.settings).unwrap();
    let solved = solver.solve::<1>(&[evidence.cells()]);
    assert!(solved.diagnostics[0].converged);
    for (edge, &(a, b)) in machine.graph().edges().iter().enumerate() {
        let plain = solved.moments[edge][0] - solved.means[a][0] * solved.means[b][0];
        assert!((solved.covariances[edge][0] - plain).abs() < 1e-9, "covariance {plain}");
    }
    for (variance, mean) in solved.variances.iter().zip(&solved.means) {
        assert!((variance[0] - (1.0 - mean[0] * mean[0])).abs() < 1e-12);
    }
    let inverse = inverse(machine, &free, &solved);
    let step = 1e-4;
    for (j, &unit) in free.iter().enumerate() {
        let means_at = |shift: f64| {
            let mut biases = machine.biases().to_vec();
            biases[unit] += shift * machine.temperature();
            let moved = machine.clone().with_parameters(machine.weights().to_vec(), biases).unwrap();
            engine.expectations(&moved, evidence, Pairs::None).unwrap().means
        };
        let (up, down) = (means_at(step), means_at(-step));
        let slope = |&unit: &usize| (up[unit] - down[unit]) / (2.0 * step);
        let column: Vec<f64> = free.iter().map(slope).collect();
        for (i, row) in inverse.iter().enumerate() {
            let product: f64 = row.iter().zip(&column).map(|(x, y)| x * y).sum();
            let expected = f64::from(u8::from(i == j));
            assert!((product - expected).abs() < 1e-6, "{i} {j}: {product}");
        }
    }
}

/// Numbers uniform on (−1, 1) for weights and biases, a share of units clamped.
fn machines() -> impl Strategy<Value = (Graph, Vec<f64>, Vec<i8>)> {
    let graphs = prop_oneof![
        (2..8usize).prop_map(Graph::full),
        (2..20usize, 1..4usize).prop_map(|(n, branching)| Graph::tree(n, branching)),
        (2..4usize, 2..5usize).prop_map(|(r, c)| Graph::grid(r, c, topology::Neighbours::Eight)),
    ];
    graphs.prop_flat_map(|graph| {
        let (n, m) = (graph.unit_count(), graph.edges().len());
        let cell = prop_oneof![5 => Just(0i8), 1 => Just(1), 1 => Just(-1)];
        let numbers = proptest::collection::vec(-1.0..1.0f64, n + m);
        (Just(graph), numbers, proptest::collection::vec(cell, n))
    })
}

proptest! {
    #[test]
    fn the_inverse_susceptibility_is_that_of_the_means((graph, numbers, cells) in machines()) {
        let m = graph.edges().len();
        // Trees may be strong; with cycles, weak couplings have one fixed point.
        let strength = if m < graph.unit_count() { 1.0 } else { 0.15 };
        let weights = numbers[..m].iter().map(|x| strength * x).collect();
        let machine = Machine::from_graph(graph).with_parameters(weights, numbers[m..].to_vec()).unwrap();
        check(&machine, &Evidence::from_cells(cells).unwrap());
    }
}
