//! Ending work from outside: after Ctrl-C, or when nobody waits for its answer any more.
//!
//! Fits are asked at every iteration whether to go on, and then give what they have ([`learn::Observer`](crate::learn::Observer)). Other work has nothing to give before its
//! end, and is given up whole: whoever does it passes by [`point`] once in a while, which unwinds the thread if an interrupt was raised there, and
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
/// use isinglass::{Engine, Evidence, Gibbs, Interrupt, Machine, Pairs, topology};
///
/// let machine = Machine::from_graph(topology::grid(20, 20));
/// let long = Gibbs { samples: 1_000_000, ..Gibbs::default() };
/// let pool = rayon::ThreadPoolBuilder::new().build()?;
/// let interrupt = Interrupt::new();
/// let answer = std::thread::scope(|scope| {
///     let work = || long.expectations(&machine, &Evidence::none(400), Pairs::None);
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

/// While this exists, the threads of a pool know an interrupt.
struct Present<'a>(&'a ThreadPool);

impl<'a> Present<'a> {
    fn on(pool: &'a ThreadPool, interrupt: &Interrupt) -> Self {
        pool.broadcast(|_| CURRENT.set(Some(interrupt.clone())));
        Self(pool)
    }
}

impl Drop for Present<'_> {
    fn drop(&mut self) {
        self.0.broadcast(|_| CURRENT.set(None));
    }
}

/// The interrupt of this thread's work, for other threads that do some of it; one that nobody raises where there is none.
pub(crate) fn current() -> Interrupt {
    CURRENT.with_borrow(Clone::clone).unwrap_or_default()
}

/// Give up the work of this thread if its interrupt was raised. To be passed in every loop that may go on for long, each 100 ms at least; costs some nanoseconds.
#[inline]
pub(crate) fn point() {
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
