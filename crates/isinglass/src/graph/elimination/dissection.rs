//! Nested dissection: small separators go last.
//!
//! George 1973, "Nested dissection of a regular finite element mesh". A part is split by the
//! smallest of the middle levels of a breadth-first search from one of its ends, recursively.

use super::super::Graph;
use super::meter::Meter;

/// The deepest nesting; more would need parts beyond any graph that fits.
const DEPTH: u8 = 40;

/// Parts of at most this many vertices are not split.
const SMALL: usize = 24;

/// For each vertex, a stage: separators have higher stages than what they separate, others stage 0.
/// `None` where the meter stops it.
///
/// *Complexity*: near-linear, vertices and edges once for each level of nesting.
pub(super) fn stages(graph: &Graph, meter: &mut Meter) -> Option<Vec<u8>> {
    let mut split = Split {
        graph,
        part: vec![0; graph.unit_count()],
        level: vec![u32::MAX; graph.unit_count()],
        queue: Vec::new(),
    };
    let mut stages = vec![0; graph.unit_count()];
    let mut open: Vec<(Vec<u32>, u8)> = vec![((0..graph.unit_count() as u32).collect(), 0)];
    let mut parts = 0;
    while let Some((vertices, depth)) = open.pop() {
        if vertices.len() <= SMALL || depth == DEPTH {
            continue;
        }
        meter.check()?;
        parts += 1;
        for &v in &vertices {
            split.part[v as usize] = parts;
        }
        let end = split.search(vertices[0], meter);
        split.search(end, meter);
        // The part may be disconnected: what was not reached is a part of its own.
        if split.queue.len() < vertices.len() {
            let (inside, outside) = vertices.iter().partition(|&&v| split.level[v as usize] != u32::MAX);
            split.reset();
            open.extend([(inside, depth), (outside, depth)]);
            continue;
        }
        let separator = split.middle_level();
        let side = |wanted: std::cmp::Ordering| -> Vec<u32> {
            let level = |&v: &u32| split.level[v as usize].cmp(&separator) == wanted;
            split.queue.iter().copied().filter(level).collect()
        };
        let (below, above) = (side(std::cmp::Ordering::Less), side(std::cmp::Ordering::Greater));
        for v in side(std::cmp::Ordering::Equal) {
            stages[v as usize] = DEPTH - depth;
        }
        split.reset();
        open.extend([(below, depth + 1), (above, depth + 1)]);
    }
    Some(stages)
}

struct Split<'a> {
    graph: &'a Graph,
    part: Vec<u32>,
    level: Vec<u32>,
    queue: Vec<u32>,
}

impl Split<'_> {
    /// Finds the levels around a vertex within its part; returns a vertex of the last level.
    fn search(&mut self, start: u32, meter: &mut Meter) -> u32 {
        self.reset();
        self.level[start as usize] = 0;
        self.queue.push(start);
        let mut k = 0;
        while k < self.queue.len() {
            let v = self.queue[k] as usize;
            k += 1;
            meter.work(16 + 4 * self.graph.degree(v));
            for (other, _) in self.graph.neighbours(v) {
                if self.part[other] == self.part[v] && self.level[other] == u32::MAX {
                    self.level[other] = self.level[v] + 1;
                    self.queue.push(other as u32);
                }
            }
        }
        self.queue[k - 1]
    }

    fn reset(&mut self) {
        for &v in &self.queue {
            self.level[v as usize] = u32::MAX;
        }
        self.queue.clear();
    }

    /// The smallest level with at least a quarter of the part on either side, else the middle one.
    fn middle_level(&self) -> u32 {
        let total = self.queue.len();
        let mut best = (usize::MAX, self.queue.get(total / 2).map_or(0, |&v| self.level[v as usize]));
        let mut start = 0;
        while start < total {
            let level = self.level[self.queue[start] as usize];
            let size = self.queue[start..].iter().take_while(|&&v| self.level[v as usize] == level).count();
            let end = start + size;
            if 4 * start >= total && 4 * (total - end) >= total && size < best.0 {
                best = (size, level);
            }
            start = end;
        }
        best.1
    }
}
