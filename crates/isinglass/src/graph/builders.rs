//! Builders of the usual structures.

use super::Graph;

/// How far a cell of a grid reaches.
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
        for row in 0..rows {
            for column in 0..columns {
                let here = row * columns + column;
                if column + 1 < columns {
                    edges.push((here, here + 1));
                }
                if row + 1 < rows {
                    let below = here + columns;
                    if neighbours == Neighbours::Eight && column > 0 {
                        edges.push((here, below - 1));
                    }
                    edges.push((here, below));
                    if neighbours == Neighbours::Eight && column + 1 < columns {
                        edges.push((here, below + 1));
                    }
                }
            }
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
        // The builders list each pair once, smaller first; only a graph beyond 2³² could fail, and
        // memory ends before.
        Self::from_sorted(units, edges).expect("a builder's edges form a graph")
    }
}
