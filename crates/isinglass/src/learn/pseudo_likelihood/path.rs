//! The lasso path of one unit's regression: its couplings for falling penalties.
//!
//! For each λ, quadratic models are made at the current couplings and solved over the couplings that
//! are not 0 or that the strong rule (Tibshirani et al. 2012) does not exclude. Excluded ones are
//! checked afterwards, and added if needed. Where the curvature is singular, coordinate descent
//! (Friedman, Hastie and Tibshirani 2010) takes over.

use super::active_set::Model;
use super::regression::{Loss, Regression, Slopes};
use crate::cancel;

/// Tolerance of the optimality conditions, for averages over rows.
pub(super) const TOLERANCE: f64 = 1e-9;

/// The same on the way along a path, whose points are compared and not kept, as a share of λ: values
/// are off by its square.
const ON_THE_WAY: f64 = 1e-3;

/// At least so much, also without λ.
const LEAST_ON_THE_WAY: f64 = 1e-6;

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
    pub(super) regression: Regression<'a>,
    pub(super) others: Vec<usize>,
    /// The standard deviation of each.
    pub(super) deviations: Vec<f64>,
    pub(super) couplings: Vec<f64>,
    pub(super) gradient: Vec<f64>,
    /// The objective of the regression, without penalty.
    pub(super) value: f64,
    /// Whether these are those of the couplings.
    is_current: bool,
    last_penalty: f64,
    /// Whether the tolerance is the one for points that are kept.
    is_final: bool,
    /// ρ of the penalty `ρ/2 Σ_j w_j²` of fits without λ.
    ridge: f64,
    known: Known,
}

/// The curvature over some couplings and the bias, where it was computed last.
#[derive(Clone, Default)]
struct Known {
    set: Vec<usize>,
    curvature: Vec<f64>,
}

impl Known {
    /// The curvature over some of its couplings and the bias, if they are among them.
    fn over(&self, set: &[usize]) -> Option<Vec<f64>> {
        let place = |k: &usize| self.set.binary_search(k).ok();
        let mut places: Vec<usize> = set.iter().map(place).collect::<Option<_>>()?;
        let size = self.set.len() + 1;
        if self.curvature.len() != size * size {
            return None;
        }
        places.push(size - 1);
        let column = |&column: &usize| places.iter().map(move |row| (column, *row));
        Some(
            places.iter().flat_map(column).map(|(column, row)| self.curvature[column * size + row]).collect(),
        )
    }
}

impl<'a> Path<'a> {
    /// The beginning of the path, with all couplings 0. The unit must have both values.
    pub(super) fn new(regression: Regression<'a>, others: Vec<usize>, means: &[f64]) -> Self {
        let deviations = others.iter().map(|&unit| (1.0 - means[unit].powi(2)).max(0.0).sqrt()).collect();
        let mut couplings = vec![0.0; others.len() + 1];
        // The optimum without couplings, for every loss.
        couplings[others.len()] = means[regression.unit].atanh();
        let Slopes { value, gradient, .. } = regression.slopes(&others, &couplings, false);
        let (last_penalty, is_final, known) = (0.0, false, Known::default());
        let ridge = weakest_penalty(regression.panels.total_weight);
        let mut path = Self {
            regression,
            others,
            deviations,
            couplings,
            gradient,
            value,
            is_current: true,
            last_penalty,
            is_final,
            ridge,
            known,
        };
        path.last_penalty = path.largest_penalty();
        path
    }

    /// With other standard deviations, for columns that are not of −1 and +1.
    pub(super) fn with_deviations(mut self, deviations: Vec<f64>) -> Self {
        self.deviations = deviations;
        self.last_penalty = self.largest_penalty();
        self
    }

    /// What a coupling's penalty is proportional to: glmnet standardises columns, interaction
    /// screening does not.
    fn unit_penalty(&self, k: usize) -> f64 {
        if self.regression.loss == Loss::Logistic { self.deviations[k] } else { 1.0 }
    }

    /// The smallest λ for which all couplings are 0.
    pub(super) fn largest_penalty(&self) -> f64 {
        let each = (0..self.others.len()).map(|k| self.gradient[k].abs() / self.unit_penalty(k));
        each.fold(0.0, f64::max)
    }

    /// The positions of the couplings that are not 0.
    pub(super) fn support(&self) -> Vec<usize> {
        (0..self.others.len()).filter(|&k| self.couplings[k] != 0.0).collect()
    }

    /// The average curvature of rows, as of the latest one computed.
    pub(super) fn bend(&self) -> f64 {
        self.known.curvature.last().copied().unwrap_or(1.0)
    }

    /// Back on the way, where points are compared.
    pub(super) fn on_the_way(mut self) -> Self {
        self.is_final = false;
        self
    }

    /// Moves to the optimum of [`free`](Self::free) over the couplings that are not 0, to be kept;
    /// returns whether its conditions hold.
    pub(super) fn finish(&mut self) -> bool {
        self.is_final = true;
        let set = self.support();
        let converged = self.solve(&set, 0.0);
        self.evaluate();
        converged
    }

    /// The optimum over some couplings and the bias with the weakest of penalties, the others being
    /// 0. The value is without it.
    pub(super) fn free(&self, set: &[usize]) -> Self {
        let mut free = self.clone();
        for k in 0..self.others.len() {
            if free.couplings[k] != 0.0 && set.binary_search(&k).is_err() {
                free.couplings[k] = 0.0;
                free.is_current = false;
            }
        }
        free.solve(set, 0.0);
        free.evaluate();
        free
    }

