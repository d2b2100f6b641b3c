//! The rows of a graph that loses vertices and gains edges, near-linear in the number of changes.
//!
//! For a million vertices a second: one pool holds all rows; a lost vertex stays in the rows of
//! others until these are tidied; and whether two vertices are joined is looked up in the shorter
//! row, or in a hash set if both are long (unit 0, joined to all units, is the usual long row).

use hashbrown::HashSet;

use super::Graph;

/// A graph that loses vertices and gains edges.
pub(super) trait Rows {
    /// The work of looking up one vertex or pair: in large graphs, mostly waiting for memory.
    const LOOKUP: usize;
    /// The rows of a graph.
    fn of(graph: &Graph) -> Self;
    /// The number of neighbours.
    fn degree(&self, v: u32) -> usize;
    /// Appends the neighbours.
    fn extend_with_row(&mut self, v: u32, out: &mut Vec<u32>);
    /// Whether two vertices, neither of them lost, are joined.
    fn joined(&self, a: u32, b: u32) -> bool;
    /// Appends the common neighbours of two vertices; returns the work.
    fn extend_with_common(&mut self, a: u32, b: u32, out: &mut Vec<u32>) -> usize;
    /// Joins two vertices that are not joined.
    fn join(&mut self, a: u32, b: u32);
    /// Removes a vertex and its edges.
    fn lose(&mut self, v: u32);
}

/// Rows with at most this many entries (a cache line) are searched from end to end.
const SHORT: u32 = 16;

/// Where the row of a vertex lies in the pool.
#[derive(Debug, Clone, Copy)]
struct Vertex {
    start: usize,
    /// Entries in use, lost vertices among them.
    len: u32,
    room: u32,
    /// Entries that are not lost.
    degree: u32,
    lost: bool,
    /// Once long, always long.
    long: bool,
}

/// A graph that vertices are taken from.
#[derive(Debug)]
pub(super) struct ShrinkingRows {
    pool: Vec<u32>,
    vertices: Vec<Vertex>,
    /// The edges between long rows.
    long_pairs: HashSet<u64>,
}

impl ShrinkingRows {
    /// The rows of a graph, with one more vertex if `hub` names the units that it is joined to.
    pub(super) fn new(graph: &Graph, hub: Option<&[usize]>) -> Self {
        let units = graph.unit_count();
        let zero = units as u32;
        let mut at_hub = vec![false; if hub.is_some() { units } else { 0 }];
        for &unit in hub.unwrap_or_default() {
            at_hub[unit] = true;
        }
        let joined_to_hub = |unit: usize| at_hub.get(unit).copied().unwrap_or(false);
        let mut pool = Vec::with_capacity(2 * graph.edges().len() + 2 * at_hub.len());
        let mut vertices = Vec::with_capacity(units + 1);
        let mut finish = |start: usize, end: usize| {
            let len = (end - start) as u32;
            vertices.push(Vertex { start, len, room: len, degree: len, lost: false, long: len > SHORT });
        };
        for unit in 0..units {
            let start = pool.len();
            pool.extend(graph.neighbours(unit).map(|(other, _)| other as u32));
            pool.extend(joined_to_hub(unit).then_some(zero));
            finish(start, pool.len());
        }
        if hub.is_some() {
            let start = pool.len();
            pool.extend((0..zero).filter(|&unit| joined_to_hub(unit as usize)));
            finish(start, pool.len());
        }
        let mut rows = Self { pool, vertices, long_pairs: HashSet::new() };
        for v in 0..rows.vertices.len() {
            if rows.vertices[v].long {
                rows.enter_long_pairs(v as u32);
            }
        }
        rows
    }

    /// How many vertices there were at first.
    pub(super) fn len(&self) -> usize {
        self.vertices.len()
    }

    pub(super) fn is_lost(&self, v: u32) -> bool {
        self.vertices[v as usize].lost
    }

    /// The row of a vertex, in no particular order, free of lost vertices.
    pub(super) fn row(&mut self, v: u32) -> &[u32] {
        self.tidy(v);
        self.entries(v)
    }

    fn entries(&self, v: u32) -> &[u32] {
        let Vertex { start, len, .. } = self.vertices[v as usize];
        &self.pool[start..start + len as usize]
    }

    /// Drops lost vertices from a row. All tidying costs no more than all entering.
    fn tidy(&mut self, v: u32) {
        let Vertex { start, len, degree, .. } = self.vertices[v as usize];
        if len == degree {
            return;
        }
        let mut kept = start;
        for k in start..start + len as usize {
            let other = self.pool[k];
            if !self.vertices[other as usize].lost {
                self.pool[kept] = other;
                kept += 1;
            }
        }
        self.vertices[v as usize].len = (kept - start) as u32;
        debug_assert_eq!(kept - start, degree as usize);
    }

