//! The log-likelihood of rows that a fit has not seen.

use super::check_rows;
use crate::engine::Guarantee;
use crate::learn::selection::Mean;
use crate::likelihood::{Phases, log_likelihoods};
use crate::{Machine, Result, Table};

/// The log-likelihood of held-out rows under a machine.
#[derive(Debug, Clone, PartialEq)]
pub struct HeldOut {
    /// The average over rows.
    pub mean: f64,
    /// Its standard error: of rows, and of log Z where that is an estimate.
    pub error: f64,
    /// That of log Z alone, where it is an estimate.
    pub log_z_error: Option<f64>,
    /// What kind of number the average is.
    pub guarantee: Guarantee,
    values: Vec<f64>,
    weights: Vec<f64>,
}

impl HeldOut {
    /// Computes it with an engine for each phase.
    ///
    /// # Errors
    /// A table that does not fit the machine, or whose rows have no weight; those of the engines.
    pub fn of(machine: &Machine, table: &Table, phases: Phases<'_>) -> Result<Self> {
        check_rows(table.total_weight())?;
        let found = log_likelihoods(machine, table, phases)?;
        let weights: Vec<f64> = (0..table.distinct_count()).map(|row| table.weight(row)).collect();
        let Mean { mean, error } = Mean::of(&found.values, &weights);
        // Rows share one log Z, and so its error.
        let log_z_error = found.errors.map(|errors| errors.iter().copied().fold(0.0, f64::max));
        let error = error.hypot(log_z_error.unwrap_or(0.0));
        Ok(Self { mean, error, log_z_error, guarantee: found.guarantee, values: found.values, weights })
    }

    /// How much more probable the same rows are here than under another machine, with its standard
    /// error.
    #[must_use]
    pub fn above(&self, other: &Self) -> (f64, f64) {
        let differences: Vec<f64> = self.values.iter().zip(&other.values).map(|(a, b)| a - b).collect();
        let Mean { mean, error } = Mean::of(&differences, &self.weights);
        let of_log_z = self.log_z_error.unwrap_or(0.0).hypot(other.log_z_error.unwrap_or(0.0));
        (mean, error.hypot(of_log_z))
    }
}
