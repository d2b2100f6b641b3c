//! The free units in an order in which two passes solve a forest, and the links between them.
//!
//! Units with a single coupling are peeled off, layer by layer. The rest is the core, empty in a
//! forest. The core comes first, by number, then the peeled units in reverse order: each has at
//! most one earlier neighbour. A backward pass sends messages from the branches to the core (in a
//! tree: its centre), a forward pass sends them out again.
//!
//! Units are sorted by level: one above the highest earlier neighbour. Units of a level are not
//! coupled, and their messages are computed side by side.

use super::super::couplings::{NONE, places};
use crate::Machine;
use crate::graph::peeling::peeled_last;

/// The free units in order, and the links between them.
pub(super) struct Wiring {
    /// The number among the free units of the unit at each place.
    pub(super) locals: Vec<u32>,
    /// The first place of each level, and the number of places.
    pub(super) levels: Vec<u32>,
    /// The links from units to later ones.
    pub(super) ahead: Links,
    /// The same links in the other direction.
    pub(super) back: Links,
    /// The machine's edge of each forward link.
    pub(super) edges: Vec<u32>,
    /// Whether no coupling of the free units lies on a cycle.
    pub(super) is_forest: bool,
    /// Whether some edges between free units have weight 0, and so no link.
    pub(super) has_idle_edges: bool,
    /// The largest number of links of a unit.
    pub(super) degree: usize,
}

/// Links in one direction, sorted by sender.
pub(super) struct Links {
    /// The first link of each place, and the number of links.
    pub(super) offsets: Vec<u32>,
    /// The place of the sender.
    pub(super) senders: Vec<u32>,
    /// `v = w/T`.
    pub(super) couplings: Vec<f64>,
    /// The number of the same link in the other direction.
    pub(super) mirrors: Vec<u32>,
}

impl Links {
    fn new(places: usize, links: usize) -> Self {
        Self {
            offsets: vec![0; places + 1],
            senders: vec![0; links],
            couplings: vec![0.0; links],
            mirrors: vec![0; links],
        }
    }

    /// Returns the links of consecutive places.
    pub(super) fn of(&self, places: std::ops::Range<usize>) -> std::ops::Range<usize> {
        self.offsets[places.start] as usize..self.offsets[places.end] as usize
    }
}

impl Wiring {
    /// Returns the bytes of the wiring and its construction.
    pub(super) fn bytes(machine: &Machine, free: usize, links: usize) -> u128 {
        4 * machine.unit_count() as u128 + 48 * free as u128 + 40 * links as u128
    }

    /// Returns the most links that free units can have.
    pub(super) fn most_links(machine: &Machine, free: &[usize]) -> usize {
        let graph = machine.graph();
        let ends: usize = free.iter().map(|&unit| graph.degree(unit)).sum();
        graph.edges().len().min(ends / if free.len() == machine.unit_count() { 2 } else { 1 })
    }

