//! Builders of the usual structures.

use super::Graph;

/// Which cells of a grid are neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Neighbours {
    /// Left, right, up, down.
    Four,
    /// The four, and the diagonals.
    Eight,
}

impl Graph {
    /// Each unit joined with the next.
    pub fn chain(units: usize) -> Self {
        Self::sorted(units, (1..units).map(|k| (k - 1, k)).collect())
    }

    /// A balanced tree in which each unit has up to `branching` children, in the order of a heap.
    pub fn tree(units: usize, branching: usize) -> Self {
        let branching = branching.max(1);
        Self::sorted(units, (1..units).map(|k| ((k - 1) / branching, k)).collect())
    }

    /// A lattice, row by row.
    pub fn grid(rows: usize, columns: usize, neighbours: Neighbours) -> Self {
        let mut edges = Vec::new();
        for here in 0..rows * columns {
            let (row, column, below) = (here / columns, here % columns, here + columns);
            let (has_right, has_below) = (column + 1 < columns, row + 1 < rows);
            let diagonal = has_below && neighbours == Neighbours::Eight;
            edges.extend(has_right.then_some((here, here + 1)));
            edges.extend((diagonal && column > 0).then(|| (here, below - 1)));
            edges.extend(has_below.then_some((here, below)));
            edges.extend((diagonal && has_right).then_some((here, below + 1)));
        }
        Self::sorted(rows * columns, edges)
    }

    /// Every unit joined with every other.
    pub fn full(units: usize) -> Self {
        let edges = (0..units).flat_map(|a| (a + 1..units).map(move |b| (a, b))).collect();
        Self::sorted(units, edges)
    }

    fn sorted(units: usize, mut edges: Vec<(usize, usize)>) -> Self {
        edges.sort_unstable();
        // Pairs are distinct, smaller first; only more than 2³² of them could fail.
        Self::from_sorted(units, edges).expect("a builder's edges form a graph")
    }
}
