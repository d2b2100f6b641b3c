//! Making the fit: the options as settings, and the learner they come to.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use isinglass::network::Study;
use isinglass::{CancelToken, Machine, Table};
use isinglass_files::{Encodings, read_encodings};
use isinglass_plan::{Filled, FitSettings, Fitted, Hidden, Missing};

use super::Args;
use super::bootstrap::Intervals;
use super::components::ComponentRecord;
use super::study::StudyOptions;
use crate::commands::report::STUDIED_UNITS;
use crate::options::{Common, Usage};
use crate::report;
use crate::signals;

/// The fit, the rows of `--component-history`, what became of `--bootstrap`, and the network's
/// measures.
type Findings = (Fitted, Vec<Vec<f64>>, Intervals, Option<Study>);

impl Args {
    /// Refuses options that do not go together, before any file is read.
    pub(super) fn check(&self, is_json: bool) -> Result<(), Usage> {
        // Nothing that is checked depends on the seed.
        let is_used = [&self.network, &self.report, &self.study.centrality];
        if self.bootstrap.is_given() && !is_json && is_used.iter().all(|path| path.is_none()) {
            let text =
                "--bootstrap requires --network, --centrality, --report or --json, which show the intervals";
            return Err(Usage(text.into()));
        }
        if self.table.columns.is_encoded() && (self.moderate.is_some() || self.time.lag.is_some()) {
            let text = "--threshold, --binarize and --words are not supported with --moderate and --lag";
            return Err(Usage(text.into()));
        }
        if self.missing != Missing::Em && (self.moderate.is_some() || self.time.lag.is_some()) {
            let text =
                "--missing is not supported with --moderate and --lag, which leave incomplete rows out";
            return Err(Usage(text.into()));
        }
        let given = [
            ("--case-dropping", self.bootstrap.drops_cases()),
            ("--checkpoint", self.checkpoint.checkpoint.is_some()),
            ("--bootstrap", self.bootstrap.is_given()),
        ];
        if let Some((option, _)) = given.iter().find(|(_, given)| *given)
            && self.structure.hidden == Hidden::Auto
        {
            return Err(Usage(format!("{option} is not supported with --hidden auto")));
        }
        Ok(self.settings(0).check(self.structure.hidden.count(), self.validate.is_some())?)
    }

    /// A machine that exists, with the hidden units that are to be added now.
    pub(super) fn with_hidden(&self, machine: Machine, table: &Table, seed: u64) -> anyhow::Result<Machine> {
        match self.structure.hidden.layers() {
            [] => Ok(machine),
            [count] => {
                let grown = self.settings(seed).grown(&machine, *count, table);
                grown.map_err(|error| self.in_table(error))
            }
            _ => {
                Err(Usage("--hidden with --init takes a number: layers are not added to a machine".into())
                    .into())
            }
        }
    }

    /// How raw columns become −1 and +1: as the options say, and as the machine does that is given.
    pub(super) fn encodings(&self) -> anyhow::Result<Encodings> {
        let budget = self.engine.budget;
        let mut found = self.table.columns.encodings(&self.table.table, budget)?;
        if let Some(model) = &self.init {
            for (column, encoding) in read_encodings(model, budget)?.iter() {
                if found.get(column).is_none() {
                    found.set(column, encoding.clone());
                }
            }
        }
        Ok(found)
    }

    /// The table without missing cells, where that was requested.
    pub(super) fn filled(
        &self,
        start: &Machine,
        table: &Table,
        common: &Common,
    ) -> anyhow::Result<Option<Filled>> {
        let note = |note| common.choice(&note);
        let filled = self.missing.prepare(&self.settings(common.seed), start, table, &note);
        filled.map_err(|error| self.in_table(error))
    }

    /// Reads a table whose columns are encoded so.
    pub(super) fn read(&self, path: &Path, encodings: &Encodings) -> anyhow::Result<Table> {
        let columns = &self.table.columns;
        columns.read(path, &columns.options(encodings, Encodings::default(), self.engine.budget))
    }

    /// The rows of `--validate`, which must fit the machine.
    pub(super) fn validation(&self, start: &Machine, encodings: &Encodings) -> anyhow::Result<Option<Table>> {
        let Some(path) = &self.validate else { return Ok(None) };
        let rows = self.read(path, encodings)?;
        FitSettings::check_validation(start, &rows).with_context(|| path.display().to_string())?;
        Ok(Some(rows))
    }

    /// The request, without the command line.
    pub(super) fn settings(&self, seed: u64) -> FitSettings {
        let mut settings = self.settings.clone();
        settings.learner = self.time.learner(self.learner);
        settings.restarts = self.restarts;
        settings.keeps_start = self.init.is_some();
        settings.engine.engine = self.engine.engine;
        settings.clamped_engine = self.clamped_engine;
        settings.grows = self.structure.hidden == Hidden::Auto;
        settings.component_history = self.component_history.is_some();
        settings.check = !self.no_check;
        settings.with_common(self.engine.common(seed))
    }

    /// Whether centralities of a number of units are shown anywhere; the page alone does not ask for
    /// those of very many.
    fn studies(&self, units: usize) -> bool {
        self.study.centrality.is_some()
            || self.report.is_some() && units <= STUDIED_UNITS
            || self.bootstrap.is_given()
            || self.bootstrap.drops_cases()
    }

    /// The fit, the rows of `--component-history`, the intervals of `--bootstrap`, and the measures of
    /// the network with what is known of their stability.
    pub(super) fn fit(
        &self,
        (start, table, versions): (&Machine, &Table, &[Table]),
        validate: Option<Table>,
        common: &Common,
    ) -> anyhow::Result<Findings> {
        self.bootstrap.check(start, table, self.engine.budget, common)?;
        let mut settings = self.settings(common.seed);
        settings.validate = validate.map(Arc::new);
        let plan = settings.plan(start, table, &|note| common.choice(&note));
        let token = CancelToken::new();
        let plan = plan.map_err(|error| self.in_table(error))?.cancelled_by(token.clone());
        let record = plan.recorded_mixture().map(ComponentRecord::new);
        let watch = self.checkpoint.watch(plan.limits(), record, token, common)?;
        let note = |note| {
            if matches!(note, isinglass_plan::Note::CheckCancelled) {
                signals::heed();
            }
            common.choice(&note);
        };
        let (fitted, mut components) =
            watch.run(|from, observer| plan.fit(start, table, from, observer, &note))?;
        let budget = self.engine.budget;
        let mut intervals = self.bootstrap.run((&plan, &fitted), (start, table, versions), budget, common)?;
        let stability = self.bootstrap.drop_cases((&plan, &fitted), (start, table), budget, common)?;
        let study = if self.studies(fitted.fit.machine.unit_count()) {
            let mut study = StudyOptions::of(&settings, &fitted.fit.machine, table, common)?;
            (study.bootstrap, study.stability) = (intervals.found.take(), stability);
            Some(study)
        } else {
            None
        };
        let best = fitted.best_restart();
        let components = if best < components.len() { components.swap_remove(best) } else { Vec::new() };
        Ok((fitted, components, intervals, study))
    }

    /// The error of a request: what is wrong with the table names its file.
    fn in_table(&self, error: isinglass_plan::Error) -> anyhow::Error {
        let is_invalid = matches!(
            &error,
            isinglass_plan::Error::Core(isinglass::Error::Invalid { .. })
                | isinglass_plan::Error::Hinted {
                    error: isinglass::Error::Invalid { .. } | isinglass::Error::Setting { .. },
                    ..
                }
        );
        let error = report::failed(error);
        if is_invalid { error.context(self.table.table.display().to_string()) } else { error }
    }
}
