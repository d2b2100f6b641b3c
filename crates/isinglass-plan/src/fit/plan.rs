//! The learner and the engines of a fit, resolved once, and the fit itself.

use isinglass::engine::Open;
use isinglass::engine::auto::{self, Choice};
use isinglass::learn::{
    Bayes, BayesSettings, Checkpoint, ClosedForm, ContrastiveDivergence, Epochs, Factorized, Fit, L1,
    Learner, Likelihood, MeanFieldCd, Observer, Posterior, PseudoLikelihood, PseudoLikelihoodEm, Remedy,
    Restarts, Rise, SampledLikelihood, Validated, independent_log_likelihood, start as start_of,
};
use isinglass::likelihood::{Phases, TwoPhase, log_likelihood};
use isinglass::{
    Budget, CancelToken, Engine, Error as CoreError, Evidence, Machine, Mixture, Note as CoreNote, Role,
    Table, Temper,
};

use super::FitSettings;
use super::check::Checked;
use super::growth::Growth;
use super::penalty::{Penalty, Wanted};
use crate::{EngineName, Error, Hint, LearnerName, Note, Result, Task, Usage, Warning};

/// Memory within which a likelihood that was not requested is computed all the same: it takes some
/// hundredths of a second.
pub(super) const AT_HAND: Budget = Budget(16 << 20);

/// Memory within which a chain over machines can use an exact engine at every step: it takes some
/// microseconds.
const AT_EVERY_STEP: Budget = Budget(32 << 10);

/// The most units of a machine that `auto` fits by sampling: beyond, a fit takes minutes.
const MOST_SAMPLED: usize = 300;

/// A request for a fit, resolved: its learner and engines are chosen.
pub struct Plan {
    pub(super) settings: FitSettings,
    pub(super) way: Way,
    pub(super) wanted: Wanted,
    /// Ends what follows the fit.
    pub(super) cancel: Option<CancelToken>,
}

pub(super) enum Way {
    Likelihood {
        engine: Box<dyn Engine>,
        /// For rows, where it is another.
        clamped: Option<Box<dyn Engine>>,
        /// Whether any unit is free in any row.
        is_open: bool,
    },
    /// With persistent chains in the free phase.
    Sampled {
        engine: Box<Temper>,
        clamped: Box<dyn Engine>,
        is_open: bool,
    },
    PseudoLikelihood(Limits),
    /// Without an engine.
    Other(Box<dyn Learner + Send + Sync>, Limits),
    ClosedForm(ClosedForm),
    /// With an engine, of the likelihood itself.
    Bayes(BayesSettings, Option<Box<dyn Engine>>),
}

/// When a fit ends at the latest, and when it has converged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Largest number of iterations.
    pub iterations: usize,
    /// Converged when the gradient is not above this.
    pub tolerance: f64,
}

/// The learner that a request is resolved to, with the engine that was chosen on the way.
struct Resolved {
    learner: LearnerName,
    engine: Option<Box<dyn Engine>>,
}

/// The result of a fit, and what made it.
#[derive(Debug)]
pub struct Fitted {
    /// The learner.
    pub learner: &'static str,
    /// The engine of the free phase, where there is one.
    pub engine: Option<&'static str>,
    /// The engine of the clamped phase, where there is one.
    pub clamped_engine: Option<&'static str>,
    /// The fit, from the best of the starts.
    pub fit: Fit,
    /// The quality with which each start ended.
    pub restart_objectives: Vec<f64>,
    /// What was done about singular covariances, by a learner that needs their inverse.
    pub remedy: Option<Remedy>,
    /// Whether a learner that does not converge has made all its iterations.
    pub is_complete: bool,
    /// How the machine compares with its table.
    pub checked: Checked,
    /// The penalty, where held-out rows chose it.
    pub penalty: Option<Penalty>,
    /// Steps that were too long for the couplings to settle.
    pub diverged: Option<Diverged>,
    /// How hidden units were added, where held-out rows chose their number.
    pub growth: Option<Growth>,
    /// The log-likelihood of rows to validate with, after some of the iterations.
    pub validation: Vec<Validated>,
    /// The posterior distribution of the machine, by a learner that samples it.
    pub posterior: Option<Posterior>,
}

