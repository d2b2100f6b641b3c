//! Where something is wrong.

use std::fmt;

use super::Quoted;

/// A place in a file, a machine or a table. Numbers are those that users see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// A line of text.
    Line(u64),
    /// A character of a line.
    Character { line: usize, column: usize },
    /// The header of a table.
    Header,
    /// A column of the header.
    HeaderColumn(usize),
    /// A row of a table.
    Row(usize),
    /// A row of a table, and the line where it begins.
    RowOnLine { row: usize, line: usize },
    /// A column of a table.
    Column(Quoted),
    /// A row group of a Parquet file.
    #[cfg(feature = "parquet")]
    RowGroup(usize),
    /// An array of an NPZ archive.
    Array(Quoted),
    /// The header of an NPY array.
    NpyHeader,
    /// An element of an array.
    Element(usize),
    /// An entry of a list with a name.
    Entry(&'static str, usize),
    /// A cell of a matrix with a name.
    Cell(&'static str, usize, usize),
    /// A unit of a machine.
    Unit(usize),
    /// The bias of a unit, together with the part of the offset that is written with it.
    Bias(Quoted),
    /// The weight between two units.
    Weight(Quoted, Quoted),
    /// The weights of a machine.
    Weights,
    /// The offset of a machine.
    Offset,
    /// What is to be written.
    Checkpoint,
    /// What is to be written.
    Picture,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::Character { line, column } => write!(f, "line {line}, column {column}"),
            Self::Header => f.write_str("header"),
            Self::HeaderColumn(column) => write!(f, "header, column {column}"),
            Self::Row(row) => write!(f, "row {row}"),
            Self::RowOnLine { row, line } => write!(f, "row {row} (line {line})"),
            Self::Column(name) => write!(f, "column {name}"),
            #[cfg(feature = "parquet")]
            Self::RowGroup(group) => write!(f, "row group {group}"),
            Self::Array(name) => write!(f, "array {name}"),
            Self::NpyHeader => f.write_str("NPY header"),
            Self::Element(element) => write!(f, "element {element}"),
            Self::Entry(list, entry) => write!(f, "{list}[{entry}]"),
            Self::Cell(matrix, row, column) => write!(f, "{matrix}[{row}, {column}]"),
            Self::Unit(unit) => write!(f, "unit {unit}"),
            Self::Bias(name) => write!(f, "bias of unit {name} and its share of the offset"),
            Self::Weight(a, b) => write!(f, "weight of the edge between {a} and {b}"),
            Self::Weights => f.write_str("weights"),
            Self::Offset => f.write_str("offset"),
            Self::Checkpoint => f.write_str("checkpoint"),
            Self::Picture => f.write_str("picture"),
        }
    }
}
