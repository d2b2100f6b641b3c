//! Connected components.

use super::Graph;

impl Graph {
    /// The component of each unit, numbered in the order of first units, and how many there are.
    ///
    /// # Example
    /// ```
    /// use isinglass::Graph;
    /// let (component, count) = Graph::new(4, [(0, 2)])?.components();
    /// assert_eq!((component, count), (vec![0, 1, 0, 2], 3));
    /// # Ok::<(), isinglass::Error>(())
    /// ```
    pub fn components(&self) -> (Vec<usize>, usize) {
        let (order, starts) = self.breadth_first();
        let mut component = vec![0; self.unit_count()];
        for (number, &start) in starts.iter().enumerate() {
            let end = starts.get(number + 1).copied().unwrap_or(order.len());
            order[start..end].iter().for_each(|&unit| component[unit] = number);
        }
        (component, starts.len())
    }

    /// All units, each component breadth first from its first unit; where each component starts.
    pub(super) fn breadth_first(&self) -> (Vec<usize>, Vec<usize>) {
        let (mut order, mut starts) = (Vec::with_capacity(self.unit_count()), Vec::new());
        let mut seen = vec![false; self.unit_count()];
        let mut next = 0;
        for start in 0..self.unit_count() {
            if !std::mem::replace(&mut seen[start], true) {
                starts.push(order.len());
                order.push(start);
            }
            while let Some(&unit) = order.get(next) {
                let around = self.neighbours(unit).map(|(other, _)| other);
                order.extend(around.filter(|&other| !std::mem::replace(&mut seen[other], true)));
                next += 1;
            }
        }
        (order, starts)
    }

    /// All units, each component depth first from its first unit.
    pub(crate) fn depth_first(&self) -> Vec<usize> {
        let mut order = Vec::with_capacity(self.unit_count());
        let mut seen = vec![false; self.unit_count()];
        let mut open = Vec::new();
        for start in 0..self.unit_count() {
            open.push(start);
            while let Some(unit) = open.pop() {
                if !std::mem::replace(&mut seen[unit], true) {
                    order.push(unit);
                    open.extend(self.neighbours(unit).map(|(other, _)| other).filter(|&other| !seen[other]));
                }
            }
        }
        order
    }
}
