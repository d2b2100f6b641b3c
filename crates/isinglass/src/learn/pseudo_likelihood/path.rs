//! The lasso path of one unit's logistic regression: its couplings for falling penalties.
//!
//! For each λ, quadratic models are made at the current couplings and solved by coordinate descent
//! (Friedman, Hastie and Tibshirani 2010), over the couplings that are not 0 or that the strong
//! rule (Tibshirani et al. 2012) does not exclude. Excluded ones are checked afterwards, and added
//! if needed.

use super::logistic::{Logistic, Slopes};
use crate::cancel;

/// Tolerance of the optimality conditions, for averages over rows.
pub(super) const TOLERANCE: f64 = 1e-9;

/// Most quadratic models for one λ.
const MODELS: usize = 60;

/// Most sweeps of coordinate descent for one quadratic model.
const SWEEPS: usize = 1000;

/// The curvature is reused if the last step left at most this share of the distance from the
/// optimum.
const QUICK: f64 = 0.1;

/// Most halvings of a step that would lower the objective.
const HALVINGS: usize = 30;

/// A unit's couplings with others and its bias, all divided by T, along the path.
#[derive(Clone)]
pub(super) struct Path<'a> {
    pub(super) logistic: Logistic<'a>,
    others: Vec<usize>,
    /// The standard deviation of each, in proportion to which its coupling is penalised.
    deviations: Vec<f64>,
    pub(super) couplings: Vec<f64>,
    gradient: Vec<f64>,
    /// The average of `ln P(s_i | others)`.
    pub(super) value: f64,
    last_penalty: f64,
}

impl<'a> Path<'a> {
    /// The beginning of the path, with all couplings 0. The unit must have both values.
    pub(super) fn new(logistic: Logistic<'a>, others: Vec<usize>) -> Self {
        let deviation = |&unit: &usize| (1.0 - logistic.panels.mean(unit).powi(2)).max(0.0).sqrt();
        let deviations: Vec<f64> = others.iter().map(deviation).collect();
        let mut couplings = vec![0.0; others.len() + 1];
        couplings[others.len()] = logistic.panels.mean(logistic.unit).atanh();
        let Slopes { value, gradient, .. } = logistic.slopes(&others, &couplings, false);
        let mut path = Self { logistic, others, deviations, couplings, gradient, value, last_penalty: 0.0 };
        path.last_penalty = path.largest_penalty();
        path
    }

    /// The smallest λ for which all couplings are 0.
    pub(super) fn largest_penalty(&self) -> f64 {
        let pairs = self.gradient.iter().zip(&self.deviations);
        pairs.map(|(g, deviation)| g.abs() / deviation).fold(0.0, f64::max)
    }

    /// The number of couplings that are not 0.
    pub(super) fn size(&self) -> usize {
        self.couplings[..self.others.len()].iter().filter(|&&w| w != 0.0).count()
    }

    /// Moves to the optimum of `⟨ln P⟩ − λ Σ_j σ_j |w_j|`; returns whether its conditions hold.
    pub(super) fn advance(&mut self, penalty: f64) -> bool {
        let bound = 2.0 * penalty - self.last_penalty;
        let is_strong =
            |k: usize| self.couplings[k] != 0.0 || self.gradient[k].abs() >= self.deviations[k] * bound;
        let mut set: Vec<usize> = (0..self.others.len()).filter(|&k| is_strong(k)).collect();
        self.last_penalty = penalty;
        loop {
            let converged = self.solve(&set, penalty);
            let all = self.logistic.slopes(&self.others, &self.couplings, false);
            (self.value, self.gradient) = (all.value, all.gradient);
            let limit = |k: usize| penalty * self.deviations[k] + TOLERANCE;
            let before = set.len();
            let missed = |k: &usize| self.gradient[*k].abs() > limit(*k) && self.couplings[*k] == 0.0;
            let wrong: Vec<usize> =
                (0..self.others.len()).filter(missed).filter(|k| !set.contains(k)).collect();
            set.extend(wrong);
            set.sort_unstable();
            if !converged || set.len() == before {
                return converged;
            }
        }
    }

