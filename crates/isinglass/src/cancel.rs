//! Cancellation of work from outside: after Ctrl-C, or when nobody waits for the answer any more.
//!
//! A fit can be stopped so that it returns what it has: its observer decides at every iteration
//! ([`learn::Observer`](crate::learn::Observer)). A cancellation token discards the work instead.
//! Long loops pass a cancellation [`point`], which unwinds the thread if the token was cancelled;
//! [`CancelToken::run`] catches the unwinding. No partial answer escapes, and no function between
//! the two has to handle cancellation.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::ThreadPool;

/// A cancellation token. Clones share their state.
///
/// # Example
/// ```
/// use isinglass::prelude::*;
///
/// let glass = topology::sherrington_kirkpatrick(200, 1.0, 7)?;
/// let pool = rayon::ThreadPoolBuilder::new().build()?;
/// let token = CancelToken::new();
/// let work = || Trw::new().expectations(&glass, &Evidence::none(200), Pairs::None);
/// let answer = std::thread::scope(|scope| {
///     let worker = scope.spawn(|| token.run(&pool, work));
///     token.cancel();
///     worker.join()
/// });
/// assert!(answer.is_ok_and(|answer| answer.is_none()), "cancelled");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct CancelToken {
    cancelled: Arc<AtomicBool>,
}

thread_local! {
    /// The token of the work that this thread does.
    static CURRENT: RefCell<Option<CancelToken>> = const { RefCell::new(None) };
}

/// The payload of the unwinding.
struct Cancelled;

impl CancelToken {
    /// A token that is not cancelled.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Cancels the work, now or as soon as it begins.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether [`cancel`](Self::cancel) was called.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Runs work on the threads of a pool that nothing else uses meanwhile. Returns `None` if the
    /// work was cancelled.
    ///
    /// Work that it delegates to another pool is cancelled only by a token of its own. In programs
    /// built with `panic = "abort"`, cancelling ends the process.
    ///
    /// # Panics
    /// If the work panics.
    pub fn run<T: Send>(&self, pool: &ThreadPool, work: impl FnOnce() -> T + Send) -> Option<T> {
        let _present = Present::on(pool, self);
        let work = || {
            point();
            work()
        };
        // Unwind safe: whatever the work held is dropped with it, and locks in this crate guard
        // nothing that can be left half-made.
        match catch_unwind(AssertUnwindSafe(|| pool.install(work))) {
            Ok(answer) => Some(answer),
            Err(payload) if payload.is::<Cancelled>() => None,
            Err(payload) => resume_unwind(payload),
        }
    }
}

/// Sets the token of all threads of a pool while it exists, and restores their former tokens.
struct Present<'a> {
    pool: &'a ThreadPool,
    before: Vec<Option<CancelToken>>,
}

impl<'a> Present<'a> {
    fn on(pool: &'a ThreadPool, token: &CancelToken) -> Self {
        let before = pool.broadcast(|_| CURRENT.replace(Some(token.clone())));
        Self { pool, before }
    }
}

impl Drop for Present<'_> {
    fn drop(&mut self) {
        self.pool.broadcast(|thread| CURRENT.set(self.before[thread.index()].clone()));
    }
}

/// The token of this thread's work, to be passed on to other threads; a fresh one if there is none.
pub(crate) fn current() -> CancelToken {
    CURRENT.with_borrow(Clone::clone).unwrap_or_default()
}

/// A cancellation point: unwinds if the token of this thread was cancelled.
///
/// Every long loop passes one at least every 100 ms. It costs a few nanoseconds.
#[inline]
pub fn point() {
    let is_cancelled = CURRENT.with_borrow(|token| token.as_ref().is_some_and(CancelToken::is_cancelled));
    if is_cancelled {
        unwind();
    }
}

/// Unwinds without the panic hook: this is no panic.
#[cold]
fn unwind() -> ! {
    let payload: Box<dyn Any + Send> = Box::new(Cancelled);
    resume_unwind(payload)
}
