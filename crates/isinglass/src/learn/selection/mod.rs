//! Penalties chosen by rows that a fit has not seen.
//!
//! [`Selection`] goes along a path of penalties; what is fitted for each, and what counts on the
//! rows held out, is a [`Penalised`] learner. `folds` holds rows out, `ways` has the learners, and
//! `need` says where a fit without any penalty would be bad.

mod folds;
mod need;
mod ways;

pub use folds::hold_out;
pub use need::{Need, complete_rows};
pub(super) use ways::on_structure;
pub use ways::{PenalisedLikelihood, PenalisedPseudoLikelihood};

use rayon::prelude::*;

use self::folds::{Fold, folds, validation};
use crate::{Machine, Result, Table};

/// The penalties of a decade. The path first makes every third, about a factor of 3 apart, then
/// those around the best.
const SERIES: [f64; 6] = [1.0, 1.5, 2.0, 3.0, 5.0, 7.0];
const COARSE: i32 = 3;
const AROUND: [i32; 4] = [2, 1, -1, -2];

/// A path ends where the held-out value is below the best by so many standard errors of the
/// difference, or after so many penalties that were not better.
const WORSE: f64 = 2.0;
const PATIENCE: usize = 2;

/// The weakest penalty, times the rows: a normal prior with standard deviation 10, which no
/// coupling notices that rows can bound.
const WEAKEST: f64 = 0.01;

/// Fits for any penalty, and the criterion by which their machines are compared.
pub trait Penalised: Sync {
    /// Fits the structure of a machine to rows for a penalty, starting with its numbers.
    ///
    /// # Errors
    /// Those of the learner.
    fn fit(&self, penalty: f64, from: &Machine, table: &Table) -> Result<Machine>;

    /// The criterion for each distinct row of a table, to be large.
    ///
    /// # Errors
    /// A table that does not fit the machine.
    fn values(&self, machine: &Machine, table: &Table) -> Result<Vec<f64>>;

    /// A penalty beyond which nothing changes, or nothing that matters.
    ///
    /// # Errors
    /// A table that does not fit the machine.
    fn strongest(&self, start: &Machine, table: &Table) -> Result<f64>;

    /// Whether fits begin where that of the stronger penalty ended. Hidden units lose their
    /// couplings under strong penalties, and would not find them again.
    fn is_warm(&self, _start: &Machine) -> bool {
        true
    }
}

/// A penalty of a path, with what it is worth for rows that were held out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tried {
    /// The penalty.
    pub penalty: f64,
    /// The average of the criterion over held-out rows.
    pub held_out: f64,
    /// Its standard error, over rows.
    pub error: f64,
}

/// The penalty that held-out rows chose.
#[derive(Debug, Clone, PartialEq)]
pub struct Chosen {
    /// The penalty.
    pub penalty: f64,
    /// All penalties tried, the strongest first.
    pub path: Vec<Tried>,
    /// The weight of the held-out rows.
    pub rows: f64,
}

impl Chosen {
    /// The point of the path that was chosen.
    pub fn best(&self) -> Option<&Tried> {
        self.path.iter().find(|tried| tried.penalty == self.penalty)
    }
}

