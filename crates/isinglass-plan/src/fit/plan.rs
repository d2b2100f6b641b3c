//! Which learner a fit is made by in the end, and making it.

use isinglass::engine::Open;
use isinglass::engine::auto::Choice;
use isinglass::learn::{
    Bootstrap, Bootstrapped, ClosedForm, Epochs, Factorized, Fit, Learner, Likelihood, Observer,
    OptimizerSettings, Progress, Remedy, Restarted, Restarts, State, start as start_of,
};
use isinglass::likelihood::{Phases, TwoPhase, log_likelihood};
use isinglass::{Budget, Engine, Error as CoreError, Machine, Role, Table};

use super::{FitSettings, LearnerName};
use crate::{EngineName, EngineSettings, Error, Named, Result, Task, Usage};

/// Memory within which a likelihood that was not asked for is computed all the same: it takes some hundredths of a second.
const AT_HAND: Budget = Budget(16 << 20);

/// A fit that can be made: the learner is settled, and its engines are chosen.
pub struct Plan {
    settings: FitSettings,
    way: Way,
}

enum Way {
    Likelihood {
        engine: Box<dyn Engine>,
        /// For rows, where it is another.
        clamped: Option<Box<dyn Engine>>,
        /// Whether any unit is free in any row.
        is_open: bool,
        /// Whether any unit is clamped in all rows.
        has_inputs: bool,
    },
    /// Step by step, without an engine.
    Steps(Box<dyn Learner + Send + Sync>, OptimizerSettings),
    ClosedForm(ClosedForm),
    Factorized,
}

/// What a fit gave, and by what.
#[derive(Debug)]
pub struct Fitted {
    /// The learner.
    pub learner: &'static str,
    /// The engine of the free phase, where there is one.
    pub engine: Option<&'static str>,
    /// The engine of the clamped phase, where there is one.
    pub clamped_engine: Option<&'static str>,
    /// The fit, and how those from other starts ended.
    pub restarted: Restarted,
    /// What was done about singular covariances, by a learner that needs their inverse.
    pub remedy: Option<Remedy>,
    /// Whether it has done all that it was told to, although there is no convergence to be told.
    pub is_through: bool,
}

/// A fit from one start.
fn once(fit: Fit) -> Restarted {
    let objectives = vec![fit.quality()];
    Restarted { fit, objectives, best: 0 }
}

/// The machine as training may make it: whatever a bias is at the start, an engine must be able to do with all of them.
fn with_all_biases(machine: &Machine) -> isinglass::Result<Machine> {
    machine.clone().with_parameters(machine.weights().to_vec(), vec![1.0; machine.unit_count()])
}

/// Iterations and a tolerance, for learners that do not follow a gradient in the usual ways.
fn limits(iterations: usize, tolerance: f64) -> OptimizerSettings {
    OptimizerSettings { iterations, tolerance, ..OptimizerSettings::default() }
}

impl FitSettings {
    /// Settle how a machine is fitted to a table; what was taken and why is noted.
    ///
    /// Settings are taken as they are: [`FitSettings::check`] tells whether they go together.
    pub fn plan(&self, start: &Machine, table: &Table, note: &dyn Fn(&str)) -> Result<Plan> {
        let way = match self.settled(start, table, note)? {
            LearnerName::Auto | LearnerName::Likelihood => self.likelihood(start, table, note)?,
            LearnerName::PseudoLikelihood => match self.paths() {
                Some(paths) => Way::Steps(Box::new(paths), limits(start.unit_count(), 0.0)),
                None => {
                    let learner = self.pseudo_likelihood();
                    Way::Steps(Box::new(learner), learner.settings)
                }
            },
            LearnerName::PlEm => {
                let learner = self.pl_em();
                let limits = limits(learner.iterations, 0.0);
                Way::Steps(Box::new(learner), limits)
            }
            LearnerName::ContrastiveDivergence => {
                let learner = self.contrastive_divergence();
                let limits = limits(learner.epochs, 0.0);
                Way::Steps(Box::new(learner), limits)
            }
            LearnerName::MeanFieldCd => {
                let learner = self.mean_field_cd();
                let limits = limits(learner.iterations, learner.tolerance);
                Way::Steps(Box::new(learner), limits)
            }
            LearnerName::ClosedForm => Way::ClosedForm(self.closed_form()),
            LearnerName::Factorized => Way::Factorized,
        };
        Ok(Plan { settings: *self, way })
    }

    /// As many epochs of contrastive divergence as the settings tell, from a machine and from what the epochs before have left.
    pub fn run_epochs(
        &self,
        machine: &Machine,
        table: &Table,
        before: Option<&State>,
        observer: &mut dyn Observer,
    ) -> Result<(Fitted, Option<State>)> {
        let learner = self.contrastive_divergence();
        let made = learner.run_epochs(machine, table, before, observer);
        let Epochs { mut fit, state, is_complete } =
            made.map_err(|error| Error::from(error).with_hint("give more --budget"))?;
        self.add_likelihood(&mut fit, table)?;
        let found = Fitted {
            learner: learner.name(),
            engine: None,
            clamped_engine: None,
            restarted: once(fit),
            remedy: None,
            is_through: is_complete,
        };
        Ok((found, state))
    }

