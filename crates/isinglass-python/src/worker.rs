//! Work beside the interpreter: its lock is released, and signals are answered while the work goes on.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use isinglass::Machine;
use isinglass_plan::{EngineName, EngineSettings};
use pyo3::PyResult;
use pyo3::Python;
use pyo3::exceptions::PyRuntimeError;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// From one look for signals to the next: Ctrl-C is answered well within a second.
pub(crate) const PAUSE: Duration = Duration::from_millis(50);

/// The stack of a main thread; that of other threads is smaller by default.
const STACK: usize = 8 << 20;

/// Do work and wait for it: what is short on this thread, anything else on one of its own.
///
/// After Ctrl-C, whatever Python makes of it is raised at once. The computation cannot be ended from outside; it goes on to its end, unheard, and
/// others have other threads meanwhile.
pub(crate) fn run<T: Send + 'static>(
    py: Python<'_>,
    is_short: bool,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    if is_short {
        return py.detach(|| in_pool(work));
    }
    let (sender, mut receiver) = mpsc::sync_channel(1);
    // Nobody waits for an answer that comes after Ctrl-C.
    spawn(move || drop(sender.send(work())))?;
    loop {
        let found;
        (found, receiver) = py.detach(move || (receiver.recv_timeout(PAUSE), receiver));
        match found {
            Ok(found) => return Ok(found),
            Err(RecvTimeoutError::Timeout) => {
                if let Err(interrupt) = py.check_signals() {
                    leave_threads()?;
                    return Err(interrupt);
                }
            }
            Err(RecvTimeoutError::Disconnected) => return Err(broken()),
        }
    }
}

/// Units for which any engine with its usual settings is through in much less than a second, exact ones in less than a millisecond.
const FEW: usize = 12;

/// Whether a question is answered before anybody could wish to interrupt it.
pub(crate) fn is_short(machine: &Machine, settings: &EngineSettings) -> bool {
    let EngineSettings { engine, budget, seed, .. } = *settings;
    let is_exact = matches!(engine, EngineName::Enumerate | EngineName::Decimate | EngineName::Eliminate);
    let is_usual = *settings == EngineSettings { engine, budget, seed, ..EngineSettings::default() };
    machine.units() <= FEW && (is_exact || is_usual)
}

/// Begin work on a thread of its own.
pub(crate) fn spawn(work: impl FnOnce() + Send + 'static) -> PyResult<()> {
    let builder = thread::Builder::new().name("isinglass".into()).stack_size(STACK);
    // Without threads, what waits for the work hears that it has ended.
    builder.spawn(|| drop(in_pool(work)))?;
    Ok(())
}

/// Threads that work is shared among, where these are not the usual ones.
struct Threads {
    /// The process they are of. One that is forked from it has inherited their names, but none of them.
    process: u32,
    /// None stands for the usual ones.
    pool: Option<Arc<ThreadPool>>,
}

static THREADS: Mutex<Option<Threads>> = Mutex::new(None);

/// Do work where it finds threads to share it with.
fn in_pool<T: Send>(work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let process = std::process::id();
    let mut threads = THREADS.lock().unwrap_or_else(PoisonError::into_inner);
    let pool = match &*threads {
        Some(threads) if threads.process == process => threads.pool.clone(),
        None => threads.insert(Threads { process, pool: None }).pool.clone(),
        // Threads that only the process before had cannot be waited for: their pool is never ended.
        Some(others) => {
            std::mem::forget(others.pool.clone());
            threads.insert(Threads { process, pool: Some(new_pool()?) }).pool.clone()
        }
    };
    drop(threads);
    Ok(match pool {
        Some(pool) => pool.install(work),
        None => work(),
    })
}

/// Leave the threads to work that nobody waits for any more: what comes next has threads of its own, and need not wait for its end.
pub(crate) fn leave_threads() -> PyResult<()> {
    let mut threads = THREADS.lock().unwrap_or_else(PoisonError::into_inner);
    // The pool that is left ends with its work, which holds it.
    *threads = Some(Threads { process: std::process::id(), pool: Some(new_pool()?) });
    Ok(())
}

fn new_pool() -> PyResult<Arc<ThreadPool>> {
    let pool = ThreadPoolBuilder::new().stack_size(STACK).build();
    pool.map(Arc::new).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}

/// What to say where the work ended without an answer.
pub(crate) fn broken() -> pyo3::PyErr {
    PyRuntimeError::new_err("isinglass broke off: this is a fault in the program; please report it")
}
