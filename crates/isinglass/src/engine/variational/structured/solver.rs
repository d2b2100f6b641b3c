//! From machine and evidence to the best Q, and from Q to expectations.

use super::super::couplings::{Couplings, Pair};
use super::super::panel::Panel;
use super::super::search::search;
use super::super::{Theory, VariationalSettings};
use super::bound::{Row, Work};
use super::climb::{self, Top, climb};
use super::plan::{OUTER, Plan};
use super::settings::check_width;
use super::skeleton::{Joint, grow, whole};
use super::{Structured, moments};
use crate::engine::Iteration;
use crate::engine::exact::digits;
use crate::engine::{Diagnostics, Guarantee, PairMoments, Pairs};
use crate::numeric::streams::{Purpose, stream};
use crate::topology::Numbers;
use crate::{Machine, Result};

/// Energies divided by T beyond this would leave the range of numbers once they are squared.
const SCALE: f64 = 1e150;

/// Solves rows that leave the same units free.
pub(super) struct Solver<'a> {
    machine: &'a Machine,
    free: &'a [usize],
    engine: &'a Structured,
    couplings: Couplings,
    /// One for each start; a single one if it keeps all couplings.
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
    /// For the rows of a machine with these free units; refuses bad settings, numbers too large, and what does not fit the budget on so many threads.
    pub(super) fn new(
        machine: &'a Machine,
        free: &'a [usize],
        engine: &'a Structured,
        threads: usize,
    ) -> Result<Self> {
        engine.settings.check()?;
        check_width(engine.width)?;
        machine.check_scale(Structured::NAME, SCALE)?;
        let edges = machine.graph().edges().len();
        check(engine, least_bytes(machine, free.len(), edges), free.len())?;
        let couplings = Couplings::new(machine, free, false);
        let mut solver = Self { machine, free, engine, couplings, plans: Vec::new() };
        solver.plans = solver.plan()?;
        let longest = solver.plans.iter().map(|plan| plan.lifts.len()).max().unwrap_or(0);
        let plans: u128 = solver
            .plans
            .iter()
            .map(|plan| Plan::bytes(free.len(), plan.meetings.len(), plan.lifts.len()))
            .sum();
        let bytes = least_bytes(machine, free.len(), edges)
            + plans
            + threads as u128 * (Work::bytes(free.len(), longest) + climb::bytes(OUTER * free.len()));
        check(engine, bytes, free.len())?;
        Ok(solver)
    }

    /// The subgraph of each start.
    fn plan(&self) -> Result<Vec<Plan>> {
        let pairs = &self.couplings.pairs;
        if let Some(sequence) = whole(self.free.len(), pairs, self.engine.width)? {
            return Ok(vec![Plan::new(&sequence, pairs)]);
        }
        Ok((0..self.engine.settings.starts).map(|start| Plan::new(&self.sequence(start), pairs)).collect())
    }

    /// The k-tree of the strongest couplings, or of couplings that chance has made weaker.
    fn sequence(&self, start: usize) -> Vec<Joint> {
        let pairs = &self.couplings.pairs;
        let shares = if start == 0 {
            vec![1.0; pairs.len()]
        } else {
            let random = &mut stream(self.engine.settings.seed, Purpose::VariationalStart, start as u64);
            Numbers::Uniform { low: 0.1, high: 1.0 }.draw(pairs.len(), random)
        };
        let mut rows = vec![Vec::new(); self.free.len()];
        for (&Pair { a, b, coupling, .. }, share) in pairs.iter().zip(shares) {
            if coupling != 0.0 {
                let size = (coupling.abs() * share).max(f64::MIN_POSITIVE);
                rows[a as usize].push((b, size));
                rows[b as usize].push((a, size));
            }
        }
        grow(&rows, self.engine.width)
    }

    /// Whether answers are exact.
    pub(super) fn guarantee(&self) -> Guarantee {
        if !self.is_whole() {
            return Guarantee::LowerBound;
        }
        // Whatever rounding does, the bound of a Q is one.
        match digits::guarantee(self.machine, self.free.iter().copied()) {
            Guarantee::Exact => Guarantee::Exact,
            _ => Guarantee::LowerBound,
        }
    }

    fn is_whole(&self) -> bool {
        self.plans.iter().all(Plan::is_whole)
    }

    /// About what a row costs, in nanoseconds.
    pub(super) fn cost(&self) -> f64 {
        const USUAL_ITERATIONS: f64 = 100.0;
        let evaluation =
            |plan: &Plan| (300 * plan.nodes.len() + 40 * (plan.lifts.len() + plan.meetings.len())) as f64;
        self.plans.iter().map(|plan| 2.0 * USUAL_ITERATIONS * evaluation(plan)).sum()
    }

    /// The best Q of a row of evidence.
    pub(super) fn solve(&self, cells: &[i8], pairs: Pairs) -> Solved {
        let mut panel = Panel::new(self.machine, self.free, &[cells]);
        if self.is_whole() {
            let plan = &self.plans[0];
            let row = Row::new(plan, &panel.fields, 1.0);
            let (logits, log_z) = row.alone(&vec![0.0; plan.nodes.len()]);
            let mut work = Work::new(plan);
            row.value(&logits, &mut work);
            return self.read(plan, &work, &mut panel, pairs, log_z, Diagnostics::direct());
        }
        let settings = &self.engine.settings;
        let product = VariationalSettings {
            starts: settings.starts,
            seed: settings.seed,
            budget: settings.budget,
            ..VariationalSettings::default()
        };
        let temperature = self.machine.temperature();
        let found = search(Theory::MeanField, &self.couplings, &panel, self.free, &product, temperature);
        let mut best: Option<(Top, &Plan)> = None;
        for plan in &self.plans {
            let row = Row::new(plan, &panel.fields, 1.0);
            let mut work = Work::new(plan);
            for start in starts(&row, &self.couplings.pairs, &found.means) {
                let top = climb(&row, start, &mut work, settings.tolerance, settings.iterations);
                if best.as_ref().is_none_or(|(best, _)| top.value > best.value) {
                    best = Some((top, plan));
                }
            }
        }
        // `StructuredSettings::check` has seen to it that there is a start.
        let (top, plan) = best.expect("at least one start");
        let row = Row::new(plan, &panel.fields, 1.0);
        let mut work = Work::new(plan);
        let value = row.value(&top.logits, &mut work);
        let iteration =
            Iteration { sweeps: top.iterations, residual: top.residual, damping: 0.0, oscillated: false };
        let diagnostics = Diagnostics::iterated(top.residual <= settings.tolerance, iteration);
        self.read(plan, &work, &mut panel, pairs, value, diagnostics)
    }

    /// The expectations of a Q.
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
                // Pairs come in the order of their first units.
                if known.as_ref().is_none_or(|(first, _)| *first != a) {
                    known = Some((a, moments::with_all(plan, work, a as usize)));
                }
                if let Some((_, with_all)) = &known {
                    moments[pair.edge as usize] = with_all[b as usize];
                }
            }
        }
    }

    fn read_all(&self, plan: &Plan, work: &Work, moments: &mut [f64]) {
        let units = self.machine.units();
        for (a, &unit) in self.free.iter().enumerate() {
            let with_all = moments::with_all(plan, work, plan.position[a] as usize);
            for (b, &other) in self.free.iter().enumerate().skip(a + 1) {
                let place = crate::engine::expectations::packed_pair(units, unit, other);
                moments[place] = with_all[plan.position[b] as usize];
            }
        }
    }
}

