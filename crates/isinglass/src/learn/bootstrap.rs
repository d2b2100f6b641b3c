//! Confidence intervals of a fit: the same fit to resampled rows, many times.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use rand_distr::{Binomial, Distribution};
use rayon::prelude::*;

use super::{Fit, Learner, Observer, Step};
use crate::cancel;
use crate::numeric::streams::{Purpose, stream};
use crate::{Budget, Error, Machine, Note, Result, Role, Table};

const NAME: &str = "bootstrap";

/// Parameters beyond this (divided by T) exceed what rows can determine: two units coupled so
/// strongly differ about once in ten million rows.
const UNBOUNDED: f64 = 8.0;

/// Least number of resamples, and least share of those requested, for meaningful intervals.
const LEAST: usize = 10;
const LEAST_SHARE: f64 = 0.2;

/// Computes confidence intervals of couplings and biases by the bootstrap (Efron 1979): the spread
/// of the parameters of machines fitted to rows drawn with replacement.
///
/// The interval of a parameter reaches from its `(1 − level)/2` quantile to its `(1 + level)/2`
/// quantile (the percentile interval: Efron and Tibshirani 1993, chapter 13), interpolated
/// linearly. Every fit has the start of the fit to the table: from the fitted machine, learners
/// with a fixed number of steps would train longer, and those without a finite optimum would not
/// move.
///
/// **Hidden units.** A machine is equivalent with the sign of a hidden unit flipped, and mostly
/// with two of them exchanged. After each fit hidden units get the signs of the fitted machine, by
/// the sum of products of their couplings. The common start mostly keeps their order, but not
/// always: intervals of their couplings may mix several units, and are then too wide.
///
/// **Rows and weights.** If all weights are whole numbers, a row of weight w counts as w rows, and
/// as many rows are drawn as the weights add up to. Otherwise as many are drawn as rows were given,
/// with probabilities in proportion to their weights, and the total weight is kept.
///
/// **Determinism.** Resample k has its own random stream: the seed fixes all, on any number of
/// threads, and more resamples keep those of fewer. The order of the rows has no effect if weights
/// are whole.
///
/// # Complexity
/// One fit per resample, each on one thread. *Memory*: 8 bytes for each parameter and resample, and
/// for each thread a table and machines. The learner's memory is not in the estimate: each fit
/// keeps to the learner's own budget, and there is one per thread.
///
/// # Accuracy, and when it fails
/// Limits are estimates: with B resamples the tail of a 95 % interval rests on B/40 of them. Rows
/// are assumed independent; for a time series, intervals are too narrow. Percentile intervals do
/// not correct a learner's bias: with penalties they are intervals of shrunk parameters. Resamples
/// without a finite optimum count, since intervals without them would be too narrow; a note reports
/// parameters beyond 8 T, whose intervals say where the learner stopped, and fits that did not
/// converge. Only one start is used per resample.
///
/// # Example
/// ```
/// use std::ops::ControlFlow;
/// use isinglass::{Machine, Table, topology};
/// use isinglass::learn::{Bootstrap, Learner, PseudoLikelihood};
/// let mut table = Table::new(["a", "b"])?;
/// for (row, weight) in [([1, 1], 40.0), ([-1, -1], 40.0), ([1, -1], 10.0), ([-1, 1], 10.0)] {
///     table.push(&row, weight)?;
/// }
/// let learner = PseudoLikelihood::default();
/// let start = topology::full(2).with_names(["a", "b"])?;
/// let fitted = learner.fit(&start, &table)?.machine;
/// let bootstrap = Bootstrap { resamples: 200, ..Bootstrap::default() };
/// let found = bootstrap.run(&learner, &start, &fitted, &table, &|_done, _of| ControlFlow::Continue(()))?;
/// let coupling = found.couplings[0];
/// assert!(coupling.low < coupling.fitted && coupling.fitted < coupling.high);
/// assert!(coupling.low > 0.4 && coupling.same_sign == 1.0, "far from 0");
/// assert!(found.biases[0].low < 0.0 && found.biases[0].high > 0.0, "there may be none");
/// # Ok::<(), isinglass::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bootstrap {
    /// The number of resamples, at least 1.
    pub resamples: usize,
    /// The share of machines that an interval is to cover, above 0 and below 1.
    pub level: f64,
    /// The seed of all resamples.
    pub seed: u64,
    /// Memory that may be taken.
    pub budget: Budget,
}

