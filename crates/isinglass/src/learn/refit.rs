//! After couplings were selected: those that are 0 leave the graph, and the others are fitted
//! again without the penalty that selected them.
//!
//! A penalty is left that no coupling notices which the data bound, and that keeps the others
//! finite: selections of columns that exclude each other are common.

use std::ops::ControlFlow;

use super::pseudo_likelihood::weakest_penalty;
use super::trained::Trained;
use super::{Fit, Learner, Likelihood, Observer, PseudoLikelihood, Step};
use crate::engine::auto::{self, Choice};
use crate::likelihood::{Phases, TwoPhase, filled_pseudo_log_likelihood};
use crate::optimize::Stop;
use crate::{Budget, Engine, Graph, Machine, Note, Result, Table};

/// Largest memory of the exact engine of a refit: beyond, an evaluation takes tenths of a second,
/// and pseudo-likelihood is nearly as good.
const EXACT: Budget = Budget(64 << 20);

/// What to do with selected couplings.
#[derive(Debug, Clone, Copy)]
pub(super) struct Selected {
    /// Weaker couplings are dropped, too.
    pub(super) least: f64,
    /// Whether the couplings left are fitted without penalty.
    pub(super) refit: bool,
    pub(super) budget: Budget,
}

impl Selected {
    /// Drops couplings from a fit, and fits the others again.
    ///
    /// The history stays that of the selection; a note says what was refitted. The observer sees the
    /// iterations of the refit, counted on, and can stop it; a checkpoint is that of the selection,
    /// and a fit resumed from it is refitted.
    ///
    /// # Errors
    /// Those of the learner that refits.
    pub(super) fn finish(&self, mut fit: Fit, table: &Table, observer: &mut dyn Observer) -> Result<Fit> {
        let sparse = self.sparse(&fit.machine)?;
        let has_changed = sparse.weights().len() < fit.machine.weights().len();
        fit.machine = sparse;
        if self.refit && fit.stopped != Stop::Requested {
            self.refit(&mut fit, table, observer)?;
        } else if !has_changed {
            return Ok(fit);
        }
        fit.pseudo_log_likelihood = Some(average(&fit.machine, table)?);
        Ok(fit)
    }

    /// The machine without its trained couplings that are 0 or below the least.
    pub(super) fn sparse(&self, machine: &Machine) -> Result<Machine> {
        without_weak(machine, self.least)
    }

    fn refit(&self, fit: &mut Fit, table: &Table, observer: &mut dyn Observer) -> Result<()> {
        let machine = &fit.machine;
        let mut counted = Counted { observer, before: fit.iterations() };
        let engine = self.engine(machine, table)?;
        let l2 = weakest_penalty(table.total_weight()) / machine.temperature().powi(2);
        let found = match &engine {
            Some(engine) => {
                let learner = Likelihood::with_phases(Phases::both(&**engine)).l2(l2);
                learner.fit_with(machine, table, &mut counted)?
            }
            None => {
                let learner = PseudoLikelihood::new().l2(l2).budget(self.budget);
                learner.fit_with(machine, table, &mut counted)?
            }
        };
        let engine = engine.as_deref().map(|engine| engine.name().to_owned());
        let couplings = found.machine.weights().len();
        fit.notes.push(Note::Refitted { couplings, iterations: found.iterations(), engine });
        fit.notes
            .extend(found.notes.into_iter().filter(|note| !fit.notes.contains(note)).collect::<Vec<_>>());
        fit.machine = found.machine;
        (fit.log_likelihood, fit.guarantee) = (found.log_likelihood, found.guarantee);
        if fit.converged && !found.converged {
            (fit.converged, fit.stopped) = (false, found.stopped);
        }
        Ok(())
    }

    /// An exact engine for the likelihood, where one is cheap.
    fn engine(&self, machine: &Machine, table: &Table) -> Result<Option<Box<dyn Engine>>> {
        // Every bias is trained, whatever it is now.
        let trained =
            machine.clone().with_parameters(machine.weights().to_vec(), vec![1.0; machine.unit_count()])?;
        let (_, free) = TwoPhase::new(machine, table)?.open()?;
        Ok(match auto::choose_for_rows(&trained, &free, self.budget.min(EXACT))? {
            Choice::Exact { engine, .. } => Some(engine),
            Choice::Sampling { .. } => None,
        })
    }
}

/// A machine without its trained couplings that are 0.
pub(super) fn without_zeros(machine: &Machine) -> Result<Machine> {
    without_weak(machine, 0.0)
}

/// A machine without its trained couplings that are 0 or below the least.
fn without_weak(machine: &Machine, least: f64) -> Result<Machine> {
    let mut is_kept = vec![true; machine.weights().len()];
    for &edge in &Trained::of(machine).edges {
        let size = machine.weights()[edge].abs();
        is_kept[edge] = size > 0.0 && size >= least;
    }
    if is_kept.iter().all(|&kept| kept) {
        return Ok(machine.clone());
    }
    let kept = (0..is_kept.len()).filter(|&edge| is_kept[edge]);
    let edges = kept.clone().map(|edge| machine.graph().edges()[edge]);
    let weights = kept.map(|edge| machine.weights()[edge]);
    Machine::from_graph(Graph::new(machine.unit_count(), edges)?)
        .with_names(machine.names().iter().cloned())?
        .with_roles(machine.roles().to_vec())?
        .with_temperature(machine.temperature())?
        .with_parameters(weights.collect(), machine.biases().to_vec())?
        .with_offset(machine.offset())
}

/// The pseudo-log-likelihood of a row on average.
fn average(machine: &Machine, table: &Table) -> Result<f64> {
    filled_pseudo_log_likelihood(machine, table, &vec![0.0; machine.unit_count()])
}

/// Passes iterations on, counted after those before, without their checkpoints.
struct Counted<'o> {
    observer: &'o mut dyn Observer,
    before: usize,
}

impl Observer for Counted<'_> {
    fn step(&mut self, step: &Step, machine: &Machine) -> Result<ControlFlow<()>> {
        if step.iteration == 0 {
            return Ok(ControlFlow::Continue(()));
        }
        self.observer.step(&Step { iteration: self.before + step.iteration, ..*step }, machine)
    }
}
