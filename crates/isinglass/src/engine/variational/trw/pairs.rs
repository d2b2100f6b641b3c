//! All pair moments, including pairs without an edge: averages over the subgraphs.

use rayon::prelude::*;

use super::growth::Grown;
use super::solver::{Solved, Solver};
use crate::engine::expectations::{each_pair, packed_pair};
use crate::engine::{PairMoments, Pairs};
use crate::{Evidence, Result};

/// A field that exceeds all others on a unit by this clamps it.
const CERTAIN: f64 = 400.0;

impl Solver<'_> {
    /// Returns the moments of all pairs: of edges as solved, of other pairs averaged over the
    /// subgraphs.
    ///
    /// *Complexity*: a pass for each unit of each subgraph, on all cores.
    pub(super) fn all_pairs(&self, solved: &Solved, evidence: &Evidence) -> Result<PairMoments> {
        let (machine, free) = (self.machine, self.free);
        let n = machine.unit_count();
        let mut local = vec![usize::MAX; n];
        for (place, &unit) in free.iter().enumerate() {
            local[unit] = place;
        }
        // Subgraphs in order, so that sums are reproducible; the units of each on all cores.
        let mut sums = vec![0.0; free.len() * free.len().saturating_sub(1) / 2];
        let mut start = 0;
        for (grown, &share) in self.chosen.iter().zip(&solved.bounded.shares) {
            let numbers = grown.edges.len() + if self.split.has_fields() { free.len() } else { 0 };
            let part = &solved.bounded.parts[start..start + numbers];
            start += numbers;
            self.add_pairs(grown, part, share, &mut sums)?;
        }
        let mut values = Vec::with_capacity(PairMoments::count(Pairs::All, machine.graph()));
        each_pair(Pairs::All, machine.graph(), |a, b| {
            let clamped = evidence.get(a).is_some() || evidence.get(b).is_some();
            values.push(match machine.graph().edge_between(a, b) {
                Some(edge) => solved.moments[edge],
                None if clamped => solved.means[a] * solved.means[b],
                None => sums[packed_pair(free.len(), local[a], local[b])].clamp(-1.0, 1.0),
            });
        });
        Ok(PairMoments { pairs: Pairs::All, values })
    }

    /// Adds the moments of all pairs of free units in a subgraph, times its share.
    fn add_pairs(&self, grown: &Grown, part: &[f64], share: f64, sums: &mut [f64]) -> Result<()> {
        let n = self.free.len();
        let graph = &*self.structure.graph;
        // Units are clamped by a field, so all units need one.
        let network = grown.compiled(graph, &vec![true; n], self.engine.width)?;
        let (weights, fields) = part.split_at(grown.edges.len());
        let mut fields = fields.to_vec();
        fields.resize(n, 0.0);
        let mut pull: Vec<f64> = fields.iter().map(|field| CERTAIN + field.abs()).collect();
        for (&edge, weight) in grown.edges.iter().zip(weights) {
            let (a, b) = graph.edges()[edge];
            pull[a] += weight.abs();
            pull[b] += weight.abs();
        }
        let mut own = vec![0.0; n];
        let mut edges = vec![0.0; grown.edges.len()];
        network.run().solve((weights, &fields), (&mut edges, &mut own));
        let with_later = |(run, edges, means, fields): &mut (_, Vec<f64>, Vec<f64>, Vec<f64>),
                          unit: usize| {
            let run: &mut crate::engine::exact::Run<'_> = run;
            // ⟨s_i s_j⟩ = p ⟨s_j⟩₊ − (1 − p) ⟨s_j⟩₋ with p = P(s_i = +1), and ⟨s_j⟩ = p ⟨s_j⟩₊ + (1
            // − p) ⟨s_j⟩₋: the more probable value gives both.
            let s = if own[unit] < 0.0 { -1.0 } else { 1.0 };
            let before = std::mem::replace(&mut fields[unit], s * pull[unit]);
            run.solve((weights, fields), (edges, means));
            fields[unit] = before;
            let twice_p = 1.0 + own[unit].abs();
            let moment = |(given, own): (&f64, &f64)| s * (twice_p * given - own);
            means[unit + 1..].iter().zip(&own[unit + 1..]).map(moment).collect::<Vec<f64>>()
        };
        let room = || (network.run(), edges.clone(), own.clone(), fields.clone());
        let rows: Vec<Vec<f64>> = (0..n).into_par_iter().map_init(room, with_later).collect();
        for (sum, moment) in sums.iter_mut().zip(rows.iter().flatten()) {
            *sum += share * moment;
        }
        Ok(())
    }
}
