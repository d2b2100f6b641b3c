//! Fits: settings from keywords, the work beside the interpreter, and what came of it.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};

use isinglass::learn::{Bootstrap, Checkpoint, Observer, Step};
use isinglass::message::{Message as _, Style};
use isinglass::settings::Common;
use isinglass::topology::Links;
use isinglass::{CancelToken, Graph, Role};
use isinglass_files::read_edges;
use isinglass_plan::{Error, FitSettings, Fitted, Hint, LearnerName, Plan, Result, Structure, VisibleLinks};
use numpy::{PyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::answers::in_words;
use crate::bootstrap::{Intervals, Resampling};
use crate::errors::{bad, of_core, of_files, of_plan};
use crate::machine::Machine;
use crate::settings::{budget, set, text, whole, word};
use crate::table::Table;
use crate::worker::{PAUSE, broken, settle, spawn};

/// What came of a fit.
struct Done {
    fitted: Fitted,
    notes: Vec<String>,
    /// Where to go on from, if that was asked.
    state: Option<Checkpoint>,
    /// What came of resamples, if there were any.
    intervals: Option<Intervals>,
}

/// What came of a fit, or why there is none.
type Found = Result<Done>;

/// The machine, and how it was found.
type Answer<'py> = (Machine, Bound<'py, PyDict>);

/// What is done with the table, and who watches.
type Work = dyn FnOnce(&mut Watcher) -> Found + Send;

/// What the fit tells.
enum Message {
    /// A step, of so many at most, in a start counted from 0.
    Step {
        step: Step,
        most: usize,
        restart: usize,
    },
    /// So many resamples are done, of so many.
    Resample {
        done: usize,
        count: usize,
    },
    Done(Box<Found>),
}

/// Stops the fit where it is told to; tells of each step if somebody listens, and waits for leave to go on.
struct Watcher {
    stop: Arc<AtomicBool>,
    listener: Option<(Sender<Message>, Receiver<()>)>,
    most: usize,
    restart: usize,
}

