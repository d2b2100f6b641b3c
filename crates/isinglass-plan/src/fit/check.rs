//! The check of a fit by fresh draws, and the likelihood that comes with it.

use isinglass::engine::auto::{self, Choice};
use isinglass::learn::{Check, Fit, Verdict, check, independent_log_likelihood};
use isinglass::likelihood::TwoPhase;
use isinglass::{CancelToken, Engine, Error as CoreError, Evidence, Guarantee, Machine, Table, Temper};

use super::FitSettings;
use super::plan::AT_HAND;
use crate::{Note, Warning};

/// Sweeps of the check's chains, and before them.
const SWEEPS: usize = 4096;
const BURN_IN: usize = 2048;

/// Added to the seed, so that the check's chains are not those that the fit has learned from.
pub(super) const FRESH: u64 = 0x5eed_0000_0000;

/// A fit compared with independent units, and with its table.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    /// The log-likelihood of a row under independent units with the rates of the columns.
    pub independent: f64,
    /// None where the free phase is exact, or nothing could be drawn.
    pub check: Option<Check>,
}

impl FitSettings {
    /// Compares a fit with its table; a log-likelihood that it does not have, or only by estimate,
    /// becomes that of the check. There is no check once the token is cancelled.
    pub(super) fn checked(
        &self,
        fit: &mut Fit,
        table: &Table,
        is_exact: bool,
        cancel: Option<&CancelToken>,
        note: &dyn Fn(Note),
    ) -> isinglass::Result<Checked> {
        let independent = independent_log_likelihood(&fit.machine, table)?;
        if !self.check || is_exact {
            return Ok(Checked { independent, check: None });
        }
        let engine = self.check_engine(&fit.machine)?;
        let rows = match self.check_rows(&fit.machine, table) {
            Ok(rows) => rows,
            Err(why) => {
                note(Note::NotChecked { why });
                return Ok(Checked { independent, check: None });
            }
        };
        let work = || check(&fit.machine, table, &*engine, &*rows);
        let found = match cancel {
            None => Some(work()),
            Some(token) => token.run(&threads_alike()?, work),
        };
        let Some(found) = found else {
            note(Note::CheckCancelled);
            return Ok(Checked { independent, check: None });
        };
        match found {
            Ok(found) => {
                if let Some(likelihood) = &found.log_likelihood
                    && (fit.log_likelihood.is_none() || fit.guarantee != Guarantee::Exact)
                    && matches!(likelihood.guarantee, Guarantee::Exact | Guarantee::Estimate)
                {
                    (fit.log_likelihood, fit.guarantee) = (Some(likelihood.value), likelihood.guarantee);
                }
                Ok(Checked { independent, check: Some(found) })
            }
            Err(why @ (CoreError::OverBudget { .. } | CoreError::CannotDo { .. })) => {
                note(Note::NotChecked { why });
                Ok(Checked { independent, check: None })
            }
            Err(error) => Err(error),
        }
    }

    /// An exact engine where it costs next to nothing, otherwise fresh tempered chains.
    fn check_engine(&self, machine: &Machine) -> isinglass::Result<Box<dyn Engine>> {
        let none = Evidence::none(machine.unit_count());
        let budget = self.engine.budget().min(AT_HAND);
        Ok(match auto::choose(machine, &none, budget)? {
            Choice::Exact { engine, .. } => engine,
            Choice::Sampling { .. } => {
                let seed = self.engine.seed().wrapping_add(FRESH);
                let temper = Temper::new().seed(seed).budget(self.engine.budget());
                Box::new(temper.sweeps(Some(SWEEPS)).burn_in(BURN_IN))
            }
        })
    }

    /// The engine for rows with hidden units or missing cells.
    pub(super) fn check_rows(&self, machine: &Machine, table: &Table) -> isinglass::Result<Box<dyn Engine>> {
        let (clamped, _) = TwoPhase::new(machine, table)?.open()?;
        match auto::choose_for_rows(machine, &clamped, self.engine.budget())? {
            Choice::Exact { engine, .. } => Ok(engine),
            Choice::Sampling { refusal } => Err(refusal),
        }
    }
}

/// As many threads as there are now, for work that can be cancelled.
fn threads_alike() -> isinglass::Result<rayon::ThreadPool> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(rayon::current_num_threads()).build();
    pool.map_err(|error| CoreError::CannotDo {
        who: "check",
        what: "draw from the machine".into(),
        why: error.to_string(),
    })
}

impl Checked {
    /// What the user must know before using the machine, whose likelihood may have been maximised by
    /// sampling.
    pub(super) fn warnings(&self, is_sampled: bool) -> Vec<Warning> {
        let Some(check) = &self.check else { return Vec::new() };
        let mut warnings = match check.verdict {
            Verdict::Reproduces => Vec::new(),
            Verdict::Deviates => vec![Warning::Deviates { largest: check.largest, rms: check.rms }],
            Verdict::Unusable => {
                let check = Box::new(check.clone());
                vec![Warning::Unusable { check, independent: self.independent, is_sampled }]
            }
        };
        if !check.converged {
            warnings.push(Warning::CheckNotMixed);
        }
        warnings
    }
}