impl Default for Bootstrap {
    fn default() -> Self {
        Self { resamples: 1000, level: 0.95, seed: 0, budget: Budget::default() }
    }
}

/// A parameter of a machine with its confidence interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The value of the fit.
    pub fitted: f64,
    /// The lower limit.
    pub low: f64,
    /// The upper limit.
    pub high: f64,
    /// The share of resamples in which it is not 0.
    pub not_zero: f64,
    /// The share of resamples in which it has the sign of the fit; 0 counts as a sign of its own.
    pub same_sign: f64,
}

/// The result of [`Bootstrap`].
#[derive(Debug, Clone, PartialEq)]
pub struct Bootstrapped {
    /// For each edge of the fitted machine, in the order of its graph; an edge that a resample's
    /// machine lacks counts as 0.
    pub couplings: Vec<Interval>,
    /// For each unit.
    pub biases: Vec<Interval>,
    /// The resamples that the intervals rest on.
    pub resamples: usize,
    /// Those of them whose fits did not converge.
    pub unconverged: usize,
    /// Resamples that could not be fitted; they are not among the others.
    pub failed: usize,
    /// What the user should know.
    pub notes: Vec<Note>,
}

/// The parameters of a resample's machine, and whether its fit converged; or why there is none.
enum Outcome {
    Fitted { numbers: Vec<f64>, converged: bool, bounded: bool },
    Failed(String),
    Stopped,
}

/// Called by any thread after every iteration and every fit with the number of resamples done and
/// requested; `Break` stops running fits and starts no others.
pub type Progress<'a> = dyn Fn(usize, usize) -> ControlFlow<()> + Sync + 'a;

impl Bootstrap {
    /// Fits resamples of a table, all from the start of the fit to the table itself.
    ///
    /// If `progress` stops it, the intervals rest on the resamples done; which these are depends on
    /// the threads.
    ///
    /// # Errors
    /// Those of [`check`](Self::check); a table whose rows have no weight; errors of the learner
    /// other than breakdowns ([`Error::is_breakdown`]), which are counted; no resample that could be
    /// fitted.
    pub fn run(
        &self,
        learner: &(dyn Learner + Sync),
        start: &Machine,
        fitted: &Machine,
        table: &Table,
        progress: &Progress<'_>,
    ) -> Result<Bootstrapped> {
        self.check(fitted, table)?;
        let rows = Rows::of(table)?;
        let (stop, done) = (AtomicBool::new(false), AtomicUsize::new(0));
        let one = |index: usize| -> Result<Outcome> {
            let resample = rows.draw(self.seed, index as u64)?;
            let is_stopped = || {
                let flow = progress(done.load(Ordering::Relaxed), self.resamples);
                stop.fetch_or(flow.is_break(), Ordering::Relaxed) || flow.is_break()
            };
            let mut observer = Stoppable { is_stopped: &is_stopped, stopped: false };
            let outcome = match learner.fit_with(start, &resample, &mut observer) {
                _ if observer.stopped => return Ok(Outcome::Stopped),
                Ok(fit) => Outcome::of(&fit, fitted)?,
                Err(Error::Numerical { problem, .. }) => Outcome::Failed(problem),
                Err(error) if error.is_breakdown() => Outcome::Failed(error.to_string()),
                Err(other) => return Err(other),
            };
            done.fetch_add(1, Ordering::Relaxed);
            is_stopped();
            Ok(outcome)
        };
        let outcomes = in_turn(self.resamples, &stop, &one)?;
        self.summarise(fitted, outcomes)
    }