    /// Orders the units. *Complexity*: linear in the free units and their edges.
    pub(super) fn new(machine: &Machine, free: &[usize]) -> Self {
        let graph = machine.graph();
        let temperature = machine.temperature();
        let local = places(machine, free);
        let among_free = |k: u32| {
            let edges = graph.neighbours(free[k as usize]).map(|(other, edge)| (local[other], edge));
            edges.filter(|&(other, _)| other != NONE)
        };
        // A coupling of 0 counts as none.
        let is_coupled = |edge: usize| machine.weights()[edge] / temperature != 0.0;
        let around = |k: u32| among_free(k).filter(|&(_, edge)| is_coupled(edge));
        let has_idle_edges = (0..free.len() as u32).any(|k| among_free(k).any(|(_, edge)| !is_coupled(edge)));
        let (order, core, degree) = peeled_last(free.len(), around);
        let (locals, levels) = by_levels(&order, around);
        let mut place = order;
        for (p, &k) in locals.iter().enumerate() {
            place[k as usize] = p as u32;
        }

        let count = locals.iter().map(|&k| around(k).count()).sum::<usize>() / 2;
        let mut ahead = Links::new(free.len(), count);
        let mut back = Links::new(free.len(), count);
        let mut edges = Vec::with_capacity(count);
        let mut receivers = Vec::with_capacity(count);
        for (p, &k) in locals.iter().enumerate() {
            for (other, edge) in around(k) {
                let q = place[other as usize];
                if q as usize > p {
                    ahead.senders[edges.len()] = p as u32;
                    ahead.couplings[edges.len()] = machine.weights()[edge] / temperature;
                    back.offsets[q as usize + 1] += 1;
                    edges.push(edge as u32);
                    receivers.push(q);
                }
            }
            ahead.offsets[p + 1] = edges.len() as u32;
        }
        for p in 0..free.len() {
            back.offsets[p + 1] += back.offsets[p];
        }
        let mut next = back.offsets.clone();
        for (link, &q) in receivers.iter().enumerate() {
            let mirror = next[q as usize] as usize;
            next[q as usize] += 1;
            ahead.mirrors[link] = mirror as u32;
            back.mirrors[mirror] = link as u32;
            back.senders[mirror] = q;
            back.couplings[mirror] = ahead.couplings[link];
        }
        Self { locals, levels, ahead, back, edges, is_forest: core == 0, has_idle_edges, degree }
    }
}

/// Sorts an order of units by level; returns it with the first place of each level.
fn by_levels<I: Iterator<Item = (u32, usize)>>(
    order: &[u32],
    around: impl Fn(u32) -> I,
) -> (Vec<u32>, Vec<u32>) {
    let mut level = vec![NONE; order.len()];
    let mut starts = vec![0u32];
    for &k in order {
        let below = around(k).map(|(other, _)| level[other as usize]).filter(|&level| level != NONE).max();
        let own = below.map_or(0, |below| below + 1);
        level[k as usize] = own;
        if starts.len() < own as usize + 2 {
            starts.push(0);
        }
        starts[own as usize + 1] += 1;
    }
    for k in 1..starts.len() {
        starts[k] += starts[k - 1];
    }
    let mut next = starts.clone();
    let mut sorted = vec![0; order.len()];
    for &k in order {
        let at = &mut next[level[k as usize] as usize];
        sorted[*at as usize] = k;
        *at += 1;
    }
    (sorted, starts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Graph;
    use crate::topology::Neighbours;

    fn wiring(graph: crate::Graph) -> Wiring {
        let weights = vec![1.0; graph.edges().len()];
        let biases = vec![0.0; graph.unit_count()];
        let machine = Machine::from_graph(graph).with_parameters(weights, biases).unwrap();
        let free: Vec<usize> = (0..machine.unit_count()).collect();
        Wiring::new(&machine, &free)
    }

    #[test]
    fn units_of_a_forest_have_one_neighbour_before_them_at_most() {
        for graph in [Graph::chain(9), Graph::tree(40, 3), crate::Graph::new(5, [(3, 4)]).unwrap()] {
            let wiring = wiring(graph);
            assert!(wiring.is_forest);
            assert!(wiring.back.offsets.windows(2).all(|pair| pair[1] - pair[0] <= 1));
        }
        // Levels from the middle of the chain outwards.
        assert_eq!(wiring(Graph::chain(9)).levels.len(), 6);
    }

    #[test]
    fn units_of_a_level_are_not_joined_and_links_lead_ahead() {
        for graph in [Graph::full(7), Graph::grid(4, 5, Neighbours::Eight)] {
            let wiring = wiring(graph);
            assert!(!wiring.is_forest);
            let level = |place: u32| wiring.levels.partition_point(|&start| start <= place);
            for (link, &mirror) in wiring.ahead.mirrors.iter().enumerate() {
                let (from, to) = (wiring.ahead.senders[link], wiring.back.senders[mirror as usize]);
                assert!(level(from) < level(to));
                assert_eq!(wiring.back.mirrors[mirror as usize] as usize, link);
            }
        }
        assert_eq!(wiring(Graph::grid(4, 5, Neighbours::Four)).levels.len(), 4 + 5);
    }
}
