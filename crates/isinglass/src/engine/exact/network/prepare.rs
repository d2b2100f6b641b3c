//! From a machine and free units to a plan: the order, the reason where there is none, and what it
//! costs.

use std::sync::Arc;

use super::Solver;
use super::plan::{Form, Plan};
use super::star::One;
use super::store::{Biases, Key};
use super::structure::Structure;
use crate::engine::auto::{Estimate, NetworkCost};
use crate::graph::Symbolic;
use crate::{Error, Graph, Machine, Result};

/// How far an engine goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Reach {
    /// Machines that are decimatable.
    Decimation,
    /// As far as tables fit the budget.
    Tables,
}

/// Graphs of more units than this are numbered anew, if neighbours are far apart: smaller ones fit
/// a cache.
const RENUMBERED: usize = 1 << 15;

impl Solver<'_> {
    /// The network for a set of free units (rising), from the store or compiled now.
    pub(super) fn network(self, machine: &Machine, free: &[usize], form: Form) -> Result<Arc<Plan>> {
        let biases = Biases::of(machine, free);
        let key = Key { free: free.to_vec(), biases, form, reach: self.reach };
        match self.networks.find(machine.graph(), &key) {
            Some(plan) => Ok(plan),
            None => self.compile(machine, key),
        }
    }

    /// The network for rows of a batch, if it is in the store; where statistics are asked for, it
    /// is learning, and all biases count.
    pub(super) fn known(self, machine: &Machine, free: &[usize], for_learning: bool) -> Option<Arc<Plan>> {
        self.networks.find(machine.graph(), &self.key_for_rows(machine, free, for_learning))
    }

    /// The network for rows of a batch that is not in the store yet.
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

    /// An order in which to eliminate, or the reason why there is none.
    fn order(self, structure: &Structure) -> Result<(Vec<usize>, Symbolic)> {
        let biased: Vec<usize> = places(&structure.biased());
        let most = self.widest();
        let order = match structure.graph.decimation_order(&biased) {
            Some(order) => Some(order),
            None if self.reach == Reach::Decimation
                && structure.graph.decimation_order(&structure.own_bias).is_none() =>
            {
                return Err(self.not_decimatable(structure));
            }
            None => structure.graph.elimination_order(most).map(|found| found.order),
        };
        let order = order.and_then(|order| structure.graph.postordered(&order, most.max(3)));
        order.ok_or_else(|| self.too_wide(&structure.graph, most))
    }

    /// Tables of more units than this cannot fit the budget: 8 bytes for each state.
    fn widest(self) -> usize {
        (self.networks.budget.0 / 8).max(1).ilog2().min(60) as usize
    }

    fn not_decimatable(self, structure: &Structure) -> Error {
        let with = if structure.own_bias.is_empty() { "" } else { " and unit 0, to which biases lead," };
        Error::CannotDo {
            who: self.name,
            what: format!("take {} free units apart", structure.graph.unit_count()),
            why: format!(
                "the graph of the free units{with} has treewidth {} or more, and decimation ends at 3; the engine eliminate goes on with tables",
                structure.graph.degeneracy().max(4)
            ),
        }
    }

    pub(super) fn too_wide(self, graph: &Graph, most: usize) -> Error {
        // A width that is known to suffice; a longer search might find a narrower order.
        let width = graph.pathwidth_bound().max(most + 1);
        Error::OverBudget {
            who: self.name,
            what: format!(
                "{} free units (no elimination order with at most {most} neighbours was found; one with {width} exists)",
                graph.unit_count()
            ),
            needed: if width < 120 { 8 << width } else { u128::MAX },
            budget: self.networks.budget,
        }
    }

    /// What the network for some free units costs: bytes and sums of a pass with moments.
    pub(super) fn estimate(self, machine: &Machine, free: &[usize]) -> Estimate {
        machine.check_scale(self.name, super::SCALE)?;
        let plan = &self.network(machine, free, Form::Weights)?;
        let peak = self.segments::<One>(plan)?.peak_bytes(plan, 1);
        Ok(NetworkCost {
            order: plan.free.clone(),
            width: plan.width,
            bytes: peak + plan.bytes(1),
            work: plan.work(),
        })
    }
}

/// The places of what holds.
fn places(holds: &[bool]) -> Vec<usize> {
    (0..holds.len()).filter(|&place| holds[place]).collect()
}
