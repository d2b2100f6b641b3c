//! Sizes of units: normal numbers cut off at 0, scaled to `E r² = 1`.
//!
//! Of all positive r with given `E r` and `E r² = 1`, these have the largest entropy.

use std::f64::consts::{E, FRAC_1_SQRT_2, PI};

/// The range of the mean of the normal numbers, in their deviations: from nearly exponential sizes
/// to nearly equal ones.
const LOWEST: f64 = -3.0;
const HIGHEST: f64 = 6.0;

/// A distribution of sizes, with derivatives by its parameter.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    /// `c = √(1 − a²) / a` with `a = E r`: the deviation of sizes over their mean.
    pub(super) spread: f64,
    /// `½ ln(1 − a²) − h(r)`.
    pub(super) value: f64,
    /// The derivatives of both.
    pub(super) spread_slope: f64,
    pub(super) value_slope: f64,
}

impl Shape {
    /// The parameter of half-normal sizes.
    pub(super) fn half_normal() -> f64 {
        let share: f64 = -LOWEST / (HIGHEST - LOWEST);
        (share / (1.0 - share)).ln()
    }

    /// The shape with a parameter, any number: the mean of the normal numbers runs through its range
    /// as the logistic function of it.
    ///
    /// With density φ and distribution Φ of normal numbers, `ρ = φ(t)/Φ(t)`, `m₁ = t + ρ` and
    /// `m₂ = 1 + t m₁` (Johnson, Kotz and Balakrishnan 1994, section 13.10.1),
    ///
    /// ```text
    /// a² = m₁² / m₂,    c² = (1 − ρ m₁) / m₁²,    h = ½ ln(2πe) + ln Φ(t) − ½ t ρ − ½ ln m₂
    /// ```
    pub(super) fn of(parameter: f64) -> Self {
        let share = 1.0 / (1.0 + (-parameter).exp());
        let t = LOWEST + (HIGHEST - LOWEST) * share;
        let below = 0.5 * libm::erfc(-t * FRAC_1_SQRT_2);
        let ratio = (-0.5 * t * t).exp() / ((2.0 * PI).sqrt() * below);
        let first = t + ratio;
        let second = 1.0 + t * first;
        let variance = 1.0 - ratio * first;
        let entropy = 0.5 * (2.0 * PI * E).ln() + below.ln() - 0.5 * t * ratio - 0.5 * second.ln();
        let spread = variance.sqrt() / first;
        // 1 − a² = variance / m₂, and derivatives by t: ρ' = −ρ m₁, m₁' = 1 − ρ m₁.
        let second_slope = first + t * variance;
        let variance_slope = ratio * first * first - ratio * variance;
        let entropy_slope = 0.5 * ratio * second - 0.5 * second_slope / second;
        let t_slope = (HIGHEST - LOWEST) * share * (1.0 - share);
        Self {
            spread,
            value: 0.5 * (variance / second).ln() - entropy,
            spread_slope: t_slope * spread * (0.5 * variance_slope / variance - variance / first),
            value_slope: t_slope
                * (0.5 * (variance_slope / variance - second_slope / second) - entropy_slope),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against sums over a fine grid.
    #[test]
    fn spread_and_entropy_are_those_of_the_density() {
        for parameter in [-3.0, -1.0, Shape::half_normal(), 0.5, 2.0] {
            let t = LOWEST + (HIGHEST - LOWEST) / (1.0 + f64::exp(-parameter));
            let step = 1e-4;
            let density = |x: f64| (-0.5 * (x - t) * (x - t)).exp();
            let points = || (0..160_000).map(|k| (f64::from(k) + 0.5) * step);
            let total: f64 = points().map(density).sum::<f64>() * step;
            let moment =
                |power: i32| points().map(|x| x.powi(power) * density(x)).sum::<f64>() * step / total;
            let log = points().map(|x| density(x) * (density(x) / total).ln()).sum::<f64>() * step / total;
            let (first, second) = (moment(1), moment(2));
            let entropy = -log - 0.5 * second.ln();
            let share = first * first / second;
            let shape = Shape::of(parameter);
            assert!((shape.spread.powi(2) - (1.0 / share - 1.0)).abs() < 1e-6, "{parameter}");
            assert!((shape.value - (0.5 * (1.0 - share).ln() - entropy)).abs() < 1e-6, "{parameter}");
        }
    }

    #[test]
    fn half_normal_sizes_cost_what_they_should() {
        let shape = Shape::of(Shape::half_normal());
        assert!((shape.spread.powi(2) - (PI / 2.0 - 1.0)).abs() < 1e-14);
        let entropy = 0.5 * (PI * E / 2.0).ln();
        assert!((shape.value - (0.5 * (1.0 - 2.0 / PI).ln() - entropy)).abs() < 1e-14);
    }

    #[test]
    fn slopes_are_those_of_the_values() {
        for parameter in [-3.0, -1.0, 0.0, 1.3, 4.0] {
            let [low, high] = [-1e-5, 1e-5].map(|step| Shape::of(parameter + step));
            let shape = Shape::of(parameter);
            assert!(((high.spread - low.spread) / 2e-5 - shape.spread_slope).abs() < 1e-8);
            assert!(((high.value - low.value) / 2e-5 - shape.value_slope).abs() < 1e-8);
        }
    }
}
