//! The free units in the order in which they are solved: a core with cycles, then trees.
//!
//! The core comes first, by number; then the peeled units, each after its one earlier neighbour,
//! its parent. A forest has no core.

use std::ops::Range;

use crate::Machine;
use crate::graph::peeling::peeled_last;

/// No place.
pub(super) const NONE: u32 = u32::MAX;

/// The places of the free units and the couplings between them, divided by T.
pub(super) struct Plan {
    /// The number among the free units of the unit at each place.
    pub(super) locals: Vec<u32>,
    /// The number of places of the core.
    pub(super) core: usize,
    /// For each place behind the core: its parent ([`NONE`] for a root), and the coupling.
    pub(super) parents: Vec<(u32, f64)>,
    /// The first link of each place of the core, and the number of links.
    offsets: Vec<u32>,
    /// Links within the core, sorted by place; each coupling has one at both ends.
    pub(super) links: Vec<Link>,
    /// The place with the strongest couplings of each connected part of the core; each place's
    /// part.
    pub(super) anchors: Vec<u32>,
    pub(super) parts: Vec<u32>,
    /// The sum of |v| at each place of the core.
    pub(super) strengths: Vec<f64>,
    /// The largest |v| in the core.
    pub(super) strongest: f64,
}

/// A coupling seen from one of its ends.
#[derive(Clone, Copy)]
pub(super) struct Link {
    /// The place at the other end.
    pub(super) to: u32,
    /// The same coupling seen from the other end.
    pub(super) mirror: u32,
    /// `v = w/T`.
    pub(super) coupling: f64,
}

impl Plan {
    /// Returns the bytes of a plan and its construction.
    pub(super) fn bytes(machine: &Machine, free: &[usize]) -> u128 {
        let ends: usize = free.iter().map(|&unit| machine.graph().degree(unit)).sum();
        4 * machine.unit_count() as u128 + 64 * free.len() as u128 + 16 * ends as u128
    }

    /// Orders the units. *Complexity*: linear in the free units and their edges.
    pub(super) fn new(machine: &Machine, free: &[usize]) -> Self {
        let graph = machine.graph();
        let mut local = vec![NONE; machine.unit_count()];
        for (k, &unit) in free.iter().enumerate() {
            local[unit] = k as u32;
        }
        let coupling = |edge: usize| machine.weights()[edge] / machine.temperature();
        // A coupling of 0 counts as none.
        let around = |k: u32| {
            let edges = graph.neighbours(free[k as usize]).map(|(other, edge)| (local[other], edge));
            edges.filter(|&(other, edge)| other != NONE && coupling(edge) != 0.0)
        };
        let (locals, core, _) = peeled_last(free.len(), around);
        let mut places = vec![0; free.len()];
        for (place, &k) in locals.iter().enumerate() {
            places[k as usize] = place as u32;
        }
        let neighbours = |place: usize| {
            let seen_from = |(other, edge): (u32, usize)| (places[other as usize], coupling(edge));
            around(locals[place]).map(seen_from)
        };
        let parent = |place: usize| {
            neighbours(place).find(|&(other, _)| (other as usize) < place).unwrap_or((NONE, 0.0))
        };
        let parents = (core..free.len()).map(parent).collect();

        let mut offsets = vec![0; core + 1];
        let mut links: Vec<Link> = Vec::new();
        for place in 0..core {
            let within = neighbours(place).filter(|&(other, _)| (other as usize) < core);
            links.extend(within.map(|(to, coupling)| Link { to, mirror: NONE, coupling }));
            offsets[place + 1] = links.len() as u32;
        }
        // Places of the core and their links are sorted by unit: the links to earlier places come
        // first, in the order in which those places are visited.
        let mut next = offsets.clone();
        for place in 0..core {
            for link in offsets[place]..offsets[place + 1] {
                let to = links[link as usize].to as usize;
                if to > place {
                    let mirror = next[to];
                    next[to] += 1;
                    debug_assert_eq!(links[mirror as usize].to as usize, place);
                    links[link as usize].mirror = mirror;
                    links[mirror as usize].mirror = link;
                }
            }
        }
        let strength = |place: usize| {
            let range = offsets[place] as usize..offsets[place + 1] as usize;
            links[range].iter().map(|link| link.coupling.abs()).sum()
        };
        let strengths: Vec<f64> = (0..core).map(strength).collect();
        let strongest = links.iter().fold(0.0, |most: f64, link| most.max(link.coupling.abs()));
        let mut plan = Self {
            locals,
            core,
            parents,
            offsets,
            links,
            anchors: Vec::new(),
            parts: vec![NONE; core],
            strengths,
            strongest,
        };
        plan.find_parts();
        plan
    }

    /// Returns the links of a place of the core.
    #[inline(always)]
    pub(super) fn links_of(&self, place: usize) -> Range<usize> {
        self.offsets[place] as usize..self.offsets[place + 1] as usize
    }

    /// Finds the connected parts of the core.
    fn find_parts(&mut self) {
        let mut open = Vec::new();
        for first in 0..self.core {
            if self.parts[first] != NONE {
                continue;
            }
            let part = self.anchors.len() as u32;
            let mut anchor = first;
            self.parts[first] = part;
            open.push(first);
            while let Some(place) = open.pop() {
                let is_stronger = self.strengths[place] > self.strengths[anchor];
                if is_stronger || (self.strengths[place] == self.strengths[anchor] && place < anchor) {
                    anchor = place;
                }
                for link in self.links_of(place) {
                    let to = self.links[link].to as usize;
                    if self.parts[to] == NONE {
                        self.parts[to] = part;
                        open.push(to);
                    }
                }
            }
            self.anchors.push(anchor as u32);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Graph;

    #[test]
    fn trees_hang_on_a_core_and_links_know_their_mirrors() {
        // Two triangles, a tail on the first, a pair, a single unit; weight 0 between the
        // triangles.
        let edges = [(0, 3), (0, 5), (3, 5), (1, 2), (1, 4), (2, 4), (5, 6), (6, 7), (8, 9), (4, 5)];
        let graph = Graph::new(11, edges).unwrap();
        let weights = graph.edges().iter().map(|&pair| if pair == (4, 5) { 0.0 } else { 1.0 }).collect();
        let machine = Machine::from_graph(graph).with_parameters(weights, vec![0.0; 11]).unwrap();
        let plan = Plan::new(&machine, &(0..11).collect::<Vec<_>>());
        assert_eq!((plan.core, plan.anchors.len()), (6, 2));
        assert_eq!(plan.parts, [0, 1, 1, 0, 1, 0]);
        for (k, link) in plan.links.iter().enumerate() {
            assert_eq!(plan.links[link.mirror as usize].mirror as usize, k);
            assert!(plan.links_of(link.to as usize).contains(&(link.mirror as usize)));
        }
        let parents = plan.locals[6..].iter().zip(&plan.parents);
        let parent_of = |&(to, _): &(u32, f64)| (to != NONE).then(|| plan.locals[to as usize]);
        let mut parents: Vec<_> = parents.map(|(&unit, parent)| (unit, parent_of(parent))).collect();
        parents.sort_unstable();
        assert_eq!(parents[..2], [(6, Some(5)), (7, Some(6))]);
        assert_eq!(parents[2..].iter().filter(|parent| parent.1.is_none()).count(), 2);
        // With one of its units clamped, a triangle is a chain.
        assert_eq!(Plan::new(&machine, &[0, 1, 2, 3, 4, 6, 7]).core, 3);
    }
}
