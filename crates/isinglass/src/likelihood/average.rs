//! The average log-likelihood of the rows of a table, and the moments of its gradient.

use super::{Phases, TwoPhase, check_log_z, required};
use crate::engine::{Ask, Diagnostics, Engine, Guarantee, Statistics};
use crate::table::Batch;
use crate::{Machine, Result, Table};

/// The average log-likelihood of a row, visible given input units.
#[derive(Debug, Clone, PartialEq)]
pub struct LogLikelihood {
    /// The average.
    pub value: f64,
    /// Its standard error, where it is an estimate with one.
    pub error: Option<f64>,
    /// What kind of number it is.
    pub guarantee: Guarantee,
    /// How the computation went, both phases together.
    pub diagnostics: Diagnostics,
}

/// The sums of moments whose difference is the gradient of the log-likelihood.
#[derive(Debug, Clone, PartialEq)]
pub struct Moments {
    /// Over the rows, with the table's cells clamped.
    pub clamped: Statistics,
    /// Over the rows, with the input units clamped alone.
    pub free: Statistics,
}

/// The average log-likelihood of a table as a function of a machine with a given structure.
///
/// Rows without free units are summed up once; only rows with hidden or missing units go to the
/// engine at every evaluation.
///
/// ```text
/// L = Σ_r w_r [ log Z(visible_r, input_r) − log Z(input_r) ] / Σ_r w_r
/// ```
///
/// (Rüger 1997, eq. 2.)
pub struct AverageLikelihood<'a> {
    phases: Phases<'a>,
    rows: ClampedRows,
    free: Batch,
}

/// The rows of a table in the clamped phase: those without free units are summed up, the others
/// are a batch.
pub(crate) struct ClampedRows {
    complete: Statistics,
    incomplete: Batch,
    pub(crate) total_weight: f64,
}

/// The average log-likelihood of a row of a table, visible given input units.
///
/// # Errors
/// As [`AverageLikelihood::new`] and [`AverageLikelihood::value`].
pub fn log_likelihood(machine: &Machine, table: &Table, phases: Phases<'_>) -> Result<LogLikelihood> {
    AverageLikelihood::new(phases, machine, table)?.value(machine)
}

impl<'a> AverageLikelihood<'a> {
    /// Prepares a table for the structure, names and roles of a machine.
    ///
    /// # Errors
    /// A table that does not fit the machine, or whose rows have no weight.
    pub fn new(phases: Phases<'a>, machine: &Machine, table: &Table) -> Result<Self> {
        let rows = TwoPhase::weighted(machine, table)?;
        Ok(Self { phases, rows: ClampedRows::of(machine, &rows)?, free: rows.free()? })
    }

    /// The sum of the weights of all rows.
    pub fn total_weight(&self) -> f64 {
        self.rows.total_weight
    }

    /// Whether the moments are the derivatives of the value, for the engines at work.
    pub fn moments_are_derivatives(&self) -> bool {
        self.engines().all(Engine::moments_are_derivatives)
    }

    /// Whether the engines at work are exact.
    pub(crate) fn is_exact(&self) -> bool {
        self.engines().all(Engine::is_exact)
    }

