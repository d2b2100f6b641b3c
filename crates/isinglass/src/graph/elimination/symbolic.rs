//! Symbolic elimination: the neighbours of each unit at its elimination.

use super::super::Graph;

/// The neighbours of each unit at its elimination, in compressed rows. Units are numbered by step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Symbolic {
    offsets: Vec<usize>,
    neighbours: Vec<u32>,
}

impl Symbolic {
    /// The number of steps.
    pub(crate) fn steps(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The neighbours at a step, by their own steps, rising: the first one receives the result.
    pub(crate) fn neighbours(&self, step: usize) -> &[u32] {
        &self.neighbours[self.offsets[step]..self.offsets[step + 1]]
    }

    /// Where the neighbours at a step begin among those of all steps.
    pub(crate) fn offset(&self, step: usize) -> usize {
        self.offsets[step]
    }

    /// The number of neighbours at all steps together.
    pub(crate) fn total(&self) -> usize {
        self.neighbours.len()
    }

    /// The same steps in another sequence, given by old numbers, with children before parents.
    pub(super) fn resequenced(&self, sequence: &[u32]) -> Self {
        let mut new = vec![0u32; sequence.len()];
        for (step, &old) in sequence.iter().enumerate() {
            new[old as usize] = step as u32;
        }
        let mut found = Self { offsets: vec![0], neighbours: Vec::with_capacity(self.total()) };
        for &old in sequence {
            let start = found.neighbours.len();
            found.neighbours.extend(self.neighbours(old as usize).iter().map(|&other| new[other as usize]));
            found.neighbours[start..].sort_unstable();
            found.offsets.push(found.neighbours.len());
        }
        found
    }
}

impl Graph {
    /// The neighbours at each step of an elimination order; `None` if a unit has more than
    /// `max_width`. *Complexity*: linear in edges and the result, but for sorting each row.
    pub(crate) fn symbolic(&self, order: &[usize], max_width: usize) -> Option<Symbolic> {
        self.symbolic_while(order, |neighbours| neighbours <= max_width)
    }

    /// Follows an elimination order as long as the numbers of neighbours are accepted.
    ///
    /// A unit is joined to its later neighbours and those of its children, the units whose next
    /// neighbour it was (Liu 1990, "The role of elimination trees in sparse factorization").
    pub(super) fn symbolic_while(
        &self,
        order: &[usize],
        mut accept: impl FnMut(usize) -> bool,
    ) -> Option<Symbolic> {
        const NONE: u32 = u32::MAX;
        debug_assert_eq!(order.len(), self.unit_count());
        let mut place = vec![0u32; self.unit_count()];
        for (step, &unit) in order.iter().enumerate() {
            place[unit] = step as u32;
        }
        let mut found = Symbolic { offsets: vec![0], neighbours: Vec::new() };
        let mut last_child = vec![NONE; self.unit_count()];
        let mut sibling = vec![NONE; self.unit_count()];
        let mut entered_at = vec![NONE; self.unit_count()];
        for (step, &unit) in order.iter().enumerate() {
            let start = found.neighbours.len();
            let now = step as u32;
            for (other, _) in self.neighbours(unit) {
                let other = place[other];
                if other > now {
                    entered_at[other as usize] = now;
                    found.neighbours.push(other);
                }
            }
            let mut child = last_child[step];
            while child != NONE {
                // The first entry of a child is this unit itself.
                for k in found.offsets[child as usize] + 1..found.offsets[child as usize + 1] {
                    let other = found.neighbours[k];
                    if entered_at[other as usize] != now {
                        entered_at[other as usize] = now;
                        found.neighbours.push(other);
                    }
                }
                child = sibling[child as usize];
            }
            let row = &mut found.neighbours[start..];
            if !accept(row.len()) {
                return None;
            }
            row.sort_unstable();
            if let Some(&next) = row.first() {
                sibling[step] = last_child[next as usize];
                last_child[next as usize] = now;
            }
            found.offsets.push(found.neighbours.len());
        }
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use crate::Graph;
    use crate::topology::Neighbours;

    #[test]
    fn rows_are_those_of_plain_elimination() {
        let graph = Graph::grid(5, 6, Neighbours::Eight);
        let order: Vec<usize> = (0..30).map(|k| k * 7 % 30).collect();
        let found = graph.symbolic(&order, 30).unwrap();
        let mut rows: Vec<BTreeSet<usize>> =
            (0..30).map(|unit| graph.neighbours(unit).map(|(other, _)| other).collect()).collect();
        let mut width = 0;
        for (step, &unit) in order.iter().enumerate() {
            let around = std::mem::take(&mut rows[unit]);
            for &a in &around {
                rows[a].extend(around.iter().copied());
                rows[a].retain(|&b| b != a && b != unit);
            }
            let row = found.neighbours(step);
            assert!(row.is_sorted());
            assert_eq!(row.iter().map(|&other| order[other as usize]).collect::<BTreeSet<_>>(), around);
            width = width.max(around.len());
        }
        assert!(graph.symbolic(&order, width).is_some() && graph.symbolic(&order, width - 1).is_none());
    }
}
