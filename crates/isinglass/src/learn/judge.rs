//! Which of the machines seen during a fit is the best, where the objective itself is approximate.

use super::Phases;
use crate::engine::Engine;
use crate::score::pseudo_log_likelihood;
use crate::{Machine, Result, Role, Table};

/// Rows by which machines are judged: where every cell is observed, and where the engine must sum over some.
const COMPLETE_ROWS: usize = 2000;
const INCOMPLETE_ROWS: usize = 100;

/// Compares machines by their pseudo-likelihood on some rows of the table: the completion quality of Kappen & Rodríguez 1997, eq. 37, which
/// needs no partition sum over all units and orders machines as the likelihood does (their figure 4).
pub(super) struct Judge<'a> {
    engine: &'a dyn Engine,
    rows: Table,
    best: Option<Candidate>,
    last: f64,
}

/// A machine that was seen.
pub(super) struct Candidate {
    pub(super) iteration: usize,
    pub(super) parameters: Vec<f64>,
    quality: f64,
}

impl<'a> Judge<'a> {
    /// None where both engines are exact: the objective is judge enough.
    pub(super) fn new(phases: Phases<'a>, start: &Machine, table: &Table) -> Result<Option<Self>> {
        if phases.clamped.is_exact() && phases.free.is_exact() {
            return Ok(None);
        }
        let incomplete = table.missing_cells() > 0 || start.with_role(Role::Hidden).next().is_some();
        let most = if incomplete { INCOMPLETE_ROWS } else { COMPLETE_ROWS };
        let count = table.distinct_rows();
        let mut rows = Table::new(table.columns().iter().cloned())?;
        // Rows at even distances, so that every part of the table has its say.
        for k in 0..count.min(most) {
            let row = k * count / count.min(most);
            rows.push(table.row(row), table.weight(row))?;
        }
        Ok(Some(Self { engine: phases.clamped, rows, best: None, last: f64::NEG_INFINITY }))
    }

    /// Look at the machine of an iteration.
    pub(super) fn hear(&mut self, iteration: usize, parameters: &[f64], machine: &Machine) -> Result<()> {
        let quality = pseudo_log_likelihood(machine, &self.rows, self.engine)?;
        self.last = quality;
        if self.best.as_ref().is_none_or(|best| quality > best.quality) {
            self.best = Some(Candidate { iteration, parameters: parameters.to_vec(), quality });
        }
        Ok(())
    }

    /// The best machine, and the pseudo-log-likelihood of the one that is kept: the last where the fit converged.
    pub(super) fn verdict(self, converged: bool) -> (Candidate, f64) {
        // Every climb visits its start.
        let best = self.best.expect("the start was looked at");
        let kept = if converged { self.last } else { best.quality };
        (best, kept)
    }
}
