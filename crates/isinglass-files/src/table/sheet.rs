//! A table that can be written again as its file was: the same columns and words, with other cells.

use std::io::{self, Write};
use std::path::Path;

use isinglass::Table;

use super::problem::TableProblem;
use super::words::{self, Pair, Word};
use super::write::{end_line, is_formula, push_text};
use crate::error::{Endings, Fault, Hint, Parsed, Place, Quoted};
use crate::input::Ending;
use crate::npy::{Head, write_head};
use crate::{Error, Output, Result};

/// A table, and how its file was written: the words of each column, and the text of columns that
/// belong to no unit.
#[derive(Debug, Clone)]
pub struct Sheet {
    /// The table.
    pub table: Table,
    /// The columns of the file, in its order.
    pub(super) columns: Vec<Column>,
    /// For each column of the table, what it writes.
    pub(super) pairs: Vec<Pair>,
    /// What a column writes that is added to those of the file.
    pub(super) added: Pair,
    /// Whether texts are written so that spreadsheets show them.
    pub(super) is_for_spreadsheets: bool,
}

impl Sheet {
    /// The same sheet, whose texts are written as [`spreadsheet_safe`](crate::spreadsheet_safe) has
    /// them.
    #[must_use]
    pub fn for_spreadsheets(mut self) -> Self {
        self.is_for_spreadsheets = true;
        self
    }

    /// The names of the columns that are copied unchanged: weights, and those that were dropped.
    pub fn copied(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().filter_map(|column| match column {
            Column::Other { name, .. } => Some(name.as_str()),
            Column::Cells(_) | Column::Encoded { .. } => None,
        })
    }

    /// The text of the cells of a column that belongs to no unit, in the order of the rows.
    pub fn texts(&self, column: &str) -> Option<Vec<String>> {
        let texts = self.columns.iter().find_map(|other| match other {
            Column::Other { name, texts } if name == column => Some(texts),
            _ => None,
        })?;
        let rows = 0..self.table.row_count();
        Some(rows.map(|row| String::from_utf8_lossy(texts.get(row)).trim().to_owned()).collect())
    }

    /// The numbers of a column that belongs to no unit, NaN where a cell is missing.
    ///
    /// # Errors
    /// The first row, counted from 1, whose cell is neither a finite number nor missing, and its text.
    pub fn numbers(&self, column: &str) -> Option<std::result::Result<Vec<f64>, (usize, String)>> {
        let texts = self.texts(column)?;
        let number = |(row, text): (usize, String)| {
            if Word::of(text.as_bytes()).kinds == words::ALL {
                return Ok(f64::NAN);
            }
            let found = text.parse().ok().filter(|number: &f64| number.is_finite());
            found.ok_or((row + 1, text))
        };
        Some(texts.into_iter().enumerate().map(number).collect())
    }
}

/// A column of a file.
#[derive(Debug, Clone)]
pub(super) enum Column {
    /// A column of the table.
    Cells(usize),
    /// A column of the table that is not binary as it stands, with the texts of its cells.
    Encoded { column: usize, texts: Texts },
    /// Weights, or dropped.
    Other {
        /// Its name in the header.
        name: String,
        /// Its cells.
        texts: Texts,
    },
}

/// The text of every cell of a column, one after another.
#[derive(Debug, Clone, Default)]
pub(super) struct Texts {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Texts {
    pub(super) fn push(&mut self, text: &[u8]) {
        self.bytes.extend_from_slice(text);
        self.ends.push(self.bytes.len());
    }

    pub(super) fn get(&self, row: usize) -> &[u8] {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.bytes[start..self.ends[row]]
    }

    /// Whether a cell is not missing.
    fn is_there(&self, row: usize) -> bool {
        !self.ends.is_empty() && Word::of(self.get(row)).kinds != words::ALL
    }

