//! The answers of engines: expectations, guarantees and diagnostics.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Budget, Error, Graph, Machine, Result};

/// What kind of answer this is. Nothing is called exact that is not.
///
/// # Example
/// ```
/// use isinglass::Guarantee;
/// assert_eq!(Guarantee::LowerBound.to_string(), "lower-bound");
/// assert_eq!(Guarantee::Exact.and(Guarantee::Estimate), Guarantee::Estimate);
/// assert_eq!(Guarantee::LowerBound.and(Guarantee::UpperBound), Guarantee::Approximation);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Guarantee {
    /// Right up to rounding.
    Exact,
    /// log Z is at most the true one; moments are approximations.
    LowerBound,
    /// log Z is at least the true one; moments are approximations.
    UpperBound,
    /// From samples: right on average, with a standard error.
    Estimate,
    /// None of these.
    Approximation,
}

impl Guarantee {
    /// The word in files and messages.
    pub fn word(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::LowerBound => "lower-bound",
            Self::UpperBound => "upper-bound",
            Self::Estimate => "estimate",
            Self::Approximation => "approximation",
        }
    }

    /// The guarantee of a sum of two answers.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (a, b) if a == b => a,
            (Self::Exact, b) => b,
            (a, Self::Exact) => a,
            _ => Self::Approximation,
        }
    }

    /// The guarantee of a ratio of two such answers: a ratio of bounds is no bound.
    #[must_use]
    pub fn of_ratio(self) -> Self {
        self.and(self.negated())
    }

    /// The guarantee of an answer that enters with a minus.
    #[must_use]
    pub fn negated(self) -> Self {
        match self {
            Self::LowerBound => Self::UpperBound,
            Self::UpperBound => Self::LowerBound,
            other => other,
        }
    }
}

impl fmt::Display for Guarantee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Which pair moments to compute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pairs {
    /// None.
    None,
    /// Those of the machine's edges, in the order of [`Graph::edges`].
    Edges,
    /// Those of all pairs: (0,1), (0,2), …, (1,2), ….
    All,
}

/// Raw pair moments ⟨s_i s_j⟩.
#[derive(Debug, Clone, PartialEq)]
pub struct PairMoments {
    /// Which pairs these are.
    pub pairs: Pairs,
    /// The moments, in the order of [`Pairs`].
    pub values: Vec<f64>,
}

impl PairMoments {
    /// The number of pairs.
    pub fn count(pairs: Pairs, graph: &Graph) -> usize {
        match pairs {
            Pairs::None => 0,
            Pairs::Edges => graph.edges().len(),
            Pairs::All => graph.unit_count() * graph.unit_count().saturating_sub(1) / 2,
        }
    }

    /// Refuses more than the budget allows; those of all pairs take some copies.
    pub(crate) fn check(
        engine: &'static str,
        pairs: Pairs,
        graph: &Graph,
        copies_of_all: u128,
        budget: Budget,
    ) -> Result<()> {
        let count = Self::count(pairs, graph);
        let copies = if pairs == Pairs::All { copies_of_all } else { 1 };
        budget.check(engine, 8 * copies * count as u128, || format!("the moments of {count} pairs"))
    }

    /// Computes the moment of each pair.
    pub(crate) fn collect(pairs: Pairs, graph: &Graph, mut moment: impl FnMut(usize, usize) -> f64) -> Self {
        let mut values = Vec::with_capacity(Self::count(pairs, graph));
        each_pair(pairs, graph, |a, b| values.push(moment(a, b)));
        Self { pairs, values }
    }

    /// Each pair with its moment.
    pub fn iter<'a>(&'a self, graph: &'a Graph) -> impl Iterator<Item = ((usize, usize), f64)> + 'a {
        let n = graph.unit_count();
        let edges = if self.pairs == Pairs::Edges { graph.edges() } else { &[] };
        let firsts = if self.pairs == Pairs::All { n } else { 0 };
        let all = (0..firsts).flat_map(move |a| (a + 1..n).map(move |b| (a, b)));
        edges.iter().copied().chain(all).zip(self.values.iter().copied())
    }

