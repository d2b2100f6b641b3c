//! Couplings from second moments alone, as if fields were normally distributed: where a fit goes
//! first.
//!
//! For `s` with mean `tanh h` and normally distributed units x around it, `h = μ + wᵀ(x − m)`, Stein's
//! lemma gives the covariances `⟨s x⟩ − ⟨s⟩⟨x⟩ = β C w` with `β = ⟨1 − tanh² h⟩`. So `w = b / β`, with b
//! the coefficients of the linear regression of s on the others, and the variance v of h follows from
//! the variance `e = bᵀ C b` that the regression explains:
//!
//! ```text
//! β(μ, v)² v = e        ⟨tanh h⟩ = ⟨s⟩        h ~ N(μ, v)
//! ```
//!
//! Units are not normal, but sums of many are, nearly. b comes from the inverse of C for all units at
//! once.

use std::array;

use crate::numeric::dense::Matrix;

/// Beyond this standard deviation of a field, couplings of binary units would be overestimated by
/// far: for 14 densely coupled units they are off by a tenth at 0.5 and by a third at 1.
const MOST_DEVIATION: f64 = 2.0;

/// Iterations for the mean and the deviation of a field, and when these have settled.
const ITERATIONS: usize = 12;
const SETTLED: f64 = 1e-4;

/// Points of the trapezoid rule for normal numbers, and their distance.
const POINTS: usize = 11;
const DISTANCE: f64 = 0.8;

/// What is added to variances: constant and repeated columns are left regular.
const RIDGE: f64 = 1e-6;

/// For each unit of a machine with all pairs, couplings with all others and the field at their means.
pub(super) struct Regressions {
    units: usize,
    /// A column for each unit.
    couplings: Vec<f64>,
    fields: Vec<f64>,
    /// ⟨1 − tanh²⟩.
    pub(super) bends: Vec<f64>,
}

impl Regressions {
    /// *Arguments*: ⟨s sᵀ⟩ in columns, last the constant +1.
    ///
    /// `None` if fields vary too much, as where units determine each other.
    pub(super) fn of(height: usize, moments: &[f64]) -> Option<Self> {
        let units = height - 1;
        let means = &moments[units * height..units * height + units];
        let mut covariances = Matrix::zeros(units);
        for a in 0..units {
            for b in 0..a {
                covariances.set_both(a, b, moments[a * height + b] - means[a] * means[b]);
            }
            covariances[(a, a)] = 1.0 - means[a] * means[a] + RIDGE;
        }
        let inverse = covariances.cholesky()?.inverse();
        let normal = Normal::new();
        let mut found = Self { units, couplings: vec![0.0; units * units], fields: vec![], bends: vec![] };
        for (unit, &mean) in means.iter().enumerate() {
            let precision = inverse.column(unit)[unit];
            let explained = (covariances[(unit, unit)] - 1.0 / precision).max(0.0);
            let (field, bend) = normal.field(mean, explained)?;
            let own = &mut found.couplings[unit * units..(unit + 1) * units];
            for (other, (coupling, x)) in own.iter_mut().zip(inverse.column(unit)).enumerate() {
                *coupling = if other == unit { 0.0 } else { -x / (precision * bend) };
            }
            found.fields.push(field);
            found.bends.push(bend);
        }
        let is_finite = |x: &f64| x.is_finite();
        (found.couplings.iter().all(is_finite) && found.fields.iter().all(is_finite)).then_some(found)
    }

    /// The coupling of a unit with another by its own regression.
    pub(super) fn coupling(&self, unit: usize, other: usize) -> f64 {
        self.couplings[unit * self.units + other]
    }

    /// The field of a unit where the others have their means.
    pub(super) fn field(&self, unit: usize) -> f64 {
        self.fields[unit]
    }
}

/// Averages over normal numbers.
struct Normal {
    points: [f64; POINTS],
    weights: [f64; POINTS],
}

impl Normal {
    fn new() -> Self {
        let points: [f64; POINTS] = array::from_fn(|k| DISTANCE * (k as f64 - (POINTS / 2) as f64));
        let weights = points.map(|z| (-0.5 * z * z).exp());
        let sum: f64 = weights.iter().sum();
        Self { points, weights: weights.map(|weight| weight / sum) }
    }

    /// μ and β of a unit's field, if it does not vary too much.
    fn field(&self, mean: f64, explained: f64) -> Option<(f64, f64)> {
        let mean = mean.clamp(-1.0 + RIDGE, 1.0 - RIDGE);
        let (mut centre, mut deviation, mut bend) = (mean.atanh(), 0.0f64, 1.0 - mean * mean);
        for _ in 0..ITERATIONS {
            let next = explained.sqrt() / bend;
            if next > MOST_DEVIATION {
                return None;
            }
            let (mut tanh, mut slope) = (0.0, 0.0);
            for (z, weight) in self.points.iter().zip(&self.weights) {
                let t = (centre + next * z).tanh();
                tanh += weight * t;
                slope += weight * (1.0 - t * t);
            }
            let change = (mean - tanh) / slope.max(RIDGE);
            let is_settled = change.abs() < SETTLED && (next - deviation).abs() < SETTLED;
            centre += change.clamp(-1.0, 1.0);
            (deviation, bend) = (next, slope.max(RIDGE));
            if is_settled {
                break;
            }
        }
        Some((centre, bend))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology;
    use crate::{Engine, Enumerate, Evidence, Machine, Pairs};

    /// The exact second moments of a machine, as the fit sees them.
    fn moments(machine: &Machine) -> Vec<f64> {
        let units = machine.unit_count();
        let found = Enumerate::default().expectations(machine, &Evidence::none(units), Pairs::All).unwrap();
        let mut moments = vec![1.0; (units + 1) * (units + 1)];
        let mut pairs = found.correlations.values.iter();
        for a in 0..units {
            moments[a * (units + 1) + units] = found.means[a];
            moments[units * (units + 1) + a] = found.means[a];
            for b in a + 1..units {
                let pair = *pairs.next().unwrap();
                moments[a * (units + 1) + b] = pair;
                moments[b * (units + 1) + a] = pair;
            }
        }
        moments
    }

    #[test]
    fn couplings_of_many_weak_neighbours_are_nearly_the_machines() {
        let normal = |deviation| topology::Numbers::Normal { mean: 0.0, deviation };
        for (strength, error) in [(0.3, 0.1), (0.5, 0.2)] {
            let machine = topology::sherrington_kirkpatrick(14, strength, 3).unwrap();
            let machine = machine.with_biases_drawn(&normal(0.3), 1).unwrap();
            let found = Regressions::of(15, &moments(&machine)).unwrap();
            let (mut wrong, mut size) = (0.0, 0.0);
            for (&(a, b), w) in machine.graph().edges().iter().zip(machine.weights()) {
                wrong += (f64::midpoint(found.coupling(a, b), found.coupling(b, a)) - w).powi(2);
                size += w * w;
            }
            assert!((wrong / size).sqrt() < error, "{strength}: {}", (wrong / size).sqrt());
        }
    }

    #[test]
    fn there_are_none_where_fields_vary_much() {
        let machine = topology::sherrington_kirkpatrick(12, 3.0, 3).unwrap();
        assert!(Regressions::of(13, &moments(&machine)).is_none());
    }

    #[test]
    fn units_without_couplings_keep_their_fields() {
        let (field, bend) = Normal::new().field(0.6, 0.0).unwrap();
        assert!((field - 0.6f64.atanh()).abs() < 1e-12 && (bend - 0.64).abs() < 1e-12);
    }
}
