//! Questions to a machine; each answer is a dictionary.

use std::cell::RefCell;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use isinglass::engine::{Open, auto};
use isinglass::message::Style;
use isinglass::{Diagnostics, Evidence, Expectations, Guarantee, JointTable, Pairs, Role};
use isinglass_lab::report::Structure;
use isinglass_plan::{Diagnose, Diagnostic, Result, Task, Warning, sampler};
use numpy::{IntoPyArray, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde_json::json;

use crate::errors::{bad, of_asking, of_core};
use crate::evidence::{evidence, position};
use crate::machine::Machine;
use crate::settings::{Asked, budget, text, truth, whole};
use crate::worker;

/// Draws that take longer than a thread takes to begin.
const MANY: usize = 1000;

/// Notes on an answer, and warnings that are found on the way to it.
#[derive(Default)]
pub(crate) struct Notes(RefCell<Remarks>);

/// Notes and warnings with settings written as keywords.
#[derive(Default)]
pub(crate) struct Remarks {
    pub(crate) notes: Vec<Diagnostic>,
    pub(crate) warnings: Vec<Diagnostic>,
}

impl Remarks {
    pub(crate) fn add(&mut self, found: &dyn Diagnose) {
        let diagnostic = found.diagnostic(Style::Keywords);
        if found.is_warning() { self.warnings.push(diagnostic) } else { self.notes.push(diagnostic) }
    }

    pub(crate) fn add_all<D: Diagnose>(&mut self, found: impl IntoIterator<Item = D>) {
        found.into_iter().for_each(|found| self.add(&found));
    }
}

impl Notes {
    pub(crate) fn add(&self, found: &dyn Diagnose) {
        self.0.borrow_mut().add(found);
    }

    /// Adds a choice that was made for the user.
    pub(crate) fn choice(&self, note: &isinglass_plan::Note) {
        self.add(note);
    }

    pub(crate) fn all(self) -> Remarks {
        self.0.into_inner()
    }
}

/// Code, message and data of each; data are JSON.
pub(crate) fn in_python(found: Vec<Diagnostic>) -> Vec<(&'static str, String, String)> {
    let data = |data| serde_json::Value::Object(data).to_string();
    found.into_iter().map(|found| (found.code, found.message, data(found.data))).collect()
}

fn pairs_of(word: &str) -> PyResult<Pairs> {
    match word {
        "edges" => Ok(Pairs::Edges),
        "all" => Ok(Pairs::All),
        "none" => Ok(Pairs::None),
        _ => Err(bad("pairs", &format!("found '{word}', expected edges, all or none"))),
    }
}

/// log Z, means and correlations.
#[pyfunction]
pub(crate) fn infer<'py>(
    py: Python<'py>,
    machine: &Machine,
    given: Option<&Bound<'py, PyAny>>,
    pairs: &Bound<'py, PyAny>,
    bracket: &Bound<'py, PyAny>,
    options: Asked,
) -> PyResult<Bound<'py, PyDict>> {
    let settings = options.0;
    let evidence = evidence(&machine.machine, given)?;
    let pairs = pairs_of(&text("pairs", pairs)?)?;
    let bracket = truth("bracket", bracket)?;
    let machine = Arc::clone(&machine.machine);
    let is_short = !bracket && worker::is_short(&machine, &settings);
    let shows_upper = settings.shows_upper();
    if bracket {
        let work = move || -> Result<_> {
            let notes = Notes::default();
            settings.check_bracket()?;
            let bounds =
                settings.bounds(&machine, &Open::alike(evidence.clone()), &|note| notes.choice(&note))?;
            Ok((bounds.log_z(&machine, &evidence, pairs)?, notes.all()))
        };
        let (found, remarks) = worker::run(py, is_short, work)?.map_err(of_asking)?;
        let both = found.below.answer.diagnostics.converged && found.above.answer.diagnostics.converged;
        let bounds = (found.lower(), found.upper(), found.below.engine, found.above.engine, both);
        let mut remarks = remarks;
        let (shown, other) =
            if shows_upper { (found.above, found.below) } else { (found.below, found.above) };
        remarks.add_all(Warning::of(other.engine, other.answer.guarantee, &other.answer.diagnostics));
        remarks.add_all(Warning::of_correlations(shown.engine, &shown.answer));
        let answer = expectations(py, shown.engine, shown.answer, remarks)?;
        answer.set_item("bracket", bounds)?;
        return Ok(answer);
    }
    let work = move || -> Result<_> {
        let notes = Notes::default();
        let engine = settings.choose(&machine, &evidence, Task::Answer, &|note| notes.choice(&note))?;
        Ok((engine.name(), engine.expectations(&machine, &evidence, pairs)?, notes.all()))
    };
    let (engine, answer, mut remarks) = worker::run(py, is_short, work)?.map_err(of_asking)?;
    remarks.add_all(Warning::of_correlations(engine, &answer));
    expectations(py, engine, answer, remarks)
}

