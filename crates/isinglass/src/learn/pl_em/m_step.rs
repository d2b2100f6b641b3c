//! The M-step: increases the pseudo-likelihood of completed rows.

use std::ops::ControlFlow;

use crate::Result;
use crate::learn::PseudoGain;
use crate::optimize::{self, Method, Objective, OptimizerSettings, Remembered, Visit};

/// How an iteration increases the pseudo-likelihood of its completed rows.
///
/// Steps should be short. Full maximisation also learns the noise of one iteration's draws, and
/// hidden units that copy visible ones raise the pseudo-likelihood of both without describing the
/// data better: with few rows, couplings of hidden units grow from iteration to iteration and the
/// likelihood falls again. Small steps average over the draws of many iterations.
///
/// | on the source's machine, J = 0.3, 100 rows | log-likelihood per visible unit after 10, 100, 500 iterations | evaluations an iteration |
/// |---|---|---|
/// | [`Gradient`](super::MStep::Gradient) | −0.533, −0.528, −0.517 | 21 |
/// | [`Damped`](Ascent::Damped), τ = 0.2 | −0.534, −0.528, −0.521 | about 7 |
/// | [`Damped`](Ascent::Damped), τ = 1 | −0.528, −0.518, −0.530 | about 7 |
/// | [`Lbfgs`](Ascent::Lbfgs), 100 steps | −0.529, −0.612, −1.071 | about 100 |
/// | the same with `l2` 0.03 | −0.528, −0.516, −0.516 | about 100 |
///
/// (Means of three machines.) Without free units nothing is drawn, and [`Damped`](Ascent::Damped) climbs to the maximum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Ascent {
    /// Steps along the gradient; the source takes 20 of rate 0.01.
    Steps {
        /// Their number, at least 1.
        count: usize,
        /// What the gradient is multiplied with, above 0.
        rate: f64,
    },
    /// The maximum of `Q − |x − x*|² / 2τ`, where x* are the parameters of the draws: as far as
    /// small steps along the gradient whose rates add up to τ, for less work and at any scale. From
    /// iteration 100 on, τ shrinks as one over the iteration, so that parameters converge (as in
    /// Delyon, Lavielle and Moulines 1999).
    Damped {
        /// τ of the first 100 iterations, above 0.
        reach: f64,
    },
    /// Steps of L-BFGS, until no component of the gradient is larger than a tolerance.
    Lbfgs {
        /// Steps at most, at least 1.
        most: usize,
        /// The tolerance, at least 0.
        tolerance: f64,
    },
}

/// Where an M-step ended: steps along the gradient may run away, to numbers that are not finite.
pub(super) struct Maximum {
    pub(super) parameters: Vec<f64>,
    pub(super) value: f64,
    /// The largest component of the first gradient.
    pub(super) slope: f64,
}

impl Ascent {
    /// Where nothing is drawn there is no noise to be damped.
    pub(super) fn in_full(self) -> Self {
        match self {
            Self::Damped { .. } => Self::Lbfgs { most: 1000, tolerance: 1e-9 },
            other => other,
        }
    }

    /// Climbs from a start, in an iteration.
    pub(super) fn climb(self, gain: &PseudoGain, start: Vec<f64>, iteration: usize) -> Result<Maximum> {
        match self {
            Self::Steps { count, rate } => by_steps(gain, start, count, rate),
            Self::Lbfgs { most, tolerance } => by_lbfgs(gain, start, most, tolerance),
            Self::Damped { reach } => {
                let reach = reach * (SETTLING / iteration.max(1) as f64).min(1.0);
                let scale = (1.0 / reach + gain.steepness()).sqrt().recip();
                let near = Near { gain, center: &start, reach, scale };
                let begin = vec![0.0; start.len()];
                let found = by_lbfgs(&near, begin, STEPS, 0.0)?;
                let parameters = near.place(&found.parameters);
                Ok(Maximum { value: gain.value(&parameters)?, slope: found.slope / scale, parameters })
            }
        }
    }
}

/// The iteration from which damped maxima reach less far.
const SETTLING: f64 = 100.0;

/// Steps of L-BFGS to a damped maximum: its curvature varies little, and a thousandth of the way is
/// left.
const STEPS: usize = 5;

/// An objective with a penalty on the distance from a point, in coordinates scaled for L-BFGS.
struct Near<'a> {
    gain: &'a PseudoGain,
    center: &'a [f64],
    reach: f64,
    scale: f64,
}

impl Near<'_> {
    fn place(&self, moved: &[f64]) -> Vec<f64> {
        self.center.iter().zip(moved).map(|(x, y)| x + self.scale * y).collect()
    }
}

impl Objective for Near<'_> {
    fn value_and_gradient(&self, moved: &[f64], gradient: &mut [f64]) -> Result<f64> {
        let value = self.gain.value_and_gradient(&self.place(moved), gradient)?;
        let strength = self.scale * self.scale / self.reach;
        for (slot, y) in gradient.iter_mut().zip(moved) {
            *slot = self.scale * *slot - strength * y;
        }
        Ok(value - 0.5 * strength * moved.iter().map(|y| y * y).sum::<f64>())
    }
}

fn by_lbfgs(objective: &dyn Objective, start: Vec<f64>, most: usize, tolerance: f64) -> Result<Maximum> {
    let settings = OptimizerSettings { method: Method::Lbfgs, iterations: most, tolerance };
    let free = vec![0.0; start.len()];
    let (mut value, mut slope) = (f64::NEG_INFINITY, 0.0);
    let mut watch = |visit: &Visit<'_>| {
        value = visit.value.max(value);
        if visit.iteration == 0 {
            slope = visit.gradient_norm;
        }
        Ok(ControlFlow::Continue(()))
    };
    let found =
        optimize::maximize_sparse(&Remembered(objective), &free, start.into(), &settings, &mut watch)?;
    Ok(Maximum { parameters: found.parameters, value, slope })
}

fn by_steps(gain: &PseudoGain, mut at: Vec<f64>, count: usize, rate: f64) -> Result<Maximum> {
    let mut gradient = vec![0.0; at.len()];
    let mut slope = None;
    for _ in 0..count {
        gain.value_and_gradient(&at, &mut gradient)?;
        slope.get_or_insert_with(|| gradient.iter().fold(0.0, |most: f64, g| most.max(g.abs())));
        at.iter_mut().zip(&gradient).for_each(|(x, g)| *x += rate * g);
    }
    let value = gain.value(&at)?;
    Ok(Maximum { parameters: at, value, slope: slope.unwrap_or(0.0) })
}
