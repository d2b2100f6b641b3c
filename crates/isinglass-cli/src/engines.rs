//! From `--engine` and its options to an engine; what `auto` took and why goes to standard error.

use isinglass::bracket::Bounds;
use isinglass::engine::Open;
use isinglass::{Engine, Evidence, Machine};

pub(crate) use isinglass_plan::Task;

use crate::engine_options::{EngineName, EngineOptions};
use crate::options::Common;
use crate::report;

impl EngineOptions {
    /// The engine for a machine under evidence.
    pub(crate) fn choose(
        &self,
        machine: &Machine,
        evidence: &Evidence,
        task: Task,
        common: &Common,
    ) -> anyhow::Result<Box<dyn Engine>> {
        let settings = self.settings(common.seed);
        settings.choose(machine, evidence, task, &|text| common.note(text)).map_err(report::plain_error)
    }

    /// The engine of a name that serves every row of a table, whether or not it has a use for all options.
    pub(crate) fn pick_for_rows(
        &self,
        name: EngineName,
        job: (&Machine, &Open),
        task: Task,
        common: &Common,
    ) -> anyhow::Result<Box<dyn Engine>> {
        let settings = self.settings(common.seed);
        settings.pick_for_rows(name, job, task, &|text| common.note(text)).map_err(report::plain_error)
    }

    /// Engines that bound log Z from both sides.
    pub(crate) fn bounds(
        &self,
        machine: &Machine,
        evidence: &Evidence,
        common: &Common,
    ) -> anyhow::Result<Bounds> {
        let settings = self.settings(common.seed);
        settings
            .bounds(machine, &Open::alike(evidence.clone()), &|text| common.note(text))
            .map_err(report::plain_error)
    }
}
