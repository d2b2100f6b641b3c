//! Expectations of mean field and TAP, with or without linear response.

use std::cell::OnceCell;

use super::couplings::{Couplings, Pair};
use super::panel::Panel;
use super::response::{self, Curvature, Plan};
use super::search::{Found, Search};
use super::{Theory, VariationalSettings};
use crate::engine::expectations::packed_pair;
use crate::engine::parts::{Part, solve_in_parts, statistics_bytes};
use crate::engine::{Ask, BatchExpectations, Diagnostics, Expectations, Guarantee, PairMoments, Pairs};
use crate::optimize::memory::dot;
use crate::table::{Batch, Group};
use crate::{Error, Evidence, Machine, Result};

/// An engine's request: what to compute, and under which name.
#[derive(Clone, Copy)]
pub(super) struct Solver {
    pub(super) engine: &'static str,
    pub(super) theory: Theory,
    /// Whether pair moments come from the linear response of the means.
    pub(super) response: bool,
    pub(super) settings: VariationalSettings,
}

/// Energies divided by T beyond this would overflow when squared.
pub(super) const SCALE: f64 = 1e150;

/// Sweeps assumed for a search when work is distributed.
const USUAL_SWEEPS: f64 = 30.0;

impl Solver {
    fn couplings(self, machine: &Machine, free: &[usize]) -> Couplings {
        Couplings::new(machine, free, self.theory == Theory::Tap)
    }

    /// Searches the fixed points of a panel.
    ///
    /// # Errors
    /// [`Error::ImpossibleLogZ`] where TAP's −F is no possible log Z; mean field's is a bound itself.
    fn search(
        self,
        machine: &Machine,
        couplings: &Couplings,
        panel: &Panel,
        free: &[usize],
    ) -> Result<Found> {
        let Self { theory, ref settings, .. } = self;
        let search = Search { theory, couplings, panel, free, settings, temperature: machine.temperature() };
        let found = search.best();
        if theory == Theory::Tap && !couplings.are_none() {
            let rows = search.limits().into_iter().zip(&found.log_z).zip(&panel.shifts);
            for ((limits, log_z), shift) in rows {
                limits.shifted(*shift).check(self.engine, log_z + shift)?;
            }
        }
        Ok(found)
    }

    /// Returns the bytes of couplings and panel for so many rows.
    fn bytes(self, machine: &Machine, free: usize, rows: usize) -> u128 {
        Couplings::bytes(free, machine.graph().edges().len(), self.theory == Theory::Tap)
            + Panel::bytes(machine.unit_count(), free, rows)
    }

    /// Returns expectations under one evidence.
    pub(super) fn single(self, machine: &Machine, evidence: &Evidence, pairs: Pairs) -> Result<Expectations> {
        machine.check_evidence(evidence)?;
        self.check(machine)?;
        let free: Vec<usize> = evidence.free().collect();
        let all_responses = self.response && pairs == Pairs::All;
        let bytes = self.bytes(machine, free.len(), 1)
            + 8 * PairMoments::count(pairs, machine.graph()) as u128
            + if all_responses { 32 * (free.len() as u128).pow(2) } else { 0 };
        self.check_memory(bytes, free.len())?;
        let couplings = self.couplings(machine, &free);
        let mut panel = Panel::new(machine, &free, &[evidence.cells()]);
        let found = self.search(machine, &couplings, &panel, &free)?;
        panel.insert(&free, &found.means);
        let means = panel.values;
        let mut correlations = PairMoments::collect(pairs, machine.graph(), |a, b| means[a] * means[b]);
        let moments = &mut correlations.values;
        let units = machine.unit_count();
        if all_responses {
            let curvature = Curvature::new(self.theory, &couplings, &found.means, 1);
            response::add_to_all_pairs(self.engine, (&couplings, &free), &curvature, units, moments)?;
        } else if pairs != Pairs::None {
            let plan = self.plan(&couplings, 1, 1)?;
            let excess = self.excess(&couplings, &found.means, (1, 1), plan.as_ref())?;
            for (pair, x) in couplings.pairs.iter().zip(excess) {
                let edge = pair.edge as usize;
                let (a, b) = machine.graph().edges()[edge];
                moments[if pairs == Pairs::Edges { edge } else { packed_pair(units, a, b) }] += x;
            }
        }
        Ok(Expectations {
            log_z: Some(found.log_z[0] + panel.shifts[0]),
            means,
            correlations,
            guarantee: self.guarantee(&couplings),
            errors: None,
            diagnostics: Diagnostics::iterated(found.converged[0], found.iterations[0]),
        })
    }

