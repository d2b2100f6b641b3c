//! Arrays as tables: −1 and +1, 0 and 1, or truth values; NaN is missing.

use std::sync::Arc;

use numpy::ndarray::ArrayView2;
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::errors::{bad, of_core};
use crate::settings::shown;

/// How the cells of a column are written, as far as it is known.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Unknown,
    PlusMinus,
    ZeroOne,
}

/// Rows of −1, +1 and missing cells, equal rows kept once.
#[pyclass(frozen, module = "isinglass._native")]
pub(crate) struct Table {
    pub(crate) table: Arc<isinglass::Table>,
    kinds: Vec<Kind>,
}

#[pymethods]
impl Table {
    /// From an array of int8, int64, float64 or truth values, names of its columns, and weights of its rows.
    #[new]
    #[pyo3(signature = (cells, names, weights = None))]
    fn new(
        py: Python<'_>,
        cells: &Bound<'_, PyAny>,
        names: Vec<String>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<Self> {
        let weights = weights.as_ref().map(|weights| weights.as_array().to_vec());
        if let Ok(array) = cells.extract::<PyReadonlyArray2<'_, i8>>() {
            read(py, array.as_array(), names, weights, |cell| number(f64::from(cell)))
        } else if let Ok(array) = cells.extract::<PyReadonlyArray2<'_, f64>>() {
            read(py, array.as_array(), names, weights, number)
        } else if let Ok(array) = cells.extract::<PyReadonlyArray2<'_, bool>>() {
            read(py, array.as_array(), names, weights, |cell| number(f64::from(u8::from(cell))))
        } else if let Ok(array) = cells.extract::<PyReadonlyArray2<'_, i64>>() {
            read(py, array.as_array(), names, weights, |cell| number(cell as f64))
        } else {
            let problem = format!("found {}, expected a matrix of numbers or truth values", shown(cells));
            Err(bad("table", &problem))
        }
    }

    #[getter]
    fn columns(&self) -> Vec<&str> {
        self.table.columns().iter().map(String::as_str).collect()
    }

    #[getter]
    fn rows(&self) -> usize {
        self.table.rows()
    }

    #[getter]
    fn distinct_rows(&self) -> usize {
        self.table.distinct_rows()
    }

    #[getter]
    fn missing_cells(&self) -> usize {
        self.table.missing_cells()
    }

    /// For each column, whether it is written in 0 and 1; `None` where its cells do not tell.
    #[getter]
    fn zero_one(&self) -> Vec<Option<bool>> {
        let told = |kind: &Kind| (*kind != Kind::Unknown).then_some(*kind == Kind::ZeroOne);
        self.kinds.iter().map(told).collect()
    }
}

/// A cell, and how it is written; `None` if it is no cell.
fn number(cell: f64) -> Option<(i8, Kind)> {
    match cell {
        1.0 => Some((1, Kind::Unknown)),
        -1.0 => Some((-1, Kind::PlusMinus)),
        0.0 => Some((-1, Kind::ZeroOne)),
        missing if missing.is_nan() => Some((0, Kind::Unknown)),
        _ => None,
    }
}

/// The table of an array's rows.
fn read<C: Copy + std::fmt::Display + Send + Sync>(
    py: Python<'_>,
    cells: ArrayView2<'_, C>,
    names: Vec<String>,
    weights: Option<Vec<f64>>,
    cell: impl Fn(C) -> Option<(i8, Kind)> + Send + Sync,
) -> PyResult<Table> {
    let same = |what: &str, found: usize, expected: usize| {
        if found == expected {
            Ok(())
        } else {
            Err(bad(what, &format!("found {found}, expected {expected}")))
        }
    };
    let (rows, columns) = cells.dim();
    same("names of columns", names.len(), columns)?;
    if let Some(weights) = &weights {
        same("weights of rows", weights.len(), rows)?;
    }
    if rows == 0 || columns == 0 {
        let problem = format!("found {rows} rows and {columns} columns, expected at least one of each");
        return Err(bad("table", &problem));
    }
    let mut kinds = vec![Kind::Unknown; columns];
    let fill = || {
        let mut table = isinglass::Table::new(names)?;
        let mut row = vec![0; columns];
        for (number, line) in cells.rows().into_iter().enumerate() {
            for (column, &found) in line.iter().enumerate() {
                let known = kinds[column];
                let expected = match (cell(found), known) {
                    (Some((value, kind)), _) if kind == Kind::Unknown || kind == known => {
                        row[column] = value;
                        continue;
                    }
                    (Some((value, kind)), Kind::Unknown) => {
                        row[column] = value;
                        kinds[column] = kind;
                        continue;
                    }
                    (_, Kind::PlusMinus) => "-1 or +1 as in the rows above",
                    (_, Kind::ZeroOne) => "0 or 1 as in the rows above",
                    (_, Kind::Unknown) => "-1 or +1, or 0 or 1; NaN is missing",
                };
                let place = format!("row {}, column '{}'", number + 1, table.columns()[column]);
                return Err(isinglass::Error::invalid(place, format!("found {found}, expected {expected}")));
            }
            table.push(&row, weights.as_ref().map_or(1.0, |weights| weights[number]))?;
        }
        Ok(table)
    };
    let table = py.detach(fill).map_err(of_core)?;
    Ok(Table { table: Arc::new(table), kinds })
}
