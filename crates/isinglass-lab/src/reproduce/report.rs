//! An experiment and what came of it, in words.

use std::fmt::Write as _;

use super::{Column, Experiment, Outcome};

/// Which pictures of digits an experiment learned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Digits {
    /// Those that the program has built in.
    BuiltIn,
    /// Others, from a table.
    Given {
        /// How many there were.
        pictures: usize,
    },
}

impl Digits {
    /// Which they are, beside those of the source.
    fn words(self) -> String {
        let which = match self {
            Self::BuiltIn => {
                "The digits are the built-in ones, 1797 pictures of all ten digits and not the source's"
                    .into()
            }
            Self::Given { pictures } => format!("The digits are {pictures} pictures given with --data"),
        };
        format!(
            "{which}; the source has 7000, 700 of each digit, from another collection or prepared otherwise."
        )
    }
}

/// An experiment that was run.
#[derive(Debug, Clone)]
pub struct Report {
    /// The experiment.
    pub experiment: &'static Experiment,
    /// Whether sizes were smaller than the source's.
    pub quick: bool,
    /// The seed it was run with.
    pub seed: u64,
    /// The pictures of digits that it learned, if it learned any.
    pub digits: Option<Digits>,
    /// What came of it.
    pub outcome: Outcome,
}

impl Report {
    /// What the source claims, what was done, what came out and whether it holds: the text of `NAME.md`.
    pub fn to_markdown(&self) -> String {
        let Experiment { name, title, source, claim, .. } = self.experiment;
        let outcome = &self.outcome;
        let quick = if self.quick { " --quick" } else { "" };
        let data = if matches!(self.digits, Some(Digits::Given { .. })) { " --data FILE" } else { "" };
        let digits = self.digits.map(|digits| format!(" {}", digits.words())).unwrap_or_default();
        let sizes = if self.quick { " Sizes are smaller than the source's, for a quick look." } else { "" };
        let mut out = format!(
            "# {name}: {title}\n\nSource: {source}.\n\n![{title}]({name}.svg)\n\n## What the source claims\n\n{claim}\n\n\
             ## What was done\n\n{}{digits}{sizes}\n\n## What came out\n\n",
            outcome.set_up
        );
        // Writing to a string cannot fail.
        for check in &outcome.checks {
            let word = if check.holds { "Holds" } else { "Does not hold" };
            let _ = writeln!(out, "- {word}: {}", check.what);
        }
        let _ = write!(out, "\n**Verdict: {}.**", outcome.verdict());
        if !outcome.remarks.is_empty() {
            let _ = write!(out, " {}", outcome.remarks);
        }
        let _ = write!(out, "\n\n## Columns of {name}.csv\n\n| column | what |\n|---|---|\n");
        // Columns of the same kind in a row, such as pixels, are told together.
        for group in outcome.columns.chunk_by(|a, b| a.meaning == b.meaning) {
            let _ = writeln!(out, "| {} | {} |", names_of(group), meaning_of(&group[0]));
        }
        let _ = write!(
            out,
            "\nRun again: `isinglass reproduce {name} -o DIR{quick} --seed {}{data}`; the same numbers come out on any number of threads{}.\n",
            self.seed,
            if outcome.columns.iter().any(|column| column.timed) { ", times aside" } else { "" }
        );
        out
    }
}

fn names_of(group: &[Column]) -> String {
    match group {
        [one] => format!("`{}`", one.name),
        [first, .., last] => format!("`{}` … `{}`", first.name, last.name),
        [] => String::new(),
    }
}

fn meaning_of(column: &Column) -> String {
    let timed = if column.timed { " (measured: never twice the same)" } else { "" };
    format!("{}{timed}", column.meaning)
}
