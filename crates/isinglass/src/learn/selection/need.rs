//! Where a fit without any penalty would be bad: columns that others determine, and few rows.

use crate::learn::notes::determined;
use crate::learn::pseudo_likelihood::weakest_penalty;
use crate::learn::{Learner, PseudoLikelihood};
use crate::{Budget, Machine, Result, Role, Table};

/// Rows are few if there are fewer than so many for each parameter of a unit's conditional.
///
/// On the splice junctions of the density-estimation benchmarks (1,600 rows × 180 columns, 9 rows
/// for each parameter) a penalty gains 4 nats per row that the fit has not seen; on 50 neurons
/// (20,000 rows, 400 for each) it gains nothing.
const FEW_ROWS: f64 = 10.0;

/// Iterations of the fit that shows which columns are determined.
const ITERATIONS: usize = 100;

/// Why couplings need a penalty.
#[derive(Debug, Clone, PartialEq)]
pub enum Need {
    /// Columns that others determine: their couplings have no finite optimum.
    Determined(Vec<String>),
    /// Few rows for the parameters.
    FewRows {
        /// The weight of the rows.
        rows: f64,
        /// The parameters of a unit's conditional, on average.
        parameters: f64,
    },
}

impl Need {
    /// Why a fit of a machine without hidden units needs a penalty, if it does.
    ///
    /// Determined columns are found by a fit of the pseudo-likelihood with a penalty that no
    /// coupling notices which rows can bound: where a conditional was never wrong, more rows like
    /// these would leave it so. Only complete rows count.
    ///
    /// # Errors
    /// A table that does not fit the machine; more memory than the budget has.
    pub fn of(start: &Machine, table: &Table, budget: Budget) -> Result<Option<Self>> {
        let visible = start.with_role(Role::Visible).count();
        let rows = table.total_weight();
        let complete = complete_rows(table)?;
        if visible > 0 && complete.total_weight() > 0.0 {
            let l2 = weakest_penalty(complete.total_weight()) / start.temperature().powi(2);
            let learner = PseudoLikelihood::new().l2(l2).iterations(ITERATIONS).budget(budget);
            let probe = learner.fit(start, &complete)?.machine;
            let sums = complete.column_sums();
            let is_constant = |name: &str| {
                let column = complete.columns().iter().position(|column| column == name);
                column.is_some_and(|k| sums[k].1.abs() >= sums[k].0)
            };
            let names = determined(&probe, &complete).into_iter().filter(|name| !is_constant(name));
            let names: Vec<String> = names.map(str::to_owned).collect();
            if !names.is_empty() {
                return Ok(Some(Self::Determined(names)));
            }
        }
        let degrees: usize = start.with_role(Role::Visible).map(|unit| start.graph().degree(unit) + 1).sum();
        let parameters = degrees as f64 / visible.max(1) as f64;
        let is_few = parameters > 1.0 && rows < FEW_ROWS * parameters;
        Ok(is_few.then_some(Self::FewRows { rows, parameters }))
    }
}

/// The rows without missing cells.
///
/// # Errors
/// None for a table that exists.
pub fn complete_rows(table: &Table) -> Result<Table> {
    let mut complete = Table::new(table.columns().iter().cloned())?;
    for row in 0..table.distinct_count() {
        if !table.row(row).contains(&0) && table.weight(row) > 0.0 {
            complete.push(table.row(row), table.weight(row))?;
        }
    }
    Ok(complete)
}
