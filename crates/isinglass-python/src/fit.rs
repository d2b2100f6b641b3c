//! Fits: settings from keywords, the work on a thread of its own, and its result.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};

use isinglass::learn::{Bootstrap, Checkpoint, Observer, Step};
use isinglass::network::{CaseDropping, Stability};
use isinglass::settings::Common;
use isinglass::topology::Links;
use isinglass::{CancelToken, Graph, Role};
use isinglass_files::read_edges;
use isinglass_plan::{
    Error, FitSettings, Fitted, Hidden, Hint, LearnerName, Missing, Plan, Result, Structure, VisibleLinks,
};
use numpy::{PyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::answers::{Notes, Remarks, set_remarks};
use crate::bootstrap::{Intervals, Resampling};
use crate::errors::{bad, of_core, of_files, of_plan};
use crate::machine::Machine;
use crate::posterior::of_posterior;
use crate::settings::{budget, set, shown, text, whole, word};
use crate::table::Table;
use crate::worker::{PAUSE, broken, settle, spawn};

/// A fit with its notes; the checkpoint of epochs; how sure it is.
type Found = Result<(Fitted, Remarks, Option<Checkpoint>, Sureness)>;

/// Intervals from resamples, and stability from subsets, if they were requested.
type Sureness = (Option<Intervals>, Option<Stability>);

/// The machine, and how it was found.
type Answer<'py> = (Machine, Bound<'py, PyDict>);

/// What is done with the table, with its observer.
type Work = dyn FnOnce(&mut Watcher) -> Found + Send;

/// What the thread of a fit reports.
enum Message {
    /// A step, of at most `most`, in a start counted from 0.
    Step {
        step: Step,
        most: usize,
        restart: usize,
    },
    /// The number of resamples done, and of all.
    Resample {
        done: usize,
        count: usize,
    },
    Result(Box<Found>),
}

/// Stops the fit on request. Reports each step to a listener, if there is one, and waits for its
/// reply.
struct Watcher {
    stop: Arc<AtomicBool>,
    listener: Option<(Sender<Message>, Receiver<()>)>,
    most: usize,
    restart: usize,
}

impl Watcher {
    /// Fits resamples of the table, if they were requested.
    fn resample(
        &self,
        bootstrap: Option<Bootstrap>,
        plan: &Plan,
        (start, table, versions): (&isinglass::Machine, &isinglass::Table, &[isinglass::Table]),
        fitted: &Fitted,
    ) -> Option<Intervals> {
        let bootstrap = bootstrap?;
        let (stop, report) = (&*self.stop, self.listener.as_ref().map(|(report, _)| report));
        if stop.load(Ordering::SeqCst) {
            return Some(Intervals::of_stopped(&bootstrap));
        }
        let reported = AtomicUsize::new(0);
        let progress = |done, count| reporting(&reported, report, stop, (done, count));
        if versions.len() > 1 {
            let found = plan.resample_filled(&bootstrap, (start, table, versions), fitted, &progress);
            return Some(Intervals::of_filled(&bootstrap, found));
        }
        Some(Intervals::new(&bootstrap, plan.resample(&bootstrap, (start, table), fitted, &progress)))
    }

    /// Fits subsets of the table's rows, if they were requested and the fit was not stopped.
    fn drop_cases(
        &self,
        dropping: Option<CaseDropping>,
        plan: &Plan,
        rows: (&isinglass::Machine, &isinglass::Table),
        fitted: &Fitted,
    ) -> Option<isinglass::Result<Stability>> {
        let dropping = dropping?;
        let (stop, report) = (&*self.stop, self.listener.as_ref().map(|(report, _)| report));
        let reported = AtomicUsize::new(0);
        let progress = |done, count| reporting(&reported, report, stop, (done, count));
        Some(plan.drop_cases(&dropping, rows, fitted, &progress))
    }
}

