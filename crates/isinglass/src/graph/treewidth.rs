//! Bounds on the treewidth, by greedy elimination and greedy contraction.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashSet};

use super::Graph;

/// The treewidth lies between these two numbers, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreewidthBounds {
    /// No elimination order can do better.
    pub lower: usize,
    /// An elimination order with this width was found.
    pub upper: usize,
}

impl Graph {
    /// Bounds on the treewidth.
    ///
    /// *Upper*: the width of the greedy order that always eliminates a vertex of least degree, joining its neighbours.
    /// *Lower*: the largest least degree met while contracting, again and again, a vertex of least degree
    /// into its neighbour of least degree (a minor's least degree never exceeds the treewidth;
    /// Bodlaender & Koster 2011, "Treewidth computations II", call it MMD+).
    ///
    /// Where the two leave open whether it is 3 or more, [`Graph::decimation_order`] decides.
    ///
    /// *Arguments*: `with_bias_unit` joins one more vertex to the listed units, as the unit 0 that biases lead to.
    ///
    /// *Complexity*: near-linear while the width found is small. Beyond `give_up` no order is looked for: the upper bound then is the
    /// number of remaining vertices, less one.
    ///
    /// # Example
    /// ```
    /// use isinglass::{Graph, topology::{self, Neighbours}};
    /// let bounds = topology::full(6).treewidth_bounds(&[], 64);
    /// assert_eq!((bounds.lower, bounds.upper), (5, 5));
    /// let chain = topology::chain(9).treewidth_bounds(&[], 64);
    /// assert_eq!((chain.lower, chain.upper), (1, 1));
    /// let with_biases = topology::chain(9).treewidth_bounds(&(0..9).collect::<Vec<_>>(), 64);
    /// assert_eq!((with_biases.lower, with_biases.upper), (2, 2));
    /// ```
    pub fn treewidth_bounds(&self, with_bias_unit: &[usize], give_up: usize) -> TreewidthBounds {
        let dense = self.degeneracy();
        if dense > give_up {
            // No order can be narrower than this; do not take the memory to look for one.
            let vertices = self.units() + usize::from(!with_bias_unit.is_empty());
            return TreewidthBounds { lower: dense, upper: vertices - 1 };
        }
        let mut rows: Vec<HashSet<u32>> = (0..self.units())
            .map(|unit| self.neighbours(unit).map(|(other, _)| other as u32).collect())
            .collect();
        if !with_bias_unit.is_empty() {
            let zero = rows.len() as u32;
            for &unit in with_bias_unit {
                rows[unit].insert(zero);
            }
            rows.push(with_bias_unit.iter().map(|&unit| unit as u32).collect());
        }
        let upper = greedy_elimination(rows.clone(), give_up);
        let lower = greedy_contraction(rows, upper);
        if lower > 3 || upper <= 3 {
            return TreewidthBounds { lower, upper };
        }
        // Between 3 and 4 there is a complete decision.
        match self.decimation_order(with_bias_unit) {
            Some(_) => TreewidthBounds { lower, upper: 3 },
            None => TreewidthBounds { lower: 4, upper },
        }
    }
}

impl Graph {
    /// The largest least degree of any subgraph, by taking off vertices of least degree one after another. Linear time.
    ///
    /// ```
    /// use isinglass::topology;
    /// assert_eq!(topology::tree(50, 3).degeneracy(), 1);
    /// assert_eq!(topology::full(7).degeneracy(), 6);
    /// ```
    pub fn degeneracy(&self) -> usize {
        let mut degrees: Vec<usize> = (0..self.units()).map(|unit| self.degree(unit)).collect();
        let mut by_degree: Vec<Vec<usize>> = Vec::new();
        for (unit, &degree) in degrees.iter().enumerate() {
            by_degree.resize_with(by_degree.len().max(degree + 1), Vec::new);
            by_degree[degree].push(unit);
        }
        let mut taken = vec![false; self.units()];
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

/// The width of the order that eliminates a vertex of least degree first.
fn greedy_elimination(mut rows: Vec<HashSet<u32>>, give_up: usize) -> usize {
    let mut queue: BinaryHeap<_> = degrees(&rows).map(Reverse).collect();
    let mut done = vec![false; rows.len()];
    let mut remaining = rows.len();
    let mut width = 0;
    while let Some(Reverse((degree, vertex))) = queue.pop() {
        let v = vertex as usize;
        if done[v] || rows[v].len() != degree {
            continue;
        }
        if width.max(degree) + 1 >= remaining {
            return width.max(remaining - 1);
        }
        if degree > give_up {
            return remaining - 1;
        }
        width = width.max(degree);
        done[v] = true;
        remaining -= 1;
        let around: Vec<u32> = std::mem::take(&mut rows[v]).into_iter().collect();
        for (k, &a) in around.iter().enumerate() {
            rows[a as usize].remove(&vertex);
            for &b in &around[..k] {
                if rows[a as usize].insert(b) {
                    rows[b as usize].insert(a);
                }
            }
        }
        for &a in &around {
            queue.push(Reverse((rows[a as usize].len(), a)));
        }
    }
    width
}

/// The largest least degree among the minors met by greedy contraction; it cannot exceed `upper`, and stops there.
fn greedy_contraction(mut rows: Vec<HashSet<u32>>, upper: usize) -> usize {
    let mut queue: BTreeSet<(usize, u32)> = degrees(&rows).collect();
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

fn degrees(rows: &[HashSet<u32>]) -> impl Iterator<Item = (usize, u32)> + '_ {
    rows.iter().enumerate().map(|(k, row)| (row.len(), k as u32))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::{self, Neighbours};

    #[test]
    fn known_widths_are_within_the_bounds() {
        let bounds = |graph: &Graph| graph.treewidth_bounds(&[], 1000);
        assert_eq!(bounds(&topology::tree(200, 3)), TreewidthBounds { lower: 1, upper: 1 });
        assert_eq!(bounds(&Graph::new(5, []).unwrap()), TreewidthBounds { lower: 0, upper: 0 });
        assert_eq!(bounds(&Graph::new(0, []).unwrap()), TreewidthBounds { lower: 0, upper: 0 });
        for side in 2..7 {
            let found = bounds(&topology::grid(side, side, Neighbours::Four));
            assert!(found.lower <= side && side <= found.upper, "{side}: {found:?}");
        }
        let cycle = Graph::new(7, (0..7).map(|k| (k, (k + 1) % 7))).unwrap();
        assert_eq!(bounds(&cycle), TreewidthBounds { lower: 2, upper: 2 });
    }

    #[test]
    fn giving_up_still_bounds_from_above() {
        let graph = topology::grid(12, 12, Neighbours::Eight);
        let hurried = graph.treewidth_bounds(&[], 3);
        let patient = graph.treewidth_bounds(&[], 1000);
        assert!(hurried.upper >= patient.upper && patient.upper >= 12);
    }
}
