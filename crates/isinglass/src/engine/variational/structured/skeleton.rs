//! Which couplings are kept: a spanning partial k-tree of the strongest.
//!
//! Where the couplings themselves have no more than the treewidth allowed, all are kept. Elsewhere a k-tree grows from the strongest coupling as Prim's spanning tree
//! does: the next unit is the one that has most weight to a clique of the tree, and joins that clique.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::super::couplings::Pair;
use crate::{Graph, Result};

/// The largest number of units that one may depend on.
pub(super) const MOST_PARENTS: usize = 3;

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
    let graph = Graph::from_sorted(units, coupled.map(|pair| (pair.a as usize, pair.b as usize)).collect())?;
    // The decision is complete, and the order is of least width.
    let Some(order) = graph.decimation_order(&[]) else { return Ok(None) };
    let Some(symbolic) = graph.symbolic(&order, width) else { return Ok(None) };
    let last = units as u32;
    let joint = |step: usize| {
        let parents: Vec<u32> = symbolic.neighbours(step).iter().map(|&other| last - 1 - other).collect();
        Joint::new(order[step] as u32, &parents)
    };
    Ok(Some((0..units).rev().map(joint).collect()))
}

/// A clique that units may join, by positions in the sequence.
#[derive(Debug, Clone, Copy)]
struct Clique {
    members: [u32; MOST_PARENTS],
    count: u8,
}

/// A unit that could join a clique.
struct Candidate {
    weight: f64,
    unit: u32,
    clique: Clique,
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Candidate {}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Candidate {
    /// The most weight first, then the first unit.
    fn cmp(&self, other: &Self) -> Ordering {
        self.weight.total_cmp(&other.weight).then(other.unit.cmp(&self.unit))
    }
}

/// What grows.
struct Growth<'a> {
    /// The neighbours of each unit, with the size of their coupling.
    rows: &'a [Vec<(u32, f64)>],
    width: usize,
    sequence: Vec<Joint>,
    is_in: Vec<bool>,
    /// The most weight that each unit outside has to a clique.
    best: Vec<f64>,
    open: BinaryHeap<Candidate>,
    /// Sums for the units around a clique, and which they are.
    sums: Vec<f64>,
    around: Vec<u32>,
}

/// A k-tree that spans each connected part.
///
/// *Arguments*: the neighbours of each unit with the size of their coupling, above 0; k.
/// *Complexity*: a pass over the neighbours of each clique, of which there are at most `k` for each unit.
pub(super) fn grow(rows: &[Vec<(u32, f64)>], width: usize) -> Vec<Joint> {
    let units = rows.len();
    let strongest = |unit: &u32| rows[*unit as usize].iter().fold(0.0, |most: f64, x| most.max(x.1));
    let mut roots: Vec<u32> = (0..units as u32).collect();
    roots.sort_by(|a, b| strongest(b).total_cmp(&strongest(a)));
    let mut growth = Growth {
        rows,
        width,
        sequence: Vec::with_capacity(units),
        is_in: vec![false; units],
        best: vec![0.0; units],
        open: BinaryHeap::new(),
        sums: vec![0.0; units],
        around: Vec::new(),
    };
    for root in roots {
        if !growth.is_in[root as usize] {
            growth.join(root, Clique { members: [0; MOST_PARENTS], count: 0 });
        }
        while let Some(Candidate { unit, clique, weight }) = growth.open.pop() {
            if !growth.is_in[unit as usize] && weight >= growth.best[unit as usize] {
                growth.join(unit, clique);
            }
        }
    }
    growth.sequence
}

impl Growth<'_> {
    /// Put a unit in, as a child of all members of a clique.
    fn join(&mut self, unit: u32, clique: Clique) {
        let position = self.sequence.len() as u32;
        let members = &clique.members[..usize::from(clique.count)];
        self.sequence.push(Joint::new(unit, members));
        self.is_in[unit as usize] = true;
        if members.len() < self.width {
            let mut larger = clique;
            larger.members[members.len()] = position;
            larger.count += 1;
            self.offer(larger);
        } else {
            for left_out in 0..members.len() {
                let mut other = clique;
                other.members[left_out] = position;
                self.offer(other);
            }
        }
    }

    /// Let the units around a clique know of it.
    fn offer(&mut self, clique: Clique) {
        for &member in &clique.members[..usize::from(clique.count)] {
            for &(other, weight) in &self.rows[self.sequence[member as usize].unit as usize] {
                if !self.is_in[other as usize] {
                    if self.sums[other as usize] == 0.0 {
                        self.around.push(other);
                    }
                    self.sums[other as usize] += weight;
                }
            }
        }
        for unit in self.around.drain(..) {
            let weight = std::mem::take(&mut self.sums[unit as usize]);
            if weight > self.best[unit as usize] {
                self.best[unit as usize] = weight;
                self.open.push(Candidate { weight, unit, clique });
            }
        }
    }
}
