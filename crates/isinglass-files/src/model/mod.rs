//! Model files: a machine in JSON, in the UAI competition's format, or as NumPy arrays.
//!
//! The formats do not know paths; this module opens files, chooses the format by ending, and adds
//! the path to errors.

mod json;
mod npz;
mod uai;

use std::fmt;
use std::io::{self, BufWriter, IntoInnerError, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use isinglass::machine::Moderated;
use isinglass::message::{Message, Style};
use isinglass::{Budget, Evidence, Machine};

pub(crate) use json::JsonProblem;
pub(crate) use npz::NpzProblem;
pub(crate) use uai::UaiProblem;

use crate::error::{Endings, Fault, Hint, Parsed};
use crate::input::{self, Ending};
use crate::{Encodings, Error, Output, Result};

/// The formats of model files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ModelFormat {
    /// `.json`: keeps everything, and can be read and written by hand.
    Json,
    /// `.uai`: pairwise binary MARKOV networks of the UAI competitions.
    Uai,
    /// `.npz`: NumPy arrays, for large dense machines.
    Npz,
}

/// Returns the format of a model file, by its ending. `.json.gz` and `.uai.gz` are supported too.
///
/// # Errors
/// Any other ending; the message lists those that are supported.
///
/// # Example
/// ```
/// use std::path::Path;
/// use isinglass_files::{ModelFormat, model_format};
/// assert_eq!(model_format(Path::new("grid.uai.gz"))?, ModelFormat::Uai);
/// assert!(model_format(Path::new("grid.xml")).is_err());
/// # Ok::<(), isinglass_files::Error>(())
/// ```
pub fn model_format(path: &Path) -> Result<ModelFormat> {
    let ending = Ending::of(path);
    match (ending.word.as_str(), ending.gzip) {
        ("json", _) => Ok(ModelFormat::Json),
        ("uai", _) => Ok(ModelFormat::Uai),
        ("npz", false) => Ok(ModelFormat::Npz),
        _ => Err(Error::ending(path, Endings::Model)),
    }
}

/// Reads a machine, in the format of the ending.
///
/// # Errors
/// The file cannot be read, or its content breaks the rules of the format; with the place.
pub fn read_model(path: &Path) -> Result<Machine> {
    read_model_within(path, Budget::default())
}

/// Reads a machine as [`read_model`] does, within a budget of memory for the content of the file and
/// what is made of it; 1 MiB may always be used.
///
/// # Errors
/// Those of [`read_model`]; a content that is larger.
pub fn read_model_within(path: &Path, budget: Budget) -> Result<Machine> {
    let budget = input::allowance(budget);
    let parsed = match model_format(path)? {
        ModelFormat::Json => read_text(&input::bytes(path, budget)?, b"{[", budget, json::read),
        ModelFormat::Uai => read_text(&input::bytes(path, budget)?, b" \n\t", budget, uai::read),
        ModelFormat::Npz => npz::read(input::open(path)?, budget),
    };
    parsed.map_err(|fault| fault.reading(path))
}

/// Reads a machine as [`read_model_within`] does, with how it changes with covariates; other formats
/// than `.json` have none.
///
/// # Errors
/// Those of [`read_model_within`].
pub fn read_moderated_within(path: &Path, budget: Budget) -> Result<Moderated> {
    let allowed = input::allowance(budget);
    if model_format(path)? != ModelFormat::Json {
        let machine = read_model_within(path, budget)?;
        return Moderated::new(machine, Vec::new()).map_err(|error| Fault::from(error).reading(path));
    }
    let parsed = read_text(&input::bytes(path, allowed)?, b"{[", allowed, json::read_moderated);
    parsed.map_err(|fault| fault.reading(path))
}