    /// The engines at work: that of the clamped phase only if a row has free units.
    fn engines(&self) -> impl Iterator<Item = &'a dyn Engine> {
        self.rows.are_open().then_some(self.phases.clamped).into_iter().chain([self.phases.free])
    }

    /// The value alone. Engines that have log Z without moments do not compute them.
    ///
    /// # Errors
    /// [`Error::CannotDo`](crate::Error::CannotDo) for an engine without log Z, before any work is
    /// done.
    pub fn value(&self, machine: &Machine) -> Result<LogLikelihood> {
        Ok(self.evaluate(machine, false)?.0)
    }

    /// The value, and the moments that its gradient consists of.
    ///
    /// # Errors
    /// As [`value`](Self::value).
    pub fn value_and_moments(&self, machine: &Machine) -> Result<(LogLikelihood, Moments)> {
        let (value, clamped, free) = self.evaluate(machine, true)?;
        let clamped = required(self.phases.clamped, clamped)?;
        Ok((value, Moments { clamped, free: required(self.phases.free, free)? }))
    }

    fn evaluate(
        &self,
        machine: &Machine,
        moments: bool,
    ) -> Result<(LogLikelihood, Option<Statistics>, Option<Statistics>)> {
        self.engines().try_for_each(check_log_z)?;
        // The offset cancels; left out, it cannot take digits from the difference.
        let machine = &machine.clone().with_offset(0.0)?;
        let clamped = self.rows.evaluate(self.phases.clamped, machine, moments)?;
        let free = Phase::of_rows(self.phases.free, machine, &self.free, moments)?;
        let error = match (clamped.error, free.error) {
            (Some(a), Some(b)) => Some(a.hypot(b)),
            (a, b) => a.or(b),
        };
        let value = LogLikelihood {
            value: (clamped.value - free.value) / self.total_weight(),
            error: error.map(|x| x / self.total_weight()),
            guarantee: clamped.guarantee.and(free.guarantee.negated()),
            diagnostics: clamped.diagnostics.and(free.diagnostics),
        };
        Ok((value, clamped.statistics, free.statistics))
    }
}

impl ClampedRows {
    /// The rows of positive weight of a table for a machine's structure.
    ///
    /// # Errors
    /// A table that does not fit the machine, or whose rows have no weight.
    pub(crate) fn new(machine: &Machine, table: &Table) -> Result<Self> {
        Self::of(machine, &TwoPhase::weighted(machine, table)?)
    }

    fn of(machine: &Machine, rows: &TwoPhase) -> Result<Self> {
        let (complete, incomplete) = rows.clamped(machine)?;
        // In the order of rows, so that the sum does not depend on how they are grouped.
        let total_weight = complete.weight + rows.incomplete().map(|(_, weight)| weight).sum::<f64>();
        Ok(Self { complete, incomplete, total_weight })
    }

    /// Whether any row has free units.
    pub(crate) fn are_open(&self) -> bool {
        self.incomplete.row_count() > 0
    }

    /// Σ w log Z over the rows, and the sums of their moments if requested; the engine is for rows
    /// with free units alone.
    ///
    /// # Errors
    /// Those of the engine; [`Error::CannotDo`](crate::Error::CannotDo) if it has no log Z.
    pub(crate) fn evaluate(&self, engine: &dyn Engine, machine: &Machine, moments: bool) -> Result<Phase> {
        let value = self.complete.log_weight(machine);
        if !self.are_open() {
            let (guarantee, diagnostics) = (Guarantee::Exact, Diagnostics::direct());
            let statistics = moments.then(|| self.complete.clone());
            return Ok(Phase { value, error: None, statistics, guarantee, diagnostics });
        }
        let mut phase = Phase::of_rows(engine, machine, &self.incomplete, moments)?;
        phase.value += value;
        if let Some(open) = phase.statistics.take() {
            let mut all = self.complete.clone();
            all.merge(&open)?;
            phase.statistics = Some(all);
        }
        Ok(phase)
    }
}

/// One phase: Σ w log Z over rows, and the sums of their moments if requested.
pub(crate) struct Phase {
    pub(crate) value: f64,
    pub(crate) error: Option<f64>,
    pub(crate) statistics: Option<Statistics>,
    pub(crate) guarantee: Guarantee,
    pub(crate) diagnostics: Diagnostics,
}

impl Phase {
    fn of_rows(engine: &dyn Engine, machine: &Machine, rows: &Batch, statistics: bool) -> Result<Self> {
        let answer = engine.batch(machine, rows, Ask { statistics, means: false })?;
        let log_z = required(engine, answer.log_z)?;
        let weighted = || rows.given_order().iter().zip(rows.weights());
        // The errors of rows are independent.
        let error = answer.log_z_errors.map(|errors| {
            weighted().map(|(&row, weight)| (weight * errors[row]).powi(2)).sum::<f64>().sqrt()
        });
        Ok(Self {
            value: weighted().map(|(&row, weight)| weight * log_z[row]).sum(),
            error,
            statistics: answer.statistics,
            guarantee: answer.guarantee,
            diagnostics: answer.diagnostics,
        })
    }
}