    /// Checks settings and the memory of [`run`](Self::run), before the fit to the table itself;
    /// the learner's memory is left to its own budget.
    ///
    /// # Errors
    /// No resamples, a level that is not between 0 and 1, more memory than the budget has.
    pub fn check(&self, machine: &Machine, table: &Table) -> Result<()> {
        if self.resamples == 0 {
            return Err(Error::invalid("resamples", "found 0, expected at least 1"));
        }
        if !(self.level > 0.0 && self.level < 1.0) {
            let problem = format!("found {}, expected a number above 0 and below 1", self.level);
            return Err(Error::invalid("level", problem));
        }
        let (units, edges) = (machine.unit_count() as u128, machine.weights().len() as u128);
        let numbers = units + edges;
        let threads = workers(self.resamples) as u128;
        // A table has its cells, and for each row a weight, its number, and a slot of the hash
        // table.
        let of_table = table.distinct_count() as u128 * (table.columns().len() as u128 + 20)
            + 4 * table.row_count() as u128;
        // The machine of a fit, and the one before it.
        let of_machines = 2 * Machine::bytes(units, edges);
        let needed = 8 * numbers * self.resamples as u128 + (threads + 1) * of_table + threads * of_machines;
        self.budget.check(NAME, needed, || {
            format!("{} resamples of {numbers} numbers, with {threads} tables,", self.resamples)
        })
    }

    /// Whether there are enough of the requested resamples for meaningful intervals.
    #[must_use]
    pub fn is_enough(&self, found: &Bootstrapped) -> bool {
        let (done, requested) = (found.resamples, self.resamples);
        done == requested || done >= LEAST && done as f64 >= LEAST_SHARE * requested as f64
    }

    fn summarise(&self, fitted: &Machine, outcomes: Vec<Outcome>) -> Result<Bootstrapped> {
        let (mut samples, mut failures) = (Vec::new(), Vec::new());
        let (mut unconverged, mut unbounded) = (0, 0);
        for outcome in outcomes {
            match outcome {
                Outcome::Fitted { numbers, converged, bounded } => {
                    unconverged += usize::from(!converged);
                    unbounded += usize::from(!bounded);
                    samples.push(numbers);
                }
                Outcome::Failed(problem) => failures.push(problem),
                Outcome::Stopped => {}
            }
        }
        let tried = samples.len() + failures.len();
        if samples.is_empty() {
            let problem = failures.first().map_or_else(
                || "stopped on request before any resample was done".to_owned(),
                |first| format!("none of {tried} resamples could be fitted; the first: {first}"),
            );
            return Err(Error::Numerical { method: NAME, problem });
        }
        let mut notes = Vec::new();
        if let Some(first) = failures.first() {
            notes.push(Note::ResamplesFailed { failed: failures.len(), tried, why: first.clone() });
        }
        if unconverged > 0 {
            notes.push(Note::ResamplesUnconverged { unconverged, fitted: samples.len() });
        }
        if unbounded > 0 {
            notes.push(Note::ResamplesUnbounded { unbounded, fitted: samples.len(), limit: UNBOUNDED });
        }
        if tried < self.resamples {
            notes.push(Note::ResamplesStopped { tried, requested: self.resamples });
        }
        let numbers = [fitted.weights(), fitted.biases()].concat();
        let interval = |(k, &fitted): (usize, &f64)| {
            self.interval(fitted, samples.iter().map(|sample| sample[k]).collect())
        };
        let mut couplings: Vec<Interval> = numbers.par_iter().enumerate().map(interval).collect();
        let biases = couplings.split_off(fitted.weights().len());
        let (resamples, failed) = (samples.len(), failures.len());
        Ok(Bootstrapped { couplings, biases, resamples, unconverged, failed, notes })
    }

    fn interval(&self, fitted: f64, mut values: Vec<f64>) -> Interval {
        values.sort_by(f64::total_cmp);
        let sign = |x: f64| if x == 0.0 { 0.0 } else { x.signum() };
        let share = |holds: &dyn Fn(f64) -> bool| {
            values.iter().filter(|&&x| holds(x)).count() as f64 / values.len() as f64
        };
        Interval {
            fitted,
            low: quantile(&values, 0.5 * (1.0 - self.level)),
            high: quantile(&values, 0.5 * (1.0 + self.level)),
            not_zero: share(&|x| x != 0.0),
            same_sign: share(&|x| sign(x) == sign(fitted)),
        }
    }
}

impl Outcome {
    fn of(fit: &Fit, fitted: &Machine) -> Result<Self> {
        let numbers = numbers_of(&fit.machine, fitted)?;
        let most = UNBOUNDED * fitted.temperature();
        let bounded = numbers.iter().all(|x| x.abs() <= most);
        Ok(Self::Fitted { numbers, converged: fit.converged, bounded })
    }
}

