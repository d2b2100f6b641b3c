//! Fits of many tables that are drawn from one: the tables, and the fits in turn.
//!
//! [`Bootstrap`](super::Bootstrap) draws rows with replacement, and
//! [`CaseDropping`](crate::network::CaseDropping) leaves rows out.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use rand::RngExt;
use rand_distr::{Binomial, Distribution};

use super::{Fit, Learner, Observer, Progress, Step};
use crate::cancel;
use crate::numeric::streams::{Purpose, stream};
use crate::{Error, Machine, Result, Table};

/// What became of the fit to one of the tables.
pub(crate) enum Outcome<T> {
    /// What was read off it.
    Done(T),
    /// Why it failed.
    Failed(String),
    /// It was stopped on request.
    Stopped,
}

/// Fits of a learner, each from the same start and on one thread.
pub(crate) struct Fits<'a> {
    /// Who asks, for messages.
    pub(crate) name: &'static str,
    pub(crate) learner: &'a (dyn Learner + Sync),
    pub(crate) start: &'a Machine,
    /// The number of tables.
    pub(crate) count: usize,
    pub(crate) progress: &'a Progress<'a>,
}

impl Fits<'_> {
    /// Draws the tables, fits each, and reads something off each fit, in the order of the tables.
    ///
    /// # Errors
    /// Those of drawing and reading; errors of the learner other than breakdowns, which are
    /// outcomes.
    pub(crate) fn read<T: Send>(
        &self,
        draw: &(dyn Fn(usize) -> Result<Table> + Sync),
        read: &(dyn Fn(&Fit, &Table) -> Result<T> + Sync),
    ) -> Result<Vec<Outcome<T>>> {
        let (stop, done) = (AtomicBool::new(false), AtomicUsize::new(0));
        let one = |index: usize| -> Result<Outcome<T>> {
            let table = draw(index)?;
            let is_stopped = || {
                let flow = (self.progress)(done.load(Ordering::Relaxed), self.count);
                stop.fetch_or(flow.is_break(), Ordering::Relaxed) || flow.is_break()
            };
            let mut observer = Stoppable { is_stopped: &is_stopped, stopped: false };
            let outcome = match self.learner.fit_with(self.start, &table, &mut observer) {
                _ if observer.stopped => return Ok(Outcome::Stopped),
                Ok(fit) => Outcome::Done(read(&fit, &table)?),
                Err(Error::Numerical { problem, .. }) => Outcome::Failed(problem),
                Err(error) if error.is_breakdown() => Outcome::Failed(error.to_string()),
                Err(other) => return Err(other),
            };
            done.fetch_add(1, Ordering::Relaxed);
            is_stopped();
            Ok(outcome)
        };
        in_turn(self.name, self.count, &stop, &one)
    }
}

/// The threads that a number of fits is made on.
pub(crate) fn workers(fits: usize) -> usize {
    rayon::current_num_threads().min(fits)
}

