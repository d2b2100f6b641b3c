//! Elimination orders, which decide the cost of exact elimination.
//!
//! Eliminating a unit sums it out of a table over the unit and its neighbours S at that time, with
//! 2^(|S|+1) entries, and joins the neighbours. The order found keeps the sum of these sizes small.
//!
//! The rules for treewidth 3 are applied first, at no loss. Each component that remains goes
//! through a [`search`] among candidates: [`greedy`] orders, [`sweeps`], nested [`dissection`].
//! [`symbolic`] follows a given order, and [`postorder`] finds the best sequence of its steps.

mod bit_rows;
mod dissection;
mod greedy;
mod meter;
mod postorder;
mod search;
mod sweeps;
mod symbolic;

use super::Graph;
use super::partial_three_tree::reduce;
use super::shrinking::ShrinkingRows;
use meter::Cost;
pub(crate) use symbolic::Symbolic;

/// An order in which to eliminate all units, and what it costs.
#[derive(Debug, Clone, PartialEq)]
pub struct EliminationOrder {
    /// All units, the first to be eliminated first.
    pub order: Vec<usize>,
    /// The largest number of neighbours that a unit has at its elimination.
    pub width: usize,
    /// Σ 2^(|S|+1) over all steps, S the neighbours at the step: the table entries computed.
    pub entries: f64,
}

impl Graph {
    /// A good order in which to eliminate all units.
    ///
    /// Finding the best order is NP-hard. Up to treewidth 3 the width is the least possible;
    /// beyond, candidates compete by `entries` (with some weight on the largest table, so that a
    /// wider order wins if it costs less): least fill, least degree, sweeps from corners, nested
    /// dissection and the order of the units as given, then restarts with other choices among
    /// equals. The search counts its work and stops at a fraction of what using the order will
    /// cost. It depends on the graph alone: the same order is found every time.
    ///
    /// *Arguments*: `max_width`, the largest number of neighbours at an elimination.
    /// *Returns*: the best order found, or `None` if none was found within `max_width`; for
    /// `max_width` up to 3 there is none then.
    /// *Complexity*: near-linear where the treewidth is at most 3 (a million units a second); else
    /// up to about the time of an elimination, at most a few seconds. Memory is proportional to
    /// units, edges and fill edges.
    ///
    /// # Example
    /// ```
    /// use isinglass::{Graph, topology::Neighbours};
    /// let grid = Graph::grid(10, 10, Neighbours::Four);
    /// let found = grid.elimination_order(20).unwrap();
    /// assert_eq!((found.order.len(), found.width), (100, 10));
    /// assert!(found.entries < 100.0 * 1024.0);
    /// assert_eq!(Graph::full(30).elimination_order(20), None);
    /// ```
    ///
    /// *Literature*: Bodlaender & Koster 2010, "Treewidth computations I: upper bounds"; Kjærulff
    /// 1990, "Triangulation of graphs: algorithms giving small total state space".
    pub fn elimination_order(&self, max_width: usize) -> Option<EliminationOrder> {
        // Each step removes at most `max_width` edges.
        if self.edges().len() > max_width.saturating_mul(self.unit_count()) {
            return None;
        }
        let reduction = reduce(self);
        let mut cost = Cost::NOTHING;
        for step in &reduction.steps {
            cost.add(step.neighbours().len());
        }
        let is_complete = reduction.is_complete();
        // The rest has treewidth 4 or more.
        if cost.width.max(if is_complete { 0 } else { 4 }) > max_width {
            return None;
        }
        let mut order: Vec<usize> = Vec::with_capacity(self.unit_count());
        order.extend(reduction.units());
        if !is_complete {
            for (units, core) in components(reduction.into_core())? {
                let found = search::search(&core, max_width)?;
                cost.width = cost.width.max(found.cost.width);
                cost.entries += found.cost.entries;
                order.extend(found.order.into_iter().map(|k| units[k]));
            }
        }
        debug_assert_eq!(order.len(), self.unit_count());
        Some(EliminationOrder { order, width: cost.width, entries: cost.entries })
    }
}

/// The connected components of the remaining rows, each with its units in rising order.
///
/// `None` would need too many edges for a graph; but the rules add no more than they remove.
fn components(mut rows: ShrinkingRows) -> Option<Vec<(Vec<usize>, Graph)>> {
    const UNSEEN: usize = usize::MAX;
    let mut found = Vec::new();
    let mut number = vec![UNSEEN; rows.len()];
    for start in 0..rows.len() {
        if number[start] != UNSEEN || rows.is_lost(start as u32) {
            continue;
        }
        let mut units = vec![start];
        number[start] = 0;
        let mut k = 0;
        while k < units.len() {
            for &other in rows.row(units[k] as u32) {
                if number[other as usize] == UNSEEN {
                    number[other as usize] = 0;
                    units.push(other as usize);
                }
            }
            k += 1;
        }
        units.sort_unstable();
        for (k, &unit) in units.iter().enumerate() {
            number[unit] = k;
        }
        let mut edges = Vec::new();
        for (k, &unit) in units.iter().enumerate() {
            let others = rows.row(unit as u32).iter().map(|&other| number[other as usize]);
            edges.extend(others.filter(|&other| other > k).map(|other| (k, other)));
        }
        edges.sort_unstable();
        let graph = Graph::from_sorted(units.len(), edges).ok()?;
        found.push((units, graph));
    }
    Some(found)
}
