//! Arrays as tables: −1 and +1, 0 and 1, or truth values; NaN is missing.

use std::ops::Range;
use std::sync::Arc;

use numpy::ndarray::{ArrayView1, ArrayView2};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::errors::{bad, of_core};
use crate::settings::shown;

/// The ways in which a cell may be written, as bits; those of a column are what its cells have in
/// common.
type Kinds = u8;
const PLUS_MINUS: Kinds = 1;
const ZERO_ONE: Kinds = 2;
const ANY: Kinds = PLUS_MINUS | ZERO_ONE;

/// Cells that are read from one look for signals to the next: less than a tenth of a second.
const CELLS_AT_ONCE: usize = 1 << 23;

/// Digits of a wrong cell that are printed; a number may have hundreds.
const MOST_DIGITS: usize = 24;

/// What a table is kept as.
type Checkpoint<'py> =
    (Vec<String>, Bound<'py, PyArray2<i8>>, Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<f64>>, Vec<u32>);

/// Rows of −1, +1 and missing cells, equal rows kept once.
#[pyclass(frozen, module = "isinglass._native")]
pub(crate) struct Table {
    pub(crate) table: Arc<isinglass::Table>,
    kinds: Vec<Kinds>,
}

#[pymethods]
impl Table {
    /// From an array of int8, int64, float64 or truth values, names of its columns, and weights of
    /// its rows.
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
            read(py, array.as_array(), names, weights, |cell| whole(i64::from(cell)))
        } else if let Ok(array) = cells.extract::<PyReadonlyArray2<'_, f64>>() {
            read(py, array.as_array(), names, weights, number)
        } else if let Ok(array) = cells.extract::<PyReadonlyArray2<'_, bool>>() {
            read(py, array.as_array(), names, weights, |cell| whole(i64::from(cell)))
        } else if let Ok(array) = cells.extract::<PyReadonlyArray2<'_, i64>>() {
            read(py, array.as_array(), names, weights, whole)
        } else {
            let problem = format!("found {}, expected a matrix of numbers or truth values", shown(cells));
            Err(bad("table", &problem))
        }
    }

    /// All there is to know: names of columns, distinct rows, the distinct row that each row is,
    /// weights of distinct rows, and how columns are written.
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Checkpoint<'py>> {
        let table = &self.table;
        let (distinct, columns) = (table.distinct_count(), table.columns().len());
        let cells: Vec<i8> = (0..distinct).flat_map(|row| table.row(row).iter().copied()).collect();
        Ok((
            table.columns().to_vec(),
            cells.into_pyarray(py).reshape([distinct, columns])?,
            table.distinct_of().to_vec().into_pyarray(py),
            (0..distinct).map(|row| table.weight(row)).collect::<Vec<_>>().into_pyarray(py),
            self.kinds.iter().map(|&kinds| u32::from(kinds)).collect(),
        ))
    }

    /// A table from its [`Table::state`].
    #[staticmethod]
    fn restore(
        names: Vec<String>,
        cells: PyReadonlyArray2<'_, i8>,
        distinct_of: PyReadonlyArray1<'_, u32>,
        weights: PyReadonlyArray1<'_, f64>,
        kinds: Vec<u32>,
    ) -> PyResult<Self> {
        let wrong = || bad("table", "found a state that is none of a table");
        let (cells, mut weights) = (cells.as_array(), weights.as_array().to_vec());
        let kinds: Vec<Kinds> = kinds
            .into_iter()
            .map(|kinds| Kinds::try_from(kinds).map_err(|_| wrong()))
            .collect::<PyResult<_>>()?;
        if cells.nrows() != weights.len() || cells.ncols() != names.len() || kinds.len() != names.len() {
            return Err(wrong());
        }
        let mut table = isinglass::Table::new(names).map_err(of_core)?;
        let mut row = Vec::new();
        for &distinct in distinct_of.as_array() {
            let distinct = distinct as usize;
            let weight = weights.get_mut(distinct).ok_or_else(wrong)?;
            row.clear();
            row.extend(cells.row(distinct));
            // All weight of equal rows goes to the first of them: sums of parts might round otherwise.
            table.push(&row, std::mem::take(weight)).map_err(of_core)?;
        }
        Ok(Self { table: Arc::new(table), kinds })
    }

    #[getter]
    fn columns(&self) -> Vec<&str> {
        self.table.columns().iter().map(String::as_str).collect()
    }

    #[getter]
    fn rows(&self) -> usize {
        self.table.row_count()
    }

    #[getter]
    fn distinct_rows(&self) -> usize {
        self.table.distinct_count()
    }

    #[getter]
    fn missing_cells(&self) -> usize {
        self.table.missing_count()
    }

    /// For each column, whether it is written in 0 and 1; `None` where its cells fit both.
    #[getter]
    fn zero_one(&self) -> Vec<Option<bool>> {
        let known = |&kinds: &Kinds| (kinds != ANY).then_some(kinds == ZERO_ONE);
        self.kinds.iter().map(known).collect()
    }
}