/// Couplings without bounds, as the steps to them were too long.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Diverged {
    /// The largest, divided by T.
    pub largest: f64,
    /// The rate of the steps.
    pub rate: f64,
}

/// With this rate a single step can change a coupling by 1, as moments differ by up to 2.
const LARGE_RATE: f64 = 0.5;

/// A fit from one start, with its quality.
fn once(fit: Fit) -> (Fit, Vec<f64>) {
    let quality = fit.quality();
    (fit, vec![quality])
}

/// The machine as training may change it: an engine must be able to handle all biases, whatever
/// they are at the start.
pub(super) fn with_all_biases(machine: &Machine) -> isinglass::Result<Machine> {
    machine.clone().with_parameters(machine.weights().to_vec(), vec![1.0; machine.unit_count()])
}

/// The learner bayes, with the engine of its likelihood.
fn bayes(settings: BayesSettings, engine: Option<&dyn Engine>) -> Bayes<'_> {
    let learner = Bayes::from(settings);
    engine.map_or(learner, |engine| learner.with_engine(engine))
}

impl FitSettings {
    /// Resolves the request for a start and a table: the learner, and its engines. Choices are
    /// noted.
    ///
    /// [`FitSettings::check`] says whether the settings go together.
    pub fn plan(&self, start: &Machine, table: &Table, note: &dyn Fn(Note)) -> Result<Plan> {
        let (clamped, free) = TwoPhase::new(start, table)?.open()?;
        let is_open = clamped.in_one_row.free_count() > 0;
        let Resolved { learner, engine } = self.resolve(start, (is_open, &free), note)?;
        let group = &self.group;
        let limits = |iterations, tolerance| Limits { iterations, tolerance };
        let way = match learner {
            LearnerName::Auto | LearnerName::Likelihood => {
                self.likelihood(start, (&clamped, &free), engine, note)?
            }
            LearnerName::PseudoLikelihood => {
                let settings = group.pseudo_likelihood;
                let limits = match settings.l1 {
                    Some(L1::Ebic) => limits(start.unit_count(), 0.0),
                    _ => limits(settings.iterations, settings.tolerance),
                };
                Way::PseudoLikelihood(limits)
            }
            LearnerName::Rise => Way::Other(Box::new(Rise::from(group.rise)), limits(0, 0.0)),
            LearnerName::Bayes => Way::Bayes(group.bayes, self.posterior_engine(start, note)?),
            LearnerName::PlEm => Way::Other(
                Box::new(PseudoLikelihoodEm::from(group.pl_em)),
                limits(group.pl_em.iterations, 0.0),
            ),
            LearnerName::ContrastiveDivergence => {
                let learner = self.contrastive_divergence();
                Way::Other(Box::new(learner), limits(learner.iterations, 0.0))
            }
            LearnerName::MeanFieldCd => {
                let settings = group.mean_field_cd;
                let limits = limits(settings.iterations, settings.tolerance);
                Way::Other(Box::new(MeanFieldCd::from(settings)), limits)
            }
            LearnerName::ClosedForm => Way::ClosedForm(ClosedForm::from(group.closed_form)),
            LearnerName::Factorized => Way::Other(Box::new(Factorized), limits(0, 0.0)),
        };
        let is_exact = matches!(&way, Way::Likelihood { .. });
        Ok(Plan { wanted: self.wanted(learner, is_exact), settings: self.clone(), way, cancel: None })
    }

    /// The learner contrastive-divergence.
    pub fn contrastive_divergence(&self) -> ContrastiveDivergence {
        ContrastiveDivergence::from(self.group.contrastive_divergence)
    }

    /// Runs epochs of contrastive divergence, from a machine and the checkpoint of earlier epochs.
    pub fn run_epochs(
        &self,
        machine: &Machine,
        table: &Table,
        before: Option<&Checkpoint>,
        observer: &mut dyn Observer,
    ) -> Result<(Fitted, Option<Checkpoint>)> {
        let learner = self.contrastive_divergence();
        let made = learner.run_epochs(machine, table, before, observer);
        let Epochs { mut fit, state, is_complete } =
            made.map_err(|error| Error::from(error).with_hint(Hint::Budget))?;
        self.add_likelihood(&mut fit, table)?;
        // Epochs are many, and most are followed by others: they are not checked.
        let independent = independent_log_likelihood(&fit.machine, table)?;
        let checked = Checked { independent, check: None };
        let learner = learner.name();
        let diverged = self.take_divergence(learner, &mut fit);
        let (fit, restart_objectives) = once(fit);
        let (engine, clamped_engine, remedy) = (None, None, None);
        let fitted = Fitted {
            learner,
            engine,
            clamped_engine,
            fit,
            restart_objectives,
            remedy,
            is_complete,
            checked,
            penalty: None,
            diverged,
            growth: None,
            validation: Vec::new(),
            posterior: None,
        };
        Ok((fitted, state))
    }

