//! The parameters that a learner trains, as one vector.

use crate::{Machine, Result, Role};

/// All weights but those between input units, then all biases but those of input units.
pub(super) struct Trained {
    start: Machine,
    pub(super) edges: Vec<usize>,
    pub(super) biases: Vec<usize>,
}

impl Trained {
    pub(super) fn of(start: &Machine) -> Self {
        let is_input = |unit: usize| start.roles()[unit] == Role::Input;
        let edges = start.graph().edges().iter().enumerate();
        Self {
            edges: edges
                .filter(|&(_, &(a, b))| !(is_input(a) && is_input(b)))
                .map(|(edge, _)| edge)
                .collect(),
            biases: (0..start.unit_count()).filter(|&unit| !is_input(unit)).collect(),
            start: start.clone(),
        }
    }

    pub(super) fn ends(&self) -> impl Iterator<Item = (usize, usize)> {
        self.edges.iter().map(|&edge| self.start.graph().edges()[edge])
    }

    /// The trained parameters of a machine with this structure.
    pub(super) fn parameters_of(&self, machine: &Machine) -> Vec<f64> {
        let weights = self.edges.iter().map(|&edge| machine.weights()[edge]);
        let biases = self.biases.iter().map(|&unit| machine.biases()[unit]);
        weights.chain(biases).collect()
    }

    /// The start with other trained parameters.
    pub(super) fn machine_of(&self, parameters: &[f64]) -> Result<Machine> {
        let mut weights = self.start.weights().to_vec();
        let mut biases = self.start.biases().to_vec();
        let (edge_part, bias_part) = parameters.split_at(self.edges.len());
        for (&edge, &value) in self.edges.iter().zip(edge_part) {
            weights[edge] = value;
        }
        for (&unit, &value) in self.biases.iter().zip(bias_part) {
            biases[unit] = value;
        }
        self.start.clone().with_parameters(weights, biases)
    }
}
