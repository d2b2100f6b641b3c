//! Learning: from a table to a machine.
//!
//! A [`Learner`] fits a machine (its structure, and a start) to a table and returns a [`Fit`].
//! Learners use engines only through the trait [`Engine`](crate::Engine), and optimisers only
//! through the module `optimize`. [`chow_liu()`] finds a structure in the table itself,
//! [`Restarts`] fits from several starts, [`Selection`] chooses a
//! penalty by rows held out, [`PseudoLikelihood::fit_moderated`] lets covariates change couplings,
//! [`grown`] adds hidden units, [`Bootstrap`] estimates how certain the parameters are, [`Bayes`]
//! samples them, [`Compare`] tests whether groups differ.

mod bayes;
mod bootstrap;
mod check;
mod checkpoint;
mod chow_liu;
mod closed_form;
mod compare;
mod conditioning;
mod contrastive;
mod factorized;
mod growth;
mod journal;
mod judge;
mod kept_fit;
mod likelihood;
mod moderated;
mod notes;
mod origin;
mod pair_counts;
mod penalty;
mod pl_em;
mod pseudo_likelihood;
mod refit;
pub(crate) mod resampling;
mod restarts;
mod rubin;
mod sampled;
mod selection;
mod start;
mod trained;

use std::ops::ControlFlow;

pub use crate::optimize::{Objective, Optimizer, Period, Stop};
pub use bayes::{Bayes, BayesSettings, CouplingPosterior, Inclusion, Marginal, Posterior, Slab};
pub(crate) use bootstrap::aligned;
pub use bootstrap::{Bootstrap, Bootstrapped, Difference, Interval, Measure, Progress};
pub use check::{Check, Verdict, check, independent_log_likelihood};
pub use checkpoint::Checkpoint;
pub use chow_liu::{chow_liu, tree_log_likelihood};
pub use closed_form::{ClosedForm, ClosedFormSettings, Remedy, Singular};
pub use compare::{Compare, CompareSettings, Compared, Differences, Groups, Progressed, Tested};
pub use contrastive::{
    ContrastiveDivergence, ContrastiveDivergenceSettings, Epochs, MeanFieldCd, MeanFieldCdSettings,
};
pub use factorized::Factorized;
pub use growth::{ByConditionals, Conditioned, HeldOut, Validated, Validation, grown, new_names, splitting};
pub use likelihood::{InformationGain, Likelihood, LikelihoodSettings};
pub use moderated::{CovariateRows, ModeratedFit};
pub use penalty::{L1, L2};
pub use pl_em::{Drawing, MStep, PlEmSettings, PseudoLikelihoodEm};
pub use pseudo_likelihood::{
    EbicFit, EbicPaths, EbicSettings, Joint, PseudoGain, PseudoLikelihood, PseudoLikelihoodSettings, Rise,
    RiseSettings, Rule, Shared, joint,
};
pub use restarts::Restarts;
pub use sampled::SampledLikelihood;
pub use selection::{
    Chosen, Need, Penalised, PenalisedLikelihood, PenalisedPseudoLikelihood, Selection, Tried, complete_rows,
    hold_out,
};
pub use start::start;

use serde::{Deserialize, Serialize};

use crate::engine::{Diagnostics, Guarantee};
use crate::{Machine, Note, Result, Table};

/// One iteration of a fit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Counted from 0, the start.
    pub iteration: usize,
    /// The objective, to be made large.
    pub objective: f64,
    /// The largest component of its gradient.
    pub gradient_norm: f64,
}

/// What a learner found.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// The machine.
    pub machine: Machine,
    /// Each iteration, the start first.
    pub history: Vec<Step>,
    /// The iteration whose machine was kept.
    pub kept: usize,
    /// Whether the gradient fell below the tolerance.
    pub converged: bool,
    /// Why the fit stopped.
    pub stopped: Stop,
    /// The average log-likelihood of a row (visible given input units), without any penalty.
    pub log_likelihood: Option<f64>,
    /// What kind of number the log-likelihood is.
    pub guarantee: Guarantee,
    /// The average pseudo-log-likelihood of a row, where machines were compared by it as their
    /// likelihoods are unknown.
    pub pseudo_log_likelihood: Option<f64>,
    /// How the engine's computation went for the machine kept. A fit is not converged if its engine
    /// is not.
    pub diagnostics: Diagnostics,
    /// What the user should know about the data or the fit.
    pub notes: Vec<Note>,
}

impl Fit {
    /// The number of iterations after the start.
    pub fn iterations(&self) -> usize {
        self.history.last().map_or(0, |step| step.iteration)
    }

    /// The iteration whose machine was kept: the last if the fit converged, otherwise the best.
    pub fn best(&self) -> Option<&Step> {
        self.history.get(self.kept)
    }

    /// By what fits of the same table are compared: the objective, or the pseudo-log-likelihood
    /// where the objective is approximate.
    pub fn quality(&self) -> f64 {
        let objective = self.best().map_or(f64::NEG_INFINITY, |step| step.objective);
        self.pseudo_log_likelihood.unwrap_or(objective)
    }
}

/// Watches a fit: progress, checkpoints, stopping.
///
/// # Example
/// Stop after five iterations:
/// ```
/// use std::ops::ControlFlow;
/// use isinglass::learn::{Observer, Step};
/// use isinglass::Machine;
///
/// struct Five;
/// impl Observer for Five {
///     fn step(&mut self, step: &Step, _machine: &Machine) -> isinglass::Result<ControlFlow<()>> {
///         Ok(if step.iteration < 5 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
///     }
/// }
/// ```
pub trait Observer {
    /// Called after every iteration with its machine; `Break` ends the fit with a result, an error
    /// without one.
    fn step(&mut self, step: &Step, machine: &Machine) -> Result<ControlFlow<()>>;

    /// Called after every [`step`](Observer::step), also the last, with a way to take a checkpoint
    /// there. Taking one costs as much as it is large: take it when it is to be kept.
    fn checkpoint(&mut self, _step: &Step, _take: &dyn Fn() -> Result<Checkpoint>) -> Result<()> {
        Ok(())
    }

    /// Called before each of several starts, counted from 0.
    fn restart(&mut self, _restart: usize, _count: usize) {}
}

/// Watches nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoObserver;

impl Observer for NoObserver {
    fn step(&mut self, _step: &Step, _machine: &Machine) -> Result<ControlFlow<()>> {
        Ok(ControlFlow::Continue(()))
    }
}

/// A way to fit a machine to a table.
pub trait Learner {
    /// The name by which users choose the learner.
    fn name(&self) -> &'static str;

    /// Whether it ever converges. A learner that does not makes all its iterations, and stops.
    fn converges(&self) -> bool {
        true
    }

    /// Fits the structure of `start` to a table, starting with its numbers.
    fn fit(&self, start: &Machine, table: &Table) -> Result<Fit> {
        self.fit_with(start, table, &mut NoObserver)
    }

    /// As [`fit`](Self::fit), with an observer of every iteration.
    fn fit_with(&self, start: &Machine, table: &Table, observer: &mut dyn Observer) -> Result<Fit> {
        self.fit_from(start, table, None, observer)
    }

    /// As [`fit_with`](Self::fit_with), resumed from a checkpoint that an observer took in a fit of
    /// the same start and table by the same learner.
    ///
    /// The first iteration reported is the one after the checkpoint's, and the result is the same,
    /// bit for bit, as without the interruption.
    fn fit_from(
        &self,
        start: &Machine,
        table: &Table,
        from: Option<&Checkpoint>,
        observer: &mut dyn Observer,
    ) -> Result<Fit>;
}