    /// Where a fit of a structure to a table starts by default.
    pub fn start(&self, structure: &Machine, table: &Table) -> isinglass::Result<Machine> {
        start_of(structure, table, self.engine.seed(), 0)
    }

    /// Takes the note that the data hardly bound couplings from a fit whose rate is to blame.
    fn take_divergence(&self, learner: &str, fit: &mut Fit) -> Option<Diverged> {
        let rate = match learner.parse() {
            Ok(LearnerName::ContrastiveDivergence) => self.group.contrastive_divergence.rate,
            Ok(LearnerName::MeanFieldCd) => self.group.mean_field_cd.rate,
            _ => return None,
        };
        let place = fit.notes.iter().position(|note| matches!(note, CoreNote::Unbounded { .. }))?;
        let CoreNote::Unbounded { largest } = fit.notes[place] else { return None };
        (rate >= LARGE_RATE).then(|| {
            fit.notes.remove(place);
            Diverged { largest, rate }
        })
    }

    /// The learner that `auto` chooses here, or that a table with gaps requires.
    fn resolve(
        &self,
        start: &Machine,
        (is_open, free): (bool, &Open),
        note: &dyn Fn(Note),
    ) -> Result<Resolved> {
        let has_hidden = start.with_role(Role::Hidden).next().is_some();
        let without_engine = |learner| Resolved { learner, engine: None };
        let chosen = |learner| -> Result<Resolved> {
            self.check_learners(&[learner], Some(learner))?;
            Ok(without_engine(learner))
        };
        let asked = match self.learner {
            // Conditionals need complete rows; likelihoods sum missing cells and hidden units out.
            LearnerName::Auto if self.is_sparse() && !(is_open && self.has_one_l1()) => {
                LearnerName::PseudoLikelihood
            }
            other => other,
        };
        match asked {
            LearnerName::Auto if self.engine.engine != EngineName::Auto => chosen(LearnerName::Likelihood),
            LearnerName::Auto => match self.engine.auto(&with_all_biases(start)?, free)? {
                Choice::Exact { engine, reason } => {
                    self.check_learners(&[LearnerName::Likelihood], None)?;
                    note(Note::Engine(reason));
                    Ok(Resolved { learner: LearnerName::Likelihood, engine: Some(engine) })
                }
                Choice::Sampling { refusal } => {
                    let has_inputs = start.with_role(Role::Input).next().is_some();
                    let is_small = start.unit_count() <= MOST_SAMPLED;
                    let learner = if is_small && !has_hidden && !has_inputs {
                        LearnerName::Likelihood
                    } else if is_open {
                        LearnerName::PlEm
                    } else {
                        LearnerName::PseudoLikelihood
                    };
                    note(Note::Learner { learner, refusal });
                    chosen(learner)
                }
            },
            LearnerName::PseudoLikelihood if is_open && self.is_sparse() => {
                let what = if has_hidden { "hidden units" } else { "missing cells" };
                let error = CoreError::setting("l1", format!("requires rows without {what}"));
                Err(Error::Hinted { error, hint: Hint::FillGaps })
            }
            LearnerName::PseudoLikelihood if is_open && !has_hidden => {
                note(Note::MissingCells);
                chosen(LearnerName::PlEm)
            }
            named => Ok(without_engine(named)),
        }
    }

