//! Options that mean the same in every command.

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, ValueEnum};
use isinglass::message::{Message, Style};
use isinglass::progress::duration;
use isinglass::{Budget, Evidence, Machine, Spin};
use isinglass_files::{
    Encoding, Encodings, FileIdentity, ModelNote, Sheet, TableOptions, Threshold, Values, read_encodings,
    read_evidence, read_model_within, read_moderated_within, spreadsheet_safe,
};
use isinglass_plan::{Diagnose, Diagnostic};
use serde::Serialize;
use serde_json::{Value, json};

use crate::report;

/// The command line is wrong in a way that only the job can find out: exit code 2.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Usage(pub(crate) String);

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

impl From<isinglass_plan::Usage> for Usage {
    fn from(usage: isinglass_plan::Usage) -> Self {
        Self(usage.text(Style::Flags))
    }
}

/// Options of every command.
#[derive(Args)]
pub(crate) struct Common {
    /// Print one JSON document on standard output, and nothing else there
    #[arg(long, global = true, help_heading = "General")]
    pub(crate) json: bool,
    /// Seed of everything random: the same seed gives the same result on any number of threads
    #[arg(
        long,
        global = true,
        help_heading = "General",
        value_name = "N",
        default_value_t = 0,
        allow_hyphen_values = true
    )]
    pub(crate) seed: u64,
    /// Threads to use [default: all cores]
    #[arg(long, global = true, help_heading = "General", value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// Print no notes and no progress on standard error; warnings and errors remain
    #[arg(long, global = true, help_heading = "General")]
    pub(crate) quiet: bool,
    /// Do not wait until outputs are on the disk: for benchmarks. A loss of power may then leave old
    /// or broken files
    #[arg(long, global = true, help_heading = "General")]
    pub(crate) no_sync: bool,
    /// What was reported so far.
    #[arg(skip)]
    reported: Reported,
}

/// Notes and warnings of a command, for its JSON document.
#[derive(Default)]
struct Reported {
    notes: RefCell<Vec<Diagnostic>>,
    warnings: RefCell<Vec<Diagnostic>>,
}

impl Common {
    /// Prints a line that is not the result and tells nothing about it.
    pub(crate) fn line(&self, text: &str) {
        if !self.quiet {
            report::note(text);
        }
    }

    /// Reports a note.
    pub(crate) fn note(&self, code: &'static str, message: impl Into<String>, data: Value) {
        self.note_as("note: ", Diagnostic::new(code, message, data));
    }

    fn note_as(&self, prefix: &str, note: Diagnostic) {
        self.line(&format!("{prefix}{}", note.message));
        self.reported.notes.borrow_mut().push(note);
    }

    /// Reports a warning, which nothing silences.
    pub(crate) fn warning(&self, code: &'static str, message: impl Into<String>, data: Value) {
        self.warning_of(Diagnostic::new(code, message, data));
    }

    fn warning_of(&self, warning: Diagnostic) {
        report::note(&format!("warning: {}", warning.message));
        self.reported.warnings.borrow_mut().push(warning);
    }

    /// Reports a choice that was made for the user.
    pub(crate) fn choice(&self, note: &isinglass_plan::Note) {
        self.note_as("", note.diagnostic(Style::Flags));
        let isinglass_plan::Note::Engine(reason) = note else { return };
        // No part of the results: it differs from one run to the next.
        let seconds = reason.work().map_or(0.0, isinglass::Work::seconds);
        if seconds >= isinglass_plan::LONG {
            self.line(&format!("an answer takes about {}", duration(seconds)));
        }
    }

    /// Reports notes and warnings.
    pub(crate) fn diagnose<D: Diagnose>(&self, found: impl IntoIterator<Item = D>) {
        for found in found {
            let diagnostic = found.diagnostic(Style::Flags);
            if found.is_warning() {
                self.warning_of(diagnostic);
            } else {
                self.note_as("note: ", diagnostic);
            }
        }
    }

    /// Reports what a format of model files does not keep.
    pub(crate) fn not_kept(&self, notes: &[ModelNote]) {
        for note in notes {
            self.note(note.code(), note.to_string(), note_data(*note));
        }
    }

