//! Groups against each other: are their couplings and biases the same?

mod corrections;
mod groups;
mod measures;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

pub use groups::Groups;
use measures::Measures;

use super::resampling::{in_turn, quantile, workers};
use super::{Fit, Learner, start as start_of};
use crate::numeric::streams::{Purpose, stream};
use crate::settings::{Settings, constructors, range, settings};
use crate::{Error, Machine, Note, Result};

const NAME: &str = "compare";

/// Differences that are smaller by this share or less than the one found count as as large: equal
/// ones differ by what fits leave of their gradients.
const TIE: f64 = 1e-9;

/// Compares the machines of two or more groups by a permutation test.
///
/// Under the null hypothesis all rows come from one distribution, whatever their group. Then labels
/// may be exchanged among rows, and the difference found is one of N + 1 equally probable ones:
///
/// ```text
/// p = (1 + number of exchanged labels with a difference at least as large) / (1 + N)
/// ```
///
/// (Phipson and Smyth 2010). This holds exactly for any number of rows and any learner, however its
/// estimates are biased; fits of all permutations start from the fit to all rows, as do those of the
/// groups. What is tested (van Borkulo et al. 2022, *Psychological Methods*):
///
/// * *strength*: the sum of absolute couplings;
/// * *structure*: the largest absolute difference of a coupling;
/// * each coupling, and each bias, with the corrections of Holm and of Benjamini and Hochberg, for
///   couplings and biases apart.
///
/// A difference is that of the second group less the first. With more than two groups each pair is
/// tested by itself, and over all pairs the largest difference.
///
/// With `bootstrap`, differences get percentile intervals from rows drawn with replacement within
/// each group (see [`Bootstrap`](super::Bootstrap)).
///
/// # Complexity
/// One fit per group and permutation or resample, each on one thread. *Memory*: a byte for each
/// coupling, pair and permutation, 8 bytes for each coupling, pair and resample, and tables.
///
/// # Accuracy, and when it fails
/// The level is exact up to ties: p-values of couplings that are 0 in most fits are often 1. The null
/// hypothesis of each test is that *all* of the distribution is the same, so that a small p of one
/// coupling may be due to another, or to a bias. Rows must be exchangeable: not a time series, nor
/// repeated rows of one subject. Labels that differ in their missing cells differ in the null
/// hypothesis, too. Fits that fail count as large differences, and are reported.
///
/// # Example
/// ```
/// use isinglass::{Table, topology};
/// use isinglass::learn::{Compare, Groups, PseudoLikelihood};
/// let table = |equal: f64| {
///     let mut table = Table::new(["a", "b"])?;
///     for (row, weight) in [([1, 1], equal), ([-1, -1], equal), ([1, -1], 20.0), ([-1, 1], 20.0)] {
///         table.push(&row, weight)?;
///     }
///     isinglass::Result::Ok(table)
/// };
/// let groups = Groups::new(["first", "second"], &[table(20.0)?, table(60.0)?])?;
/// let structure = topology::full(2).with_names(["a", "b"])?;
/// let compare = Compare::new().permutations(199);
/// let found = compare.run(&PseudoLikelihood::default(), &structure, &groups, &|_, _| ())?;
/// let coupling = &found.overall.couplings[0];
/// assert!((coupling.difference - 0.5 * 3f64.ln()).abs() < 1e-6);
/// assert!(coupling.p < 0.02 && found.overall.biases[0].p > 0.3);
/// # Ok::<(), isinglass::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Compare {
    pub(crate) settings: CompareSettings,
}

settings! {
    /// Settings of [`Compare`].
    pub struct CompareSettings for Compare {
        /// Exchange labels among rows N times
        permutations: usize = 1000 => range::at_least_1,
        /// Draw rows within each group B times for intervals of the differences; 0: none
        bootstrap: usize = 0,
        /// bootstrap: the share of cases that an interval is to cover, between 0 and 1
        level: f64 = 0.95 => range::below_1,
    }
    common { seed, budget }
}

constructors!(Compare(CompareSettings));

/// A difference of two groups and its test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tested {
    /// The second group less the first; the structure has the absolute value.
    pub difference: f64,
    /// The pair of groups that it belongs to.
    pub pair: (usize, usize),
    /// The p-value.
    pub p: f64,
    /// Corrected for all couplings, or all biases, after Holm.
    pub p_holm: f64,
    /// The same after Benjamini and Hochberg.
    pub p_bh: f64,
    /// The bootstrap interval, where there is one.
    pub interval: Option<(f64, f64)>,
}

