//! Which of the machines seen during a fit is the best, where the objective itself is approximate.

use serde::{Deserialize, Serialize};

use crate::engine::Engine;
use crate::likelihood::Phases;
use crate::likelihood::pseudo_log_likelihood;
use crate::{Error, Machine, Result, Role, Table};

/// Most rows by which machines are judged: with every cell observed, and with some to be summed
/// out.
const COMPLETE_ROWS: usize = 2000;
const INCOMPLETE_ROWS: usize = 100;

/// Iterations without a better machine after which a fit may end.
const STALLED_AFTER: usize = 100;

/// At most so many iterations pass from one that is judged to the next.
const LONGEST_PAUSE: usize = 10;

/// Returns rows at even distances, so that every part of the table counts.
pub(super) fn some_rows(table: &Table, most: usize) -> Result<Table> {
    let weighed: Vec<usize> = (0..table.distinct_count()).filter(|&row| table.weight(row) > 0.0).collect();
    let mut rows = Table::new(table.columns().iter().cloned())?;
    if weighed.len() <= most {
        for row in weighed {
            rows.push(table.row(row), table.weight(row))?;
        }
        return Ok(rows);
    }
    // At equal distances along the weights laid end to end: a row of twice the weight is counted
    // twice as often.
    let share = weighed.iter().map(|&row| table.weight(row)).sum::<f64>() / most as f64;
    let (mut end, mut counted) = (0.0, 0);
    for row in weighed {
        end += table.weight(row);
        let times = ((end / share + 0.5).floor() as usize).min(most) - counted;
        if times > 0 {
            rows.push(table.row(row), times as f64 * share)?;
            counted += times;
        }
    }
    Ok(rows)
}

/// Compares machines by their pseudo-likelihood on some rows of the table: the completion quality
/// of Kappen & Rodríguez 1997, eq. 37, which needs no partition sum over all units and orders
/// machines as the likelihood does (their figure 4).
pub(super) struct Judge<'a> {
    engine: &'a dyn Engine,
    rows: Table,
    /// Every n-th iteration is judged, so that judging costs about as much as the gradient.
    pause: usize,
    best: Option<Candidate>,
}

/// A machine that was seen.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Candidate {
    pub(super) iteration: usize,
    pub(super) parameters: Vec<f64>,
    pub(super) quality: f64,
}

impl<'a> Judge<'a> {
    /// None where both engines are exact: the objective is judge enough.
    pub(super) fn new(phases: Phases<'a>, start: &Machine, table: &Table) -> Result<Option<Self>> {
        if phases.clamped.is_exact() && phases.free.is_exact() {
            return Ok(None);
        }
        let incomplete = table.missing_count() > 0 || start.with_role(Role::Hidden).next().is_some();
        let most = if incomplete { INCOMPLETE_ROWS } else { COMPLETE_ROWS };
        let count = table.distinct_count();
        let rows = some_rows(table, most)?;
        // With hidden units or gaps, each observed cell of a row is turned over once.
        let turned = if incomplete { rows.row_count() * (1 + table.columns().len()) } else { 0 };
        let pause = (turned / count.max(1)).clamp(1, LONGEST_PAUSE);
        Ok(Some(Self { engine: phases.clamped, rows, pause, best: None }))
    }

    /// The best machine so far: all that a judge remembers.
    pub(super) fn best(&self) -> Option<&Candidate> {
        self.best.as_ref()
    }

    /// Restores the best machine of a checkpoint.
    ///
    /// # Errors
    /// A machine that does not have so many parameters.
    pub(super) fn remember(&mut self, best: &Candidate, parameters: usize) -> Result<()> {
        Error::check_length("parameters of the state's best machine", best.parameters.len(), parameters)?;
        self.best = Some(best.clone());
        Ok(())
    }

    /// Judges the machine of an iteration, if it is its turn.
    pub(super) fn visit(&mut self, iteration: usize, parameters: &[f64], machine: &Machine) -> Result<()> {
        if !iteration.is_multiple_of(self.pause) {
            return Ok(());
        }
        match self.compare(iteration, parameters, machine) {
            // A machine that the engine cannot judge is not the best.
            Err(error) if error.is_breakdown() => Ok(()),
            judged => judged.map(drop),
        }
    }

    fn compare(&mut self, iteration: usize, parameters: &[f64], machine: &Machine) -> Result<f64> {
        let quality = pseudo_log_likelihood(machine, &self.rows, self.engine)?;
        if self.best.as_ref().is_none_or(|best| quality > best.quality) {
            self.best = Some(Candidate { iteration, parameters: parameters.to_vec(), quality });
        }
        Ok(quality)
    }

    /// Whether no machine has been better for many iterations.
    pub(super) fn is_stalled(&self, iteration: usize) -> bool {
        self.best.as_ref().is_some_and(|best| {
            iteration.saturating_sub(best.iteration) >= STALLED_AFTER.max(10 * self.pause)
        })
    }

    /// Returns what a fit keeps: the last machine if it converged, otherwise the best of those
    /// judged.
    pub(super) fn verdict(
        mut self,
        converged: bool,
        (iteration, parameters, machine): (usize, &[f64], &Machine),
    ) -> Result<Candidate> {
        let quality = self.compare(iteration, parameters, machine)?;
        let last = Candidate { iteration, parameters: parameters.to_vec(), quality };
        Ok(self.best.filter(|_| !converged).unwrap_or(last))
    }
}
