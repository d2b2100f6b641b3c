//! Questions to a machine about a table; each answer is a dictionary.

use std::sync::Arc;

use isinglass::Diagnostics;
use isinglass::complete::open;
use isinglass::message::{Message as _, Style};
use isinglass_plan::Result;
use numpy::{IntoPyArray, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::answers::{Notes, Remarks, report};
use crate::errors::{bad, of_asking, of_plan};
use crate::machine::Machine;
use crate::settings::{Asked, truth};
use crate::table::Table;
use crate::worker;

/// The missing cells of a table.
#[pyfunction]
pub(crate) fn complete<'py>(
    py: Python<'py>,
    machine: &Machine,
    table: &Table,
    options: Asked,
) -> PyResult<Bound<'py, PyDict>> {
    let settings = options.0;
    let (machine, table) = (Arc::clone(&machine.machine), Arc::clone(&table.table));
    let work = move || -> Result<_> {
        let notes = Notes::default();
        let open = open(&machine, &table)?;
        let (engine, found) =
            settings.complete(&machine, &table, open.as_ref(), &|note| notes.choice(&note))?;
        found.notes.iter().for_each(|note| notes.add(note));
        let (rows, columns) = (table.row_count(), found.columns().len());
        let mut states = Vec::with_capacity(rows * columns);
        let mut probabilities = Vec::with_capacity(rows * columns);
        for &distinct in table.distinct_of() {
            states.extend(found.state(distinct as usize).map(isinglass::Spin::value));
            probabilities.extend(found.probabilities(distinct as usize));
        }
        let (names, added) = (found.columns().to_vec(), found.added().to_vec());
        let head = (engine, found.guarantee, found.diagnostics.clone(), found.filled(), notes.all());
        Ok((head, (names, added), (rows, columns), states, probabilities))
    };
    let (head, (names, added), (rows, columns), states, probabilities) =
        worker::run(py, false, work)?.map_err(of_asking)?;
    let (engine, guarantee, diagnostics, filled, notes) = head;
    let out = report(py, engine, guarantee, &diagnostics, notes)?;
    out.set_item("columns", names)?;
    out.set_item("added", added)?;
    out.set_item("filled", filled)?;
    out.set_item("states", states.into_pyarray(py).reshape([rows, columns])?)?;
    out.set_item("probabilities", probabilities.into_pyarray(py).reshape([rows, columns])?)?;
    Ok(out)
}

/// How good a machine is on a table.
#[pyfunction]
pub(crate) fn score<'py>(
    py: Python<'py>,
    machine: &Machine,
    table: &Table,
    bracket: &Bound<'py, PyAny>,
    options: Asked,
) -> PyResult<Bound<'py, PyDict>> {
    let settings = options.0;
    let bracket = truth("bracket", bracket)?;
    let (machine, table) = (Arc::clone(&machine.machine), Arc::clone(&table.table));
    let work = move || -> Result<_> {
        let notes = Notes::default();
        let found = settings.score((&machine, &table), bracket, &|note| notes.choice(&note))?;
        found.score.notes.iter().for_each(|note| notes.add(note));
        Ok((found, notes.all()))
    };
    let (found, mut remarks) = worker::run(py, false, work)?.map_err(of_asking)?;
    let score = &found.score;
    if score.log_likelihood.is_none() && score.pseudo_log_likelihood.is_none() {
        let notes: Vec<String> = score.notes.iter().map(|note| note.text(Style::Keywords)).collect();
        return Err(bad("score", &format!("no score is available\n{}", notes.join("\n"))));
    }
    // Which engine is to blame for what does not converge, the score itself knows.
    let settled = Diagnostics { converged: true, ..score.diagnostics.clone() };
    remarks.add_all(found.warnings());
    let out = report(py, Some(found.free), score.guarantee, &settled, remarks)?;
    out.set_item("converged", score.diagnostics.converged)?;
    out.set_item("engine", found.engine())?;
    out.set_item("clamped_engine", found.clamped_engine())?;
    out.set_item("rows", score.rows)?;
    out.set_item("log_likelihood", score.log_likelihood)?;
    let guarantee = score.log_likelihood.map(|_| score.log_likelihood_guarantee.word());
    out.set_item("log_likelihood_guarantee", guarantee)?;
    out.set_item("log_likelihood_error", score.log_likelihood_error)?;
    out.set_item("independent_log_likelihood", score.independent_log_likelihood)?;
    out.set_item("tree_log_likelihood", score.tree_log_likelihood)?;
    out.set_item("kullback", score.kullback)?;
    out.set_item("kullback_guarantee", score.kullback.map(|_| score.kullback_guarantee.word()))?;
    out.set_item("pseudo_log_likelihood", score.pseudo_log_likelihood)?;
    out.set_item("completion", score.completion)?;
    out.set_item("bracket", score.bracket.as_ref().map(|bracket| (bracket.lower, bracket.upper)))?;
    Ok(out)
}

/// The log-likelihood of each row of a table.
#[pyfunction]
pub(crate) fn log_likelihoods<'py>(
    py: Python<'py>,
    machine: &Machine,
    table: &Table,
    options: Asked,
) -> PyResult<Bound<'py, PyDict>> {
    let settings = options.0;
    let (machine, table) = (Arc::clone(&machine.machine), Arc::clone(&table.table));
    let work = move || -> Result<_> {
        let notes = Notes::default();
        let (free, clamped, found) =
            settings.log_likelihoods(&machine, &table, &|note| notes.choice(&note))?;
        let of_each = |of_distinct: &[f64]| -> Vec<f64> {
            table.distinct_of().iter().map(|&distinct| of_distinct[distinct as usize]).collect()
        };
        let known = |errors: &[f64]| found.diagnostics.known_errors(&of_each(errors));
        let numbers = (of_each(&found.values), found.errors.as_deref().map(known));
        Ok(((free, clamped), numbers, (found.guarantee, found.diagnostics), notes.all()))
    };
    let ((free, clamped), (values, errors), (guarantee, diagnostics), notes) =
        worker::run(py, false, work)?.map_err(of_plan)?;
    let out = report(py, Some(free), guarantee, &diagnostics, notes)?;
    out.set_item("clamped_engine", clamped)?;
    out.set_item("values", values.into_pyarray(py))?;
    out.set_item("errors", errors.map(|errors| errors.into_pyarray(py)))?;
    Ok(out)
}

/// The average log-likelihood of the rows of a table alone.
#[pyfunction]
pub(crate) fn log_likelihood<'py>(
    py: Python<'py>,
    machine: &Machine,
    table: &Table,
    options: Asked,
) -> PyResult<Bound<'py, PyDict>> {
    let settings = options.0;
    let (machine, table) = (Arc::clone(&machine.machine), Arc::clone(&table.table));
    let work = move || settings.log_likelihood(&machine, &table, &|_| ());
    let (engine, gain) = worker::run(py, false, work)?.map_err(of_plan)?;
    let out = report(py, Some(engine), gain.guarantee, &gain.diagnostics, Remarks::default())?;
    out.set_item("value", gain.value)?;
    Ok(out)
}
