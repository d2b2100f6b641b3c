//! Extrapolation from past sweeps: Anderson's method (1965), to be checked against the bound by the caller.
//!
//! A sweep is a map g whose fixed point is wanted. From the last few pairs of y and g(y) the combination is taken whose residual g(y) − y is smallest to first order.

use super::state::State;
use crate::numeric::dense::Matrix;

/// Pairs of sweeps that are remembered.
const DEPTH: usize = 6;

/// Added to the diagonal of the normal equations, relative to it: steps that are nearly parallel are not told apart.
const RIDGE: f64 = 1e-10;

/// What is extrapolated: fields and tilts, and the logarithms of the mixing coefficients.
#[derive(Debug, Clone, Default)]
pub(super) struct Point(Vec<f64>);

impl Point {
    pub(super) fn of(state: &State) -> Self {
        let logs = state.weights[..state.components].iter().map(|weight| weight.ln());
        let mut numbers = Vec::with_capacity(2 * state.fields.len() + state.components);
        numbers.extend_from_slice(&state.fields);
        numbers.extend_from_slice(&state.tilts);
        numbers.extend(logs);
        Self(numbers)
    }

    /// Put the numbers into a state; its probabilities have to be renewed.
    pub(super) fn put(&self, state: &mut State) {
        let (fields, rest) = self.0.split_at(state.fields.len());
        let (tilts, logs) = rest.split_at(state.fields.len());
        state.fields.copy_from_slice(fields);
        state.tilts.copy_from_slice(tilts);
        let (_, shares) = crate::numeric::stable::shares(logs);
        state.weights[..state.components].copy_from_slice(&shares);
        state.normalise();
    }

    fn minus(&self, other: &Self) -> Vec<f64> {
        self.0.iter().zip(&other.0).map(|(a, b)| a - b).collect()
    }
}

/// What is remembered of past sweeps.
#[derive(Debug, Default)]
pub(super) struct Acceleration {
    /// The last g(y), and the last residual.
    last: Option<(Point, Vec<f64>)>,
    /// How g(y) and the residual changed from one sweep to the next.
    steps: Vec<(Vec<f64>, Vec<f64>)>,
}

impl Acceleration {
    /// The bytes of what is remembered.
    pub(super) fn bytes(components: usize, units: usize) -> u128 {
        let point = State::bytes(components, units) * 2 / 7;
        // Steps, the last sweep, and the points before and after this one.
        point * (2 * DEPTH as u128 + 6)
    }

    /// Forget everything.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Note that a sweep led from one point to the next, and extrapolate.
    ///
    /// *Arguments*: the mixing coefficients, by which components count.
    pub(super) fn extrapolate(&mut self, before: &Point, after: &Point, weights: &[f64]) -> Option<Point> {
        let residual = after.minus(before);
        if let Some((last, last_residual)) = &self.last {
            if self.steps.len() == DEPTH {
                self.steps.remove(0);
            }
            let change = residual.iter().zip(last_residual).map(|(a, b)| a - b).collect();
            self.steps.push((after.minus(last), change));
        }
        let next = self.combine(after, &residual, weights);
        self.last = Some((after.clone(), residual));
        next
    }

    /// g(y) less the combination of its steps that does most to the residual.
    fn combine(&self, after: &Point, residual: &[f64], weights: &[f64]) -> Option<Point> {
        let count = self.steps.len();
        let product = |a: &[f64], b: &[f64]| -> f64 {
            let rows = a.chunks(weights.len()).zip(b.chunks(weights.len()));
            rows.map(|(a, b)| a.iter().zip(b).zip(weights).map(|((a, b), w)| w * a * b).sum::<f64>()).sum()
        };
        let mut matrix = Matrix::zeros(count);
        for (a, (_, first)) in self.steps.iter().enumerate() {
            for (b, (_, second)) in self.steps[..=a].iter().enumerate() {
                let value = product(first, second);
                matrix.set_both(a, b, if a == b { value * (1.0 + RIDGE) } else { value });
            }
        }
        let mut shares: Vec<f64> = self.steps.iter().map(|(_, change)| product(change, residual)).collect();
        matrix.cholesky().filter(|_| count > 0)?.solve(&mut shares);
        let mut next = after.clone();
        for ((step, _), share) in self.steps.iter().zip(&shares) {
            next.0.iter_mut().zip(step).for_each(|(x, step)| *x -= share * step);
        }
        next.0.iter().all(|x| x.is_finite()).then_some(next)
    }
}
