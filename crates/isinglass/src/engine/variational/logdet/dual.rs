//! The bound as a function of multipliers, shapes and the weights of triangle inequalities.

use super::cuts::Cut;
use super::shape::Shape;
use crate::Result;
use crate::numeric::dense::Matrix;
use crate::optimize::Objective;

/// What an eigenvalue of `M' = C⁻¹ X C⁻¹ + 1` can be at most, for each unit: `X_ii = 1` and the
/// least spread of sizes is above 0.1. Below it the bound is finite for all multipliers.
const MOST_PER_UNIT: f64 = 100.0;

/// The quadratic form of the machine: couplings J among all units, and inequalities.
pub(in super::super) struct Dual {
    pub(in super::super) couplings: Matrix,
    pub(super) cuts: Vec<Cut>,
    method: &'static str,
}

/// The bound at some parameters, with its derivatives by them and by the couplings.
pub(in super::super) struct Point {
    pub(in super::super) value: f64,
    pub(in super::super) slopes: Vec<f64>,
    /// `X`: the derivatives by the couplings.
    pub(in super::super) moments: Matrix,
}

/// The parameters of each kind.
struct Parts<'p> {
    multipliers: &'p [f64],
    shapes: Vec<Shape>,
    /// The weight of each inequality, with its slope by the parameter.
    weights: Vec<(f64, f64)>,
}

impl Dual {
    /// With symmetric couplings over T; the method is named in errors.
    pub(in super::super) fn new(couplings: Matrix, method: &'static str) -> Self {
        Self { couplings, cuts: Vec::new(), method }
    }

    /// The number of units.
    pub(super) fn units(&self) -> usize {
        self.couplings.size()
    }

    /// Where to begin: half-normal sizes, and equal multipliers for which X has the trace that it
    /// should have.
    ///
    /// # Errors
    /// Couplings without eigenvalues.
    pub(in super::super) fn start(&self) -> Result<Vec<f64>> {
        let units = self.units();
        let values = self.couplings.eigen(self.method)?.values;
        let c = Shape::of(Shape::half_normal()).spread.powi(2);
        let largest = values.iter().fold(0.0, |most: f64, value| most.max(*value));
        // Σ_k max(1/α_k − c, 0) falls in λ: from above `units` at λ − largest = 1 / (units (1 + c)).
        let trace =
            |multiplier: f64| values.iter().map(|v| (1.0 / (multiplier - v) - c).max(0.0)).sum::<f64>();
        let (mut low, mut high) = (largest, largest + 1.0 / c);
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            if trace(middle) > units as f64 { low = middle } else { high = middle }
        }
        Ok([vec![high; units], vec![Shape::half_normal(); units]].concat())
    }

    /// Parameters with those of more inequalities, which weigh nearly nothing at first.
    pub(super) fn with_cuts(&mut self, mut parameters: Vec<f64>, cuts: Vec<Cut>) -> Vec<f64> {
        parameters.resize(parameters.len() + cuts.len(), Cut::FIRST);
        self.cuts.extend(cuts);
        parameters
    }

    /// `B = C (diag(λ) − J − cuts) C`.
    fn form(&self, parts: &Parts<'_>) -> Matrix {
        let units = self.units();
        let mut form = self.couplings.clone();
        for (cut, (weight, _)) in self.cuts.iter().zip(&parts.weights) {
            for (a, b, sign) in cut.pairs() {
                let sum = form[(a, b)] + sign * weight;
                form.set_both(a, b, sum);
            }
        }
        for column in 0..units {
            let spread = parts.shapes[column].spread;
            for (row, x) in form.column_mut(column).iter_mut().enumerate() {
                *x *= -(spread * parts.shapes[row].spread);
            }
            form[(column, column)] = parts.multipliers[column] * spread * spread;
        }
        form
    }

    fn parts<'p>(&self, parameters: &'p [f64]) -> Parts<'p> {
        let (multipliers, rest) = parameters.split_at(self.units());
        let (shapes, cuts) = rest.split_at(self.units());
        Parts {
            multipliers,
            shapes: shapes.iter().map(|&shape| Shape::of(shape)).collect(),
            weights: cuts.iter().map(|&parameter| Cut::weight(parameter)).collect(),
        }
    }

    /// The terms of the bound beside those of the eigenvalues.
    fn terms<'t>(parts: &'t Parts<'_>) -> impl Iterator<Item = f64> + 't {
        let constant = 0.5 * (2.0 * std::f64::consts::PI * std::f64::consts::E).ln();
        let by_unit = parts.multipliers.iter().zip(&parts.shapes);
        by_unit
            .flat_map(move |(multiplier, shape)| {
                [0.5 * multiplier * (1.0 + shape.spread.powi(2)), constant + shape.value]
            })
            .chain(parts.weights.iter().map(|(weight, _)| *weight))
    }

    /// The largest eigenvalue that M' can have.
    fn most(&self) -> f64 {
        1.0 + MOST_PER_UNIT * self.units() as f64
    }

    /// The bound with its derivatives.
    ///
    /// # Errors
    /// Eigenvalues that were not found.
    pub(in super::super) fn at(&self, parameters: &[f64]) -> Result<Point> {
        let parts = self.parts(parameters);
        let form = self.form(&parts);
        let eigen = form.eigen(self.method)?;
        let most = self.most();
        let widths: Vec<f64> = eigen.values.iter().map(|&value| best(value, most)).collect();
        let of_eigenvalues = eigen.values.iter().zip(&widths).map(|(&value, &width)| term(value, width));
        let value = Self::terms(&parts).chain(of_eigenvalues).sum();
        let mut moments = eigen.with_values(&widths);
        let mut slopes = vec![0.0; parameters.len()];
        let units = self.units();
        for unit in 0..units {
            let Shape { spread, spread_slope, value_slope, .. } = parts.shapes[unit];
            let multiplier = parts.multipliers[unit];
            let column = moments.column(unit);
            slopes[unit] = 0.5 * (1.0 + spread.powi(2) * (1.0 - column[unit]));
            // −Σ_j M'_ij B_ij / c_i, the derivative of the eigenvalues' terms by c_i.
            let pull: f64 = column.iter().zip(form.column(unit)).map(|(m, b)| m * b).sum();
            slopes[units + unit] = (multiplier * spread - pull / spread) * spread_slope + value_slope;
        }
        for column in 0..units {
            let spread = parts.shapes[column].spread;
            for (row, x) in moments.column_mut(column).iter_mut().enumerate() {
                *x *= spread * parts.shapes[row].spread;
            }
            moments[(column, column)] -= spread * spread;
        }
        for (k, (cut, (_, slope))) in self.cuts.iter().zip(&parts.weights).enumerate() {
            slopes[2 * units + k] = slope * cut.slack(&moments);
        }
        Ok(Point { value, slopes, moments })
    }

    /// The bound, not below what it would be without rounding.
    ///
    /// The eigenvalues are lowered by the most that they can be off, which raises each term.
    ///
    /// # Errors
    /// Eigenvalues that were not found.
    pub(in super::super) fn rigorous(&self, parameters: &[f64]) -> Result<f64> {
        let parts = self.parts(parameters);
        let form = self.form(&parts);
        let eigen = form.eigen(self.method)?;
        // Each entry of the form is rounded a few times.
        let off = eigen.error(&form) + 8.0 * f64::EPSILON * form.norm();
        let most = self.most();
        let of_eigenvalues = eigen.values.iter().map(|value| {
            let value = value - off;
            term(value, best(value, most))
        });
        let (mut sum, mut size, mut count) = (0.0, 0.0, 0.0);
        for part in Self::terms(&parts).chain(of_eigenvalues) {
            sum += part;
            size += part.abs();
            count += 1.0;
        }
        // Shapes are right to some 1e-14 each.
        Ok(sum + f64::EPSILON * size * (count + 64.0))
    }
}

