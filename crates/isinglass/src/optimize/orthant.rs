//! A smooth concave objective less Σ λ_k |x_k|: Newton steps by a model of the curvature, within
//! one orthant at a time.
//!
//! A step stays within the orthant of its start, where the penalty is linear; a parameter that
//! would cross a side is set to 0 (Andrew and Gao 2007). Parameters that are 0 and should stay so
//! do not move. The gradient is the one-sided one of the whole, which vanishes exactly at an
//! optimum.
//!
//! Where values differ by rounding only, a smaller gradient is progress, as the objective is
//! concave: the optimum is found to more digits than values alone allow.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::climb::{Start, Way};
use super::memory::{difference, norm};
use super::{Climb, OptimizerSettings, Optimum, Watch, dot, fits, rounding};
use crate::{Error, Result};

/// A step gains at least this share of what the slope predicts.
const INCREASE: f64 = 1e-4;

/// Most halvings of a step.
const HALVINGS: usize = 40;

/// An objective, and how its curvature is learned.
pub(crate) trait Model {
    /// What an evaluation contributes to the curvature, besides the gradient.
    type Parts: Serialize + DeserializeOwned;
    /// The learned curvature.
    type Known: Serialize + DeserializeOwned;

    /// The objective at some parameters.
    fn evaluate(&self, parameters: &[f64]) -> Result<Evaluated<Self::Parts>>;

    /// The curvature after a single evaluation.
    fn begin(&self, here: &Evaluated<Self::Parts>) -> Self::Known;

    /// The step to the maximum of a quadratic function with the given slope and the learned
    /// curvature, which is positive definite; only free parameters move.
    fn newton_step(&self, known: &Self::Known, slope: &[f64], is_free: &[bool]) -> Vec<f64>;

    fn learn(
        &self,
        known: &mut Self::Known,
        step: &[f64],
        before: &Evaluated<Self::Parts>,
        after: &Evaluated<Self::Parts>,
    );

    /// Whether the sizes fit this objective: a state that was read may be invalid.
    fn fits(&self, known: &Self::Known, parts: &Self::Parts) -> bool;
}

/// An objective's value and gradient.
#[derive(Serialize, Deserialize)]
pub(crate) struct Evaluated<P> {
    pub(crate) value: f64,
    pub(crate) gradient: Vec<f64>,
    pub(crate) parts: P,
}

/// Maximises `objective − Σ λ_k |x_k|` for a concave objective; all λ may be 0. Where λ_k > 0,
/// zeros of the result are exact.
pub(crate) fn maximize_sparse<M: Model>(
    model: &M,
    lambdas: &[f64],
    start: Start<'_>,
    settings: &OptimizerSettings,
    watch: &mut Watch<'_>,
) -> Result<Optimum> {
    let mut climb = Climb::new(settings, watch, true);
    let mut way = climb.begin(start, |parameters| {
        let evaluated = model.evaluate(&parameters)?;
        let known = model.begin(&evaluated);
        Ok(Sparse { here: Place::new(parameters, evaluated, lambdas), known })
    })?;
    if !model.fits(&way.known, &way.here.evaluated.parts) {
        return Err(Error::checkpoint("it is not one of this objective"));
    }
    loop {
        let here = &way.here;
        if let Some(stopped) = climb.visit_with(&here.parameters, here.value, &here.slope, &way)? {
            return Ok(climb.end(stopped));
        }
        let Sparse { here, known } = &mut way;
        let Some(next) = here.step(model, known, lambdas)? else {
            return Ok(climb.stuck());
        };
        let moved = difference(&next.parameters, &here.parameters);
        model.learn(known, &moved, &here.evaluated, &next.evaluated);
        *here = next;
    }
}

#[derive(Serialize, Deserialize)]
struct Sparse<P, K> {
    here: Place<P>,
    known: K,
}

impl<P: Serialize + DeserializeOwned, K: Serialize + DeserializeOwned> Way for Sparse<P, K> {
    fn fits(&self, size: usize) -> bool {
        let Place { parameters, evaluated, value, slope } = &self.here;
        let is_finite = value.is_finite() && evaluated.value.is_finite();
        is_finite && [parameters, &evaluated.gradient, slope].iter().all(|numbers| fits(numbers, size))
    }
}

