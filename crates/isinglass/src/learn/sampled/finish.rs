//! The end of a fit: parameters averaged over steps, less what the chains' own pseudo-likelihood
//! tells of their sampling error.
//!
//! Averaged over steps, parameters θ̄ are off the optimum by the sampling error of the chains,
//! `−C⁻¹ ε` with ε the error of their moments, and by what is left of the gradient, `C⁻¹ g`. The
//! pseudo-likelihood of the same states has its optimum near `θ + C⁻¹ ε` as well: its gradient γ,
//! 0 on average at the machine that is sampled, shows most of the error where pseudo-likelihood is
//! an efficient estimator (a control variate). So
//!
//! ```text
//! θ ← θ̄ + c H⁻¹ γ + (C + D)⁻¹ (g − λ₂ c H⁻¹ γ),      c = Σ uᵀ ε / Σ uᵀ C u,   u = H⁻¹ γ
//! ```
//!
//! with H the curvature of the pseudo-likelihood, and sums over contrasts of independent runs for c:
//! the share that leaves the least variance, about the efficiency of pseudo-likelihood. The variance
//! that is left of the sampling error is about `1 − c` of it.

use serde::{Deserialize, Serialize};

use super::conditionals::Centre;
use super::coordinates::Coordinates;
use super::curvature::{Averages, Centred, dot};
use crate::{Graph, Machine};

/// The most contrasts of runs.
const CONTRASTS: usize = 4;

/// States from which curvatures are estimated: at most, at least for each unit, and as many as an
/// iteration of a solution takes so many multiplications.
const MOST_STATES: usize = 1 << 15;
const STATES_PER_UNIT: usize = 16;
const WORK: usize = 1 << 28;

/// What is added to the variance of each statistic: so many times parameters per state, at least.
const RIDGE: f64 = 4.0;
const LEAST_RIDGE: f64 = 0.01;

/// Sums over the averaged steps.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct Finish {
    /// Of the gradient of the objective.
    gradients: Vec<f64>,
    /// Of the gradient of the pseudo-likelihood of the chains' states.
    slopes: Vec<f64>,
    /// Of the differences of two runs: of the statistics, and of the gradient.
    contrasts: Vec<[Vec<f64>; 2]>,
    steps: usize,
}

/// What one iteration of the average adds.
pub(super) struct Averaged<'a> {
    pub(super) machine: &'a Machine,
    pub(super) coordinates: &'a Coordinates,
    pub(super) teams: &'a [Vec<bool>],
    pub(super) averages: &'a Averages,
    /// Of the objective.
    pub(super) gradient: &'a [f64],
}

fn add(sum: &mut Vec<f64>, x: impl Iterator<Item = f64>) {
    if sum.is_empty() {
        sum.extend(x);
    } else {
        sum.iter_mut().zip(x).for_each(|(sum, x)| *sum += x);
    }
}

/// The states of each run from which curvatures are estimated.
fn states(units: usize, teams: usize) -> usize {
    let most = (WORK / (units * units).max(1))
        .clamp(STATES_PER_UNIT * units, MOST_STATES.max(STATES_PER_UNIT * units));
    most.div_ceil(teams)
}

impl Finish {
    /// The bytes of a correction.
    pub(super) fn bytes(units: usize, teams: usize) -> u128 {
        24 * (units * states(units, teams) * teams) as u128
    }

    /// Adds a step.
    pub(super) fn add(&mut self, averaged: &Averaged<'_>) {
        let Averaged { machine, coordinates, teams, averages, gradient } = averaged;
        let centre = Centre::of(machine, coordinates);
        let of = |states: &Vec<bool>| {
            let one = std::slice::from_ref(states);
            Centred::new(machine.graph(), coordinates, one, usize::MAX).slopes(&centre)
        };
        let slopes: Vec<Vec<f64>> = teams.iter().map(of).collect();
        add(&mut self.gradients, gradient.iter().copied());
        for one in &slopes {
            add(&mut self.slopes, one.iter().map(|x| x / slopes.len() as f64));
        }
        let pairs = (slopes.len() / 2).min(CONTRASTS);
        self.contrasts.resize(pairs, [Vec::new(), Vec::new()]);
        for (k, [statistics, of_slopes]) in self.contrasts.iter_mut().enumerate() {
            let difference = |all: &[Vec<f64>]| -> Vec<f64> {
                all[2 * k].iter().zip(&all[2 * k + 1]).map(|(a, b)| a - b).collect()
            };
            add(statistics, difference(&averages.parts).into_iter());
            add(of_slopes, difference(&slopes).into_iter());
        }
        self.steps += 1;
    }

    /// What to add to the averaged parameters, in centred coordinates, with the states of the last
    /// step; `l2` is the penalty's curvature.
    pub(super) fn correction(&self, last: &Averaged<'_>, l2: &[f64]) -> Vec<f64> {
        let Averaged { machine, coordinates, teams, .. } = last;
        let graph: &Graph = machine.graph();
        let each = states(graph.unit_count(), teams.len());
        let all = Centred::new(graph, coordinates, teams, each);
        let bent = all.bent(&Centre::of(machine, coordinates));
        let (mut common, mut own) = (0.0, 0.0);
        for [statistics, slopes] in &self.contrasts {
            let u = bent.solve(slopes);
            common += dot(&u, statistics);
            own += dot(&u, &all.covariance_times(&u));
        }
        let share = if own > 0.0 { (common / own).clamp(0.0, 1.0) } else { 0.0 };
        let mean = |sums: &[f64]| -> Vec<f64> { sums.iter().map(|x| x / self.steps as f64).collect() };
        let mut correction = bent.solve(&mean(&self.slopes));
        for x in &mut correction {
            *x *= share;
        }
        let mut left = mean(&self.gradients);
        for ((left, x), l2) in left.iter_mut().zip(&correction).zip(l2) {
            *left -= l2 * x;
        }
        let ridge = (RIDGE * left.len() as f64 / all.count as f64).max(LEAST_RIDGE);
        let diagonal: Vec<f64> = l2.iter().map(|l2| l2 + ridge).collect();
        let rest = all.solve(&left, &diagonal);
        correction.iter_mut().zip(rest).for_each(|(x, rest)| *x += rest);
        correction
    }
}
