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
        // The size of the result of each step, and the peak memory up to its end.
        let result = |step: u32| (symbolic.neighbours(step as usize).len() as f64).exp2();
        let mut peak = vec![0.0f64; n];
        let (mut first_child, mut sibling) = (vec![NONE; n], vec![NONE; n]);
        let (mut roots, mut children) = (Vec::new(), Vec::new());
        let follow = |first: u32, next: &[u32], out: &mut Vec<u32>| {
            out.extend(std::iter::successors(Some(first), |&step| next.get(step as usize).copied()));
            out.pop();
        };
        for step in 0..n as u32 {
            children.clear();
            follow(first_child[step as usize], &sibling, &mut children);
            children.sort_by(|&a, &b| {
                // Among equals the smaller result first: a larger one may include it.
                let excess = |step: u32| peak[step as usize] - result(step);
                let by_result = result(a).total_cmp(&result(b));
                excess(b).total_cmp(&excess(a)).then(by_result).then(a.cmp(&b))
            });
            let (mut alive, mut most) = (0.0, 0.0f64);
            for &child in &children {
                most = most.max(alive + peak[child as usize]);
                alive += result(child);
            }
            peak[step as usize] = most.max(alive + result(step));
            // Link the children in this order, and the step to its parent.
            let link = |next: u32, &child: &u32| {
                sibling[child as usize] = next;
                child
            };
            first_child[step as usize] = children.iter().rev().fold(NONE, link);
            match symbolic.neighbours(step as usize).first() {
                Some(&parent) => {
                    sibling[step as usize] = std::mem::replace(&mut first_child[parent as usize], step);
                }
                None => roots.push(step),
            }
        }
        let (mut sequence, mut open) = (Vec::with_capacity(n), Vec::new());
        for root in roots {
            follow(root, &first_child, &mut open);
            while let Some(step) = open.pop() {
                sequence.push(step);
                follow(sibling[step as usize], &first_child, &mut open);
            }
        }
        let new_order = sequence.iter().map(|&step| order[step as usize]).collect();
        Some((new_order, symbolic.resequenced(&sequence)))
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
