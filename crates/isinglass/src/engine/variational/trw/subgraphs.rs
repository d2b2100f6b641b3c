//! Chooses subgraphs that together hold every edge; strong edges are in more of them.

use rand::RngExt;

use super::growth::{Grown, Growth};
use crate::Graph;
use crate::cancel;
use crate::numeric::streams::{Purpose, stream};

/// The least strength of an edge, relative to the strongest.
const FLOOR: f64 = 0.05;

/// Once only coverage is left, the largest value of a covered edge, relative to an uncovered one.
const COVERED: f64 = 1e-3;

/// Chooses the subgraphs of a graph; only one if that can hold all edges.
///
/// *Arguments*: the treewidth; the strength of each edge; the number of subgraphs, exceeded if they
/// do not cover all edges.
pub(super) fn choose(graph: &Graph, width: usize, strengths: &[f64], count: usize, seed: u64) -> Vec<Grown> {
    let edges = graph.edges().len();
    // The search is complete up to treewidth 3.
    if let Some(found) = graph.elimination_order(width) {
        return vec![Grown { edges: (0..edges).collect(), order: found.order }];
    }
    let top = strengths.iter().copied().map(class).fold(0.0, f64::max);
    let worth = |strength: f64| if top > 0.0 { (class(strength) / top).max(FLOOR) } else { 1.0 };
    let mut times = vec![0u32; edges];
    let mut uncovered = edges;
    let mut chosen: Vec<Grown> = Vec::with_capacity(count);
    while chosen.len() < count || uncovered > 0 {
        cancel::point();
        let mut random = stream(seed, Purpose::Subgraphs, chosen.len() as u64);
        let is_late = chosen.len() >= count;
        let key = |(&strength, &times): (&f64, &u32)| {
            let chance = 0.5 + random.random::<f64>();
            chance
                * match (is_late, times) {
                    (true, 0) => 1.0,
                    (true, _) => COVERED * worth(strength),
                    (false, times) => worth(strength) / f64::from(1 + times),
                }
        };
        let keys: Vec<f64> = strengths.iter().zip(&times).map(key).collect();
        // Beginning at an uncovered edge, each subgraph covers more.
        let first = match times.iter().position(|&times| times == 0) {
            Some(edge) if is_late => graph.edges()[edge].0,
            _ => random.random_range(0..graph.unit_count()),
        };
        let grown = Growth::run(graph, width, &keys, first);
        for &edge in &grown.edges {
            uncovered -= usize::from(times[edge] == 0);
            times[edge] += 1;
        }
        chosen.push(grown);
    }
    chosen
}

/// Rounds a strength to a power of √2, so that small changes of weights, as in learning, keep the
/// subgraphs and the bound does not jump.
fn class(strength: f64) -> f64 {
    (0.5 * (2.0 * strength.log2()).round()).exp2()
}

/// Estimates how many subgraphs cover a graph: each unit adds at most `width` edges, and the last
/// subgraphs cover little.
pub(super) fn estimated_count(units: usize, edges: usize, width: usize, count: usize) -> usize {
    let least = edges.div_ceil((units * width).max(1));
    count.max(least + least / 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::{self, Neighbours};

    #[test]
    fn every_edge_is_covered_and_a_seed_fixes_the_choice() {
        for graph in [Graph::full(25), Graph::grid(9, 9, Neighbours::Eight), Graph::full(4)] {
            let strengths: Vec<f64> = (0..graph.edges().len()).map(|k| f64::from(k % 3 == 0)).collect();
            for width in 1..=3 {
                for count in [1, 12] {
                    let chosen = choose(&graph, width, &strengths, count, 5);
                    let mut is_covered = vec![false; graph.edges().len()];
                    chosen.iter().flat_map(|grown| &grown.edges).for_each(|&edge| is_covered[edge] = true);
                    assert!(is_covered.iter().all(|&is| is));
                    assert_eq!(chosen, choose(&graph, width, &strengths, count, 5));
                    assert!(chosen.len() == 1 || chosen != choose(&graph, width, &strengths, count, 6));
                }
            }
        }
    }

    #[test]
    fn strong_edges_are_in_more_subgraphs() {
        let graph = Graph::full(12);
        let strengths: Vec<f64> = (0..66).map(|k| if k < 10 { 1.0 } else { 0.1 }).collect();
        let chosen = choose(&graph, 2, &strengths, 30, 0);
        let times = |edges: std::ops::Range<usize>| {
            let held = chosen.iter().flat_map(|grown| &grown.edges).filter(|edge| edges.contains(edge));
            held.count() as f64 / edges.len() as f64
        };
        assert!(times(0..10) > 1.5 * times(10..66));
    }

    #[test]
    fn one_subgraph_is_enough_where_it_holds_everything() {
        let ladder = Graph::grid(2, 9, Neighbours::Four);
        let ones = vec![1.0; ladder.edges().len()];
        assert_eq!(choose(&ladder, 2, &ones, 12, 0).len(), 1);
        assert!(choose(&ladder, 1, &ones, 12, 0).len() >= 12);
    }
}
