//! Solves rows of evidence: what rows with the same free units share, the search for each, batches.

use super::super::couplings::places;
use super::super::{check_statistics, record};
use rayon::prelude::*;

use super::Trw;
use super::descent::descend;
use super::gaussian::Gaussian;
use super::split::{Bound, Bounded, Split};
use super::subgraphs::{Grown, choose, estimated_count};
use crate::engine::exact::digits::guarantee;
use crate::engine::exact::{Run, Structure};
use crate::engine::expectations::{each_pair, packed_pair};
use crate::engine::fields::Fields;
use crate::engine::parts::solve_in_parts;
use crate::engine::{Ask, BatchExpectations, Diagnostics, Guarantee, Iteration, PairMoments, Pairs};
use crate::settings::Settings;
use crate::table::{Batch, Group};
use crate::{Evidence, Graph, Machine, Result};

/// Energies beyond this would overflow in sums and differences.
const SCALE: f64 = 1e280;

/// The cost of a unit in eight rows, over all iterations, in about nanoseconds.
const UNIT_COST: f64 = 1e7;

/// A field that exceeds all others on a unit by this clamps it.
const CERTAIN: f64 = 400.0;

/// Solves rows with the same free units.
pub(super) struct Solver<'a> {
    pub(super) engine: &'a Trw,
    pub(super) machine: &'a Machine,
    pub(super) free: &'a [usize],
    pub(super) structure: Structure,
    /// Weights of the edges between free units, divided by T.
    weights: Vec<f64>,
    pub(super) chosen: Vec<Grown>,
    pub(super) split: Split,
}

/// A row with its bound.
pub(super) struct Solved {
    pub(super) log_z: f64,
    /// ⟨s_i⟩ of every unit of the machine.
    pub(super) means: Vec<f64>,
    /// ⟨s_i s_j⟩ of every edge of the machine.
    pub(super) moments: Vec<f64>,
    pub(super) diagnostics: Diagnostics,
    /// The split that attains the bound.
    pub(super) bounded: Bounded,
}

impl<'a> Solver<'a> {
    /// Prepares the rows of a machine with these free units.
    ///
    /// # Errors
    /// Invalid settings, numbers too large, or not enough budget for so many threads.
    pub(super) fn new(
        engine: &'a Trw,
        machine: &'a Machine,
        free: &'a [usize],
        threads: usize,
    ) -> Result<Self> {
        engine.validate()?;
        machine.check_scale(Trw::NAME, SCALE)?;
        check_memory(engine, machine, free, threads)?;
        let structure = Structure::new(machine, free)?;
        let scaled = |&edge: &u32| machine.weights()[edge as usize] / machine.temperature();
        let weights: Vec<f64> = structure.edges.iter().map(scaled).collect();
        let strengths: Vec<f64> = weights.iter().map(|weight| weight.abs()).collect();
        let graph = &structure.graph;
        let chosen = choose(graph, engine.width, &strengths, engine.count(), engine.settings.seed);
        let bytes = engine.bytes_with(graph, chosen.len());
        engine.settings.budget.check(Trw::NAME, bytes * threads as u128, || {
            format!("a set of {} subgraphs of {} free units", chosen.len(), free.len())
        })?;
        let mut split = Split::new(graph, &structure.biased(), engine.width, &chosen)?;
        if engine.settings.with_logdet && chosen.len() > 1 {
            split = split.with_gaussian(graph);
        }
        Ok(Self { engine, machine, free, structure, weights, chosen, split })
    }

    /// Returns whether one subgraph holds all edges.
    pub(super) fn is_exact(&self) -> bool {
        self.split.subgraphs() == 1
    }

    /// Returns the kind of answer: where numbers are too large for nine digits, it is not a bound.
    pub(super) fn guarantee(&self, units: impl IntoIterator<Item = usize>) -> Guarantee {
        match guarantee(self.machine, units) {
            Guarantee::Exact if !self.is_exact() => Guarantee::UpperBound,
            other => other,
        }
    }

    /// Solves a row.
    pub(super) fn solve(&self, bound: &mut Bound<'_>, cells: &[i8]) -> Result<Solved> {
        let Self { machine, free, .. } = *self;
        let Fields { free: fields, shifts: [shift], values } = Fields::<1>::new(machine, free, &[cells]);
        bound.load(&self.weights, fields.iter().map(|&[field]| field));
        let (bounded, diagnostics) = self.search(bound)?;

        let mut means: Vec<f64> = values.into_iter().map(|[value]| value).collect();
        let (by_edge, by_unit) = bounded.moments.split_at(self.weights.len());
        for (&unit, &mean) in free.iter().zip(by_unit) {
            means[unit] = mean;
        }
        let product = |&(a, b): &(usize, usize)| means[a] * means[b];
        let mut moments: Vec<f64> = machine.graph().edges().iter().map(product).collect();
        for (&edge, &moment) in self.structure.edges.iter().zip(by_edge) {
            moments[edge as usize] = moment;
        }
        Ok(Solved { log_z: bounded.value + shift, means, moments, diagnostics, bounded })
    }

    fn search(&self, bound: &mut Bound<'_>) -> Result<(Bounded, Diagnostics)> {
        if self.is_exact() {
            let whole = bound.start()?;
            return Ok((bound.at(&whole)?, Diagnostics::direct()));
        }
        let found = descend(bound, &self.engine.settings)?;
        let iteration =
            Iteration { sweeps: found.iterations, residual: found.residual, damping: 0.0, oscillated: false };
        Ok((bound.at(&found.split)?, Diagnostics::iterated(found.converged, iteration)))
    }
}

