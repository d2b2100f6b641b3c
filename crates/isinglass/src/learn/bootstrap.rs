//! Confidence intervals of a fit: the same fit to resampled rows, many times.

use std::ops::ControlFlow;

use rayon::prelude::*;

use super::resampling::{Fits, Outcome, Rows, quantile, workers};
use super::{Fit, Learner};
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

/// Numbers that are read off a machine and the table it was fitted to, besides its parameters; NaN
/// where one is undefined.
#[derive(Clone, Copy)]
pub struct Measure<'a> {
    /// How many there are, always.
    pub count: usize,
    /// Reads them.
    pub of: &'a (dyn Fn(&Machine, &Table) -> Result<Vec<f64>> + Sync),
}

impl Measure<'_> {
    /// Nothing but the parameters.
    pub const NONE: Measure<'static> = Measure { count: 0, of: &|_, _| Ok(Vec::new()) };
}

/// The result of [`Bootstrap`].
#[derive(Debug, Clone, PartialEq)]
pub struct Bootstrapped {
    /// For each edge of the fitted machine, in the order of its graph; an edge that a resample's
    /// machine lacks counts as 0.
    pub couplings: Vec<Interval>,
    /// For each unit.
    pub biases: Vec<Interval>,
    /// For each number of the [`Measure`]; resamples in which it is undefined are left out.
    pub measures: Vec<Interval>,
    /// For each resample its couplings, biases and measures.
    pub(super) samples: Vec<Vec<f64>>,
    /// The share of machines that an interval is to cover.
    pub(super) level: f64,
    /// The resamples that the intervals rest on.
    pub resamples: usize,
    /// Those of them whose fits did not converge.
    pub unconverged: usize,
    /// Resamples that could not be fitted; they are not among the others.
    pub failed: usize,
    /// What the user should know.
    pub notes: Vec<Note>,
}

/// The difference of two numbers over resamples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    /// That of the fit.
    pub fitted: f64,
    /// The limits of its percentile interval.
    pub low: f64,
    /// The upper limit.
    pub high: f64,
}

impl Difference {
    /// Whether 0 is outside the interval.
    pub fn is_significant(&self) -> bool {
        self.low > 0.0 || self.high < 0.0
    }
}

