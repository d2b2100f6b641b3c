//! Orders, budgets, and plans kept for the next call.
//!
//! A plan depends on the graph, the set of free units and which of them have biases; not on weights or values. So learning compiles once for each
//! pattern of missing cells, and evaluates at every step.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Solver;
use super::memory::Segments;
use super::plan::{Blueprint, Form, Plan};
use super::star::{One, Rows};
use crate::engine::Budget;
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

/// What a plan depends on besides the graph.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    free: Vec<usize>,
    biases: Biases,
    form: Form,
    reach: Reach,
}

/// Which free units have a bias of their own.
#[derive(PartialEq, Eq, Hash)]
enum Biases {
    /// All of them: in learning each is trained, be it 0 or not.
    All,
    /// As the machine says, in the order of the free units.
    These(Vec<bool>),
}

impl Biases {
    fn of(machine: &Machine, free: &[usize]) -> Self {
        let has: Vec<bool> = free.iter().map(|&unit| machine.biases()[unit] != 0.0).collect();
        if has.iter().all(|&has| has) { Self::All } else { Self::These(has) }
    }
}

/// Networks by graph and free units, shared between clones of an engine.
#[derive(Clone, Default)]
pub(super) struct Networks {
    pub(super) budget: Budget,
    known: Arc<Mutex<Known>>,
}

/// The networks of the graph that was asked for last.
#[derive(Default)]
struct Known {
    graph: Option<Arc<Graph>>,
    networks: HashMap<Key, Arc<Plan>>,
    bytes: u128,
}

impl fmt::Debug for Networks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Networks").field("budget", &self.budget).finish_non_exhaustive()
    }
}

impl Networks {
    pub(super) fn new(budget: Budget) -> Self {
        Self { budget, known: Arc::default() }
    }

    fn find(&self, graph: &Arc<Graph>, key: &Key) -> Option<Arc<Plan>> {
        // A panic elsewhere leaves nothing half done here: entries are put in whole.
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let same = known.graph.as_ref().is_some_and(|graph_known| Arc::ptr_eq(graph_known, graph));
        if same { known.networks.get(key).cloned() } else { None }
    }

    fn keep(&self, graph: &Arc<Graph>, key: Key, plan: &Arc<Plan>) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let same = known.graph.as_ref().is_some_and(|graph_known| Arc::ptr_eq(graph_known, graph));
        let bytes = plan.bytes(1) + 40 * key.free.len() as u128;
        if !same || known.bytes + bytes > u128::from(self.budget.0) {
            *known = Known { graph: Some(graph.clone()), ..Known::default() };
        }
        known.bytes += bytes;
        known.networks.insert(key, plan.clone());
    }
}

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

    /// The network for rows of a batch, if it is in the store; where statistics are asked for, it is learning, and all biases count.
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
        let free = &key.free;
        let mut structure = Structure::new(machine, free)?;
        if key.biases == Biases::All {
            structure.own_bias = (0..free.len()).collect();
        }
        let (order, steps) = self.order(&structure)?;
        let blueprint = Blueprint {
            graph: &structure.graph,
            free,
            edges: &structure.edges,
            biased: &structure.biased(),
            order: &order,
            steps: &steps,
            form: key.form,
        };
        let plan = Arc::new(Plan::compile(blueprint));
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
            what: format!("take {} free units apart", structure.graph.units()),
            why: format!(
                "the graph of the free units{with} has treewidth {} or more, and decimation ends at 3; the engine eliminate goes on with tables",
                structure.graph.degeneracy().max(4)
            ),
        }
    }

    pub(super) fn too_wide(self, graph: &Graph, most: usize) -> Error {
        let lower = graph.degeneracy().max(most + 1);
        Error::OverBudget {
            who: self.name,
            what: format!(
                "{} free units, for which no elimination order with at most {most} neighbours was found (tables of 2^{lower} numbers or more)",
                graph.units()
            ),
            needed: if lower < 120 { 8 << lower } else { u128::MAX },
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

    /// The segments of a pass with moments, within the budget.
    pub(super) fn segments<R: Rows>(self, plan: &Plan) -> Result<Segments> {
        self.segments_within::<R>(plan, u128::from(self.networks.budget.0))
    }

    /// The segments of a pass with moments that shares the budget with those of other threads; or that must have it alone.
    pub(super) fn shared_segments<R: Rows>(self, plan: &Plan) -> Result<(Segments, Turn)> {
        let share = u128::from(self.networks.budget.0) / rayon::current_num_threads() as u128;
        match self.segments_within::<R>(plan, share) {
            Ok(segments) => Ok((segments, Turn::Together)),
            Err(_) => self.segments::<R>(plan).map(|segments| (segments, Turn::Alone)),
        }
    }

    fn segments_within<R: Rows>(self, plan: &Plan, bytes: u128) -> Result<Segments> {
        let tape = plan.bytes(R::ROWS);
        Segments::within(plan, R::ROWS, bytes.saturating_sub(tape)).map_err(|tables| Error::OverBudget {
            who: self.name,
            what: size_of_problem(plan),
            needed: tables + tape,
            budget: self.networks.budget,
        })
    }

    /// Whether passes without moments can share the budget.
    pub(super) fn shared_forward<R: Rows>(self, plan: &Plan) -> Result<Turn> {
        let needed = Segments::forward_peak(plan, R::ROWS) + plan.bytes(R::ROWS);
        if needed * rayon::current_num_threads() as u128 <= u128::from(self.networks.budget.0) {
            return Ok(Turn::Together);
        }
        self.networks.budget.check(self.name, needed, || size_of_problem(plan))?;
        Ok(Turn::Alone)
    }
}

/// Whether passes may run at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// There is room for one on every thread.
    Together,
    /// There is room for one.
    Alone,
}

/// Passes that must run alone wait here.
#[derive(Default)]
pub(super) struct Gate(Mutex<()>);

impl Gate {
    /// Hold what comes back while the pass runs.
    pub(super) fn pass(&self, turn: Turn) -> Option<MutexGuard<'_, ()>> {
        (turn == Turn::Alone).then(|| self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn size_of_problem(plan: &Plan) -> String {
    format!("{} free units, at width {}", plan.free.len(), plan.width)
}

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

/// The places of what holds.
fn places(holds: &[bool]) -> Vec<usize> {
    (0..holds.len()).filter(|&place| holds[place]).collect()
}
