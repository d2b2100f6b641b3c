//! Making the fit: which learner it is in the end, and running it.

use anyhow::Context;
use isinglass::engine::auto::{self, Choice};
use isinglass::learn::{
    Factorized, Fit, InformationGain, Learner, Likelihood, OptimizerSettings, Phases, PseudoLikelihood,
    Remedy, Restarted, Restarts, most_free, start as start_of,
};
use isinglass::{Budget, Engine, Evidence, Machine, Role, Table};

use super::Args;
use super::bootstrap::Intervals;
use super::components::ComponentRecord;
use super::learner::LearnerName;
use crate::engine_options::EngineName;
use crate::engines::Task;
use crate::options::{Common, Usage};
use crate::report;

/// Memory within which a likelihood that was not asked for is computed all the same: it takes some hundredths of a second.
const AT_HAND: Budget = Budget(16 << 20);

/// What a fit gave, and by what.
pub(super) struct Done {
    pub(super) learner: &'static str,
    pub(super) engine: Option<&'static str>,
    /// The engine of the clamped phase, where there is one.
    pub(super) clamped_engine: Option<&'static str>,
    pub(super) restarted: Restarted,
    /// What was done about singular covariances, by a learner that needs their inverse.
    pub(super) remedy: Option<Remedy>,
    /// What `--component-history` is to hold.
    pub(super) components: Vec<Vec<f64>>,
    /// What `--bootstrap` found.
    pub(super) intervals: Intervals,
    /// Whether it has done all that it was told to, although there is no convergence to be told.
    pub(super) is_through: bool,
}

impl Done {
    /// By a learner that needs no engine.
    fn of(learner: &'static str, restarted: Restarted, intervals: Intervals) -> Self {
        Self {
            learner,
            engine: None,
            clamped_engine: None,
            restarted,
            remedy: None,
            components: Vec::new(),
            intervals,
            is_through: false,
        }
    }
}

/// A fit from one start.
fn once(fit: Fit) -> Restarted {
    let objectives = vec![fit.quality()];
    Restarted { fit, objectives, best: 0 }
}

/// The machine as training may make it: whatever a bias is at the start, an engine must be able to do with all of them.
fn with_all_biases(machine: &Machine) -> isinglass::Result<Machine> {
    machine.clone().with_parameters(machine.weights().to_vec(), vec![1.0; machine.units()])
}

/// Iterations and a tolerance, for learners that do not follow a gradient in the usual ways.
fn limits(iterations: usize, tolerance: f64) -> OptimizerSettings {
    OptimizerSettings { iterations, tolerance, ..OptimizerSettings::default() }
}

impl Args {
    pub(super) fn fit(&self, start: &Machine, table: &Table, common: &Common) -> anyhow::Result<Done> {
        self.bootstrap.check(start, table, self.engine.budget, common)?;
        let data = (start, table);
        match self.settled(start, table, common)? {
            LearnerName::Auto | LearnerName::Likelihood => self.fit_by_likelihood(start, table, common),
            LearnerName::PseudoLikelihood => {
                let budget = self.engine.budget;
                let settings = self.optimizer.settings(PseudoLikelihood::default().settings);
                let plain = PseudoLikelihood { l2: self.l2, l1: self.sparse.weight(), settings, budget };
                match self.sparse.paths(budget) {
                    Some(paths) => self.fit_without_engine(&paths, limits(start.units(), 0.0), data, common),
                    None => self.fit_without_engine(&plain, settings, data, common),
                }
            }
            LearnerName::PlEm => {
                let learner = self.pl_em(common);
                self.fit_without_engine(&learner, limits(learner.iterations, 0.0), data, common)
            }
            LearnerName::ContrastiveDivergence => {
                let learner = self.contrastive_divergence(common);
                self.fit_without_engine(&learner, limits(learner.epochs, 0.0), data, common)
            }
            LearnerName::MeanFieldCd => {
                let learner = self.mean_field_cd();
                self.fit_without_engine(&learner, limits(learner.iterations, learner.tolerance), data, common)
            }
            LearnerName::ClosedForm => self.fit_in_closed_form(start, table, common),
            LearnerName::Factorized => {
                let watch = self.checkpoint.watch(OptimizerSettings::default(), None, common)?;
                let (fit, _) =
                    watch.run(|from, observer| Factorized.fit_from(start, table, from, observer))?;
                let restarted = once(fit);
                let intervals = self.intervals(&Factorized, &restarted, data, common)?;
                Ok(Done::of(Factorized.name(), restarted, intervals))
            }
        }
    }

