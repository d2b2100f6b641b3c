//! A complex number by the logarithm of its size and its direction: of any magnitude, and 0 is one
//! of them.

use num_complex::Complex64;

use super::generic::Number;

/// `e^log · direction`, with a direction of size 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Polar {
    pub(super) log: f64,
    pub(super) direction: Complex64,
}

impl Number for Polar {
    fn one() -> Self {
        Self { log: 0.0, direction: Complex64::ONE }
    }

    fn times(&mut self, other: &Self) {
        self.log += other.log;
        self.direction *= other.direction;
    }

    fn shift(&mut self, x: f64) {
        self.log += x;
    }

    fn log_size(&self) -> f64 {
        self.log
    }

    fn sum(a: Self, b: Self) -> Self {
        let top = a.log.max(b.log);
        if top == f64::NEG_INFINITY {
            return a;
        }
        let sum = a.direction * (a.log - top).exp() + b.direction * (b.log - top).exp();
        let size = sum.norm();
        if size == 0.0 {
            return Self { log: f64::NEG_INFINITY, direction: Complex64::ONE };
        }
        Self { log: top + size.ln(), direction: sum / size }
    }
}