/// How long the core takes for the same on average, in seconds: what the bindings cost is measured
/// against it.
#[pyfunction]
pub(crate) fn time_infer(py: Python<'_>, machine: &Machine, count: u32, options: Asked) -> PyResult<f64> {
    let settings = options.0;
    let machine = Arc::clone(&machine.machine);
    let work = move || -> Result<_> {
        let began = Instant::now();
        for _ in 0..count {
            let evidence = Evidence::none(machine.unit_count());
            let engine = settings.choose(&machine, &evidence, Task::Answer, &|_| ())?;
            black_box(engine.expectations(&machine, &evidence, Pairs::Edges)?);
        }
        Ok(began.elapsed().as_secs_f64() / f64::from(count))
    };
    worker::run(py, false, work)?.map_err(of_asking)
}

fn expectations<'py>(
    py: Python<'py>,
    engine: &'static str,
    answer: Expectations,
    remarks: Remarks,
) -> PyResult<Bound<'py, PyDict>> {
    let out = report(py, Some(engine), answer.guarantee, &answer.diagnostics, remarks)?;
    let errors = answer.known_errors();
    out.set_item("log_z", answer.log_z)?;
    out.set_item("means", answer.means.into_pyarray(py))?;
    out.set_item("correlations", answer.correlations.values.into_pyarray(py))?;
    if let Some(errors) = errors {
        out.set_item("log_z_error", errors.log_z)?;
        out.set_item("means_error", errors.means.into_pyarray(py))?;
        out.set_item("correlations_error", errors.correlations.into_pyarray(py))?;
    }
    Ok(out)
}

/// What every answer has: the engine, its guarantee, diagnostics, notes and warnings.
pub(crate) fn report<'py>(
    py: Python<'py>,
    engine: Option<&'static str>,
    guarantee: Guarantee,
    diagnostics: &Diagnostics,
    mut remarks: Remarks,
) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    out.set_item("engine", engine)?;
    out.set_item("guarantee", guarantee.word())?;
    out.set_item("converged", diagnostics.converged)?;
    remarks.add_all(Warning::of(engine.unwrap_or("complete"), guarantee, diagnostics));
    set_remarks(&out, remarks)?;
    let details = PyDict::new(py);
    if let Some(iteration) = diagnostics.iteration {
        details.set_item("sweeps", iteration.sweeps)?;
        details.set_item("residual", iteration.residual)?;
        details.set_item("damping", iteration.damping)?;
        details.set_item("oscillated", iteration.oscillated)?;
    }
    if let Some(mixing) = &diagnostics.mixing {
        details.set_item("chains", mixing.chains)?;
        details.set_item("samples", mixing.samples)?;
        details.set_item("r_hat", mixing.r_hat)?;
        details.set_item("effective_samples", mixing.effective_samples)?;
        if let Some(trips) = mixing.round_trips {
            details.set_item("round_trips", trips)?;
            details.set_item("swap_rates", mixing.swap_rates.clone())?;
        }
    }
    if let Some(importance) = diagnostics.importance {
        details.set_item("runs", importance.runs)?;
        details.set_item("temperatures", importance.temperatures)?;
        details.set_item("effective_runs", importance.effective_samples)?;
        details.set_item("forward_log_z", importance.forward_log_z)?;
        details.set_item("forward_error", importance.forward_error)?;
        details.set_item("reverse_runs", importance.reverse_runs)?;
        details.set_item("reverse_log_z", importance.reverse_log_z)?;
        details.set_item("reverse_error", importance.reverse_error)?;
        details.set_item("ends_agree", importance.ends_agree())?;
    }
    if !details.is_empty() {
        out.set_item("diagnostics", details)?;
    }
    Ok(out)
}

