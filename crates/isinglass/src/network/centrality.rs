//! How central the units of a network are.

use rayon::prelude::*;

use super::paths::{From, Paths};
use crate::Machine;

/// The centralities of the units of a machine, in its order, with w its couplings.
///
/// * **Strength**: `Σ_j |w_ij|`.
/// * **Expected influence**: `Σ_j w_ij` (Robinaugh, Millner and McNally 2016).
/// * **Closeness**: `1 / Σ_j d_ij` over the units that a path leads to, with d the length of the
///   shortest path and `1/|w|` the length of a coupling; 0 for a unit without couplings.
/// * **Betweenness**: the number of pairs of other units whose shortest path passes through a unit;
///   of several shortest paths, each counts its share (Freeman 1977).
///
/// Lengths are those of qgraph (Opsahl, Agneessens and Skvoretz 2010, with α = 1). Its function
/// `centrality` counts each pair twice, once in each direction.
///
/// Hidden units and input units count as any others. Couplings are as in the model file, not divided
/// by the temperature.
///
/// # Complexity
/// `O(n · edges · log n)` time, on all threads; `O(n²)` memory.
///
/// # When they say little
/// In a network of several parts, closeness compares units within a part only. Closeness and
/// betweenness of symptom networks are often unstable: see [`CaseDropping`](super::CaseDropping).
/// Neither says what happens to the others if a unit is changed: couplings have no direction.
///
/// # Example
/// ```
/// use isinglass::network::Centrality;
/// use isinglass::topology;
/// // A chain: a–b with coupling 0.5, b–c with −0.25.
/// let chain = topology::chain(3).with_parameters(vec![0.5, -0.25], vec![0.0; 3])?;
/// let found = Centrality::of(&chain);
/// assert_eq!(found.strength, [0.5, 0.75, 0.25]);
/// assert_eq!(found.expected_influence, [0.5, 0.25, -0.25]);
/// assert_eq!(found.closeness, [1.0 / 8.0, 1.0 / 6.0, 1.0 / 10.0]);
/// assert_eq!(found.betweenness, [0.0, 1.0, 0.0]);
/// # Ok::<(), isinglass::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Centrality {
    /// Sums of the sizes of couplings.
    pub strength: Vec<f64>,
    /// Sums of couplings with their signs.
    pub expected_influence: Vec<f64>,
    /// Inverse sums of distances.
    pub closeness: Vec<f64>,
    /// Shortest paths between others.
    pub betweenness: Vec<f64>,
}

impl Centrality {
    /// Computes the centralities of a machine's units.
    pub fn of(machine: &Machine) -> Self {
        let units = machine.unit_count();
        let sum = |of: fn(f64) -> f64| -> Vec<f64> {
            let of_unit = |unit: usize| {
                machine.graph().neighbours(unit).map(|(_, edge)| of(machine.weights()[edge])).sum::<f64>()
            };
            // The sum of nothing is −0.
            (0..units).map(|unit| of_unit(unit) + 0.0).collect()
        };
        let edges = machine.graph().edges().iter().zip(machine.weights());
        let paths = Paths::new(units, edges.map(|(&(a, b), weight)| (a, b, 1.0 / weight.abs())));
        let all: Vec<From> = (0..paths.unit_count()).into_par_iter().map(|unit| paths.from(unit)).collect();
        let closeness = |from: &From| {
            let total: f64 = from.lengths.iter().filter(|length| length.is_finite()).sum();
            if total > 0.0 { 1.0 / total } else { 0.0 }
        };
        let mut betweenness = vec![0.0; units];
        for from in &all {
            // Each pair is met from both of its ends.
            betweenness.iter_mut().zip(&from.passing).for_each(|(sum, passing)| *sum += 0.5 * passing);
        }
        Self {
            strength: sum(f64::abs),
            expected_influence: sum(|weight| weight),
            closeness: all.iter().map(closeness).collect(),
            betweenness,
        }
    }
}
