//! What an experiment gives: numbers, a figure, and which parts of the claim hold.

use std::fmt;

/// Numbers of one kind, one for each row of the CSV file.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// The name in the header.
    pub name: String,
    /// What the numbers are, with their unit.
    pub meaning: String,
    /// The numbers; what is not one (NaN) becomes an empty cell.
    pub values: Vec<f64>,
    /// Whether these are measured times, which are never twice the same.
    pub timed: bool,
}

impl Column {
    pub(super) fn new(name: impl Into<String>, meaning: impl Into<String>, values: Vec<f64>) -> Self {
        Self { name: name.into(), meaning: meaning.into(), values, timed: false }
    }

    pub(super) fn times(name: impl Into<String>, meaning: impl Into<String>, values: Vec<f64>) -> Self {
        Self { timed: true, ..Self::new(name, meaning, values) }
    }
}

/// A part of a claim, and whether it came out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// What is claimed, with the figures found.
    pub what: String,
    /// Whether the figures bear it out.
    pub holds: bool,
}

/// Whether a source's claim holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Every part of it.
    Holds,
    /// Some parts of it.
    InPart,
    /// No part of it.
    Fails,
}

impl Verdict {
    /// The verdict in words.
    pub fn word(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::InPart => "holds in part",
            Self::Fails => "does not hold",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// What an experiment gave.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// What was done, with the sizes taken.
    pub set_up: String,
    /// The numbers, column by column, all of the same length.
    pub columns: Vec<Column>,
    /// The picture, as SVG.
    pub figure: String,
    /// The parts of the claim.
    pub checks: Vec<Check>,
    /// What else is to be said: where we do otherwise than the source, and why something falls short.
    pub remarks: String,
}

impl Outcome {
    /// Whether the claim holds.
    pub fn verdict(&self) -> Verdict {
        match self.checks.iter().filter(|check| check.holds).count() {
            count if count == self.checks.len() => Verdict::Holds,
            0 => Verdict::Fails,
            _ => Verdict::InPart,
        }
    }

    /// The column with a name.
    pub fn column(&self, name: &str) -> Option<&[f64]> {
        self.columns.iter().find(|column| column.name == name).map(|column| column.values.as_slice())
    }

    /// The numbers as CSV: a header, then a line for each row. Every number is the shortest text that is read as the same number.
    pub fn to_csv(&self) -> String {
        let names: Vec<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
        let mut out = names.join(",") + "\n";
        let rows = self.columns.first().map_or(0, |column| column.values.len());
        for row in 0..rows {
            let cell = |column: &Column| {
                let x = column.values[row];
                if x.is_finite() { format!("{x}") } else { String::new() }
            };
            out += &self.columns.iter().map(cell).collect::<Vec<_>>().join(",");
            out.push('\n');
        }
        out
    }
}

/// A part of a claim with the figures that bear it out or not.
pub(super) fn check(holds: bool, what: impl Into<String>) -> Check {
    Check { what: what.into(), holds }
}
