//! Centralities and predictability of units, and the stability of their order.

use std::sync::Arc;

use isinglass::network::{Kept, Stability, UnitMeasure};
use isinglass_plan::Result;
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::of_asking;
use crate::machine::Machine;
use crate::settings::Asked;
use crate::table::Table;
use crate::worker;

/// The measures of the units by name, an array each; predictability with a table alone.
#[pyfunction]
pub(crate) fn centrality<'py>(
    py: Python<'py>,
    machine: &Machine,
    table: Option<&Table>,
    options: Asked,
) -> PyResult<Bound<'py, PyDict>> {
    let settings = options.0;
    let table = table.map(|table| Arc::clone(&table.table));
    let machine = Arc::clone(&machine.machine);
    let work = move || -> Result<_> { Ok(settings.study(&machine, table.as_deref())?) };
    let study = worker::run(py, false, work)?.map_err(of_asking)?;
    let out = PyDict::new(py);
    for measure in UnitMeasure::ALL.into_iter().filter(|&measure| study.has(measure)) {
        out.set_item(measure.word(), PyArray1::from_slice(py, study.values(measure)))?;
    }
    Ok(out)
}

/// CS coefficients, and the correlations behind them, by measure.
pub(crate) fn stability<'py>(py: Python<'py>, found: &Stability) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    out.set_item("subsets", found.subsets)?;
    let dropped: Vec<f64> = found.levels.iter().map(|level| level.dropped).collect();
    out.set_item("dropped", dropped.into_pyarray(py))?;
    let (coefficients, correlations) = (PyDict::new(py), PyDict::new(py));
    for (k, kept) in Kept::ALL.iter().enumerate() {
        coefficients.set_item(kept.word(), found.coefficients[k])?;
        let of = PyDict::new(py);
        for (name, pick) in [("mean", 0), ("lower", 1), ("upper", 2), ("share", 3)] {
            let value = |level: &isinglass::network::DropLevel| {
                [level.mean[k], level.low[k], level.high[k], level.share[k]][pick]
            };
            of.set_item(name, PyArray1::from_iter(py, found.levels.iter().map(value)))?;
        }
        correlations.set_item(kept.word(), of)?;
    }
    out.set_item("coefficients", coefficients)?;
    out.set_item("correlations", correlations)?;
    Ok(out)
}