    /// Prints a JSON document, with all notes and warnings reported so far.
    pub(crate) fn print_json(&self, document: &impl Serialize) -> anyhow::Result<()> {
        report::json(document, &self.reported.notes.borrow(), &self.reported.warnings.borrow())
    }
}

/// The figures of a note on a model file.
fn note_data(note: ModelNote) -> Value {
    match note {
        ModelNote::TemperatureNotKept(temperature) => json!({ "temperature": temperature }),
        ModelNote::NumbersRounded { count } => json!({ "count": count }),
        _ => json!({}),
    }
}

/// For whom tables are written.
#[derive(Args)]
pub(crate) struct Spreadsheets {
    /// Write an apostrophe before names and copied texts that begin with = + - @, so that a spreadsheet
    /// shows them and computes nothing; the file is not to be read again
    #[arg(long)]
    pub(crate) spreadsheet_safe: bool,
}

impl Spreadsheets {
    /// A name as it is written.
    pub(crate) fn name<'a>(&self, name: &'a str) -> Cow<'a, str> {
        if self.spreadsheet_safe { spreadsheet_safe(name) } else { name.into() }
    }

    /// Names as they are written.
    pub(crate) fn names(&self, names: &[String]) -> Vec<String> {
        names.iter().map(|name| self.name(name).into_owned()).collect()
    }
}

/// How the words for −1 and +1 are written.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ValueWords {
    /// -1 and +1
    #[value(name = "pm1")]
    PlusMinus,
    /// 0 and 1
    #[value(name = "01")]
    ZeroOne,
}

impl From<ValueWords> for Values {
    fn from(words: ValueWords) -> Self {
        match words {
            ValueWords::PlusMinus => Self::PlusMinus,
            ValueWords::ZeroOne => Self::ZeroOne,
        }
    }
}

/// The temperature at which a machine is read.
#[derive(Args)]
pub(crate) struct AtTemperature {
    /// Take the machine at another temperature: every state keeps its energy, the constant of the file included [default: that of the file]
    #[arg(long, value_name = "T", value_parser = positive, allow_hyphen_values = true)]
    temperature: Option<f64>,
}

impl AtTemperature {
    /// Reads a machine.
    pub(crate) fn read(&self, model: &Path, budget: Budget) -> anyhow::Result<Machine> {
        let machine = read_model_within(model, budget)?;
        match self.temperature {
            Some(temperature) => machine.with_temperature(temperature).context("--temperature"),
            None => Ok(machine),
        }
    }
}

/// The covariates at which a moderated machine is read.
#[derive(Args)]
pub(crate) struct AtCovariates {
    /// Take the machine for values of its covariates, such as age=30,sex=1; those not named are at
    /// their means (`fit --moderate`)
    #[arg(long, value_name = "COLUMN=VALUE,…", allow_hyphen_values = true)]
    at: Option<String>,
}

impl AtCovariates {
    /// Reads a machine.
    pub(crate) fn read(&self, model: &Path, budget: Budget) -> anyhow::Result<Machine> {
        let items = self.at.as_deref().map(split_list).unwrap_or_default();
        let value = |item: &String| {
            let found = item.rsplit_once('=');
            let found = found.and_then(|(name, value)| Some((name.to_owned(), value.trim().parse().ok()?)));
            found.ok_or_else(|| Usage(format!("--at: found '{item}', expected COLUMN=NUMBER such as age=30")))
        };
        let values: Vec<(String, f64)> = items.iter().map(value).collect::<Result<_, _>>()?;
        let values: Vec<(&str, f64)> = values.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        let machine = read_moderated_within(model, budget)?;
        machine.at(&values).with_context(|| model.display().to_string())
    }
}