    /// Where a fit of a structure to a table begins unless it is told to begin elsewhere.
    pub fn start(&self, structure: &Machine, table: &Table) -> isinglass::Result<Machine> {
        start_of(structure, table, self.engine.seed, 0)
    }

    /// The learner that `auto` stands for here, or that a table with gaps asks for.
    fn settled(&self, start: &Machine, table: &Table, note: &dyn Fn(&str)) -> Result<LearnerName> {
        let (clamped, free) = TwoPhase::new(start, table)?.open()?;
        let is_open = clamped.in_one_row.free_count() > 0;
        let has_hidden = start.with_role(Role::Hidden).next().is_some();
        let asked = match self.learner {
            LearnerName::Auto if self.is_sparse() => LearnerName::PseudoLikelihood,
            other => other,
        };
        match asked {
            LearnerName::Auto if self.engine.engine != EngineName::Auto => Ok(LearnerName::Likelihood),
            LearnerName::Auto => match self.engine.auto(&with_all_biases(start)?, &free)? {
                Choice::Exact { .. } => Ok(LearnerName::Likelihood),
                Choice::Sampling { refusal, .. } => {
                    let other = if is_open { LearnerName::PlEm } else { LearnerName::PseudoLikelihood };
                    note(&format!(
                        "learner: {}, since the likelihood is out of reach ({refusal})",
                        other.word()
                    ));
                    self.check_for(other)?;
                    Ok(other)
                }
            },
            LearnerName::PseudoLikelihood if is_open && self.is_sparse() => {
                let what = if has_hidden { "hidden units" } else { "missing cells" };
                let error = CoreError::invalid("--l1", format!("needs rows without {what}"));
                Err(Error::hinted(
                    error,
                    "fit without --l1, fill the gaps with isinglass complete, and fit the filled table with --l1",
                ))
            }
            LearnerName::PseudoLikelihood if is_open && !has_hidden => {
                note("learner: pl-em, since the table has missing cells");
                self.check_for(LearnerName::PlEm)?;
                Ok(LearnerName::PlEm)
            }
            named => Ok(named),
        }
    }

    /// Engines for the likelihood.
    fn likelihood(&self, start: &Machine, table: &Table, note: &dyn Fn(&str)) -> Result<Way> {
        let (clamped, free) = TwoPhase::new(start, table)?.open()?;
        // What the engine can do with the input units clamped alone, it can do with more units clamped.
        let trained = with_all_biases(start)?;
        let has_inputs = start.with_role(Role::Input).next().is_some();
        if self.component_history && has_inputs {
            return Err(Usage("--component-history is for machines without inputs".into()).into());
        }
        let (name, rows) = (self.engine.engine, self.clamped_name());
        let engine =
            self.engine.pick_for_rows(name, (&trained, &free), Task::Exact, note).map_err(likelihood_hint)?;
        let clamped_engine = if rows == name {
            None
        } else {
            let picked = self.engine.pick_for_rows(rows, (&trained, &clamped), Task::Exact, &|_| ());
            Some(picked.map_err(likelihood_hint)?)
        };
        Ok(Way::Likelihood {
            engine,
            clamped: clamped_engine,
            is_open: clamped.in_one_row.free_count() > 0,
            has_inputs,
        })
    }

