//! Ending work from outside: after Ctrl-C, or when nobody waits for its answer any more.
//!
//! A fit can be stopped so that it gives what it has: its observer is asked at every iteration ([`learn::Observer`](crate::learn::Observer)). An interrupt gives work up whole, fits as well as
//! answers: whoever does it passes by [`point`] once in a while, which unwinds the thread if an interrupt was raised there, and
//! [`Interrupt::run`] catches it. So no half-done answer can be taken for one, and no function between the two need know.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::ThreadPool;

/// A wish that work be given up. Clones are the same wish, so that one may be kept where the work is waited for.
///
/// ```
/// use isinglass::{Engine, Evidence, Interrupt, Pairs, Trw, topology};
///
/// let glass = topology::sherrington_kirkpatrick(200, 1.0, 7)?;
/// let pool = rayon::ThreadPoolBuilder::new().build()?;
/// let interrupt = Interrupt::new();
/// let work = || Trw::default().expectations(&glass, &Evidence::none(200), Pairs::None);
/// let answer = std::thread::scope(|scope| {
///     let worker = scope.spawn(|| interrupt.run(&pool, work));
///     interrupt.raise();
///     worker.join()
/// });
/// assert!(answer.is_ok_and(|answer| answer.is_none()), "given up");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Interrupt {
    raised: Arc<AtomicBool>,
}

thread_local! {
    /// The interrupt of the work that this thread is doing.
    static CURRENT: RefCell<Option<Interrupt>> = const { RefCell::new(None) };
}

/// What a thread unwinds with.
struct GivenUp;

impl Interrupt {
    /// One that has not been raised.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Have the work given up, now or when it begins.
    pub fn raise(&self) {
        self.raised.store(true, Ordering::Relaxed);
    }

    /// Whether [`raise`](Self::raise) was called.
    #[must_use]
    pub fn is_raised(&self) -> bool {
        self.raised.load(Ordering::Relaxed)
    }

    /// Do work on the threads of a pool, which nothing else may use meanwhile. *Result*: nothing if the work was given up.
    ///
    /// Work on the threads of another pool within it is not given up with it, unless it has an interrupt of its own. Programs that abort where others unwind (`panic = "abort"`) end when an
    /// interrupt is raised.
    ///
    /// # Panics
    /// If the work does.
    pub fn run<T: Send>(&self, pool: &ThreadPool, work: impl FnOnce() -> T + Send) -> Option<T> {
        let _present = Present::on(pool, self);
        let work = || {
            point();
            work()
        };
        // Whatever the work had in hand is dropped with it, and locks in this crate guard nothing that can be left half-made.
        match catch_unwind(AssertUnwindSafe(|| pool.install(work))) {
            Ok(answer) => Some(answer),
            Err(payload) if payload.is::<GivenUp>() => None,
            Err(payload) => resume_unwind(payload),
        }
    }
}

/// While this exists, the threads of a pool know an interrupt; then again what they knew before.
struct Present<'a> {
    pool: &'a ThreadPool,
    before: Vec<Option<Interrupt>>,
}

impl<'a> Present<'a> {
    fn on(pool: &'a ThreadPool, interrupt: &Interrupt) -> Self {
        let before = pool.broadcast(|_| CURRENT.replace(Some(interrupt.clone())));
        Self { pool, before }
    }
}

impl Drop for Present<'_> {
    fn drop(&mut self) {
        self.pool.broadcast(|thread| CURRENT.set(self.before[thread.index()].clone()));
    }
}

/// The interrupt of this thread's work, for other threads that do some of it; one that nobody raises where there is none.
pub(crate) fn current() -> Interrupt {
    CURRENT.with_borrow(Clone::clone).unwrap_or_default()
}

/// Give up the work of this thread if its interrupt was raised. To be passed in every loop that may go on for long, every 100 ms or more often; costs some nanoseconds.
#[inline]
pub fn point() {
    let is_raised = CURRENT.with_borrow(|current| current.as_ref().is_some_and(Interrupt::is_raised));
    if is_raised {
        give_up();
    }
}

/// Unwind without a word: this is no panic.
#[cold]
fn give_up() -> ! {
    let payload: Box<dyn Any + Send> = Box::new(GivenUp);
    resume_unwind(payload)
}