/// Adds notes and warnings to an answer, where there are any.
pub(crate) fn set_remarks(out: &Bound<'_, PyDict>, remarks: Remarks) -> PyResult<()> {
    for (key, found) in [("notes", remarks.notes), ("warnings", remarks.warnings)] {
        if !found.is_empty() {
            out.set_item(key, in_python(found))?;
        }
    }
    Ok(())
}

/// The positions of units named in a list.
fn positions(machine: &Machine, place: &str, names: &Bound<'_, PyList>) -> PyResult<Vec<usize>> {
    names.iter().map(|name| position(&machine.machine, place, &name)).collect()
}

/// The probabilities of every joint state of a few units.
#[pyfunction]
pub(crate) fn query<'py>(
    py: Python<'py>,
    machine: &Machine,
    ask: &Bound<'py, PyList>,
    given: Option<&Bound<'py, PyAny>>,
    options: Asked,
) -> PyResult<Bound<'py, PyDict>> {
    let settings = options.0;
    let evidence = evidence(&machine.machine, given)?;
    let asked = positions(machine, "ask", ask)?;
    for (k, unit) in asked.iter().enumerate() {
        let name = machine.machine.name(*unit);
        if asked[..k].contains(unit) {
            return Err(bad("ask", &format!("unit '{name}' is asked for twice")));
        }
        if evidence.get(*unit).is_some() {
            return Err(bad("ask", &format!("unit '{name}' is both asked for and given")));
        }
    }
    let (machine, count) = (Arc::clone(&machine.machine), asked.len());
    let is_short = worker::is_short(&machine, &settings);
    let work = move || -> Result<_> {
        let notes = Notes::default();
        let engine = settings.choose(&machine, &evidence, Task::Answer, &|note| notes.choice(&note))?;
        Ok((engine.name(), engine.joint(&machine, &evidence, &asked)?, notes.all()))
    };
    let (engine, table, notes) = worker::run(py, is_short, work)?.map_err(of_asking)?;
    let out = report(py, Some(engine), table.guarantee, &table.diagnostics, notes)?;
    let rows = table.probabilities.len();
    let states: Vec<i8> = (0..rows).flat_map(|number| JointTable::state(count, number)).collect();
    out.set_item("states", states.into_pyarray(py).reshape([rows, count])?)?;
    out.set_item("probabilities", table.probabilities.into_pyarray(py))?;
    let errors = table.errors.map(|errors| table.diagnostics.known_errors(&errors));
    out.set_item("errors", errors.map(|errors| errors.into_pyarray(py)))?;
    Ok(out)
}

/// The cumulants of every subset of up to four units: places in the list, and the number.
#[pyfunction]
pub(crate) fn cumulants<'py>(
    py: Python<'py>,
    machine: &Machine,
    units: &Bound<'py, PyList>,
    given: Option<&Bound<'py, PyAny>>,
    options: Asked,
) -> PyResult<Bound<'py, PyDict>> {
    let settings = options.0;
    let evidence = evidence(&machine.machine, given)?;
    let units = positions(machine, "cumulants", units)?;
    let machine = Arc::clone(&machine.machine);
    let is_short = worker::is_short(&machine, &settings);
    let work = move || -> Result<_> {
        let notes = Notes::default();
        let engine = settings.choose(&machine, &evidence, Task::Answer, &|note| notes.choice(&note))?;
        Ok((engine.name(), engine.cumulants(&machine, &evidence, &units)?, notes.all()))
    };
    let (engine, found, notes) = worker::run(py, is_short, work)?.map_err(of_asking)?;
    let out = report(py, Some(engine), found.guarantee, &found.diagnostics, notes)?;
    out.set_item("values", found.iter().collect::<Vec<_>>())?;
    Ok(out)
}

