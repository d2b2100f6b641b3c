//! Solves rows of evidence: what rows with the same free units share, the search for each, batches.

use super::Trw;
use super::descent::descend;
use super::growth::Grown;
use super::split::{Bound, Bounded, Split};
use super::subgraphs::{choose, estimated_count};
use crate::engine::exact::Structure;
use crate::engine::exact::digits::guarantee;
use crate::engine::fields::Fields;
use crate::engine::{Diagnostics, Guarantee, Iteration};
use crate::{Graph, Machine, Result};

/// Energies beyond this would overflow in sums and differences.
const SCALE: f64 = 1e280;

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
        engine.check()?;
        machine.check_scale(Trw::NAME, SCALE)?;
        check_room(engine, machine, free, threads)?;
        let structure = Structure::new(machine, free)?;
        let scaled = |&edge: &u32| machine.weights()[edge as usize] / machine.temperature();
        let weights: Vec<f64> = structure.edges.iter().map(scaled).collect();
        let strengths: Vec<f64> = weights.iter().map(|weight| weight.abs()).collect();
        let graph = &structure.graph;
        let chosen = choose(graph, engine.width, &strengths, engine.count(), engine.settings.seed);
        let bytes = Split::bytes(graph.unit_count(), graph.edges().len(), engine.width, chosen.len());
        engine.settings.budget.check(Trw::NAME, bytes * threads as u128, || {
            format!("a set of {} subgraphs of {} free units", chosen.len(), free.len())
        })?;
        let split = Split::new(graph, &structure.biased(), engine.width, &chosen)?;
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
            let whole = bound.start();
            return Ok((bound.at(&whole), Diagnostics::direct()));
        }
        let found = descend(bound, &self.engine.settings)?;
        let iteration =
            Iteration { sweeps: found.iterations, residual: found.residual, damping: 0.0, oscillated: false };
        Ok((bound.at(&found.split), Diagnostics::iterated(found.converged, iteration)))
    }
}

/// Checks the budget for so many threads, before subgraphs are chosen.
pub(super) fn check_room(engine: &Trw, machine: &Machine, free: &[usize], threads: usize) -> Result<()> {
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

    /// Returns the bytes of a row for the free units of a machine, about.
    pub(in crate::engine) fn bytes(&self, machine: &Machine, free: &[usize]) -> Result<u128> {
        Ok(self.bytes_of(&Structure::new(machine, free)?.graph))
    }

    fn bytes_of(&self, graph: &Graph) -> u128 {
        let (units, edges) = (graph.unit_count(), graph.edges().len());
        // A graph with more edges has a larger treewidth.
        let whole = edges <= units * self.width && graph.elimination_order(self.width).is_some();
        let subgraphs = if whole { 1 } else { estimated_count(units, edges, self.width, self.count()) };
        Split::bytes(units, edges, self.width, subgraphs)
    }
}
