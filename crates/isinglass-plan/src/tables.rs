//! What is asked of a machine and a table: scores, and the cells that are missing.

use isinglass::complete::{Completed, complete};
use isinglass::engine::Open;
use isinglass::learn::{Phases, open};
use isinglass::score::{Score, score, score_between};
use isinglass::{Engine, Enumerate, Machine, Table};

use crate::{EngineName, EngineSettings, Result, Task, warning};

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
    /// What the user should be told besides the scores' own notes.
    pub fn warnings(&self) -> Vec<String> {
        let Self { score, free, .. } = self;
        let mut warnings: Vec<String> =
            warning(free, score.guarantee, &score.diagnostics).into_iter().collect();
        if let Some(divergence) = score.kullback.filter(|divergence| *divergence < 0.0) {
            warnings.push(format!(
                "no divergence is below 0: the log Z of engine {free} is too small by at least {:.3}, and so is not to be trusted here",
                -divergence
            ));
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
        note: &dyn Fn(&str),
    ) -> Result<Scored> {
        // Few units are free where the table's cells are known: an exact engine may serve there even where it cannot serve the whole.
        let quiet = |_: &str| ();
        let (clamped_open, free_open) = open(machine, table)?;
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
        self.check()?;
        let free = self.pick_for_rows(self.engine, (machine, &free_open), Task::Answer, note)?;
        let clamped =
            self.pick_for_rows(self.engine.for_rows(), (machine, &clamped_open), Task::Answer, &quiet)?;
        let score = score(machine, table, Phases { clamped: &*clamped, free: &*free })?;
        Ok(Scored { score, free: free.name(), clamped: clamped.name(), is_open })
    }

    /// The means of the missing cells, and the engine that gave them; without missing cells there is none. What is open is told by [`isinglass::complete::open`].
    pub fn complete<'a>(
        &self,
        machine: &Machine,
        table: &'a Table,
        open: Option<&Open>,
        note: &dyn Fn(&str),
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
            None => &Enumerate { budget: self.budget },
        };
        let found = complete(machine, table, by, self.budget)?;
        Ok((engine.map(|engine| engine.name()), found))
    }
}
