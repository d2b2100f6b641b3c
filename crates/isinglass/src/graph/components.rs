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
        const UNSEEN: usize = usize::MAX;
        let mut component = vec![UNSEEN; self.unit_count()];
        let mut count = 0;
        let mut open = Vec::new();
        for start in 0..self.unit_count() {
            if component[start] != UNSEEN {
                continue;
            }
            component[start] = count;
            open.push(start);
            while let Some(unit) = open.pop() {
                for (other, _) in self.neighbours(unit) {
                    if component[other] == UNSEEN {
                        component[other] = count;
                        open.push(other);
                    }
                }
            }
            count += 1;
        }
        (component, count)
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