/// The differences of one pair of groups, or the largest of all pairs.
#[derive(Debug, Clone, PartialEq)]
pub struct Differences {
    /// Of the sum of absolute couplings.
    pub strength: Tested,
    /// The largest of a coupling; without interval.
    pub structure: Tested,
    /// Of each coupling, in the order of [`Compared::couplings`].
    pub couplings: Vec<Tested>,
    /// Of each bias, in the order of [`Compared::units`].
    pub biases: Vec<Tested>,
}

/// The result of [`Compare`].
#[derive(Debug, Clone)]
pub struct Compared {
    /// The fit to all rows.
    pub pooled: Fit,
    /// The fits to the groups.
    pub fits: Vec<Fit>,
    /// The couplings compared, by their units.
    pub couplings: Vec<(usize, usize)>,
    /// The units whose biases are compared.
    pub units: Vec<usize>,
    /// For each group the couplings, then the biases.
    pub numbers: Vec<Vec<f64>>,
    /// For each group the sum of absolute couplings.
    pub strengths: Vec<f64>,
    /// The largest differences of all pairs.
    pub overall: Differences,
    /// The differences of each pair of groups.
    pub pairs: Vec<Differences>,
    /// What the user should know.
    pub notes: Vec<Note>,
}

/// What one set of labels, or one resample, came to.
struct Trial<T> {
    found: std::result::Result<T, String>,
    unconverged: usize,
}

/// Called by any thread after each set of labels and each resample with the number done and that of
/// all.
pub type Progressed<'a> = dyn Fn(usize, usize) + Sync + 'a;

impl Compare {
    /// Compares groups by a learner, on the structure of a machine.
    ///
    /// # Errors
    /// Settings out of range, more memory than the budget has, errors of the learner in the fits to
    /// all rows and to the groups, no resample that could be fitted.
    pub fn run(
        &self,
        learner: &(dyn Learner + Sync),
        structure: &Machine,
        groups: &Groups,
        progressed: &Progressed<'_>,
    ) -> Result<Compared> {
        self.validate()?;
        self.check(structure, groups)?;
        let table = groups.pooled()?;
        let pooled = learner.fit(&start_of(structure, &table, self.seed, 0)?, &table)?;
        let measures = Measures::new(structure, &pooled.machine, groups.names().len())?;
        let of_group = |group| learner.fit(measures.begin(), &groups.table(group)?);
        let fits: Vec<Fit> = (0..groups.names().len()).map(of_group).collect::<Result<_>>()?;
        let numbers: Vec<Vec<f64>> =
            fits.iter().map(|fit| measures.numbers_of(&fit.machine)).collect::<Result<_>>()?;
        let observed = measures.differences(&numbers);
        let sizes = measures.sizes(&observed);

        let all = self.permutations + self.bootstrap;
        let done = AtomicUsize::new(0);
        let fit_all = |tables: Vec<crate::Table>| -> Result<Trial<Vec<Vec<f64>>>> {
            let mut trial = Trial { found: Ok(Vec::new()), unconverged: 0 };
            for table in tables {
                match learner.fit(measures.begin(), &table) {
                    Ok(fit) => {
                        trial.unconverged += usize::from(learner.converges() && !fit.converged);
                        let numbers = measures.numbers_of(&fit.machine)?;
                        if let Ok(found) = &mut trial.found {
                            found.push(numbers);
                        }
                    }
                    Err(Error::Numerical { problem, .. }) => trial.found = Err(problem),
                    Err(error) if error.is_breakdown() => trial.found = Err(error.to_string()),
                    Err(other) => return Err(other),
                }
                if trial.found.is_err() {
                    break;
                }
            }
            progressed(done.fetch_add(1, Ordering::Relaxed) + 1, all);
            Ok(trial)
        };
        let never = AtomicBool::new(false);
        let permuted = in_turn(NAME, self.permutations, &never, &|index| {
            let random = &mut stream(self.seed, Purpose::Permutation, index as u64);
            let trial = fit_all(groups.exchanged(random)?)?;
            let exceeds = trial.found.map(|numbers| {
                let found = measures.sizes(&measures.differences(&numbers));
                let pairs = found.iter().zip(&sizes);
                pairs.map(|(found, size)| *found >= size - TIE * size.max(1.0)).collect::<Vec<bool>>()
            });
            Ok(Trial { found: exceeds, unconverged: trial.unconverged })
        })?;
        let drawn = in_turn(NAME, self.bootstrap, &never, &|index| {
            let random = &mut stream(self.seed, Purpose::Resample, index as u64);
            let trial = fit_all(groups.resampled(random)?)?;
            let differences = trial.found.map(|numbers| measures.differences(&numbers));
            Ok(Trial { found: differences, unconverged: trial.unconverged })
        })?;

        let mut notes = Vec::new();
        let (counts, failed) = count(&permuted, sizes.len(), &mut notes);
        let p: Vec<f64> = counts
            .iter()
            .map(|&exceeding| (1 + failed + exceeding) as f64 / (1 + self.permutations) as f64)
            .collect();
        let intervals = self.intervals(&drawn, observed.len(), &mut notes)?;
        let (overall, pairs) = measures.tested(&observed, &p, &intervals);
        Ok(Compared {
            couplings: measures.couplings(),
            units: measures.units(),
            strengths: numbers.iter().map(|numbers| measures.strength(numbers)).collect(),
            pooled,
            fits,
            numbers,
            overall,
            pairs,
            notes,
        })
    }

