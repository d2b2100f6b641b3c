//! How sure the numbers of a fit are: the same fit to resampled rows, many times.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rand_distr::{Binomial, Distribution};
use rayon::prelude::*;

use super::{Learner, Observer, Step};
use crate::numeric::streams::{Purpose, stream};
use crate::{Budget, Error, Machine, Result, Table};

const NAME: &str = "bootstrap";

/// Confidence intervals of couplings and biases by the bootstrap (Efron 1979): rows are drawn with replacement, a machine is fitted to them, and the numbers of
/// many such machines show how far those of the fit would vary from one set of rows to another.
///
/// The interval of a number reaches from its `(1 − level)/2` quantile to its `(1 + level)/2` quantile (the percentile interval: Efron and Tibshirani 1993, chapter 13), between the nearest
/// two values by a straight line. Every fit starts from the fitted machine, from which the optimum of a resample is not far; with hidden units that also keeps them in their order.
///
/// **Rows and weights.** If all weights are whole numbers, a row of weight w counts as w rows, and as many rows are drawn as the weights add up to. Otherwise as many are drawn as rows were given to the
/// table, with probabilities in proportion to their weights, and the weight of all stays what it was. A resample is a table of distinct rows: it costs
/// no more than the table itself. Rows are drawn in the order of their cells, so that the order in which whole weights were given makes no difference.
///
/// **Determinism.** Resample k has a random stream of its own; the seed fixes all, on any number of threads, and more resamples keep those of fewer.
///
/// # Complexity
/// So many fits, in parallel. *Memory*: 8 bytes for each number and resample, and for each thread a table and what the learner takes.
///
/// # Accuracy, and when it fails
/// Limits are estimates themselves: with B resamples the tail of a 95 % interval rests on B/40 of them. Rows are taken to be independent; where they are not (a time series), intervals are too narrow.
/// Percentile intervals do not correct a learner's bias: with penalties they are intervals of shrunk numbers. Where couplings have no finite optimum in some
/// resamples, those fits end wherever their learner stops; they count, since leaving them out would make intervals too narrow, and those that did not converge are reported.
///
/// # Example
/// ```
/// use std::ops::ControlFlow;
/// use isinglass::{Machine, Table, topology};
/// use isinglass::learn::{Bootstrap, Learner, NoObserver, PseudoLikelihood};
/// let mut table = Table::new(["a", "b"])?;
/// for (row, weight) in [([1, 1], 40.0), ([-1, -1], 40.0), ([1, -1], 10.0), ([-1, 1], 10.0)] {
///     table.push(&row, weight)?;
/// }
/// let learner = PseudoLikelihood::default();
/// let start = Machine::from_graph(topology::full(2)).with_names(["a", "b"])?;
/// let fitted = learner.fit(&start, &table, &mut NoObserver)?.machine;
/// let bootstrap = Bootstrap { resamples: 200, ..Bootstrap::default() };
/// let found = bootstrap.run(&learner, &fitted, &table, &|_done, _of| ControlFlow::Continue(()))?;
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

/// A number of a machine, and how far it varies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// That of the fit.
    pub fitted: f64,
    /// The lower limit.
    pub low: f64,
    /// The upper limit.
    pub high: f64,
    /// The share of resamples in which it is not 0.
    pub not_zero: f64,
    /// The share of resamples in which it has the sign of the fit; 0 has a sign of its own.
    pub same_sign: f64,
}

/// What [`Bootstrap`] found.
#[derive(Debug, Clone, PartialEq)]
pub struct Bootstrapped {
    /// For each edge of the fitted machine, in the order of its graph; an edge that a resample's machine does not have is 0 there.
    pub couplings: Vec<Interval>,
    /// For each unit.
    pub biases: Vec<Interval>,
    /// The resamples that the intervals rest on.
    pub resamples: usize,
    /// Those among them whose fits did not converge.
    pub unconverged: usize,
    /// Those to which no machine could be fitted; they are not among the others.
    pub failed: usize,
    /// What the user should know.
    pub notes: Vec<String>,
}

/// The numbers of a resample's machine, and whether its fit converged; or why there is none.
enum Outcome {
    Fitted { numbers: Vec<f64>, converged: bool },
    Failed(String),
    Stopped,
}

/// Told, by any of the threads, how many resamples of how many are done; `Break` stops fits that are under way and lets no other begin.
pub type Progress<'a> = dyn Fn(usize, usize) -> ControlFlow<()> + Sync + 'a;

