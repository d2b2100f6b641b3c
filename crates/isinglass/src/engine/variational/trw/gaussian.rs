//! The Gaussian among the subgraphs: the bound of engine `logdet` as a member of the split.
//!
//! It holds all parameters, and its own multipliers and shapes are further variables of the search.
//! Its bound is convex and at least log Z, so that with any share it is a member like a subgraph:
//! the mixture is the largest value of energy plus the shared entropies over the same moments.

use super::super::logdet::{Dual, LogDet};
use crate::numeric::dense::Matrix;
use crate::{Graph, Result};

/// What the variables of the Gaussian stand for.
pub(super) struct Gaussian {
    units: usize,
    edges: Vec<(usize, usize)>,
    has_fields: bool,
}

/// The Gaussian of a row during a search.
pub(super) struct Running<'a> {
    gaussian: &'a Gaussian,
    dual: Dual,
    /// The derivatives of its bound by its own variables.
    pub(super) slopes: Vec<f64>,
}

impl Gaussian {
    pub(super) fn new(graph: &Graph, has_fields: bool) -> Self {
        Self { units: graph.unit_count(), edges: graph.edges().to_vec(), has_fields }
    }

    /// The units of the form: those of the graph, and one for biases.
    fn size(&self) -> usize {
        self.units + usize::from(self.has_fields)
    }

    /// The number of its own variables: multipliers, then shapes.
    pub(super) fn variables(&self) -> usize {
        2 * self.size()
    }

    /// The bytes of a row.
    pub(super) fn bytes(units: usize) -> u128 {
        LogDet::default().bytes(units)
    }

    pub(super) fn run(&self) -> Running<'_> {
        let dual = Dual::new(Matrix::zeros(self.size()), super::Trw::NAME);
        Running { gaussian: self, dual, slopes: vec![0.0; self.variables()] }
    }
}

impl Running<'_> {
    /// The couplings of some parameters: those of all edges, then the fields of all units.
    fn load(&mut self, parameters: &[f64]) {
        let Gaussian { units, edges, has_fields } = self.gaussian;
        let (weights, fields) = parameters.split_at(edges.len());
        for (&(a, b), &weight) in edges.iter().zip(weights) {
            self.dual.couplings.set_both(a, b, weight);
        }
        if *has_fields {
            for (unit, &field) in fields.iter().enumerate() {
                self.dual.couplings.set_both(*units, unit, field);
            }
        }
    }

    /// The variables to begin with, where the Gaussian has all parameters alone.
    pub(super) fn start(&mut self, parameters: &[f64]) -> Result<Vec<f64>> {
        self.load(parameters);
        self.dual.start()
    }

    /// The bound on log Z for some parameters, its derivatives by them, and by its own variables.
    pub(super) fn solve(
        &mut self,
        parameters: &[f64],
        variables: &[f64],
        moments: &mut [f64],
    ) -> Result<f64> {
        self.load(parameters);
        let point = self.dual.at(variables)?;
        let (by_edge, by_unit) = moments.split_at_mut(self.gaussian.edges.len());
        for (moment, &(a, b)) in by_edge.iter_mut().zip(&self.gaussian.edges) {
            *moment = point.moments[(a, b)];
        }
        for (unit, moment) in by_unit.iter_mut().enumerate() {
            *moment = point.moments[(self.gaussian.units, unit)];
        }
        self.slopes.copy_from_slice(&point.slopes);
        Ok(point.value - self.doubled())
    }

    /// The same bound, not below what it would be without rounding.
    pub(super) fn rigorous(&mut self, parameters: &[f64], variables: &[f64]) -> Result<f64> {
        self.load(parameters);
        Ok(self.dual.rigorous(variables)? - self.doubled())
    }

    /// What the unit of the biases adds.
    fn doubled(&self) -> f64 {
        if self.gaussian.has_fields { std::f64::consts::LN_2 } else { 0.0 }
    }
}