    /// Returns expectations under each row of evidence.
    pub(super) fn batch(self, machine: &Machine, batch: &Batch, ask: Ask) -> Result<BatchExpectations> {
        Error::check_length("units of the batch", batch.unit_count(), machine.unit_count())?;
        self.check(machine)?;
        let free = batch.groups().iter().map(|group| group.free.len()).max().unwrap_or(0);
        let at_once = Panel::rows_at_once(free).min(batch.row_count());
        let products = if ask.statistics { 8 * (machine.graph().edges().len() * at_once) as u128 } else { 0 };
        let each = self.bytes(machine, free, at_once.max(1)) + products;
        let sums = if ask.statistics { statistics_bytes(machine) } else { 0 };
        self.check_memory(each * rayon::current_num_threads() as u128 + sums, free)?;
        // The couplings of a few groups are kept for all rows; those of many would fill the memory.
        let few = batch.groups().len() <= rayon::current_num_threads();
        let prepare = |group| self.prepare(machine, group, ask, few);
        let prepared: Vec<Prepared> = batch.groups().iter().map(prepare).collect::<Result<_>>()?;
        let cost = |number: usize, _: &Group| prepared[number].cost;
        solve_in_parts(machine, batch, ask, cost, |pieces, part| {
            for piece in pieces {
                let free = &batch.groups()[piece.group].free;
                let Prepared { couplings, plan, .. } = &prepared[piece.group];
                let own = OnceCell::new();
                let make_own = || own.get_or_init(|| self.couplings(machine, free));
                let couplings = couplings.as_ref().unwrap_or_else(make_own);
                part.guarantee = part.guarantee.and(self.guarantee(couplings));
                for (mut panel, weights) in Panel::each(machine, free, batch, &piece.rows) {
                    let found = self.search(machine, couplings, &panel, free)?;
                    panel.insert(free, &found.means);
                    self.record(machine, (couplings, plan.as_ref()), (&panel, &found), weights, ask, part)?;
                }
            }
            Ok(())
        })
    }

    /// Prepares what the rows of a group share.
    fn prepare(self, machine: &Machine, group: &Group, ask: Ask, keep: bool) -> Result<Prepared> {
        let couplings = self.couplings(machine, &group.free);
        let threads = rayon::current_num_threads();
        let plan = if ask.statistics { self.plan(&couplings, group.rows.len(), threads)? } else { None };
        let elements = machine.unit_count() + machine.graph().edges().len();
        let cost = USUAL_SWEEPS * couplings.sweep_cost()
            + 4.0 * elements as f64
            + plan.as_ref().map_or(0.0, |plan| plan.cost(group.free.len()));
        Ok(Prepared { couplings: keep.then_some(couplings), plan, cost })
    }

    /// Chooses how to invert the curvature, if the engine has linear response.
    fn plan(self, couplings: &Couplings, rows: usize, threads: usize) -> Result<Option<Plan>> {
        if !self.response {
            return Ok(None);
        }
        let plan = Plan::new(couplings.units, &couplings.pairs)?;
        self.check_memory(plan.bytes(couplings.units, rows) * threads as u128, couplings.units)?;
        Ok(Some(plan))
    }

    /// Adds the results of a panel to a part.
    fn record(
        self,
        machine: &Machine,
        (couplings, plan): (&Couplings, Option<&Plan>),
        (panel, found): (&Panel, &Found),
        weights: &[f64],
        ask: Ask,
        part: &mut Part,
    ) -> Result<()> {
        for row in 0..panel.rows {
            part.log_z.push(found.log_z[row] + panel.shifts[row]);
            let diagnostics = Diagnostics::iterated(found.converged[row], found.iterations[row]);
            part.diagnostics = part.diagnostics.and(diagnostics);
        }
        if ask.means {
            part.means.extend(panel.rows_of_values());
        }
        let Some(sums) = &mut part.statistics else { return Ok(()) };
        let weights = panel.add_statistics(machine, weights, sums);
        let excess = self.excess(couplings, &found.means, (panel.width, panel.rows), plan)?;
        for (pair, excess) in couplings.pairs.iter().zip(excess.chunks_exact(panel.width)) {
            sums.edges[pair.edge as usize] += dot(&weights, excess);
        }
        Ok(())
    }

    /// Returns the moments less the products of means, by pair, `width` rows each; none for mean
    /// field.
    ///
    /// TAP's is the derivative of its −F (eq. 29) by the coupling: `v_ij (1 − m_i²)(1 − m_j²)`.
    fn excess(
        self,
        couplings: &Couplings,
        means: &[f64],
        (width, rows): (usize, usize),
        plan: Option<&Plan>,
    ) -> Result<Vec<f64>> {
        if let Some(plan) = plan {
            let curvature = Curvature::new(self.theory, couplings, means, width);
            return plan.responses(self.engine, couplings, &curvature, rows);
        }
        if self.theory == Theory::MeanField {
            return Ok(Vec::new());
        }
        let of = |unit: u32| &means[unit as usize * width..(unit as usize + 1) * width];
        let mut found = Vec::with_capacity(couplings.pairs.len() * width);
        for &Pair { a, b, coupling, .. } in &couplings.pairs {
            found.extend(of(a).iter().zip(of(b)).map(|(x, y)| coupling * (1.0 - x * x) * (1.0 - y * y)));
        }
        Ok(found)
    }

    fn guarantee(self, couplings: &Couplings) -> Guarantee {
        if couplings.are_none() {
            Guarantee::Exact
        } else if self.theory == Theory::MeanField && !self.response {
            Guarantee::LowerBound
        } else {
            Guarantee::Approximation
        }
    }

    fn check(self, machine: &Machine) -> Result<()> {
        self.settings.check(machine.temperature())?;
        machine.check_scale(self.engine, SCALE)
    }

    fn check_memory(self, bytes: u128, free: usize) -> Result<()> {
        self.settings.budget.check(self.engine, bytes, || format!("a fixed point of {free} units"))
    }
}

/// What rows of a group share.
struct Prepared {
    /// `None` if each piece of the group computes its own.
    couplings: Option<Couplings>,
    plan: Option<Plan>,
    /// The cost of eight rows, in about nanoseconds.
    cost: f64,
}