    /// Moves to the optimum over some couplings and the bias; returns whether its conditions hold.
    fn solve(&mut self, set: &[usize], penalty: f64) -> bool {
        let bias = self.others.len();
        let places: Vec<usize> = set.iter().copied().chain([bias]).collect();
        let others: Vec<usize> = set.iter().map(|&k| self.others[k]).collect();
        let penalties: Vec<f64> = set.iter().map(|&k| penalty * self.deviations[k]).chain([0.0]).collect();
        let mut here: Vec<f64> = places.iter().map(|&k| self.couplings[k]).collect();
        let mut slopes = self.logistic.slopes(&others, &here, true);
        let mut distance = distance_from_optimum(&here, &slopes.gradient, &penalties);
        for _ in 0..MODELS {
            cancel::point();
            if distance <= TOLERANCE {
                break;
            }
            let step = minimum_of_model(&here, &slopes, &penalties);
            let height = penalised(slopes.value, &here, &penalties);
            let mut share = 1.0;
            let mut next = None;
            for _ in 0..HALVINGS {
                cancel::point();
                let there: Vec<f64> = here.iter().zip(&step).map(|(w, d)| w + share * d).collect();
                let found = self.logistic.slopes(&others, &there, false);
                let gain = penalised(found.value, &there, &penalties) - height;
                if gain >= -1e-14 * height.abs().max(1.0) {
                    next = Some((there, found));
                    break;
                }
                share *= 0.5;
            }
            let Some((there, mut found)) = next else { break };
            let left = distance_from_optimum(&there, &found.gradient, &penalties);
            // The curvature changes little over a short step: recompute it only if progress is
            // slow.
            if left > QUICK * distance {
                found = self.logistic.slopes(&others, &there, true);
            } else {
                found.curvature = slopes.curvature;
            }
            (here, slopes, distance) = (there, found, left);
        }
        for (&k, w) in places.iter().zip(here) {
            self.couplings[k] = w;
        }
        distance <= TOLERANCE
    }
}

fn penalised(value: f64, couplings: &[f64], penalties: &[f64]) -> f64 {
    value - couplings.iter().zip(penalties).map(|(w, penalty)| penalty * w.abs()).sum::<f64>()
}

/// The largest violation of the optimality conditions.
fn distance_from_optimum(couplings: &[f64], gradient: &[f64], penalties: &[f64]) -> f64 {
    let each = couplings.iter().zip(gradient).zip(penalties).map(|((&w, &g), &penalty)| {
        if w == 0.0 { (g.abs() - penalty).max(0.0) } else { (g - penalty * w.signum()).abs() }
    });
    each.fold(0.0, f64::max)
}

/// The step that maximises `gᵀd − ½ dᵀHd − Σ λ_k |w_k + d_k|`, by coordinate descent: sweeps over
/// all elements, then over the nonzero ones until these converge.
fn minimum_of_model(couplings: &[f64], slopes: &Slopes, penalties: &[f64]) -> Vec<f64> {
    let size = couplings.len();
    let mut reached = couplings.to_vec();
    let mut rest = slopes.gradient.clone();
    // Rows that are all decided have a curvature of 0: keep steps along it finite.
    let bend = |k: usize| slopes.curvature[k * size + k].max(1e-12);
    let mut over_all = true;
    for _ in 0..SWEEPS {
        cancel::point();
        let mut largest: f64 = 0.0;
        for k in 0..size {
            if !over_all && reached[k] == 0.0 {
                continue;
            }
            let pull = bend(k).mul_add(reached[k], rest[k]);
            let shrunk = pull.signum() * (pull.abs() - penalties[k]).max(0.0) / bend(k);
            let change = shrunk - reached[k];
            if change != 0.0 {
                reached[k] = shrunk;
                let column = &slopes.curvature[k * size..(k + 1) * size];
                rest.iter_mut().zip(column).for_each(|(rest, h)| *rest -= h * change);
                largest = largest.max(bend(k) * change.abs());
            }
        }
        let is_at_rest = largest <= 0.1 * TOLERANCE;
        if is_at_rest && over_all {
            break;
        }
        over_all = is_at_rest;
    }
    reached.iter().zip(couplings).map(|(new, old)| new - old).collect()
}
