//! Making the fit: the options as settings, and the learner they come to.

use isinglass::learn::{Remedy, Restarted};
use isinglass::{Machine, Table};
use isinglass_plan::{EngineName, FitSettings, Fitted};

use super::Args;
use super::bootstrap::Intervals;
use super::components::ComponentRecord;
use crate::options::{Common, Usage};
use crate::report;

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
    /// What to warn of.
    pub(super) warnings: Vec<String>,
    /// Whether it has done all that it was told to, although there is no convergence to be told.
    pub(super) is_through: bool,
}

impl Args {
    /// Refuse options that do not go together, before any file is read.
    pub(super) fn check(&self) -> Result<(), Usage> {
        // Nothing that is checked depends on the seed.
        self.settings(0).check(self.structure.hidden)
    }

    /// What the user asked for, without the command line.
    fn settings(&self, seed: u64) -> FitSettings {
        FitSettings {
            learner: self.learner,
            l2: self.l2,
            restarts: self.restarts,
            begins_at_start: self.init.is_some(),
            engine: self.engine.settings(seed),
            clamped_engine: self.clamped_engine,
            component_history: self.component_history.is_some(),
            optimizer: self.optimizer.optimizer,
            rate: self.optimizer.rate,
            momentum: self.optimizer.momentum,
            iterations: self.optimizer.iterations,
            tolerance: self.optimizer.tolerance,
            l1: self.sparse.l1,
            gamma: self.sparse.gamma,
            rule: self.sparse.rule,
            draws: self.draws.draws,
            sweeps: self.draws.sweeps,
            m_step: self.draws.m_step,
            batch: self.contrastive.batch,
            steps: self.contrastive.steps,
            rate_decay: self.contrastive.rate_decay,
            persistent: self.contrastive.persistent,
            singular: self.closed_form.singular,
            no_self_coupling: self.closed_form.no_self_coupling,
        }
    }

    /// The engine with the table's cells clamped.
    pub(super) fn clamped_name(&self) -> EngineName {
        self.settings(0).clamped_name()
    }

    pub(super) fn fit(&self, start: &Machine, table: &Table, common: &Common) -> anyhow::Result<Done> {
        self.bootstrap.check(start, table, self.engine.budget, common)?;
        let plan = self.settings(common.seed).plan(start, table, &|text| common.note(text));
        let plan = plan.map_err(|error| self.in_table(error))?;
        let record = plan.mixture().filter(|_| self.component_history.is_some()).map(ComponentRecord::new);
        let watch = self.checkpoint.watch(plan.limits(), record, common)?;
        let (fitted, mut components) =
            watch.run(|from, observer| plan.fit_with(start, table, from, observer))?;
        let fit = (&plan, &fitted.restarted);
        let intervals = self.bootstrap.run(fit, (start, table), self.engine.budget, common)?;
        let warnings = fitted.warnings();
        let Fitted { learner, engine, clamped_engine, restarted, remedy, is_through } = fitted;
        let best = restarted.best;
        let components = if best < components.len() { components.swap_remove(best) } else { Vec::new() };
        Ok(Done {
            learner,
            engine,
            clamped_engine,
            restarted,
            remedy,
            components,
            intervals,
            warnings,
            is_through,
        })
    }

    /// An error of the choice of a learner: what is wrong with the table is told with its file.
    fn in_table(&self, error: isinglass_plan::Error) -> anyhow::Error {
        let is_invalid = matches!(
            &error,
            isinglass_plan::Error::Core(isinglass::Error::Invalid { .. })
                | isinglass_plan::Error::Hinted { error: isinglass::Error::Invalid { .. }, .. }
        );
        let error = report::plain_error(error);
        if is_invalid { error.context(self.table.table.display().to_string()) } else { error }
    }
}