    /// Engines for the likelihood, one of which may have been chosen before.
    fn likelihood(
        &self,
        start: &Machine,
        (clamped, free): (&Open, &Open),
        engine: Option<Box<dyn Engine>>,
        note: &dyn Fn(Note),
    ) -> Result<Way> {
        // Whatever the engine can do with the input units clamped alone, it can do with more units clamped.
        let trained = with_all_biases(start)?;
        if self.component_history && start.with_role(Role::Input).next().is_some() {
            return Err(Usage::ComponentsWithInputs.into());
        }
        // Where `auto` has come here without an engine, none was exact.
        let samples =
            engine.is_none() && self.engine.engine == EngineName::Auto && self.learner == LearnerName::Auto;
        let (name, rows) = if samples {
            (EngineName::Temper, self.clamped_engine.unwrap_or(EngineName::Temper.for_rows()))
        } else {
            (self.engine.engine, self.clamped_name())
        };
        let pick = |name, open, note| {
            let picked = self.engine.pick_for_rows(name, (&trained, open), Task::Exact, note);
            picked.map_err(|error| error.with_hint(Hint::LikelihoodBudget))
        };
        let engine = match engine {
            Some(engine) => engine,
            None => pick(name, free, note)?,
        };
        let is_open = clamped.in_one_row.free_count() > 0;
        let has_inputs = start.with_role(Role::Input).next().is_some();
        let clamped_engine = match self.clamped_engine {
            None if name.samples() => {
                let picked = self.engine.pick_clamped((&trained, clamped), Task::Exact);
                Some(picked.map_err(|error| error.with_hint(Hint::LikelihoodBudget))?)
            }
            _ if rows == name => None,
            _ => Some(pick(rows, clamped, &|_| ())?),
        };
        if name == EngineName::Temper && !has_inputs {
            let engine = Temper::from(self.engine.group.temper);
            let clamped = clamped_engine.unwrap_or_else(|| Box::new(engine));
            return Ok(Way::Sampled { engine: Box::new(engine), clamped, is_open });
        }
        Ok(Way::Likelihood { engine, clamped: clamped_engine, is_open })
    }

    /// The exact engine for a posterior of the likelihood: the one that is named, or one that costs
    /// next to nothing. Without one, the posterior is that of the pseudo-likelihood.
    fn posterior_engine(&self, start: &Machine, note: &dyn Fn(Note)) -> Result<Option<Box<dyn Engine>>> {
        let trained = with_all_biases(start)?;
        let free = Evidence::none(start.unit_count());
        let name = self.engine.engine;
        if name != EngineName::Auto {
            return Ok(Some(self.engine.named(name).ok_or(Usage::OnlyModes)?));
        }
        let has_inputs = start.with_role(Role::Input).next().is_some();
        let engine = match auto::choose(&trained, &free, AT_EVERY_STEP)? {
            Choice::Exact { engine, .. } if !has_inputs => Some(engine),
            _ => None,
        };
        note(Note::Posterior { engine: engine.as_ref().map(|engine| engine.name()) });
        Ok(engine)
    }

