//! The text about an experiment that was run.

use std::fmt::Write as _;

use super::{Column, Experiment, Outcome};

/// The pictures of digits that an experiment learned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Digits {
    /// The built-in ones.
    BuiltIn,
    /// Others, from a table.
    Given {
        /// The number of pictures.
        pictures: usize,
    },
}

impl Digits {
    /// Says which pictures they are, compared with the source's.
    fn words(self) -> String {
        let which = match self {
            Self::BuiltIn => {
                "The digits are the built-in ones, 1797 pictures, not those of the source".into()
            }
            Self::Given { pictures } => format!("The digits are {pictures} pictures given with --data"),
        };
        format!(
            "{which}; the source has 7000, 700 of each digit, from another collection or with other preprocessing."
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
    /// The seed of the run.
    pub seed: u64,
    /// The pictures of digits, if the experiment learns any.
    pub digits: Option<Digits>,
    /// The result.
    pub outcome: Outcome,
}

impl Report {
    /// Returns the text of `NAME.md`: claim, figure, checks, verdict, method, columns.
    pub fn to_markdown(&self) -> String {
        let Experiment { name, title, source, claim, .. } = self.experiment;
        let outcome = &self.outcome;
        let quick = if self.quick { " --quick" } else { "" };
        let data = if matches!(self.digits, Some(Digits::Given { .. })) { " --data FILE" } else { "" };
        let digits = self.digits.map(|digits| format!(" {}", digits.words())).unwrap_or_default();
        let sizes = if self.quick { " Sizes are smaller than the source's (`--quick`)." } else { "" };
        let mut out = format!(
            "# {name}: {title}\n\n## Claim\n\n{claim} ({source})\n\n![{title}]({name}.svg)\n\n\
             ## Checks\n\n| claim | measured | holds |\n|---|---|---|\n"
        );
        // Writing to a string cannot fail.
        for check in &outcome.checks {
            let holds = if check.holds { "yes" } else { "**no**" };
            let _ = writeln!(out, "| {} | {} | {holds} |", cell(&check.claim), cell(&check.measured));
        }
        let _ = write!(out, "\n**Verdict: {}.**", outcome.verdict());
        if !outcome.remarks.is_empty() {
            let _ = write!(out, " {}", outcome.remarks);
        }
        let _ = write!(out, "\n\n## Method\n\n{}{digits}{sizes}\n", outcome.method);
        let _ = write!(out, "\n## Columns of {name}.csv\n\n| column | meaning |\n|---|---|\n");
        // Adjacent columns with one meaning, such as pixels, share a line.
        for group in outcome.columns.chunk_by(|a, b| a.meaning == b.meaning) {
            let _ = writeln!(out, "| {} | {} |", names_of(group), cell(&meaning_of(&group[0])));
        }
        let timed = outcome.columns.iter().any(|column| column.timed);
        let _ = write!(
            out,
            "\nTo run it again: `isinglass reproduce {name} -o DIR{quick} --seed {}{data}`. \
             Numbers{} are the same on any number of threads.\n",
            self.seed,
            if timed { " other than times" } else { "" }
        );
        out
    }
}

/// A text as a cell of a Markdown table, where a bar would end the cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn names_of(group: &[Column]) -> String {
    match group {
        [one] => format!("`{}`", one.name),
        [first, .., last] => format!("`{}` … `{}`", first.name, last.name),
        [] => String::new(),
    }
}

fn meaning_of(column: &Column) -> String {
    let timed = if column.timed { " (measured; differs from run to run)" } else { "" };
    format!("{}{timed}", column.meaning)
}