    /// Where a learner has no use for the likelihood but it takes next to nothing to compute, the user has: it is exact or absent.
    fn add_likelihood(&self, fit: &mut Fit, table: &Table) -> isinglass::Result<()> {
        let machine = &fit.machine;
        let (clamped, free) = TwoPhase::new(machine, table)?.open()?;
        let at_hand = EngineSettings { budget: self.engine.budget.min(AT_HAND), ..self.engine };
        let exact = |open: &Open| -> isinglass::Result<Option<Box<dyn Engine>>> {
            Ok(match at_hand.auto(&with_all_biases(machine)?, open)? {
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

/// What helps where a likelihood is out of reach.
fn likelihood_hint(error: Error) -> Error {
    error.with_hint(
        "give more --budget, sparser --visible-links, or fewer units or missing cells; or take an approximate engine (--engine bethe, tap, \
         linear-response) or a learner that needs none (--learner pl-em or, without hidden units, pseudo-likelihood and closed-form)",
    )
}

impl Plan {
    /// How long the learner may go on, and when it has converged.
    pub fn limits(&self) -> OptimizerSettings {
        match &self.way {
            Way::Likelihood { .. } => self.settings.optimizer(OptimizerSettings::default()),
            Way::Steps(_, limits) => *limits,
            Way::ClosedForm(learner) => limits(learner.iterations, 0.0),
            Way::Factorized => OptimizerSettings::default(),
        }
    }

    /// The engine whose components can be recorded: that of the likelihood of a machine without inputs.
    pub fn mixture(&self) -> Option<isinglass::Mixture> {
        match self.way {
            Way::Likelihood { has_inputs: false, .. }
                if self.settings.engine.engine == EngineName::Mixture =>
            {
                Some(self.settings.engine.mixture())
            }
            _ => None,
        }
    }

    /// Do something with the learner itself.
    fn with_learner<R>(&self, act: impl FnOnce(&(dyn Learner + Sync)) -> R) -> R {
        match &self.way {
            Way::Likelihood { engine, clamped, .. } => {
                let phases = Phases { clamped: clamped.as_deref().unwrap_or(&**engine), free: &**engine };
                let learner = Likelihood::with_phases(phases).l2(self.settings.l2).optimizer(self.limits());
                act(&learner)
            }
            Way::Steps(learner, _) => act(&**learner),
            Way::ClosedForm(learner) => act(learner),
            Way::Factorized => act(&Factorized),
        }
    }

    /// Make the fit, or go on from a state of it.
    pub fn fit(
        &self,
        start: &Machine,
        table: &Table,
        from: Option<&State>,
        observer: &mut dyn Observer,
    ) -> Result<Fitted> {
        let learner = self.with_learner(|learner| learner.name());
        let (mut engine, mut clamped_engine, mut remedy, mut is_through) = (None, None, None, false);
        let restarted = match &self.way {
            Way::Likelihood { engine: free, clamped, is_open, .. } => {
                engine = Some(free.name());
                clamped_engine = is_open.then(|| clamped.as_deref().unwrap_or(&**free).name());
                self.fit_starts(start, table, from, observer)
                    .map_err(|error| likelihood_hint(error.into()))?
            }
            Way::Steps(steps, limits) => {
                let found = self.fit_starts(start, table, from, observer);
                let mut restarted =
                    found.map_err(|error| Error::from(error).with_hint("give more --budget"))?;
                self.settings.add_likelihood(&mut restarted.fit, table)?;
                is_through = !steps.settles() && restarted.fit.iterations() >= limits.iterations;
                restarted
            }
            Way::ClosedForm(solver) => {
                let found = solver.solve_from(start, table, from, observer).map_err(|error| {
                    Error::from(error).with_hint("give more --budget; --learner factorized fits any size")
                })?;
                remedy = Some(found.remedy);
                once(found.fit)
            }
            Way::Factorized => once(Factorized.fit_from(start, table, from, observer)?),
        };
        Ok(Fitted { learner, engine, clamped_engine, restarted, remedy, is_through })
    }

    /// Fit resamples of the table, from where the fit that was kept began.
    pub fn resample(
        &self,
        bootstrap: &Bootstrap,
        (start, table): (&Machine, &Table),
        restarted: &Restarted,
        progress: &Progress<'_>,
    ) -> isinglass::Result<Bootstrapped> {
        let begin = self.begin(start, table, restarted)?;
        let fitted = &restarted.fit.machine;
        self.with_learner(|learner| bootstrap.run(learner, &begin, fitted, table, progress))
    }

    /// Where the fit that was kept began.
    fn begin(&self, start: &Machine, table: &Table, restarted: &Restarted) -> isinglass::Result<Machine> {
        if self.settings.begins_at_start {
            return Ok(start.clone());
        }
        start_of(start, table, self.settings.engine.seed, restarted.best as u64)
    }

    /// From the one start that is given, or from several of which the best is kept.
    fn fit_starts(
        &self,
        start: &Machine,
        table: &Table,
        from: Option<&State>,
        observer: &mut dyn Observer,
    ) -> isinglass::Result<Restarted> {
        self.with_learner(|learner| {
            if self.settings.begins_at_start {
                return learner.fit_from(start, table, from, observer).map(once);
            }
            let restarts = Restarts { count: self.settings.restarts, seed: self.settings.engine.seed };
            restarts.fit_from(learner, start, table, from, observer)
        })
    }
}

impl Fitted {
    /// What the user should be told besides the fit's own notes.
    pub fn warnings(&self) -> Vec<String> {
        let Restarted { fit, objectives, .. } = &self.restarted;
        let mut warnings = Vec::new();
        if self.engine.is_none() && objectives.len() > 1 && fit.pseudo_log_likelihood.is_none() {
            warnings.push("starts were compared by the pseudo-likelihood of rows completed by draws, which favours hidden units that copy visible ones".to_owned());
        }
        if !fit.converged && !self.is_through {
            warnings.push(format!("not converged: {}", fit.stopped));
        }
        warnings.extend(crate::warning(self.engine.unwrap_or(self.learner), fit.guarantee, &fit.diagnostics));
        warnings
    }
}
