//! How sure a fit is: fits to resamples of the table, and to fewer of its rows.

use isinglass::learn::{Bootstrap, Bootstrapped, Measure, Progress, start as start_of};
use isinglass::likelihood::TwoPhase;
use isinglass::network::{CaseDropping, Stability, Study, UnitMeasure, measure};
use isinglass::{Engine, Machine, Table};

use super::{Fitted, Plan};
use crate::{EngineSettings, Task};

impl Plan {
    /// Fits resamples of the table, from where the fit that was kept began, with its penalty; for
    /// intervals of couplings, biases, and the measures of the network.
    pub fn resample(
        &self,
        bootstrap: &Bootstrap,
        (start, table): (&Machine, &Table),
        fitted: &Fitted,
        progress: &Progress<'_>,
    ) -> isinglass::Result<Bootstrapped> {
        let begin = self.begin(start, table, fitted)?;
        let machine = &fitted.fit.machine;
        let engine = self.settings.engine.predicting(machine, table)?;
        let read = |machine: &Machine, table: &Table| measure(machine, table, engine.as_deref());
        let measure = Measure { count: UnitMeasure::ALL.len() * machine.unit_count(), of: &read };
        self.with_learner(fitted.penalty.as_ref(), |learner| {
            bootstrap.run_measured((learner, &begin), machine, table, measure, progress)
        })
    }

    /// As [`resample`](Self::resample), for a table that was filled several times: intervals by Rubin's
    /// rules.
    pub fn resample_filled(
        &self,
        bootstrap: &Bootstrap,
        (start, table, versions): (&Machine, &Table, &[Table]),
        fitted: &Fitted,
        progress: &Progress<'_>,
    ) -> isinglass::Result<Bootstrapped> {
        let begin = self.begin(start, table, fitted)?;
        let machine = &fitted.fit.machine;
        let engine = self.settings.engine.predicting(machine, table)?;
        let read = |machine: &Machine, table: &Table| measure(machine, table, engine.as_deref());
        let measure = Measure { count: UnitMeasure::ALL.len() * machine.unit_count(), of: &read };
        self.with_learner(fitted.penalty.as_ref(), |learner| {
            bootstrap.run_filled((learner, &begin), machine, (table, versions), measure, progress)
        })
    }

    /// Fits ever fewer rows of the table, from where the fit that was kept began, with its penalty.
    pub fn drop_cases(
        &self,
        dropping: &CaseDropping,
        (start, table): (&Machine, &Table),
        fitted: &Fitted,
        progress: &Progress<'_>,
    ) -> isinglass::Result<Stability> {
        let begin = self.begin(start, table, fitted)?;
        self.with_learner(fitted.penalty.as_ref(), |learner| {
            dropping.run((learner, &begin), &fitted.fit.machine, table, progress)
        })
    }

    /// Where the fit that was kept began.
    fn begin(&self, start: &Machine, table: &Table, fitted: &Fitted) -> isinglass::Result<Machine> {
        if self.settings.keeps_start {
            return Ok(start.clone());
        }
        start_of(start, table, self.settings.engine.seed(), fitted.best_restart() as u64)
    }
}

impl EngineSettings {
    /// The measures of a machine's network, with predictability where an exact engine serves every
    /// row of the table.
    pub fn study(&self, machine: &Machine, table: Option<&Table>) -> isinglass::Result<Study> {
        let engine = table.map(|table| self.predicting(machine, table)).transpose()?.flatten();
        Study::of(machine, table.zip(engine.as_deref()))
    }

    /// An exact engine for the conditional probabilities of a table's cells, if there is one.
    fn predicting(&self, machine: &Machine, table: &Table) -> isinglass::Result<Option<Box<dyn Engine>>> {
        let (clamped, _) = TwoPhase::new(machine, table)?.open()?;
        let auto = Self::default().with_common(self.common);
        let found = auto.pick_clamped((machine, &clamped), Task::Exact);
        Ok(found.ok().filter(|engine| engine.is_exact()))
    }
}