/// A place, with the value and the one-sided gradient of the whole.
#[derive(Serialize, Deserialize)]
struct Place<P> {
    parameters: Vec<f64>,
    evaluated: Evaluated<P>,
    value: f64,
    slope: Vec<f64>,
}

impl<P> Place<P> {
    fn new(parameters: Vec<f64>, evaluated: Evaluated<P>, lambdas: &[f64]) -> Self {
        let penalty: f64 = parameters.iter().zip(lambdas).map(|(x, lambda)| lambda * x.abs()).sum();
        let sides = parameters.iter().zip(&evaluated.gradient).zip(lambdas);
        let slope = sides.map(|((&x, &g), &lambda)| one_sided(x, g, lambda)).collect();
        Self { value: evaluated.value - penalty, slope, evaluated, parameters }
    }

    /// A step that gains enough: by the learned curvature, by that of this place alone, or along
    /// the slope.
    fn step<M: Model<Parts = P>>(
        &self,
        model: &M,
        known: &mut M::Known,
        lambdas: &[f64],
    ) -> Result<Option<Self>> {
        let all = lambdas.iter().zip(&self.slope).zip(&self.parameters);
        let is_free: Vec<bool> =
            all.map(|((&lambda, &slope), &x)| lambda == 0.0 || slope != 0.0 || x != 0.0).collect();
        for is_fresh in [false, true] {
            if is_fresh {
                *known = model.begin(&self.evaluated);
            }
            let direction = model.newton_step(known, &self.slope, &is_free);
            if let Some(next) = self.along(model, lambdas, &direction, 1.0)? {
                return Ok(Some(next));
            }
        }
        self.along(model, lambdas, &self.slope, (1.0 / norm(&self.slope)).min(1.0))
    }

    /// The longest of a step, its half, its quarter … that gains enough.
    fn along<M: Model<Parts = P>>(
        &self,
        model: &M,
        lambdas: &[f64],
        direction: &[f64],
        mut length: f64,
    ) -> Result<Option<Self>> {
        for _ in 0..HALVINGS {
            let there = self.moved(length, direction, lambdas);
            if there == self.parameters {
                break;
            }
            let predicted = dot(&difference(&there, &self.parameters), &self.slope);
            if let Some(evaluated) = trial(model, &there)? {
                let next = Self::new(there, evaluated, lambdas);
                let gain = next.value - self.value;
                let is_enough = gain >= INCREASE * predicted && gain > rounding(self.value);
                // Where values differ by rounding only, compare slopes.
                let is_better = gain >= -rounding(self.value) && norm(&next.slope) < norm(&self.slope);
                if is_enough || is_better {
                    return Ok(Some(next));
                }
            }
            length *= 0.5;
        }
        Ok(None)
    }

    /// The parameters after a step, cut off at the sides of the orthant.
    fn moved(&self, length: f64, direction: &[f64], lambdas: &[f64]) -> Vec<f64> {
        let mut moved: Vec<f64> =
            self.parameters.iter().zip(direction).map(|(x, d)| x + length * d).collect();
        for (k, x) in moved.iter_mut().enumerate() {
            let here = self.parameters[k];
            let side = if here == 0.0 { self.slope[k] } else { here };
            if lambdas[k] > 0.0 && *x * side <= 0.0 {
                *x = 0.0;
            }
        }
        moved
    }
}

/// The objective at a trial point; `None` if it is not finite there.
fn trial<M: Model>(model: &M, parameters: &[f64]) -> Result<Option<Evaluated<M::Parts>>> {
    if parameters.iter().any(|x| !x.is_finite()) {
        return Ok(None);
    }
    match model.evaluate(parameters) {
        Ok(evaluated) => Ok(Some(evaluated).filter(|evaluated| evaluated.value.is_finite())),
        Err(error) if error.is_breakdown() => Ok(None),
        Err(other) => Err(other),
    }
}

/// The derivative of `f − λ|x|` in its direction of ascent; 0 where there is none.
pub(crate) fn one_sided(x: f64, gradient: f64, lambda: f64) -> f64 {
    if x > 0.0 {
        gradient - lambda
    } else if x < 0.0 {
        gradient + lambda
    } else {
        gradient.signum() * (gradient.abs() - lambda).max(0.0)
    }
}
