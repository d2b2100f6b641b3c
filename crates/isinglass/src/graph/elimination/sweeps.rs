//! Sweeps: orders that move one front across a connected graph.
//!
//! The eliminated vertices are connected, so the neighbours at each step are the whole front,
//! and its length is all there is to count. On grids, ladders and other graphs with a long axis
//! these are the orders to beat.

use super::super::Graph;
use super::meter::{Chance, Meter};

/// Which vertex of the front goes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// The one that has waited longest (Cuthill & McKee 1969).
    Longest,
    /// The one that adds the fewest vertices to the front, among equals the longest waiting.
    Fewest,
    /// The one that adds the fewest, ties broken at random.
    FewestByChance,
}

/// The order of a sweep from a vertex of a connected graph; `None` where the meter stops it.
/// *Complexity*: edges, and vertices times the length of the front.
pub(super) fn sweep(
    graph: &Graph,
    start: usize,
    next: Next,
    chance: &mut Chance,
    meter: &mut Meter,
) -> Option<Vec<usize>> {
    let n = graph.unit_count();
    let mut reached = vec![false; n];
    let mut reached_around = vec![0u32; n];
    // Each vertex of the front with the number of its arrival.
    let mut front: Vec<(u32, u64)> = Vec::new();
    let mut arrivals = 0;
    let mut order = Vec::with_capacity(n.min(1 << 16));
    let mut arrive =
        |v: usize, front: &mut Vec<(u32, u64)>, reached_around: &mut [u32], chance: &mut Chance| {
            if reached[v] {
                return;
            }
            reached[v] = true;
            for (other, _) in graph.neighbours(v) {
                reached_around[other] += 1;
            }
            arrivals += 1;
            front.push((v as u32, if next == Next::FewestByChance { chance.next() } else { arrivals }));
        };
    arrive(start, &mut front, &mut reached_around, chance);
    while let Some(k) = (0..front.len()).min_by_key(|&k| {
        let (v, arrival) = front[k];
        let brings = graph.degree(v as usize) - reached_around[v as usize] as usize;
        (if next == Next::Longest { 0 } else { brings }, arrival)
    }) {
        let v = front.swap_remove(k).0 as usize;
        meter.work(2 * front.len() + 8);
        for (other, _) in graph.neighbours(v) {
            meter.work(graph.degree(other).min(8));
            arrive(other, &mut front, &mut reached_around, chance);
        }
        meter.step(front.len())?;
        order.push(v);
    }
    debug_assert_eq!(order.len(), n, "a sweep needs a connected graph");
    Some(order)
}

/// Distant vertices: the ends of a long path through a connected graph, and one far from both.
pub(super) fn corners(graph: &Graph, meter: &mut Meter) -> [usize; 3] {
    let mut end = 0;
    let mut distances = Vec::new();
    // Two rounds nearly always find an end (George & Liu 1979).
    for _ in 0..3 {
        distances = distances_from(graph, end, meter);
        end = farthest(graph, &distances);
    }
    let other_distances = distances_from(graph, end, meter);
    let other = farthest(graph, &other_distances);
    let both: Vec<u32> = distances.iter().zip(&other_distances).map(|(a, b)| *a.min(b)).collect();
    [end, other, farthest(graph, &both)]
}

/// The vertex at the largest distance, and of these one of least degree.
fn farthest(graph: &Graph, distances: &[u32]) -> usize {
    let key = |&v: &usize| (std::cmp::Reverse(distances[v]), graph.degree(v));
    (0..distances.len()).min_by_key(key).unwrap_or(0)
}

/// The distances of all vertices of a connected graph from one, in edges.
fn distances_from(graph: &Graph, start: usize, meter: &mut Meter) -> Vec<u32> {
    let mut distances = vec![u32::MAX; graph.unit_count()];
    distances[start] = 0;
    let mut queue = std::collections::VecDeque::from([start]);
    while let Some(v) = queue.pop_front() {
        for (other, _) in graph.neighbours(v) {
            if distances[other] == u32::MAX {
                distances[other] = distances[v] + 1;
                queue.push_back(other);
            }
        }
    }
    meter.work(graph.unit_count() + 2 * graph.edges().len());
    distances
}
