//! `fit --lag`: a kinetic model of a time series.

use std::collections::HashMap;

use clap::Args;
use isinglass::table::{kinetic, lagged};
use isinglass::{Machine, Table};
use isinglass_plan::{LearnerName, count};
use serde_json::json;

use crate::options::{Common, TableArgs, at_least};

/// Rows as steps of time.
#[derive(Args)]
#[command(next_help_heading = "Time")]
pub(super) struct TimeOptions {
    /// Fit a kinetic Ising model: rows are steps of time, and every column depends on all columns N
    /// rows before, which become input units such as `a@-1`. Without --same-time columns are
    /// independent given the past, and the likelihood is exact
    #[arg(
        long,
        value_name = "N",
        value_parser = at_least::<1>,
        conflicts_with_all = ["init", "hidden", "hidden_links", "inputs", "weights", "validate", "checkpoint"]
    )]
    pub(super) lag: Option<usize>,
    /// A column that names the session of each row, in any words: no row depends on one of another
    /// session
    #[arg(long, value_name = "COLUMN", requires = "lag")]
    session: Option<String>,
    /// With --lag: columns are also coupled at the same time, as --visible-links says
    #[arg(long, requires = "lag")]
    pub(super) same_time: bool,
}

impl TimeOptions {
    /// The rows beside their past, if so asked.
    pub(super) fn table(
        &self,
        args: &TableArgs,
        budget: isinglass::Budget,
        common: &Common,
    ) -> anyhow::Result<Option<Table>> {
        let Some(lag) = self.lag else { return Ok(None) };
        let sheet = args.read_beside(self.session.as_slice(), budget)?;
        let sessions = self.session.as_ref().and_then(|column| sheet.texts(column)).map(|texts| {
            let mut known = HashMap::new();
            let number = |text: String| {
                let next = known.len() as u32;
                *known.entry(text).or_insert(next)
            };
            texts.into_iter().map(number).collect::<Vec<u32>>()
        });
        let cells = 2 * sheet.table.columns().len() as u128 * sheet.table.row_count() as u128;
        budget.check("fit", 3 * cells, || format!("{cells} cells of rows and their past"))?;
        let found = lagged(&sheet.table, lag, sessions.as_deref())?;
        let (first, incomplete) = (found.first, found.incomplete);
        if incomplete > 0 {
            let text = format!(
                "{} left out, as a cell of theirs or of their past is missing",
                count(incomplete, "row")
            );
            common.note("rows-left-out", text, json!({ "rows": incomplete }));
        }
        let text = format!("{} without a past begin a session", count(first, "row"));
        common.note("first-rows", text, json!({ "rows": first }));
        Ok(Some(found.table))
    }

    /// The machine to be fitted to rows beside their past.
    pub(super) fn machine(
        &self,
        table: &Table,
        structure: &isinglass_plan::Structure,
        budget: isinglass::Budget,
    ) -> isinglass::Result<Machine> {
        let lag = self.lag.unwrap_or(1);
        let names = &table.columns()[..table.columns().len() / 2];
        let units = names.len() as u128;
        budget.check("fit", Machine::bytes(2 * units, units * (units + units / 2)), || {
            format!("a kinetic model of {units} columns")
        })?;
        let same_time = if self.same_time {
            let now = Table::new(names.iter().cloned())?;
            structure.machine(&now, false, budget)?.graph().edges().to_vec()
        } else {
            Vec::new()
        };
        kinetic(names, lag, &same_time)
    }

    /// The learner: given the past, conditionals are the likelihood.
    pub(super) fn learner(&self, learner: LearnerName) -> LearnerName {
        if self.lag.is_some() && learner == LearnerName::Auto {
            LearnerName::PseudoLikelihood
        } else {
            learner
        }
    }

    /// Whether the pseudo-likelihood is the likelihood.
    pub(super) fn factorises(&self) -> bool {
        self.lag.is_some() && !self.same_time
    }
}