    /// The moment of one pair, if it was computed.
    pub fn get(&self, graph: &Graph, a: usize, b: usize) -> Option<f64> {
        match self.pairs {
            Pairs::None => None,
            Pairs::Edges => graph.edge_between(a, b).map(|edge| self.values[edge]),
            Pairs::All if a == b => None,
            Pairs::All => Some(self.values[packed_pair(graph.unit_count(), a.min(b), a.max(b))]),
        }
    }
}

/// The number of a pair a < b in the order (0,1), (0,2), …, (1,2), ….
pub(crate) fn packed_pair(units: usize, a: usize, b: usize) -> usize {
    a * units - a * (a + 1) / 2 + b - a - 1
}

/// Visits the pairs in order.
pub(crate) fn each_pair(pairs: Pairs, graph: &Graph, mut visit: impl FnMut(usize, usize)) {
    match pairs {
        Pairs::None => {}
        Pairs::Edges => graph.edges().iter().for_each(|&(a, b)| visit(a, b)),
        Pairs::All => {
            let n = graph.unit_count();
            (0..n).for_each(|a| (a + 1..n).for_each(|b| visit(a, b)));
        }
    }
}

/// The answer of an engine for one machine and one evidence.
///
/// # Example
/// ```
/// use isinglass::{Engine, Enumerate, Evidence, Machine, Pairs, Unit};
/// let pair = Machine::new(vec![Unit::new("a", 0.0), Unit::new("b", 0.0)], [(0, 1, 0.5)])?;
/// let answer = Enumerate::default().expectations(&pair, &Evidence::none(2), Pairs::Edges)?;
/// assert!((answer.log_z.unwrap() - (4.0 * 0.5f64.cosh()).ln()).abs() < 1e-12);
/// assert!((answer.correlations.get(pair.graph(), 0, 1).unwrap() - 0.5f64.tanh()).abs() < 1e-12);
/// # Ok::<(), isinglass::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Expectations {
    /// log Z under the evidence, with the clamped units' own terms; `None` where it is unavailable.
    pub log_z: Option<f64>,
    /// ⟨s_i⟩ of every unit; a clamped unit's is its value.
    pub means: Vec<f64>,
    /// ⟨s_i s_j⟩ of the requested pairs.
    pub correlations: PairMoments,
    /// What kind of answer this is.
    pub guarantee: Guarantee,
    /// Standard errors, where the answer is an estimate. Those of samples that did not mix are what the
    /// samples show, and may be far too small; see [`known_errors`](Self::known_errors).
    pub errors: Option<StandardErrors>,
    /// How the computation went.
    pub diagnostics: Diagnostics,
}

impl Expectations {
    /// Standard errors as they are to be shown; see [`Diagnostics::known_errors`].
    pub fn known_errors(&self) -> Option<StandardErrors> {
        self.errors.as_ref().map(|errors| StandardErrors {
            log_z: errors.log_z.map(|error| self.diagnostics.known_error(error)),
            means: self.diagnostics.known_errors(&errors.means),
            correlations: self.diagnostics.known_errors(&errors.correlations),
        })
    }
}

/// Standard errors of an [`Expectations`], in the same order.
#[derive(Debug, Clone, PartialEq)]
pub struct StandardErrors {
    /// Of log Z.
    pub log_z: Option<f64>,
    /// Of the means.
    pub means: Vec<f64>,
    /// Of the pair moments.
    pub correlations: Vec<f64>,
}

/// How a computation went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Diagnostics {
    /// Whether the method reached its goal: a fixed point, well-mixed chains, weights carried by
    /// many runs. Direct methods always do.
    pub converged: bool,
    /// How well the chains mixed, for sampling engines.
    pub mixing: Option<Mixing>,
    /// How even the weights of the runs are, for annealed importance sampling.
    pub importance: Option<Importance>,
    /// How the search for a fixed point went, for variational engines.
    pub iteration: Option<Iteration>,
}

