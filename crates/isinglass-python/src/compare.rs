//! Groups against each other.

use isinglass::learn::{CompareSettings, Groups};
use isinglass::settings::Settings as _;
use isinglass_plan::{CompareRequest, Missing, Result};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict};

use crate::answers::{Notes, set_remarks};
use crate::errors::{bad, of_core, of_plan};
use crate::fit::request;
use crate::settings::{number, shown, text, truth, whole};
use crate::table::Table;
use crate::worker;

/// Compares the machines of groups; the document is that of the command line, as text.
#[pyfunction]
pub(crate) fn compare<'py>(
    py: Python<'py>,
    tables: Vec<PyRef<'py, Table>>,
    names: Vec<String>,
    settings: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyDict>> {
    let (mut of_tests, mut missing) = (CompareSettings::default(), Missing::default());
    let mut joint = false;
    let of_fit = PyDict::new(py);
    for (key, value) in settings {
        let name: String = key.extract()?;
        match name.as_str() {
            "permutations" | "bootstrap" | "level" | "missing" | "joint" if value.is_none() => {}
            // True would be one.
            "permutations" | "bootstrap" if value.is_instance_of::<PyBool>() => {
                return Err(bad(&name, &format!("found {}, expected a whole number", shown(&value))));
            }
            "permutations" => of_tests.permutations = whole(&name, &value)?,
            "bootstrap" => of_tests.bootstrap = whole(&name, &value)?,
            "joint" => joint = truth(&name, &value)?,
            "level" => of_tests.level = number(&name, &value)?,
            "missing" => missing = text(&name, &value)?.parse().map_err(of_core)?,
            _ => of_fit.set_item(key, value)?,
        }
    }
    of_tests.validate().map_err(of_core)?;
    let tables: Vec<isinglass::Table> =
        tables.iter().map(|table| isinglass::Table::clone(&table.table)).collect();
    let groups = Groups::new(names, &tables).map_err(of_core)?;
    let pooled = groups.pooled().map_err(of_core)?;
    let request = request(&pooled, &of_fit, None)?;
    let work = move || -> Result<_> {
        let notes = Notes::default();
        let structure = request.structure(&pooled)?;
        let found = request.settings.compare(
            &structure,
            &groups,
            CompareRequest { tests: of_tests, missing, joint },
            &|_, _| (),
            &|note| notes.choice(&note),
        )?;
        found.compared.notes.iter().for_each(|note| notes.add(note));
        found.warnings(groups.names()).iter().for_each(|warning| notes.add(warning));
        Ok((found.document(groups.names(), &of_tests).to_string(), notes.all()))
    };
    let (document, remarks) = worker::run(py, false, work)?.map_err(of_plan)?;
    let out = PyDict::new(py);
    out.set_item("document", document)?;
    set_remarks(&out, remarks)?;
    Ok(out)
}