/// A machine, and what is known of its units.
#[derive(Args)]
pub(crate) struct ModelWithEvidence {
    /// The model file (.json, .uai, .npz)
    pub(crate) model: PathBuf,
    /// Clamp units: names and values, such as `a=+1,b=-1` (a comma within a name is written `\,`)
    #[arg(long, value_name = "UNIT=VALUE,…", allow_hyphen_values = true)]
    pub(crate) given: Option<String>,
    /// The words for values in `--given`, and in tables that are written
    #[arg(long, value_name = "WORDS", default_value = "pm1")]
    pub(crate) values: ValueWords,
    /// Clamp units as a UAI evidence file says
    #[arg(long, value_name = "FILE.evid")]
    pub(crate) evidence: Option<PathBuf>,
    #[command(flatten)]
    at: AtTemperature,
}

impl ModelWithEvidence {
    /// The files that are read.
    pub(crate) fn files(&self) -> Vec<&Path> {
        [Some(self.model.as_path()), self.evidence.as_deref()].into_iter().flatten().collect()
    }

    /// Reads the machine, which may take so much memory, and the evidence.
    pub(crate) fn read(&self, budget: Budget) -> anyhow::Result<(Machine, Evidence)> {
        // Words are checked before files: a wrong command line is wrong whatever the files hold.
        let items = self.given.as_deref().map(split_list).unwrap_or_default();
        let given: Vec<(&str, Spin)> = items.iter().map(|item| self.clamp(item)).collect::<Result<_, _>>()?;
        let machine = self.at.read(&self.model, budget)?;
        let mut evidence = match &self.evidence {
            Some(path) => read_evidence(path, &machine)?,
            None => Evidence::none(machine.unit_count()),
        };
        for (name, spin) in given {
            let unit = find(&machine, name).context("--given")?;
            if evidence.get(unit).is_some_and(|known| known != spin) {
                return Err(Usage(format!("--given: unit '{name}' is clamped to both values")).into());
            }
            evidence.clamp(unit, spin);
        }
        Ok((machine, evidence))
    }

    fn clamp<'a>(&self, item: &'a str) -> Result<(&'a str, Spin), Usage> {
        let values = Values::from(self.values);
        let (down, up) = (values.word(-1), values.word(1));
        // A name may hold an equals sign itself; the value is behind the last.
        let Some((name, value)) = item.rsplit_once('=') else {
            return Err(Usage(format!("--given: found '{item}', expected UNIT=VALUE such as a={up}")));
        };
        let value = value.trim();
        let spin = values.spin(value).ok_or_else(|| {
            let hint = if matches!(value, "0" | "-1") {
                "\nhint: --values 01 reads 0 and 1, --values pm1 (the default) reads -1 and +1"
            } else {
                ""
            };
            Usage(format!("--given: unit '{name}' has the value '{value}', expected {down} or {up}{hint}"))
        })?;
        Ok((name, spin))
    }
}

/// A table, and how to read it.
#[derive(Args)]
pub(crate) struct TableArgs {
    /// The table (.csv, .tsv, .npy, each also .gz): a header names the units
    pub(crate) table: PathBuf,
    #[command(flatten)]
    pub(crate) columns: Columns,
}

impl TableArgs {
    /// Read the table as one that is to be written again; weights do not matter then.
    pub(crate) fn read_sheet(&self, model: &Path, budget: Budget) -> anyhow::Result<Sheet> {
        let known = read_encodings(model, budget)?;
        let encodings = self.columns.encodings(&self.table, budget)?;
        let options = self.columns.options(&encodings, known, budget);
        Ok(isinglass_files::read_sheet(&self.table, &options)?)
    }

    /// Reads the table, and keeps the text of further columns that belong to no unit.
    pub(crate) fn read_beside(&self, columns: &[String], budget: Budget) -> anyhow::Result<Sheet> {
        let mut options = self.columns.options(&Encodings::default(), Encodings::default(), budget);
        options
            .drop
            .extend(columns.iter().filter(|name| !options.drop.contains(name)).cloned().collect::<Vec<_>>());
        Ok(isinglass_files::read_sheet(&self.table, &options)?)
    }

    /// Reads a table for a model, whose file says how raw columns become −1 and +1; the table may take
    /// so much memory.
    pub(crate) fn read_for(&self, model: &Path, budget: Budget) -> anyhow::Result<isinglass::Table> {
        self.columns.read_for(&self.table, Some(model), budget)
    }
}

