//! The couplings that are kept: a spanning partial k-tree of the strongest.
//!
//! All couplings are kept if their treewidth is small enough. Otherwise they are added in order of
//! strength as long as the treewidth allows.

use super::super::couplings::Pair;
use crate::cancel;
use crate::{Graph, Result};

/// The most parents of a unit.
pub(super) const MOST_PARENTS: usize = 3;

/// Units and couplings visited by all decisions for one subgraph: about a second.
const WORK: usize = 10_000_000;

/// A unit and its parents, which precede it and are joined with each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Joint {
    /// The unit's number among the free ones.
    pub(super) unit: u32,
    /// The positions of its parents in the sequence, rising.
    parents: [u32; MOST_PARENTS],
    count: u8,
}

impl Joint {
    fn new(unit: u32, parents: &[u32]) -> Self {
        let mut sorted = [u32::MAX; MOST_PARENTS];
        sorted[..parents.len()].copy_from_slice(parents);
        sorted[..parents.len()].sort_unstable();
        Self { unit, parents: sorted, count: parents.len() as u8 }
    }

    pub(super) fn parents(&self) -> &[u32] {
        &self.parents[..usize::from(self.count)]
    }
}

/// Returns a sequence of the units, parents first, that keeps all couplings; `None` if too wide.
pub(super) fn whole(units: usize, pairs: &[Pair], width: usize) -> Result<Option<Vec<Joint>>> {
    let coupled = pairs.iter().filter(|pair| pair.coupling != 0.0);
    sequence(units, coupled.map(|pair| (pair.a as usize, pair.b as usize)).collect(), width)
}

/// Returns a sequence of all units; `None` if the treewidth is too large. The decision is complete.
///
/// *Arguments*: edges in lexicographic order.
fn sequence(units: usize, edges: Vec<(usize, usize)>, width: usize) -> Result<Option<Vec<Joint>>> {
    if edges.len() > width * units {
        return Ok(None);
    }
    let graph = Graph::from_sorted(units, edges)?;
    // The order is of least width.
    let Some(order) = graph.decimation_order(&[]) else { return Ok(None) };
    let Some(symbolic) = graph.symbolic(&order, width) else { return Ok(None) };
    let joint = |step: usize| {
        let parents: Vec<u32> =
            symbolic.neighbours(step).iter().map(|&other| (units - 1) as u32 - other).collect();
        Joint::new(order[step] as u32, &parents)
    };
    Ok(Some((0..units).rev().map(joint).collect()))
}

/// Returns a subgraph maximal for its width, as far as [`WORK`] allows: Kruskal's spanning tree,
/// extended to larger treewidth. Couplings are added in growing blocks while decisions succeed.
///
/// *Arguments*: how strong each pair is; pairs of strength 0 are left out.
pub(super) fn strongest(units: usize, pairs: &[Pair], wanted: &[f64], width: usize) -> Result<Vec<Joint>> {
    let mut order: Vec<usize> = (0..pairs.len()).filter(|&number| wanted[number] > 0.0).collect();
    order.sort_by(|&a, &b| wanted[b].total_cmp(&wanted[a]));
    let edge = |&number: &usize| (pairs[number].a as usize, pairs[number].b as usize);
    let mut parts = Parts((0..units as u32).collect());
    let (tree, rest): (Vec<usize>, Vec<usize>) =
        order.into_iter().partition(|&number| parts.join(pairs[number].a, pairs[number].b));
    let mut kept: Vec<(usize, usize)> = tree.iter().map(edge).collect();
    kept.sort_unstable();
    // A forest has treewidth 1.
    let mut found = sequence(units, kept.clone(), width)?.expect("a forest is within any width");
    let (mut next, mut block, mut work) = (0, units, 0);
    while next < rest.len() && kept.len() < width * units && work < WORK {
        cancel::point();
        let end = rest.len().min(next + block);
        let mut larger = kept.clone();
        larger.extend(rest[next..end].iter().map(edge));
        larger.sort_unstable();
        work += units + larger.len();
        if let Some(sequence) = sequence(units, larger.clone(), width)? {
            (kept, found) = (larger, sequence);
            (next, block) = (end, 2 * block);
        } else if end == next + 1 {
            next = end;
        } else {
            block = (end - next) / 2;
        }
    }
    fill(&mut found, width);
    Ok(found)
}

/// Adds parents up to the width: members of the latest parent's clique cost nothing more.
fn fill(sequence: &mut [Joint], width: usize) {
    for k in 0..sequence.len() {
        let mut parents = sequence[k].parents().to_vec();
        let Some(&anchor) = parents.last() else { continue };
        for other in sequence[anchor as usize].parents() {
            if parents.len() < width && !parents.contains(other) {
                parents.push(*other);
            }
        }
        sequence[k] = Joint::new(sequence[k].unit, &parents);
    }
}

/// Disjoint sets of units (union–find).
struct Parts(Vec<u32>);

impl Parts {
    fn of(&mut self, unit: u32) -> u32 {
        let mut at = unit;
        while self.0[at as usize] != at {
            // Path halving.
            self.0[at as usize] = self.0[self.0[at as usize] as usize];
            at = self.0[at as usize];
        }
        at
    }

    /// Joins two sets; returns whether they were different.
    fn join(&mut self, a: u32, b: u32) -> bool {
        let (a, b) = (self.of(a), self.of(b));
        self.0[a.max(b) as usize] = a.min(b);
        a != b
    }
}