/// The numbers of a resample's machine, and how its fit went.
pub(super) struct Sample {
    pub(super) numbers: Vec<f64>,
    pub(super) converged: bool,
    bounded: bool,
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
        self.run_measured((learner, start), fitted, table, Measure::NONE, progress)
    }

    /// As [`run`](Self::run), with intervals of further numbers of each machine.
    ///
    /// # Errors
    /// Those of [`run`](Self::run), and of the measure.
    pub fn run_measured(
        &self,
        (learner, start): (&(dyn Learner + Sync), &Machine),
        fitted: &Machine,
        table: &Table,
        measure: Measure<'_>,
        progress: &Progress<'_>,
    ) -> Result<Bootstrapped> {
        self.check_measured(fitted, table, measure.count)?;
        let rows = Rows::of(NAME, table)?;
        let of_fit = [fitted.weights(), fitted.biases(), &(measure.of)(fitted, table)?].concat();
        let fits = Fits { name: NAME, learner, start, count: self.resamples, progress };
        let draw = |index: usize| rows.draw(self.seed, index as u64);
        let read = |fit: &Fit, resample: &Table| Sample::of(fit, fitted, resample, measure);
        self.summarise(fitted, &of_fit, fits.read(&draw, &read)?)
    }

    /// Checks settings and the memory of [`run`](Self::run), before the fit to the table itself;
    /// the learner's memory is left to its own budget.
    ///
    /// # Errors
    /// No resamples, a level that is not between 0 and 1, more memory than the budget has.
    pub fn check(&self, machine: &Machine, table: &Table) -> Result<()> {
        self.check_measured(machine, table, 0)
    }

    fn check_measured(&self, machine: &Machine, table: &Table, measures: usize) -> Result<()> {
        if self.resamples == 0 {
            return Err(Error::invalid("resamples", "found 0, expected at least 1"));
        }
        if !(self.level > 0.0 && self.level < 1.0) {
            let problem = format!("found {}, expected a number above 0 and below 1", self.level);
            return Err(Error::invalid("level", problem));
        }
        let (units, edges) = (machine.unit_count() as u128, machine.weights().len() as u128);
        let numbers = units + edges + measures as u128;
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

    fn summarise(
        &self,
        fitted: &Machine,
        of_fit: &[f64],
        outcomes: Vec<Outcome<Sample>>,
    ) -> Result<Bootstrapped> {
        let (mut samples, mut failures) = (Vec::new(), Vec::new());
        let (mut unconverged, mut unbounded) = (0, 0);
        for outcome in outcomes {
            match outcome {
                Outcome::Done(sample) => {
                    unconverged += usize::from(!sample.converged);
                    unbounded += usize::from(!sample.bounded);
                    samples.push(sample.numbers);
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
        let interval = |(k, &fitted): (usize, &f64)| {
            self.interval(fitted, samples.iter().map(|sample| sample[k]).collect())
        };
        let mut couplings: Vec<Interval> = of_fit.par_iter().enumerate().map(interval).collect();
        let mut biases = couplings.split_off(fitted.weights().len());
        let measures = biases.split_off(fitted.unit_count());
        let (resamples, failed, level) = (samples.len(), failures.len(), self.level);
        Ok(Bootstrapped {
            couplings,
            biases,
            measures,
            samples,
            level,
            resamples,
            unconverged,
            failed,
            notes,
        })
    }

    fn interval(&self, fitted: f64, mut values: Vec<f64>) -> Interval {
        values.retain(|value| !value.is_nan());
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

impl Sample {
    pub(super) fn of(fit: &Fit, fitted: &Machine, resample: &Table, measure: Measure<'_>) -> Result<Self> {
        let machine = aligned(&fit.machine, fitted)?;
        let mut numbers = couplings_at(fitted, &machine);
        numbers.extend(machine.biases());
        let most = UNBOUNDED * fitted.temperature();
        let bounded = numbers.iter().all(|x| x.abs() <= most);
        let found = (measure.of)(&machine, resample)?;
        Error::check_length("numbers of a measure", found.len(), measure.count)?;
        numbers.extend(found);
        Ok(Self { numbers, converged: fit.converged, bounded })
    }
}

impl Bootstrapped {
    /// Returns the difference of two couplings of the fitted machine, by their edges (Epskamp,
    /// Borsboom and Fried 2018, the bootstrapped difference test).
    ///
    /// Over all pairs this makes no correction for their number.
    pub fn coupling_difference(&self, a: usize, b: usize) -> Difference {
        self.difference(&self.couplings, 0, (a, b))
    }

    /// Returns the difference of two numbers of the [`Measure`].
    pub fn measure_difference(&self, a: usize, b: usize) -> Difference {
        self.difference(&self.measures, self.couplings.len() + self.biases.len(), (a, b))
    }

    fn difference(&self, of_fit: &[Interval], first: usize, (a, b): (usize, usize)) -> Difference {
        let mut values: Vec<f64> =
            self.samples.iter().map(|sample| sample[first + a] - sample[first + b]).collect();
        values.retain(|value| !value.is_nan());
        values.sort_by(f64::total_cmp);
        Difference {
            fitted: of_fit[a].fitted - of_fit[b].fitted,
            low: quantile(&values, 0.5 * (1.0 - self.level)),
            high: quantile(&values, 0.5 * (1.0 + self.level)),
        }
    }

    /// The share of machines that an interval is to cover.
    pub fn level(&self) -> f64 {
        self.level
    }
}

/// The couplings of a machine at the edges of another, then its biases, with the signs of hidden
/// units aligned.
pub(super) fn numbers_of(machine: &Machine, like: &Machine) -> Result<Vec<f64>> {
    let machine = aligned(machine, like)?;
    let mut numbers = couplings_at(like, &machine);
    numbers.extend(machine.biases());
    Ok(numbers)
}

/// The couplings of a machine at the edges of another, which may have more; 0 where it has none.
fn couplings_at(like: &Machine, machine: &Machine) -> Vec<f64> {
    let coupling = |&(a, b): &(usize, usize)| {
        machine.graph().edge_between(a, b).map_or(0.0, |edge| machine.weights()[edge])
    };
    like.graph().edges().iter().map(coupling).collect()
}

/// A machine with the signs of hidden units as in another.
pub(crate) fn aligned(machine: &Machine, like: &Machine) -> Result<Machine> {
    Error::check_length("units of a resample's machine", machine.unit_count(), like.unit_count())?;
    let hidden: Vec<usize> = like.with_role(Role::Hidden).collect();
    let mut signs = vec![1.0; like.unit_count()];
    let couplings = couplings_at(like, machine);
    let around: Vec<Vec<(usize, f64)>> = hidden
        .iter()
        .map(|&unit| {
            let product = |(other, edge): (usize, usize)| (other, couplings[edge] * like.weights()[edge]);
            like.graph().neighbours(unit).map(product).collect()
        })
        .collect();
    // Each flip increases the sum of all products; units that are joined may need more than one
    // round.
    for _ in 0..hidden.len() {
        let mut is_aligned = true;
        for (&unit, around) in hidden.iter().zip(&around) {
            let agreement: f64 = around.iter().map(|&(other, product)| signs[other] * product).sum();
            if agreement * signs[unit] < 0.0 {
                signs[unit] = -signs[unit];
                is_aligned = false;
            }
        }
        if is_aligned {
            break;
        }
    }
    let edges = machine.graph().edges().iter().zip(machine.weights());
    let weights = edges.map(|(&(a, b), weight)| signs[a] * signs[b] * weight).collect();
    let biases = machine.biases().iter().zip(&signs).map(|(bias, sign)| bias * sign).collect();
    machine.clone().with_parameters(weights, biases)
}