/// How to read the columns of a table.
#[derive(Args, Clone, Default)]
pub(crate) struct Columns {
    /// Take a column as row weights
    #[arg(long, value_name = "COLUMN")]
    pub(crate) weights: Option<String>,
    /// Leave columns out
    #[arg(long, value_name = "COLUMN,…")]
    pub(crate) drop: Option<String>,
    /// Read a column of numbers: +1 above X, -1 otherwise; may be given for several columns. A model
    /// file (.json) keeps it, and reads the same columns again
    #[arg(long, value_name = "COLUMN>X", value_parser = |text: &str| text.parse::<Threshold>())]
    pub(crate) threshold: Vec<Threshold>,
    /// Read every column that is not binary by a threshold: its median, or that of a CSV file with the
    /// header column,threshold
    #[arg(long, value_name = "median|FILE")]
    pub(crate) binarize: Option<PathBuf>,
    /// Read a column of two words, the first of them -1 and the second +1, such as sex=f/m; may be
    /// given for several columns
    #[arg(long, value_name = "COLUMN=LOW/HIGH", value_parser = two_words)]
    pub(crate) words: Vec<(String, [String; 2])>,
}

/// A column and its two words.
fn two_words(text: &str) -> Result<(String, [String; 2]), String> {
    let wrong = || format!("found '{text}', expected COLUMN=LOW/HIGH such as sex=f/m");
    // A name may hold an equals sign itself; the words are behind the last.
    let (column, words) = text.rsplit_once('=').ok_or_else(wrong)?;
    let (low, high) = words.split_once('/').ok_or_else(wrong)?;
    let (low, high) = (low.trim(), high.trim());
    if column.is_empty() || low.is_empty() || high.is_empty() || low == high || high.contains('/') {
        return Err(wrong());
    }
    Ok((column.to_owned(), [low.to_owned(), high.to_owned()]))
}

impl Columns {
    /// How columns of a table become −1 and +1, as the options say; medians are those of the table.
    pub(crate) fn encodings(&self, table: &Path, budget: Budget) -> anyhow::Result<Encodings> {
        let mut found = Encodings::default();
        for (column, words) in &self.words {
            found.set(column, Encoding::Words(words.clone()));
        }
        for Threshold { column, above } in &self.threshold {
            if found.get(column).is_some() {
                let problem = format!("column '{column}' has words or a threshold twice");
                return Err(Usage(problem).into());
            }
            found.set(column, Encoding::Above(*above));
        }
        let others = match &self.binarize {
            None => Encodings::default(),
            Some(_) if self.takes_medians() => {
                let options = self.options(&found, Encodings::default(), budget);
                isinglass_files::medians(table, &options)?
            }
            Some(file) => isinglass_files::read_thresholds(file)?,
        };
        for (column, encoding) in others.iter() {
            if found.get(column).is_none() {
                found.set(column, encoding.clone());
            }
        }
        Ok(found)
    }

    /// Whether any column is not binary as it stands.
    pub(crate) fn is_encoded(&self) -> bool {
        self.binarize.is_some() || !self.threshold.is_empty() || !self.words.is_empty()
    }

    /// Whether thresholds come from the table.
    pub(crate) fn takes_medians(&self) -> bool {
        self.binarize.as_deref() == Some(Path::new("median"))
    }

    /// The options of a table with these encodings, and those of a model.
    pub(crate) fn options(&self, encodings: &Encodings, known: Encodings, budget: Budget) -> TableOptions {
        TableOptions {
            budget,
            weights: self.weights.clone(),
            drop: self.drop.as_deref().map(split_list).unwrap_or_default(),
            encodings: encodings.clone(),
            known_encodings: known,
        }
    }

    /// Reads a table, which may take so much memory, for a model if there is one.
    pub(crate) fn read_for(
        &self,
        path: &Path,
        model: Option<&Path>,
        budget: Budget,
    ) -> anyhow::Result<isinglass::Table> {
        let known = model.map(|model| read_encodings(model, budget)).transpose()?.unwrap_or_default();
        let encodings = self.encodings(path, budget)?;
        self.read(path, &self.options(&encodings, known, budget))
    }

