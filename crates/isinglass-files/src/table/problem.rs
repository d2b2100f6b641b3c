//! What can be wrong with a table.

use isinglass::Budget;

use super::words::{Kinds, MISSING_WORDS, list};
use crate::error::{Near, Quoted};

/// What can be wrong with a table that is read or written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TableProblem {
    // The file.
    #[error("is empty, expected a header that names the units")]
    Empty,
    #[error("has a header but no rows, expected at least one row")]
    NoRows,
    #[error("found an array of shape {0:?}, expected two dimensions: rows and columns")]
    NotMatrix(Vec<usize>),
    #[error("found an array of text, expected numbers or truth values")]
    TextMatrix,
    #[error("found {rows} rows and {columns} columns, expected at least one of each")]
    EmptyMatrix { rows: usize, columns: usize },

    #[error("the table takes {}, and the budget is {budget}", Budget::bytes(*.needed))]
    TooLarge { needed: u128, budget: Budget },
    #[error("a line has more than {}, and the budget is {budget}", Budget::bytes(*.read as u128))]
    LongLine { read: usize, budget: Budget },
    #[error("there is no memory for more than {} of a line", Budget::bytes(*.read as u128))]
    LineWithoutMemory { read: usize },

    // Columns.
    #[error("{count} columns take {}, and the budget is {budget}", Budget::bytes(*.needed))]
    ManyColumns { count: usize, needed: u128, budget: Budget },
    #[error("{count} columns take {}, and there is no memory for them", Budget::bytes(*.needed))]
    NoMemory { count: usize, needed: u128 },
    #[error("there is no column {0}{1}")]
    UnknownColumn(Quoted, Near),
    #[error("is to be dropped and to hold the weights, expected one of the two")]
    DroppedWeights,
    #[error(
        "is to hold the labels of groups, and to be dropped or to hold the weights; expected one of these"
    )]
    DroppedLabels,
    #[error("holds {}, expected from 2 to {most}", if *.found == 1 { "1 label".to_owned() } else { format!("{found} different labels") })]
    Labels { found: usize, most: usize },
    #[error("no column is left, expected at least one that names a unit")]
    NoColumns,
    #[error("has no name, expected the name of a unit")]
    NoName,
    #[error("found {0}, expected text in UTF-8")]
    NotUtf8(Quoted),
    #[error("{name} is also the name of column {first}")]
    RepeatedName { name: Quoted, first: usize },

    // Lines of text.
    #[error("is blank, and rows follow it; expected the next row")]
    Blank,
    #[error("found {found} cell{}, expected {expected} as in the header", if *.found == 1 { "" } else { "s" })]
    Width { found: usize, expected: usize },
    #[error("a quotation mark opens here and is never closed")]
    OpenQuote,
    #[error("found {0}, expected quotation marks only around a whole cell")]
    InnerQuote(Quoted),
    #[error("found {0} after a closing quotation mark, expected the next cell")]
    AfterQuote(Quoted),

    // Cells.
    #[error("found {found}, but the rows above hold {}: one column uses one kind of word", list(*.above))]
    MixedWords { found: Quoted, above: Kinds },
    #[error(
        "found {found}, expected {}{}, or {MISSING_WORDS}",
        list(*.above),
        if *.above == super::words::ALL { "" } else { " as in the rows above" }
    )]
    UnknownWord { found: Quoted, above: Kinds },
    #[error("found {found}, but the rows above hold {}: a column holds 1 and -1, or 0 and 1", list(*.above))]
    MixedNumbers { found: f64, above: Kinds },
    #[error("found {0}, expected 1 and -1, or 0 and 1, or NaN for a missing cell")]
    UnknownNumber(f64),
    #[error("found {0}, expected a number, which is +1 above {1}, or {MISSING_WORDS}")]
    NoNumber(Quoted, f64),
    #[error("found {found}, expected '{}' for -1, '{}' for +1, or {MISSING_WORDS}", .words[0], .words[1])]
    OtherWord { found: Quoted, words: [String; 2] },
    #[error(
        "has a threshold or words of its own, and is to be dropped or to hold the weights; expected one of these"
    )]
    EncodedOther,
    #[error("holds one number only, so that no threshold divides it")]
    OneNumber,
    #[error("found {0}, expected a line such as age,40 below the header column,threshold")]
    ThresholdLine(Quoted),
    #[error("found {0}, expected a weight: a finite number of at least 0")]
    Weight(Found),
    #[error("found {0}, and an .npy file holds numbers")]
    TextForMatrix(Quoted),

    // Parquet.
    #[cfg(feature = "parquet")]
    #[error("is not a readable Parquet file: its structure is broken")]
    BrokenParquet,
    #[cfg(feature = "parquet")]
    #[error("is not a readable Parquet file: {0}")]
    UnreadableParquet(::parquet::errors::ParquetError),
    #[cfg(feature = "parquet")]
    #[error("lies outside the file")]
    OutsideFile,
    #[cfg(feature = "parquet")]
    #[error("found {0}, expected a truth value, a number or text")]
    UnknownType(::parquet::record::Field),
}

/// What was found in place of a weight.
#[derive(Debug)]
pub(crate) enum Found {
    Text(Quoted),
    Number(f64),
    #[cfg(feature = "parquet")]
    NoNumber,
}

impl std::fmt::Display for Found {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Text(text) => write!(f, "{text}"),
            Self::Number(number) => write!(f, "{number}"),
            #[cfg(feature = "parquet")]
            Self::NoNumber => f.write_str("no number"),
        }
    }
}