/// Runs pieces of work in order, as many at a time as there are threads, until all are done, one
/// fails, or a stop is requested.
///
/// Each worker has a pool of one thread. In a common pool, a fit that waits for its own parts could
/// begin another fit in the meantime, and so hold the memory of many.
pub(crate) fn in_turn<T: Send>(
    name: &'static str,
    count: usize,
    stop: &AtomicBool,
    work: &(dyn Fn(usize) -> Result<T> + Sync),
) -> Result<Vec<T>> {
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let worker = || {
        let mut done = Vec::new();
        while !stop.load(Ordering::Relaxed) && !failed.load(Ordering::Relaxed) {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= count {
                break;
            }
            let found = work(index);
            failed.fetch_or(found.is_err(), Ordering::Relaxed);
            done.push((index, found));
        }
        done
    };
    let pools = (0..workers(count)).map(|_| rayon::ThreadPoolBuilder::new().num_threads(1).build());
    let pools: Vec<rayon::ThreadPool> = pools.collect::<Result<_, _>>().map_err(|error| Error::CannotDo {
        who: name,
        what: "start its threads".into(),
        why: error.to_string(),
    })?;
    let token = &cancel::current();
    let mut all = thread::scope(|scope| {
        let run = |pool| scope.spawn(move || token.run(pool, worker));
        let running: Vec<_> = pools.iter().map(run).collect();
        let mut all = Vec::with_capacity(count);
        for one in running {
            match one.join() {
                Ok(done) => all.extend(done.into_iter().flatten()),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        all
    });
    // If workers were cancelled, so is this thread.
    cancel::point();
    // All before the first that failed were started before it, and are done: the error is the same
    // on any number of threads.
    all.sort_by_key(|(index, _)| *index);
    all.into_iter().map(|(_, found)| found).collect()
}

/// The value below which a share of sorted values lies, interpolated linearly; NaN if there are none.
pub(crate) fn quantile(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let place = share * last as f64;
    let below = place.floor() as usize;
    let part = place - below as f64;
    (1.0 - part) * sorted[below] + part * sorted[(below + 1).min(last)]
}

/// The distinct rows of a table, from which others are drawn.
pub(crate) struct Rows<'a> {
    name: &'static str,
    table: &'a Table,
    /// The rows that have weight, in the order of their cells.
    order: Vec<usize>,
    /// Whether weights are counts of rows.
    is_whole: bool,
    /// The number of rows, and the weight of each.
    pub(crate) count: u64,
    unit: f64,
}

impl<'a> Rows<'a> {
    pub(crate) fn of(name: &'static str, table: &'a Table) -> Result<Self> {
        let mut order: Vec<usize> =
            (0..table.distinct_count()).filter(|&row| table.weight(row) > 0.0).collect();
        order.sort_by_key(|&row| table.row(row));
        let total: f64 = order.iter().map(|&row| table.weight(row)).sum();
        if order.is_empty() {
            return Err(Error::invalid("table", "the rows have no weight"));
        }
        // Beyond 2⁵³ not every whole number is representable.
        let is_whole = total < 9e15 && order.iter().all(|&row| table.weight(row).fract() == 0.0);
        let count = if is_whole { total as u64 } else { table.row_count() as u64 };
        Ok(Self { name, table, order, is_whole, count, unit: total / count as f64 })
    }

    /// Draws as many rows as there are, with replacement: for each row in turn, a binomial count of
    /// the remaining draws.
    pub(crate) fn draw(&self, seed: u64, index: u64) -> Result<Table> {
        let mut random = stream(seed, Purpose::Resample, index);
        let mut resample = Table::new(self.table.columns().iter().cloned())?;
        // From the end, so that the last share is 1 despite rounding.
        let mut sums = vec![0.0; self.order.len() + 1];
        for (k, &row) in self.order.iter().enumerate().rev() {
            sums[k] = sums[k + 1] + self.table.weight(row);
        }
        let mut left = self.count;
        for (k, &row) in self.order.iter().enumerate() {
            if left == 0 {
                break;
            }
            let share = (self.table.weight(row) / sums[k]).min(1.0);
            let binomial = Binomial::new(left, share)
                .map_err(|error| Error::Numerical { method: self.name, problem: error.to_string() })?;
            let count = binomial.sample(&mut random);
            // Whole weights are counts of rows; other weights are not, and learners may use the
            // number of rows.
            let (times, weight) = if self.is_whole { (1, count as f64) } else { (count, self.unit) };
            for _ in 0..times.min(count) {
                resample.push(self.table.row(row), weight)?;
            }
            left -= count;
        }
        Ok(resample)
    }

    /// Keeps a number of the rows, each equally likely (selection sampling: Knuth, volume 2, 3.4.2).
    ///
    /// Where weights are not counts, the rows as given are drawn, and rows with the same cells share
    /// their weight.
    pub(crate) fn keep(&self, kept: u64, seed: u64, index: u64) -> Result<Table> {
        let mut random = stream(seed, Purpose::Subset, index);
        let mut subset = Table::new(self.table.columns().iter().cloned())?;
        let mut given = vec![0u64; self.table.distinct_count()];
        if !self.is_whole {
            self.table.distinct_of().iter().for_each(|&row| given[row as usize] += 1);
        }
        let (mut left, mut wanted) = (self.count, kept.min(self.count));
        for &row in &self.order {
            let whole = self.table.weight(row);
            let times = if self.is_whole { whole as u64 } else { given[row] };
            let mut count = 0u64;
            for _ in 0..times {
                if random.random_range(0..left) < wanted {
                    count += 1;
                    wanted -= 1;
                }
                left -= 1;
            }
            if self.is_whole {
                if count > 0 {
                    subset.push(self.table.row(row), count as f64)?;
                }
            } else {
                for _ in 0..count {
                    subset.push(self.table.row(row), whole / times as f64)?;
                }
            }
        }
        Ok(subset)
    }
}

/// Checks after every iteration whether to stop.
struct Stoppable<'a> {
    is_stopped: &'a dyn Fn() -> bool,
    /// Whether this fit was stopped.
    stopped: bool,
}

impl Observer for Stoppable<'_> {
    fn step(&mut self, _step: &Step, _machine: &Machine) -> Result<ControlFlow<()>> {
        self.stopped = (self.is_stopped)();
        Ok(if self.stopped { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }
}
