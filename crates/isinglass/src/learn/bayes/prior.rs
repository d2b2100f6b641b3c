//! Prior distributions: which couplings there are, and how large couplings and biases are.

use std::str::FromStr;

use super::line::Slopes;
use crate::numeric::stable::log_cosh;
use crate::settings::range::{self, Checked};
use crate::settings::{UnknownWord, Value, choices};

choices! {
    /// The prior distribution of a coupling that is included, divided by T.
    pub enum Slab = Cauchy {
        /// A Cauchy distribution: most couplings are moderate, some may be strong.
        Cauchy = "cauchy",
        /// A normal distribution.
        Normal = "normal",
        /// A Laplace distribution.
        Laplace = "laplace",
    }
}

/// The prior probability that a coupling is included.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Inclusion {
    /// The same for each, independently.
    Probability(f64),
    /// An unknown share of the couplings is included, every share being equally probable: the price
    /// of a coupling follows from how many others there are.
    Uniform,
}

const UNIFORM: &str = "uniform";

/// The range of a prior probability.
pub(super) fn within(inclusion: Inclusion) -> Checked {
    let is_inside = |inclusion| match inclusion {
        Inclusion::Probability(p) => p > 0.0 && p <= 1.0,
        Inclusion::Uniform => true,
    };
    range::check(Some(inclusion), is_inside, "a number above 0 and at most 1, or uniform")
}

impl Value for Inclusion {
    const PYTHON: &'static str = "float | str";

    fn expected() -> String {
        "a number above 0 and at most 1, or uniform".into()
    }

    fn shown(&self) -> Option<String> {
        match self {
            Self::Probability(p) => p.shown(),
            Self::Uniform => Some(UNIFORM.into()),
        }
    }
}

impl FromStr for Inclusion {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        match (text, text.parse()) {
            (UNIFORM, _) => Ok(Self::Uniform),
            (_, Ok(p)) => Ok(Self::Probability(p)),
            _ => Err(UnknownWord { found: text.to_owned(), expected: Self::expected() }),
        }
    }
}

impl<'de> serde::Deserialize<'de> for Inclusion {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        crate::learn::penalty::number_or_word(deserializer)
    }
}

impl Inclusion {
    /// The prior odds of a single coupling: those that a Bayes factor is relative to.
    pub(super) fn odds(self) -> f64 {
        match self {
            Self::Probability(p) => p / (1.0 - p),
            Self::Uniform => 1.0,
        }
    }
}

impl Slab {
    /// The logarithm of the density with a scale, and its derivatives.
    pub(super) fn slopes(self, w: f64, scale: f64) -> Slopes {
        let z = w / scale;
        let (value, first, bend) = match self {
            Self::Cauchy => {
                let whole = 1.0 + z * z;
                let value = -(std::f64::consts::PI * scale * whole).ln();
                (value, -2.0 * z / whole, 2.0 * (1.0 - z * z) / (whole * whole))
            }
            Self::Normal => (-0.5 * z * z - (scale * std::f64::consts::TAU.sqrt()).ln(), -z, 1.0),
            Self::Laplace => (-z.abs() - (2.0 * scale).ln(), -z.signum(), 0.0),
        };
        Slopes { value, first: first / scale, bend: bend / (scale * scale) }
    }
}

/// The logarithm of the prior density of a bias, `−ln(π cosh θ)`, and its derivatives.
///
/// The hyperbolic secant is what one row would say of which one half is +1 and the other −1; of the
/// odds `e^(2θ)` it makes a beta prime distribution with parameters ½ and ½. It is the same for a
/// unit and its mirror image.
pub(super) fn bias(theta: f64) -> Slopes {
    let tanh = theta.tanh();
    Slopes { value: -std::f64::consts::PI.ln() - log_cosh(theta), first: -tanh, bend: 1.0 - tanh * tanh }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Densities have an integral of 1, and the derivatives are those of the logarithm.
    #[test]
    fn densities_and_their_derivatives_are_right() {
        let kinds: Vec<Box<dyn Fn(f64) -> Slopes>> = vec![
            Box::new(|w| Slab::Cauchy.slopes(w, 0.6)),
            Box::new(|w| Slab::Normal.slopes(w, 0.6)),
            Box::new(|w| Slab::Laplace.slopes(w, 0.6)),
            Box::new(bias),
        ];
        for of in &kinds {
            // w = tan φ, so that heavy tails count, too.
            let steps = 20_000;
            let area = |k: u32| {
                let phi = std::f64::consts::PI * ((f64::from(k) + 0.5) / f64::from(steps) - 0.5);
                of(phi.tan()).value.exp() / phi.cos().powi(2)
            };
            let integral = (0..steps).map(area).sum::<f64>() * std::f64::consts::PI / f64::from(steps);
            assert!((integral - 1.0).abs() < 1e-3, "{integral}");
            for w in [-1.3, -0.2, 0.4, 2.5] {
                let (left, right, here) = (of(w - 1e-5), of(w + 1e-5), of(w));
                assert!((here.first - (right.value - left.value) / 2e-5).abs() < 1e-8);
                assert!((here.bend + (right.first - left.first) / 2e-5).abs() < 1e-8);
            }
        }
    }

    #[test]
    fn prior_probabilities_are_numbers_or_a_word() {
        assert_eq!("uniform".parse(), Ok(Inclusion::Uniform));
        assert_eq!("0.25".parse(), Ok(Inclusion::Probability(0.25)));
        assert!("half".parse::<Inclusion>().is_err());
        assert!((Inclusion::Probability(0.25).odds() - 1.0 / 3.0).abs() < 1e-15);
    }
}