/// Reports resamples to a listener; whether they are to continue. `reported` is their number so far,
/// and one more.
fn reporting(
    reported: &AtomicUsize,
    report: Option<&Sender<Message>>,
    stop: &AtomicBool,
    (done, count): (usize, usize),
) -> ControlFlow<()> {
    if let Some(report) = report
        && reported.fetch_max(done + 1, Ordering::Relaxed) <= done
    {
        // A listener that is gone has cancelled the work.
        drop(report.send(Message::Resample { done, count }));
    }
    if stop.load(Ordering::SeqCst) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

impl Observer for Watcher {
    fn step(&mut self, step: &Step, _machine: &isinglass::Machine) -> isinglass::Result<ControlFlow<()>> {
        if let Some((report, reply)) = &self.listener {
            let sent = report.send(Message::Step { step: *step, most: self.most, restart: self.restart });
            // Without a listener the fit is cancelled.
            if sent.is_err() || reply.recv().is_err() {
                return Ok(ControlFlow::Break(()));
            }
        }
        let stop = self.stop.load(Ordering::SeqCst);
        Ok(if stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }

    fn restart(&mut self, restart: usize, _count: usize) {
        self.restart = restart;
    }
}

/// A request for a fit.
pub(crate) struct Request {
    pub(crate) settings: FitSettings,
    structure: Structure,
    resampling: Resampling,
    missing: Missing,
}

impl Request {
    /// The machine to be fitted, all its numbers 0.
    pub(crate) fn structure(&self, table: &isinglass::Table) -> isinglass::Result<isinglass::Machine> {
        let without_edges = self.settings.learner == LearnerName::Factorized;
        self.structure.machine(table, without_edges, self.settings.engine.budget())
    }
}

/// Fit a machine to a table, from a start or with a structure.
///
/// `listener` is called after each iteration, and stops the fit by returning `False`.
#[pyfunction]
#[pyo3(signature = (table, settings, start = None, listener = None))]
pub(crate) fn fit<'py>(
    py: Python<'py>,
    table: &Table,
    settings: &Bound<'py, PyDict>,
    start: Option<&Machine>,
    listener: Option<&Bound<'py, PyAny>>,
) -> PyResult<Answer<'py>> {
    let request = request(&table.table, settings, start)?;
    let (rows, table) = (table.table.row_count(), Arc::clone(&table.table));
    let start = start.map(|start| Arc::clone(&start.machine));
    let work = move |watcher: &mut Watcher| -> Found {
        let remarks = Notes::default();
        let note = |choice: isinglass_plan::Note| remarks.choice(&choice);
        let start = match start {
            Some(start) => match request.structure.hidden.count() {
                0 => start,
                count => Arc::new(request.settings.grown(&start, count, &table)?),
            },
            None => Arc::new(request.structure(&table)?),
        };
        let filled = request.missing.prepare(&request.settings, &start, &table, &note)?;
        let versions = filled.as_ref().map_or(&[][..], |filled| &filled.versions);
        let table = filled.as_ref().map_or(&*table, |filled| &filled.table);
        if let Some(rows) = &request.settings.validate {
            FitSettings::check_validation(&start, rows).map_err(of_validation)?;
        }
        let bootstrap = request.resampling.bootstrap(&request.settings.engine);
        if let Some(bootstrap) = &bootstrap {
            bootstrap.check(&start, table).map_err(|error| Error::from(error).with_hint(Hint::Bootstrap))?;
        }
        let dropping = request.resampling.dropping(&request.settings.engine);
        if let Some(dropping) = &dropping {
            dropping.check(&start, table)?;
        }
        let plan = request.settings.plan(&start, table, &note)?;
        watcher.most = plan.limits().iterations;
        let fitted = plan.fit(&start, table, None, watcher, &note)?;
        fitted.fit.notes.iter().for_each(|note| remarks.add(note));
        let intervals = watcher.resample(bootstrap, &plan, (&start, table, versions), &fitted);
        intervals.iter().flat_map(Intervals::notes).for_each(|note| remarks.add(note));
        let stability = watcher.drop_cases(dropping, &plan, (&start, table), &fitted).transpose()?;
        stability.iter().flat_map(|found| &found.notes).for_each(|note| remarks.add(note));
        Ok((fitted, remarks.all(), None, (intervals, stability)))
    };
    let (fitted, remarks, _, sureness) = watched(py, Box::new(work), listener)?.map_err(of_plan)?;
    answer(py, fitted, remarks, sureness, rows)
}

