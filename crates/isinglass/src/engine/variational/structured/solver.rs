//! Finds the best Q for a machine and evidence, and reads expectations from it.

use super::super::couplings::Couplings;
use super::super::panel::Panel;
use super::super::search::Search;
use super::super::{Theory, VariationalSettings};
use super::Structured;
use super::bound::{Row, Work};
use super::climb::{self, Top, climb};
use super::plan::{OUTER, Plan};
use super::skeleton::{Joint, strongest, whole};
use crate::engine::exact::digits;
use crate::engine::expectations::packed_pair;
use crate::engine::{Diagnostics, Guarantee, Iteration, PairMoments, Pairs};
use crate::numeric::streams::{Purpose, stream};
use crate::settings::Settings;
use crate::topology::Numbers;
use crate::{Machine, Result};

/// Energies divided by T beyond this would overflow when squared.
const SCALE: f64 = 1e140;

/// Solves rows with the same free units.
pub(super) struct Solver<'a> {
    machine: &'a Machine,
    free: &'a [usize],
    engine: &'a Structured,
    couplings: Couplings,
    /// One for each start; only one if it keeps all couplings.
    plans: Vec<Plan>,
}

/// The best Q of a row.
pub(super) struct Solved {
    pub(super) log_z: f64,
    /// ⟨s_i⟩ of every unit of the machine.
    pub(super) means: Vec<f64>,
    pub(super) pairs: Vec<f64>,
    pub(super) diagnostics: Diagnostics,
}

impl<'a> Solver<'a> {
    /// Prepares the rows of a machine with these free units.
    ///
    /// # Errors
    /// Invalid settings, numbers too large, or not enough budget.
    pub(super) fn new(machine: &'a Machine, free: &'a [usize], engine: &'a Structured) -> Result<Self> {
        engine.validate()?;
        machine.check_scale(Structured::NAME, SCALE)?;
        let (units, edges) = (free.len(), machine.graph().edges().len());
        let listed = Couplings::bytes(units, edges, false) + Panel::bytes(machine.unit_count(), units, 1);
        let plans = Plan::bytes(units, edges, 0) * engine.settings.starts as u128;
        engine.check(listed + plans + Work::bytes(units, 0) + climb::bytes(OUTER * units), units)?;
        let couplings = Couplings::new(machine, free, false);
        let mut solver = Self { machine, free, engine, couplings, plans: Vec::new() };
        solver.make_plans()?;
        Ok(solver)
    }

    /// Returns the bytes that rows share.
    pub(super) fn bytes(&self) -> u128 {
        let plan = |plan: &Plan| Plan::bytes(self.free.len(), plan.meetings.len(), plan.lifts.len());
        Couplings::bytes(self.free.len(), self.couplings.pairs.len(), false)
            + self.plans.iter().map(plan).sum::<u128>()
    }

    pub(super) fn row_bytes(&self) -> u128 {
        self.row_bytes_with(self.plans.iter().map(|plan| plan.lifts.len()).max().unwrap_or(0))
    }

    fn row_bytes_with(&self, lifts: usize) -> u128 {
        let free = self.free.len();
        Panel::bytes(self.machine.unit_count(), free, 1)
            + Work::bytes(free, lifts)
            + climb::bytes(OUTER * free)
            + 8 * self.machine.graph().edges().len() as u128
    }

    /// Makes the plan of each start.
    fn make_plans(&mut self) -> Result<()> {
        let units = self.free.len();
        if let Some(sequence) = whole(units, &self.couplings.pairs, self.engine.width)? {
            self.plans = vec![Plan::new(&sequence, &self.couplings.pairs, |_| Ok(()))?];
            return Ok(());
        }
        for start in 0..self.engine.settings.starts {
            let sequence = self.sequence(start)?;
            let pairs = &self.couplings.pairs;
            let plan = Plan::new(&sequence, pairs, |lifts| {
                let more = Plan::bytes(units, pairs.len(), lifts);
                let of_a_row = self.row_bytes().max(self.row_bytes_with(lifts));
                self.engine.check(self.bytes() + more + of_a_row, units)
            })?;
            self.plans.push(plan);
        }
        Ok(())
    }

