//! log P(s_i | all other observed cells of the row), for every observed visible cell.

use crate::engine::{Ask, Batch, Diagnostics, Engine, Guarantee, WITH_LOG_Z};
use crate::learn::Conditionals;
use crate::numeric::stable::log_add;
use crate::{Error, Machine, Result, Role, Table};

/// Cells of rows and their flipped copies that go to the engine in one batch.
const CELLS_AT_ONCE: usize = 1 << 22;

pub(super) struct Completion {
    /// Σ over cells, averaged over rows with weights.
    pub(super) per_row: f64,
    /// Averaged over cells with the weights of their rows; `None` if no cell is observed.
    pub(super) per_cell: Option<f64>,
    pub(super) guarantee: Guarantee,
    pub(super) diagnostics: Diagnostics,
}

/// Rows without free units need only the fields of their units. In the others, each cell is flipped in turn:
/// `log P(s_i | rest) = log Z(row) − log(Z(row) + Z(row with i flipped))`.
pub(super) fn completion(machine: &Machine, table: &Table, engine: &dyn Engine) -> Result<Completion> {
    // The offset cancels; left out, it cannot take digits from the differences.
    let machine = &machine.clone().with_offset(0.0)?;
    let n = machine.units();
    let (cells, weights) = table.cells_for(machine)?;
    let visible: Vec<usize> = machine.with_role(Role::Visible).collect();
    let mut cell_weight = 0.0;
    let mut complete = Vec::new();
    let mut incomplete = Vec::new();
    for (row, &weight) in cells.chunks_exact(n.max(1)).zip(&weights) {
        cell_weight += weight * visible.iter().filter(|&&unit| row[unit] != 0).count() as f64;
        if row.contains(&0) {
            incomplete.push((row, weight));
        } else {
            complete.push((row, weight));
        }
    }
    let cannot = || Error::CannotDo {
        who: engine.name(),
        what: "sum out missing or hidden units".into(),
        why: format!("it has no log Z; {WITH_LOG_Z}"),
    };
    if !incomplete.is_empty() && !engine.has_log_z() {
        return Err(cannot());
    }
    let mut sum = if complete.is_empty() {
        0.0
    } else {
        Conditionals::new(machine).sum(&complete, &visible, &vec![0.0; n])
    };
    let mut guarantee = Guarantee::Exact;
    let mut diagnostics = Diagnostics::direct();
    let cells_of_a_row = (n * (1 + visible.len())).max(1);
    for rows in incomplete.chunks((CELLS_AT_ONCE / cells_of_a_row).max(1)) {
        let mut variants = Vec::new();
        for (row, _) in rows {
            variants.extend_from_slice(row);
            for &unit in visible.iter().filter(|&&unit| row[unit] != 0) {
                let start = variants.len();
                variants.extend_from_slice(row);
                variants[start + unit] = -row[unit];
            }
        }
        let count = variants.len() / n;
        let answer = engine.batch(machine, &Batch::new(n, &variants, &vec![1.0; count])?, Ask::default())?;
        guarantee = guarantee.and(answer.guarantee.of_ratio());
        diagnostics = diagnostics.and(answer.diagnostics);
        let log_z = answer.log_z.ok_or_else(cannot)?;
        let mut rest = log_z.as_slice();
        for (row, weight) in rows {
            let flips = visible.iter().filter(|&&unit| row[unit] != 0).count();
            let (own, others) = rest.split_at(1 + flips);
            let cells = own[1..].iter().map(|&flipped| own[0] - log_add(own[0], flipped));
            sum += weight * cells.sum::<f64>();
            rest = others;
        }
    }
    let total: f64 = weights.iter().sum();
    Ok(Completion {
        per_row: sum / total,
        per_cell: (cell_weight > 0.0).then(|| sum / cell_weight),
        guarantee,
        diagnostics,
    })
}
