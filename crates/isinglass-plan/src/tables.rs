//! Requests for a machine and a table: scores, and the cells that are missing.

use isinglass::complete::{Completed, complete};
use isinglass::engine::Open;
use isinglass::likelihood::{LogLikelihood, Phases, TwoPhase, log_likelihood};
use isinglass::likelihood::{RowLikelihoods, log_likelihoods};
use isinglass::score::{Score, score, score_between};
use isinglass::{Engine, Enumerate, Machine, Table};

use crate::{EngineName, EngineSettings, Error, Hint, Note, Result, Task, Warning};

/// The scores of a machine on a table, and by what.
#[derive(Debug, Clone)]
pub struct Scored {
    /// The scores.
    pub score: Score,
    /// The engine for the whole machine; `bracket` if there were several.
    pub free: &'static str,
    /// The engine for the rows.
    pub clamped: &'static str,
    /// Whether any unit is free in any row.
    pub is_open: bool,
}

impl Scored {
    /// What the numbers came from: complete rows need no engine for their pseudo-likelihood.
    pub fn engine(&self) -> Option<&'static str> {
        match (self.score.log_likelihood, self.is_open) {
            (Some(_), _) => Some(self.free),
            (None, false) => None,
            (None, true) => Some(self.clamped),
        }
    }

    /// The engine for the rows, if any unit is free in them.
    pub fn clamped_engine(&self) -> Option<&'static str> {
        self.is_open.then_some(self.clamped)
    }
}

impl Scored {
    /// Warnings besides the scores' own notes.
    pub fn warnings(&self) -> Vec<Warning> {
        let Self { score, free: engine, .. } = self;
        let mut warnings: Vec<Warning> =
            Warning::of(engine, score.guarantee, &score.diagnostics).into_iter().collect();
        if let Some(divergence) = score.kullback.filter(|divergence| *divergence < 0.0) {
            warnings.push(Warning::NegativeDivergence { engine, deficit: -divergence });
        }
        warnings
    }
}

impl EngineSettings {
    /// Score a machine on a table, between two bounds if so asked.
    pub fn score(
        &self,
        (machine, table): (&Machine, &Table),
        bracket: bool,
        note: &dyn Fn(Note),
    ) -> Result<Scored> {
        let quiet = |_: Note| ();
        let (clamped_open, free_open) = TwoPhase::new(machine, table)?.open()?;
        let is_open = clamped_open.in_one_row.free_count() > 0;
        if bracket {
            self.check_bracket()?;
            let free = self.bounds(machine, &free_open, note)?;
            let clamped = self.bounds(machine, &clamped_open, &quiet)?;
            // The probabilities of cells need an engine of their own: those of a bound would be no bounds.
            let cells =
                self.pick_for_rows(EngineName::Auto, (machine, &clamped_open), Task::Answer, &quiet)?;
            let score = score_between(machine, table, &clamped, &free, &*cells)?;
            return Ok(Scored { score, free: "bracket", clamped: cells.name(), is_open });
        }
        let (clamped, free) =
            self.engines_of_phases(machine, (&clamped_open, &free_open), Task::Answer, note)?;
        let score = score(machine, table, Phases { clamped: &*clamped, free: &*free })?;
        Ok(Scored { score, free: free.name(), clamped: clamped.name(), is_open })
    }

    /// The log-likelihood of each distinct row of a table, and the names of the engines for the
    /// whole machine and for the rows; the latter if any unit is free in them.
    pub fn log_likelihoods(
        &self,
        machine: &Machine,
        table: &Table,
        note: &dyn Fn(Note),
    ) -> Result<(&'static str, Option<&'static str>, RowLikelihoods)> {
        let ((clamped, free), is_open) = self.engines_with_log_z(machine, table, note)?;
        let phases = Phases { clamped: &*clamped, free: &*free };
        let found =
            log_likelihoods(machine, table, phases).map_err(|error| for_want_of_log_z(error.into()))?;
        Ok((free.name(), is_open.then(|| clamped.name()), found))
    }

    /// The average log-likelihood of a row alone, and the name of the engine for the whole machine;
    /// the same number as [`EngineSettings::score`] gives.
    pub fn log_likelihood(
        &self,
        machine: &Machine,
        table: &Table,
        note: &dyn Fn(Note),
    ) -> Result<(&'static str, LogLikelihood)> {
        let ((clamped, free), _) = self.engines_with_log_z(machine, table, note)?;
        let phases = Phases { clamped: &*clamped, free: &*free };
        let gain = log_likelihood(machine, table, phases);
        Ok((free.name(), gain.map_err(|error| for_want_of_log_z(error.into()))?))
    }

    /// Engines for the rows and for the whole machine, where `auto` does not fall back to sampling;
    /// and whether any unit is free in any row.
    fn engines_with_log_z(
        &self,
        machine: &Machine,
        table: &Table,
        note: &dyn Fn(Note),
    ) -> Result<(Pair, bool)> {
        let (clamped_open, free_open) = TwoPhase::new(machine, table)?.open()?;
        let (clamped, free) = self
            .engines_of_phases(machine, (&clamped_open, &free_open), Task::Exact, note)
            .map_err(for_want_of_log_z)?;
        Ok(((clamped, free), clamped_open.in_one_row.free_count() > 0))
    }

    /// Engines for the rows and for the whole machine; what is noted is of the latter.
    fn engines_of_phases(
        &self,
        machine: &Machine,
        (clamped, free): (&Open, &Open),
        task: Task,
        note: &dyn Fn(Note),
    ) -> Result<Pair> {
        self.check()?;
        let of_all = self.pick_for_rows(self.engine, (machine, free), task, note)?;
        // Few units are free where the table's cells are known: an exact engine may serve there even where it cannot serve the whole.
        let of_rows = self.pick_clamped((machine, clamped), task)?;
        Ok((of_rows, of_all))
    }

    /// The means of the missing cells, and the engine that gave them; without missing cells there
    /// is none. [`isinglass::complete::open`] returns what is open.
    pub fn complete<'a>(
        &self,
        machine: &Machine,
        table: &'a Table,
        open: Option<&Open>,
        note: &dyn Fn(Note),
    ) -> Result<(Option<&'static str>, Completed<'a>)> {
        let engine = match open {
            Some(open) => {
                self.check()?;
                Some(self.pick_for_rows(self.engine, (machine, open), Task::Answer, note)?)
            }
            None => None,
        };
        let by: &dyn Engine = match &engine {
            Some(engine) => &**engine,
            // Never asked: there is nothing to fill.
            None => &Enumerate::new().budget(self.budget()),
        };
        let found = complete(machine, table, by, self.budget())?;
        Ok((engine.map(|engine| engine.name()), found))
    }
}

/// An engine for the rows, and one for the whole machine.
type Pair = (Box<dyn Engine>, Box<dyn Engine>);

/// What helps where log Z is out of reach.
fn for_want_of_log_z(error: Error) -> Error {
    error.with_hint(Hint::Ais)
}