/// What is wrong with rows to validate with.
fn of_validation(error: isinglass::Error) -> Error {
    match error {
        isinglass::Error::Invalid { place, problem } => {
            isinglass::Error::invalid(format!("validate: {place}"), problem).into()
        }
        other => other.into(),
    }
}

/// Run epochs of contrastive divergence, from a machine or a structure.
///
/// `before` is the checkpoint of earlier epochs: momentum and persistent chains. The checkpoint of
/// these comes with the fit, in bytes; None if parameters diverged.
#[pyfunction]
#[pyo3(signature = (table, settings, machine = None, before = None, listener = None))]
pub(crate) fn run_epochs<'py>(
    py: Python<'py>,
    table: &Table,
    settings: &Bound<'py, PyDict>,
    machine: Option<&Machine>,
    before: Option<&[u8]>,
    listener: Option<&Bound<'py, PyAny>>,
) -> PyResult<(Machine, Bound<'py, PyDict>, Option<Bound<'py, PyBytes>>)> {
    let request = request(&table.table, settings, machine)?;
    if request.resampling.is_requested() {
        return Err(bad(
            "bootstrap",
            "resamples are fitted by isinglass.fit; here epochs continue earlier ones",
        ));
    }
    let wrong = |_| bad("state", "found bytes that are no checkpoint of contrastive divergence");
    let before: Option<Checkpoint> = before.map(postcard::from_bytes).transpose().map_err(wrong)?;
    let (rows, table) = (table.table.row_count(), Arc::clone(&table.table));
    let machine = machine.map(|machine| Arc::clone(&machine.machine));
    let work = move |watcher: &mut Watcher| -> Found {
        let machine = match machine {
            Some(machine) => machine,
            None => Arc::new(request.settings.start(&request.structure(&table)?, &table)?),
        };
        watcher.most = request.settings.contrastive_divergence().iterations;
        let (fitted, state) = request.settings.run_epochs(&machine, &table, before.as_ref(), watcher)?;
        let mut remarks = Remarks::default();
        fitted.fit.notes.iter().for_each(|note| remarks.add(note));
        Ok((fitted, remarks, state, (None, None)))
    };
    let (fitted, remarks, state, _) = watched(py, Box::new(work), listener)?.map_err(of_plan)?;
    let (machine, out) = answer(py, fitted, remarks, (None, None), rows)?;
    let state = state.map(|state| postcard::to_stdvec(&state)).transpose().map_err(|_| broken())?;
    Ok((machine, out, state.map(|state| PyBytes::new(py, &state))))
}

/// Does the work on a thread of its own; a listener is called after each iteration.
fn watched(py: Python<'_>, work: Box<Work>, listener: Option<&Bound<'_, PyAny>>) -> PyResult<Found> {
    let stop = Arc::new(AtomicBool::new(false));
    let (sender, receiver) = mpsc::channel();
    let (reply, replies) = mpsc::channel();
    let reports = listener.is_some().then(|| (sender.clone(), replies));
    let mut watcher = Watcher { stop: Arc::clone(&stop), listener: reports, most: 0, restart: 0 };
    let token = CancelToken::new();
    spawn(&token, move || {
        let found = work(&mut watcher);
        // The result of a fit that ends after Ctrl-C is discarded.
        drop(sender.send(Message::Result(Box::new(found))));
    })?;
    wait(py, receiver, &reply, (&stop, &token), listener)
}