/// Chooses a penalty by rows that the fits have not seen.
///
/// Rows to validate with are given, or held out of the table: in fifths chosen by the seed, each
/// held out in turn where rows are few (cross-validation: Stone 1974), one alone where there are
/// more than enough or fits take long. The path goes from strong to weak penalties, each fit
/// beginning where the one before ended (Friedman, Hastie and Tibshirani 2010), first in steps of
/// about 3, then in finer ones around the best. It ends where the held-out rows get worse. The
/// penalty with the largest average is chosen.
///
/// *Complexity*: some ten to twenty fits of each part of the rows. *Accuracy*: averages of the path
/// have the standard errors given, their differences much smaller ones, as the rows are the same.
/// The penalty is chosen for fits of four fifths of the rows; with all of them, one that is a fifth
/// weaker would do.
///
/// # Example
/// ```
/// use isinglass::learn::{PenalisedPseudoLikelihood, PseudoLikelihoodSettings, Selection, start};
/// use isinglass::prelude::*;
/// let truth = topology::sherrington_kirkpatrick(8, 0.5, 1)?;
/// let rows = Enumerate::default().draw(&truth, &Evidence::none(8), 100, 1)?;
/// let table = Table::from_rows(truth.names(), rows.cells.chunks(8))?;
/// let begin = start(&topology::full(8).with_names(truth.names())?, &table, 0, 0)?;
/// let way = PenalisedPseudoLikelihood::l2(PseudoLikelihoodSettings::default());
/// let chosen = Selection { seed: 0 }.run(&way, &begin, &table, None)?;
/// assert!(chosen.penalty > 0.01, "few rows");
/// assert!(chosen.path.iter().all(|tried| tried.held_out <= chosen.best().unwrap().held_out));
/// # Ok::<(), isinglass::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Selection {
    /// Which rows are held out.
    pub seed: u64,
}

/// Where the path of a fold is: the machine of the last penalty.
struct Walk<'a> {
    fold: &'a Fold<'a>,
    machine: Machine,
}

/// A penalty with the values of all held-out rows, fold after fold, and the machines of the folds.
struct Point {
    index: i32,
    values: Vec<f64>,
    machines: Vec<Machine>,
}

impl Selection {
    /// Chooses the penalty for a start and a table, by rows to validate with if there are any.
    ///
    /// # Errors
    /// Those of the learner for the strongest penalties; where weaker ones break down
    /// ([`Error::is_breakdown`](crate::Error::is_breakdown)), the path ends. Too few rows to hold
    /// some out; rows to validate with that do not fit the machine.
    pub fn run(
        &self,
        way: &dyn Penalised,
        start: &Machine,
        table: &Table,
        validate: Option<&Table>,
    ) -> Result<Chosen> {
        let folds = match validate {
            Some(rows) => vec![validation(start, table, rows)?],
            None => folds(table, self.seed)?,
        };
        let weights: Vec<f64> = folds.iter().flat_map(Fold::weights).collect();
        let last = index_above(WEAKEST / table.total_weight().max(1.0));
        let first = index_above(way.strongest(start, table)?).max(last);
        let mut walks: Vec<Walk<'_>> =
            folds.iter().map(|fold| Walk { fold, machine: start.clone() }).collect();
        let mut best: Option<Point> = None;
        let mut tried = Vec::new();
        let mut not_better = 0;
        let mut index = first;
        while index >= last && not_better < PATIENCE {
            let point = match evaluate(way, start, &mut walks, index) {
                Err(error) if error.is_breakdown() && best.is_some() => break,
                other => other?,
            };
            tried.push((index, Mean::of(&point.values, &weights)));
            let difference = best.as_ref().map(|best| difference(&point, best, &weights));
            match difference {
                Some(less) if less.mean <= 0.0 => {
                    not_better += 1;
                    if less.mean < -WORSE * less.error {
                        break;
                    }
                }
                _ => {
                    not_better = 0;
                    best = Some(point);
                }
            }
            index -= COARSE;
        }
        let Some(best) = best else { return Err(folds::none_tried()) };
        // From strong to weak again, on from the machines of the best.
        for (walk, machine) in walks.iter_mut().zip(best.machines) {
            walk.machine = machine;
        }
        let known: Vec<i32> = tried.iter().map(|(index, _)| *index).collect();
        let around = AROUND.iter().map(|step| best.index + step);
        for index in around.filter(|index| *index >= last && *index < first && !known.contains(index)) {
            match evaluate(way, start, &mut walks, index) {
                Err(error) if error.is_breakdown() => break,
                other => tried.push((index, Mean::of(&other?.values, &weights))),
            }
        }
        tried.sort_by_key(|(index, _)| -index);
        let path = tried.iter().map(|(index, found)| Tried {
            penalty: penalty_of(*index),
            held_out: found.mean,
            error: found.error,
        });
        let path: Vec<Tried> = path.collect();
        // Of equals, the strongest.
        let best = path.iter().fold(
            &path[0],
            |best, other| {
                if other.held_out > best.held_out { other } else { best }
            },
        );
        Ok(Chosen { penalty: best.penalty, rows: weights.iter().sum(), path })
    }
}

