//! Maximum likelihood with the expectations of any engine.
//!
//! The information gain (Rüger 1997, eq. 2) of visible units given input units, averaged over rows
//! with weights:
//!
//! ```text
//! L = Σ_r w_r [ log Z(visible_r, input_r) − log Z(input_r) ] / Σ_r w_r  −  λ/2 Σ w_ij²  −  λ₁ Σ |w_ij|
//! ```
//!
//! Hidden units and missing cells are free in both terms. Its gradient is clamped minus free
//! correlations (eq. 3), divided by T.

use std::ops::ControlFlow;

use super::conditioning::Conditioning;
use super::journal::{Journal, Resumed};
use super::judge::{Candidate, Judge};
use super::notes::{about_likelihood, about_oscillation, about_zeros};
use super::origin::Origin;
use super::refit::without_zeros;
use super::trained::Trained;
use super::{Checkpoint, Fit, L1, L2, Learner, Observer, Step, penalty};
use crate::engine::Engine;
use crate::likelihood::{AverageLikelihood, Moments, Phases};
use crate::optimize::{
    self, Method, Objective, Optimizer, OptimizerSettings, Remembered, Start, Stop, Visit,
};
use crate::settings::{Settings, range, settings};
use crate::{Error, Machine, Result, Table};

/// The name by which users choose the learner.
const NAME: &str = "likelihood";

/// Learns by following the gradient of the information gain, with an engine for both phases.
///
/// With an engine that is not exact, the objective is as approximate as the engine. A fit that does
/// not converge then keeps the machine of largest pseudo-likelihood seen, and a note says if it
/// oscillated, as naive mean field does on correlated data (Kappen & Rodríguez 1997, section 2.3).
///
/// *Accuracy*: that of the engine; with an exact one it is exact maximum likelihood. Without hidden
/// units the objective is concave, and the optimum is unique. *When it fails*: data in which a
/// combination of units never varies has its maximum at infinity; weights then grow until the
/// gradient is below the tolerance. A little `l2` keeps them small.
///
/// # Example
/// ```
/// use isinglass::{Enumerate, Machine, Table, topology};
/// use isinglass::learn::{Learner, Likelihood};
/// let table = Table::from_rows(["a", "b"], [[1, 1], [1, 1], [-1, -1], [1, -1], [-1, 1], [-1, -1]])?;
/// let start = topology::full(2).with_names(["a", "b"])?;
/// let engine = Enumerate::default();
/// let fit = Likelihood::new(&engine).fit(&start, &table)?;
/// assert!(fit.converged);
/// assert!((fit.machine.weights()[0] - (1.0f64 / 3.0).atanh()).abs() < 1e-6);
/// # Ok::<(), isinglass::Error>(())
/// ```
pub struct Likelihood<'a> {
    phases: Phases<'a>,
    pub(crate) settings: LikelihoodSettings,
}

settings! {
    /// Settings of [`Likelihood`].
    pub struct LikelihoodSettings for Likelihood<'_> {
        /// Penalise couplings with X/2 times the sum of their squares; or auto: choose X by
        /// held-out rows [default: 0; where couplings have no finite optimum or rows are few and the
        /// fit is not exact, l2 auto or l1 auto, whichever is better]
        l2 (into): L2 = L2::Unset => penalty::chosen_or_number,
        /// Penalise couplings with X times the sum of their absolute values, which makes many
        /// exactly 0; or auto: choose X by held-out rows; or ebic: choose the penalty of each
        /// column by the extended BIC
        l1: Option<L1> = None => penalty::not_by_columns,
        /// How to follow the gradient
        optimizer: Optimizer = Optimizer::Lbfgs,
        /// momentum: the rate; adaptive: the length of the first step [default: 0.1]
        rate: Option<f64> = None => range::positive,
        /// momentum: share of the last step that is kept, below 1 [default: 0.9]
        momentum: Option<f64> = None => range::below_1,
        /// Largest number of iterations
        iterations: usize = 1000,
        /// Converged when no component of the gradient is larger
        tolerance: f64 = 5e-7 => range::not_negative,
    }
    common {}
    also LikelihoodSettings::check_together;
}

impl LikelihoodSettings {
    fn check_together(&self) -> Result<()> {
        if self.l1 == Some(L1::Auto) && self.l2 == L2::Auto {
            return Err(penalty::one_of_them());
        }
        if self.l1_weight() > 0.0 && self.optimizer != Optimizer::Lbfgs {
            return Err(penalty::needs_lbfgs(self.optimizer_settings().method.name()));
        }
        optimize::check_numbers(self.optimizer, self.rate, self.momentum)
    }

    /// λ of `λ Σ |w|`, where it is a number.
    pub(super) fn l1_weight(&self) -> f64 {
        self.l1.map_or(0.0, L1::weight)
    }

