//! The use of each column of a file, and the rows collected so far.

use std::collections::HashSet;

use isinglass::{Budget, Table};

use super::encoding::{self, Encoding, Encodings};
use super::problem::{Found, TableProblem};
use super::sheet::{Column, Sheet, Texts};
use super::words::{self, Case, Kinds, Known, Pair, Word};
use crate::error::{Fault, Hint, Near, Parsed, Place, Quoted};
use crate::input::allowance;

/// Which columns of a table file do not hold the cells of a unit.
///
/// # Example
/// ```
/// use isinglass_files::{TableOptions, parse_csv};
/// let options =
///     TableOptions { weights: Some("count".into()), drop: vec!["id".into()], ..Default::default() };
/// let table = parse_csv(b"id,a,count\nk1,1,2.5\nk2,0,1\n", "t.csv", b',', &options)?;
/// assert_eq!(table.columns(), ["a"]);
/// assert_eq!((table.weight(0), table.weight(1)), (2.5, 1.0));
/// # Ok::<(), isinglass_files::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TableOptions {
    /// The column that holds the weights of the rows; without it, every row has weight 1.
    pub weights: Option<String>,
    /// Columns that are left out, whatever they hold.
    pub drop: Vec<String>,
    /// Columns that are not binary as they stand, and how they become so.
    pub encodings: Encodings,
    /// The same for columns that a file need not have, such as those that a model file names.
    pub known_encodings: Encodings,
    /// Memory that the content of the file and the table may take; 1 MiB may always be used.
    pub budget: Budget,
}

impl TableOptions {
    /// How a column is encoded.
    fn encoding(&self, column: &str) -> Option<&Encoding> {
        self.encodings.get(column).or_else(|| self.known_encodings.get(column))
    }

    /// With the memory that reading may always take.
    pub(crate) fn for_reading(&self) -> Self {
        Self { budget: allowance(self.budget), ..self.clone() }
    }
}

/// The use of one column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    /// The cells of this column of the table.
    Cells(usize),
    /// The weights of the rows.
    Weights,
    /// None.
    Dropped,
}

/// The table while it is read.
#[derive(Debug)]
pub(crate) struct Collector {
    names: Vec<String>,
    uses: Vec<Use>,
    table: Table,
    /// For each column of the table, the kinds of word that it may still be written in.
    kinds: Vec<Kinds>,
    /// How it is encoded, if it is.
    encodings: Vec<Option<Encoding>>,
    /// And how its letters are written.
    cases: Vec<Case>,
    /// For each column of the file, its text if it holds no cells and is to be kept.
    texts: Option<Vec<Texts>>,
    row: Vec<i8>,
    weight: f64,
    /// The bytes of texts, and of what else is in memory.
    held: u128,
    budget: Budget,
}

/// Bytes that a column takes besides its name: the places of three copies of the name, its place in
/// the lookups of repeated names, its words and its cell of the current row.
const OF_COLUMN: u128 = 320;

/// Copies of the names of columns that are in memory at a time.
const COPIES: u128 = 4;

/// Refuses columns that take more than is left of a budget, or than there is memory for.
pub(crate) fn check_width(count: usize, name_bytes: usize, left: u64, budget: Budget) -> Parsed<()> {
    let needed = OF_COLUMN * count as u128 + COPIES * name_bytes as u128;
    let is_there = || {
        let mut probe: Vec<u8> = Vec::new();
        usize::try_from(needed).is_ok_and(|needed| probe.try_reserve_exact(needed).is_ok())
    };
    if needed > u128::from(left) {
        let problem = TableProblem::ManyColumns { count, needed, budget };
        return Err(Fault::at(Place::Header, problem).with_hint(Hint::Budget));
    }
    if !is_there() {
        // More budget would not help.
        return Err(Fault::at(Place::Header, TableProblem::NoMemory { count, needed }));
    }
    Ok(())
}

/// What is kept of columns that belong to no unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    /// The weights of the rows.
    Weights,
    /// Their text as well.
    Texts,
    /// The text of every column; none holds cells.
    AllTexts,
}