/// Writes a machine and how it changes with covariates to a `.json` file, and commits the output.
///
/// # Errors
/// Another ending, or the file cannot be written.
pub fn write_moderated(machine: &Moderated, mut output: Output) -> Result<()> {
    if model_format(output.path())? != ModelFormat::Json || Ending::of(output.path()).gzip {
        return Err(Error::ending(output.path(), Endings::Model));
    }
    json::write_with(machine.base(), &Encodings::default(), machine.moderators(), &mut output)
        .map_err(|error| output.error(&error))?;
    output.commit()
}

/// Reads how the columns of raw tables become −1 and +1, as a model file says; formats other than
/// `.json` say nothing.
///
/// # Errors
/// Those of [`read_model_within`].
pub fn read_encodings(path: &Path, budget: Budget) -> Result<Encodings> {
    match model_format(path)? {
        ModelFormat::Json => {
            let text = input::bytes(path, input::allowance(budget))?;
            json::encodings(&text).map_err(|fault| fault.reading(path))
        }
        ModelFormat::Uai | ModelFormat::Npz => Ok(Encodings::default()),
    }
}

/// Bytes that may be taken for each unit, edge or number of a text while it is read: what the parser
/// holds, and the machine.
const OF_MARK: u128 = 160;
const OF_NUMBER: u128 = 24;

/// Reads a text whose units and edges, or whose numbers, are marked by some bytes, if what is made of
/// it is within the budget.
fn read_text<T>(
    text: &[u8],
    marks: &[u8],
    budget: Budget,
    read: impl FnOnce(&[u8]) -> Parsed<T>,
) -> Parsed<T> {
    let of_mark = if marks == b"{[" { OF_MARK } else { OF_NUMBER };
    let count = text.iter().filter(|byte| marks.contains(byte)).count();
    let needed = text.len() as u128 + of_mark * count as u128;
    let what = || format!("a model of {}", Budget::bytes(text.len() as u128));
    budget.check("reading", needed, what).map_err(|error| Fault::from(error).with_hint(Hint::Budget))?;
    read(text)
}

/// Something that a format does not keep of a machine.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum ModelNote {
    /// Units are named `x0`, `x1`, ….
    NamesNotKept,
    /// All units are visible.
    RolesNotKept,
    /// Weights and biases are divided by the temperature, and the temperature is 1.
    TemperatureNotKept(f64),
    /// Couplings and biases close to 0 lose digits.
    NumbersRounded {
        /// How many.
        count: usize,
    },
    /// How raw columns become −1 and +1 is not in the file.
    EncodingsNotKept,
}

impl ModelNote {
    /// A short name for programs, in kebab-case.
    pub fn code(self) -> &'static str {
        match self {
            Self::NamesNotKept => "names-not-kept",
            Self::RolesNotKept => "roles-not-kept",
            Self::TemperatureNotKept(_) => "temperature-not-kept",
            Self::NumbersRounded { .. } => "numbers-rounded",
            Self::EncodingsNotKept => "encodings-not-kept",
        }
    }
}

impl Message for ModelNote {
    fn render(&self, out: &mut dyn fmt::Write, _style: Style) -> fmt::Result {
        match self {
            Self::NamesNotKept => out.write_str("the names of the units are not kept: they become x0, x1, …"),
            Self::EncodingsNotKept => out.write_str(
                "thresholds and words of columns are not kept: give them again with tables that are not binary; .json keeps them",
            ),
            Self::RolesNotKept => out.write_str("the roles of the units are not kept: all become visible"),
            Self::NumbersRounded { count } => write!(
                out,
                "{count} of the couplings and biases keep fewer than 9 digits: the file holds exponentials, and \
                 these numbers are close to 0"
            ),
            Self::TemperatureNotKept(temperature) => {
                write!(out, "the temperature {temperature} is not kept: weights and biases are divided by it")
            }
        }
    }
}

impl fmt::Display for ModelNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.render(f, Style::Flags)
    }
}