    /// A cell as a number, NaN where it is missing; nothing if it is neither.
    pub(super) fn number(&self, row: usize) -> Option<f64> {
        let text = self.get(row);
        if Word::of(text).kinds == words::ALL {
            return Some(f64::NAN);
        }
        str::from_utf8(text).ok()?.trim().parse().ok()
    }
}

/// How tables are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableFormat {
    /// Cells between commas.
    Csv,
    /// Cells between tabs.
    Tsv,
    /// A NumPy matrix, without names.
    Npy,
}

/// Returns the format in which a table is written to a path; text for a device.
///
/// # Errors
/// An ending other than `.csv`, `.tsv` and `.npy`.
pub fn table_format(path: &Path) -> Result<TableFormat> {
    let ending = Ending::of(path);
    match (ending.word.as_str(), ending.gzip) {
        ("csv", false) => Ok(TableFormat::Csv),
        ("tsv", false) => Ok(TableFormat::Tsv),
        ("npy", false) => Ok(TableFormat::Npy),
        _ if path.exists() && !path.is_file() => Ok(TableFormat::Csv),
        _ => Err(Error::ending(path, Endings::WrittenTable)),
    }
}

/// How the numbers given for cells are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellForm {
    /// By their sign, in the words of their column.
    Words,
    /// As they are.
    Numbers,
}

/// Writes a table as its file was, with other cells.
///
/// Rows, columns and words are the same; columns that belong to no unit are copied. A column whose
/// cells leave its words open (all missing, or all `1`) follows the first column of the table that
/// does not, as do columns that are added after the last; where there is none, they are `1/-1`.
/// Words are in upper or lower case as the first of the column. In `.npy` everything is a number:
/// `0/1` and `true/false` are 0 and 1, the other words −1 and 1.
///
/// *Arguments*: the names of columns to add; what to write; a function that puts the numbers of a
/// row (by its number in the file) into an empty list, those of added columns last.
///
/// # Errors
/// The output fails, its ending is not that of a table, or text would go into a matrix of numbers.
///
/// # Example
/// ```
/// use isinglass_files::{CellForm, Output, TableOptions, read_sheet, write_sheet};
/// let folder = tempfile::tempdir()?;
/// let (from, to) = (folder.path().join("votes.csv"), folder.path().join("all.csv"));
/// std::fs::write(&from, "member,budget,crime\nAnn,Y,N\nBob,?,N\n")?;
/// let sheet = read_sheet(&from, &TableOptions { drop: vec!["member".into()], ..Default::default() })?;
/// let rows = [[1.0, -1.0], [1.0, -1.0]];
/// write_sheet(&sheet, &[], CellForm::Words, |row, cells| cells.extend(rows[row]), Output::create(&to)?)?;
/// assert_eq!(std::fs::read_to_string(&to)?, "member,budget,crime\nAnn,Y,N\nBob,Y,N\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_sheet(
    sheet: &Sheet,
    added: &[String],
    form: CellForm,
    row: impl FnMut(usize, &mut Vec<f64>),
    mut output: Output,
) -> Result<()> {
    let format = table_format(output.path())?;
    let writer = Writer { sheet, added, form };
    let written = match format {
        TableFormat::Csv => writer.text(row, b',', &mut output),
        TableFormat::Tsv => writer.text(row, b'\t', &mut output),
        TableFormat::Npy => {
            writer.check_numbers().map_err(|fault| fault.writing(output.path()))?;
            writer.matrix(row, &mut output)
        }
    };
    written.map_err(|error| output.error(&error))?;
    output.commit()
}

struct Writer<'a> {
    sheet: &'a Sheet,
    added: &'a [String],
    form: CellForm,
}