    /// Adds the likelihood where a learner does not need it but it costs next to nothing: it is
    /// exact or absent.
    fn add_likelihood(&self, fit: &mut Fit, table: &Table) -> isinglass::Result<()> {
        let machine = &fit.machine;
        let (clamped, free) = TwoPhase::new(machine, table)?.open()?;
        let budget = self.engine.budget().min(AT_HAND);
        let exact = |open: &Open| -> isinglass::Result<Option<Box<dyn Engine>>> {
            Ok(match auto::choose_for_rows(&with_all_biases(machine)?, open, budget)? {
                Choice::Exact { engine, .. } => Some(engine),
                Choice::Sampling { .. } => None,
            })
        };
        let (Some(free), Some(clamped)) = (exact(&free)?, exact(&clamped)?) else { return Ok(()) };
        let phases = Phases { clamped: &*clamped, free: &*free };
        match log_likelihood(machine, table, phases) {
            Ok(gain) => {
                (fit.log_likelihood, fit.guarantee) = (Some(gain.value), gain.guarantee);
                Ok(())
            }
            // Many rows may together take more than any of them.
            Err(CoreError::OverBudget { .. } | CoreError::CannotDo { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

impl Plan {
    /// The same plan, whose check of the fit is left out, or discarded, once the token is cancelled.
    /// The fit itself is ended by its observer.
    #[must_use]
    pub fn cancelled_by(mut self, token: CancelToken) -> Self {
        self.cancel = Some(token);
        self
    }

    /// When the fit ends at the latest, and when it has converged.
    pub fn limits(&self) -> Limits {
        match &self.way {
            Way::Likelihood { .. } | Way::Sampled { .. } => {
                let settings = self.settings.group.likelihood;
                Limits { iterations: settings.iterations, tolerance: settings.tolerance }
            }
            Way::PseudoLikelihood(limits) | Way::Other(_, limits) => *limits,
            Way::ClosedForm(learner) => Limits { iterations: learner.iterations, tolerance: 0.0 },
            Way::Bayes(settings, _) => {
                Limits { iterations: settings.burn_in + settings.samples, tolerance: 0.0 }
            }
        }
    }

    /// The engine of the free phase, where there is one.
    pub(crate) fn engine_name(&self) -> Option<&'static str> {
        match &self.way {
            Way::Likelihood { engine, .. } => Some(engine.name()),
            Way::Sampled { .. } => Some(Temper::NAME),
            Way::Bayes(_, engine) => engine.as_ref().map(|engine| engine.name()),
            Way::PseudoLikelihood(_) | Way::Other(..) | Way::ClosedForm(_) => None,
        }
    }

    /// The engine whose components are recorded, if that was requested.
    pub fn recorded_mixture(&self) -> Option<Mixture> {
        self.settings.component_history.then(|| Mixture::from(self.settings.engine.group.mixture))
    }

    /// Runs something with the learner, and the penalty if it was chosen.
    pub(crate) fn with_learner<R>(
        &self,
        penalty: Option<&Penalty>,
        act: impl FnOnce(&(dyn Learner + Sync)) -> R,
    ) -> R {
        let group = self.settings.group;
        let group = penalty.map_or(group, |penalty| penalty.applied(group));
        match &self.way {
            Way::Likelihood { engine, clamped, .. } => {
                let phases = Phases { clamped: clamped.as_deref().unwrap_or(&**engine), free: &**engine };
                let learner = Likelihood::with_phases(phases).with_settings(group.likelihood);
                act(&learner)
            }
            Way::Sampled { engine, clamped, .. } => {
                let learner = SampledLikelihood::new(**engine, &**clamped);
                act(&learner.with_settings(group.likelihood))
            }
            Way::PseudoLikelihood(_) => act(&PseudoLikelihood::from(group.pseudo_likelihood)),
            Way::Other(learner, _) => act(&**learner),
            Way::ClosedForm(learner) => act(learner),
            Way::Bayes(settings, engine) => act(&bayes(*settings, engine.as_deref())),
        }
    }

    /// Runs the fit, or resumes it from a checkpoint.
    pub fn fit(
        &self,
        start: &Machine,
        table: &Table,
        from: Option<&Checkpoint>,
        observer: &mut dyn Observer,
        note: &dyn Fn(Note),
    ) -> Result<Fitted> {
        if self.settings.grows {
            return self.fit_growing(start, table, observer, note);
        }
        self.fit_once(start, table, from, observer, note)
    }

    /// The fit of a structure as it is.
    pub(super) fn fit_once(
        &self,
        start: &Machine,
        table: &Table,
        from: Option<&Checkpoint>,
        observer: &mut dyn Observer,
        note: &dyn Fn(Note),
    ) -> Result<Fitted> {
        let learner = self.with_learner(None, |learner| learner.name());
        let penalty = self.choose(start, table, note)?;
        let chosen = penalty.as_ref();
        let (mut engine, mut clamped_engine, mut remedy, mut is_complete) = (None, None, None, false);
        let mut posterior = None;
        let (mut fit, restart_objectives) = match &self.way {
            Way::Likelihood { engine: free, clamped, is_open, .. } => {
                engine = Some(free.name());
                clamped_engine = is_open.then(|| clamped.as_deref().unwrap_or(&**free).name());
                self.fit_starts((start, table), chosen, from, observer)
                    .map_err(|error| Error::from(error).with_hint(Hint::LikelihoodBudget))?
            }
            Way::Sampled { clamped, is_open, .. } => {
                engine = Some(Temper::NAME);
                clamped_engine = is_open.then(|| clamped.name());
                self.fit_starts((start, table), chosen, from, observer)
                    .map_err(|error| Error::from(error).with_hint(Hint::LikelihoodBudget))?
            }
            Way::PseudoLikelihood(_) => {
                let found = self.fit_starts((start, table), chosen, from, observer);
                let (mut fit, objectives) =
                    found.map_err(|error| Error::from(error).with_hint(Hint::Budget))?;
                self.settings.add_likelihood(&mut fit, table)?;
                (fit, objectives)
            }
            Way::Other(learner, limits) => {
                let found = self.fit_starts((start, table), chosen, from, observer);
                let (mut fit, objectives) =
                    found.map_err(|error| Error::from(error).with_hint(Hint::Budget))?;
                self.settings.add_likelihood(&mut fit, table)?;
                is_complete = !learner.converges() && fit.iterations() >= limits.iterations;
                (fit, objectives)
            }
            Way::ClosedForm(solver) => {
                let fit = solver
                    .fit_from(start, table, from, observer)
                    .map_err(|error| Error::from(error).with_hint(Hint::Factorized))?;
                remedy = Some(fit.remedy());
                once(fit)
            }
            Way::Bayes(settings, exact) => {
                let sampled = bayes(*settings, exact.as_deref()).run(start, table, from, observer);
                let sampled = sampled.map_err(|error| Error::from(error).with_hint(Hint::Budget))?;
                engine = sampled.engine;
                let mut fit = sampled.fit.clone();
                self.settings.add_likelihood(&mut fit, table)?;
                posterior = Some(sampled);
                once(fit)
            }
        };
        let diverged = self.settings.take_divergence(learner, &mut fit);
        let is_exact = self.is_exact(&fit);
        let checked = self.settings.checked(&mut fit, table, is_exact, self.cancel.as_ref(), note)?;
        Ok(Fitted {
            learner,
            engine,
            clamped_engine,
            fit,
            restart_objectives,
            remedy,
            is_complete,
            checked,
            penalty,
            diverged,
            growth: None,
            validation: Vec::new(),
            posterior,
        })
    }

    /// Whether the fit is that of an exact free phase, and has converged.
    fn is_exact(&self, fit: &Fit) -> bool {
        match &self.way {
            Way::Likelihood { engine, .. } => engine.is_exact() && fit.converged,
            Way::Other(..) => self.settings.learner == LearnerName::Factorized,
            Way::Sampled { .. } | Way::PseudoLikelihood(_) | Way::ClosedForm(_) | Way::Bayes(..) => false,
        }
    }

    /// From the one start that is given, or from several of which the best is kept.
    pub(super) fn fit_starts(
        &self,
        (start, table): (&Machine, &Table),
        penalty: Option<&Penalty>,
        from: Option<&Checkpoint>,
        observer: &mut dyn Observer,
    ) -> isinglass::Result<(Fit, Vec<f64>)> {
        self.with_learner(penalty, |learner| {
            if self.settings.keeps_start {
                observer.restart(0, 1);
                return learner.fit_from(start, table, from, observer).map(once);
            }
            let restarts = Restarts { count: self.settings.restarts, seed: self.settings.engine.seed() };
            restarts.fit_from(learner, start, table, from, observer)
        })
    }
}

impl Fitted {
    /// The number of the best start, counted from 0.
    pub fn best_restart(&self) -> usize {
        Restarts::best(&self.restart_objectives)
    }

    /// The standard error of the fit's log-likelihood, where it is an estimate of the check.
    pub fn log_likelihood_error(&self) -> Option<f64> {
        let found = self.checked.check.as_ref()?.log_likelihood.as_ref()?;
        found.error.filter(|_| Some(found.value) == self.fit.log_likelihood)
    }

    /// Warnings besides the fit's own notes.
    pub fn warnings(&self) -> Vec<Warning> {
        let fit = &self.fit;
        // What the machine is worth comes first.
        let mut warnings = self.checked.warnings(self.engine == Some(Temper::NAME));
        if self.engine.is_none() && self.restart_objectives.len() > 1 && fit.pseudo_log_likelihood.is_none() {
            warnings.push(Warning::ComparedByCompletions);
        }
        if let Some(Diverged { largest, rate }) = self.diverged {
            warnings.push(Warning::Diverged { largest, rate });
        }
        if !fit.converged && !self.is_complete {
            warnings.push(Warning::NotConverged { stopped: fit.stopped.clone() });
        }
        warnings.extend(Warning::of(self.engine.unwrap_or(self.learner), fit.guarantee, &fit.diagnostics));
        warnings
    }
}
