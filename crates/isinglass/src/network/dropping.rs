//! How stable centralities are when rows are left out: the case-dropping bootstrap.

use super::Centrality;
use crate::learn::resampling::{Fits, Outcome, Rows, quantile, workers};
use crate::learn::{Fit, Learner, Progress, aligned};
use crate::{Budget, Error, Machine, Note, Result, Table};

const NAME: &str = "case-dropping";

/// The largest share of rows that is left out, the smallest, and the number of shares: those of
/// bootnet.
const MOST: f64 = 0.75;
const LEAST: f64 = 0.05;
const LEVELS: usize = 10;

/// Compares centralities, and couplings, of fits to ever fewer rows with those of the fit to all
/// (Epskamp, Borsboom and Fried 2018, "Estimating psychological networks and their accuracy").
///
/// Subsets of the rows are drawn without replacement, in turn with each of ten shares from 5 % to
/// 75 % left out. The **CS coefficient** of a measure is the largest share of rows that can be left
/// out so that, with a probability of at least [`probability`](Self::probability), the correlation
/// of the units' values with those of the full fit is at least [`correlation`](Self::correlation),
/// at this share and all smaller ones. Epskamp and others recommend at least 0.25, better 0.5, to
/// interpret the order of units.
///
/// A correlation that is undefined, as of a network without couplings, counts as below.
///
/// # Complexity
/// One fit per subset, each on one thread.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CaseDropping {
    /// The number of subsets, in all.
    pub subsets: usize,
    /// The least correlation that counts as the same order.
    pub correlation: f64,
    /// The least share of subsets that must reach it.
    pub probability: f64,
    /// The seed of all subsets.
    pub seed: u64,
    /// Memory that may be taken.
    pub budget: Budget,
}

impl Default for CaseDropping {
    fn default() -> Self {
        Self { subsets: 1000, correlation: 0.7, probability: 0.95, seed: 0, budget: Budget::default() }
    }
}

/// What is compared between the fits to some and to all rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// [`Centrality::strength`].
    Strength,
    /// [`Centrality::expected_influence`].
    ExpectedInfluence,
    /// [`Centrality::closeness`].
    Closeness,
    /// [`Centrality::betweenness`].
    Betweenness,
    /// The couplings of the full fit.
    Couplings,
}

impl Kept {
    /// All, in the order of results.
    pub const ALL: [Self; 5] =
        [Self::Strength, Self::ExpectedInfluence, Self::Closeness, Self::Betweenness, Self::Couplings];

    /// Its name in files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Strength => "strength",
            Self::ExpectedInfluence => "expected_influence",
            Self::Closeness => "closeness",
            Self::Betweenness => "betweenness",
            Self::Couplings => "couplings",
        }
    }
}

/// Correlations at one share of rows left out, for each of [`Kept::ALL`].
#[derive(Debug, Clone, PartialEq)]
pub struct DropLevel {
    /// The share of rows that is left out.
    pub dropped: f64,
    /// The subsets that were fitted.
    pub subsets: usize,
    /// The mean correlation; NaN where none is defined.
    pub mean: [f64; 5],
    /// The 2.5 % quantile of the correlations that are defined.
    pub low: [f64; 5],
    /// The 97.5 % quantile.
    pub high: [f64; 5],
    /// The share of subsets whose correlation is large enough.
    pub share: [f64; 5],
}

/// The result of [`CaseDropping`].
#[derive(Debug, Clone, PartialEq)]
pub struct Stability {
    /// The CS coefficient of each of [`Kept::ALL`]; 0 if not even the smallest share can be left
    /// out.
    pub coefficients: [f64; 5],
    /// For each share of rows left out, the smallest first.
    pub levels: Vec<DropLevel>,
    /// The subsets behind it.
    pub subsets: usize,
    /// What the user should know.
    pub notes: Vec<Note>,
}

impl CaseDropping {
    /// Fits subsets of a table, all from the start of the fit to the table itself.
    ///
    /// # Errors
    /// Those of [`check`](Self::check); errors of the learner other than breakdowns; no subset that
    /// could be fitted.
    pub fn run(
        &self,
        (learner, start): (&(dyn Learner + Sync), &Machine),
        fitted: &Machine,
        table: &Table,
        progress: &Progress<'_>,
    ) -> Result<Stability> {
        self.check(fitted, table)?;
        let rows = Rows::of(NAME, table)?;
        let whole = values(fitted, fitted);
        let draw = |index: usize| {
            let kept = ((1.0 - dropped(index)) * rows.count as f64).round().max(1.0);
            rows.keep(kept as u64, self.seed, index as u64)
        };
        let read = |fit: &Fit, _: &Table| -> Result<([f64; 5], bool)> {
            let found = values(&aligned(&fit.machine, fitted)?, fitted);
            let mut of = [0.0; 5];
            for (k, correlation) in of.iter_mut().enumerate() {
                *correlation = correlated(&found[k], &whole[k]);
            }
            Ok((of, fit.converged))
        };
        let fits = Fits { name: NAME, learner, start, count: self.subsets, progress };
        self.summarise(fits.read(&draw, &read)?)
    }

