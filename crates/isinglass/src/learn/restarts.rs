//! Several starts, of which the best is kept.

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use super::kept_fit::KeptFit;
use super::origin::Origin;
use super::{Checkpoint, Fit, Learner, NoObserver, Observer, Step, start};
use crate::{Error, Machine, Note, Result, Role, Table};

/// Fits from several random starts and keeps the best, by [`Fit::quality`].
///
/// With hidden units the likelihood has more than one maximum, and where a fit ends depends on
/// where it began. Start `k` is [`start(structure, table, seed, k)`](start()), so that more
/// restarts keep what fewer have found. Without hidden units all starts are the same: one fit is
/// made, and a note says so.
///
/// # Example
/// ```
/// use isinglass::{Enumerate, Table, topology};
/// use isinglass::learn::{Likelihood, Restarts};
/// // Parity of three units, which takes a hidden unit and a lucky start.
/// let table = Table::from_rows(["v0", "v1", "v2"], [[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])?;
/// let engine = Enumerate::default();
/// let learner = Likelihood::new(&engine).l2(0.001);
/// let restarts = Restarts { count: 4, seed: 0 };
/// let (fit, qualities) = restarts.fit(&learner, &topology::rbm(3, 2)?, &table)?;
/// assert_eq!(qualities.len(), 4);
/// assert_eq!(qualities[Restarts::best(&qualities)], fit.quality());
/// assert!(qualities.iter().all(|quality| *quality <= fit.quality()));
/// # Ok::<(), isinglass::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Restarts {
    /// The number of starts, at least 1.
    pub count: usize,
    /// The seed of all of them.
    pub seed: u64,
}

impl Restarts {
    /// Fits the structure of a machine (each start replaces its numbers) to a table.
    ///
    /// Returns the best fit, and the [quality](Fit::quality) with which each start ended:
    /// [`best`](Self::best) says which it was.
    ///
    /// # Errors
    /// Those of the learner; a count of 0.
    pub fn fit(&self, learner: &dyn Learner, structure: &Machine, table: &Table) -> Result<(Fit, Vec<f64>)> {
        self.fit_with(learner, structure, table, &mut NoObserver)
    }

    /// As [`fit`](Self::fit), with an observer of every iteration. If it stops a fit, no other is
    /// begun, and the best so far is returned.
    ///
    /// # Errors
    /// Those of [`fit`](Self::fit).
    pub fn fit_with(
        &self,
        learner: &dyn Learner,
        structure: &Machine,
        table: &Table,
        observer: &mut dyn Observer,
    ) -> Result<(Fit, Vec<f64>)> {
        self.fit_from(learner, structure, table, None, observer)
    }

    /// As [`fit_with`](Self::fit_with), resumed from a checkpoint as in [`Learner::fit_from`]. The
    /// first restart reported is the one that is resumed.
    ///
    /// # Errors
    /// Those of [`fit`](Self::fit); a checkpoint of another learner, structure, table or seed, or
    /// of a restart beyond the count. The count itself may differ.
    pub fn fit_from(
        &self,
        learner: &dyn Learner,
        structure: &Machine,
        table: &Table,
        from: Option<&Checkpoint>,
        observer: &mut dyn Observer,
    ) -> Result<(Fit, Vec<f64>)> {
        if self.count == 0 {
            return Err(Error::invalid("restarts", "found 0, expected at least 1"));
        }
        let hidden = structure.with_role(Role::Hidden).next().is_some();
        let count = if hidden { self.count } else { 1 };
        let origin = Origin::new("restarts", structure, table, [("seed", self.seed.to_string())]);
        let mut so_far = SoFar::default();
        let mut inner: Option<Checkpoint> = None;
        if let Some(state) = from {
            let (kept, of_learner): (Kept, Checkpoint) = origin.read(state)?;
            so_far = kept.so_far(structure)?;
            if so_far.objectives.len() >= count {
                let restart = so_far.objectives.len() + 1;
                let problem = format!("it is of restart {restart}, beyond the {count} that are to be made");
                return Err(Error::checkpoint(problem));
            }
            inner = Some(of_learner);
        }
        let mut stopped = false;
        while so_far.objectives.len() < count && !stopped {
            let restart = so_far.objectives.len();
            observer.restart(restart, count);
            let begin = start(structure, table, self.seed, restart as u64)?;
            let mut observed =
                Observed { inner: &mut *observer, stopped: false, origin: &origin, so_far: &so_far };
            let fit = learner.fit_from(&begin, table, inner.take().as_ref(), &mut observed);
            stopped = observed.stopped;
            match fit {
                // A start from which the numbers run away takes nothing from the others.
                Err(error) if error.is_breakdown() && so_far.best.is_some() => {
                    let why = match error {
                        Error::Numerical { problem, .. } => problem,
                        other => other.to_string(),
                    };
                    so_far.failed.push((restart, why));
                    so_far.objectives.push(f64::NEG_INFINITY);
                    stopped = false;
                }
                fit => so_far.add(fit?),
            }
        }
        let SoFar { objectives, failed, best } = so_far;
        // The count is at least 1, and the first fit is always kept.
        let (_, mut fit) = best.expect("at least one start was made");
        let failed = failed.into_iter();
        fit.notes.extend(failed.map(|(k, why)| Note::RestartFailed { restart: k + 1, count, why }));
        if objectives.len() < count {
            fit.notes.push(Note::RestartsStopped { restart: objectives.len(), count });
        }
        if count < self.count {
            fit.notes.push(Note::SameStarts { requested: self.count });
        }
        Ok((fit, objectives))
    }