/// The most probable state.
#[pyfunction]
pub(crate) fn mode<'py>(
    py: Python<'py>,
    machine: &Machine,
    given: Option<&Bound<'py, PyAny>>,
    options: Asked,
) -> PyResult<Bound<'py, PyDict>> {
    let settings = options.0;
    let evidence = evidence(&machine.machine, given)?;
    let machine = Arc::clone(&machine.machine);
    let is_short = worker::is_short(&machine, &settings);
    let work = move || -> Result<_> {
        let notes = Notes::default();
        let (name, mode) = settings.mode(&machine, &evidence, &|note| notes.choice(&note))?;
        Ok((name, mode, notes.all()))
    };
    let (engine, found, mut notes) = worker::run(py, is_short, work)?.map_err(of_asking)?;
    if !found.diagnostics.converged {
        let text = format!(
            "{engine}: messages still changed at the end; the state is the best one seen, and no single flip improves it"
        );
        notes.notes.push(Diagnostic::new("messages-changed", text, json!({ "engine": engine })));
    }
    // A good state is what was requested: messages that do not converge are a note, and no warning.
    let settled = Diagnostics { converged: true, ..found.diagnostics };
    let out = report(py, Some(engine), found.guarantee, &settled, notes)?;
    out.set_item("converged", found.diagnostics.converged)?;
    out.set_item("state", found.state.into_pyarray(py))?;
    out.set_item("energy", found.energy)?;
    Ok(out)
}

/// States drawn.
#[pyfunction]
pub(crate) fn sample<'py>(
    py: Python<'py>,
    machine: &Machine,
    number: &Bound<'py, PyAny>,
    given: Option<&Bound<'py, PyAny>>,
    options: Asked,
) -> PyResult<Bound<'py, PyDict>> {
    let settings = options.0;
    let number = whole("n", number)?;
    let evidence = evidence(&machine.machine, given)?;
    let machine = Arc::clone(&machine.machine);
    let is_short = number <= MANY && worker::is_short(&machine, &settings);
    let work = move || -> Result<_> {
        let notes = Notes::default();
        let engine = settings.choose(&machine, &evidence, Task::Answer, &|note| notes.choice(&note))?;
        let sampler = sampler(&*engine)?;
        Ok((sampler.name(), sampler.draw(&machine, &evidence, number, settings.seed())?, notes.all()))
    };
    let (engine, draws, notes) = worker::run(py, is_short, work)?.map_err(of_asking)?;
    let out = report(py, Some(engine), draws.guarantee, &draws.diagnostics, notes)?;
    out.set_item("states", draws.cells.into_pyarray(py).reshape([number, draws.units])?)?;
    Ok(out)
}

/// What a machine is, and which engines can run on it at what cost.
#[pyfunction]
pub(crate) fn info<'py>(
    py: Python<'py>,
    machine: &Machine,
    limit: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let limit = limit.map(budget).transpose()?.unwrap_or_default();
    let machine = Arc::clone(&machine.machine);
    let shared = Arc::clone(&machine);
    let work = move || {
        let offers = auto::offers(&shared, &Evidence::none(shared.unit_count()), limit)?;
        Ok((Structure::of(&shared, &offers), offers))
    };
    let (structure, offers) = worker::run(py, false, work)?.map_err(of_core)?;
    let names = |order: &[usize]| order.iter().map(|&unit| machine.name(unit)).collect::<Vec<&str>>();
    let elimination_order = offers.iter().filter_map(|offer| offer.order.as_ref()).next_back();
    let out = PyDict::new(py);
    out.set_item("units", machine.unit_count())?;
    out.set_item("edges", machine.graph().edges().len())?;
    let roles = PyDict::new(py);
    for role in Role::ALL {
        roles.set_item(role.word(), machine.with_role(role).count())?;
    }
    out.set_item("roles", roles)?;
    out.set_item("temperature", machine.temperature())?;
    out.set_item("components", structure.components)?;
    out.set_item("decimatable", structure.decimation_order.is_some())?;
    out.set_item("decimation_order", structure.decimation_order.as_deref().map(names))?;
    out.set_item("elimination_order", elimination_order.map(|order| names(&order.0)))?;
    out.set_item("treewidth", (structure.treewidth.lower, structure.treewidth.upper))?;
    let engines = PyList::empty(py);
    for offer in offers {
        let bytes = offer.bytes.map(|bytes| bytes as f64);
        engines.append((offer.engine, offer.available, offer.answers.word(), bytes, offer.cost))?;
    }
    out.set_item("engines", engines)?;
    Ok(out)
}
