//! The log-likelihood of each row.

use super::{Phases, TwoPhase, check_log_z, required};
use crate::engine::{Ask, Diagnostics, Engine, Guarantee, in_pieces};
use crate::table::Batch;
use crate::{Machine, Result, Table};

/// Cells of rows that go to an engine in one batch.
const CELLS_AT_ONCE: usize = 1 << 22;

/// The log-likelihood of each distinct row of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct RowLikelihoods {
    /// log P(visible | input) of each distinct row, missing cells and hidden units summed out.
    pub values: Vec<f64>,
    /// Their standard errors, where they are estimates with one.
    pub errors: Option<Vec<f64>>,
    /// What kind of numbers these are.
    pub guarantee: Guarantee,
    /// How the computation went.
    pub diagnostics: Diagnostics,
}

/// The log-likelihood of each distinct row; their average by weight is that of the table.
///
/// Rows without free units need no engine in the clamped phase: `log P(s) = −E(s)/T − log Z`.
///
/// # Errors
/// A table that does not fit the machine; an engine without log Z; whatever the engines refuse.
///
/// # Example
/// ```
/// use isinglass::likelihood::{Phases, log_likelihoods};
/// use isinglass::prelude::*;
/// let coins = topology::full(3);
/// let table = Table::from_rows(["x0", "x1", "x2"], [[1, 1, -1], [0, 1, 1]])?;
/// let found = log_likelihoods(&coins, &table, Phases::both(&Enumerate::new()))?;
/// assert!((found.values[0] - -3.0 * 2f64.ln()).abs() < 1e-12);
/// assert!((found.values[1] - -2.0 * 2f64.ln()).abs() < 1e-12);
/// # Ok::<(), isinglass::Error>(())
/// ```
pub fn log_likelihoods(machine: &Machine, table: &Table, phases: Phases<'_>) -> Result<RowLikelihoods> {
    // The offset cancels; left out, it cannot take digits from the differences.
    let machine = &machine.clone().with_offset(0.0)?;
    let rows = TwoPhase::new(machine, table)?;
    let incomplete: Vec<&[i8]> = rows.incomplete().map(|(row, _)| row).collect();
    let clamped = Sums::of_rows(phases.clamped, machine, &incomplete)?;
    let free = Sums::of_rows(phases.free, machine, &rows.inputs().collect::<Vec<_>>())?;
    let mut open = clamped.values.iter().zip(&clamped.errors);
    let (mut values, mut errors) = (Vec::new(), Vec::new());
    for (row, &input) in rows.rows().zip(rows.input_of()) {
        // There is a sum for each row with free units, in their order.
        let (value, error) = if row.contains(&0) {
            open.next().map_or((0.0, 0.0), |(value, error)| (*value, *error))
        } else {
            (machine.log_weight(row), 0.0)
        };
        values.push(value - free.values[input]);
        errors.push(error.hypot(free.errors[input]));
    }
    Ok(RowLikelihoods {
        values,
        errors: (clamped.estimated || free.estimated).then_some(errors),
        guarantee: clamped.guarantee.and(free.guarantee.negated()),
        diagnostics: clamped.diagnostics.and(free.diagnostics),
    })
}

/// log Z of rows.
struct Sums {
    values: Vec<f64>,
    /// Standard errors; 0 where there are none.
    errors: Vec<f64>,
    /// Whether there are any.
    estimated: bool,
    guarantee: Guarantee,
    diagnostics: Diagnostics,
}

impl Sums {
    fn of_rows(engine: &dyn Engine, machine: &Machine, rows: &[&[i8]]) -> Result<Self> {
        let mut found = Self {
            values: Vec::new(),
            errors: Vec::new(),
            estimated: false,
            guarantee: Guarantee::Exact,
            diagnostics: Diagnostics::direct(),
        };
        if rows.is_empty() {
            return Ok(found);
        }
        check_log_z(engine)?;
        let at_once = CELLS_AT_ONCE / machine.unit_count().max(1);
        let free = |row: &[i8]| row.iter().filter(|&&cell| cell == 0).count();
        let ask = |piece: &[&[i8]]| {
            let batch = Batch::new(machine.unit_count(), &piece.concat(), &vec![1.0; piece.len()])?;
            engine.batch(machine, &batch, Ask::default())
        };
        in_pieces(rows, at_once, free, ask, |piece, answer| {
            found.values.extend(required(engine, answer.log_z)?);
            found.estimated |= answer.log_z_errors.is_some();
            found.errors.extend(answer.log_z_errors.unwrap_or_else(|| vec![0.0; piece.len()]));
            found.guarantee = found.guarantee.and(answer.guarantee);
            found.diagnostics = found.diagnostics.and(answer.diagnostics);
            Ok(())
        })?;
        Ok(found)
    }
}
