//! From a machine and free units to a plan: its order and cost, or why there is none.

use std::sync::Arc;

use super::Solver;
use super::plan::{Form, Plan};
use super::star::One;
use super::store::{Biases, Key};
use super::structure::Structure;
use crate::engine::auto::{Estimate, NetworkCost};
use crate::engine::exact::pinned::clamp_pinned;
use crate::engine::fields::Fields;
use crate::graph::Symbolic;
use crate::{Budget, Error, Evidence, Graph, Machine, Result, Work};

/// The machines that an engine accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Reach {
    /// Decimatable ones.
    Decimation,
    /// All whose tables fit the budget.
    Tables,
}

/// Larger graphs are renumbered if neighbours are far apart; smaller ones fit a cache.
const RENUMBERED: usize = 1 << 15;

/// One evidence with its network.
pub(super) struct Given {
    /// With pinned units clamped.
    pub(super) evidence: Evidence,
    pub(super) free: Vec<usize>,
    pub(super) plan: Arc<Plan>,
    pub(super) fields: Fields<1>,
}

impl Solver<'_> {
    /// Clamps pinned units and finds the network and the fields of the free units.
    pub(super) fn given(self, machine: &Machine, evidence: &Evidence, form: Form) -> Result<Given> {
        let evidence = clamp_pinned(machine, evidence, &[]);
        let free: Vec<usize> = evidence.free().collect();
        let plan = self.network(machine, &free, form)?;
        let fields = Fields::new(machine, &plan.free, &[evidence.cells()]);
        Ok(Given { evidence, free, plan, fields })
    }

    /// The network for a set of free units (rising), from the store or newly compiled.
    pub(super) fn network(self, machine: &Machine, free: &[usize], form: Form) -> Result<Arc<Plan>> {
        let biases = Biases::of(machine, free);
        let key = Key { free: free.to_vec(), biases, form, reach: self.reach };
        match self.networks.find(machine.graph(), &key) {
            Some(plan) => Ok(plan),
            None => self.compile(machine, key),
        }
    }

    /// The network for rows of a batch, if it is in the store. In learning, all biases count.
    pub(super) fn known(self, machine: &Machine, free: &[usize], for_learning: bool) -> Option<Arc<Plan>> {
        self.networks.find(machine.graph(), &self.key_for_rows(machine, free, for_learning))
    }

    /// The network for rows of a batch, newly compiled.
    pub(super) fn compiled(self, machine: &Machine, free: &[usize], for_learning: bool) -> Result<Arc<Plan>> {
        self.compile(machine, self.key_for_rows(machine, free, for_learning))
    }

    fn key_for_rows(self, machine: &Machine, free: &[usize], for_learning: bool) -> Key {
        let biases = if for_learning { Biases::All } else { Biases::of(machine, free) };
        Key { free: free.to_vec(), biases, form: Form::Weights, reach: self.reach }
    }

    fn compile(self, machine: &Machine, key: Key) -> Result<Arc<Plan>> {
        let mut structure = Structure::new(machine, &key.free)?;
        if key.biases == Biases::All {
            structure.own_bias = (0..key.free.len()).collect();
        }
        let mut free = key.free.clone();
        if free.len() > RENUMBERED && structure.is_scattered() {
            let before;
            (structure, before) = structure.renumbered()?;
            free = before.iter().map(|&place| free[place]).collect();
        }
        let (order, steps) = self.order(&structure)?;
        let needed = Plan::bytes_of(&steps);
        self.networks.budget.check(self.name, needed, || {
            format!("{} free units with {} neighbours at elimination", free.len(), steps.total())
        })?;
        let plan = Arc::new(structure.plan(&free, &order, &steps, key.form));
        self.networks.keep(machine.graph(), key, &plan);
        Ok(plan)
    }

    /// An elimination order, or the reason why there is none.
    fn order(self, structure: &Structure) -> Result<(Vec<usize>, Symbolic)> {
        let is_biased = structure.biased();
        let biased: Vec<usize> = (0..is_biased.len()).filter(|&place| is_biased[place]).collect();
        let most = self.widest();
        let order = match structure.graph.decimation_order(&biased) {
            Some(order) => Some(order),
            None if self.reach == Reach::Decimation
                && structure.graph.decimation_order(&structure.own_bias).is_none() =>
            {
                return Err(self.not_decimatable(structure));
            }
            None => Self::elimination_order(&structure.graph, most),
        };
        let order = order.and_then(|order| structure.graph.postordered(&order, most.max(3)));
        order.ok_or_else(|| self.too_wide(&structure.graph, most))
    }

    /// An elimination order within `most`. Up to the width of the default budget, it is found by a
    /// search that does not depend on the budget, so that a fit resumed with another one has the
    /// same bits.
    fn elimination_order(graph: &Graph, most: usize) -> Option<Vec<usize>> {
        let usual = widest(Budget::default());
        let found = match graph.elimination_order(usual) {
            None if most > usual => graph.elimination_order(most),
            found => found,
        };
        found.filter(|found| found.width <= most).map(|found| found.order)
    }

    fn widest(self) -> usize {
        widest(self.networks.budget)
    }

    fn not_decimatable(self, structure: &Structure) -> Error {
        let with = if structure.own_bias.is_empty() { "" } else { " and unit 0, to which biases lead," };
        Error::CannotDo {
            who: self.name,
            what: format!("decimate {} free units", structure.graph.unit_count()),
            why: format!(
                "the graph of the free units{with} has treewidth {} or more, and decimation is limited to 3; the engine eliminate uses tables",
                structure.graph.degeneracy().max(4)
            ),
        }
    }

    pub(super) fn too_wide(self, graph: &Graph, most: usize) -> Error {
        // This width suffices; a longer search might find a narrower order.
        let width = graph.pathwidth_bound().max(most + 1);
        Error::OverBudget {
            who: self.name,
            what: format!(
                "{} free units (no elimination order with at most {most} neighbours was found; one with {width} exists)",
                graph.unit_count()
            ),
            needed: if width < 120 { 8 << width } else { u128::MAX },
            budget: self.networks.budget,
            work: Some(Work::Sums(graph.unit_count() as f64 * (width as f64).exp2())),
        }
    }

    /// The cost of the network for some free units: bytes and sums of a pass with moments.
    pub(super) fn estimate(self, machine: &Machine, free: &[usize]) -> Estimate {
        machine.check_scale(self.name, super::SCALE)?;
        let plan = &self.network(machine, free, Form::Weights)?;
        let bytes = self.segments::<One>(plan)?.peak_bytes(plan, 1) + plan.bytes(1);
        Ok(NetworkCost { order: plan.free.clone(), width: plan.width, bytes, work: plan.work() })
    }
}

/// The most units of a table within a budget, at 8 bytes for each state.
fn widest(budget: Budget) -> usize {
    (budget.0 / 8).max(1).ilog2().min(60) as usize
}