fn workers(resamples: usize) -> usize {
    rayon::current_num_threads().min(resamples)
}

/// Runs pieces of work in order, as many at a time as there are threads, until all are done, one
/// fails, or a stop is requested.
///
/// Each worker has a pool of one thread. In a common pool, a fit that waits for its own parts could
/// begin another fit in the meantime, and so hold the memory of many.
fn in_turn<T: Send>(
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
        who: NAME,
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

/// The couplings of a machine at the edges of another, then its biases, with the signs of hidden
/// units aligned. A learner may return fewer edges than its start had.
fn numbers_of(machine: &Machine, like: &Machine) -> Result<Vec<f64>> {
    Error::check_length("units of a resample's machine", machine.unit_count(), like.unit_count())?;
    let coupling = |&(a, b): &(usize, usize)| {
        machine.graph().edge_between(a, b).map_or(0.0, |edge| machine.weights()[edge])
    };
    let edges = like.graph().edges();
    let mut couplings: Vec<f64> = edges.iter().map(coupling).collect();
    let mut biases = machine.biases().to_vec();
    let hidden: Vec<usize> = like.with_role(Role::Hidden).collect();
    // Each flip increases the sum of all products; units that are joined may need more than one
    // round.
    for _ in 0..hidden.len() {
        let mut is_aligned = true;
        for &unit in &hidden {
            let own = || (0..edges.len()).filter(|&edge| edges[edge].0 == unit || edges[edge].1 == unit);
            let agreement: f64 = own().map(|edge| couplings[edge] * like.weights()[edge]).sum();
            if agreement < 0.0 {
                own().for_each(|edge| couplings[edge] = -couplings[edge]);
                biases[unit] = -biases[unit];
                is_aligned = false;
            }
        }
        if is_aligned {
            break;
        }
    }
    couplings.append(&mut biases);
    Ok(couplings)
}

/// The value below which a share of sorted values lies, interpolated linearly.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let below = place.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    let part = place - below as f64;
    (1.0 - part) * sorted[below] + part * sorted[above]
}

/// The distinct rows of a table, from which resamples are drawn.
struct Rows<'a> {
    table: &'a Table,
    /// The rows that have weight, in the order of their cells.
    order: Vec<usize>,
    /// Whether weights are counts of rows.
    is_whole: bool,
    /// The number of draws, and the weight of each.
    draws: u64,
    unit: f64,
}

impl<'a> Rows<'a> {
    fn of(table: &'a Table) -> Result<Self> {
        let mut order: Vec<usize> =
            (0..table.distinct_count()).filter(|&row| table.weight(row) > 0.0).collect();
        order.sort_by_key(|&row| table.row(row));
        let total: f64 = order.iter().map(|&row| table.weight(row)).sum();
        if order.is_empty() {
            return Err(Error::invalid("table", "the rows have no weight"));
        }
        // Beyond 2⁵³ not every whole number is representable.
        let is_whole = total < 9e15 && order.iter().all(|&row| table.weight(row).fract() == 0.0);
        let draws = if is_whole { total as u64 } else { table.row_count() as u64 };
        Ok(Self { table, order, is_whole, draws, unit: total / draws as f64 })
    }

    /// Draws a resample: for each row in turn, a binomial count of the remaining draws.
    fn draw(&self, seed: u64, index: u64) -> Result<Table> {
        let mut random = stream(seed, Purpose::Resample, index);
        let mut resample = Table::new(self.table.columns().iter().cloned())?;
        // From the end, so that the last share is 1 despite rounding.
        let mut sums = vec![0.0; self.order.len() + 1];
        for (k, &row) in self.order.iter().enumerate().rev() {
            sums[k] = sums[k + 1] + self.table.weight(row);
        }
        let mut left = self.draws;
        for (k, &row) in self.order.iter().enumerate() {
            if left == 0 {
                break;
            }
            let share = (self.table.weight(row) / sums[k]).min(1.0);
            let binomial = Binomial::new(left, share)
                .map_err(|error| Error::Numerical { method: NAME, problem: error.to_string() })?;
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