impl Watcher {
    /// Fit resamples of the table, if they were asked for.
    fn resample(
        &self,
        bootstrap: Option<Bootstrap>,
        plan: &Plan,
        rows: (&isinglass::Machine, &isinglass::Table),
        fitted: &Fitted,
    ) -> Option<Intervals> {
        let bootstrap = bootstrap?;
        let (stop, tell) = (&*self.stop, self.listener.as_ref().map(|(tell, _)| tell));
        if stop.load(Ordering::SeqCst) {
            return Some(Intervals::of_stopped(&bootstrap));
        }
        // How many have been told of, and one more.
        let told = AtomicUsize::new(0);
        let found = plan.resample(&bootstrap, rows, &fitted.restarted, &|done, count| {
            if let Some(tell) = tell
                && told.fetch_max(done + 1, Ordering::Relaxed) <= done
            {
                // A listener that is gone has raised the token.
                drop(tell.send(Message::Resample { done, count }));
            }
            if stop.load(Ordering::SeqCst) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        Some(Intervals::new(&bootstrap, found))
    }
}

impl Observer for Watcher {
    fn step(&mut self, step: &Step, _machine: &isinglass::Machine) -> isinglass::Result<ControlFlow<()>> {
        if let Some((tell, leave)) = &self.listener {
            let told = tell.send(Message::Step { step: *step, most: self.most, restart: self.restart });
            // A listener that is gone wants the fit no more.
            if told.is_err() || leave.recv().is_err() {
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

/// What is asked of a fit.
struct Asked {
    settings: FitSettings,
    structure: Structure,
    resampling: Resampling,
}

impl Asked {
    /// The machine to be fitted, all its numbers 0.
    fn structure(&self, table: &isinglass::Table) -> isinglass::Result<isinglass::Machine> {
        let without_edges = self.settings.learner == LearnerName::Factorized;
        self.structure.machine(table, without_edges, self.settings.engine.budget())
    }
}

/// Fit a machine to a table, from a start or with a structure; `listener` hears of each iteration, and ends the fit by returning `False`.
#[pyfunction]
#[pyo3(signature = (table, settings, start = None, listener = None))]
pub(crate) fn fit<'py>(
    py: Python<'py>,
    table: &Table,
    settings: &Bound<'py, PyDict>,
    start: Option<&Machine>,
    listener: Option<&Bound<'py, PyAny>>,
) -> PyResult<Answer<'py>> {
    let asked = asked(&table.table, settings, start)?;
    let (rows, table) = (table.table.row_count(), Arc::clone(&table.table));
    let start = start.map(|start| Arc::clone(&start.machine));
    let work = move |watcher: &mut Watcher| -> Found {
        let notes = std::cell::RefCell::new(Vec::new());
        let note = |text: String| notes.borrow_mut().push(text);
        let start = match start {
            Some(start) => start,
            None => Arc::new(asked.structure(&table)?),
        };
        let bootstrap = asked.resampling.bootstrap(&asked.settings.engine);
        if let Some(bootstrap) = &bootstrap {
            bootstrap.check(&start, &table).map_err(|error| Error::from(error).with_hint(Hint::Bootstrap))?;
        }
        let plan = asked.settings.plan(&start, &table, &|choice| note(choice.text(Style::Keywords)))?;
        watcher.most = plan.limits().iterations;
        let fitted = plan.fit(&start, &table, None, watcher)?;
        fitted.restarted.fit.notes.iter().map(|text| text.text(Style::Keywords)).for_each(note);
        let intervals = watcher.resample(bootstrap, &plan, (&start, &table), &fitted);
        intervals.iter().flat_map(Intervals::notes).for_each(note);
        Ok(Done { fitted, notes: notes.into_inner(), state: None, intervals })
    };
    let done = watched(py, Box::new(work), listener)?.map_err(of_plan)?;
    Ok(answer(py, done, rows)?.0)
}

/// Epochs of contrastive divergence, from a machine or a structure, and from what earlier ones have left: momentum and persistent chains. What these leave comes with the fit, in bytes; nothing if parameters ran away.
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
    let asked = asked(&table.table, settings, machine)?;
    if asked.resampling.is_asked() {
        return Err(bad("bootstrap", "resamples are fitted by isinglass.fit; here epochs go on from others"));
    }
    let wrong = |_| bad("state", "found bytes that are none of contrastive divergence");
    let before: Option<Checkpoint> = before.map(postcard::from_bytes).transpose().map_err(wrong)?;
    let (rows, table) = (table.table.row_count(), Arc::clone(&table.table));
    let machine = machine.map(|machine| Arc::clone(&machine.machine));
    let work = move |watcher: &mut Watcher| -> Found {
        let machine = match machine {
            Some(machine) => machine,
            None => Arc::new(asked.settings.start(&asked.structure(&table)?, &table)?),
        };
        watcher.most = asked.settings.contrastive_divergence().iterations;
        let (fitted, state) = asked.settings.run_epochs(&machine, &table, before.as_ref(), watcher)?;
        let notes = fitted.restarted.fit.notes.iter().map(|note| note.text(Style::Keywords)).collect();
        Ok(Done { fitted, notes, state, intervals: None })
    };
    let done = watched(py, Box::new(work), listener)?.map_err(of_plan)?;
    let ((machine, out), state) = answer(py, done, rows)?;
    let state = state.map(|state| postcard::to_stdvec(&state)).transpose().map_err(|_| broken())?;
    Ok((machine, out, state.map(|state| PyBytes::new(py, &state))))
}

/// Do the work beside the interpreter; a listener hears of each iteration.
fn watched(py: Python<'_>, work: Box<Work>, listener: Option<&Bound<'_, PyAny>>) -> PyResult<Found> {
    let stop = Arc::new(AtomicBool::new(false));
    let (sender, receiver) = mpsc::channel();
    let (allow, leave) = mpsc::channel();
    let tells = listener.is_some().then(|| (sender.clone(), leave));
    let mut watcher = Watcher { stop: Arc::clone(&stop), listener: tells, most: 0, restart: 0 };
    let token = CancelToken::new();
    spawn(&token, move || {
        let found = work(&mut watcher);
        // Nobody waits for a fit that comes after Ctrl-C.
        drop(sender.send(Message::Done(Box::new(found))));
    })?;
    wait(py, receiver, &allow, (&stop, &token), listener)
}

/// Wait for the fit, and answer signals and the fit's reports meanwhile.
fn wait(
    py: Python<'_>,
    mut receiver: Receiver<Message>,
    allow: &Sender<()>,
    (stop, token): (&AtomicBool, &CancelToken),
    listener: Option<&Bound<'_, PyAny>>,
) -> PyResult<Found> {
    loop {
        let message;
        (message, receiver) = py.detach(move || (receiver.recv_timeout(PAUSE), receiver));
        let heard = match message {
            Ok(Message::Done(found)) => return Ok(*found),
            Ok(Message::Step { step, most, restart }) => {
                py.check_signals().and_then(|()| hear(listener, &step, most, restart)).map(|goes_on| {
                    if !goes_on {
                        stop.store(true, Ordering::SeqCst);
                    }
                    // A fit that has ended needs no leave.
                    let _ = allow.send(());
                })
            }
            Ok(Message::Resample { done, count }) => {
                py.check_signals().and_then(|()| hear_resample(listener, done, count)).map(|goes_on| {
                    if !goes_on {
                        stop.store(true, Ordering::SeqCst);
                    }
                })
            }
            Err(RecvTimeoutError::Timeout) => py.check_signals(),
            Err(RecvTimeoutError::Disconnected) => return Err(broken()),
        };
        if let Err(error) = heard {
            token.cancel();
            stop.store(true, Ordering::SeqCst);
            let _ = allow.send(());
            py.detach(move || settle(&receiver));
            return Err(error);
        }
    }
}

/// Whether the listener lets the fit go on.
fn hear(listener: Option<&Bound<'_, PyAny>>, step: &Step, most: usize, restart: usize) -> PyResult<bool> {
    let Some(listener) = listener else { return Ok(true) };
    let reply = listener.call1((step.iteration, most, step.objective, step.gradient_norm, restart))?;
    Ok(reply.is_none() || reply.is_truthy()?)
}

/// Tell a listener that wants to know of resamples; whether it lets them go on.
fn hear_resample(listener: Option<&Bound<'_, PyAny>>, done: usize, count: usize) -> PyResult<bool> {
    let method = listener.map(|listener| listener.getattr_opt("resampled")).transpose()?.flatten();
    let Some(method) = method else { return Ok(true) };
    let reply = method.call1((done, count))?;
    Ok(reply.is_none() || reply.is_truthy()?)
}

/// The machine, how it was found, and where to go on from.
fn answer(py: Python<'_>, done: Done, rows: usize) -> PyResult<(Answer<'_>, Option<Checkpoint>)> {
    let Done { fitted, notes, state, intervals } = done;
    let mut warnings = in_words(fitted.warnings());
    warnings.extend(intervals.iter().filter_map(Intervals::warning).map(str::to_owned));
    let Fitted { learner, engine, clamped_engine, restarted, remedy, is_complete } = fitted;
    let fit = restarted.fit;
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
    out.set_item("pseudo_log_likelihood", fit.pseudo_log_likelihood)?;
    out.set_item("restart_objectives", restarted.objectives)?;
    out.set_item("best_restart", restarted.best)?;
    out.set_item("singular", remedy.map(isinglass::learn::Remedy::word))?;
    let steps = fit.history.iter();
    out.set_item("iteration", PyArray1::from_iter(py, steps.clone().map(|step| step.iteration as i64)))?;
    out.set_item("objective", PyArray1::from_iter(py, steps.clone().map(|step| step.objective)))?;
    out.set_item("gradient_norm", PyArray1::from_iter(py, steps.map(|step| step.gradient_norm)))?;
    out.set_item("notes", notes)?;
    out.set_item("warnings", warnings)?;
    out.set_item("intervals", intervals.map(|intervals| intervals.report(py)).transpose()?.flatten())?;
    Ok(((fit.machine.into(), out), state))
}

/// The settings of a fit, checked.
fn asked(table: &isinglass::Table, keywords: &Bound<'_, PyDict>, start: Option<&Machine>) -> PyResult<Asked> {
    let mut settings = FitSettings::default();
    settings.keeps_start = start.is_some();
    let (mut structure, mut resampling, mut common) =
        (complete_graph(), Resampling::default(), Common::default());
    for (key, value) in keywords {
        let key: String = key.extract()?;
        let is_none = value.is_none();
        if resampling.set(&key, &value)? || set_structure(&mut structure, &key, &value, table)? {
            continue;
        }
        match key.as_str() {
            "learner" | "restarts" | "engine" | "clamped_engine" | "budget" | "seed" if is_none => {}
            "learner" => settings.learner = word(&key, &value)?,
            "restarts" => settings.restarts = whole(&key, &value)?,
            "engine" => settings.engine.engine = word(&key, &value)?,
            "clamped_engine" => settings.clamped_engine = Some(word(&key, &value)?),
            "budget" => common.budget = budget(&value)?,
            "seed" => common.seed = value.extract()?,
            _ => set(&key, &value, &mut settings)?,
        }
    }
    let settings = settings.with_common(common);
    let hidden = start.map_or(structure.hidden, |start| start.machine.with_role(Role::Hidden).count());
    settings.check(hidden).map_err(|usage| of_plan(usage.into()))?;
    resampling.check()?;
    Ok(Asked { settings, structure, resampling })
}

/// The structure unless something else is said.
fn complete_graph() -> Structure {
    Structure {
        visible_links: VisibleLinks::Built(Links::Full),
        hidden: 0,
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
        "hidden" => structure.hidden = whole(key, value)?,
        "hidden_links" => structure.hidden_links = hidden_links(&text(key, value)?)?,
        "inputs" => structure.inputs = value.extract()?,
        _ => return Ok(false),
    }
    Ok(true)
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