/// The logit of a unit that mean field leaves no choice: large enough for the bound, and not so large that no gradient is left.
const CERTAIN: f64 = 20.0;

/// Where climbs begin: the product of mean field, which no answer may fall behind; the kept couplings alone; and these with mean fields in place of the others.
fn starts(row: &Row<'_>, pairs: &[Pair], means: &[f64]) -> [Vec<f64>; 3] {
    let plan = row.plan;
    let logit = |unit: u32| means[unit as usize].atanh().clamp(-CERTAIN, CERTAIN);
    let product = plan.nodes.iter().flat_map(|node| [logit(node.joint.unit); OUTER]).collect();
    let mut fields = vec![0.0; plan.nodes.len()];
    let nothing = fields.clone();
    for pair in pairs {
        let (a, b) = (plan.position[pair.a as usize], plan.position[pair.b as usize]);
        if plan.bit(a.max(b), a.min(b)).is_none() {
            fields[a as usize] += pair.coupling * means[pair.b as usize];
            fields[b as usize] += pair.coupling * means[pair.a as usize];
        }
    }
    [product, row.alone(&nothing).0, row.alone(&fields).0]
}

fn least_bytes(machine: &Machine, free: usize, edges: usize) -> u128 {
    Couplings::bytes(free, edges, false) + Panel::bytes(machine.units(), free, 1)
}

fn check(engine: &Structured, bytes: u128, free: usize) -> Result<()> {
    engine.settings.budget.check(Structured::NAME, bytes, || format!("a Q for {free} units"))
}
