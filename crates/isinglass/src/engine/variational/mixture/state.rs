//! The parameters of a mixture: mixing coefficients, components and smoothing distributions.

use fearless_simd::{Simd, f64x8, prelude::*};

use crate::numeric::lanes::{LANES, exp_nonpositive, tanh};

/// The largest |½ ln(q(+)/q(−))|: `tanh` is ±1, and products of probabilities do not underflow.
pub(super) const MOST_FIELD: f64 = 170.0;

/// The largest |½ ln(r(+)/r(−))|: any r gives a bound, and four factors do not underflow.
pub(super) const MOST_TILT: f64 = 80.0;

/// The least mixing coefficient, so that quotients stay finite.
pub(super) const LEAST_WEIGHT: f64 = 1e-100;

/// A mixture of products. Stored by unit, all components side by side, padded to whole lanes.
#[derive(Debug, Clone)]
pub(super) struct State {
    pub(super) components: usize,
    /// The components, padded to whole lanes.
    pub(super) width: usize,
    pub(super) units: usize,
    /// α_l; 0 beyond the components.
    pub(super) weights: Vec<f64>,
    /// `x = artanh m` of each unit in each component.
    pub(super) fields: Vec<f64>,
    /// `½ ln(r(+)/r(−))` of each unit for each component.
    pub(super) tilts: Vec<f64>,
    /// Derived from fields and tilts.
    pub(super) probabilities: Probabilities,
}

/// The probabilities of ±1 in components and smoothing distributions, to full precision.
#[derive(Debug, Clone)]
pub(super) struct Probabilities {
    pub(super) means: Vec<f64>,
    pub(super) q: [Vec<f64>; 2],
    pub(super) r: [Vec<f64>; 2],
}

impl State {
    /// Returns equal components with fields 0 and uniform smoothing distributions.
    pub(super) fn new(components: usize, units: usize) -> Self {
        let width = components.next_multiple_of(LANES);
        let numbers = |x: f64| vec![x; units * width];
        let mut weights = vec![1.0 / components as f64; components];
        weights.resize(width, 0.0);
        Self {
            components,
            width,
            units,
            weights,
            fields: numbers(0.0),
            tilts: numbers(0.0),
            probabilities: Probabilities {
                means: numbers(0.0),
                q: [numbers(0.5), numbers(0.5)],
                r: [numbers(0.5), numbers(0.5)],
            },
        }
    }

    pub(super) fn bytes(components: usize, units: usize) -> u128 {
        8 * components.next_multiple_of(LANES) as u128 * (7 * units as u128 + 1)
    }

    /// Computes probabilities from fields and tilts.
    #[inline(always)]
    pub(super) fn renew<S: Simd>(&mut self, simd: S) {
        let (field, tilt) = (f64x8::splat(simd, MOST_FIELD), f64x8::splat(simd, MOST_TILT));
        for at in (0..self.fields.len()).step_by(LANES) {
            let here = at..at + LANES;
            let x = within(f64x8::from_slice(simd, &self.fields[here.clone()]), field);
            let t = within(f64x8::from_slice(simd, &self.tilts[here.clone()]), tilt);
            x.store_slice(&mut self.fields[here.clone()]);
            t.store_slice(&mut self.tilts[here.clone()]);
            let [up, down] = probabilities(simd, x);
            up.store_slice(&mut self.probabilities.q[0][here.clone()]);
            down.store_slice(&mut self.probabilities.q[1][here.clone()]);
            tanh(simd, x).store_slice(&mut self.probabilities.means[here.clone()]);
            let [up, down] = probabilities(simd, t);
            up.store_slice(&mut self.probabilities.r[0][here.clone()]);
            down.store_slice(&mut self.probabilities.r[1][here]);
        }
    }

    /// Copies one unit, in all components, from another state.
    pub(super) fn copy_unit(&mut self, from: &Self, unit: usize) {
        let here = unit * self.width..(unit + 1) * self.width;
        let copy = |to: &mut [f64], from: &[f64]| to[here.clone()].copy_from_slice(&from[here.clone()]);
        copy(&mut self.fields, &from.fields);
        copy(&mut self.tilts, &from.tilts);
        copy(&mut self.probabilities.means, &from.probabilities.means);
        for value in 0..2 {
            copy(&mut self.probabilities.q[value], &from.probabilities.q[value]);
            copy(&mut self.probabilities.r[value], &from.probabilities.r[value]);
        }
    }

    /// Returns the mean of a unit in each component.
    pub(super) fn means_of(&self, unit: usize) -> &[f64] {
        &self.probabilities.means[unit * self.width..][..self.components]
    }

    /// Returns the mean of each unit, `Σ_l α_l m_li`.
    pub(super) fn mixed_means(&self) -> Vec<f64> {
        let mixed = |unit: usize| {
            let each = self.means_of(unit).iter().zip(&self.weights);
            // Rounding must not exceed ±1.
            each.map(|(m, weight)| weight * m).sum::<f64>().clamp(-1.0, 1.0)
        };
        (0..self.units).map(mixed).collect()
    }

    /// Returns `Σ_l α_l (m_la − m_a)(m_lb − m_b)`, given the mixed means of two units.
    pub(super) fn covariance(&self, a: usize, b: usize, (mean_a, mean_b): (f64, f64)) -> f64 {
        let each = self.means_of(a).iter().zip(self.means_of(b)).zip(&self.weights);
        let sum: f64 = each.map(|((x, y), weight)| weight * (x - mean_a) * (y - mean_b)).sum();
        // Keeps the moment within ±1, too.
        let product = mean_a * mean_b;
        sum.clamp(-1.0 - product, 1.0 - product)
    }

    /// Normalises the mixing coefficients, none below the least.
    pub(super) fn normalise(&mut self) {
        let sum: f64 = self.weights.iter().sum();
        for weight in &mut self.weights[..self.components] {
            *weight = (*weight / sum).max(LEAST_WEIGHT);
        }
    }
}

/// Clamps a vector to ±`most`.
#[inline(always)]
pub(super) fn within<S: Simd>(x: f64x8<S>, most: f64x8<S>) -> f64x8<S> {
    x.max(-most).min(most)
}

/// Returns the probabilities `e^(±x) / (2 cosh x)`.
#[inline(always)]
pub(super) fn probabilities<S: Simd>(simd: S, x: f64x8<S>) -> [f64x8<S>; 2] {
    let one = f64x8::splat(simd, 1.0);
    let e = exp_nonpositive(simd, x.abs() * f64x8::splat(simd, -2.0));
    let large = one / (one + e);
    let small = e * large;
    let is_up = x.simd_ge(f64x8::splat(simd, 0.0));
    [is_up.select(large, small), is_up.select(small, large)]
}