impl Diagnostics {
    /// Of a method without iterations.
    pub fn direct() -> Self {
        Self { converged: true, mixing: None, importance: None, iteration: None }
    }

    /// Of a search for a fixed point.
    pub fn iterated(converged: bool, iteration: Iteration) -> Self {
        Self { iteration: Some(iteration), converged, ..Self::direct() }
    }

    /// Of weighted runs.
    pub fn weighted(converged: bool, importance: Importance) -> Self {
        Self { importance: Some(importance), converged, ..Self::direct() }
    }

    /// A standard error, or NaN where it is unknown: samples that did not mix tell of the states that
    /// they met, not of those that they missed. An error of 0 is that of an exact number.
    pub fn known_error(&self, error: f64) -> f64 {
        if self.converged || error == 0.0 { error } else { f64::NAN }
    }

    /// Standard errors, with NaN for those that are unknown.
    ///
    /// # Example
    /// ```
    /// use isinglass::engine::Diagnostics;
    /// let mixed = Diagnostics::direct();
    /// assert_eq!(mixed.known_errors(&[0.02, 0.0]), [0.02, 0.0]);
    /// let found = Diagnostics { converged: false, ..mixed }.known_errors(&[0.02, 0.0]);
    /// assert!(found[0].is_nan() && found[1] == 0.0);
    /// ```
    pub fn known_errors(&self, errors: &[f64]) -> Vec<f64> {
        errors.iter().map(|&error| self.known_error(error)).collect()
    }

    /// Of two computations together: converged if both are, mixed as badly as the worse.
    #[must_use]
    pub fn and(&self, other: Self) -> Self {
        let worse_mixing = |a: Mixing, b: Mixing| Mixing {
            r_hat: a.r_hat.max(b.r_hat),
            effective_samples: a.effective_samples.min(b.effective_samples),
            round_trips: joined(a.round_trips, b.round_trips, usize::min),
            swap_rates: if lowest(&b.swap_rates) < lowest(&a.swap_rates) {
                b.swap_rates
            } else {
                a.swap_rates
            },
            ..a
        };
        Self {
            converged: self.converged && other.converged,
            mixing: joined(self.mixing.clone(), other.mixing, worse_mixing),
            importance: joined(self.importance, other.importance, Importance::worse),
            iteration: joined(self.iteration, other.iteration, Iteration::and),
        }
    }
}

/// The least of some shares; infinite of none.
fn lowest(shares: &[f64]) -> f64 {
    shares.iter().copied().fold(f64::INFINITY, f64::min)
}

/// Both joined, or the one that there is.
fn joined<T>(a: Option<T>, b: Option<T>, join: impl Fn(T, T) -> T) -> Option<T> {
    match (a, b) {
        (Some(a), Some(b)) => Some(join(a, b)),
        (a, b) => a.or(b),
    }
}

/// How the search for a fixed point went; of several rows, the worst of each.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Iteration {
    /// Sweeps, all temperatures together, of the start that was kept.
    pub sweeps: usize,
    /// The largest violation of an equation at the end.
    pub residual: f64,
    /// The damping at the end.
    pub damping: f64,
    /// Whether the values oscillated between two states, or (`bethe`) did not approach a fixed
    /// point, so that damping was raised.
    pub oscillated: bool,
}

impl Iteration {
    /// The worst of two.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            sweeps: self.sweeps.max(other.sweeps),
            residual: self.residual.max(other.residual),
            damping: self.damping.max(other.damping),
            oscillated: self.oscillated || other.oscillated,
        }
    }
}