impl Solver<'_> {
    /// Returns the moments of edges as solved, of other pairs averaged over the subgraphs.
    ///
    /// *Complexity*: a pass for each unit of each subgraph, on all cores.
    pub(super) fn all_pairs(&self, solved: &Solved, evidence: &Evidence) -> Result<PairMoments> {
        let (machine, free) = (self.machine, self.free);
        let local = places(machine, free);
        // Subgraphs in order, so that sums are reproducible; the units of each on all cores.
        let mut sums = vec![0.0; free.len() * free.len().saturating_sub(1) / 2];
        let mut start = 0;
        // A Gaussian has no part in pairs without an edge.
        let total: f64 = solved.bounded.shares[..self.chosen.len()].iter().sum();
        for (grown, &share) in self.chosen.iter().zip(&solved.bounded.shares) {
            let numbers = grown.edges.len() + if self.split.has_fields() { free.len() } else { 0 };
            let part = &solved.bounded.parts[start..start + numbers];
            start += numbers;
            self.add_pairs(grown, part, share / total, &mut sums)?;
        }
        let mut values = Vec::with_capacity(PairMoments::count(Pairs::All, machine.graph()));
        each_pair(Pairs::All, machine.graph(), |a, b| {
            let clamped = evidence.get(a).is_some() || evidence.get(b).is_some();
            values.push(match machine.graph().edge_between(a, b) {
                Some(edge) => solved.moments[edge],
                None if clamped => solved.means[a] * solved.means[b],
                None => sums[packed_pair(free.len(), local[a] as usize, local[b] as usize)].clamp(-1.0, 1.0),
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
            let run: &mut Run<'_> = run;
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
        let buffers = || (network.run(), edges.clone(), own.clone(), fields.clone());
        let rows: Vec<Vec<f64>> = (0..n).into_par_iter().map_init(buffers, with_later).collect();
        for (sum, moment) in sums.iter_mut().zip(rows.iter().flatten()) {
            *sum += share * moment;
        }
        Ok(())
    }
}

/// Solves all rows of a batch, each independent of the others.
pub(super) fn solve_batch(
    engine: &Trw,
    machine: &Machine,
    batch: &Batch,
    ask: Ask,
) -> Result<BatchExpectations> {
    engine.validate()?;
    check_statistics(Trw::NAME, engine.settings.budget, machine, ask)?;
    let threads = rayon::current_num_threads();
    for group in batch.groups() {
        check_memory(engine, machine, &group.free, threads)?;
    }
    let cost = |_: usize, group: &Group| group.free.len() as f64 * UNIT_COST;
    solve_in_parts(machine, batch, ask, cost, |pieces, part| {
        for piece in pieces {
            let solver = Solver::new(engine, machine, &batch.groups()[piece.group].free, threads)?;
            // Differences between rows matter, so the terms of clamped units count as well.
            part.guarantee = part.guarantee.and(solver.guarantee(0..machine.unit_count()));
            let mut bound = Bound::new(&solver.split);
            for row in piece.rows.clone() {
                let Solved { log_z, means, moments, diagnostics, .. } =
                    solver.solve(&mut bound, batch.row(row))?;
                record(part, ask, batch.weights()[row], (log_z, diagnostics), (means, &moments));
            }
        }
        Ok(())
    })
}

/// Checks the budget for so many threads, before subgraphs are chosen.
fn check_memory(engine: &Trw, machine: &Machine, free: &[usize], threads: usize) -> Result<()> {
    let structure = Structure::new(machine, free)?;
    let bytes = engine.bytes_of(&structure.graph) * threads as u128;
    engine.settings.budget.check(Trw::NAME, bytes, || {
        let rows = if threads == 1 { String::new() } else { format!(", {threads} times at once,") };
        format!("a set of subgraphs of {} free units{rows}", free.len())
    })
}

impl Trw {
    /// Returns the least number of subgraphs, unless one holds all edges.
    fn count(&self) -> usize {
        self.subgraphs.unwrap_or(Self::SUBGRAPHS)
    }

    /// Estimates the bytes of a row for the free units of a machine.
    pub(in crate::engine) fn bytes(&self, machine: &Machine, free: &[usize]) -> Result<u128> {
        Ok(self.bytes_of(&Structure::new(machine, free)?.graph))
    }

    fn bytes_of(&self, graph: &Graph) -> u128 {
        let (units, edges) = (graph.unit_count(), graph.edges().len());
        // A graph with more edges has a larger treewidth.
        let whole = edges <= units * self.width && graph.elimination_order(self.width).is_some();
        let subgraphs = if whole { 1 } else { estimated_count(units, edges, self.width, self.count()) };
        self.bytes_with(graph, subgraphs)
    }

    /// The bytes of a row with so many subgraphs.
    fn bytes_with(&self, graph: &Graph, subgraphs: usize) -> u128 {
        let (units, edges) = (graph.unit_count(), graph.edges().len());
        let has_gaussian = self.settings.with_logdet && subgraphs > 1;
        let gaussian = if has_gaussian { Gaussian::bytes(units) } else { 0 };
        Split::bytes(units, edges, self.width, subgraphs + usize::from(has_gaussian)) + gaussian
    }
}
