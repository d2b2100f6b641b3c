//! Cumulants as derivatives of log Z by the biases (Rüger 1997, theorem 3.1).
//!
//! `C(s_a, s_b, …) = T^r ∂^r log Z / ∂θ_a ∂θ_b …`: derivatives by the effective biases θ/T.

use super::Solver;
use super::digits::guarantee;
use super::generic::{Number, partition_sum};
use super::plan::Form;
use super::prepare::Given;
use crate::engine::Diagnostics;
use crate::engine::cumulants::{Cumulants, check_units};
use crate::numeric::stable::log_cosh;
use crate::{Evidence, Machine, Result};

impl Solver<'_> {
    /// The cumulants of all subsets of a list of units, from one pass.
    pub(super) fn cumulants(
        self,
        machine: &Machine,
        evidence: &Evidence,
        units: &[usize],
    ) -> Result<Cumulants> {
        self.check(machine, evidence)?;
        check_units(machine, units)?;
        const { assert!(MAX_ORDER == Cumulants::MAX_ORDER) };
        let Given { evidence, free, plan, fields } = self.given(machine, evidence, Form::Tables)?;
        self.check_numbers(&plan, size_of::<Jet>(), 1)?;
        let bias = |local: usize| {
            let here = |&(_, &unit): &(usize, &usize)| unit == plan.free[local];
            let set = units.iter().enumerate().filter(here).fold(0, |set, (order, _)| set | 1 << order);
            let up = Jet::new(fields.free[local][0], set);
            [up.negated(), up]
        };
        let temperature = machine.temperature();
        let (log_z, _) = partition_sum(&plan, |edge| machine.weights()[edge] / temperature, bias);
        let mut values: Vec<f64> = (1..1usize << units.len()).map(|set| log_z.0[set]).collect();
        // A clamped unit is a constant: all its cumulants but the mean vanish.
        for (order, &unit) in units.iter().enumerate() {
            if let Some(spin) = evidence.get(unit) {
                values[(1 << order) - 1] = f64::from(spin.value());
            }
        }
        Ok(Cumulants {
            units: units.to_vec(),
            values,
            guarantee: guarantee(machine, free),
            diagnostics: Diagnostics::direct(),
        })
    }
}

/// The highest order of derivatives.
const MAX_ORDER: usize = 4;

const TERMS: usize = 1 << MAX_ORDER;

/// A number with its mixed derivatives: a polynomial in up to four infinitesimals, each of whose
/// squares is 0.
///
/// The coefficient of a set of infinitesimals (bits) is the derivative by the parameters that they
/// were added to, exact up to rounding.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Jet([f64; TERMS]);

impl Jet {
    /// A number with the infinitesimals of a set of bits added.
    fn new(value: f64, infinitesimals: u8) -> Self {
        let mut terms = [0.0; TERMS];
        terms[0] = value;
        for order in (0..MAX_ORDER).filter(|order| infinitesimals >> order & 1 == 1) {
            terms[1 << order] = 1.0;
        }
        Self(terms)
    }

    fn map2(self, other: Self, f: impl Fn(f64, f64) -> f64) -> Self {
        Self(std::array::from_fn(|set| f(self.0[set], other.0[set])))
    }

    /// The product of two jets: only disjoint sets of infinitesimals contribute.
    fn product(self, other: Self) -> Self {
        Self(std::array::from_fn(|set| {
            let mut sum = self.0[0] * other.0[set];
            let mut part = set;
            while part != 0 {
                sum += self.0[part] * other.0[set ^ part];
                part = (part - 1) & set;
            }
            sum
        }))
    }

    fn negated(self) -> Self {
        Self(self.0.map(|x| -x))
    }

    /// `ln 2 cosh` by its Taylor series, which ends with the fourth power.
    fn ln_two_cosh(self) -> Self {
        let x = self.0[0];
        let e = (-2.0 * x.abs()).exp();
        let t = x.tanh();
        // 1 − tanh², without cancellation.
        let s = 4.0 * e / ((1.0 + e) * (1.0 + e));
        let series = [t, s / 2.0, -2.0 * t * s / 6.0, s * (6.0 * t * t - 2.0) / 24.0];
        let mut small = self;
        small.0[0] = 0.0;
        let mut out = Self::new(log_cosh(x) + std::f64::consts::LN_2, 0);
        let mut power = small;
        for (k, coefficient) in series.into_iter().enumerate() {
            if k > 0 {
                power = power.product(small);
            }
            out = out.map2(power, |sum, term| sum + coefficient * term);
        }
        out
    }
}

impl Number for Jet {
    fn one() -> Self {
        Self([0.0; TERMS])
    }

    fn times(&mut self, other: &Self) {
        *self = self.map2(*other, |a, b| a + b);
    }

    fn shift(&mut self, x: f64) {
        self.0[0] += x;
    }

    fn log_size(&self) -> f64 {
        self.0[0]
    }

    /// `ln(e^a + e^b) = (a + b)/2 + ln 2 cosh((a − b)/2)`.
    fn sum(a: Self, b: Self) -> Self {
        let half = a.map2(b, |a, b| 0.5 * (a - b)).ln_two_cosh();
        a.map2(b, |a, b| 0.5 * (a + b)).map2(half, |mean, joined| mean + joined)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_derivatives_of_ln_two_cosh_are_those_of_finite_differences() {
        for x in [-3.0, -0.4, 0.0, 0.2, 1.5, 8.0] {
            let jet = Jet::new(x, 0b1111).ln_two_cosh();
            let slope = |f: &dyn Fn(f64) -> f64| (f(x + 1e-5) - f(x - 1e-5)) / 2e-5;
            for order in 1..=MAX_ORDER {
                let lower = |x: f64| Jet::new(x, 0b1111).ln_two_cosh().0[(1 << (order - 1)) - 1];
                let found = jet.0[(1 << order) - 1];
                assert!((found - slope(&lower)).abs() < 1e-9, "order {order} at {x}: {found}");
            }
        }
    }
}