/// How well Markov chains mixed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Mixing {
    /// The number of chains.
    pub chains: usize,
    /// Kept states of each chain.
    pub samples: usize,
    /// The largest split-R̂ of any unit; infinite if chains stay apart without moving.
    pub r_hat: f64,
    /// The smallest effective sample size of any unit, all chains together.
    pub effective_samples: f64,
    /// Travels of chains from the hottest level of a ladder to the coldest and back, for tempering.
    pub round_trips: Option<usize>,
    /// The share of swaps that are accepted between neighbouring levels, for tempering.
    pub swap_rates: Vec<f64>,
}

/// How even the weights of annealed runs are, and what the runs from either end tell of log Z; of
/// several rows, those of the worst.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Importance {
    /// The number of runs from independent units to the machine.
    pub runs: usize,
    /// Steps from the distribution at which each run began to the machine's own.
    pub temperatures: usize,
    /// The effective sample size (Σ w)² / Σ w².
    pub effective_samples: f64,
    /// log Z from these runs alone: too low where they miss states of the machine.
    pub forward_log_z: f64,
    /// The standard error of `forward_log_z`.
    pub forward_error: f64,
    /// The number of runs from draws of the machine back to independent units.
    pub reverse_runs: usize,
    /// log Z from these runs alone: too high where the way back is too short, and where they miss
    /// states that the others reach often.
    pub reverse_log_z: f64,
    /// The standard error of `reverse_log_z`.
    pub reverse_error: f64,
    /// log Z from the runs of both ends.
    pub log_z: f64,
    /// Its standard error, if the ends agree.
    pub log_z_error: f64,
}

impl Importance {
    /// Below this, a few runs carry the weights: log Z and its error are unreliable.
    const LEAST_EFFECTIVE_SAMPLES: f64 = 100.0;

    /// The same as a share of the runs: the heaviest of many runs may not have been seen.
    const LEAST_SHARE: f64 = 0.01;

    /// The ends agree up to so many standard errors of their difference.
    const APART: f64 = 3.0;

    /// The effective samples that are required: 100, of few runs half their number, of many a
    /// hundredth.
    fn least_effective_samples(&self) -> f64 {
        let runs = self.runs as f64;
        Self::LEAST_EFFECTIVE_SAMPLES.max(Self::LEAST_SHARE * runs).min(0.5 * runs)
    }

    /// Whether many runs carry the weights: 100, of few runs half their number, of many a hundredth.
    pub fn has_many_runs(&self) -> bool {
        self.effective_samples >= self.least_effective_samples()
    }

    /// Whether the runs back from the machine leave log Z where the others put it.
    ///
    /// `log_z`, which rests on both ends, differs from `forward_log_z` by at most three standard
    /// errors (the root of the sum of both squares), and is as well known as by the least number of
    /// effective runs: to 0.1 by 100. The reverse runs alone are no measure: a single start in a
    /// rare state that the others reach often may outweigh the rest, and may be missing.
    pub fn ends_agree(&self) -> bool {
        let distance = (self.log_z - self.forward_log_z).abs();
        distance <= Self::APART * self.forward_error.hypot(self.log_z_error)
            && self.log_z_error.powi(2) * self.least_effective_samples() <= 1.0
    }

    /// The worse of two: the one whose ends disagree, else the one with fewer effective samples.
    fn worse(self, other: Self) -> Self {
        let rank = |of: &Self| (of.ends_agree(), of.effective_samples);
        if rank(&other) < rank(&self) { other } else { self }
    }
}

/// What to compute for the rows of a batch besides log Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ask {
    /// The weighted sums over all rows that learning needs.
    pub statistics: bool,
    /// The means of every unit in every row.
    pub means: bool,
}

/// The answer of an engine for the rows of a batch, in the order in which they were given.
#[derive(Debug, Clone, PartialEq)]
pub struct BatchExpectations {
    /// log Z of every row; `None` where it is unavailable.
    pub log_z: Option<Vec<f64>>,
    /// The standard error of each log Z, where these are estimates.
    pub log_z_errors: Option<Vec<f64>>,
    /// The weighted sums over rows, if requested.
    pub statistics: Option<Statistics>,
    /// ⟨s_i⟩, row after row, if requested.
    pub means: Option<Vec<f64>>,
    /// What kind of answer this is.
    pub guarantee: Guarantee,
    /// How the computation went.
    pub diagnostics: Diagnostics,
}

