//! Tables as text: cells between commas or tabs, one row on each line.
//!
//! A line is split in place, so that reading costs little more than finding the separators.
//! Quotation marks follow RFC 4180; unlike most readers this one refuses a quotation mark that is
//! never closed and a blank line among the rows, since both mean that rows were lost.

use std::borrow::Cow;
use std::io::{self, BufRead};

use isinglass::Budget;

use super::columns::{Collector, Keep, TableOptions, Use, check_width};
use super::problem::TableProblem;
use super::sheet::Sheet;
use super::words::{self, Word};
use crate::error::{Fault, Hint, Parsed, Place, Quoted};
use crate::input::{grow, without_mark};

/// Why reading stopped.
#[derive(Debug)]
pub(crate) enum Stopped {
    /// The input failed.
    Input(io::Error),
    /// The content is wrong.
    Content(Fault),
}

impl From<io::Error> for Stopped {
    fn from(error: io::Error) -> Self {
        Self::Input(error)
    }
}

impl From<Fault> for Stopped {
    fn from(fault: Fault) -> Self {
        Self::Content(fault)
    }
}

/// Reads a table of text.
pub(crate) fn read(
    input: impl BufRead,
    separator: u8,
    options: &TableOptions,
    keep: Keep,
) -> Result<Sheet, Stopped> {
    let mut records = Records::new(input, separator, options.budget);
    if !records.advance()? {
        return Err(Fault::from(TableProblem::Empty).into());
    }
    let line = &records.record;
    let columns = line.split(|&byte| byte == separator).count() - 1;
    let left = options.budget.0.saturating_sub(line.len() as u64);
    check_width(columns, line.len(), left, options.budget)?;
    let names = header(&records)?;
    let mut collector = Collector::new(names, options, keep)?;
    let mut row = 0;
    while records.advance()? {
        row += 1;
        if let Some(line) = records.blank {
            let fault = Fault::at(Place::Line(line as u64), TableProblem::Blank);
            return Err(fault.with_hint(Hint::MissingRow).into());
        }
        read_row(&records.record, separator, &mut collector)
            .map_err(|fault| fault.inside(Place::RowOnLine { row, line: records.line }))?;
    }
    Ok(collector.finish()?)
}

/// The names in the header.
fn header<R>(records: &Records<R>) -> Parsed<Vec<String>> {
    let record = &records.record[..];
    let mut names: Vec<String> = Vec::new();
    let mut at = 0;
    while at < record.len() {
        let place = Place::HeaderColumn(names.len() + 1);
        let (cell, next) =
            split(record, at, records.separator).map_err(|fault| fault.inside(place.clone()))?;
        at = next;
        let bytes = match &cell {
            Cell::Plain(bytes) => bytes.trim_ascii(),
            Cell::Quoted(bytes) => bytes,
        };
        let Ok(name) = str::from_utf8(bytes) else {
            let fault = Fault::at(place, TableProblem::NotUtf8(Quoted::new(bytes)));
            return Err(fault.with_hint(Hint::Utf8));
        };
        if name.is_empty() {
            return Err(Fault::at(place, TableProblem::NoName).with_hint(Hint::RowNames));
        }
        names.push(name.to_owned());
    }
    let mut first = std::collections::HashMap::new();
    for (k, name) in names.iter().enumerate() {
        if let Some(other) = first.insert(name, k) {
            let problem = TableProblem::RepeatedName { name: Quoted::from(&name[..]), first: other + 1 };
            let fault = Fault::at(Place::HeaderColumn(k + 1), problem);
            let is_row = Word::of(name.as_bytes()).is_value();
            return Err(if is_row { fault.with_hint(Hint::HeaderIsRow) } else { fault });
        }
    }
    Ok(names)
}

/// Adds one row to the table.
fn read_row(record: &[u8], separator: u8, collector: &mut Collector) -> Parsed<()> {
    let width = collector.width();
    let mut at = 0;
    let mut column = 0;
    while at < record.len() && column < width {
        let usage = collector.usage(column);
        if let Use::Cells(to) = usage
            && collector.is_encoded(to)
        {
            let (cell, next) = split(record, at, separator)?;
            if let Err(fault) = collector.set_encoded(column, to, cell.bytes()) {
                let width_is_wrong = wrong_width(record, separator, width);
                return Err(width_is_wrong.unwrap_or_else(|| fault.inside(collector.place(column))));
            }
            at = next;
        } else if let Use::Cells(to) = usage {
            // Nearly all cells are one byte. The record ends with a separator, so every cell has an
            // end.
            let (word, next) = match record[at..] {
                [byte, end, ..] if end == separator && byte != separator => (Word::of_byte(byte), at + 2),
                _ => {
                    let (cell, next) = split(record, at, separator)?;
                    (Word::of(cell.bytes()), next)
                }
            };
            if !collector.set(to, word) {
                let (cell, _) = split(record, at, separator)?;
                let fault = words::fault(cell.bytes().trim_ascii(), collector.kinds(to));
                return Err(wrong_width(record, separator, width)
                    .unwrap_or_else(|| fault.inside(collector.place(column))));
            }
            at = next;
        } else {
            let (cell, next) = split(record, at, separator)?;
            if usage == Use::Weights {
                collector
                    .set_weight_text(cell.bytes())
                    .map_err(|fault| fault.inside(collector.place(column)))?;
            }
            collector.keep_text(column, cell.bytes());
            at = next;
        }
        column += 1;
    }
    if column < width || at < record.len() {
        let width_is_wrong = || TableProblem::Width { found: column, expected: width }.into();
        return Err(wrong_width(record, separator, width).unwrap_or_else(width_is_wrong));
    }
    collector.finish_row()
}

