//! Thermodynamics over temperature.

use std::sync::Arc;

use isinglass::engine::{Curves, ScanRequest, Temperatures};
use isinglass_plan::Result;
use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::answers::{Notes, report};
use crate::errors::{bad, of_asking};
use crate::evidence::evidence;
use crate::machine::Machine;
use crate::settings::{Asked, shown, truth};
use crate::worker;

/// Temperatures from numbers, or from text such as `0.5:5:50`.
fn temperatures(value: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    let expected = || {
        let expected = "expected numbers, or a range such as '0.5:5:50'";
        bad("temperatures", &format!("found {}, {expected}", shown(value)))
    };
    if value.is_instance_of::<PyString>() {
        let found: Option<Temperatures> = value.extract::<String>()?.parse().ok();
        return found.and_then(|found| found.values()).ok_or_else(expected);
    }
    value.extract().map_err(|_| expected())
}

/// Energy, heat capacity, magnetisation, susceptibility, entropy and log Z over temperature.
#[pyfunction]
pub(crate) fn scan<'py>(
    py: Python<'py>,
    machine: &Machine,
    at: &Bound<'py, PyAny>,
    given: Option<&Bound<'py, PyAny>>,
    overlap: &Bound<'py, PyAny>,
    options: Asked,
) -> PyResult<Bound<'py, PyDict>> {
    let settings = options.0;
    let evidence = evidence(&machine.machine, given)?;
    let request = ScanRequest::new(&temperatures(at)?).map_err(|error| of_asking(error.into()))?;
    let request = request.overlap(truth("overlap", overlap)?);
    let machine = Arc::clone(&machine.machine);
    let work = move || -> Result<_> {
        let notes = Notes::default();
        let (engine, scan) = settings.scan(&machine, &evidence, &request, &|note| notes.choice(&note))?;
        Ok((engine, scan, notes.all()))
    };
    let (engine, scan, notes) = worker::run(py, false, work)?.map_err(of_asking)?;
    let out = report(py, Some(engine), scan.guarantee, &scan.diagnostics, notes)?;
    let none = vec![0.0; scan.temperatures.len()];
    let errors = PyDict::new(py);
    for (place, name) in Curves::NAMES.into_iter().enumerate() {
        out.set_item(name, scan.values.all()[place].to_vec().into_pyarray(py))?;
        let error = scan.known_errors(place).unwrap_or_else(|| none.clone());
        errors.set_item(name, error.into_pyarray(py))?;
    }
    out.set_item("errors", errors)?;
    out.set_item("temperatures", scan.temperatures.into_pyarray(py))?;
    let diagnostics = &scan.diagnostics;
    let overlaps = scan.overlaps.map(|overlaps| {
        let one = |overlap: isinglass::engine::Overlap| {
            (
                overlap.temperature,
                overlap.q.into_pyarray(py),
                overlap.p.into_pyarray(py),
                diagnostics.known_errors(&overlap.p_error).into_pyarray(py),
                overlap.binder,
                diagnostics.known_error(overlap.binder_error),
            )
        };
        overlaps.into_iter().map(one).collect::<Vec<_>>()
    });
    out.set_item("overlap", overlaps)?;
    Ok(out)
}