/// Weighted sums over rows of the means and edge moments, as in the gradient of a likelihood.
///
/// Sums over disjoint sets of rows can be [merged](Statistics::merge).
///
/// # Example
/// ```
/// use isinglass::{Graph, Statistics};
/// let chain = Graph::chain(3);
/// let mut sums = Statistics::zero(&chain);
/// sums.add_state(&chain, &[1, -1, -1], 2.0);
/// let mut other = Statistics::zero(&chain);
/// other.add_state(&chain, &[1, 1, 1], 1.0);
/// sums.merge(&other)?;
/// assert_eq!((sums.weight, sums.means, sums.edges), (3.0, vec![3.0, -1.0, -1.0], vec![-1.0, 3.0]));
/// # Ok::<(), isinglass::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Statistics {
    /// Σ weight.
    pub weight: f64,
    /// Σ weight · ⟨s_i⟩ of each unit.
    pub means: Vec<f64>,
    /// Σ weight · ⟨s_i s_j⟩ of each edge.
    pub edges: Vec<f64>,
}

impl Statistics {
    /// Of no rows.
    pub fn zero(graph: &Graph) -> Self {
        Self { weight: 0.0, means: vec![0.0; graph.unit_count()], edges: vec![0.0; graph.edges().len()] }
    }

    /// Adds a complete state.
    pub fn add_state(&mut self, graph: &Graph, state: &[i8], weight: f64) {
        self.weight += weight;
        for (sum, &s) in self.means.iter_mut().zip(state) {
            *sum += weight * f64::from(s);
        }
        for (sum, &(a, b)) in self.edges.iter_mut().zip(graph.edges()) {
            *sum += weight * f64::from(state[a] * state[b]);
        }
    }

    /// Adds a row with its means and edge moments.
    pub(crate) fn add(&mut self, means: &[f64], edges: &[f64], weight: f64) {
        self.weight += weight;
        self.means.iter_mut().zip(means).for_each(|(sum, m)| *sum += weight * m);
        self.edges.iter_mut().zip(edges).for_each(|(sum, m)| *sum += weight * m);
    }

    /// Adds the sums over other rows.
    ///
    /// # Errors
    /// Sums for another graph.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        Error::check_length("means", other.means.len(), self.means.len())?;
        Error::check_length("edges", other.edges.len(), self.edges.len())?;
        self.weight += other.weight;
        self.means.iter_mut().zip(&other.means).for_each(|(sum, x)| *sum += x);
        self.edges.iter_mut().zip(&other.edges).for_each(|(sum, x)| *sum += x);
        Ok(())
    }

    /// Σ weight · ⟨−E/T + offset⟩ under these sums: linear in the machine's parameters.
    pub fn log_weight(&self, machine: &Machine) -> f64 {
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
        let energy = dot(&self.edges, machine.weights()) + dot(&self.means, machine.biases());
        energy / machine.temperature() + self.weight * machine.offset()
    }
}

/// The probabilities of every joint state of a few units.
#[derive(Debug, Clone, PartialEq)]
pub struct JointTable {
    /// The requested units.
    pub units: Vec<usize>,
    /// The probability of each state, in counting order: −1 before +1, the last unit fastest.
    pub probabilities: Vec<f64>,
    /// The standard error of each probability, where they are estimates.
    pub errors: Option<Vec<f64>>,
    /// What kind of answer this is.
    pub guarantee: Guarantee,
    /// How the computation went.
    pub diagnostics: Diagnostics,
}

impl JointTable {
    /// The state with a number in counting order.
    pub fn state(units: usize, number: usize) -> Vec<i8> {
        (0..units).rev().map(|bit| if number >> bit & 1 == 1 { 1 } else { -1 }).collect()
    }
}