    /// Refuses penalties that are yet to be chosen.
    pub(super) fn check_penalties(&self) -> Result<()> {
        self.l2.check_number()?;
        self.l1.map_or(Ok(()), L1::check_number)
    }

    fn optimizer_settings(&self) -> OptimizerSettings {
        let method = Method::new(self.optimizer, self.rate, self.momentum);
        OptimizerSettings { method, iterations: self.iterations, tolerance: self.tolerance }
    }
}

impl<'a> Likelihood<'a> {
    /// With one engine for both phases and default settings.
    pub fn new(engine: &'a dyn Engine) -> Self {
        Self::with_phases(Phases::both(engine))
    }

    /// With an engine for each phase.
    pub fn with_phases(phases: Phases<'a>) -> Self {
        Self { phases, settings: LikelihoodSettings::default() }
    }

    /// With other settings.
    #[must_use]
    pub fn with_settings(self, settings: LikelihoodSettings) -> Self {
        Self { settings, ..self }
    }

    fn origin<'o>(&self, start: &'o Machine, table: &'o Table) -> Origin<'o> {
        let settings = [
            ("l2", format!("{:?}", self.l2.weight())),
            ("l1", format!("{:?}", self.settings.l1_weight())),
            ("optimizer", format!("{:?}", self.optimizer_settings().method)),
            ("first curvature", "information".into()),
            ("engine", self.phases.free.fingerprint()),
            ("clamped engine", self.phases.clamped.fingerprint()),
        ];
        Origin::new(NAME, start, table, settings)
    }
}

impl Learner for Likelihood<'_> {
    fn name(&self) -> &'static str {
        NAME
    }

    fn fit_from(
        &self,
        start: &Machine,
        table: &Table,
        from: Option<&Checkpoint>,
        observer: &mut dyn Observer,
    ) -> Result<Fit> {
        self.validate()?;
        self.settings.check_penalties()?;
        let (optimizer, l1) = (self.optimizer_settings(), self.settings.l1_weight());
        let gain = InformationGain::new(self.phases, start, table, self.l2.weight())?;
        if l1 > 0.0 && !gain.gradient_is_of_value() {
            return Err(Error::CannotDo {
                who: NAME,
                what: "make couplings exactly 0 here".into(),
                why: format!(
                    "engine {} does not give the gradient of its value; an exact one does",
                    self.phases.free.name()
                ),
            });
        }
        let mut judge = Judge::new(self.phases, start, table)?;
        let parameters = gain.parameters_of(start);
        let (mut journal, resumed) = Journal::open(self.origin(start, table), &optimizer, from)?;
        let resumed: Option<Resumed<Option<Candidate>>> = resumed;
        if let (Some(judge), Some(Resumed { more: Some(best), .. })) = (&mut judge, &resumed) {
            judge.remember(best, parameters.len())?;
        }
        let begin = Start { parameters, from: resumed.as_ref().map(|resumed| &resumed.climb) };
        let mut stalled = false;
        let mut watch = |visit: &Visit<'_>| {
            let machine = gain.machine_of(visit.parameters)?;
            if let Some(judge) = &mut judge {
                if !visit.again {
                    judge.visit(visit.iteration, visit.parameters, &machine)?;
                }
                // Steps of a fixed rate are meant to be watched: all of them are made.
                let watched = matches!(optimizer.method, Method::Momentum { .. });
                stalled = !watched && judge.is_stalled(visit.iteration);
            }
            let best = judge.as_ref().and_then(Judge::best);
            let flow = journal.report(visit, &machine, &best, observer)?;
            Ok(if stalled { ControlFlow::Break(()) } else { flow })
        };
        let mut found = if l1 > 0.0 {
            let mut lambdas = vec![0.0; begin.parameters.len()];
            lambdas[..gain.trained.edges.len()].fill(l1);
            optimize::maximize_sparse(&Remembered(&gain), &lambdas, begin, &optimizer, &mut watch)?
        } else {
            optimize::maximize(&gain, begin, &optimizer, &mut watch)?
        };
        let history = journal.history;
        if stalled && !found.converged {
            found.stopped = Stop::QualityStalled;
        }
        let mut kept = kept_iteration(&history, found.converged);
        let mut machine = gain.machine_of(&found.parameters)?;
        let mut notes = Vec::new();
        let mut quality = None;
        if let Some(judge) = judge {
            let best = judge.verdict(found.converged, (kept, &found.parameters, &machine))?;
            quality = Some(best.quality);
            if !found.converged {
                kept = best.iteration;
                machine = gain.machine_of(&best.parameters)?;
                notes.extend(about_oscillation(&history, kept, &found.stopped, self.phases.free.name()));
            }
        }
        let last = gain.likelihood().value_and_moments(&machine)?.0;
        notes.extend(about_likelihood(&machine, table));
        // A gradient is only as good as the engine's answer.
        let (converged, stopped) = match (found.converged, last.diagnostics.converged) {
            (true, false) => (false, Stop::EngineNotConverged(found.stopped.into())),
            (converged, _) => (converged, found.stopped),
        };
        if l1 > 0.0 {
            notes.push(about_zeros(machine.weights()));
            machine = without_zeros(&machine)?;
        }
        Ok(Fit {
            log_likelihood: Some(last.value),
            guarantee: last.guarantee,
            pseudo_log_likelihood: quality,
            diagnostics: last.diagnostics,
            notes,
            machine,
            history,
            kept,
            converged,
            stopped,
        })
    }
}

