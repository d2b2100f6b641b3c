//! Independent units: the baseline that every machine with couplings must beat.

use super::origin::Origin;
use super::{Checkpoint, Fit, Learner, Observer, Step, Stop};
use crate::engine::{Diagnostics, Guarantee};
use crate::numeric::stable::log_cosh;
use crate::{Error, Graph, Machine, Note, Result, Role, Table};

/// Fits each visible unit by itself, `θ_i = T artanh ⟨s_i⟩`: exact maximum likelihood without
/// edges.
///
/// A constant column has no finite maximum; its bias is that with half a row added of each value,
/// and a note says so. There are no iterations: a resumed fit is computed again.
///
/// # Example
/// ```
/// use isinglass::{Machine, Table, topology};
/// use isinglass::learn::{Factorized, Learner};
/// let table = Table::from_rows(["a", "b"], [[1, 1], [1, -1], [1, -1], [-1, 1]])?;
/// let start = topology::full(2).with_names(["a", "b"])?;
/// let fit = Factorized.fit(&start, &table)?;
/// assert!((fit.machine.biases()[0] - 0.5f64.atanh()).abs() < 1e-15);
/// assert_eq!(fit.machine.graph().edges().len(), 0);
/// # Ok::<(), isinglass::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Factorized;

impl Learner for Factorized {
    fn name(&self) -> &'static str {
        "factorized"
    }

    fn fit_from(
        &self,
        start: &Machine,
        table: &Table,
        from: Option<&Checkpoint>,
        observer: &mut dyn Observer,
    ) -> Result<Fit> {
        table.positions_in(start)?;
        let origin = Origin::new(self.name(), start, table, []);
        from.map(|state| origin.read::<()>(state)).transpose()?;
        let total = table.total_weight();
        if total <= 0.0 {
            return Err(Error::invalid("table", "the rows have no weight"));
        }
        let sums: Vec<(f64, f64)> = table.column_sums();
        let mut biases = vec![0.0; start.unit_count()];
        let mut constant = Vec::new();
        let mut empty = Vec::new();
        let mut log_likelihood = 0.0;
        for (name, (weight, sum)) in table.columns().iter().zip(sums) {
            let unit = start.position(name)?;
            if start.roles()[unit] != Role::Visible {
                continue;
            }
            let field = match Alone::of(weight, sum) {
                Alone::Empty => {
                    empty.push(name.as_str());
                    continue;
                }
                Alone::Constant(field) => {
                    constant.push(name.as_str());
                    field
                }
                Alone::Varied(field) => field,
            };
            biases[unit] = field * start.temperature();
            log_likelihood += (sum * field - weight * (log_cosh(field) + std::f64::consts::LN_2)) / total;
        }
        let machine = Machine::from_graph(Graph::new(start.unit_count(), [])?)
            .with_names(start.names().iter().cloned())?
            .with_roles(start.roles().to_vec())?
            .with_temperature(start.temperature())?
            .with_parameters(Vec::new(), biases)?;
        let step = Step { iteration: 0, objective: log_likelihood, gradient_norm: 0.0 };
        if from.is_none() {
            // The result is complete: a request to stop has no effect.
            let _ = observer.step(&step, &machine)?;
            observer.checkpoint(&step, &|| origin.state(&()))?;
        }
        Ok(Fit {
            machine,
            history: vec![step],
            kept: 0,
            converged: true,
            stopped: Stop::ClosedForm,
            log_likelihood: Some(log_likelihood),
            guarantee: Guarantee::Exact,
            pseudo_log_likelihood: None,
            diagnostics: Diagnostics::direct(),
            notes: about_alone(&constant, &empty).collect(),
        })
    }
}

/// The field, divided by T, of a unit without couplings.
pub(super) enum Alone {
    /// No cell has a value.
    Empty,
    /// All cells have one value: the field with half a row added of each value.
    Constant(f64),
    /// artanh ⟨s⟩.
    Varied(f64),
}

impl Alone {
    /// From the total weight of a column's present cells and their weighted sum.
    pub(super) fn of(weight: f64, sum: f64) -> Self {
        if weight <= 0.0 {
            return Self::Empty;
        }
        let mean = sum / weight;
        if mean.abs() >= 1.0 {
            let mean = mean.signum() * (1.0 - 1.0 / (weight + 1.0)).min(1.0 - f64::EPSILON);
            return Self::Constant(mean.atanh());
        }
        Self::Varied(mean.atanh())
    }
}

/// Notes on constant and empty columns.
pub(super) fn about_alone(constant: &[&str], empty: &[&str]) -> impl Iterator<Item = Note> {
    let constant = Note::of_columns(constant, Note::SmoothedColumns);
    constant.into_iter().chain(Note::of_columns(empty, Note::ZeroedColumns))
}
