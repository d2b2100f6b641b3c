//! The result of an experiment: numbers, a figure, and the checks of the claim.

use std::fmt;

/// A column of the CSV file: one number per row.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// The name in the header.
    pub name: String,
    /// What the numbers are, with their unit.
    pub meaning: String,
    /// The numbers. NaN is written as an empty cell.
    pub values: Vec<f64>,
    /// Whether these are measured times, which differ from run to run.
    pub timed: bool,
}

impl Column {
    pub(super) fn new(name: impl Into<String>, meaning: impl Into<String>, values: Vec<f64>) -> Self {
        Self { name: name.into(), meaning: meaning.into(), values, timed: false }
    }

    pub(super) fn timed(name: impl Into<String>, meaning: impl Into<String>, values: Vec<f64>) -> Self {
        Self { timed: true, ..Self::new(name, meaning, values) }
    }
}

/// A part of the source's claim, compared with what was measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// The statement, as a short phrase.
    pub claim: String,
    /// The figures that decide it.
    pub measured: String,
    /// Whether the figures support the statement.
    pub holds: bool,
}

impl Check {
    pub(super) fn new(claim: impl Into<String>, holds: bool, measured: impl Into<String>) -> Self {
        Self { claim: claim.into(), measured: measured.into(), holds }
    }
}

/// Formats a small error with one digit, such as `6e-16`, and zero as `0`.
pub(super) fn one_digit(error: f64) -> String {
    if error == 0.0 { "0".to_owned() } else { format!("{error:.0e}") }
}

/// Whether a source's claim holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Every check holds.
    Holds,
    /// Some checks hold.
    InPart,
    /// No check holds.
    Fails,
}

impl Verdict {
    /// Returns the verdict in words.
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

/// What an experiment returns.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// What was done: data, sizes, methods, and where these are our choice and not the source's.
    pub method: String,
    /// The numbers, column by column, all of the same length.
    pub columns: Vec<Column>,
    /// The figure, as SVG.
    pub figure: String,
    /// The parts of the claim.
    pub checks: Vec<Check>,
    /// At most one short paragraph: why a check fails, or how to read one. Often empty.
    pub remarks: String,
}

impl Outcome {
    /// Returns whether all, some or none of the checks hold.
    pub fn verdict(&self) -> Verdict {
        match self.checks.iter().filter(|check| check.holds).count() {
            count if count == self.checks.len() => Verdict::Holds,
            0 => Verdict::Fails,
            _ => Verdict::InPart,
        }
    }

    /// Returns the numbers of the column with a name.
    pub fn column(&self, name: &str) -> Option<&[f64]> {
        self.columns.iter().find(|column| column.name == name).map(|column| column.values.as_slice())
    }

    /// Returns the numbers as CSV with a header. Numbers have the shortest text that reads back to
    /// the same value.
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
