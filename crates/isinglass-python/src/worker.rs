//! Work on a thread of its own: the lock of the interpreter is released, and signals are handled
//! meanwhile.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use isinglass::{CancelToken, Machine};
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
/// After Ctrl-C the work is cancelled, and Python's exception is raised as soon as it has ended or
/// a little time has passed; other calls have threads of their own.
pub(crate) fn run<T: Send + 'static>(
    py: Python<'_>,
    is_short: bool,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    if is_short {
        return py.detach(|| at_once(work));
    }
    let (sender, mut receiver) = mpsc::sync_channel(1);
    let token = CancelToken::new();
    // Nobody waits for an answer that comes after Ctrl-C.
    spawn(&token, move || drop(sender.send(work())))?;
    loop {
        let found;
        (found, receiver) = py.detach(move || (receiver.recv_timeout(PAUSE), receiver));
        match found {
            Ok(found) => return Ok(found),
            Err(RecvTimeoutError::Timeout) => {
                if let Err(error) = py.check_signals() {
                    token.cancel();
                    py.detach(move || settle(&receiver));
                    return Err(error);
                }
            }
            Err(RecvTimeoutError::Disconnected) => return Err(broken()),
        }
    }
}

/// How long cancelled work is waited for; after that its result is discarded.
const GRACE: Duration = Duration::from_millis(300);

/// Give work that was interrupted a little time to end.
pub(crate) fn settle<T>(receiver: &Receiver<T>) {
    let end = Instant::now() + GRACE;
    while receiver.recv_timeout(end.saturating_duration_since(Instant::now())).is_ok() {}
}

/// Units for which any engine with its usual settings is through in much less than a second, exact
/// ones in less than a millisecond.
const FEW: usize = 12;

/// Whether a question is answered before anybody could cancel it.
pub(crate) fn is_short(machine: &Machine, settings: &EngineSettings) -> bool {
    let engine = settings.engine;
    let is_exact = matches!(engine, EngineName::Enumerate | EngineName::Decimate | EngineName::Eliminate);
    machine.unit_count() <= FEW && (is_exact || settings.is_default())
}

/// Begin work on a thread of its own, cancelled by the token.
pub(crate) fn spawn(token: &CancelToken, work: impl FnOnce() + Send + 'static) -> PyResult<()> {
    let token = token.clone();
    let builder = thread::Builder::new().name("isinglass".into()).stack_size(STACK);
    // Without threads, what waits for the work hears that it has ended.
    builder.spawn(move || drop(with_own_threads(&token, work)))?;
    Ok(())
}

/// Sets of threads that are kept for later work at most.
const MOST_IDLE: usize = 4;

/// Threads that wait for work, and the process they are of. One that is forked from it has
/// inherited their names, but none of them.
struct Idle {
    process: u32,
    pools: Vec<ThreadPool>,
}

static IDLE: Mutex<Idle> = Mutex::new(Idle { process: 0, pools: Vec::new() });

/// The process that has the usual threads.
static FIRST: OnceLock<u32> = OnceLock::new();

fn idle() -> MutexGuard<'static, Idle> {
    let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    if idle.process != process {
        // Threads that only the process before had cannot be waited for: their pools are never ended.
        std::mem::forget(std::mem::take(&mut idle.pools));
        idle.process = process;
    }
    idle
}

/// Do work with threads of its own, so that it need not wait for other work: that of another
/// thread, or work that is being cancelled.
fn with_own_threads<T: Send>(token: &CancelToken, work: impl FnOnce() -> T + Send) -> PyResult<Option<T>> {
    let waiting = idle().pools.pop();
    let pool = match waiting {
        Some(pool) => pool,
        None => ThreadPoolBuilder::new()
            .stack_size(STACK)
            .build()
            .map_err(|error| PyRuntimeError::new_err(error.to_string()))?,
    };
    let found = token.run(&pool, work);
    let mut idle = idle();
    if idle.pools.len() < MOST_IDLE {
        idle.pools.push(pool);
    }
    Ok(found)
}

/// Do what is short: with the usual threads, which nothing else uses, where they are.
fn at_once<T: Send>(work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let process = std::process::id();
    if *FIRST.get_or_init(|| process) == process {
        return Ok(work());
    }
    with_own_threads(&CancelToken::new(), work)?.ok_or_else(broken)
}

/// What to say where the work ended without an answer.
pub(crate) fn broken() -> pyo3::PyErr {
    PyRuntimeError::new_err("isinglass broke off: this is a fault in the program; please report it")
}