/// Waits for the fit, and handles signals and the fit's reports meanwhile.
fn wait(
    py: Python<'_>,
    mut receiver: Receiver<Message>,
    reply: &Sender<()>,
    (stop, token): (&AtomicBool, &CancelToken),
    listener: Option<&Bound<'_, PyAny>>,
) -> PyResult<Found> {
    loop {
        let message;
        (message, receiver) = py.detach(move || (receiver.recv_timeout(PAUSE), receiver));
        let handled = match message {
            Ok(Message::Result(found)) => return Ok(*found),
            Ok(Message::Step { step, most, restart }) => {
                py.check_signals().and_then(|()| call(listener, &step, most, restart)).map(|continues| {
                    if !continues {
                        stop.store(true, Ordering::SeqCst);
                    }
                    // A fit that has ended needs no reply.
                    let _ = reply.send(());
                })
            }
            Ok(Message::Resample { done, count }) => {
                py.check_signals().and_then(|()| call_resampled(listener, done, count)).map(|continues| {
                    if !continues {
                        stop.store(true, Ordering::SeqCst);
                    }
                })
            }
            Err(RecvTimeoutError::Timeout) => py.check_signals(),
            Err(RecvTimeoutError::Disconnected) => return Err(broken()),
        };
        if let Err(error) = handled {
            token.cancel();
            stop.store(true, Ordering::SeqCst);
            let _ = reply.send(());
            py.detach(move || settle(&receiver));
            return Err(error);
        }
    }
}

/// Calls the listener; whether the fit is to continue.
fn call(listener: Option<&Bound<'_, PyAny>>, step: &Step, most: usize, restart: usize) -> PyResult<bool> {
    let Some(listener) = listener else { return Ok(true) };
    let reply = listener.call1((step.iteration, most, step.objective, step.gradient_norm, restart))?;
    Ok(reply.is_none() || reply.is_truthy()?)
}

/// Calls the listener's method `resampled`, if it has one; whether resamples are to continue.
fn call_resampled(listener: Option<&Bound<'_, PyAny>>, done: usize, count: usize) -> PyResult<bool> {
    let method = listener.map(|listener| listener.getattr_opt("resampled")).transpose()?.flatten();
    let Some(method) = method else { return Ok(true) };
    let reply = method.call1((done, count))?;
    Ok(reply.is_none() || reply.is_truthy()?)
}

