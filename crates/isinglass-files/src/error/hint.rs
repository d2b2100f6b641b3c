//! What would help.

use std::fmt;

use isinglass::message::{Message, Setting, Style};

/// One action that may solve a problem; a line of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hint {
    Budget,
    BuildWithParquet,
    DropConstant,
    DropOrWeights,
    FloatColumns,
    HeaderIsRow,
    Labels,
    MissingRow,
    OtherPicture(image::ImageFormat),
    OtherProgram,
    EdgeHeader,
    Rename,
    RowNames,
    Savez,
    Separator(char),
    TextArray,
    Truncated,
    Utf8,
    Wait,
    WriteJson,
    WriteJsonOrNpz,
    WriteText,
}

impl Message for Hint {
    fn render(&self, out: &mut dyn fmt::Write, style: Style) -> fmt::Result {
        out.write_str("\nhint: ")?;
        let text = match self {
            Self::BuildWithParquet => {
                "build the program with the feature parquet (cargo build --features parquet), or write the \
                 table as .csv"
            }
            Self::Budget => {
                let budget = Setting("budget").text(style);
                return write!(out, "give more {budget} if the file is meant to be so large");
            }
            Self::DropConstant => {
                let drop = Setting("drop").text(style);
                return write!(out, "leave the column out with {drop}");
            }
            Self::DropOrWeights => {
                let [drop, weights] = ["drop", "weights"].map(|name| Setting(name).text(style));
                return write!(out, "name the column in {drop} or in {weights}, not in both");
            }
            Self::FloatColumns => {
                "the table was probably written with float columns: write them as integers, 1, 0 or -1"
            }
            Self::HeaderIsRow => {
                "the first line of a table names its columns; here it looks like a row of cells"
            }
            Self::Labels => "take a column whose text names the group of each row, such as arm or sex",
            Self::MissingRow => "write a row of missing cells as NA",
            Self::OtherPicture(format) => {
                return write!(out, "by its first bytes it is another kind of picture, {format:?}");
            }
            Self::OtherProgram => "resume with the version of the program that wrote it",
            Self::EdgeHeader => {
                "a list of edges has no header except from,to,weight; begin any other with # to keep it"
            }
            Self::Rename => "give the unit another name, or write the machine as .json",
            Self::RowNames => {
                "row names have no header: leave them out with write.csv(..., row.names = FALSE) in R \
                 or to_csv(..., index=False) in pandas"
            }
            Self::Savez => "write it with np.savez, and check that it is not truncated",
            Self::Separator(separator) => {
                return write!(
                    out,
                    "cells seem to be separated by {separator:?}: a .csv file uses commas, a .tsv file tabs"
                );
            }
            Self::TextArray => "write text with np.array(names, dtype=str)",
            Self::Truncated => "the file may be truncated",
            Self::Utf8 => "save the table as UTF-8",
            Self::Wait => "wait until it has ended, or name another file",
            Self::WriteJson => "write the machine as .json",
            Self::WriteJsonOrNpz => "write the machine as .json or .npz",
            Self::WriteText => "write a .csv or .tsv file",
        };
        out.write_str(text)
    }
}
