//! The same elimination in a better sequence: each unit soon after its children.

use super::super::Graph;
use super::symbolic::Symbolic;

impl Graph {
    /// An order with the same neighbours at every elimination, and small tables alive together.
    ///
    /// The result of a step goes to the first of its neighbours to be eliminated, its parent. Any
    /// order with children before parents has the same steps. Here each subtree is done at once, so
    /// that a result is used soon, and among children the one that needs most memory beyond its
    /// result comes first (Liu 1986, "On the storage requirement in the out-of-core multifrontal
    /// method for sparse factorization").
    ///
    /// *Returns*: the order and its steps, or `None` if a unit has more than `max_width` neighbours
    /// at its elimination.
    /// *Complexity*: that of following the order, and of sorting each unit's children.
    pub(crate) fn postordered(&self, order: &[usize], max_width: usize) -> Option<(Vec<usize>, Symbolic)> {
        const NONE: u32 = u32::MAX;
        let symbolic = self.symbolic(order, max_width)?;
        let n = order.len();
        // A root has no parent.
        let parent: Vec<u32> =
            (0..n).map(|step| symbolic.neighbours(step).first().copied().unwrap_or(NONE)).collect();
        let mut children = Rows::new(n, &parent, NONE);
        // The size of the result of each step, and the peak memory up to its end.
        let result = |step: usize| (symbolic.neighbours(step).len() as f64).exp2();
        let mut peak = vec![0.0f64; n];
        for step in 0..n {
            let row = children.row_mut(step);
            row.sort_by(|&a, &b| {
                // Among equals the smaller result first: a larger one may include it.
                let excess = |step: u32| peak[step as usize] - result(step as usize);
                let by_result = result(a as usize).total_cmp(&result(b as usize));
                excess(b).total_cmp(&excess(a)).then(by_result).then(a.cmp(&b))
            });
            let mut alive = 0.0;
            let mut most = 0.0f64;
            for &child in row.iter() {
                most = most.max(alive + peak[child as usize]);
                alive += result(child as usize);
            }
            peak[step] = most.max(alive + result(step));
        }
        let mut sequence: Vec<u32> = Vec::with_capacity(n);
        let mut open: Vec<(u32, usize)> = Vec::new();
        for root in (0..n).filter(|&step| parent[step] == NONE) {
            open.push((root as u32, 0));
            while let Some((step, done)) = open.last_mut() {
                if let Some(&child) = children.row(*step as usize).get(*done) {
                    *done += 1;
                    open.push((child, 0));
                } else {
                    sequence.push(*step);
                    open.pop();
                }
            }
        }
        let new_order = sequence.iter().map(|&step| order[step as usize]).collect();
        Some((new_order, symbolic.resequenced(&sequence)))
    }
}

/// The children of each step, in compressed rows.
struct Rows {
    offsets: Vec<u32>,
    entries: Vec<u32>,
}

impl Rows {
    fn new(n: usize, parent: &[u32], none: u32) -> Self {
        let mut offsets = vec![0u32; n + 1];
        for &parent in parent.iter().filter(|&&parent| parent != none) {
            offsets[parent as usize + 1] += 1;
        }
        for k in 0..n {
            offsets[k + 1] += offsets[k];
        }
        let mut next = offsets.clone();
        let mut entries = vec![0; offsets[n] as usize];
        for (child, &parent) in parent.iter().enumerate().filter(|&(_, &parent)| parent != none) {
            entries[next[parent as usize] as usize] = child as u32;
            next[parent as usize] += 1;
        }
        Self { offsets, entries }
    }

    fn row(&self, step: usize) -> &[u32] {
        &self.entries[self.offsets[step] as usize..self.offsets[step + 1] as usize]
    }

    fn row_mut(&mut self, step: usize) -> &mut [u32] {
        &mut self.entries[self.offsets[step] as usize..self.offsets[step + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use crate::Graph;
    use crate::topology::Neighbours;

    #[test]
    fn the_steps_stay_the_same() {
        let grid = Graph::grid(7, 9, Neighbours::Eight);
        let order = grid.elimination_order(20).unwrap().order;
        let (other, found) = grid.postordered(&order, 20).unwrap();
        assert_eq!(grid.symbolic(&other, 20).unwrap(), found);
        let steps = |order: &[usize]| {
            let symbolic = grid.symbolic(order, 20).unwrap();
            let step = |(step, &unit): (usize, &usize)| {
                let around = symbolic.neighbours(step).iter().map(|&other| order[other as usize]);
                (unit, around.collect::<std::collections::BTreeSet<_>>())
            };
            let mut steps: Vec<_> = order.iter().enumerate().map(step).collect();
            steps.sort();
            steps
        };
        assert_eq!(steps(&order), steps(&other));
        assert_eq!(grid.postordered(&order, 2), None);
    }
}
