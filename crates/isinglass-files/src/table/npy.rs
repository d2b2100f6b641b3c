//! Tables as NumPy matrices: one row a row, columns named `x0`, `x1`, ….

use super::columns::{Collector, Keep, TableOptions};
use super::sheet::Sheet;
use crate::error::{Fault, Parsed};
use crate::npy::Array;

/// Read a table from the bytes of an NPY file.
pub(crate) fn read(bytes: &[u8], options: &TableOptions, keep: Keep) -> Parsed<Sheet> {
    let array = Array::parse(bytes)?;
    let &[rows, columns] = array.shape() else {
        let problem =
            format!("found an array of shape {:?}, expected two dimensions: rows and columns", array.shape());
        return Err(Fault::whole(problem));
    };
    if array.is_text() {
        return Err(Fault::whole("found an array of text, expected numbers or truth values"));
    }
    if rows == 0 || columns == 0 {
        let problem = format!("found {rows} rows and {columns} columns, expected at least one of each");
        return Err(Fault::whole(problem));
    }
    let names = (0..columns).map(|k| format!("x{k}")).collect();
    let mut collector = Collector::new(names, options, keep)?;
    for row in 0..rows {
        for column in 0..columns {
            collector
                .set_number(column, array.number(array.at(row, column)))
                .map_err(|fault| fault.inside(&format!("row {}", row + 1)))?;
        }
        collector.finish_row()?;
    }
    collector.finish()
}