    /// The number of couplings that are not 0.
    pub(super) fn size(&self) -> usize {
        self.couplings[..self.others.len()].iter().filter(|&&w| w != 0.0).count()
    }

    /// The tolerance of the optimality conditions.
    fn tolerance(&self, penalty: f64) -> f64 {
        if self.is_final { TOLERANCE } else { LEAST_ON_THE_WAY.max(ON_THE_WAY * penalty) }
    }

    /// Moves to the optimum for a λ whose point is kept; returns whether its conditions hold.
    pub(super) fn settle(&mut self, penalty: f64) -> bool {
        self.is_final = true;
        self.advance(penalty)
    }

    /// Moves to the optimum of `⟨ln P⟩ − λ Σ_j σ_j |w_j|`; returns whether its conditions hold.
    pub(super) fn advance(&mut self, penalty: f64) -> bool {
        let bound = 2.0 * penalty - self.last_penalty;
        let is_strong =
            |k: usize| self.couplings[k] != 0.0 || self.gradient[k].abs() >= self.unit_penalty(k) * bound;
        let mut set: Vec<usize> = (0..self.others.len()).filter(|&k| is_strong(k)).collect();
        self.last_penalty = penalty;
        loop {
            let converged = self.solve(&set, penalty);
            self.evaluate();
            let limit = |k: usize| penalty * self.unit_penalty(k) + self.tolerance(penalty);
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

    /// Computes value and gradient of the couplings.
    fn evaluate(&mut self) {
        if !self.is_current {
            let all = self.regression.slopes(&self.others, &self.couplings, false);
            (self.value, self.gradient, self.is_current) = (all.value, all.gradient, true);
        }
    }

    /// Moves to the optimum over some couplings and the bias; returns whether its conditions hold.
    fn solve(&mut self, set: &[usize], penalty: f64) -> bool {
        let bias = self.others.len();
        let places: Vec<usize> = set.iter().copied().chain([bias]).collect();
        let others: Vec<usize> = set.iter().map(|&k| self.others[k]).collect();
        let penalties: Vec<f64> = set.iter().map(|&k| penalty * self.unit_penalty(k)).chain([0.0]).collect();
        let mut here: Vec<f64> = places.iter().map(|&k| self.couplings[k]).collect();
        let ridge = if penalty == 0.0 { self.ridge } else { 0.0 };
        let regression = self.regression;
        let tolerance = self.tolerance(penalty);
        let evaluate = |at: &[f64], curvature: bool| {
            let mut slopes = regression.slopes(&others, at, curvature);
            slopes.bend_by(at, ridge);
            slopes
        };
        let known = self.known.over(set);
        let mut slopes = match known {
            Some(curvature) if self.is_current => {
                let gradient = places.iter().map(|&k| self.gradient[k]).collect();
                let mut slopes = Slopes { value: self.value, gradient, curvature: Vec::new() };
                slopes.bend_by(&here, ridge);
                Slopes { curvature, ..slopes }
            }
            Some(curvature) => Slopes { curvature, ..evaluate(&here, false) },
            None => evaluate(&here, true),
        };
        let mut distance = distance_from_optimum(&here, &slopes.gradient, &penalties);
        for _ in 0..MODELS {
            cancel::point();
            if distance <= tolerance {
                break;
            }
            let model = Model {
                here: &here,
                slope: &slopes.gradient,
                curvature: &slopes.curvature,
                penalties: &penalties,
            };
            let step = model.step(0.1 * tolerance);
            let step = step.unwrap_or_else(|| by_coordinates(&here, &slopes, &penalties, tolerance));
            let height = penalised(slopes.value, &here, &penalties);
            let mut share = 1.0;
            let mut next = None;
            for _ in 0..HALVINGS {
                cancel::point();
                let there: Vec<f64> = here.iter().zip(&step).map(|(w, d)| w + share * d).collect();
                let found = evaluate(&there, false);
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
                found = evaluate(&there, true);
            } else {
                found.curvature = slopes.curvature;
            }
            (here, slopes, distance) = (there, found, left);
        }
        for (&k, w) in places.iter().zip(here) {
            self.is_current &= self.couplings[k].to_bits() == w.to_bits();
            self.couplings[k] = w;
        }
        self.known = Known { set: set.to_vec(), curvature: slopes.curvature };
        distance <= tolerance
    }
}

/// ρ of `ρ/2 Σ w²` on averages over rows, with couplings divided by T: a normal prior with standard
/// deviation 8, which no coupling that data can bound notices, and which keeps the others finite.
pub(in crate::learn) fn weakest_penalty(rows: f64) -> f64 {
    1.0 / (64.0 * rows.max(1.0))
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
/// all elements, then over the nonzero ones until these converge. For models whose curvature is
/// singular.
fn by_coordinates(couplings: &[f64], slopes: &Slopes, penalties: &[f64], tolerance: f64) -> Vec<f64> {
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
        let is_at_rest = largest <= 0.1 * tolerance;
        if is_at_rest && over_all {
            break;
        }
        over_all = is_at_rest;
    }
    reached.iter().zip(couplings).map(|(new, old)| new - old).collect()
}