/// The width that is best for an eigenvalue.
fn best(eigenvalue: f64, most: f64) -> f64 {
    if eigenvalue * most <= 1.0 { most } else { (1.0 / eigenvalue).max(1.0) }
}

/// `½ (ln μ − β μ)`.
fn term(eigenvalue: f64, width: f64) -> f64 {
    0.5 * (width.ln() - eigenvalue * width)
}

impl Objective for Dual {
    /// The bound, negated.
    fn value_and_gradient(&self, parameters: &[f64], gradient: &mut [f64]) -> Result<f64> {
        let Point { value, slopes, .. } = self.at(parameters)?;
        gradient.iter_mut().zip(slopes).for_each(|(g, slope)| *g = -slope);
        Ok(-value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn couplings(units: usize) -> Matrix {
        let mut couplings = Matrix::zeros(units);
        for a in 0..units {
            for b in 0..a {
                couplings.set_both(a, b, ((a * 7 + b * 13) % 11) as f64 / 10.0 - 0.5);
            }
        }
        couplings
    }

    #[test]
    fn slopes_are_those_of_the_bound() {
        let mut dual = Dual::new(couplings(6), "logdet");
        let start = dual.start().unwrap();
        let cuts = vec![Cut::new([0, 1, 2], [1.0, -1.0, -1.0]), Cut::new([1, 3, 5], [1.0; 3])];
        let mut parameters = dual.with_cuts(start, cuts);
        for (k, x) in parameters.iter_mut().enumerate() {
            *x += 0.2 * (k as f64).sin();
        }
        let Point { slopes, moments, .. } = dual.at(&parameters).unwrap();
        for k in 0..parameters.len() {
            let value = |step: f64| {
                let mut moved = parameters.clone();
                moved[k] += step;
                dual.at(&moved).unwrap().value
            };
            let slope = (value(1e-5) - value(-1e-5)) / 2e-5;
            assert!((slope - slopes[k]).abs() < 1e-8, "{k}: {slope} {}", slopes[k]);
        }
        let value = |step: f64| {
            let mut moved = couplings(6);
            let sum = moved[(4, 2)] + step;
            moved.set_both(4, 2, sum);
            let cuts = dual.cuts.clone();
            Dual { couplings: moved, cuts, method: "logdet" }.at(&parameters).unwrap().value
        };
        assert!(((value(1e-5) - value(-1e-5)) / 2e-5 - moments[(4, 2)]).abs() < 1e-8);
    }

    /// Uncoupled units: n ln 2, and no correlations.
    #[test]
    fn without_couplings_nothing_is_lost() {
        let dual = Dual::new(Matrix::zeros(5), "logdet");
        let start = dual.start().unwrap();
        let point = dual.at(&start).unwrap();
        assert!((point.value - 5.0 * 2f64.ln()).abs() < 1e-12, "{}", point.value);
        assert!(point.slopes[..5].iter().all(|slope| slope.abs() < 1e-12));
        let above = dual.rigorous(&start).unwrap() - point.value;
        assert!((0.0..1e-11).contains(&above), "{above}");
    }

    /// Far outside of where the form is positive definite the bound is finite.
    #[test]
    fn all_multipliers_give_a_bound() {
        let dual = Dual::new(couplings(4), "logdet");
        let parameters = [[-3.0; 4], [0.0; 4]].concat();
        assert!(dual.at(&parameters).unwrap().value > 4.0 * 2f64.ln());
    }
}