    /// The learner that `auto` stands for here, or that a table with gaps asks for; what was taken and why goes to standard error.
    fn settled(&self, start: &Machine, table: &Table, common: &Common) -> anyhow::Result<LearnerName> {
        let in_place = || self.table.table.display().to_string();
        let (clamped, free) = most_free(start, table).with_context(in_place)?;
        let is_open = clamped.free_count() > 0;
        let has_hidden = start.with_role(Role::Hidden).next().is_some();
        let asked = match self.learner {
            LearnerName::Auto if self.sparse.is_asked() => LearnerName::PseudoLikelihood,
            other => other,
        };
        match asked {
            LearnerName::Auto if self.engine.engine != EngineName::Auto => Ok(LearnerName::Likelihood),
            LearnerName::Auto => match auto::choose(&with_all_biases(start)?, &free, self.engine.budget)? {
                Choice::Exact { .. } => Ok(LearnerName::Likelihood),
                Choice::Sampling { refusal, .. } => {
                    let other = if is_open { LearnerName::PlEm } else { LearnerName::PseudoLikelihood };
                    let why = format!("since the likelihood is out of reach ({refusal})");
                    common.note(&format!("learner: {}, {why}", other.word()));
                    self.check_for(other)?;
                    Ok(other)
                }
            },
            LearnerName::PseudoLikelihood if is_open && self.sparse.is_asked() => {
                let what = if has_hidden { "hidden units" } else { "missing cells" };
                Err(anyhow::anyhow!(
                    "{}: --l1 needs rows without {what}\nhint: fit without --l1, fill the gaps with isinglass complete, and fit the filled table with --l1",
                    in_place()
                ))
            }
            LearnerName::PseudoLikelihood if is_open && !has_hidden => {
                common.note("learner: pl-em, since the table has missing cells");
                self.check_for(LearnerName::PlEm)?;
                Ok(LearnerName::PlEm)
            }
            named => Ok(named),
        }
    }

    fn fit_by_likelihood(&self, start: &Machine, table: &Table, common: &Common) -> anyhow::Result<Done> {
        let (clamped, free) = most_free(start, table)?;
        // What the engine can do with the input units clamped alone, it can do with more units clamped.
        let trained = with_all_biases(start)?;
        let advise = |error: anyhow::Error| {
            let advice = "give more --budget, sparser --visible-links, or fewer units or missing cells; or take an approximate engine (--engine bethe, tap, \
                          linear-response) or a learner that needs none (--learner pl-em or, without hidden units, pseudo-likelihood and closed-form)";
            report::with_hint(error, advice)
        };
        let name = self.engine.engine;
        let engine = self.engine.pick(name, (&trained, &free), Task::Exact, common).map_err(advise)?;
        let clamped_engine = match self.clamped_name() {
            name if name == self.engine.engine => None,
            name => {
                let quiet = Common { quiet: true, ..*common };
                Some(self.engine.pick(name, (&trained, &clamped), Task::Exact, &quiet).map_err(advise)?)
            }
        };
        let phases = Phases { clamped: clamped_engine.as_deref().unwrap_or(&*engine), free: &*engine };
        let settings = self.optimizer.settings(OptimizerSettings::default());
        let learner = Likelihood::with_phases(phases).l2(self.l2).optimizer(settings);
        let mut record = None;
        if self.component_history.is_some() {
            if free.free_count() < start.units() {
                return Err(Usage("--component-history is for machines without inputs".into()).into());
            }
            record = Some(ComponentRecord::new(self.engine.settings(common.seed).mixture()));
        }
        let found = self.fit_from_starts(&learner, (settings, record), (start, table), common);
        let (restarted, mut components) = found.map_err(advise)?;
        let best = restarted.best;
        let components = if best < components.len() { components.swap_remove(best) } else { Vec::new() };
        Ok(Done {
            learner: learner.name(),
            engine: Some(engine.name()),
            clamped_engine: (clamped.free_count() > 0).then(|| phases.clamped.name()),
            intervals: self.intervals(&learner, &restarted, (start, table), common)?,
            restarted,
            remedy: None,
            components,
            is_through: false,
        })
    }

