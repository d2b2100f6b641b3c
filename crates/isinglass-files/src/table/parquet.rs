//! Tables as Parquet: columns of truth values, numbers or text; nulls are missing cells.

use std::fs::File;
use std::panic;

use ::parquet::file::metadata::ParquetMetaData;
use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::record::{Field, Row};

use super::columns::{Collector, Keep, TableOptions, Use};
use super::problem::{Found, TableProblem};
use super::sheet::Sheet;
use super::words::{self, MISSING, Word};
use crate::error::{Fault, Hint, Parsed, Place, Quoted};

/// Reads a table from a file.
///
/// The Parquet reader panics on some broken files where it should return an error. The most common
/// are found before that happens; the others are caught here.
pub(crate) fn read(file: File, options: &TableOptions, keep: Keep) -> Parsed<Sheet> {
    panic::catch_unwind(|| read_trusting(file, options, keep))
        .unwrap_or_else(|_| Err(TableProblem::BrokenParquet.into()))
}

fn read_trusting(file: File, options: &TableOptions, keep: Keep) -> Parsed<Sheet> {
    let length = file.metadata().map_or(u64::MAX, |found| found.len());
    let reader = SerializedFileReader::new(file).map_err(TableProblem::UnreadableParquet)?;
    check_places(reader.metadata(), length)?;
    let schema = reader.metadata().file_metadata().schema();
    let names = schema.get_fields().iter().map(|field| field.name().to_owned());
    let mut collector = Collector::new(names.collect(), options, keep)?;
    let rows = reader.get_row_iter(None).map_err(TableProblem::UnreadableParquet)?;
    for (k, row) in rows.enumerate() {
        let place = || Place::Row(k + 1);
        let row = row.map_err(|error| Fault::at(place(), TableProblem::UnreadableParquet(error)))?;
        read_row(&row, &mut collector).map_err(|fault| fault.inside(place()))?;
        collector.finish_row()?;
    }
    collector.finish()
}

/// Checks that every column lies within the file.
fn check_places(metadata: &ParquetMetaData, length: u64) -> Parsed<()> {
    for (k, group) in metadata.row_groups().iter().enumerate() {
        for column in group.columns() {
            let start = column.dictionary_page_offset().unwrap_or(column.data_page_offset());
            let end = u64::try_from(start)
                .ok()
                .zip(u64::try_from(column.compressed_size()).ok())
                .and_then(|(start, size)| start.checked_add(size));
            if end.is_none_or(|end| end > length) {
                let place = Place::Column(Quoted::from(&column.column_path().string()[..]));
                let fault = Fault::at(place, TableProblem::OutsideFile).inside(Place::RowGroup(k));
                return Err(fault.with_hint(Hint::Truncated));
            }
        }
    }
    Ok(())
}

fn read_row(row: &Row, collector: &mut Collector) -> Parsed<()> {
    for (column, (_, field)) in row.get_column_iter().enumerate() {
        let usage = collector.usage(column);
        if !matches!(usage, Use::Cells(_)) {
            match field {
                Field::Str(text) => collector.keep_text(column, text.as_bytes()),
                Field::Null => collector.keep_text(column, b""),
                other => collector.keep_text(column, other.to_string().as_bytes()),
            }
        }
        if let Use::Cells(to) = usage
            && collector.is_encoded(to)
        {
            let text = match field {
                Field::Str(text) => text.clone(),
                Field::Null => String::new(),
                other => number(other).map_or_else(|| other.to_string(), |number| number.to_string()),
            };
            let done = collector.set_encoded(column, to, text.as_bytes());
            done.map_err(|fault| fault.inside(collector.place(column)))?;
            continue;
        }
        match field {
            _ if usage == Use::Dropped => Ok(()),
            Field::Str(text) if usage == Use::Weights => collector.set_weight_text(text.as_bytes()),
            Field::Str(text) => set(collector, usage, Word::of(text.as_bytes()), |kinds| {
                words::fault(text.trim().as_bytes(), kinds)
            }),
            Field::Bool(truth) => set(collector, usage, Word::of_truth(*truth), |kinds| {
                words::fault(truth.to_string().as_bytes(), kinds)
            }),
            Field::Null => set(collector, usage, MISSING, |kinds| words::fault(b"", kinds)),
            other => match number(other) {
                Some(number) => set_number(collector, usage, number),
                None => Err(TableProblem::UnknownType(other.clone()).into()),
            },
        }
        .map_err(|fault| fault.inside(collector.place(column)))?;
    }
    Ok(())
}

fn set_number(collector: &mut Collector, usage: Use, number: f64) -> Parsed<()> {
    if usage == Use::Weights {
        return collector.set_weight(number);
    }
    set(collector, usage, Word::of_number(number), |kinds| words::number_problem(number, kinds).into())
}

/// Sets a cell; a weight that is not a number is refused.
fn set(
    collector: &mut Collector,
    usage: Use,
    word: Word,
    fault: impl FnOnce(words::Kinds) -> Fault,
) -> Parsed<()> {
    match usage {
        Use::Cells(to) if !collector.set(to, word) => Err(fault(collector.kinds(to))),
        Use::Weights => Err(TableProblem::Weight(Found::NoNumber).into()),
        Use::Cells(_) | Use::Dropped => Ok(()),
    }
}

/// A field as a number, if it is one.
fn number(field: &Field) -> Option<f64> {
    Some(match *field {
        Field::Byte(x) => x.into(),
        Field::Short(x) => x.into(),
        Field::Int(x) => x.into(),
        Field::Long(x) => x as f64,
        Field::UByte(x) => x.into(),
        Field::UShort(x) => x.into(),
        Field::UInt(x) => x.into(),
        Field::ULong(x) => x as f64,
        Field::Float16(x) => x.to_f64(),
        Field::Float(x) => x.into(),
        Field::Double(x) => x,
        _ => return None,
    })
}