    /// Chooses the subgraph of the strongest couplings, or of randomly weakened ones.
    fn sequence(&self, start: usize) -> Result<Vec<Joint>> {
        const WEAKEST: f64 = 0.5;
        let pairs = &self.couplings.pairs;
        let shares = if start == 0 {
            vec![1.0; pairs.len()]
        } else {
            let random = &mut stream(self.engine.settings.seed, Purpose::KeptCouplings, start as u64);
            Numbers::Uniform { low: WEAKEST, high: 1.0 }.draw(pairs.len(), random)
        };
        let wanted: Vec<f64> =
            pairs.iter().zip(shares).map(|(pair, share)| share * pair.coupling.abs()).collect();
        strongest(self.free.len(), pairs, &wanted, self.engine.width)
    }

    /// Returns whether answers are exact.
    pub(super) fn guarantee(&self) -> Guarantee {
        if !self.is_whole() {
            return Guarantee::LowerBound;
        }
        // Whatever rounding does, the bound of a Q holds.
        match digits::guarantee(self.machine, self.free.iter().copied()) {
            Guarantee::Exact => Guarantee::Exact,
            _ => Guarantee::LowerBound,
        }
    }

    fn is_whole(&self) -> bool {
        self.plans.iter().all(Plan::is_whole)
    }

    /// Returns the cost of a row, in about nanoseconds.
    pub(super) fn cost(&self) -> f64 {
        const USUAL_ITERATIONS: f64 = 100.0;
        let evaluation =
            |plan: &Plan| (300 * plan.nodes.len() + 40 * (plan.lifts.len() + plan.meetings.len())) as f64;
        self.plans.iter().map(|plan| 2.0 * USUAL_ITERATIONS * evaluation(plan)).sum()
    }

    /// Returns the best Q of a row of evidence.
    pub(super) fn solve(&self, cells: &[i8], pairs: Pairs) -> Solved {
        let mut panel = Panel::new(self.machine, self.free, &[cells]);
        if self.is_whole() {
            let plan = &self.plans[0];
            let row = Row::new(plan, &panel.fields);
            let (logits, log_z) = row.without_cuts(&vec![0.0; plan.nodes.len()]);
            let mut work = Work::new(plan);
            row.value(&logits, &mut work);
            return self.read(plan, &work, &mut panel, pairs, log_z, Diagnostics::direct());
        }
        let (plan, top) = self.highest(&panel);
        let row = Row::new(plan, &panel.fields);
        let mut work = Work::new(plan);
        let value = row.value(&top.logits, &mut work);
        let iteration =
            Iteration { sweeps: top.iterations, residual: top.residual, damping: 0.0, oscillated: false };
        let diagnostics = Diagnostics::iterated(top.residual <= self.engine.settings.tolerance, iteration);
        self.read(plan, &work, &mut panel, pairs, value, diagnostics)
    }

    /// Returns the best end of all climbs, with its plan.
    ///
    /// Each subgraph starts with mean fields in place of the cut couplings; the first starts again
    /// without them, which keeps symmetries that mean field breaks. If no climb reaches mean
    /// field's bound, as with few iterations, the best plan starts from its product.
    fn highest(&self, panel: &Panel) -> (&Plan, Top) {
        let settings = &self.engine.settings;
        let product = VariationalSettings::default()
            .starts(settings.starts)
            .seed(settings.seed)
            .budget(settings.budget);
        let search = Search {
            theory: Theory::MeanField,
            couplings: &self.couplings,
            panel,
            free: self.free,
            settings: &product,
            temperature: self.machine.temperature(),
        };
        let found = search.best();
        let mut best: Option<(&Plan, Top)> = None;
        for (number, plan) in self.plans.iter().enumerate() {
            let row = Row::new(plan, &panel.fields);
            let mut work = Work::new(plan);
            let mut try_from = |start: Vec<f64>| {
                let top = climb(&row, start, &mut work, settings.tolerance, settings.max_sweeps);
                if best.as_ref().is_none_or(|(_, best)| top.value > best.value) {
                    best = Some((plan, top));
                }
            };
            try_from(row.without_cuts(&self.cut_fields(plan, &found.means)).0);
            if number == 0 {
                try_from(row.without_cuts(&vec![0.0; plan.nodes.len()]).0);
            }
        }
        let (plan, top) = best.expect("every engine has a plan, and each plan a start");
        let row = Row::new(plan, &panel.fields);
        let start = product_logits(plan, &found.means);
        let mut work = Work::new(plan);
        if row.value(&start, &mut work) <= top.value {
            return (plan, top);
        }
        (plan, climb(&row, start, &mut work, settings.tolerance, settings.max_sweeps))
    }