    /// By a learner that needs no engine.
    fn fit_without_engine(
        &self,
        learner: &(dyn Learner + Sync),
        settings: OptimizerSettings,
        (start, table): (&Machine, &Table),
        common: &Common,
    ) -> anyhow::Result<Done> {
        let found = self.fit_from_starts(learner, (settings, None), (start, table), common);
        let (mut restarted, _) = found.map_err(|error| report::with_hint(error, "give more --budget"))?;
        let intervals = self.intervals(learner, &restarted, (start, table), common)?;
        self.add_likelihood(&mut restarted.fit, table)?;
        if restarted.objectives.len() > 1 && restarted.fit.pseudo_log_likelihood.is_none() {
            common.note(
                "warning: starts were compared by the pseudo-likelihood of rows completed by draws, which favours hidden units that copy visible ones",
            );
        }
        let is_through = !learner.settles() && restarted.fit.iterations() >= settings.iterations;
        Ok(Done { is_through, ..Done::of(learner.name(), restarted, intervals) })
    }

    fn fit_in_closed_form(&self, start: &Machine, table: &Table, common: &Common) -> anyhow::Result<Done> {
        let learner = self.closed_form.learner(self.engine.budget);
        let watch = self.checkpoint.watch(limits(learner.iterations, 0.0), None, common)?;
        let found = watch.run(|from, observer| learner.solve_from(start, table, from, observer));
        let advise = |error: anyhow::Error| {
            report::with_hint(error, "give more --budget; --learner factorized fits any size")
        };
        let (found, _) = found.map_err(advise)?;
        let restarted = once(found.fit);
        let intervals = self.intervals(&learner, &restarted, (start, table), common)?;
        Ok(Done { remedy: Some(found.remedy), ..Done::of(learner.name(), restarted, intervals) })
    }

    /// From the one start that is given, or from several of which the best is kept; with the record of components for each start.
    fn fit_from_starts(
        &self,
        learner: &dyn Learner,
        (settings, record): (OptimizerSettings, Option<ComponentRecord>),
        (start, table): (&Machine, &Table),
        common: &Common,
    ) -> anyhow::Result<(Restarted, Vec<Vec<Vec<f64>>>)> {
        let watch = self.checkpoint.watch(settings, record, common)?;
        if self.init.is_some() {
            return watch.run(|from, observer| learner.fit_from(start, table, from, observer).map(once));
        }
        let restarts = Restarts { count: self.restarts, seed: common.seed };
        watch.run(|from, observer| restarts.fit_from(learner, start, table, from, observer))
    }

    /// Fit resamples, from where the fit that was kept began.
    fn intervals(
        &self,
        learner: &(dyn Learner + Sync),
        restarted: &Restarted,
        (start, table): (&Machine, &Table),
        common: &Common,
    ) -> anyhow::Result<Intervals> {
        let begin = match &self.init {
            Some(_) => start.clone(),
            None => start_of(start, table, common.seed, restarted.best as u64)?,
        };
        let machines = (&begin, &restarted.fit.machine);
        self.bootstrap.run(learner, machines, table, self.engine.budget, common)
    }

    /// Where a learner has no use for the likelihood but it takes next to nothing to compute, the user has: it is exact or absent.
    fn add_likelihood(&self, fit: &mut Fit, table: &Table) -> anyhow::Result<()> {
        let machine = &fit.machine;
        let (clamped, free) = most_free(machine, table)?;
        let budget = self.engine.budget.min(AT_HAND);
        let exact = |evidence: &Evidence| -> isinglass::Result<Option<Box<dyn Engine>>> {
            Ok(match auto::choose(&with_all_biases(machine)?, evidence, budget)? {
                Choice::Exact { engine, .. } => Some(engine),
                Choice::Sampling { .. } => None,
            })
        };
        let (Some(free), Some(clamped)) = (exact(&free)?, exact(&clamped)?) else { return Ok(()) };
        let phases = Phases { clamped: &*clamped, free: &*free };
        let evaluation = InformationGain::new(phases, machine, table, 0.0)?.evaluate(machine)?;
        (fit.log_likelihood, fit.guarantee) = (Some(evaluation.gain), evaluation.guarantee);
        Ok(())
    }

    /// The engine with the table's cells clamped.
    pub(super) fn clamped_name(&self) -> EngineName {
        self.clamped_engine.unwrap_or(self.engine.engine.for_rows())
    }
}