    /// The number of the best start, counted from 0; among equals the first.
    #[must_use]
    pub fn best(qualities: &[f64]) -> usize {
        (0..qualities.len()).fold(0, |best, k| if qualities[k] > qualities[best] { k } else { best })
    }
}

/// What the restarts gave that have ended.
#[derive(Default)]
struct SoFar {
    /// One for each.
    objectives: Vec<f64>,
    /// Those without a result, and why.
    failed: Vec<(usize, String)>,
    /// The best of them, and its number.
    best: Option<(usize, Fit)>,
}

impl SoFar {
    fn add(&mut self, fit: Fit) {
        let objective = fit.quality();
        if self.best.as_ref().is_none_or(|&(best, _)| objective > self.objectives[best]) {
            self.best = Some((self.objectives.len(), fit));
        }
        self.objectives.push(objective);
    }
}

/// The same, as it is kept in a state.
#[derive(Serialize, Deserialize)]
struct Kept {
    objectives: Vec<f64>,
    failed: Vec<(usize, String)>,
    best: Option<(usize, KeptFit)>,
}

impl Kept {
    fn of(so_far: &SoFar) -> Self {
        let best = so_far.best.as_ref().map(|(restart, fit)| (*restart, KeptFit::of(fit)));
        Self { objectives: so_far.objectives.clone(), failed: so_far.failed.clone(), best }
    }

    fn so_far(self, structure: &Machine) -> Result<SoFar> {
        let Self { objectives, failed, best } = self;
        if best.as_ref().map_or(!objectives.is_empty(), |(restart, _)| *restart >= objectives.len()) {
            return Err(Error::checkpoint("its best restart is none of those that were made"));
        }
        let best = best.map(|(restart, fit)| Ok((restart, fit.fit(structure)?))).transpose()?;
        Ok(SoFar { objectives, failed, best })
    }
}

/// Passes everything on, adds the results of earlier restarts to each checkpoint, and records
/// whether the observer requested a stop.
struct Observed<'a> {
    inner: &'a mut dyn Observer,
    stopped: bool,
    origin: &'a Origin<'a>,
    so_far: &'a SoFar,
}

impl Observer for Observed<'_> {
    fn step(&mut self, step: &Step, machine: &Machine) -> Result<ControlFlow<()>> {
        let flow = self.inner.step(step, machine)?;
        self.stopped |= flow == ControlFlow::Break(());
        Ok(flow)
    }

    fn checkpoint(&mut self, step: &Step, take: &dyn Fn() -> Result<Checkpoint>) -> Result<()> {
        self.inner.checkpoint(step, &|| self.origin.state(&(Kept::of(self.so_far), take()?)))
    }

    fn restart(&mut self, restart: usize, count: usize) {
        self.inner.restart(restart, count);
    }
}