impl Bootstrap {
    /// Fit resamples of a table, all from the machine that was fitted to the table itself.
    ///
    /// If `progress` stops it, the intervals rest on what is done; which resamples these are then depends on the threads.
    ///
    /// # Errors
    /// Settings out of range, a table whose rows have no weight, more memory than the budget has; errors of the learner other than [`Error::Numerical`], which is counted; no resample at all that
    /// could be fitted.
    pub fn run(
        &self,
        learner: &(dyn Learner + Sync),
        fitted: &Machine,
        table: &Table,
        progress: &Progress<'_>,
    ) -> Result<Bootstrapped> {
        self.check(fitted, table)?;
        let rows = Rows::of(table)?;
        let (stop, done) = (AtomicBool::new(false), AtomicUsize::new(0));
        let one = |index: usize| -> Result<Outcome> {
            if stop.load(Ordering::Relaxed) {
                return Ok(Outcome::Stopped);
            }
            let resample = rows.draw(self.seed, index as u64)?;
            let outcome = match learner.fit(fitted, &resample, &mut Stoppable(&stop)) {
                Ok(_) if stop.load(Ordering::Relaxed) => Outcome::Stopped,
                Ok(fit) => {
                    Outcome::Fitted { numbers: numbers_of(&fit.machine, fitted)?, converged: fit.converged }
                }
                Err(Error::Numerical { problem, .. }) => Outcome::Failed(problem),
                Err(other) => return Err(other),
            };
            if progress(done.fetch_add(1, Ordering::Relaxed) + 1, self.resamples).is_break() {
                stop.store(true, Ordering::Relaxed);
            }
            Ok(outcome)
        };
        let outcomes: Vec<Result<Outcome>> = (0..self.resamples).into_par_iter().map(one).collect();
        // In their order, so that the first error is the same on any number of threads.
        let outcomes: Vec<Outcome> = outcomes.into_iter().collect::<Result<_>>()?;
        self.summarise(fitted, outcomes)
    }

    fn check(&self, fitted: &Machine, table: &Table) -> Result<()> {
        if self.resamples == 0 {
            return Err(Error::invalid("resamples", "found 0, expected at least 1"));
        }
        if !(self.level > 0.0 && self.level < 1.0) {
            let problem = format!("found {}, expected a number above 0 and below 1", self.level);
            return Err(Error::invalid("level", problem));
        }
        let numbers = (fitted.weights().len() + fitted.units()) as u128;
        let threads = rayon::current_num_threads() as u128;
        // A table has its cells, and for each row a weight, its number, and a place where that is looked up.
        let of_table = table.distinct_rows() as u128 * (table.columns().len() as u128 + 24);
        let needed = 8 * numbers * self.resamples as u128 + (threads + 1) * of_table;
        self.budget.check(NAME, needed, || {
            format!("{} resamples of {numbers} numbers, with {threads} tables,", self.resamples)
        })
    }

    fn summarise(&self, fitted: &Machine, outcomes: Vec<Outcome>) -> Result<Bootstrapped> {
        let (mut samples, mut unconverged, mut failures) = (Vec::new(), 0, Vec::new());
        for outcome in outcomes {
            match outcome {
                Outcome::Fitted { numbers, converged } => {
                    unconverged += usize::from(!converged);
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
            notes.push(format!(
                "{} of {tried} resamples could not be fitted; the first: {first}",
                failures.len()
            ));
        }
        if unconverged > 0 {
            notes.push(format!("{unconverged} of {} fits have not converged; they count", samples.len()));
        }
        if tried < self.resamples {
            notes.push(format!("stopped on request after {tried} of {} resamples", self.resamples));
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

/// The couplings of a machine at the edges of another, then its biases. A learner may give its machine fewer edges than that it began with.
fn numbers_of(machine: &Machine, like: &Machine) -> Result<Vec<f64>> {
    Error::check_length("units of a resample's machine", machine.units(), like.units())?;
    let coupling = |&(a, b): &(usize, usize)| {
        machine.graph().edge_between(a, b).map_or(0.0, |edge| machine.weights()[edge])
    };
    let couplings = like.graph().edges().iter().map(coupling);
    Ok(couplings.chain(machine.biases().iter().copied()).collect())
}

/// The value below which a share of sorted values lies, between the nearest two by a straight line.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let below = place.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    let part = place - below as f64;
    (1.0 - part) * sorted[below] + part * sorted[above]
}

/// The distinct rows of a table with their weights, from which resamples are drawn.
struct Rows<'a> {
    table: &'a Table,
    /// The rows that have weight, in the order of their cells.
    order: Vec<usize>,
    /// The number of draws, and the weight of each.
    draws: u64,
    unit: f64,
}

impl<'a> Rows<'a> {
    fn of(table: &'a Table) -> Result<Self> {
        let mut order: Vec<usize> =
            (0..table.distinct_rows()).filter(|&row| table.weight(row) > 0.0).collect();
        order.sort_by_key(|&row| table.row(row));
        let total: f64 = order.iter().map(|&row| table.weight(row)).sum();
        if order.is_empty() {
            return Err(Error::invalid("table", "the rows have no weight"));
        }
        // Beyond 2⁵³ not every whole number is a number here.
        let is_whole = total < 9e15 && order.iter().all(|&row| table.weight(row).fract() == 0.0);
        let draws = if is_whole { total as u64 } else { table.rows() as u64 };
        Ok(Self { table, order, draws, unit: total / draws as f64 })
    }

    /// How often each row is drawn, one after the other: a binomial number of those draws that are left.
    fn draw(&self, seed: u64, index: u64) -> Result<Table> {
        let mut random = stream(seed, Purpose::Resample, index);
        let mut resample = Table::new(self.table.columns().iter().cloned())?;
        // From the end, so that the last share is 1 whatever rounding does.
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
            if count > 0 {
                resample.push(self.table.row(row), count as f64 * self.unit)?;
            }
            left -= count;
        }
        Ok(resample)
    }
}

/// Stops a fit once all are to stop.
struct Stoppable<'a>(&'a AtomicBool);

impl Observer for Stoppable<'_> {
    fn step(&mut self, _step: &Step, _machine: &Machine) -> Result<ControlFlow<()>> {
        Ok(if self.0.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }
}
