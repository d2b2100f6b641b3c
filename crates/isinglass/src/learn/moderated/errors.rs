//! Standard errors of a composite likelihood.

use super::joint::Joint;
use super::newton::Penalty;
use crate::Budget;
use crate::numeric::dense::{Matrix, add_transposed_times};

/// The standard error of each parameter that may differ from 0, and NaN for others; `None` beyond
/// the budget, or if the curvature is singular.
///
/// The variance is `H⁻¹ J H⁻¹ / N` (Godambe 1960): H is minus the second derivative with the
/// penalty on squares, J the mean of the outer products of the rows' gradients.
pub(super) fn standard_errors(
    joint: &Joint,
    parameters: &[f64],
    penalty: &Penalty,
    budget: Budget,
) -> Option<Vec<f64>> {
    let free: Vec<usize> = (0..parameters.len()).filter(|&k| penalty.free[k]).collect();
    let (rows, size) = (joint.weights.len(), free.len());
    let needed = 8 * (size as u128 * rows as u128 + 5 * (size as u128).pow(2));
    if needed > u128::from(budget.0) {
        return None;
    }
    let (_, _, curvature) = joint.evaluate(parameters, true);
    let mut place_of = vec![None; parameters.len()];
    free.iter().enumerate().for_each(|(i, &k)| place_of[k] = Some(i));
    let mut bend = Matrix::zeros(size);
    for (i, &a) in free.iter().enumerate() {
        for (j, &b) in free.iter().enumerate() {
            bend[(i, j)] = curvature[b * parameters.len() + a];
        }
        bend[(i, i)] += penalty.l2[a];
    }
    let factor = bend.cholesky()?;
    // The gradient of each row, a column for each parameter.
    let mut scores = vec![0.0; rows * size];
    for unit in &joint.units {
        let numbers: Vec<f64> = unit.places.iter().map(|&place| parameters[place]).collect();
        let residuals = unit.residuals_at(&numbers);
        for (feature, &place) in unit.features.chunks(rows).zip(&unit.places) {
            let Some(i) = place_of[place] else { continue };
            let column = &mut scores[i * rows..(i + 1) * rows];
            for ((sum, x), r) in column.iter_mut().zip(feature).zip(&residuals) {
                *sum += x * r;
            }
        }
    }
    let mut weighted = scores.clone();
    for column in weighted.chunks_mut(rows) {
        column.iter_mut().zip(&joint.weights).for_each(|(x, w)| *x *= w);
    }
    let mut spread = vec![0.0; size * size];
    add_transposed_times(&mut spread, &scores, &weighted, size, rows);
    let inverse = factor.inverse();
    let variance = inverse.times(&Matrix::of_numbers(size, &spread)).times(&inverse);
    let mut errors = vec![f64::NAN; parameters.len()];
    for (i, &k) in free.iter().enumerate() {
        errors[k] = (variance[(i, i)].max(0.0) / joint.total).sqrt();
    }
    Some(errors)
}
