//! What is given, as evidence.

use isinglass::{Evidence, Machine, Spin};
use numpy::{PyReadonlyArray1, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::errors::{bad, of_core};
use crate::settings::shown;

/// From a dictionary of names and values, a row of −1, +1 and 0 for free, or nothing.
pub(crate) fn evidence(machine: &Machine, given: Option<&Bound<'_, PyAny>>) -> PyResult<Evidence> {
    let mut evidence = Evidence::none(machine.unit_count());
    let Some(given) = given else { return Ok(evidence) };
    if let Ok(row) = given.extract::<PyReadonlyArray1<'_, i8>>() {
        let length = row.len();
        if length != machine.unit_count() {
            let problem = format!(
                "found a row of {length}, expected one value for each of the {} units",
                machine.unit_count()
            );
            return Err(bad("given", &problem));
        }
        return Evidence::from_cells(row.as_array().to_vec()).map_err(of_core);
    }
    let Ok(given) = given.cast::<PyDict>() else {
        let problem = format!("found {}, expected a dictionary of names and values", shown(given));
        return Err(bad("given", &problem));
    };
    for (name, value) in given {
        let unit = position(machine, "given", &name)?;
        let spin = spin(&value).ok_or_else(|| {
            let name = machine.name(unit);
            let problem =
                format!("unit '{name}' has the value {}, expected -1 or +1, or False or True", shown(&value));
            bad("given", &problem)
        })?;
        evidence.clamp(unit, spin);
    }
    Ok(evidence)
}

/// The position of a unit; what is no string is looked up as one.
pub(crate) fn position(machine: &Machine, place: &str, name: &Bound<'_, PyAny>) -> PyResult<usize> {
    let name = match name.cast::<PyString>() {
        Ok(name) => name.to_string(),
        Err(_) => name.str()?.to_string(),
    };
    machine.position(&name).map_err(|error| bad(place, &error.to_string()))
}

fn spin(value: &Bound<'_, PyAny>) -> Option<Spin> {
    let number = value.extract::<f64>().ok()?;
    let is_truth = value.get_type().name().is_ok_and(|name| name.to_string().starts_with("bool"));
    match number {
        1.0 => Some(Spin::Up),
        -1.0 => Some(Spin::Down),
        0.0 if is_truth => Some(Spin::Down),
        _ => None,
    }
}