    /// Returns the mean field of a plan's cut couplings on each position.
    fn cut_fields(&self, plan: &Plan, means: &[f64]) -> Vec<f64> {
        let mut fields = vec![0.0; plan.nodes.len()];
        for pair in &self.couplings.pairs {
            let (a, b) = (plan.position[pair.a as usize], plan.position[pair.b as usize]);
            if plan.bit(a.max(b), a.min(b)).is_none() {
                fields[a as usize] += pair.coupling * means[pair.b as usize];
                fields[b as usize] += pair.coupling * means[pair.a as usize];
            }
        }
        fields
    }

    /// Reads the expectations of a Q.
    fn read(
        &self,
        plan: &Plan,
        work: &Work,
        panel: &mut Panel,
        pairs: Pairs,
        value: f64,
        diagnostics: Diagnostics,
    ) -> Solved {
        let means: Vec<f64> = plan.position.iter().map(|&k| work.mean(k as usize)).collect();
        panel.insert(self.free, &means);
        let values = &panel.values;
        let mut moments =
            PairMoments::collect(pairs, self.machine.graph(), |a, b| values[a] * values[b]).values;
        match pairs {
            Pairs::None => {}
            Pairs::Edges => self.read_edges(plan, work, &mut moments),
            Pairs::All => self.read_all(plan, work, &mut moments),
        }
        Solved {
            log_z: value + panel.shifts[0],
            means: std::mem::take(&mut panel.values),
            pairs: moments,
            diagnostics,
        }
    }

    fn read_edges(&self, plan: &Plan, work: &Work, moments: &mut [f64]) {
        for meeting in &plan.meetings {
            moments[meeting.edge as usize] = work.moment_at(meeting);
        }
        let mut known: Option<(u32, Vec<f64>)> = None;
        for pair in &self.couplings.pairs {
            let (a, b) = (plan.position[pair.a as usize], plan.position[pair.b as usize]);
            if let Some(bit) = plan.bit(a.max(b), a.min(b)) {
                moments[pair.edge as usize] = work.moment_of(a.max(b) as usize, bit);
            } else if pair.coupling == 0.0 {
                // Pairs are sorted by their first units.
                if known.as_ref().is_none_or(|(first, _)| *first != a) {
                    known = Some((a, work.moments_with(plan, a as usize)));
                }
                if let Some((_, with_all)) = &known {
                    moments[pair.edge as usize] = with_all[b as usize];
                }
            }
        }
    }

    fn read_all(&self, plan: &Plan, work: &Work, moments: &mut [f64]) {
        let units = self.machine.unit_count();
        for (a, &unit) in self.free.iter().enumerate() {
            let with_all = work.moments_with(plan, plan.position[a] as usize);
            for (b, &other) in self.free.iter().enumerate().skip(a + 1) {
                let place = packed_pair(units, unit, other);
                moments[place] = with_all[plan.position[b] as usize];
            }
        }
    }
}

/// The logit of a unit of mean ±1: large enough for the bound, small enough for a gradient.
const CERTAIN: f64 = 20.0;

/// Returns the logits of independent units with these means.
fn product_logits(plan: &Plan, means: &[f64]) -> Vec<f64> {
    let logit = |unit: u32| means[unit as usize].atanh().clamp(-CERTAIN, CERTAIN);
    plan.nodes.iter().flat_map(|node| [logit(node.joint.unit); OUTER]).collect()
}