/// The machine, and how it was found.
fn answer(
    py: Python<'_>,
    fitted: Fitted,
    mut remarks: Remarks,
    (intervals, stability): Sureness,
    rows: usize,
) -> PyResult<Answer<'_>> {
    remarks.add_all(fitted.warnings());
    remarks.warnings.extend(intervals.iter().filter_map(Intervals::warning));
    let best = fitted.best_restart();
    let error = fitted.log_likelihood_error();
    let Fitted {
        learner,
        engine,
        clamped_engine,
        fit,
        restart_objectives,
        remedy,
        is_complete,
        checked,
        penalty,
        diverged: _,
        growth,
        posterior,
        validation: _,
    } = fitted;
    let out = PyDict::new(py);
    out.set_item("learner", learner)?;
    out.set_item("engine", engine)?;
    out.set_item("clamped_engine", clamped_engine)?;
    out.set_item("guarantee", fit.guarantee.word())?;
    out.set_item("rows", rows)?;
    out.set_item("iterations", fit.iterations())?;
    out.set_item("converged", fit.converged)?;
    out.set_item("finished", fit.converged || is_complete)?;
    out.set_item("stopped", fit.stopped.to_string())?;
    out.set_item("kept", fit.kept)?;
    out.set_item("log_likelihood", fit.log_likelihood)?;
    out.set_item("log_likelihood_error", error)?;
    out.set_item("independent_log_likelihood", checked.independent)?;
    let check = checked.check.map(|check| -> PyResult<_> {
        let found = PyDict::new(py);
        found.set_item("largest", check.largest)?;
        found.set_item("rms", check.rms)?;
        found.set_item("noise", check.noise)?;
        found.set_item("verdict", check.verdict.word())?;
        found.set_item("converged", check.converged)?;
        Ok(found)
    });
    out.set_item("check", check.transpose()?)?;
    out.set_item("pseudo_log_likelihood", fit.pseudo_log_likelihood)?;
    out.set_item("restart_objectives", restart_objectives)?;
    out.set_item("best_restart", best)?;
    out.set_item("singular", remedy.map(isinglass::learn::Remedy::word))?;
    let steps = fit.history.iter();
    out.set_item("iteration", PyArray1::from_iter(py, steps.clone().map(|step| step.iteration as i64)))?;
    out.set_item("objective", PyArray1::from_iter(py, steps.clone().map(|step| step.objective)))?;
    out.set_item("gradient_norm", PyArray1::from_iter(py, steps.map(|step| step.gradient_norm)))?;
    let penalty = penalty.map(|penalty| -> PyResult<_> {
        let found = PyDict::new(py);
        let path = &penalty.chosen.path;
        found.set_item("setting", penalty.setting)?;
        found.set_item("chosen", penalty.chosen.penalty)?;
        found.set_item("criterion", penalty.criterion)?;
        found.set_item("penalties", PyArray1::from_iter(py, path.iter().map(|tried| tried.penalty)))?;
        found.set_item("held_out", PyArray1::from_iter(py, path.iter().map(|tried| tried.held_out)))?;
        found.set_item("errors", PyArray1::from_iter(py, path.iter().map(|tried| tried.error)))?;
        Ok(found)
    });
    out.set_item("penalty", penalty.transpose()?)?;
    let growth = growth.map(|growth| -> PyResult<_> {
        let found = PyDict::new(py);
        let path = &growth.path;
        found.set_item("chosen", growth.hidden)?;
        found.set_item("l2", growth.l2)?;
        found.set_item("l1", growth.l1)?;
        found.set_item("hidden", PyArray1::from_iter(py, path.iter().map(|size| size.hidden as i64)))?;
        found.set_item("held_out", PyArray1::from_iter(py, path.iter().map(|size| size.held_out)))?;
        found.set_item("errors", PyArray1::from_iter(py, path.iter().map(|size| size.error)))?;
        Ok(found)
    });
    out.set_item("growth", growth.transpose()?)?;
    out.set_item("posterior", posterior.map(|found| of_posterior(py, &found)).transpose()?)?;
    set_remarks(&out, remarks)?;
    let stability = stability.map(|found| crate::network::stability(py, &found)).transpose()?;
    out.set_item("stability", stability)?;
    out.set_item("intervals", intervals.map(|intervals| intervals.report(py)).transpose()?.flatten())?;
    Ok((fit.machine.into(), out))
}