impl Collector {
    /// Prepares for a file with these columns.
    pub(crate) fn new(names: Vec<String>, options: &TableOptions, keep: Keep) -> Parsed<Self> {
        encoding::check(&options.encodings, &names, options)?;
        let known: HashSet<&String> = names.iter().collect();
        for wanted in options.weights.iter().chain(&options.drop) {
            if !known.contains(wanted) {
                let problem =
                    TableProblem::UnknownColumn(Quoted::from(&wanted[..]), Near::to(wanted, &names));
                return Err(Fault::at(Place::Header, problem));
            }
        }
        if let Some(both) = options.weights.as_ref().filter(|name| options.drop.contains(name)) {
            let place = Place::Column(Quoted::from(&both[..]));
            return Err(Fault::at(place, TableProblem::DroppedWeights).with_hint(Hint::DropOrWeights));
        }
        let dropped: HashSet<&String> = options.drop.iter().collect();
        let mut kept = Vec::new();
        let mut uses = Vec::with_capacity(names.len());
        for name in &names {
            let is_weights = options.weights.as_ref() == Some(name) && keep != Keep::AllTexts;
            uses.push(if is_weights {
                Use::Weights
            } else if dropped.contains(name) || keep == Keep::AllTexts {
                Use::Dropped
            } else {
                kept.push(name.clone());
                Use::Cells(kept.len() - 1)
            });
        }
        if kept.is_empty() && keep != Keep::AllTexts {
            return Err(Fault::at(Place::Header, TableProblem::NoColumns));
        }
        let width = kept.len();
        let of_names: usize = names.iter().map(String::len).sum();
        let held = OF_COLUMN * names.len() as u128 + COPIES * of_names as u128;
        let encodings: Vec<Option<Encoding>> =
            kept.iter().map(|name| options.encoding(name).cloned()).collect();
        let table = Table::new(kept).map_err(|error| Fault::at(Place::Header, error))?;
        Ok(Self {
            table,
            kinds: vec![words::ALL; width],
            cases: vec![Case::Lower; width],
            texts: (keep != Keep::Weights).then(|| vec![Texts::default(); names.len()]),
            encodings,
            row: vec![0; width],
            weight: 1.0,
            held,
            budget: options.budget,
            names,
            uses,
        })
    }

    /// Counts what else is in memory while the table is read.
    pub(crate) fn holding(mut self, bytes: usize) -> Self {
        self.held += bytes as u128;
        self
    }

    /// The number of columns of the file.
    pub(crate) fn width(&self) -> usize {
        self.uses.len()
    }

    /// The use of a column of the file.
    #[inline]
    pub(crate) fn usage(&self, column: usize) -> Use {
        self.uses[column]
    }

    /// The place of a column in messages.
    pub(crate) fn place(&self, column: usize) -> Place {
        Place::Column(Quoted::from(&self.names[column][..]))
    }

    /// Sets a cell of the current row; `false` if it is not a word, or not of the same kind as
    /// those above.
    #[inline]
    #[must_use]
    pub(crate) fn set(&mut self, column: usize, word: Word) -> bool {
        let left = self.kinds[column] & word.kinds;
        if left == 0 {
            return false;
        }
        // Words with letters belong to one kind, so the first of them is seen here.
        if left != self.kinds[column] {
            self.kinds[column] = left;
            self.cases[column] = word.case;
        }
        self.row[column] = word.value;
        true
    }

    /// Whether the cells of a column of the table are encoded.
    #[inline]
    pub(crate) fn is_encoded(&self, to: usize) -> bool {
        self.encodings[to].is_some()
    }

    /// Sets a cell of an encoded column of the table, at its place in the file, from text.
    pub(crate) fn set_encoded(&mut self, column: usize, to: usize, text: &[u8]) -> Parsed<()> {
        if let Some(encoding) = &self.encodings[to] {
            self.row[to] = encoding.cell(text)?;
            self.keep_text(column, text);
        }
        Ok(())
    }

