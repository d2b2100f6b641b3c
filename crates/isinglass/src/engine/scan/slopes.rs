//! log Z with its derivatives by the inverse temperature and by a field on all units.

use super::{Point, point};
use crate::numeric::stable::log_add;

/// The logarithm of a sum of weights `exp((1 + x) a + y m)` at x = y = 0, with a = −E/T and m = Σ s:
/// its value, and its first and second derivatives by x and by y.
///
/// The derivatives are means and variances of a and m. Those of a sum are mixtures of those of its
/// parts, to which nothing but positive terms is added, so that no digits are lost.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(in crate::engine) struct Slopes {
    pub(in crate::engine) log: f64,
    x: Moments,
    y: Moments,
}

#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Moments {
    mean: f64,
    variance: f64,
}

impl Moments {
    fn add(&mut self, other: Self) {
        self.mean += other.mean;
        self.variance += other.variance;
    }

    fn mixed(a: Self, b: Self, [p, q]: [f64; 2]) -> Self {
        Self {
            mean: p * a.mean + q * b.mean,
            variance: p * a.variance + q * b.variance + p * q * (b.mean - a.mean).powi(2),
        }
    }
}

impl Slopes {
    /// Of a unit at a value in a field h/T.
    pub(in crate::engine) fn of_unit(field: f64, value: f64) -> Self {
        let mut one = Self::default();
        one.grow(field * value);
        one.y.mean = value;
        one
    }

    /// Multiplies by `e^a` of energy −aT.
    pub(in crate::engine) fn grow(&mut self, a: f64) {
        self.log += a;
        self.x.mean += a;
    }

    /// Multiplies by units that are what they are: their energy by way of [`grow`](Self::grow).
    pub(in crate::engine) fn add_spins(&mut self, sum: f64) {
        self.y.mean += sum;
    }

    pub(in crate::engine) fn times(&mut self, other: &Self) {
        self.log += other.log;
        self.x.add(other.x);
        self.y.add(other.y);
    }

    pub(in crate::engine) fn sum(a: Self, b: Self) -> Self {
        let share = |difference: f64| 1.0 / (1.0 + difference.exp());
        let shares = [share(b.log - a.log), share(a.log - b.log)];
        Self {
            log: log_add(a.log, b.log),
            x: Moments::mixed(a.x, b.x, shares),
            y: Moments::mixed(a.y, b.y, shares),
        }
    }

    /// The product of independent units in fields h/T.
    pub(in crate::engine) fn of_independent(fields: impl Iterator<Item = f64>) -> Self {
        let mut all = Self::default();
        fields.for_each(|h| all.times(&Self::sum(Self::of_unit(h, -1.0), Self::of_unit(h, 1.0))));
        all
    }

    /// The quantities at a temperature.
    pub(in crate::engine) fn point(&self, temperature: f64) -> Point {
        let energy = [0.0 - temperature * self.x.mean, temperature * temperature * self.x.variance];
        point(temperature, self.log, energy, [self.y.mean, self.y.variance])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivatives_are_those_of_finite_differences() {
        // Two units with a coupling: the sum over four states.
        let (h, w) = ([0.3, -0.8], 0.7);
        let state = |s: [f64; 2]| {
            let mut weight = Slopes::of_unit(h[0], s[0]);
            weight.times(&Slopes::of_unit(h[1], s[1]));
            weight.grow(w * s[0] * s[1]);
            weight
        };
        let sum = |s| Slopes::sum(state([s, -1.0]), state([s, 1.0]));
        let found = Slopes::sum(sum(-1.0), sum(1.0));
        let log = |x: f64, y: f64| -> f64 {
            let mut z = 0.0;
            for a in [-1.0, 1.0] {
                for b in [-1.0, 1.0] {
                    z += ((1.0 + x) * (h[0] * a + h[1] * b + w * a * b) + y * (a + b)).exp();
                }
            }
            z.ln()
        };
        let e = 1e-4;
        let first = |f: &dyn Fn(f64) -> f64| (f(e) - f(-e)) / (2.0 * e);
        let second = |f: &dyn Fn(f64) -> f64| (f(e) - 2.0 * f(0.0) + f(-e)) / (e * e);
        assert!((found.log - log(0.0, 0.0)).abs() < 1e-14);
        assert!((found.x.mean - first(&|x| log(x, 0.0))).abs() < 1e-7);
        assert!((found.x.variance - second(&|x| log(x, 0.0))).abs() < 1e-6);
        assert!((found.y.mean - first(&|y| log(0.0, y))).abs() < 1e-7);
        assert!((found.y.variance - second(&|y| log(0.0, y))).abs() < 1e-6);
    }
}
