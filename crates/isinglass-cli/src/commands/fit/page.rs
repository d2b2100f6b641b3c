//! `fit --report`: the page about a machine, right after it was found.

use isinglass::Table;
use isinglass::learn::Fit;
use isinglass::network::Study;
use isinglass_files::Output;
use isinglass_lab::report::{FitSummary, Origin};

use super::Args;
use crate::commands::report::{self, Engines};
use crate::options::Common;

impl Args {
    /// A page about the machine, with the engines of the fit.
    pub(super) fn write_report(
        &self,
        fit: &Fit,
        table: &Table,
        (story, study): (FitSummary, Option<Study>),
        page: Output,
        common: &Common,
    ) -> anyhow::Result<()> {
        let model = report::file_name(&self.output);
        let origin = Origin {
            title: model.clone(),
            model,
            table: Some(report::file_name(&self.table.table)),
            fit: Some(story),
            history: fit.history.clone(),
            study,
        };
        let request = self.settings(common.seed);
        let settings = report::settings(&request.engine);
        let engines = Engines { rows: request.clamped_engine, settings: request.engine };
        report::write(&fit.machine, Some(table), origin, &settings, &engines, page, common)?;
        Ok(())
    }
}
