//! Shortest paths, by petgraph's Dijkstra, and the number of them.

use petgraph::algo::dijkstra;
use petgraph::graph::{NodeIndex, UnGraph};
use rayon::prelude::*;

use crate::cancel;

/// Paths whose lengths differ by less than this share are equally long: sums in another order
/// differ by rounding.
const SAME_LENGTH: f64 = 1e-10;

/// Joins between units, each with a length above 0.
pub(super) struct Paths {
    graph: UnGraph<(), f64>,
    /// For each unit its neighbours, with lengths.
    around: Vec<Vec<(usize, f64)>>,
}

/// The shortest paths from one unit.
pub(super) struct From {
    /// The length to each unit; infinite where there is no path.
    pub(super) lengths: Vec<f64>,
    /// For each unit, the share of shortest paths from the first unit to all others that pass
    /// through it, summed over the others.
    pub(super) passing: Vec<f64>,
}

/// Returns the lengths of the shortest paths between all units, row by row; infinite where there is
/// none.
///
/// Edges are pairs of units with a length above 0. *Complexity*: `O(n · edges · log n)`; *memory*: 8
/// bytes for each pair.
pub fn distances(units: usize, edges: &[(usize, usize, f64)]) -> Vec<f64> {
    let paths = Paths::new(units, edges.iter().copied());
    (0..units).into_par_iter().flat_map_iter(|unit| paths.lengths_from(unit)).collect()
}

impl Paths {
    pub(super) fn new(units: usize, edges: impl IntoIterator<Item = (usize, usize, f64)>) -> Self {
        let mut graph = UnGraph::with_capacity(units, 0);
        for _ in 0..units {
            graph.add_node(());
        }
        let mut around = vec![Vec::new(); units];
        for (a, b, length) in edges.into_iter().filter(|edge| edge.2.is_finite()) {
            graph.add_edge(NodeIndex::new(a), NodeIndex::new(b), length);
            around[a].push((b, length));
            around[b].push((a, length));
        }
        Self { graph, around }
    }

    fn lengths_from(&self, unit: usize) -> Vec<f64> {
        cancel::point();
        let found = dijkstra(&self.graph, NodeIndex::new(unit), None, |edge| *edge.weight());
        let mut lengths = vec![f64::INFINITY; self.around.len()];
        for (node, length) in found {
            lengths[node.index()] = length;
        }
        lengths
    }

    /// All shortest paths from a unit, every one of equally long ones counted (Brandes 2001,
    /// "A faster algorithm for betweenness centrality").
    pub(super) fn from(&self, unit: usize) -> From {
        let lengths = self.lengths_from(unit);
        let mut order: Vec<usize> = (0..lengths.len()).filter(|&v| lengths[v].is_finite()).collect();
        order.sort_by(|&v, &w| lengths[v].total_cmp(&lengths[w]));
        let before = |v: usize| {
            let (lengths, whole) = (&lengths, lengths[v]);
            let is_on_the_way = move |&(w, length): &(usize, f64)| {
                lengths[w] < whole && (lengths[w] + length - whole).abs() <= SAME_LENGTH * whole
            };
            self.around[v].iter().copied().filter(is_on_the_way).map(|(w, _)| w)
        };
        let mut count = vec![0.0; lengths.len()];
        count[unit] = 1.0;
        for &v in order.iter().filter(|&&v| v != unit) {
            count[v] = before(v).map(|w| count[w]).sum();
        }
        let mut passing = vec![0.0; lengths.len()];
        for &v in order.iter().rev().filter(|&&v| v != unit) {
            for w in before(v) {
                passing[w] += count[w] / count[v] * (1.0 + passing[v]);
            }
        }
        passing[unit] = 0.0;
        From { lengths, passing }
    }

    pub(super) fn unit_count(&self) -> usize {
        self.around.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_the_shortest() {
        let edges = [(0, 1, 1.0), (1, 2, 0.5), (0, 2, 2.0), (2, 3, 1.0)];
        let found = distances(5, &edges);
        assert_eq!(&found[..5], [0.0, 1.0, 1.5, 2.5, f64::INFINITY]);
    }
}