/// Fits all folds for a penalty.
fn evaluate(way: &dyn Penalised, start: &Machine, walks: &mut [Walk<'_>], index: i32) -> Result<Point> {
    let found: Vec<Result<Vec<f64>>> = walks
        .par_iter_mut()
        .map(|walk| {
            let from = if way.is_warm(start) { &walk.machine } else { start };
            walk.machine = way.fit(penalty_of(index), from, &walk.fold.train)?;
            way.values(&walk.machine, &walk.fold.held_out)
        })
        .collect();
    let found: Result<Vec<Vec<f64>>> = found.into_iter().collect();
    let machines = walks.iter().map(|walk| walk.machine.clone()).collect();
    Ok(Point { index, values: found?.concat(), machines })
}

/// How much better a penalty is than another.
fn difference(point: &Point, other: &Point, weights: &[f64]) -> Mean {
    let differences: Vec<f64> = point.values.iter().zip(&other.values).map(|(a, b)| a - b).collect();
    Mean::of(&differences, weights)
}

/// A weighted mean over rows with its standard error. Whole weights count rows.
#[derive(Clone, Copy)]
pub(in crate::learn) struct Mean {
    pub(in crate::learn) mean: f64,
    pub(in crate::learn) error: f64,
}

impl Mean {
    pub(in crate::learn) fn of(values: &[f64], weights: &[f64]) -> Self {
        let total: f64 = weights.iter().sum();
        let mean = values.iter().zip(weights).map(|(x, w)| w * x).sum::<f64>() / total;
        let spread = values.iter().zip(weights).map(|(x, w)| w * (x - mean).powi(2)).sum::<f64>() / total;
        let is_whole = weights.iter().all(|weight| weight.fract() == 0.0);
        let rows = if is_whole { total } else { values.len() as f64 };
        Self { mean, error: (spread / (rows - 1.0).max(1.0)).sqrt() }
    }
}

/// The penalty with a number: number 0 is 1, each sixth is ten times the one before.
fn penalty_of(index: i32) -> f64 {
    let length = SERIES.len() as i32;
    let (decade, place) = (index.div_euclid(length), index.rem_euclid(length));
    // Written out and read, so that penalties are the numbers that users would type.
    let text = format!("{}e{decade}", SERIES[place as usize]);
    text.parse().unwrap_or_else(|_| SERIES[place as usize] * 10f64.powi(decade))
}

/// The number of the smallest penalty that is not below another one; for 0, the number of none.
fn index_above(penalty: f64) -> i32 {
    if penalty <= 0.0 || !penalty.is_finite() {
        return 0;
    }
    let mut index = SERIES.len() as i32 * (penalty.log10().floor() as i32);
    while penalty_of(index) < penalty {
        index += 1;
    }
    index
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn penalties_are_a_series_that_finds_its_numbers() {
        assert_eq!(penalty_of(0), 1.0);
        assert_eq!(penalty_of(-1), 0.7);
        assert_eq!(penalty_of(-15), 0.003);
        assert_eq!(penalty_of(8), 20.0);
        for index in -40..20 {
            let penalty = penalty_of(index);
            assert!(penalty < penalty_of(index + 1));
            assert_eq!(index_above(penalty), index);
            assert_eq!(index_above(1.01 * penalty), index + 1);
        }
    }

    #[test]
    fn a_mean_has_the_standard_error_of_its_rows() {
        let found = Mean::of(&[1.0, 3.0], &[2.0, 2.0]);
        assert_eq!(found.mean, 2.0);
        // Four rows, 1, 1, 3 and 3: variance 4/3 of a row, 1/3 of their mean.
        assert!((found.error - (1.0f64 / 3.0).sqrt()).abs() < 1e-15);
    }
}