/// Writes a machine in the format of the ending, and commits the output.
///
/// Returns notes on what the format does not keep; none for `.json` and `.npz`.
///
/// # Errors
/// The format cannot hold the machine, or the file cannot be written. The target is then as it was.
///
/// # Example
/// ```
/// use isinglass::{Machine, Unit};
/// use isinglass_files::{ModelNote, Output, read_model, write_model};
/// let machine = Machine::new(vec![Unit::new("a", 0.5), Unit::new("b", 0.0)], [(0, 1, -1.0)])?;
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("pair.uai");
/// let notes = write_model(&machine, Output::create(&path)?)?;
/// assert_eq!(notes, [ModelNote::NamesNotKept]);
/// assert_eq!(notes[0].to_string(), "the names of the units are not kept: they become x0, x1, …");
/// assert_eq!(read_model(&path)?.names(), ["x0", "x1"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_model(machine: &Machine, output: Output) -> Result<Vec<ModelNote>> {
    write_model_with(machine, &Encodings::default(), output)
}

/// Writes a machine as [`write_model`] does, with how the columns of raw tables become −1 and +1; of
/// columns that are no units nothing is written. Only `.json` keeps it.
///
/// # Errors
/// Those of [`write_model`].
pub fn write_model_with(
    machine: &Machine,
    encodings: &Encodings,
    mut output: Output,
) -> Result<Vec<ModelNote>> {
    let encodings = &encodings.among(machine.names());
    let format = model_format(output.path())?;
    let written = if Ending::of(output.path()).gzip {
        // The encoder is slow on small writes, and the formats write little at a time.
        let mut pieces = BufWriter::new(GzEncoder::new(&mut output, Compression::default()));
        write_as(format, machine, encodings, &mut pieces).and_then(|()| {
            let mut packed = pieces.into_inner().map_err(IntoInnerError::into_error)?;
            Ok(packed.try_finish()?)
        })
    } else {
        write_as(format, machine, encodings, &mut output)
    };
    written.map_err(|failure| match failure {
        Failure::Output(error) => output.error(&error),
        Failure::Machine(fault) => fault.writing(output.path()),
    })?;
    output.commit()?;
    let mut notes = match format {
        ModelFormat::Json | ModelFormat::Npz => Vec::new(),
        ModelFormat::Uai => uai::not_kept(machine),
    };
    if format != ModelFormat::Json && !encodings.is_empty() {
        notes.push(ModelNote::EncodingsNotKept);
    }
    Ok(notes)
}

fn write_as(
    format: ModelFormat,
    machine: &Machine,
    encodings: &Encodings,
    output: &mut impl Write,
) -> Result<(), Failure> {
    match format {
        ModelFormat::Json => Ok(json::write(machine, encodings, output)?),
        ModelFormat::Uai => uai::write(machine, output),
        ModelFormat::Npz => npz::write(machine, output),
    }
}

/// Why a machine was not written.
#[derive(Debug)]
enum Failure {
    /// The output failed.
    Output(io::Error),
    /// The format cannot hold the machine.
    Machine(Fault),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        Self::Machine(fault)
    }
}

/// Reads the evidence on a machine from a UAI `.evid` file.
///
/// The file holds the number of observed variables, and for each its position and its state: 0 for
/// −1, 1 for +1. The older form, which begins with the number of samples (1), is read too. An empty
/// file is no evidence.
///
/// # Errors
/// The file cannot be read; a number that is not a position or a state; a variable that is observed
/// twice; too few or too many numbers.
///
/// # Example
/// ```
/// use isinglass::{Machine, Spin, topology};
/// use isinglass_files::read_evidence;
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("chain.uai.evid");
/// std::fs::write(&path, "2 0 1 3 0")?;
/// let evidence = read_evidence(&path, &topology::chain(4))?;
/// assert_eq!(evidence.cells(), [1, 0, 0, -1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_evidence(path: &Path, machine: &Machine) -> Result<Evidence> {
    uai::read_evidence(&input::bytes(path, Budget::default())?, machine.unit_count())
        .map_err(|fault| fault.reading(path))
}