/// A cell from a number, and the ways in which it is written so; none if it is no cell.
#[inline]
fn number(cell: f64) -> (i8, Kinds) {
    match cell {
        1.0 => (1, ANY),
        -1.0 => (-1, PLUS_MINUS),
        0.0 => (-1, ZERO_ONE),
        missing if missing.is_nan() => (0, ANY),
        _ => (0, 0),
    }
}

/// The same from a whole number, of which none is missing.
#[inline]
fn whole(cell: i64) -> (i8, Kinds) {
    match cell {
        1 => (1, ANY),
        -1 => (-1, PLUS_MINUS),
        0 => (-1, ZERO_ONE),
        _ => (0, 0),
    }
}

/// The table of an array's rows.
fn read<C: Copy + std::fmt::Display + Send + Sync>(
    py: Python<'_>,
    cells: ArrayView2<'_, C>,
    names: Vec<String>,
    weights: Option<Vec<f64>>,
    cell: impl Fn(C) -> (i8, Kinds) + Send + Sync,
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
    let mut kinds = vec![ANY; columns];
    let mut table = isinglass::Table::new(names).map_err(of_core)?;
    let mut row = vec![0; columns];
    let mut fill = |numbers: Range<usize>| {
        for number in numbers {
            let line = cells.row(number);
            let mut is_good = true;
            for ((&found, kinds), to) in line.iter().zip(&mut kinds).zip(&mut row) {
                let (value, ways) = cell(found);
                is_good &= *kinds & ways != 0;
                // What a bad cell takes away is reported below, before anything is made of it.
                *kinds &= ways | if is_good { 0 } else { *kinds };
                *to = value;
            }
            if !is_good {
                return Err(fault(&line, &kinds, number, table.columns(), &cell));
            }
            table.push(&row, weights.as_ref().map_or(1.0, |weights| weights[number]))?;
        }
        Ok(())
    };
    let at_once = (CELLS_AT_ONCE / columns).max(1);
    for first in (0..rows).step_by(at_once) {
        py.detach(|| fill(first..rows.min(first + at_once))).map_err(of_core)?;
        py.check_signals()?;
    }
    Ok(Table { table: Arc::new(table), kinds })
}

/// What is wrong with a row.
fn fault<C: Copy + std::fmt::Display>(
    line: &ArrayView1<'_, C>,
    kinds: &[Kinds],
    number: usize,
    columns: &[String],
    cell: impl Fn(C) -> (i8, Kinds),
) -> isinglass::Error {
    let bad = line.iter().zip(kinds).position(|(&found, kinds)| kinds & cell(found).1 == 0);
    // The row was found to have one.
    let column = bad.unwrap_or(0);
    let expected = match kinds[column] {
        PLUS_MINUS => "-1 or +1 as in the rows above",
        ZERO_ONE => "0 or 1 as in the rows above",
        _ => "-1 or +1, or 0 or 1; NaN is missing",
    };
    let place = format!("row {}, column '{}'", number + 1, columns[column]);
    let mut found = line[column].to_string();
    if found.len() > MOST_DIGITS {
        found.truncate(MOST_DIGITS);
        found.push('…');
    }
    isinglass::Error::invalid(place, format!("found {found}, expected {expected}"))
}