    fn push(&mut self, v: u32, other: u32) {
        if self.vertices[v as usize].len == self.vertices[v as usize].room {
            self.tidy(v);
            let Vertex { start, len, room, .. } = self.vertices[v as usize];
            // Unless half of the row is free now, tidying would come again too soon.
            if 2 * len >= room {
                let room = (2 * len).max(4);
                let moved = self.pool.len();
                self.pool.extend_from_within(start..start + len as usize);
                self.pool.resize(moved + room as usize, 0);
                (self.vertices[v as usize].start, self.vertices[v as usize].room) = (moved, room);
            }
        }
        let vertex = &mut self.vertices[v as usize];
        self.pool[vertex.start + vertex.len as usize] = other;
        vertex.len += 1;
        vertex.degree += 1;
        if vertex.len > SHORT && !vertex.long {
            vertex.long = true;
            self.enter_long_pairs(v);
        }
    }

    fn enter_long_pairs(&mut self, v: u32) {
        let Vertex { start, len, .. } = self.vertices[v as usize];
        for k in start..start + len as usize {
            let other = self.pool[k];
            if self.vertices[other as usize].long {
                self.long_pairs.insert(pair(v, other));
            }
        }
    }
}

impl Rows for ShrinkingRows {
    const LOOKUP: usize = 8;

    fn of(graph: &Graph) -> Self {
        Self::new(graph, None)
    }

    fn degree(&self, v: u32) -> usize {
        self.vertices[v as usize].degree as usize
    }

    fn extend_with_row(&mut self, v: u32, out: &mut Vec<u32>) {
        out.extend_from_slice(self.row(v));
    }

    fn joined(&self, a: u32, b: u32) -> bool {
        let (first, second) = (self.vertices[a as usize], self.vertices[b as usize]);
        if first.long && second.long {
            self.long_pairs.contains(&pair(a, b))
        } else if second.long || (!first.long && first.len <= second.len) {
            self.entries(a).contains(&b)
        } else {
            self.entries(b).contains(&a)
        }
    }

    fn extend_with_common(&mut self, a: u32, b: u32, out: &mut Vec<u32>) -> usize {
        let (few, other) = if self.degree(a) <= self.degree(b) { (a, b) } else { (b, a) };
        let start = out.len();
        out.extend_from_slice(self.row(few));
        let mut kept = start;
        for k in start..out.len() {
            if out[k] != other && self.joined(out[k], other) {
                out[kept] = out[k];
                kept += 1;
            }
        }
        let looked_at = out.len() - start;
        out.truncate(kept);
        Self::LOOKUP * looked_at
    }

    fn join(&mut self, a: u32, b: u32) {
        debug_assert!(!self.joined(a, b));
        self.push(a, b);
        self.push(b, a);
        if self.vertices[a as usize].long && self.vertices[b as usize].long {
            self.long_pairs.insert(pair(a, b));
        }
    }

    fn lose(&mut self, v: u32) {
        self.tidy(v);
        let Vertex { start, len, .. } = self.vertices[v as usize];
        for k in start..start + len as usize {
            self.vertices[self.pool[k] as usize].degree -= 1;
        }
        let vertex = &mut self.vertices[v as usize];
        (vertex.len, vertex.degree, vertex.lost) = (0, 0, true);
    }
}

/// A pair of vertices, in either order, as one key.
pub(super) fn pair(a: u32, b: u32) -> u64 {
    u64::from(a.min(b)) << 32 | u64::from(a.max(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_follow_losses_and_new_edges() {
        let mut rows = ShrinkingRows::new(&Graph::chain(100), Some(&(0..100).collect::<Vec<_>>()));
        assert_eq!((rows.len(), rows.degree(100), rows.degree(5)), (101, 100, 3));
        assert!(rows.joined(100, 7) && rows.joined(7, 8) && !rows.joined(7, 9));
        rows.lose(8);
        rows.join(7, 9);
        assert!(rows.joined(9, 7) && rows.is_lost(8) && rows.degree(100) == 99);
        assert!(!rows.row(100).contains(&8) && rows.row(7) == [6, 100, 9]);
        // Row 50 becomes long, and its edge with row 100 is then found by hash alone.
        for other in (0..40).filter(|&other| other != 8) {
            rows.join(50, other);
        }
        assert!(rows.joined(50, 100) && rows.joined(100, 50) && rows.joined(50, 3) && !rows.joined(50, 60));
        assert_eq!(rows.degree(50), 42);
    }
}