/// The fault of a row that has more or fewer cells than the header, if it has.
fn wrong_width(record: &[u8], separator: u8, width: usize) -> Option<Fault> {
    let (mut at, mut cells) = (0, 0);
    while at < record.len() {
        match split(record, at, separator) {
            Ok((_, next)) => at = next,
            Err(fault) => return Some(fault),
        }
        cells += 1;
    }
    (cells != width).then(|| TableProblem::Width { found: cells, expected: width }.into())
}

/// The text of a cell, without its quotation marks.
enum Cell<'a> {
    Plain(&'a [u8]),
    Quoted(Cow<'a, [u8]>),
}

impl Cell<'_> {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Plain(bytes) => bytes,
            Self::Quoted(bytes) => bytes,
        }
    }
}

/// The cell that begins at a place of a record, and where the next one begins.
fn split(record: &[u8], at: usize, separator: u8) -> Parsed<(Cell<'_>, usize)> {
    let rest = &record[at..];
    let spaces = rest.iter().take_while(|&&byte| byte == b' ').count();
    if rest.get(spaces) == Some(&b'"') {
        let (text, used) = unquote(&rest[spaces + 1..], separator)?;
        return Ok((Cell::Quoted(text), at + spaces + 1 + used));
    }
    let end = rest.iter().position(|&byte| byte == separator).unwrap_or(rest.len());
    let cell = &rest[..end];
    if cell.contains(&b'"') {
        return Err(TableProblem::InnerQuote(Quoted::new(cell)).into());
    }
    Ok((Cell::Plain(cell), at + end + 1))
}

/// The text up to the closing quotation mark, and the bytes up to the next cell.
fn unquote(rest: &[u8], separator: u8) -> Parsed<(Cow<'_, [u8]>, usize)> {
    let mut text = Cow::Borrowed(&rest[..0]);
    let mut from = 0;
    loop {
        let Some(length) = rest[from..].iter().position(|&byte| byte == b'"') else {
            return Err(TableProblem::OpenQuote.into());
        };
        let mark = from + length;
        if text.is_empty() && from == 0 {
            text = Cow::Borrowed(&rest[..mark]);
        } else {
            text.to_mut().extend_from_slice(&rest[from..mark]);
        }
        from = mark + 1;
        if rest.get(from) == Some(&b'"') {
            text.to_mut().push(b'"');
            from += 1;
            continue;
        }
        let after = &rest[from..];
        let end = after.iter().position(|&byte| byte == separator).unwrap_or(after.len());
        if !after[..end].iter().all(|&byte| byte == b' ') {
            return Err(TableProblem::AfterQuote(Quoted::new(&after[..end])).into());
        }
        return Ok((text, from + end + 1));
    }
}

/// The records of the input, one after another.
struct Records<R> {
    input: R,
    separator: u8,
    /// What a record may take.
    budget: Budget,
    /// The current record, without its line end, but with a separator after its last cell.
    record: Vec<u8>,
    /// The line where the current record begins, from 1.
    line: usize,
    /// The line after the current record.
    next_line: usize,
    /// The first of the blank lines before the current record.
    blank: Option<usize>,
}

impl<R: BufRead> Records<R> {
    fn new(input: R, separator: u8, budget: Budget) -> Self {
        Self { input, separator, budget, record: Vec::new(), line: 0, next_line: 1, blank: None }
    }

    /// Goes to the next record that is not blank; `false` at the end.
    fn advance(&mut self) -> Result<bool, Stopped> {
        self.blank = None;
        loop {
            self.record.clear();
            self.line = self.next_line;
            if !self.fill()? {
                return Ok(false);
            }
            if self.line == 1 {
                let mark = self.record.len() - without_mark(&self.record).len();
                self.record.drain(..mark);
            }
            while self.record.last().is_some_and(|&byte| byte == b'\n' || byte == b'\r') {
                self.record.pop();
            }
            if self.record.iter().any(|&byte| byte != b' ') {
                self.record.push(self.separator);
                return Ok(true);
            }
            self.blank.get_or_insert(self.line);
        }
    }

    /// Reads a line into the record, and returns its bytes, the line end among them.
    fn read_line(&mut self) -> Result<usize, Stopped> {
        let from = self.record.len();
        loop {
            let there = match self.input.fill_buf() {
                Ok(there) => there,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error.into()),
            };
            let end = there.iter().position(|&byte| byte == b'\n');
            let used = end.map_or(there.len(), |end| end + 1);
            // A separator will follow the last cell.
            let is_long = (self.record.len() + used) as u64 > self.budget.0;
            if !is_long && !grow(&mut self.record, used + 1) {
                let problem = TableProblem::LineWithoutMemory { read: self.record.len() };
                return Err(Fault::at(Place::Line(self.line as u64), problem).into());
            }
            if is_long {
                let problem = TableProblem::LongLine { read: self.record.len(), budget: self.budget };
                return Err(Fault::at(Place::Line(self.line as u64), problem).with_hint(Hint::Budget).into());
            }
            self.record.extend_from_slice(&there[..used]);
            self.input.consume(used);
            if end.is_some() || used == 0 {
                return Ok(self.record.len() - from);
            }
        }
    }

    /// Reads lines until all quotation marks are closed; `false` at the end.
    fn fill(&mut self) -> Result<bool, Stopped> {
        let mut open = false;
        loop {
            let from = self.record.len();
            if self.read_line()? == 0 {
                if open {
                    let place = Place::Line(self.line as u64);
                    return Err(Fault::at(place, TableProblem::OpenQuote).into());
                }
                return Ok(from > 0);
            }
            self.next_line += 1;
            for &byte in &self.record[from..] {
                open ^= byte == b'"';
            }
            if !open {
                return Ok(true);
            }
        }
    }
}
