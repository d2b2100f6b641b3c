//! Grows one spanning subgraph of small treewidth.
//!
//! A k-tree begins with a clique and grows by units joined to all of a clique of k; its subgraphs
//! are the graphs of treewidth at most k. Each unit joins the clique where the keys of its edges
//! have the largest sum (for k = 1, Prim 1957), and all edges of the graph within the k-tree are
//! kept.

use std::collections::BinaryHeap;

use crate::Graph;

/// The largest treewidth of subgraphs.
pub(super) const MOST_WIDTH: usize = 3;

/// Units with more neighbours than this do not look ahead: they find cliques of coupled units
/// anyway.
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

    fn with_in_place_of(mut self, unit: u32, place: usize) -> Self {
        self.members[place] = unit;
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
    /// Candidates by the bits of their gains, which for positive numbers sort alike; outdated
    /// entries are skipped.
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
        let growth = Self {
            graph,
            width,
            keys,
            prospect: 0.25 * mean,
            is_in: vec![false; n],
            places: vec![Place { gain: 0.0, clique: Clique::EMPTY }; n],
            waiting: BinaryHeap::new(),
            grown: Grown { edges: Vec::new(), order: Vec::with_capacity(n) },
        };
        growth.all(first)
    }

    fn all(mut self, first: usize) -> Grown {
        for start in std::iter::once(first).chain(0..self.graph.unit_count()) {
            if start < self.graph.unit_count() && !self.is_in[start] {
                self.join(start as u32, Clique::EMPTY);
                while let Some((gain, unit)) = self.waiting.pop() {
                    let place = self.places[unit as usize];
                    if !self.is_in[unit as usize] && place.gain.to_bits() == gain {
                        self.join(unit, place.clique);
                    }
                }
            }
        }
        self.grown.edges.sort_unstable();
        self.grown.order.reverse();
        self.grown
    }

    /// Joins a unit to a clique of the k-tree.
    fn join(&mut self, unit: u32, clique: Clique) {
        let graph = self.graph;
        self.is_in[unit as usize] = true;
        self.grown.order.push(unit as usize);
        for &other in clique.members() {
            self.grown.edges.extend(graph.edge_between(unit as usize, other as usize));
        }
        // The new cliques: the clique with the unit while small; then the unit in place of each
        // member.
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
                    let clique = clique.with_in_place_of(unit, place);
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

    /// Returns the value to a unit of joining a member of the k-tree: their edge, or the prospect
    /// of common neighbours.
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
    use crate::topology::{self, Neighbours};

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
