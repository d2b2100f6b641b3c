//! Methods for equations that the formula does not solve.

use super::outcome::{End, Outcome, Record};
use super::precision::{Free, Solution, solve};
use super::singular::{levenberg_marquardt, shrinkage};
use super::{ClosedForm, LARGEST_INFLATION, Singular};
use crate::learn::{Learner, Stop};
use crate::likelihood::filled_pseudo_log_likelihood;
use crate::numeric::dense::{Eigen, Matrix};
use crate::{Error, Note, Result, Table};

impl ClosedForm {
    /// Solves for all pairs with self-couplings where the covariances are singular.
    pub(super) fn remedied(&self, table: &Table, record: &mut Record<'_>) -> Result<Outcome> {
        let eigen = record.moments.correlations.eigen(self.name())?;
        let mut outcome = match self.singular {
            Singular::LevenbergMarquardt => self.by_least_squares(&eigen, record)?.0,
            Singular::Shrinkage => by_shrinkage(&eigen, record)?,
            Singular::Better => self.better(&eigen, table, record)?,
        };
        let least = least_eigenvalue(&eigen);
        // Zeros become eigenvalues of about this size by rounding.
        if least < -1e-12 * record.moments.size() as f64 {
            outcome.notes.insert(0, Note::ImpossibleCorrelations { eigenvalue: least });
        }
        Ok(outcome)
    }

    fn by_least_squares(&self, eigen: &Eigen, record: &mut Record<'_>) -> Result<(Outcome, End)> {
        let begun = record.begin(eigen.values.len() + 1)?;
        let watch = |objective, gradient, precision: &Matrix, numbers| {
            record.step(objective, gradient, precision, numbers)
        };
        let found = levenberg_marquardt(eigen, self.iterations, self.tolerance, begun, watch)?;
        let difference = found.residual.max(-least_eigenvalue(eigen));
        let note = Note::LeastSquares { columns: record.moments.size(), difference };
        let outcome = Outcome {
            precision: found.precision,
            history: record.history(),
            converged: found.end == End::Converged,
            stopped: self.stop(found.end, Stop::LeastSquares),
            notes: vec![note],
        };
        Ok((outcome, found.end))
    }

    /// Uses both methods and keeps the one with the larger pseudo-likelihood of the rows.
    fn better(&self, eigen: &Eigen, table: &Table, record: &mut Record<'_>) -> Result<Outcome> {
        let (squares, end) = self.by_least_squares(eigen, record)?;
        if end == End::Request {
            return Ok(squares);
        }
        let shrunk = by_shrinkage(eigen, record)?;
        let score = |outcome: &Outcome| {
            filled_pseudo_log_likelihood(&record.machine(&outcome.precision)?, table, &record.moments.fill)
        };
        let (least_squares, shrinkage) = (score(&squares)?, score(&shrunk)?);
        let mut better = if least_squares >= shrinkage { squares } else { shrunk };
        better.notes.push(Note::BetterTreatment { least_squares, shrinkage });
        Ok(better)
    }

    /// Solves for some pairs only, or without self-couplings.
    pub(super) fn by_newton(&self, free: &Free<'_>, record: &mut Record<'_>) -> Result<Outcome> {
        let moments = record.moments;
        let found = self.newton(&moments.correlations, free, LARGEST_INFLATION, record)?;
        if found.end != End::Unbounded {
            return Ok(self.of_newton(found, record));
        }
        if self.singular == Singular::LevenbergMarquardt {
            return Err(Error::CannotDo {
                who: self.name(),
                what: "solve by least squares for a structure that is not full".into(),
                why: "the covariances are singular, and least squares are for all pairs together; shrinkage can do it".into(),
            });
        }
        let share = shrinkage(moments, least_eigenvalue(&moments.correlations.eigen(self.name())?));
        let mut shrunk = moments.correlations.clone();
        for k in 0..shrunk.size() {
            shrunk.column_mut(k).iter_mut().for_each(|r| *r *= 1.0 - share);
            shrunk[(k, k)] = 1.0;
        }
        // A positive definite matrix has a solution for any structure.
        let found = self.newton(&shrunk, free, f64::INFINITY, record)?;
        let mut outcome = self.of_newton(found, record);
        outcome.notes.push(Note::Shrunk { columns: record.moments.size(), share });
        Ok(outcome)
    }

    fn newton(
        &self,
        correlations: &Matrix,
        free: &Free<'_>,
        largest: f64,
        record: &mut Record<'_>,
    ) -> Result<Solution> {
        let begun = record.begin(correlations.size().pow(2))?;
        solve(correlations, free, (self.iterations, largest), begun, |objective, gradient, precision| {
            record.step(objective, gradient, precision, precision.numbers())
        })
    }

    fn of_newton(&self, found: Solution, record: &mut Record<'_>) -> Outcome {
        let left = Note::DifferenceLeft { difference: found.residual };
        Outcome {
            precision: found.precision,
            history: record.history(),
            converged: found.end == End::Converged,
            stopped: self.stop(found.end, Stop::EquationsHold),
            notes: (found.end != End::Converged).then_some(left).into_iter().collect(),
        }
    }

    fn stop(&self, end: End, converged: Stop) -> Stop {
        match end {
            End::Converged => converged,
            End::Unbounded => Stop::NoSolution,
            End::Limit => Stop::Limit { iterations: self.iterations },
            End::Request => Stop::Requested,
            End::Rounding => Stop::NoGain,
        }
    }
}

fn by_shrinkage(eigen: &Eigen, record: &mut Record<'_>) -> Result<Outcome> {
    let share = shrinkage(record.moments, least_eigenvalue(eigen));
    let shrunk = eigen.values.iter().map(|c| (1.0 - share) * c + share);
    let inverse: Vec<f64> = shrunk.clone().map(|c| 1.0 / c).collect();
    let squares: f64 = shrunk.zip(&eigen.values).map(|(new, old)| (new - old).powi(2)).sum();
    let mut outcome = Outcome::formula(record, eigen.with_values(&inverse), -0.5 * squares)?;
    outcome.notes.push(Note::Shrunk { columns: record.moments.size(), share });
    Ok(outcome)
}

fn least_eigenvalue(eigen: &Eigen) -> f64 {
    eigen.values.first().copied().unwrap_or(1.0)
}
