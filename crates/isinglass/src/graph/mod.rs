//! Structure without weights: which units are joined, and what follows from that alone.

mod builders;
mod components;
mod elimination;
mod lattice;
mod partial_three_tree;
pub(crate) mod peeling;
mod shrinking;
mod treewidth;

pub use builders::Neighbours;
pub use elimination::EliminationOrder;
pub(crate) use elimination::Symbolic;
pub use lattice::Lattice;
pub use treewidth::TreewidthBounds;

use crate::{Error, Result};

/// An undirected graph without self-edges or repeated edges, in compressed rows.
///
/// Edges are pairs (smaller, larger) in lexicographic order, which is the order of the weights of a
/// [`Machine`](crate::Machine) and of the edge moments of an answer.
///
/// # Example
/// ```
/// use isinglass::Graph;
/// let graph = Graph::new(4, [(2, 0), (0, 1), (3, 2)])?;
/// assert_eq!(graph.edges(), [(0, 1), (0, 2), (2, 3)]);
/// assert_eq!(graph.neighbours(2).map(|(unit, _edge)| unit).collect::<Vec<_>>(), [0, 3]);
/// assert_eq!(graph.edge_between(3, 2), Some(2));
/// # Ok::<(), isinglass::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Graph {
    units: usize,
    edges: Vec<(usize, usize)>,
    offsets: Vec<usize>,
    /// The neighbours of each unit in rising order, each with the number of the joining edge.
    adjacent: Vec<(u32, u32)>,
}

impl Graph {
    /// The largest number of units or edges (positions are stored in 32 bits).
    pub const MAX: usize = u32::MAX as usize;

    /// Builds a graph from its number of units and its edges, in any order and direction.
    ///
    /// # Errors
    /// A self-edge, a repeated edge or a position beyond the units, with the place in the list.
    pub fn new(units: usize, edges: impl IntoIterator<Item = (usize, usize)>) -> Result<Self> {
        let mut numbered = Vec::new();
        for (k, (a, b)) in edges.into_iter().enumerate() {
            let place = || format!("edge {k} ({a}, {b})");
            if a == b {
                return Err(Error::invalid(place(), "an edge cannot join a unit to itself"));
            }
            if a.max(b) >= units {
                let problem = format!("position {} is beyond the {units} units", a.max(b));
                return Err(Error::invalid(place(), problem));
            }
            numbered.push(((a.min(b), a.max(b)), k));
        }
        numbered.sort_unstable();
        for pair in numbered.windows(2) {
            if pair[0].0 == pair[1].0 {
                let ((a, b), second) = pair[1];
                let problem = format!("the same pair as edge {}; each pair may occur once", pair[0].1);
                return Err(Error::invalid(format!("edge {second} ({a}, {b})"), problem));
            }
        }
        Self::from_sorted(units, numbered.into_iter().map(|(pair, _)| pair).collect())
    }

    /// Builds a graph from edges that are valid, distinct and sorted.
    pub(crate) fn from_sorted(units: usize, edges: Vec<(usize, usize)>) -> Result<Self> {
        debug_assert!(edges.iter().all(|&(a, b)| a < b && b < units));
        debug_assert!(edges.windows(2).all(|pair| pair[0] < pair[1]));
        if units > Self::MAX || edges.len() > Self::MAX {
            let problem = format!("at most {} units and edges are supported", Self::MAX);
            return Err(Error::invalid("graph", problem));
        }
        let mut offsets = vec![0; units + 1];
        for &(a, b) in &edges {
            offsets[a + 1] += 1;
            offsets[b + 1] += 1;
        }
        for i in 0..units {
            offsets[i + 1] += offsets[i];
        }
        let mut next = offsets.clone();
        let mut adjacent = vec![(0, 0); 2 * edges.len()];
        let mut place = |unit: usize, other: usize, edge: usize| {
            adjacent[next[unit]] = (other as u32, edge as u32);
            next[unit] += 1;
        };
        // Edges are sorted, so smaller neighbours first and then larger ones gives sorted rows.
        edges.iter().enumerate().for_each(|(k, &(a, b))| place(b, a, k));
        edges.iter().enumerate().for_each(|(k, &(a, b))| place(a, b, k));
        Ok(Self { units, edges, offsets, adjacent })
    }

    /// The number of units.
    pub fn unit_count(&self) -> usize {
        self.units
    }

    /// All edges, smaller position first, in lexicographic order.
    pub fn edges(&self) -> &[(usize, usize)] {
        &self.edges
    }

    /// The number of neighbours of a unit.
    pub fn degree(&self, unit: usize) -> usize {
        self.offsets[unit + 1] - self.offsets[unit]
    }

    /// The neighbours of a unit in rising order, each with the number of the joining edge.
    pub fn neighbours(&self, unit: usize) -> impl ExactSizeIterator<Item = (usize, usize)> + '_ {
        self.row(unit).iter().map(|&(other, edge)| (other as usize, edge as usize))
    }

    fn row(&self, unit: usize) -> &[(u32, u32)] {
        &self.adjacent[self.offsets[unit]..self.offsets[unit + 1]]
    }

    /// The number of the edge between two units, if they are joined. `O(log degree)`.
    pub fn edge_between(&self, a: usize, b: usize) -> Option<usize> {
        let row = self.row(a);
        row.binary_search_by_key(&(b as u32), |&(other, _)| other).ok().map(|k| row[k].1 as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_what_is_not_a_simple_graph() {
        let message =
            |edges: &[(usize, usize)]| Graph::new(3, edges.iter().copied()).unwrap_err().to_string();
        assert_eq!(message(&[(0, 1), (2, 2)]), "edge 1 (2, 2): an edge cannot join a unit to itself");
        assert_eq!(message(&[(0, 3)]), "edge 0 (0, 3): position 3 is beyond the 3 units");
        assert_eq!(
            message(&[(0, 1), (1, 2), (1, 0)]),
            "edge 2 (0, 1): the same pair as edge 0; each pair may occur once"
        );
    }

    #[test]
    fn rows_are_sorted_and_agree_with_the_edge_list() {
        let graph = Graph::new(5, [(4, 1), (0, 4), (2, 4), (3, 4), (0, 1)]).unwrap();
        for unit in 0..5 {
            let row: Vec<_> = graph.neighbours(unit).collect();
            assert!(row.windows(2).all(|pair| pair[0].0 < pair[1].0));
            assert_eq!(row.len(), graph.degree(unit));
            for (other, edge) in row {
                assert_eq!(graph.edges()[edge], (unit.min(other), unit.max(other)));
                assert_eq!(graph.edge_between(unit, other), Some(edge));
            }
        }
        assert_eq!(graph.edge_between(0, 2), None);
    }
}
