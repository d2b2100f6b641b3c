//! Random patterns, and the quality of the machines that the source's methods learn from them.

use isinglass::learn::{ClosedForm, Factorized, Learner, Likelihood, Remedy, Singular};
use isinglass::{Enumerate, Machine, Result, Table, topology};
use rand::{Rng, RngExt};

use crate::reproduce::learning::divergence_and_completion;
use crate::streams::spin;

/// Patterns to be learned, restricted to the units that vary.
///
/// A constant unit is learned equally by all methods, with an infinite threshold: it adds nothing
/// to K, and log 1 to the sum in Q. Leaving such units out gives the same result with finite
/// numbers.
pub(super) struct Patterns {
    table: Table,
    /// The number of units, constant ones included.
    units: usize,
}

/// K and Q of a machine.
#[derive(Debug, Clone, Copy)]
pub(super) struct Quality {
    pub(super) k: f64,
    pub(super) q: f64,
}

impl Patterns {
    /// Draws patterns of random spins, all with the same probability; a pattern may repeat.
    pub(super) fn uniform(units: usize, count: usize, random: &mut impl Rng) -> Result<Self> {
        let rows: Vec<(Vec<i8>, f64)> =
            (0..count).map(|_| ((0..units).map(|_| spin(random)).collect(), 1.0)).collect();
        Self::from_rows(units, &rows)
    }

    /// Draws distinct patterns with random probabilities: uniform numbers divided by their sum.
    pub(super) fn weighted(units: usize, count: usize, random: &mut impl Rng) -> Result<Self> {
        let mut states: Vec<u32> = (0..1 << units).collect();
        // The first steps of a shuffle draw without replacement.
        for k in 0..count {
            let other = random.random_range(k..states.len());
            states.swap(k, other);
        }
        let row = |state: u32| (0..units).map(|unit| if state >> unit & 1 == 1 { 1 } else { -1 }).collect();
        let rows: Vec<(Vec<i8>, f64)> =
            states[..count].iter().map(|&state| (row(state), 1.0 - random.random::<f64>())).collect();
        Self::from_rows(units, &rows)
    }

    fn from_rows(units: usize, rows: &[(Vec<i8>, f64)]) -> Result<Self> {
        let varies = |unit: &usize| rows.iter().any(|(row, _)| row[*unit] != rows[0].0[*unit]);
        let varying: Vec<usize> = (0..units).filter(varies).collect();
        let mut table = Table::new((0..varying.len()).map(|k| format!("x{k}")))?;
        for (row, weight) in rows {
            table.push(&varying.iter().map(|&unit| row[unit]).collect::<Vec<_>>(), *weight)?;
        }
        Ok(Self { table, units })
    }

    fn start(&self) -> Machine {
        topology::full(self.table.columns().len())
    }

    /// Fits by maximum likelihood with the exact gradient.
    pub(super) fn exact(&self) -> Result<Quality> {
        let engine = Enumerate::default();
        let fit = |start: &Machine| Likelihood::new(&engine).fit(start, &self.table);
        self.quality(|start| Ok(fit(start)?.machine))
    }

    /// Fits independent units.
    pub(super) fn factorized(&self) -> Result<Quality> {
        self.quality(|start| Ok(Factorized.fit(start, &self.table)?.machine))
    }

    /// Fits by linear response with self-coupling: the closed form, or least squares where
    /// covariances are singular. Returns `None` if no solution was found.
    pub(super) fn linear_response(&self) -> Result<Option<Quality>> {
        Ok(self.linear_response_with_remedy()?.map(|(quality, _)| quality))
    }

    /// As [`Self::linear_response`], with the remedy used where covariances are singular.
    ///
    /// Then the equations hold for infinite weights only. Least squares stop at the learner's
    /// tolerance, which decides how large the weights become, and so K.
    pub(super) fn linear_response_with_remedy(&self) -> Result<Option<(Quality, Remedy)>> {
        self.closed_form(ClosedForm::new().singular(Singular::LevenbergMarquardt))
    }

    /// Fits by linear response without self-coupling, whose equations always have a solution.
    /// Returns `None` if it was not found.
    pub(super) fn without_self_coupling(&self) -> Result<Option<Quality>> {
        let learner = ClosedForm::new().no_self_coupling(true);
        let found = self.closed_form(learner)?;
        Ok(found.filter(|(_, remedy)| *remedy == Remedy::None).map(|(quality, _)| quality))
    }

    fn closed_form(&self, learner: ClosedForm) -> Result<Option<(Quality, Remedy)>> {
        let fit = learner.fit(&self.start(), &self.table)?;
        if !fit.converged {
            return Ok(None);
        }
        Ok(Some((self.quality(|_| Ok(fit.machine.clone()))?, fit.remedy())))
    }

    fn quality(&self, fit: impl FnOnce(&Machine) -> Result<Machine>) -> Result<Quality> {
        let start = self.start();
        if start.unit_count() == 0 {
            return Ok(Quality { k: 0.0, q: 0.0 });
        }
        let (k, q) = divergence_and_completion(&fit(&start)?, &self.table)?;
        Ok(Quality { k, q: q * start.unit_count() as f64 / self.units as f64 })
    }
}
