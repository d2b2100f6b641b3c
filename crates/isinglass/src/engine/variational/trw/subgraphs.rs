//! Chooses subgraphs that together hold every edge; strong edges are in more of them.
//!
//! A k-tree grows by units joined to all of a clique of k; its subgraphs are the graphs of
//! treewidth at most k. Each unit joins the clique where the keys of its edges have the largest sum
//! (for k = 1, Prim 1957), and all edges of the graph within the k-tree are kept.

use std::collections::BinaryHeap;

use rand::RngExt;

use crate::Graph;
use crate::cancel;
use crate::numeric::streams::{Purpose, stream};

/// The least strength of an edge, relative to the strongest.
const FLOOR: f64 = 0.05;

/// Once only coverage is left, the largest value of a covered edge, relative to an uncovered one.
const COVERED: f64 = 1e-3;

/// Chooses the subgraphs of a graph; only one if that can hold all edges.
///
/// *Arguments*: the treewidth; the strength of each edge; the least number of subgraphs.
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

/// Rounds to a power of √2: small changes of weights, as in learning, then keep the subgraphs.
fn class(strength: f64) -> f64 {
    (0.5 * (2.0 * strength.log2()).round()).exp2()
}

/// Estimates how many subgraphs cover a graph: each holds at most `width` edges per unit.
pub(super) fn estimated_count(units: usize, edges: usize, width: usize, count: usize) -> usize {
    let least = edges.div_ceil((units * width).max(1));
    count.max(least + least / 2)
}

/// The largest treewidth of subgraphs.
pub(super) const MOST_WIDTH: usize = 3;

/// Units with more neighbours than this find cliques of coupled units without looking ahead.
const FEW_NEIGHBOURS: usize = 16;

/// A subgraph.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Grown {
    /// The numbers of its edges in the graph, rising.
    pub(super) edges: Vec<usize>,
    /// The elimination order of all units.
    pub(super) order: Vec<usize>,
}

/// At most three units that are joined in the k-tree.
#[derive(Debug, Clone, Copy)]
struct Clique {
    members: [u32; MOST_WIDTH],
    count: usize,
}

impl Clique {
    const EMPTY: Self = Self { members: [0; MOST_WIDTH], count: 0 };

    fn members(&self) -> &[u32] {
        &self.members[..self.count]
    }

    fn with(mut self, unit: u32) -> Self {
        self.members[self.count] = unit;
        self.count += 1;
        self
    }
}

/// The best clique found for a unit so far.
#[derive(Debug, Clone, Copy)]
struct Place {
    gain: f64,
    clique: Clique,
}

/// A subgraph being grown.
pub(super) struct Growth<'a> {
    graph: &'a Graph,
    width: usize,
    /// The value of each edge, above 0.
    keys: &'a [f64],
    /// The value of sharing a clique with an unjoined unit, per common neighbour not yet joined.
    prospect: f64,
    is_in: Vec<bool>,
    places: Vec<Place>,
    /// Candidates by the bits of their gains, which sort alike; outdated entries are skipped.
    waiting: BinaryHeap<(u64, u32)>,
    grown: Grown,
}

impl<'a> Growth<'a> {
    /// Grows a subgraph.
    ///
    /// *Arguments*: the treewidth, 1 to 3; the value of each edge, above 0; the first unit. Other
    /// connected parts begin with their first unit. *Complexity*: edges times `k² log`.
    pub(super) fn run(graph: &'a Graph, width: usize, keys: &'a [f64], first: usize) -> Grown {
        let n = graph.unit_count();
        let mean = keys.iter().sum::<f64>() / keys.len().max(1) as f64;
        let mut growth = Self {
            graph,
            width,
            keys,
            prospect: 0.25 * mean,
            is_in: vec![false; n],
            places: vec![Place { gain: 0.0, clique: Clique::EMPTY }; n],
            waiting: BinaryHeap::new(),
            grown: Grown { edges: Vec::new(), order: Vec::with_capacity(n) },
        };
        for start in std::iter::once(first).chain(0..n) {
            if start < n && !growth.is_in[start] {
                growth.join(start as u32, Clique::EMPTY);
                while let Some((gain, unit)) = growth.waiting.pop() {
                    let place = growth.places[unit as usize];
                    if !growth.is_in[unit as usize] && place.gain.to_bits() == gain {
                        growth.join(unit, place.clique);
                    }
                }
            }
        }
        growth.grown.edges.sort_unstable();
        growth.grown.order.reverse();
        growth.grown
    }

    /// Joins a unit to a clique of the k-tree.
    fn join(&mut self, unit: u32, clique: Clique) {
        let graph = self.graph;
        self.is_in[unit as usize] = true;
        self.grown.order.push(unit as usize);
        for &other in clique.members() {
            self.grown.edges.extend(graph.edge_between(unit as usize, other as usize));
        }
        // The new cliques: with the unit while small; then with it in place of each member.
        for (other, edge) in graph.neighbours(unit as usize) {
            if self.is_in[other] {
                continue;
            }
            let gain = |member: u32| self.gain(other, member as usize);
            let own = self.keys[edge];
            let with_members: [f64; MOST_WIDTH] =
                std::array::from_fn(|k| clique.members().get(k).map_or(0.0, |&member| gain(member)));
            let all = own + with_members.iter().sum::<f64>();
            if clique.count < self.width {
                self.offer(other, Place { gain: all, clique: clique.with(unit) });
            } else {
                for (place, lost) in with_members.iter().enumerate().take(clique.count) {
                    let mut clique = clique;
                    clique.members[place] = unit;
                    self.offer(other, Place { gain: all - lost, clique });
                }
            }
        }
    }

    fn offer(&mut self, unit: usize, place: Place) {
        if place.gain > self.places[unit].gain {
            self.places[unit] = place;
            self.waiting.push((place.gain.to_bits(), unit as u32));
        }
    }

    /// Returns the gain from joining a member of the k-tree: their edge, or common neighbours.
    fn gain(&self, unit: usize, member: usize) -> f64 {
        let graph = self.graph;
        if let Some(edge) = graph.edge_between(unit, member) {
            return self.keys[edge];
        }
        if graph.degree(unit) > FEW_NEIGHBOURS {
            return 0.0;
        }
        let common = graph
            .neighbours(unit)
            .filter(|&(other, _)| !self.is_in[other] && graph.edge_between(other, member).is_some());
        self.prospect * common.count() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Neighbours;

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

    #[test]
    fn subgraphs_span_and_keep_to_their_width() {
        for graph in [Graph::full(9), Graph::grid(7, 8, Neighbours::Eight), Graph::chain(5)] {
            for width in 1..=MOST_WIDTH {
                let keys: Vec<f64> = (0..graph.edges().len()).map(|k| 1.0 + (k * 7 % 5) as f64).collect();
                let grown = Growth::run(&graph, width, &keys, 3);
                assert!(grown.edges.windows(2).all(|pair| pair[0] < pair[1]));
                let edges = grown.edges.iter().map(|&edge| graph.edges()[edge]);
                let subgraph = Graph::new(graph.unit_count(), edges).unwrap();
                assert!(subgraph.symbolic(&grown.order, width).is_some());
                assert_eq!(subgraph.components().1, 1);
                if graph.edges().len() == 36 {
                    assert_eq!(grown.edges.len(), width * 9 - width * (width + 1) / 2);
                }
            }
        }
    }
}
