//! A fit as a checkpoint holds it: without the names and roles of its machine.

use serde::{Deserialize, Serialize};

use super::{Fit, Step, Stop};
use crate::engine::{Diagnostics, Guarantee};
use crate::{Graph, Machine, Note, Result};

/// All of a [`Fit`], and of its machine what a fit may change.
#[derive(Serialize, Deserialize)]
pub(super) struct KeptFit {
    edges: Vec<(usize, usize)>,
    weights: Vec<f64>,
    biases: Vec<f64>,
    offset: f64,
    history: Vec<Step>,
    kept: usize,
    converged: bool,
    stopped: Stop,
    log_likelihood: Option<f64>,
    guarantee: Guarantee,
    pseudo_log_likelihood: Option<f64>,
    diagnostics: Diagnostics,
    notes: Vec<Note>,
}

impl KeptFit {
    pub(super) fn of(fit: &Fit) -> Self {
        Self {
            edges: fit.machine.graph().edges().to_vec(),
            weights: fit.machine.weights().to_vec(),
            biases: fit.machine.biases().to_vec(),
            offset: fit.machine.offset(),
            history: fit.history.clone(),
            kept: fit.kept,
            converged: fit.converged,
            stopped: fit.stopped.clone(),
            log_likelihood: fit.log_likelihood,
            guarantee: fit.guarantee,
            pseudo_log_likelihood: fit.pseudo_log_likelihood,
            diagnostics: fit.diagnostics.clone(),
            notes: fit.notes.clone(),
        }
    }

    /// The fit, of a machine with the names, roles and temperature of the structure.
    ///
    /// # Errors
    /// Numbers that are not those of such a machine.
    pub(super) fn fit(self, structure: &Machine) -> Result<Fit> {
        let same = self.edges == structure.graph().edges();
        let bare = if same {
            structure.clone()
        } else {
            Machine::from_graph(Graph::new(structure.unit_count(), self.edges)?)
                .with_names(structure.names().iter().cloned())?
                .with_roles(structure.roles().to_vec())?
                .with_temperature(structure.temperature())?
        };
        let machine = bare.with_parameters(self.weights, self.biases)?.with_offset(self.offset)?;
        Ok(Fit {
            machine,
            history: self.history,
            kept: self.kept,
            converged: self.converged,
            stopped: self.stopped,
            log_likelihood: self.log_likelihood,
            guarantee: self.guarantee,
            pseudo_log_likelihood: self.pseudo_log_likelihood,
            diagnostics: self.diagnostics,
            notes: self.notes,
        })
    }
}
