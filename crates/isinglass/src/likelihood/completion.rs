//! log P(s_i | all other observed cells of the row), for every observed visible cell.

use super::{Conditionals, TwoPhase, check_log_z, required};
use crate::engine::{Ask, Diagnostics, Engine, Guarantee};
use crate::numeric::stable::log_add;
use crate::table::Batch;
use crate::{Machine, Result, Role, Table};

/// Cells of rows and their flipped copies that go to the engine in one batch.
const CELLS_AT_ONCE: usize = 1 << 22;

pub(crate) struct Completion {
    /// Σ over cells, averaged over rows with weights.
    pub(crate) per_row: f64,
    /// Averaged over cells with the weights of their rows; `None` if no cell is observed.
    pub(crate) per_cell: Option<f64>,
    pub(crate) guarantee: Guarantee,
    pub(crate) diagnostics: Diagnostics,
}

/// Rows without free units need only the fields of their units. In the others, each cell is flipped
/// in turn: `log P(s_i | rest) = log Z(row) − log(Z(row) + Z(row with i flipped))`.
pub(crate) fn completion(machine: &Machine, table: &Table, engine: &dyn Engine) -> Result<Completion> {
    // The offset cancels; left out, it cannot take digits from the differences.
    let machine = &machine.clone().with_offset(0.0)?;
    let n = machine.unit_count();
    let rows = TwoPhase::new(machine, table)?;
    let visible: Vec<usize> = machine.with_role(Role::Visible).collect();
    let observed = |row: &[i8]| visible.iter().filter(|&&unit| row[unit] != 0).count();
    let weighted = rows.rows().zip(rows.weights());
    let cell_weight: f64 = weighted.map(|(row, weight)| weight * observed(row) as f64).sum();
    let complete: Vec<(&[i8], f64)> = rows.complete().collect();
    let incomplete: Vec<(&[i8], f64)> = rows.incomplete().collect();
    let mut sum = if complete.is_empty() {
        0.0
    } else {
        Conditionals::new(machine).sum(&complete, &visible, &vec![0.0; n])
    };
    let (guarantee, diagnostics) =
        of_incomplete(machine, &incomplete, &visible, engine, &mut |(_, weight), values| {
            sum += weight * values.iter().sum::<f64>();
        })?;
    let total: f64 = rows.weights().iter().sum();
    Ok(Completion {
        per_row: sum / total,
        per_cell: (cell_weight > 0.0).then(|| sum / cell_weight),
        guarantee,
        diagnostics,
    })
}

/// Called for each row and its weight with the log-probabilities of its observed visible cells, in
/// the order of the units.
type OfRow<'a> = dyn FnMut((&[i8], f64), &[f64]) + 'a;

/// log P(s_i | all other observed cells of the row) of every observed visible cell.
pub(crate) fn cell_log_probabilities(
    machine: &Machine,
    table: &Table,
    engine: &dyn Engine,
    of_row: &mut OfRow<'_>,
) -> Result<(Guarantee, Diagnostics)> {
    let machine = &machine.clone().with_offset(0.0)?;
    let rows = TwoPhase::new(machine, table)?;
    let visible: Vec<usize> = machine.with_role(Role::Visible).collect();
    let complete: Vec<(&[i8], f64)> = rows.complete().collect();
    let cells: Vec<&[i8]> = complete.iter().map(|(row, _)| *row).collect();
    let values = Conditionals::new(machine).each(&cells, &visible);
    for (row, values) in complete.iter().zip(values.chunks(visible.len().max(1))) {
        of_row(*row, values);
    }
    let incomplete: Vec<(&[i8], f64)> = rows.incomplete().collect();
    of_incomplete(machine, &incomplete, &visible, engine, of_row)
}

/// The cells of rows with free units: each is flipped in turn.
fn of_incomplete(
    machine: &Machine,
    rows: &[(&[i8], f64)],
    visible: &[usize],
    engine: &dyn Engine,
    of_row: &mut OfRow<'_>,
) -> Result<(Guarantee, Diagnostics)> {
    if !rows.is_empty() {
        check_log_z(engine)?;
    }
    let n = machine.unit_count();
    let mut guarantee = Guarantee::Exact;
    let mut diagnostics = Diagnostics::direct();
    let cells_of_a_row = (n * (1 + visible.len())).max(1);
    for some in rows.chunks((CELLS_AT_ONCE / cells_of_a_row).max(1)) {
        let mut variants = Vec::new();
        let mut ends = Vec::with_capacity(some.len());
        for (row, _) in some {
            variants.extend_from_slice(row);
            for &unit in visible.iter().filter(|&&unit| row[unit] != 0) {
                let start = variants.len();
                variants.extend_from_slice(row);
                variants[start + unit] = -row[unit];
            }
            ends.push(variants.len() / n);
        }
        let count = variants.len() / n;
        let answer = engine.batch(machine, &Batch::new(n, &variants, &vec![1.0; count])?, Ask::default())?;
        guarantee = guarantee.and(answer.guarantee.of_ratio());
        diagnostics = diagnostics.and(answer.diagnostics);
        let log_z = required(engine, answer.log_z)?;
        let mut begin = 0;
        for (row, &end) in some.iter().zip(&ends) {
            let own = &log_z[begin..end];
            let cells: Vec<f64> = own[1..].iter().map(|&flipped| own[0] - log_add(own[0], flipped)).collect();
            of_row(*row, &cells);
            begin = end;
        }
    }
    Ok((guarantee, diagnostics))
}

/// The average pseudo-log-likelihood of a row: Σ_i log P(s_i | all other observed cells of the
/// row).
pub(crate) fn pseudo_log_likelihood(machine: &Machine, table: &Table, engine: &dyn Engine) -> Result<f64> {
    Ok(completion(machine, table, engine)?.per_row)
}