    /// Reads a table with options of these columns.
    pub(crate) fn read(&self, path: &Path, options: &TableOptions) -> anyhow::Result<isinglass::Table> {
        let table = isinglass_files::read_table(path, options)?;
        if let (Some(column), true) = (&self.weights, table.total_weight() <= 0.0) {
            anyhow::bail!("{}: column '{column}': all weights are 0", path.display());
        }
        Ok(table)
    }
}

/// The items of a list with commas between them; `\,` is a comma within an item, `\\` a backslash.
pub(crate) fn split_list(text: &str) -> Vec<String> {
    let mut items = vec![String::new()];
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        let escaped = (letter == '\\').then(|| letters.clone().next()).flatten();
        // There is always an item: the list began with one.
        let last = items.last_mut().expect("a list has a last item");
        match (letter, escaped) {
            ('\\', Some(next @ (',' | '\\'))) => {
                last.push(next);
                letters.next();
            }
            (',', _) => items.push(String::new()),
            (letter, _) => last.push(letter),
        }
    }
    items
}

/// The position of a unit, spaces around its name aside unless they belong to it.
pub(crate) fn find(machine: &Machine, name: &str) -> isinglass::Result<usize> {
    machine.position(name).or_else(|_| machine.position(name.trim()))
}

/// A whole number of at least `LEAST`.
pub(crate) fn at_least<const LEAST: usize>(text: &str) -> Result<usize, String> {
    let number = text.parse::<usize>().ok().filter(|number| *number >= LEAST);
    number.ok_or_else(|| format!("expected a whole number of at least {LEAST}"))
}

/// A finite number above 0.
pub(crate) fn positive(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok();
    number.filter(|x| x.is_finite() && *x > 0.0).ok_or_else(|| "expected a finite number above 0".into())
}

/// Refuses an output that would replace one of the inputs, by whatever name.
pub(crate) fn keep_inputs(output: &Path, inputs: &[&Path]) -> Result<(), Usage> {
    let target = FileIdentity::of(output).filter(|_| output.is_file());
    let Some(target) = target else { return Ok(()) };
    match inputs.iter().find(|input| FileIdentity::of(input).as_ref() == Some(&target)) {
        Some(input) => Err(Usage(format!(
            "{}: this output would replace the input {}",
            output.display(),
            input.display()
        ))),
        None => Ok(()),
    }
}

/// Refuses outputs, each with its option, of which two are one file, by whatever names.
pub(crate) fn keep_apart<'a>(outputs: impl IntoIterator<Item = (&'a str, &'a Path)>) -> Result<(), Usage> {
    let mut taken: Vec<(&str, &Path, Option<FileIdentity>)> = Vec::new();
    for (option, path) in outputs {
        let identity = FileIdentity::of(path);
        let is_same = |(_, other, known): &&(&str, &Path, Option<FileIdentity>)| {
            *other == path || known.is_some() && *known == identity
        };
        if let Some((other, as_path, _)) = taken.iter().find(is_same) {
            let names = if *as_path == path {
                String::new()
            } else {
                format!(": {} is {}", path.display(), as_path.display())
            };
            return Err(Usage(format!("{option} and {other} name the same file{names}")));
        }
        taken.push((option, path, identity));
    }
    Ok(())
}

/// Refuses files of a folder of which two are one file, as links may have it.
pub(crate) fn keep_files_apart(paths: &[PathBuf]) -> Result<(), Usage> {
    let name = |path: &PathBuf| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let names: Vec<String> = paths.iter().map(name).collect();
    keep_apart(names.iter().map(String::as_str).zip(paths.iter().map(PathBuf::as_path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_split_at_commas_that_are_not_escaped() {
        assert_eq!(split_list("a,b=+1"), ["a", "b=+1"]);
        assert_eq!(split_list(r"p\,q=r,s"), ["p,q=r", "s"]);
        assert_eq!(split_list(r"back\\slash\n"), [r"back\slash\n"]);
        assert_eq!(split_list(""), [""]);
    }
}
