//! The tree of cliques, and where the ends of cut couplings meet: shared by rows.
//!
//! Position k of the sequence is a unit and the clique of the unit with its parents. The clique of
//! the latest parent, which contains all parents, is the *anchor*; anchors form a forest. A state
//! of a clique has four bits: up to three parents, and the unit itself.

use super::super::couplings::Pair;
use super::skeleton::{Joint, MOST_PARENTS};
use crate::Result;

/// States of a unit's parents.
pub(super) const OUTER: usize = 1 << MOST_PARENTS;
/// States of a clique: those of the parents with the unit down, then with the unit up.
pub(super) const STATES: usize = 2 * OUTER;
/// No anchor: the root of a tree.
pub(super) const NONE: u32 = u32::MAX;
/// The functions of a clique's state that are given: the values of its parents and of the unit.
pub(super) const GIVEN: usize = MOST_PARENTS + 1;

/// Returns the spin that a bit of a state stands for.
#[inline(always)]
pub(super) fn spin(state: usize, bit: usize) -> f64 {
    if state >> bit & 1 == 1 { 1.0 } else { -1.0 }
}

/// A unit with its parents.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node {
    pub(super) joint: Joint,
    pub(super) anchor: u32,
    /// The parents' state for each state of the anchor's clique.
    pub(super) outer: [u8; STATES],
    /// The couplings with the parents, divided by T.
    pub(super) weights: [f64; MOST_PARENTS],
}

/// A conditional mean: a function of a clique's state becomes one of its anchor's state.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lift {
    /// The number of the function.
    pub(super) from: u32,
    /// The clique that it leaves.
    pub(super) node: u32,
}

/// A cut coupling, with the clique where the conditional means of its ends meet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Meeting {
    pub(super) at: u32,
    /// The numbers of the two functions.
    pub(super) ends: [u32; 2],
    pub(super) coupling: f64,
    /// The number of the edge.
    pub(super) edge: u32,
}

/// The layout of Q and of the computation of its bound.
pub(super) struct Plan {
    /// Parents come first.
    pub(super) nodes: Vec<Node>,
    /// The position of each free unit.
    pub(super) position: Vec<u32>,
    /// Number k computes function `GIVEN + k`.
    pub(super) lifts: Vec<Lift>,
    pub(super) meetings: Vec<Meeting>,
}

impl Plan {
    /// Derives the plan from a sequence of all free units and their pairs; those of coupling 0 are
    /// left out. `check` may reject a number of functions before memory is allocated.
    pub(super) fn new(
        sequence: &[Joint],
        pairs: &[Pair],
        check: impl FnOnce(usize) -> Result<()>,
    ) -> Result<Self> {
        let mut position = vec![0; sequence.len()];
        for (k, joint) in sequence.iter().enumerate() {
            position[joint.unit as usize] = k as u32;
        }
        let mut plan = Self { nodes: nodes(sequence), position, lifts: Vec::new(), meetings: Vec::new() };
        let mut cut = Vec::new();
        for pair in pairs.iter().filter(|pair| pair.coupling != 0.0) {
            let (a, b) = (plan.position[pair.a as usize], plan.position[pair.b as usize]);
            let (child, parent) = (a.max(b), a.min(b));
            match plan.bit(child, parent) {
                Some(bit) => plan.nodes[child as usize].weights[bit] = pair.coupling,
                None => cut.push((plan.way(child, parent), pair)),
            }
        }
        plan.lay_out(&cut, check)?;
        Ok(plan)
    }

    /// Returns the bit of a position in a clique's state.
    pub(super) fn bit(&self, clique: u32, position: u32) -> Option<usize> {
        if clique == position {
            return Some(MOST_PARENTS);
        }
        self.nodes[clique as usize].joint.parents().iter().position(|&parent| parent == position)
    }