    /// Checks settings and memory, before the fit to the table itself.
    ///
    /// # Errors
    /// Fewer subsets than shares; a correlation or a probability that is not between 0 and 1; more
    /// memory than the budget has.
    pub fn check(&self, machine: &Machine, table: &Table) -> Result<()> {
        if self.subsets < LEVELS {
            let problem = format!("found {}, expected at least {LEVELS}", self.subsets);
            return Err(Error::invalid("case-dropping", problem));
        }
        for (name, value) in [("correlation", self.correlation), ("probability", self.probability)] {
            if !(value > 0.0 && value < 1.0) {
                let problem = format!("found {value}, expected a number above 0 and below 1");
                return Err(Error::invalid(name, problem));
            }
        }
        let threads = workers(self.subsets) as u128;
        let of_machine = Machine::bytes(machine.unit_count() as u128, machine.weights().len() as u128);
        let needed = 64 * self.subsets as u128 + (threads + 1) * table.bytes() + 3 * threads * of_machine;
        self.budget.check(NAME, needed, || format!("{} subsets, with {threads} tables,", self.subsets))
    }

    fn summarise(&self, outcomes: Vec<Outcome<([f64; 5], bool)>>) -> Result<Stability> {
        let mut found: Vec<Vec<[f64; 5]>> = vec![Vec::new(); LEVELS];
        let (mut failures, mut unconverged) = (Vec::new(), 0);
        for (index, outcome) in outcomes.into_iter().enumerate() {
            match outcome {
                Outcome::Done((of, converged)) => {
                    found[index % LEVELS].push(of);
                    unconverged += usize::from(!converged);
                }
                Outcome::Failed(problem) => failures.push(problem),
                Outcome::Stopped => {}
            }
        }
        let subsets = found.iter().map(Vec::len).sum();
        let tried = subsets + failures.len();
        if found.iter().any(Vec::is_empty) {
            let problem = failures.first().map_or_else(
                || "stopped on request before enough subsets were done".to_owned(),
                |first| {
                    format!("{} of {tried} subsets could not be fitted; the first: {first}", failures.len())
                },
            );
            return Err(Error::Numerical { method: NAME, problem });
        }
        let mut notes = Vec::new();
        if let Some(first) = failures.first() {
            notes.push(Note::ResamplesFailed { failed: failures.len(), tried, why: first.clone() });
        }
        if unconverged > 0 {
            notes.push(Note::ResamplesUnconverged { unconverged, fitted: subsets });
        }
        if tried < self.subsets {
            notes.push(Note::ResamplesStopped { tried, requested: self.subsets });
        }
        let levels: Vec<DropLevel> =
            found.iter().enumerate().map(|(k, found)| self.level(dropped(k), found)).collect();
        let mut coefficients = [0.0; 5];
        for (k, coefficient) in coefficients.iter_mut().enumerate() {
            let kept = levels.iter().take_while(|level| level.share[k] >= self.probability);
            *coefficient = kept.last().map_or(0.0, |level| level.dropped);
        }
        Ok(Stability { coefficients, levels, subsets, notes })
    }

    fn level(&self, dropped: f64, found: &[[f64; 5]]) -> DropLevel {
        let mut level = DropLevel {
            dropped,
            subsets: found.len(),
            mean: [f64::NAN; 5],
            low: [f64::NAN; 5],
            high: [f64::NAN; 5],
            share: [0.0; 5],
        };
        for k in 0..5 {
            let mut values: Vec<f64> = found.iter().map(|of| of[k]).filter(|x| !x.is_nan()).collect();
            values.sort_by(f64::total_cmp);
            let large = values.iter().filter(|&&value| value >= self.correlation).count();
            level.share[k] = large as f64 / found.len() as f64;
            if !values.is_empty() {
                level.mean[k] = values.iter().sum::<f64>() / values.len() as f64;
            }
            (level.low[k], level.high[k]) = (quantile(&values, 0.025), quantile(&values, 0.975));
        }
        level
    }
}

/// The share of rows that is left out of a subset.
fn dropped(index: usize) -> f64 {
    LEAST + (MOST - LEAST) * (index % LEVELS) as f64 / (LEVELS - 1) as f64
}

/// What is compared, in the order of [`Kept::ALL`].
fn values(machine: &Machine, like: &Machine) -> [Vec<f64>; 5] {
    let found = Centrality::of(machine);
    let coupling = |&(a, b): &(usize, usize)| {
        machine.graph().edge_between(a, b).map_or(0.0, |edge| machine.weights()[edge])
    };
    let couplings = like.graph().edges().iter().map(coupling).collect();
    [found.strength, found.expected_influence, found.closeness, found.betweenness, couplings]
}

/// Pearson's correlation; NaN where either is constant.
fn correlated(a: &[f64], b: &[f64]) -> f64 {
    let count = a.len() as f64;
    let mean = |values: &[f64]| values.iter().sum::<f64>() / count;
    let (of_a, of_b) = (mean(a), mean(b));
    let (mut ab, mut aa, mut bb) = (0.0, 0.0, 0.0);
    for (x, y) in a.iter().zip(b) {
        ab += (x - of_a) * (y - of_b);
        aa += (x - of_a).powi(2);
        bb += (y - of_b).powi(2);
    }
    // Equal values have a variance of rounding errors.
    let is_constant = |variance: f64, mean: f64| variance <= 1e-24 * count * mean * mean || variance == 0.0;
    if is_constant(aa, of_a) || is_constant(bb, of_b) {
        return f64::NAN;
    }
    ab / (aa * bb).sqrt()
}
