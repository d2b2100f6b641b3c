//! Whether a fitted machine reproduces its table: moments of fresh draws against those of the rows.
//!
//! A learner that is not exact may end, by its own account, at a machine that is unlike its table:
//! pseudo-likelihood looks at one unit given all others and can leave most of the probability where
//! no row is. So the moments of fresh chains are compared with the table's, in units of the noise.

use std::fmt;

use super::Learner;
use super::factorized::Factorized;
use super::pair_counts::{Counts, PairCounts};
use crate::engine::{Engine, Expectations, Pairs, packed_pair};
use crate::likelihood::{ClampedRows, LogLikelihood};
use crate::{Error, Evidence, Machine, Result, Role, Table};

/// What the check of a fit says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// Means and pair moments are those of the table, within the noise.
    Reproduces,
    /// Some are outside.
    Deviates,
    /// The machine is further from the table than independent units.
    Unusable,
}

impl Verdict {
    /// The word in files and messages.
    pub fn word(self) -> &'static str {
        match self {
            Self::Reproduces => "reproduces",
            Self::Deviates => "deviates",
            Self::Unusable => "unusable",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// The check of a fit.
///
/// Deviations are those of means and pair moments of the visible units, in standard errors: those of
/// the table, `√((1 − m²)/rows)`, and of the chains together.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// The largest deviation.
    pub largest: f64,
    /// The root of the mean square.
    pub rms: f64,
    /// The root of the mean squared standard error: what a deviation of 1 is, in moments.
    pub noise: f64,
    /// What follows.
    pub verdict: Verdict,
    /// The average log-likelihood of a row, from the same chains, where the engine has log Z.
    pub log_likelihood: Option<LogLikelihood>,
    /// Whether the chains mixed.
    pub converged: bool,
}

/// A machine reproduces its table up to these deviations. The root of the mean square is 1 where
/// only the rows' own noise is seen; the largest of a million normal numbers is below 5.
const USUAL_RMS: f64 = 1.5;
const USUAL_LARGEST: f64 = 6.0;

/// A likelihood is lower than another if it is by so many standard errors.
const ERRORS: f64 = 3.0;

/// The log-likelihood of a row under independent units with the rates of the columns.
///
/// # Errors
/// A table that does not fit the machine, or whose rows have no weight.
pub fn independent_log_likelihood(machine: &Machine, table: &Table) -> Result<f64> {
    let fit = Factorized.fit(machine, table)?;
    Ok(fit.log_likelihood.unwrap_or(f64::NEG_INFINITY))
}

/// Checks a fitted machine against its table with fresh draws of an engine.
///
/// `rows` is the engine for rows with hidden units or missing cells. *Complexity*: one run of the
/// engine, and a count of the rows for each pair of columns.
///
/// # Errors
/// A machine with input units, which has another distribution for each row; those of the engines.
///
/// # Example
/// ```
/// use isinglass::learn::{Learner, PseudoLikelihood, Verdict, check, start};
/// use isinglass::{Temper, prelude::*};
/// let truth = topology::sherrington_kirkpatrick(10, 0.5, 1)?;
/// let rows = Enumerate::default().draw(&truth, &Evidence::none(10), 2000, 1)?;
/// let table = Table::from_rows(truth.names(), rows.cells.chunks(10))?;
/// let begin = start(&topology::full(10).with_names(truth.names())?, &table, 0, 0)?;
/// let fit = PseudoLikelihood::new().fit(&begin, &table)?;
/// let engine = Temper::new().sweeps(Some(4096));
/// assert_eq!(check(&fit.machine, &table, &engine, &engine)?.verdict, Verdict::Reproduces);
/// let wrong = fit.machine.with_temperature(0.2)?;
/// assert_eq!(check(&wrong, &table, &engine, &engine)?.verdict, Verdict::Unusable);
/// # Ok::<(), isinglass::Error>(())
/// ```
pub fn check(machine: &Machine, table: &Table, engine: &dyn Engine, rows: &dyn Engine) -> Result<Check> {
    if machine.with_role(Role::Input).next().is_some() {
        return Err(Error::CannotDo {
            who: "check",
            what: "compare the moments of a machine with input units".into(),
            why: "every row has a distribution of its own".into(),
        });
    }
    // The offset cancels in likelihoods.
    let machine = &machine.clone().with_offset(0.0)?;
    let found = engine.expectations(machine, &Evidence::none(machine.unit_count()), Pairs::All)?;
    let clamped = ClampedRows::new(machine, table)?;
    let log_likelihood = found.log_z.map(|log_z| log_likelihood(&clamped, machine, rows, &found, log_z));
    let log_likelihood = log_likelihood.transpose()?;
    let independent = independent_log_likelihood(machine, table)?;
    let Deviations { largest, rms, noise, is_beyond_independent } = deviations(machine, table, &found)?;
    let is_lower = log_likelihood.as_ref().is_some_and(|found| {
        !found.value.is_finite() || found.value + ERRORS * found.error.unwrap_or(0.0) < independent
    });
    let verdict = if rms <= USUAL_RMS && largest <= USUAL_LARGEST {
        Verdict::Reproduces
    } else if is_lower || is_beyond_independent || !rms.is_finite() {
        Verdict::Unusable
    } else {
        Verdict::Deviates
    };
    Ok(Check { largest, rms, noise, verdict, log_likelihood, converged: found.diagnostics.converged })
}

fn log_likelihood(
    rows: &ClampedRows,
    machine: &Machine,
    engine: &dyn Engine,
    free: &Expectations,
    log_z: f64,
) -> Result<LogLikelihood> {
    let clamped = rows.evaluate(engine, machine, false)?;
    let own = free.errors.as_ref().and_then(|errors| errors.log_z);
    let error = match (clamped.error.map(|error| error / rows.total_weight), own) {
        (Some(a), Some(b)) => Some(a.hypot(b)),
        (a, b) => a.or(b),
    };
    Ok(LogLikelihood {
        value: clamped.value / rows.total_weight - log_z,
        error,
        guarantee: clamped.guarantee.and(free.guarantee.negated()),
        diagnostics: clamped.diagnostics.and(free.diagnostics.clone()),
    })
}

/// How far moments are from those of the table.
struct Deviations {
    largest: f64,
    rms: f64,
    noise: f64,
    /// Whether independent units have far nearer pair moments.
    is_beyond_independent: bool,
}

fn deviations(machine: &Machine, table: &Table, found: &Expectations) -> Result<Deviations> {
    let positions = table.positions_in(machine)?;
    let columns: Vec<usize> =
        (0..positions.len()).filter(|&k| machine.roles()[positions[k]] == Role::Visible).collect();
    let counts = PairCounts::new(table, &columns);
    let graph = machine.graph();
    // Rows that stand for one observation each: weights that are whole numbers are counts.
    let rows = if counts.is_exact() { table.total_weight() } else { table.row_count() as f64 };
    let all = counts.of_all_rows().max(1) as f64;
    let errors = found.errors.as_ref();
    let (mut largest, mut squares, mut noises, mut count) = (0.0f64, 0.0, 0.0, 0.0f64);
    let mut add = |mean: f64, present: f64, of_machine: f64, error: f64| {
        let rows = rows * present / all;
        if rows <= 0.0 {
            return;
        }
        // One more row on each side: what never happened is not certain.
        let mean_with_doubt = mean * rows / (rows + 2.0);
        let variance = (1.0 - mean_with_doubt * mean_with_doubt) / rows + error * error;
        let deviation = (of_machine - mean) / variance.sqrt();
        largest = largest.max(deviation.abs());
        squares += deviation * deviation;
        noises += variance;
        count += 1.0;
    };
    let (mut own, mut apart) = (0.0, 0.0);
    for (k, &a) in columns.iter().enumerate() {
        let Counts { total, first, .. } = counts.of(k, k);
        let mean = |up: u64, total: u64| 2.0 * up as f64 / total as f64 - 1.0;
        let unit = positions[a];
        add(mean(first, total), total as f64, found.means[unit], errors.map_or(0.0, |e| e.means[unit]));
        for (l, &b) in columns.iter().enumerate().skip(k + 1) {
            let Counts { total, first, second, both } = counts.of(k, l);
            if total == 0 {
                continue;
            }
            let moment = 1.0 + (4.0 * both as f64 - 2.0 * (first as f64 + second as f64)) / total as f64;
            let (p, q) = (unit.min(positions[b]), unit.max(positions[b]));
            let number = packed_pair(graph.unit_count(), p, q);
            let of_machine = found.correlations.values[number];
            add(moment, total as f64, of_machine, errors.map_or(0.0, |e| e.correlations[number]));
            own += (of_machine - moment).powi(2);
            apart += (mean(first, total) * mean(second, total) - moment).powi(2);
        }
    }
    let count = count.max(1.0);
    let rms = (squares / count).sqrt();
    Ok(Deviations {
        largest,
        rms,
        noise: (noises / count).sqrt(),
        // Twice as far as independent units, and not by chance.
        is_beyond_independent: own > 4.0 * apart && rms > USUAL_RMS,
    })
}