/// The iteration whose point an optimiser keeps: the last where it converged, otherwise the one
/// with the largest objective.
pub(super) fn kept_iteration(history: &[Step], converged: bool) -> usize {
    let highest = history.iter().max_by(|a, b| a.objective.total_cmp(&b.objective));
    let kept = if converged { history.last() } else { highest };
    kept.map_or(0, |step| step.iteration)
}

/// The penalised log-likelihood of a table as a function of a machine's trainable parameters.
///
/// Trainable are all weights but those between input units, then all biases but those of input
/// units.
pub struct InformationGain<'a> {
    likelihood: AverageLikelihood<'a>,
    trained: Trained,
    conditioning: Conditioning,
    information: Vec<f64>,
    l2: f64,
}

impl<'a> InformationGain<'a> {
    /// Prepares a table for a machine's structure, names, roles and temperature.
    ///
    /// # Errors
    /// A table that does not fit the machine, or whose rows have no weight.
    pub fn new(phases: Phases<'a>, start: &Machine, table: &Table, l2: f64) -> Result<Self> {
        let likelihood = AverageLikelihood::new(phases, start, table)?;
        let trained = Trained::of(start);
        let mut means = vec![0.0; start.unit_count()];
        for (unit, mean) in table.positions_in(start)?.into_iter().zip(table.means()) {
            means[unit] = mean.unwrap_or(0.0);
        }
        let conditioning = Conditioning::new(&trained, &means, table.total_weight());
        let information = conditioning.information(l2, start.temperature());
        Ok(Self { likelihood, trained, conditioning, information, l2 })
    }

    /// The trainable parameters of a machine with this structure.
    pub fn parameters_of(&self, machine: &Machine) -> Vec<f64> {
        self.trained.parameters_of(machine)
    }

    /// The machine with other trainable parameters.
    pub fn machine_of(&self, parameters: &[f64]) -> Result<Machine> {
        self.trained.machine_of(parameters)
    }

    /// The log-likelihood without the penalty.
    pub fn likelihood(&self) -> &AverageLikelihood<'a> {
        &self.likelihood
    }

    fn penalty(&self, machine: &Machine) -> f64 {
        let squares = self.trained.edges.iter().map(|&edge| machine.weights()[edge].powi(2));
        0.5 * self.l2 * squares.sum::<f64>()
    }
}

impl Objective for InformationGain<'_> {
    fn value_and_gradient(&self, parameters: &[f64], gradient: &mut [f64]) -> Result<f64> {
        let machine = self.machine_of(parameters)?;
        let (gain, Moments { clamped, free }) = self.likelihood.value_and_moments(&machine)?;
        let scale = 1.0 / (machine.temperature() * self.likelihood.total_weight());
        let (edge_part, bias_part) = gradient.split_at_mut(self.trained.edges.len());
        for (slot, &edge) in edge_part.iter_mut().zip(&self.trained.edges) {
            *slot = (clamped.edges[edge] - free.edges[edge]) * scale - self.l2 * machine.weights()[edge];
        }
        for (slot, &unit) in bias_part.iter_mut().zip(&self.trained.biases) {
            *slot = (clamped.means[unit] - free.means[unit]) * scale;
        }
        Ok(gain.value - self.penalty(&machine))
    }

    fn value(&self, parameters: &[f64]) -> Result<f64> {
        let machine = self.machine_of(parameters)?;
        Ok(self.likelihood.value(&machine)?.value - self.penalty(&machine))
    }

    fn gradient_is_of_value(&self) -> bool {
        self.likelihood.moments_are_derivatives()
    }

    /// Only for exact engines: a long step for rare events leaves the range in which an approximate
    /// one is worth following.
    fn precondition(&self, gradient: &mut [f64]) {
        if self.likelihood.is_exact() {
            self.conditioning.divide(gradient, &self.information, |_| true);
        }
    }
}
