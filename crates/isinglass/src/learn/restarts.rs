//! Several starts, of which the best is kept.

use std::ops::ControlFlow;

use super::{Fit, Learner, Observer, Step, start};
use crate::{Error, Machine, Result, Role, Table};

/// Fits from several random starts and keeps the best, by [`Fit::quality`].
///
/// With hidden units the likelihood has more than one maximum, and where a fit ends depends on where it began. Start `k` is
/// [`start(structure, table, seed, k)`](start()), so that more restarts keep what fewer have found. Without hidden units all starts are the
/// same: one fit is made, and a note says so.
///
/// # Example
/// ```
/// use isinglass::{Enumerate, Table, topology};
/// use isinglass::learn::{Likelihood, NoObserver, Restarts};
/// // Parity of three units, which takes a hidden unit and a lucky start.
/// let table = Table::from_rows(["v0", "v1", "v2"], [[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])?;
/// let engine = Enumerate::default();
/// let learner = Likelihood::new(&engine).l2(0.001);
/// let restarts = Restarts { count: 4, seed: 0 };
/// let found = restarts.fit(&learner, &topology::rbm(3, 2)?, &table, &mut NoObserver)?;
/// assert_eq!(found.objectives.len(), 4);
/// assert!(found.objectives.iter().all(|objective| *objective <= found.objectives[found.best]));
/// # Ok::<(), isinglass::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Restarts {
    /// The number of starts, at least 1.
    pub count: usize,
    /// The seed of all of them.
    pub seed: u64,
}

/// What the best of several starts gave.
#[derive(Debug, Clone, PartialEq)]
pub struct Restarted {
    /// The best fit; among equals the first.
    pub fit: Fit,
    /// The [quality](Fit::quality) with which each start that was made ended.
    pub objectives: Vec<f64>,
    /// The number of the best start, counted from 0.
    pub best: usize,
}

impl Restarts {
    /// Fit the structure of a machine (its numbers are replaced by each start) to a table.
    ///
    /// If the observer stops a fit, no other is begun, and the best so far is given.
    ///
    /// # Errors
    /// Those of the learner; a count of 0.
    pub fn fit(
        &self,
        learner: &dyn Learner,
        structure: &Machine,
        table: &Table,
        observer: &mut dyn Observer,
    ) -> Result<Restarted> {
        if self.count == 0 {
            return Err(Error::invalid("restarts", "found 0, expected at least 1"));
        }
        let hidden = structure.with_role(Role::Hidden).next().is_some();
        let count = if hidden { self.count } else { 1 };
        let mut stoppable = Stoppable { inner: observer, stopped: false };
        let mut objectives = Vec::new();
        let mut failed = Vec::new();
        let mut best: Option<(f64, usize, Fit)> = None;
        for restart in 0..count {
            stoppable.restart(restart, count);
            let begin = start(structure, table, self.seed, restart as u64)?;
            let fit = match learner.fit(&begin, table, &mut stoppable) {
                // A start from which the numbers run away takes nothing from the others.
                Err(Error::Numerical { problem, .. }) if best.is_some() => {
                    failed.push(format!("restart {} of {count} failed: {problem}", restart + 1));
                    objectives.push(f64::NEG_INFINITY);
                    continue;
                }
                result => result?,
            };
            let objective = fit.quality();
            objectives.push(objective);
            if best.as_ref().is_none_or(|&(highest, ..)| objective > highest) {
                best = Some((objective, restart, fit));
            }
            if stoppable.stopped {
                break;
            }
        }
        // The count is at least 1, and the first fit is always kept.
        let (_, best, mut fit) = best.expect("at least one start was made");
        fit.notes.extend(failed);
        if objectives.len() < count {
            fit.notes.push(format!("stopped on request in restart {} of {count}", objectives.len()));
        }
        if count < self.count {
            fit.notes.push(format!(
                "without hidden units all starts are the same: 1 start in place of {}",
                self.count
            ));
        }
        Ok(Restarted { fit, objectives, best })
    }
}

/// Passes everything on, and remembers whether the observer wanted to stop.
struct Stoppable<'a> {
    inner: &'a mut dyn Observer,
    stopped: bool,
}

impl Observer for Stoppable<'_> {
    fn step(&mut self, step: &Step, machine: &Machine) -> Result<ControlFlow<()>> {
        let flow = self.inner.step(step, machine)?;
        self.stopped |= flow == ControlFlow::Break(());
        Ok(flow)
    }

    fn restart(&mut self, restart: usize, count: usize) {
        self.inner.restart(restart, count);
    }
}
