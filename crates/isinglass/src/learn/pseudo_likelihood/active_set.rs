//! The maximum of a quadratic model less a penalty with a kink, by the set of elements that are not
//! 0.
//!
//! Within one orthant the model is quadratic, and its maximum over some elements is the solution of
//! linear equations. Elements leave the set where the way to that maximum meets the side of the
//! orthant, and enter it where their slope exceeds their penalty. Every move raises the model, so no
//! set occurs twice, and the end is the maximum itself (feature-sign search: Lee, Battle, Raina and
//! Ng 2007). Sweeps over coordinates need hundreds of rounds where columns are nearly dependent, as
//! they are in resampled rows.

/// Moves for each element of a model, beyond which the search is left as it is: rounding alone
/// could make it longer.
const MOVES: usize = 4;

/// Raises the diagonal by this share, so that nearly dependent columns have a step,
const RIDGE: f64 = 1e-10;

/// and by this much, for rows that are all decided.
const LEAST: f64 = 1e-12;

/// A pivot below this share of its diagonal element is rounding.
const LEAST_PIVOT: f64 = 1e-13;

/// `gᵀd − ½ dᵀHd − Σ λ_k |w_k + d_k|` as a function of the step d.
pub(super) struct Model<'a> {
    /// w.
    pub(super) here: &'a [f64],
    /// g.
    pub(super) slope: &'a [f64],
    /// H, column after column.
    pub(super) curvature: &'a [f64],
    /// λ; an element with 0 is free of any side.
    pub(super) penalties: &'a [f64],
}

impl Model<'_> {
    /// The step to the maximum, where no slope of an element at 0 exceeds its penalty by more than a
    /// tolerance; `None` if the curvature is singular.
    ///
    /// *Complexity*: `O(k³)` for each element that enters or leaves, k being the size of the set.
    pub(super) fn step(&self, tolerance: f64) -> Option<Vec<f64>> {
        let size = self.here.len();
        let mut reached = self.here.to_vec();
        let mut rest = self.slope.to_vec();
        let mut signs: Vec<f64> = reached.iter().map(|&w| if w == 0.0 { 0.0 } else { w.signum() }).collect();
        let mut set: Vec<usize> =
            (0..size).filter(|&k| self.penalties[k] == 0.0 || reached[k] != 0.0).collect();
        let mut factor = Factor::default();
        for _ in 0..MOVES * size + MOVES {
            let pull = |&k: &usize| rest[k] - self.penalties[k] * signs[k];
            let mut step: Vec<f64> = set.iter().map(pull).collect();
            factor.of(self.curvature, size, &set)?;
            factor.solve(&mut step);
            let (share, met) = self.side(&set, &step, &reached, &signs);
            for (&k, &change) in set.iter().zip(&step) {
                let change = share * change;
                reached[k] += change;
                let column = &self.curvature[k * size..(k + 1) * size];
                rest.iter_mut().zip(column).for_each(|(rest, h)| *rest -= h * change);
            }
            if let Some(place) = met {
                reached[set.remove(place)] = 0.0;
                continue;
            }
            let excess = |k: usize| rest[k].abs() - self.penalties[k];
            let outside = (0..size).filter(|k| !set.contains(k) && excess(*k) > tolerance);
            let Some(next) = outside.max_by(|&a, &b| excess(a).total_cmp(&excess(b))) else { break };
            signs[next] = rest[next].signum();
            set.push(next);
        }
        reached.iter_mut().zip(self.here).for_each(|(reached, here)| *reached -= here);
        reached.iter().all(|x| x.is_finite()).then_some(reached)
    }

    /// The share of a step after which the first element becomes 0, and its place in the set.
    fn side(&self, set: &[usize], step: &[f64], reached: &[f64], signs: &[f64]) -> (f64, Option<usize>) {
        let mut first = (1.0, None);
        for (place, (&k, &change)) in set.iter().zip(step).enumerate() {
            if self.penalties[k] > 0.0 && (reached[k] + change) * signs[k] < 0.0 {
                let share = (-reached[k] / change).clamp(0.0, 1.0);
                if share < first.0 || first.1.is_none() {
                    first = (share, Some(place));
                }
            }
        }
        first
    }
}