    /// The same from a number.
    fn set_encoded_number(&mut self, column: usize, to: usize, number: f64) -> Parsed<()> {
        if let Some(encoding) = &self.encodings[to] {
            self.row[to] = encoding.number(number)?;
            let text = if number.is_nan() { String::new() } else { number.to_string() };
            self.keep_text(column, text.as_bytes());
        }
        Ok(())
    }

    /// Keeps the text of a cell that belongs to no unit, if it is to be kept.
    pub(crate) fn keep_text(&mut self, column: usize, text: &[u8]) {
        if let Some(texts) = &mut self.texts {
            texts[column].push(text);
            self.held += (text.len() + size_of::<usize>()) as u128;
        }
    }

    /// The kinds of word that a column of the table may still be written in.
    pub(crate) fn kinds(&self, column: usize) -> Kinds {
        self.kinds[column]
    }

    /// Sets the weight of the current row from text.
    pub(crate) fn set_weight_text(&mut self, cell: &[u8]) -> Parsed<()> {
        match str::from_utf8(cell).map(|text| text.trim().parse::<f64>()) {
            Ok(Ok(weight)) if is_weight(weight) => {
                self.weight = weight;
                Ok(())
            }
            _ => Err(TableProblem::Weight(Found::Text(Quoted::new(cell))).into()),
        }
    }

    /// Sets the weight of the current row.
    pub(crate) fn set_weight(&mut self, weight: f64) -> Parsed<()> {
        if !is_weight(weight) {
            return Err(TableProblem::Weight(Found::Number(weight)).into());
        }
        self.weight = weight;
        Ok(())
    }

    /// Sets a cell, or the weight, of the current row from a number.
    pub(crate) fn set_number(&mut self, column: usize, number: f64) -> Parsed<()> {
        let usage = self.usage(column);
        if !matches!(usage, Use::Cells(_)) {
            self.keep_text(column, number.to_string().as_bytes());
        }
        match usage {
            Use::Cells(to) if self.is_encoded(to) => self.set_encoded_number(column, to, number),
            Use::Cells(to) if !self.set(to, Word::of_number(number)) => {
                Err(words::number_problem(number, self.kinds[to]).into())
            }
            Use::Weights => self.set_weight(number),
            Use::Cells(_) | Use::Dropped => Ok(()),
        }
        .map_err(|fault| fault.inside(self.place(column)))
    }

    /// Adds the current row to the table.
    #[inline]
    pub(crate) fn finish_row(&mut self) -> Parsed<()> {
        self.table.push(&self.row, self.weight)?;
        let needed = self.held + self.table.bytes();
        if needed > u128::from(self.budget.0) {
            let problem = TableProblem::TooLarge { needed, budget: self.budget };
            return Err(Fault::from(problem).with_hint(Hint::Budget));
        }
        Ok(())
    }

    /// Returns the table, which must have rows, and what else its file holds.
    pub(crate) fn finish(self) -> Parsed<Sheet> {
        if self.table.row_count() == 0 {
            return Err(TableProblem::NoRows.into());
        }
        let words: Vec<(Kinds, Case)> = self.kinds.into_iter().zip(self.cases).collect();
        let known = Known::of(&words);
        let pair = |(&own, encoding): (&(Kinds, Case), &Option<Encoding>)| {
            encoding.as_ref().map_or_else(|| Pair::of_column(own, &known), Encoding::pair)
        };
        let pairs = words.iter().zip(&self.encodings).map(pair).collect();
        let added = Pair::of_column((words::ALL, Case::Lower), &known);
        let texts = self.texts.unwrap_or_else(|| vec![Texts::default(); self.names.len()]);
        let columns =
            self.names.into_iter().zip(texts).zip(&self.uses).map(|((name, texts), usage)| match usage {
                Use::Cells(column) if self.encodings[*column].is_some() => {
                    Column::Encoded { column: *column, texts }
                }
                Use::Cells(column) => Column::Cells(*column),
                Use::Weights | Use::Dropped => Column::Other { name, texts },
            });
        Ok(Sheet { columns: columns.collect(), table: self.table, pairs, added, is_for_spreadsheets: false })
    }
}

fn is_weight(weight: f64) -> bool {
    weight.is_finite() && weight >= 0.0
}
