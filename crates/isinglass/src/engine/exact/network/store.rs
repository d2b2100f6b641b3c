//! Plans kept for the next call.
//!
//! A plan depends on the graph, the set of free units and which of them have biases; not on weights
//! or values. So learning compiles once for each pattern of missing cells.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use super::plan::{Form, Plan};
use super::prepare::Reach;
use crate::{Budget, Graph, Machine};

/// What a plan depends on besides the graph.
#[derive(PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) free: Vec<usize>,
    pub(super) biases: Biases,
    pub(super) form: Form,
    pub(super) reach: Reach,
}

/// Which free units have a bias of their own.
#[derive(PartialEq, Eq, Hash)]
pub(super) enum Biases {
    /// All of them, as in learning, where biases of 0 are trained too.
    All,
    /// Those of the machine, in the order of the free units.
    These(Vec<bool>),
}

impl Biases {
    pub(super) fn of(machine: &Machine, free: &[usize]) -> Self {
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

/// The networks of the graph that was used last.
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

impl Known {
    fn is_for(&self, graph: &Arc<Graph>) -> bool {
        self.graph.as_ref().is_some_and(|known| Arc::ptr_eq(known, graph))
    }
}

impl Networks {
    pub(super) fn new(budget: Budget) -> Self {
        Self { budget, known: Arc::default() }
    }

    pub(super) fn find(&self, graph: &Arc<Graph>, key: &Key) -> Option<Arc<Plan>> {
        // Entries are inserted whole, so a panic elsewhere leaves nothing incomplete.
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.is_for(graph) { known.networks.get(key).cloned() } else { None }
    }

    pub(super) fn keep(&self, graph: &Arc<Graph>, key: Key, plan: &Arc<Plan>) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = plan.bytes(1) + 40 * key.free.len() as u128;
        if bytes > u128::from(self.budget.0) {
            return;
        }
        if !known.is_for(graph) || known.bytes + bytes > u128::from(self.budget.0) {
            *known = Known { graph: Some(graph.clone()), ..Known::default() };
        }
        if known.networks.insert(key, plan.clone()).is_none() {
            known.bytes += bytes;
        }
    }
}
