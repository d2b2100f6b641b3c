//! The graph of the free units, and where its biases are.

use std::sync::Arc;

use super::plan::{Blueprint, Form, Plan};
use crate::graph::Symbolic;
use crate::{Graph, Machine, Result};

/// The graph of the free units, and where its biases are.
pub(in crate::engine) struct Structure {
    pub(in crate::engine) graph: Arc<Graph>,
    /// The machine's edge for each of the graph's.
    pub(in crate::engine) edges: Vec<u32>,
    /// Free units with a bias of their own, or with a clamped neighbour, as places.
    pub(super) own_bias: Vec<usize>,
}

impl Structure {
    pub(in crate::engine) fn new(machine: &Machine, free: &[usize]) -> Result<Self> {
        let whole = machine.graph();
        let mut local = vec![usize::MAX; whole.unit_count()];
        for (place, &unit) in free.iter().enumerate() {
            local[unit] = place;
        }
        let is_free = |unit: usize| local[unit] != usize::MAX;
        let all_free = free.len() == whole.unit_count();
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

    /// The plan for an order with its steps; the machine's unit of each of the graph's is given.
    pub(super) fn plan(&self, free: &[usize], order: &[usize], steps: &Symbolic, form: Form) -> Plan {
        Plan::compile(Blueprint {
            graph: &self.graph,
            free,
            edges: &self.edges,
            biased: &self.biased(),
            order,
            steps,
            form,
        })
    }

    /// Whether units with successive numbers have neighbours far apart, in a sample of pairs.
    pub(super) fn is_scattered(&self) -> bool {
        const SAMPLE: usize = 4096;
        const NEAR: usize = 64;
        let first = |unit: usize| self.graph.neighbours(unit).next().map(|(other, _)| other);
        let n = self.graph.unit_count();
        let (mut near, mut far) = (0usize, 0usize);
        for unit in (1..n).step_by((n / SAMPLE).max(1)) {
            if let (Some(a), Some(b)) = (first(unit - 1), first(unit)) {
                if a.abs_diff(b) <= NEAR { near += 1 } else { far += 1 }
            }
        }
        far > near
    }

    /// The same with units numbered depth first, and the previous number of each: neighbours are
    /// then close in memory, so that passes through a large graph do not wait for it.
    pub(super) fn renumbered(&self) -> Result<(Self, Vec<usize>)> {
        let before = self.graph.depth_first();
        let mut now = vec![0; before.len()];
        for (number, &unit) in before.iter().enumerate() {
            now[unit] = number;
        }
        let count = self.graph.edges().len();
        let (mut pairs, mut edges) = (Vec::with_capacity(count), Vec::with_capacity(count));
        let mut row: Vec<(usize, usize)> = Vec::new();
        for (number, &unit) in before.iter().enumerate() {
            row.clear();
            let later = self.graph.neighbours(unit).map(|(other, edge)| (now[other], edge));
            row.extend(later.filter(|&(other, _)| other > number));
            row.sort_unstable();
            for &(other, edge) in &row {
                pairs.push((number, other));
                edges.push(self.edges[edge]);
            }
        }
        let graph = Arc::new(Graph::from_sorted(before.len(), pairs)?);
        let own_bias = self.own_bias.iter().map(|&unit| now[unit]).collect();
        Ok((Self { graph, edges, own_bias }, before))
    }

    /// For each free unit, whether its component has a bias, so that its mean may differ from 0.
    pub(in crate::engine) fn biased(&self) -> Vec<bool> {
        let n = self.graph.unit_count();
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
