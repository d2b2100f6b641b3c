//! Tables as NumPy matrices, with columns named `x0`, `x1`, ….

use super::columns::{Collector, Keep, TableOptions, check_width};
use super::problem::TableProblem;
use super::sheet::Sheet;
use crate::error::{Parsed, Place};
use crate::npy::Array;

/// Reads a table from the bytes of an NPY file.
pub(crate) fn read(bytes: &[u8], options: &TableOptions, keep: Keep) -> Parsed<Sheet> {
    let array = Array::parse(bytes)?;
    let &[rows, columns] = array.shape() else {
        return Err(TableProblem::NotMatrix(array.shape().to_vec()).into());
    };
    if array.is_text() {
        return Err(TableProblem::TextMatrix.into());
    }
    if rows == 0 || columns == 0 {
        return Err(TableProblem::EmptyMatrix { rows, columns }.into());
    }
    check_width(columns, 0, options.budget.0.saturating_sub(bytes.len() as u64), options.budget)?;
    let names = (0..columns).map(|k| format!("x{k}")).collect();
    let mut collector = Collector::new(names, options, keep)?.holding(bytes.len());
    for row in 0..rows {
        for column in 0..columns {
            collector
                .set_number(column, array.number(array.at(row, column)))
                .map_err(|fault| fault.inside(Place::Row(row + 1)))?;
        }
        collector.finish_row()?;
    }
    collector.finish()
}
