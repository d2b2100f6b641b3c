//! Tables: files of binary cells become a [`Table`], rows of −1 and +1 become a file.
//!
//! The formats share the words of cells (`words`), the uses of columns (`columns`) and what can be
//! wrong (`problem`). A `sheet` is a table that can be written again as it was.

mod columns;
mod csv;
mod encoding;
mod groups;
mod npy;
#[cfg(feature = "parquet")]
mod parquet;
mod problem;
mod sheet;
mod words;
mod write;

use std::path::Path;

use isinglass::Table;

use columns::Keep;
pub use columns::TableOptions;
pub use encoding::{Encoding, Encodings, Threshold, medians, read_thresholds};
pub use groups::{LabelledTables, read_groups};
pub(crate) use problem::TableProblem;
pub use sheet::{CellForm, Sheet, TableFormat, table_format, write_sheet};
pub use write::{Values, spreadsheet_safe, write_numbers, write_table};
pub(crate) use write::{end_line, push_text};

use crate::error::Endings;
use crate::input::{self, Ending};
use crate::{Error, Result};

/// Reads a table in the format of the ending, decompressed if `.gz` follows it.
///
/// In text (`.csv`, `.tsv`) a header names the units. Cells are `1/-1`, `0/1`, `true/false`,
/// `yes/no`, `y/n` or `+/-`, one kind in one column; empty cells, `NA`, `NaN` and `?` are missing.
/// In `.npy` matrices the columns are named `x0`, `x1`, …, and NaN is missing. `.parquet` needs the
/// feature `parquet`.
///
/// # Errors
/// The file cannot be read, or holds anything else; with row, line and column.
///
/// # Example
/// ```
/// use isinglass_files::{TableOptions, read_table};
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("votes.csv");
/// std::fs::write(&path, "budget,crime\ny,n\nn,?\n")?;
/// let table = read_table(&path, &TableOptions::default())?;
/// assert_eq!((table.row(0), table.row(1)), ([1, -1].as_slice(), [-1, 0].as_slice()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_table(path: &Path, options: &TableOptions) -> Result<Table> {
    read(path, options, Keep::Weights).map(|sheet| sheet.table)
}

/// Reads a table as [`read_table`] does, and keeps how its file is written.
///
/// # Errors
/// Those of [`read_table`].
pub fn read_sheet(path: &Path, options: &TableOptions) -> Result<Sheet> {
    read(path, options, Keep::Texts)
}

fn read(path: &Path, options: &TableOptions, keep: Keep) -> Result<Sheet> {
    let options = &options.for_reading();
    let ending = Ending::of(path);
    match (ending.word.as_str(), ending.gzip) {
        ("csv", _) => read_text(path, b',', options, keep),
        ("tsv", _) => read_text(path, b'\t', options, keep),
        ("npy", _) => npy::read(&input::bytes(path, options.budget)?, options, keep)
            .map_err(|fault| fault.reading(path)),
        ("parquet", false) => read_parquet(path, options, keep),
        _ => Err(Error::ending(path, Endings::Table)),
    }
}

/// Reads a table of text from memory; errors give it the name of a file.
///
/// # Errors
/// Those of [`read_table`].
///
/// # Example
/// ```
/// use isinglass_files::{TableOptions, parse_csv};
/// let table = parse_csv(b"a\tb\n+\t0\n-\t1\n", "signs", b'\t', &TableOptions::default())?;
/// assert_eq!((table.row(0), table.row(1)), ([1, -1].as_slice(), [-1, 1].as_slice()));
/// # Ok::<(), isinglass_files::Error>(())
/// ```
pub fn parse_csv(text: &[u8], name: &str, separator: u8, options: &TableOptions) -> Result<Table> {
    csv::read(text, separator, &options.for_reading(), Keep::Weights)
        .map(|sheet| sheet.table)
        .map_err(|stopped| stopped_at(stopped, Path::new(name)))
}

fn read_text(path: &Path, separator: u8, options: &TableOptions, keep: Keep) -> Result<Sheet> {
    csv::read(input::reader(path)?, separator, options, keep).map_err(|stopped| stopped_at(stopped, path))
}

fn stopped_at(stopped: csv::Stopped, path: &Path) -> Error {
    match stopped {
        csv::Stopped::Input(error) => input::unreadable(path, &error),
        csv::Stopped::Content(fault) => fault.reading(path),
    }
}

#[cfg(feature = "parquet")]
fn read_parquet(path: &Path, options: &TableOptions, keep: Keep) -> Result<Sheet> {
    parquet::read(input::open(path)?, options, keep).map_err(|fault| fault.reading(path))
}

#[cfg(not(feature = "parquet"))]
fn read_parquet(path: &Path, _options: &TableOptions, _keep: Keep) -> Result<Sheet> {
    Err(Error::NoParquet { path: path.to_owned() })
}
