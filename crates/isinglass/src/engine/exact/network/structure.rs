//! What there is before a plan: the graph of the free units, and where its biases are.

use std::sync::Arc;

use crate::{Graph, Machine, Result};

/// The graph of the free units, and where its biases are.
pub(super) struct Structure {
    pub(super) graph: Arc<Graph>,
    /// The machine's edge for each of the graph's.
    pub(super) edges: Vec<u32>,
    /// Free units with a bias of their own, or with a clamped neighbour, as places.
    pub(super) own_bias: Vec<usize>,
}

impl Structure {
    pub(super) fn new(machine: &Machine, free: &[usize]) -> Result<Self> {
        let whole = machine.graph();
        let mut local = vec![usize::MAX; whole.units()];
        for (place, &unit) in free.iter().enumerate() {
            local[unit] = place;
        }
        let is_free = |unit: usize| local[unit] != usize::MAX;
        let all_free = free.len() == whole.units();
        let (graph, edges) = if all_free {
            (whole.clone(), (0..whole.edges().len() as u32).collect())
        } else {
            let joined = (0u32..).zip(whole.edges()).filter(|&(_, &(a, b))| is_free(a) && is_free(b));
            let (edges, pairs) = joined.map(|(edge, &(a, b))| (edge, (local[a], local[b]))).unzip();
            (Arc::new(Graph::from_sorted(free.len(), pairs)?), edges)
        };
        let has_bias = |&(_, &unit): &(usize, &usize)| {
            machine.biases()[unit] != 0.0
                || !all_free && whole.neighbours(unit).any(|(other, _)| !is_free(other))
        };
        let own_bias = free.iter().enumerate().filter(has_bias).map(|(place, _)| place).collect();
        Ok(Self { graph, edges, own_bias })
    }

    /// For each free unit, whether its mean may differ from 0: some unit of its connected part has a bias.
    pub(super) fn biased(&self) -> Vec<bool> {
        let n = self.graph.units();
        if self.own_bias.is_empty() || self.own_bias.len() == n {
            return vec![!self.own_bias.is_empty(); n];
        }
        let (part, count) = self.graph.components();
        let mut parts = vec![false; count];
        for &unit in &self.own_bias {
            parts[part[unit]] = true;
        }
        part.iter().map(|&part| parts[part]).collect()
    }
}
