//! Steps beyond a sweep, along the way that it went; the caller takes them only where they raise the bound.
//!
//! On plateaus, of which mixtures have many, one sweep after the other goes the same way by nearly the same amount. Two sweeps remove what changes fast, and a long step then saves many more.

use super::state::State;
use crate::numeric::stable::shares;

/// Steps are at most so many times as long as the sweep before them.
const LONGEST: f64 = 1e5;

/// What is extrapolated: fields and tilts, and the logarithms of the mixing coefficients.
#[derive(Debug, Clone)]
pub(super) struct Point(Vec<f64>);

impl Point {
    pub(super) fn of(state: &State) -> Self {
        let mut numbers = Vec::with_capacity(2 * state.fields.len() + state.components);
        numbers.extend_from_slice(&state.fields);
        numbers.extend_from_slice(&state.tilts);
        numbers.extend(state.weights[..state.components].iter().map(|weight| weight.ln()));
        Self(numbers)
    }

    /// The bytes of a point.
    pub(super) fn bytes(components: usize, units: usize) -> u128 {
        State::bytes(components, units) / 3
    }

    /// Put the numbers into a state; its probabilities have to be renewed.
    pub(super) fn put(&self, state: &mut State) {
        let (fields, rest) = self.0.split_at(state.fields.len());
        let (tilts, logs) = rest.split_at(state.fields.len());
        state.fields.copy_from_slice(fields);
        state.tilts.copy_from_slice(tilts);
        state.weights[..state.components].copy_from_slice(&shares(logs).1);
        state.normalise();
    }

    /// The point so many times as far from this one as this one is from another, on the other side.
    fn beyond(&self, before: &Self, stride: f64) -> Self {
        Self(self.0.iter().zip(&before.0).map(|(now, before)| now + stride * (now - before)).collect())
    }
}

/// How long steps are made: longer after each that raised the bound, shorter after each that did not.
#[derive(Debug)]
pub(super) struct Stride(f64);

impl Stride {
    pub(super) fn new() -> Self {
        Self(1.0)
    }

    /// Where to go beyond a sweep that led from one point to another.
    pub(super) fn beyond(&self, before: &Point, after: &Point) -> Point {
        after.beyond(before, self.0)
    }

    /// Learn from whether the step raised the bound.
    pub(super) fn learn(&mut self, has_risen: bool) {
        self.0 = if has_risen { (2.0 * self.0).min(LONGEST) } else { (0.25 * self.0).max(1.0) };
    }
}
