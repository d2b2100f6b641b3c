//! What is to be done with each column of a file, and the rows collected so far.

use isinglass::Table;
use isinglass::machine::nearest;

use super::sheet::{Column, Sheet, Texts};
use super::words::{self, Case, Kinds, Pair, Word};
use crate::error::{Fault, Parsed, quoted};

/// Which columns of a table file are not cells of units.
///
/// # Example
/// ```
/// use isinglass_files::{TableOptions, parse_csv};
/// let options = TableOptions { weights: Some("count".into()), drop: vec!["id".into()] };
/// let table = parse_csv(b"id,a,count\nk1,1,2.5\nk2,0,1\n", "t.csv", b',', &options)?;
/// assert_eq!(table.columns(), ["a"]);
/// assert_eq!((table.weight(0), table.weight(1)), (2.5, 1.0));
/// # Ok::<(), isinglass_files::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TableOptions {
    /// The column that holds the weights of the rows; without it, every row has weight 1.
    pub weights: Option<String>,
    /// Columns that are left out, whatever they hold.
    pub drop: Vec<String>,
}

/// What becomes of the cells of one column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    /// They are the cells of this column of the table.
    Cells(usize),
    /// They are the weights of the rows.
    Weights,
    /// Nothing.
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
    /// And how its letters are written.
    cases: Vec<Case>,
    /// For each column of the file, its text if it is not one of cells and is to be kept.
    texts: Option<Vec<Texts>>,
    row: Vec<i8>,
    weight: f64,
}

/// What is kept of columns that are not cells of units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    /// The weights of the rows.
    Weights,
    /// Their text as well.
    Texts,
}

impl Collector {
    /// Prepare for a file with these columns.
    pub(crate) fn new(names: Vec<String>, options: &TableOptions, keep: Keep) -> Parsed<Self> {
        for wanted in options.weights.iter().chain(&options.drop) {
            if !names.contains(wanted) {
                let near = nearest(wanted, &names)
                    .map_or_else(String::new, |near| format!(" (did you mean {}?)", quoted(near.as_bytes())));
                let wanted = quoted(wanted.as_bytes());
                return Err(Fault::new("header", format!("there is no column {wanted}{near}")));
            }
        }
        if let Some(both) = options.weights.as_ref().filter(|name| options.drop.contains(name)) {
            let problem = "is to be dropped and to hold the weights, expected one of the two";
            return Err(Fault::new(format!("column {}", quoted(both.as_bytes())), problem));
        }
        let mut kept = Vec::new();
        let mut uses = Vec::with_capacity(names.len());
        for name in &names {
            uses.push(if options.weights.as_ref() == Some(name) {
                Use::Weights
            } else if options.drop.contains(name) {
                Use::Dropped
            } else {
                kept.push(name.clone());
                Use::Cells(kept.len() - 1)
            });
        }
        if kept.is_empty() {
            return Err(Fault::new("header", "no column is left, expected at least one that names a unit"));
        }
        let width = kept.len();
        let table = Table::new(kept).map_err(|error| Fault::from(error).inside("header"))?;
        Ok(Self {
            table,
            kinds: vec![words::ALL; width],
            cases: vec![Case::Lower; width],
            texts: (keep == Keep::Texts).then(|| vec![Texts::default(); names.len()]),
            row: vec![0; width],
            weight: 1.0,
            names,
            uses,
        })
    }

    /// The number of columns of the file.
    pub(crate) fn width(&self) -> usize {
        self.uses.len()
    }

    /// What becomes of a column of the file.
    #[inline]
    pub(crate) fn usage(&self, column: usize) -> Use {
        self.uses[column]
    }

    /// The place of a column in messages.
    pub(crate) fn place(&self, column: usize) -> String {
        format!("column {}", quoted(self.names[column].as_bytes()))
    }

    /// Set a cell of the current row; `false` if it is no word, or none of a kind with those above.
    #[inline]
    #[must_use]
    pub(crate) fn set(&mut self, column: usize, word: Word) -> bool {
        let left = self.kinds[column] & word.kinds;
        if left == 0 {
            return false;
        }
        // Words with letters belong to one kind, so the first of them comes by here.
        if left != self.kinds[column] {
            self.kinds[column] = left;
            self.cases[column] = word.case;
        }
        self.row[column] = word.value;
        true
    }

    /// Keep the text of a cell that is not one of units, if it is to be kept.
    pub(crate) fn keep_text(&mut self, column: usize, text: &[u8]) {
        if let Some(texts) = &mut self.texts {
            texts[column].push(text);
        }
    }

    /// The kinds of word that a column of the table may still be written in.
    pub(crate) fn kinds(&self, column: usize) -> Kinds {
        self.kinds[column]
    }

    /// Set the weight of the current row from text.
    pub(crate) fn set_weight_text(&mut self, cell: &[u8]) -> Parsed<()> {
        match str::from_utf8(cell).map(|text| text.trim().parse::<f64>()) {
            Ok(Ok(weight)) if is_weight(weight) => {
                self.weight = weight;
                Ok(())
            }
            _ => Err(weight_fault(&quoted(cell))),
        }
    }

    /// Set the weight of the current row.
    pub(crate) fn set_weight(&mut self, weight: f64) -> Parsed<()> {
        if !is_weight(weight) {
            return Err(weight_fault(&weight.to_string()));
        }
        self.weight = weight;
        Ok(())
    }

    /// Set a cell, or the weight, of the current row from a number.
    pub(crate) fn set_number(&mut self, column: usize, number: f64) -> Parsed<()> {
        let usage = self.usage(column);
        if !matches!(usage, Use::Cells(_)) {
            self.keep_text(column, number.to_string().as_bytes());
        }
        match usage {
            Use::Cells(to) if !self.set(to, Word::of_number(number)) => {
                Err(words::number_fault(number, self.kinds[to]))
            }
            Use::Weights => self.set_weight(number),
            Use::Cells(_) | Use::Dropped => Ok(()),
        }
        .map_err(|fault| fault.inside(&self.place(column)))
    }

    /// Take the current row into the table.
    #[inline]
    pub(crate) fn finish_row(&mut self) -> Parsed<()> {
        Ok(self.table.push(&self.row, self.weight)?)
    }

    /// The table, which must have rows, and what its file held besides.
    pub(crate) fn finish(self) -> Parsed<Sheet> {
        if self.table.row_count() == 0 {
            return Err(Fault::whole("has a header but no rows, expected at least one row"));
        }
        let words: Vec<(Kinds, Case)> = self.kinds.into_iter().zip(self.cases).collect();
        let pairs = words.iter().map(|&own| Pair::of_column(own, &words)).collect();
        let added = Pair::of_column((words::ALL, Case::Lower), &words);
        let texts = self.texts.unwrap_or_else(|| vec![Texts::default(); self.names.len()]);
        let columns =
            self.names.into_iter().zip(texts).zip(&self.uses).map(|((name, texts), usage)| match usage {
                Use::Cells(column) => Column::Cells(*column),
                Use::Weights | Use::Dropped => Column::Other { name, texts },
            });
        Ok(Sheet { columns: columns.collect(), table: self.table, pairs, added })
    }
}

fn is_weight(weight: f64) -> bool {
    weight.is_finite() && weight >= 0.0
}

fn weight_fault(found: &str) -> Fault {
    Fault::whole(format!("found {found}, expected a weight: a finite number of at least 0"))
}