impl Writer<'_> {
    /// The words of a column of the table, or of an added one.
    fn pair(&self, column: usize) -> &Pair {
        self.sheet.pairs.get(column).unwrap_or(&self.sheet.added)
    }

    fn text(
        &self,
        mut row: impl FnMut(usize, &mut Vec<f64>),
        separator: u8,
        output: &mut Output,
    ) -> io::Result<()> {
        let table = &self.sheet.table;
        let mut line = Vec::new();
        let push = |line: &mut Vec<u8>, text: &[u8]| {
            // What a spreadsheet would take for a formula is text: its first byte is one of ASCII.
            let mark = self.sheet.is_for_spreadsheets && is_formula(text);
            let marked = if mark { [b"'", text].concat() } else { Vec::new() };
            push_text(line, if mark { &marked } else { text }, separator);
            line.push(separator);
        };
        for column in &self.sheet.columns {
            let name = match column {
                Column::Cells(column) | Column::Encoded { column, .. } => &table.columns()[*column],
                Column::Other { name, .. } => name,
            };
            push(&mut line, name.as_bytes());
        }
        for name in self.added {
            push(&mut line, name.as_bytes());
        }
        end_line(&mut line);
        output.write_all(&line)?;
        let mut cells = Vec::new();
        for number in 0..table.row_count() {
            cells.clear();
            row(number, &mut cells);
            line.clear();
            let cell = |line: &mut Vec<u8>, column: usize| {
                match self.form {
                    CellForm::Words => {
                        let word = &self.pair(column).words[usize::from(cells[column] >= 0.0)];
                        line.extend_from_slice(word.as_bytes());
                    }
                    CellForm::Numbers => write!(line, "{}", cells[column])?,
                }
                line.push(separator);
                io::Result::Ok(())
            };
            for column in &self.sheet.columns {
                match column {
                    Column::Encoded { texts, .. }
                        if self.form == CellForm::Words && texts.is_there(number) =>
                    {
                        push(&mut line, texts.get(number));
                    }
                    Column::Cells(column) | Column::Encoded { column, .. } => cell(&mut line, *column)?,
                    Column::Other { texts, .. } => push(&mut line, texts.get(number)),
                }
            }
            for column in table.columns().len()..table.columns().len() + self.added.len() {
                cell(&mut line, column)?;
            }
            end_line(&mut line);
            output.write_all(&line)?;
        }
        Ok(())
    }

    /// Checks that everything that is copied is a number.
    fn check_numbers(&self) -> Parsed<()> {
        for column in &self.sheet.columns {
            let Column::Other { name, texts } = column else { continue };
            if let Some(row) = (0..self.sheet.table.row_count()).find(|&row| texts.number(row).is_none()) {
                let problem = TableProblem::TextForMatrix(Quoted::new(texts.get(row)));
                let fault = Fault::at(Place::Column(Quoted::from(&name[..])), problem);
                return Err(fault.inside(Place::Row(row + 1)).with_hint(Hint::WriteText));
            }
        }
        Ok(())
    }

    fn matrix(&self, mut row: impl FnMut(usize, &mut Vec<f64>), output: &mut Output) -> io::Result<()> {
        let table = &self.sheet.table;
        let is_copied = |column: &Column| !matches!(column, Column::Cells(_));
        let copied = self.sheet.columns.iter().any(is_copied);
        let whole = self.form == CellForm::Words && !copied;
        let width = self.sheet.columns.len() + self.added.len();
        let head = if whole { Head::Int } else { Head::Float };
        write_head(output, head, &[table.row_count(), width])?;
        let mut cells = Vec::new();
        for number in 0..table.row_count() {
            cells.clear();
            row(number, &mut cells);
            let cell = |column: usize| match self.form {
                CellForm::Words => self.pair(column).numbers[usize::from(cells[column] >= 0.0)] as f64,
                CellForm::Numbers => cells[column],
            };
            let mut put = |x: f64| {
                let bytes = if whole { (x as i64).to_le_bytes() } else { x.to_le_bytes() };
                output.write_all(&bytes)
            };
            for column in &self.sheet.columns {
                put(match column {
                    Column::Encoded { texts, .. }
                        if self.form == CellForm::Words && texts.is_there(number) =>
                    {
                        texts.number(number).unwrap_or(f64::NAN)
                    }
                    Column::Cells(column) | Column::Encoded { column, .. } => cell(*column),
                    // All texts are numbers, as was checked before.
                    Column::Other { texts, .. } => texts.number(number).unwrap_or(f64::NAN),
                })?;
            }
            for column in table.columns().len()..table.columns().len() + self.added.len() {
                put(cell(column))?;
            }
        }
        Ok(())
    }
}
