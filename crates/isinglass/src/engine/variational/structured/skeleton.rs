//! Which couplings are kept: a spanning partial k-tree of the strongest.
//!
//! Where the couplings themselves have no more than the treewidth allowed, all are kept. Elsewhere they are taken one by one, the strongest first, as long as
//! the treewidth allows.

use super::super::couplings::Pair;
use crate::cancel;
use crate::{Graph, Result};

/// The largest number of units that one may depend on.
pub(super) const MOST_PARENTS: usize = 3;

/// Units and couplings that all decisions for one subgraph together may look at: about a second.
const WORK: usize = 10_000_000;

/// A unit, and those it depends on: they come before it, and are joined with each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Joint {
    /// The unit's place among the free ones.
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

/// All couplings, if their treewidth allows it: the units in a sequence in which parents come first.
pub(super) fn whole(units: usize, pairs: &[Pair], width: usize) -> Result<Option<Vec<Joint>>> {
    let coupled = pairs.iter().filter(|pair| pair.coupling != 0.0);
    sequence(units, coupled.map(|pair| (pair.a as usize, pair.b as usize)).collect(), width)
}

/// A sequence of all units for a subgraph, if its treewidth allows it. The decision is complete.
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

/// A subgraph that has no room for another coupling, as far as [`WORK`] allows to tell: Kruskal's spanning tree, carried on to larger treewidth.
///
/// While decisions go well, more couplings are taken at once.
/// *Arguments*: how much each pair is wanted; pairs that are wanted by 0 are not taken.
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

/// Let each unit depend on as many as it may: what is in the clique of its latest parent costs nothing more.
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

/// Disjoint sets of units, each known by one of its members.
struct Parts(Vec<u32>);

impl Parts {
    fn of(&mut self, unit: u32) -> u32 {
        let mut at = unit;
        while self.0[at as usize] != at {
            // Halve the way for the next time.
            self.0[at as usize] = self.0[self.0[at as usize] as usize];
            at = self.0[at as usize];
        }
        at
    }

    /// Whether two units were in different sets; from now on they are not.
    fn join(&mut self, a: u32, b: u32) -> bool {
        let (a, b) = (self.of(a), self.of(b));
        self.0[a.max(b) as usize] = a.min(b);
        a != b
    }
}
