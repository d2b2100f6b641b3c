//! Bounds on the treewidth: by the best order found, and by contraction.

use std::collections::{BTreeSet, HashSet};

use super::Graph;

/// The treewidth lies between these two numbers, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreewidthBounds {
    /// No elimination order is narrower.
    pub lower: usize,
    /// An elimination order with this width was found.
    pub upper: usize,
}

impl Graph {
    /// Bounds on the treewidth.
    ///
    /// *Upper*: the width of the best elimination order found ([`Graph::elimination_order`]); where
    /// none is within `max_width`, [`Graph::pathwidth_bound`].
    /// *Lower*: [`Graph::treewidth_lower_bound`].
    /// *Complexity*: that of the search for an order.
    ///
    /// # Example
    /// ```
    /// use isinglass::{Graph, topology::Neighbours};
    /// let bounds = Graph::full(6).treewidth_bounds(64);
    /// assert_eq!((bounds.lower, bounds.upper), (5, 5));
    /// let grid = Graph::grid(40, 40, Neighbours::Four).treewidth_bounds(20);
    /// assert!(grid.lower >= 4 && grid.upper == 40);
    /// ```
    pub fn treewidth_bounds(&self, max_width: usize) -> TreewidthBounds {
        let upper = self.elimination_order(max_width).map(|found| found.width);
        let upper = upper.unwrap_or_else(|| self.pathwidth_bound());
        TreewidthBounds { lower: self.treewidth_lower_bound(upper), upper }
    }

    /// A width that no elimination order can go below.
    ///
    /// The largest least degree seen while contracting a vertex of least degree into its neighbour
    /// of least degree, repeatedly (a minor's least degree never exceeds the treewidth; MMD+ in
    /// Bodlaender & Koster 2011, "Treewidth computations II"); between 3 and 4, the complete
    /// decision of [`Graph::decimation_order`]. Beyond 100 000 edges, the
    /// [degeneracy](Graph::degeneracy) in place of contraction.
    ///
    /// *Arguments*: `upper`, a width that suffices, or the number of units; the search ends there.
    pub fn treewidth_lower_bound(&self, upper: usize) -> usize {
        let lower = if self.edges().len() > CONTRACTED_EDGES {
            self.degeneracy()
        } else {
            let rows = (0..self.unit_count())
                .map(|unit| self.neighbours(unit).map(|(other, _)| other as u32).collect());
            greedy_contraction(rows.collect(), upper)
        };
        if lower <= 3 && upper > 3 && self.decimation_order(&[]).is_none() { 4 } else { lower }
    }

    /// A width that suffices: the longest front when units are taken in the order given or breadth
    /// first, whichever is less.
    ///
    /// A unit is in the front from when a neighbour is taken until it is taken. Linear time.
    ///
    /// ```
    /// use isinglass::{Graph, topology::Neighbours};
    /// assert_eq!(Graph::grid(300, 20, Neighbours::Four).pathwidth_bound(), 20);
    /// ```
    pub fn pathwidth_bound(&self) -> usize {
        let natural: Vec<usize> = (0..self.unit_count()).collect();
        self.longest_front(&natural).min(self.longest_front(&self.breadth_first().0))
    }

    fn longest_front(&self, order: &[usize]) -> usize {
        let mut seen = vec![false; self.unit_count()];
        let (mut front, mut longest) = (0usize, 0);
        for &unit in order {
            front -= usize::from(std::mem::replace(&mut seen[unit], true));
            for (other, _) in self.neighbours(unit) {
                front += usize::from(!std::mem::replace(&mut seen[other], true));
            }
            longest = longest.max(front);
        }
        longest
    }

    /// The largest least degree of any subgraph, by removing vertices of least degree. Linear time.
    ///
    /// ```
    /// assert_eq!(isinglass::Graph::full(7).degeneracy(), 6);
    /// ```
    pub fn degeneracy(&self) -> usize {
        let mut degrees: Vec<usize> = (0..self.unit_count()).map(|unit| self.degree(unit)).collect();
        let mut by_degree: Vec<Vec<usize>> = Vec::new();
        for (unit, &degree) in degrees.iter().enumerate() {
            by_degree.resize_with(by_degree.len().max(degree + 1), Vec::new);
            by_degree[degree].push(unit);
        }
        let mut taken = vec![false; self.unit_count()];
        let mut most = 0;
        let mut degree = 0;
        while degree < by_degree.len() {
            let Some(unit) = by_degree[degree].pop() else {
                degree += 1;
                continue;
            };
            if taken[unit] || degrees[unit] != degree {
                continue;
            }
            taken[unit] = true;
            most = most.max(degree);
            for (other, _) in self.neighbours(unit).filter(|&(other, _)| !taken[other]) {
                degrees[other] -= 1;
                by_degree[degrees[other]].push(other);
            }
            degree = degree.saturating_sub(1);
        }
        most
    }
}

/// More edges than this are not contracted one by one.
const CONTRACTED_EDGES: usize = 100_000;

/// The largest least degree among the minors of greedy contraction, at most `upper`.
fn greedy_contraction(mut rows: Vec<HashSet<u32>>, upper: usize) -> usize {
    let degrees = rows.iter().enumerate().map(|(k, row)| (row.len(), k as u32));
    let mut queue: BTreeSet<(usize, u32)> = degrees.collect();
    let mut lower = 0;
    while let Some((degree, vertex)) = queue.pop_first() {
        lower = lower.max(degree);
        if lower >= upper {
            return upper;
        }
        let around = std::mem::take(&mut rows[vertex as usize]);
        let Some(&into) = around.iter().min_by_key(|&&other| (rows[other as usize].len(), other)) else {
            continue;
        };
        for &other in &around {
            queue.remove(&(rows[other as usize].len(), other));
            rows[other as usize].remove(&vertex);
        }
        for &other in &around {
            if other != into {
                rows[other as usize].insert(into);
                rows[into as usize].insert(other);
            }
        }
        for &other in &around {
            queue.insert((rows[other as usize].len(), other));
        }
    }
    lower
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Neighbours;

    #[test]
    fn known_widths_are_within_the_bounds() {
        let bounds = |graph: &Graph| graph.treewidth_bounds(1000);
        let cycle = Graph::new(7, (0..7).map(|k| (k, (k + 1) % 7))).unwrap();
        let empty = |units| Graph::new(units, []).unwrap();
        for (graph, width) in [(Graph::tree(200, 3), 1), (empty(5), 0), (empty(0), 0), (cycle, 2)] {
            assert_eq!(bounds(&graph), TreewidthBounds { lower: width, upper: width });
        }
        for side in 2..7 {
            let found = bounds(&Graph::grid(side, side, Neighbours::Four));
            assert!(found.lower <= side && side <= found.upper, "{side}: {found:?}");
        }
    }

    #[test]
    fn the_upper_bound_holds_where_no_order_is_narrow_enough() {
        let graph = Graph::grid(12, 12, Neighbours::Eight);
        let [coarse, fine] = [3, 1000].map(|max_width| graph.treewidth_bounds(max_width));
        assert!(coarse.upper >= fine.upper && fine.upper >= 12);
    }
}