    /// Follows two positions towards the roots until they meet.
    fn way(&self, first: u32, second: u32) -> Way {
        let mut ends = [End::at(first), End::at(second)];
        loop {
            if ends[0].clique == ends[1].clique {
                let at = ends[0].clique;
                return Way { at, ends };
            }
            // Anchors precede their cliques, so the later clique cannot hold the earlier. If it
            // holds the other end itself, they meet there.
            let (later, other) = if ends[0].clique > ends[1].clique { (0, 1) } else { (1, 0) };
            let at = ends[later].clique;
            if let (0, Some(bit)) = (ends[other].lifts, self.bit(at, ends[other].position)) {
                ends[other].given = bit as u32;
                return Way { at, ends };
            }
            ends[later].clique = self.nodes[at as usize].anchor;
            ends[later].lifts += 1;
        }
    }

    /// Numbers the functions on all paths.
    fn lay_out(&mut self, cut: &[(Way, &Pair)], check: impl FnOnce(usize) -> Result<()>) -> Result<()> {
        let mut longest = vec![0; self.nodes.len()];
        for end in cut.iter().flat_map(|(way, _)| way.ends) {
            let most = &mut longest[end.position as usize];
            *most = end.lifts.max(*most);
        }
        check(longest.iter().map(|&lifts| lifts as usize).sum())?;
        let mut first = Vec::with_capacity(self.nodes.len());
        for (position, &lifts) in longest.iter().enumerate() {
            first.push((GIVEN + self.lifts.len()) as u32);
            let (mut from, mut node) = (MOST_PARENTS as u32, position as u32);
            for _ in 0..lifts {
                self.lifts.push(Lift { from, node });
                from = (GIVEN + self.lifts.len() - 1) as u32;
                node = self.nodes[node as usize].anchor;
            }
        }
        let number = |end: End| match end.lifts {
            0 => end.given,
            lifts => first[end.position as usize] + lifts - 1,
        };
        self.meetings = cut
            .iter()
            .map(|(way, pair)| Meeting {
                at: way.at,
                ends: way.ends.map(number),
                coupling: pair.coupling,
                edge: pair.edge,
            })
            .collect();
        // Meetings at the same clique are adjacent.
        self.meetings.sort_by_key(|meeting| (meeting.at, meeting.ends));
        Ok(())
    }

    /// Returns whether every coupling is kept, so that the best Q is the machine itself.
    pub(super) fn is_whole(&self) -> bool {
        self.meetings.is_empty()
    }

    pub(super) fn bytes(units: usize, cut: usize, lifts: usize) -> u128 {
        let node = size_of::<Node>() + 4;
        let meeting = size_of::<Meeting>() + size_of::<(Way, &Pair)>();
        units as u128 * node as u128 + cut as u128 * meeting as u128 + 8 * lifts as u128
    }
}

/// One end of a cut coupling on its path.
#[derive(Debug, Clone, Copy)]
struct End {
    position: u32,
    clique: u32,
    lifts: u32,
    /// The bit of the end in the state of the meeting's clique, if no lift is needed.
    given: u32,
}

impl End {
    fn at(position: u32) -> Self {
        Self { position, clique: position, lifts: 0, given: MOST_PARENTS as u32 }
    }
}

struct Way {
    at: u32,
    ends: [End; 2],
}

fn nodes(sequence: &[Joint]) -> Vec<Node> {
    let node = |&joint: &Joint| {
        let parents = joint.parents();
        let anchor = parents.iter().copied().max().unwrap_or(NONE);
        let mut outer = [0; STATES];
        for (bit, &parent) in parents.iter().enumerate() {
            let held = if parent == anchor {
                Some(MOST_PARENTS)
            } else {
                sequence[anchor as usize].parents().iter().position(|&other| other == parent)
            };
            // Parents are joined, so the latest has the others as its own parents.
            let held = held.expect("the latest parent's clique holds all parents");
            for (state, outer) in outer.iter_mut().enumerate() {
                *outer |= ((state >> held & 1) << bit) as u8;
            }
        }
        Node { joint, anchor, outer, weights: [0.0; MOST_PARENTS] }
    };
    sequence.iter().map(node).collect()
}
