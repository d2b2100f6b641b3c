//! The conditionals of all units as functions of one vector of parameters.

use rayon::prelude::*;

use super::{NAME, Prepared};
use crate::cancel;
use crate::numeric::dense::{add_transposed_times, multiply};
use crate::numeric::stable::log_sigmoid_twice;
use crate::{Budget, Machine, Result, Role};

/// The regression of one unit on its neighbours and the covariates.
pub(super) struct Conditional {
    /// A column for each feature: z_k s_j, or z_k for a bias.
    pub(super) features: Vec<f64>,
    /// The unit's own cells.
    own: Vec<f64>,
    /// The parameter of each feature.
    pub(super) places: Vec<usize>,
}

/// The conditionals of all units that are modelled.
///
/// Parameters are the base's couplings in the order of edges and biases in the order of units, then
/// in the same way those of each covariate.
pub(super) struct Joint {
    pub(super) units: Vec<Conditional>,
    pub(super) weights: Vec<f64>,
    /// The number of rows.
    pub(super) total: f64,
    edges: usize,
    block: usize,
    blocks: usize,
}

/// The value, the gradient, and minus the second derivatives (a square matrix; empty if not
/// requested).
pub(super) type Slopes = (f64, Vec<f64>, Vec<f64>);

impl Conditional {
    /// At the numbers of its own features.
    pub(super) fn evaluate(&self, weights: &[f64], numbers: &[f64], curved: bool) -> Slopes {
        cancel::point();
        let (rows, size) = (weights.len(), numbers.len());
        let fields = self.fields(numbers, rows);
        let value = fields.iter().zip(&self.own).zip(weights);
        let value = value.map(|((h, s), w)| w * log_sigmoid_twice(s * h)).sum();
        let pull: Vec<f64> = self.residuals(&fields).zip(weights).map(|(r, w)| r * w).collect();
        let mut gradient = vec![0.0; size];
        add_transposed_times(&mut gradient, &self.features, &pull, size, rows);
        let mut curvature = Vec::new();
        if curved {
            let bends: Vec<f64> =
                fields.iter().zip(weights).map(|(h, w)| w * (1.0 - h.tanh().powi(2))).collect();
            let mut bent = self.features.clone();
            for column in bent.chunks_mut(rows) {
                column.iter_mut().zip(&bends).for_each(|(x, bend)| *x *= bend);
            }
            curvature = vec![0.0; size * size];
            add_transposed_times(&mut curvature, &self.features, &bent, size, rows);
        }
        (value, gradient, curvature)
    }

    fn fields(&self, numbers: &[f64], rows: usize) -> Vec<f64> {
        let mut fields = vec![0.0; rows];
        multiply(&mut fields, &self.features, numbers, rows, numbers.len(), false);
        fields
    }

    /// s − tanh h: the derivative of the log-probability by the field.
    fn residuals<'a>(&'a self, fields: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
        self.own.iter().zip(fields).map(|(s, h)| s - h.tanh())
    }

    /// For each row, s − tanh h.
    pub(super) fn residuals_at(&self, numbers: &[f64]) -> Vec<f64> {
        self.residuals(&self.fields(numbers, self.own.len())).collect()
    }
}

impl Joint {
    pub(super) fn new(machine: &Machine, rows: &Prepared, budget: Budget) -> Result<Self> {
        let (count, edges) = (rows.weights.len(), machine.weights().len());
        let blocks = 1 + rows.z.len();
        let block = edges + machine.unit_count();
        let parameters = (block * blocks) as u128;
        let features = (2 * edges + machine.unit_count()) as u128 * (blocks * count) as u128;
        budget.check(NAME, 8 * (2 * features + 3 * parameters * parameters), || {
            format!("{parameters} parameters with {features} features in {count} rows")
        })?;
        let cells = |unit: usize| &rows.cells[unit * count..(unit + 1) * count];
        let of_unit = |unit: usize| {
            let (mut features, mut places) = (Vec::new(), Vec::new());
            for k in 0..blocks {
                let mut push = |others: Option<&[f64]>, place: usize| {
                    features.extend((0..count).map(|row| {
                        let z = if k == 0 { 1.0 } else { rows.z[k - 1][row] };
                        z * others.map_or(1.0, |others| others[row])
                    }));
                    places.push(k * block + place);
                };
                for (other, edge) in machine.graph().neighbours(unit) {
                    push(Some(cells(other)), edge);
                }
                push(None, edges + unit);
            }
            Conditional { features, own: cells(unit).to_vec(), places }
        };
        let units = machine.with_role(Role::Visible).map(of_unit).collect();
        Ok(Self { units, weights: rows.weights.clone(), total: rows.total, edges, block, blocks })
    }

    /// The number of parameters.
    pub(super) fn parameters(&self) -> usize {
        self.block * self.blocks
    }

    /// Whether a parameter is a coupling or its change, and not a bias.
    pub(super) fn is_coupling(&self, place: usize) -> bool {
        place % self.block < self.edges
    }

    /// The coupling at the means of covariates that a parameter changes, or itself.
    pub(super) fn base_of(&self, place: usize) -> usize {
        place % self.block
    }

    /// The average over rows of the sum over units.
    pub(super) fn evaluate(&self, parameters: &[f64], curved: bool) -> Slopes {
        let of_unit = |unit: &Conditional| {
            let numbers: Vec<f64> = unit.places.iter().map(|&place| parameters[place]).collect();
            unit.evaluate(&self.weights, &numbers, curved)
        };
        let found: Vec<Slopes> = self.units.par_iter().map(of_unit).collect();
        let count = self.parameters();
        let (mut value, mut gradient) = (0.0, vec![0.0; count]);
        let mut curvature = vec![0.0; if curved { count * count } else { 0 }];
        for (unit, (of_value, of_gradient, of_curvature)) in self.units.iter().zip(&found) {
            value += of_value;
            for (&place, slope) in unit.places.iter().zip(of_gradient) {
                gradient[place] += slope;
            }
            for (column, &b) in of_curvature.chunks(unit.places.len().max(1)).zip(&unit.places) {
                for (bend, &a) in column.iter().zip(&unit.places) {
                    curvature[b * count + a] += bend;
                }
            }
        }
        (value, gradient, curvature)
    }
}