/// The settings of a fit, checked.
pub(crate) fn request(
    table: &isinglass::Table,
    keywords: &Bound<'_, PyDict>,
    start: Option<&Machine>,
) -> PyResult<Request> {
    let mut settings = FitSettings::default();
    settings.keeps_start = start.is_some();
    let mut missing = Missing::default();
    let (mut structure, mut resampling, mut common) =
        (complete_graph(), Resampling::default(), Common::default());
    for (key, value) in keywords {
        let key: String = key.extract()?;
        let is_none = value.is_none();
        if resampling.set(&key, &value)? || set_structure(&mut structure, &key, &value, table)? {
            continue;
        }
        match key.as_str() {
            "learner" | "restarts" | "engine" | "clamped_engine" | "budget" | "seed" | "check"
            | "validate" | "missing"
                if is_none => {}
            "validate" => settings.validate = Some(Arc::clone(&value.extract::<PyRef<'_, Table>>()?.table)),
            "missing" => missing = text(&key, &value)?.parse().map_err(of_core)?,
            "learner" => settings.learner = word(&key, &value)?,
            "restarts" => settings.restarts = whole(&key, &value)?,
            "check" => settings.check = value.extract()?,
            "engine" => settings.engine.engine = word(&key, &value)?,
            "clamped_engine" => settings.clamped_engine = Some(word(&key, &value)?),
            "budget" => common.budget = budget(&value)?,
            "seed" => common.seed = value.extract()?,
            _ => set(&key, &value, &mut settings)?,
        }
    }
    let mut settings = settings.with_common(common);
    settings.grows = structure.hidden == Hidden::Auto;
    if settings.grows && resampling.is_requested() {
        return Err(bad("bootstrap", "not supported with hidden='auto'"));
    }
    let before = start.map_or(0, |start| start.machine.with_role(Role::Hidden).count());
    let hidden = before + structure.hidden.count();
    if start.is_some() && structure.hidden.layers().len() > 1 {
        return Err(bad("hidden", "with start, expected a number: layers are not added to a machine"));
    }
    settings.check(hidden, settings.validate.is_some()).map_err(|usage| of_plan(usage.into()))?;
    resampling.check()?;
    Ok(Request { settings, structure, resampling, missing })
}

/// The structure unless something else is said.
fn complete_graph() -> Structure {
    Structure {
        visible_links: VisibleLinks::Built(Links::Full),
        hidden: Hidden::default(),
        hidden_links: Links::None,
        inputs: Vec::new(),
    }
}

/// Set a part of the structure; `false` if there is none of that name.
fn set_structure(
    structure: &mut Structure,
    key: &str,
    value: &Bound<'_, PyAny>,
    table: &isinglass::Table,
) -> PyResult<bool> {
    match key {
        "visible_links" | "hidden" | "hidden_links" | "inputs" if value.is_none() => {}
        "visible_links" => structure.visible_links = links(value, table)?,
        "hidden" => structure.hidden = hidden(key, value)?,
        "hidden_links" => structure.hidden_links = hidden_links(&text(key, value)?)?,
        "inputs" => structure.inputs = value.extract()?,
        _ => return Ok(false),
    }
    Ok(true)
}

/// Hidden units: their number, the numbers of layers, or the word auto.
fn hidden(key: &str, value: &Bound<'_, PyAny>) -> PyResult<Hidden> {
    if let Ok(units) = value.extract::<usize>() {
        return Ok(units.into());
    }
    if let Ok(word) = value.extract::<String>() {
        return word.parse().map_err(of_core);
    }
    match value.extract::<Vec<usize>>() {
        Ok(layers) if layers.iter().all(|&units| units > 0) => Ok(Hidden::Layers(layers)),
        _ => {
            let expected = "a whole number of at least 0, a list of numbers of units, or 'auto'";
            Err(bad(key, &format!("found {}, expected {expected}", shown(value))))
        }
    }
}

/// Links among the hidden units.
fn hidden_links(word: &str) -> PyResult<Links> {
    match word.parse() {
        Ok(links @ (Links::None | Links::Chain | Links::Full)) => Ok(links),
        _ => Err(bad("hidden_links", &format!("found '{word}', expected none, chain or full"))),
    }
}

/// Links among the columns: a word, a file, or pairs of positions.
fn links(value: &Bound<'_, PyAny>, table: &isinglass::Table) -> PyResult<VisibleLinks> {
    if let Ok(pairs) = value.extract::<PyReadonlyArray2<'_, i64>>() {
        if pairs.shape()[1] != 2 {
            return Err(bad("visible_links", "found an array with other than two columns, expected pairs"));
        }
        let pairs = pairs.as_array();
        let rows = pairs.rows().into_iter();
        let pairs: Option<Vec<(usize, usize)>> =
            rows.map(|row| Some((usize::try_from(row[0]).ok()?, usize::try_from(row[1]).ok()?))).collect();
        let pairs = pairs.ok_or_else(|| bad("visible_links", "found a position below 0"))?;
        return Graph::new(table.columns().len(), pairs).map(VisibleLinks::Given).map_err(of_core);
    }
    let text = text("visible_links", value)?;
    if text == "tree" {
        return Ok(VisibleLinks::Tree);
    }
    if let Some(path) = text.strip_prefix("edges:").filter(|path| !path.is_empty()) {
        let edges = read_edges(path.as_ref()).map_err(of_files)?;
        return edges.graph_over(table.columns()).map(VisibleLinks::Given).map_err(of_files);
    }
    text.parse().map(VisibleLinks::Built).map_err(|_| {
        let expected = "none, chain, tree, full, grid:RxC, grid8:RxC, edges:FILE, or pairs of columns";
        bad("visible_links", &format!("found '{text}', expected {expected}"))
    })
}