/// The Cholesky factor of a few rows and columns of a matrix, row after row. For sizes at which
/// calling the linear algebra crate costs more than the work.
#[derive(Default)]
struct Factor {
    size: usize,
    rows: Vec<f64>,
}

impl Factor {
    /// `None` if the matrix is singular.
    fn of(&mut self, matrix: &[f64], height: usize, set: &[usize]) -> Option<()> {
        self.size = set.len();
        self.rows.clear();
        self.rows.resize(set.len() * set.len(), 0.0);
        for (i, &row) in set.iter().enumerate() {
            for (j, &column) in set[..=i].iter().enumerate() {
                let (above, own) = self.rows.split_at_mut(i * self.size);
                let other = if i == j { &own[..j] } else { &above[j * self.size..j * self.size + j] };
                let sum: f64 = own[..j].iter().zip(other).map(|(x, y)| x * y).sum();
                let number = matrix[column * height + row];
                if i == j {
                    let raised = number * (1.0 + RIDGE) + LEAST;
                    let pivot = raised - sum;
                    if pivot.is_nan() || pivot <= LEAST_PIVOT * raised {
                        return None;
                    }
                    own[j] = pivot.sqrt();
                } else {
                    own[j] = (number - sum) / above[j * self.size + j];
                }
            }
        }
        Some(())
    }

    /// Replaces a right-hand side by the solution.
    fn solve(&self, right: &mut [f64]) {
        for i in 0..self.size {
            let row = &self.rows[i * self.size..=i * self.size + i];
            let sum: f64 = row[..i].iter().zip(&*right).map(|(l, x)| l * x).sum();
            right[i] = (right[i] - sum) / row[i];
        }
        for i in (0..self.size).rev() {
            let row = &self.rows[i * self.size..=i * self.size + i];
            let (before, own) = right.split_at_mut(i);
            own[0] /= row[i];
            before.iter_mut().zip(row).for_each(|(x, l)| *x -= l * own[0]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A positive definite matrix `B Bᵀ + ε` of nearly dependent columns, a slope, a start and
    /// penalties, the last of them 0.
    fn models() -> impl Strategy<Value = (Vec<f64>, Vec<f64>, Vec<f64>, Vec<f64>)> {
        (1usize..9).prop_flat_map(|size| {
            let numbers = proptest::collection::vec(-1.0..1.0f64, size * size);
            let slope = proptest::collection::vec(-1.0..1.0f64, size);
            let here = proptest::collection::vec(prop_oneof![Just(0.0), -2.0..2.0f64], size);
            (numbers, slope, here, 0.0..0.5f64, prop_oneof![Just(1.0), Just(1e-6)]).prop_map(
                move |(numbers, slope, here, penalty, least)| {
                    let mut matrix = vec![0.0; size * size];
                    for i in 0..size {
                        for j in 0..size {
                            // The last column of B is left out, so that ε decides one direction.
                            let inner = (0..size - 1).map(|k| numbers[i * size + k] * numbers[j * size + k]);
                            matrix[i * size + j] = inner.sum::<f64>() + if i == j { least } else { 0.0 };
                        }
                    }
                    let mut penalties = vec![penalty; size];
                    penalties[size - 1] = 0.0;
                    (matrix, slope, here, penalties)
                },
            )
        })
    }

    proptest! {
        #[test]
        fn the_conditions_of_the_maximum_hold((curvature, slope, here, penalties) in models()) {
            let model = Model { here: &here, slope: &slope, curvature: &curvature, penalties: &penalties };
            let step = model.step(1e-9).unwrap();
            let size = here.len();
            for k in 0..size {
                let bent: f64 = (0..size).map(|j| curvature[j * size + k] * step[j]).sum();
                let rest = slope[k] - bent;
                let end = here[k] + step[k];
                // The ridge moves the maximum by its share of the step.
                let allowed = 1e-8 * (1.0 + step.iter().map(|d| d.abs()).sum::<f64>());
                if penalties[k] > 0.0 && end == 0.0 {
                    prop_assert!(rest.abs() <= penalties[k] + allowed, "{k}: {rest} at 0");
                } else {
                    let side = if penalties[k] > 0.0 { penalties[k] * end.signum() } else { 0.0 };
                    prop_assert!((rest - side).abs() <= allowed, "{k}: {rest}, expected {side}");
                }
            }
        }
    }
}