    /// Checks settings and the memory of [`run`](Self::run); the learner's is left to its own budget.
    fn check(&self, structure: &Machine, groups: &Groups) -> Result<()> {
        if self.level <= 0.0 {
            let problem = format!("found {}, expected a number above 0 and below 1", self.level);
            return Err(Error::setting("level", problem));
        }
        let count = groups.names().len() as u128;
        let pairs = count * (count - 1) / 2;
        let (units, edges) = (structure.unit_count() as u128, structure.weights().len() as u128);
        let numbers = units + edges + 2;
        let threads = workers(self.permutations.max(self.bootstrap)) as u128;
        let machines = (count + 2) * Machine::bytes(units, edges);
        let needed = (pairs + 1) * numbers * self.permutations as u128
            + 8 * pairs * numbers * self.bootstrap as u128
            + (threads + 2) * (2 * groups.bytes() + machines);
        self.budget.check(NAME, needed, || {
            format!("{} sets of labels with {pairs} pairs of {numbers} differences", self.permutations)
        })
    }

    /// The intervals of all differences; empty without resamples.
    fn intervals(
        &self,
        drawn: &[Trial<Vec<f64>>],
        count: usize,
        notes: &mut Vec<Note>,
    ) -> Result<Vec<(f64, f64)>> {
        let found: Vec<&Vec<f64>> = drawn.iter().filter_map(|trial| trial.found.as_ref().ok()).collect();
        let failures = drawn.iter().filter_map(|trial| trial.found.as_ref().err());
        if let Some(why) = failures.clone().next() {
            let failed = failures.count();
            if found.is_empty() {
                let problem = format!("none of {failed} resamples could be fitted; the first: {why}");
                return Err(Error::Numerical { method: NAME, problem });
            }
            notes.push(Note::ResamplesFailed { failed, tried: drawn.len(), why: why.clone() });
        }
        let unconverged = drawn.iter().filter(|trial| trial.unconverged > 0).count();
        if unconverged > 0 {
            notes.push(Note::ResamplesUnconverged { unconverged, fitted: found.len() });
        }
        if found.is_empty() {
            return Ok(Vec::new());
        }
        let interval = |k: usize| {
            let mut values: Vec<f64> = found.iter().map(|differences| differences[k]).collect();
            values.sort_by(f64::total_cmp);
            let tail = 0.5 * (1.0 - self.level);
            (quantile(&values, tail), quantile(&values, 1.0 - tail))
        };
        Ok((0..count).map(interval).collect())
    }
}

/// How many sets of labels have differences as large as those found, and how many failed.
fn count(permuted: &[Trial<Vec<bool>>], size: usize, notes: &mut Vec<Note>) -> (Vec<usize>, usize) {
    let (mut counts, mut failed, mut why) = (vec![0; size], 0, None);
    for trial in permuted {
        match &trial.found {
            Ok(exceeds) => {
                counts.iter_mut().zip(exceeds).for_each(|(count, &exceeds)| *count += usize::from(exceeds));
            }
            Err(problem) => {
                failed += 1;
                why.get_or_insert_with(|| problem.clone());
            }
        }
    }
    if let Some(why) = why {
        notes.push(Note::PermutationsFailed { failed, tried: permuted.len(), why });
    }
    let unconverged = permuted.iter().filter(|trial| trial.unconverged > 0).count();
    if unconverged > 0 {
        notes.push(Note::PermutationsUnconverged { unconverged, fitted: permuted.len() - failed });
    }
    (counts, failed)
}
