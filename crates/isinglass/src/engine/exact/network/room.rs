//! How a plan is run within the budget.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::Solver;
use super::memory::Segments;
use super::plan::Plan;
use super::star::Rows;
use crate::Budget;
use crate::{Error, Result};

impl Solver<'_> {
    /// The segments of a pass with moments, within the budget.
    pub(super) fn segments<R: Rows>(self, plan: &Plan) -> Result<Segments> {
        self.segments_within::<R>(plan, u128::from(self.networks.budget.0))
    }

    /// The segments of a pass with moments that shares the budget with those of other threads; or
    /// that must have it alone.
    pub(super) fn shared_segments<R: Rows>(self, plan: &Plan) -> Result<(Segments, Turn)> {
        let share = u128::from(self.networks.budget.0) / rayon::current_num_threads() as u128;
        match self.segments_within::<R>(plan, share) {
            Ok(segments) => Ok((segments, Turn::Together)),
            Err(_) => self.segments::<R>(plan).map(|segments| (segments, Turn::Alone)),
        }
    }

    fn segments_within<R: Rows>(self, plan: &Plan, bytes: u128) -> Result<Segments> {
        let tape = plan.bytes(R::ROWS);
        let segments = match bytes.checked_sub(tape) {
            Some(rest) => Segments::within(plan, R::ROWS, rest),
            None => Err(0),
        };
        let segments = segments.map_err(|tables| Error::OverBudget {
            who: self.name,
            what: size_of_problem(plan),
            needed: tables + tape,
            budget: self.networks.budget,
        })?;
        if tape + 2 * Segments::all_tables(plan, R::ROWS) >= UNASKED as u128 {
            self.check_system(segments.peak_bytes(plan, R::ROWS) + tape)?;
        }
        Ok(segments)
    }

    /// Refuse what the system cannot give, whatever the budget says: a table that cannot be had
    /// later would end the program.
    fn check_system(self, bytes: u128) -> Result<()> {
        let length = usize::try_from(bytes).unwrap_or(usize::MAX);
        if length < UNASKED || Vec::<u8>::new().try_reserve_exact(length).is_ok() {
            return Ok(());
        }
        Err(Error::CannotDo {
            who: self.name,
            what: format!("take {} of memory", Budget::bytes(bytes)),
            why: "the system refuses that much".into(),
        })
    }

    /// Whether passes without moments can share the budget.
    pub(super) fn shared_forward<R: Rows>(self, plan: &Plan) -> Result<Turn> {
        let needed = Segments::forward_peak(plan, R::ROWS * size_of::<f64>()) + plan.bytes(R::ROWS);
        self.networks.budget.check(self.name, needed, || size_of_problem(plan))?;
        self.check_system(needed)?;
        let all = needed.saturating_mul(rayon::current_num_threads() as u128);
        Ok(if all <= u128::from(self.networks.budget.0) { Turn::Together } else { Turn::Alone })
    }

    /// Check passes without moments, with numbers of some size in bytes, on some number of threads.
    pub(super) fn check_numbers(self, plan: &Plan, bytes: usize, threads: usize) -> Result<()> {
        let needed = Segments::forward_peak(plan, bytes) * threads as u128 + plan.bytes(1);
        self.networks
            .budget
            .check(self.name, needed, || format!("{}, with {bytes} bytes a number", size_of_problem(plan)))?;
        self.check_system(needed)
    }
}

/// Less than this is taken without asking the system first.
const UNASKED: usize = 1 << 30;

/// Whether passes may run at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// There is room for one on every thread.
    Together,
    /// There is room for one.
    Alone,
}

/// Passes that must run alone wait here for all others, and all others for them.
#[derive(Default)]
pub(super) struct Gate(RwLock<()>);

/// Held while a pass runs.
pub(super) enum Pass<'g> {
    Together(#[expect(dead_code, reason = "held for its end")] RwLockReadGuard<'g, ()>),
    Alone(#[expect(dead_code, reason = "held for its end")] RwLockWriteGuard<'g, ()>),
}

impl Gate {
    pub(super) fn pass(&self, turn: Turn) -> Pass<'_> {
        match turn {
            Turn::Together => Pass::Together(self.0.read().unwrap_or_else(PoisonError::into_inner)),
            Turn::Alone => Pass::Alone(self.0.write().unwrap_or_else(PoisonError::into_inner)),
        }
    }
}

fn size_of_problem(plan: &Plan) -> String {
    format!("{} free units, at width {}", plan.free.len(), plan.width)
}
