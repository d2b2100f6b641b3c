//! Statistics for studies and experiments.

/// Returns the mean; NaN for an empty list.
pub(crate) fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len() as f64
}

/// Returns the mean squared deviation from the mean.
pub(crate) fn variance(numbers: &[f64]) -> f64 {
    let middle = mean(numbers);
    numbers.iter().map(|x| (x - middle).powi(2)).sum::<f64>() / numbers.len() as f64
}

/// Returns the median, the mean of the middle two for an even count; NaN for an empty list.
pub(crate) fn median(numbers: &[f64]) -> f64 {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    let half = sorted.len() / 2;
    match sorted.len() {
        0 => f64::NAN,
        count if count % 2 == 1 => sorted[half],
        _ => f64::midpoint(sorted[half - 1], sorted[half]),
    }
}

/// Returns the standard error of the mean.
pub(crate) fn standard_error(numbers: &[f64]) -> f64 {
    (variance(numbers) / (numbers.len() as f64 - 1.0)).sqrt()
}

/// Returns the root mean square.
pub(crate) fn root_mean_square(numbers: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = numbers.fold((0.0, 0.0), |(sum, count), x| (sum + x * x, count + 1.0));
    (sum / count).sqrt()
}

/// Returns Pearson's correlation.
pub(crate) fn correlation(x: &[f64], y: &[f64]) -> f64 {
    let (mean_x, mean_y) = (mean(x), mean(y));
    let products = x.iter().zip(y).map(|(a, b)| (a - mean_x) * (b - mean_y));
    mean(&products.collect::<Vec<_>>()) / (variance(x) * variance(y)).sqrt()
}

/// Returns the slope of the least-squares line.
pub(crate) fn slope(points: &[(f64, f64)]) -> f64 {
    let (x, y): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
    correlation(&x, &y) * (variance(&y) / variance(&x)).sqrt()
}

/// Returns the standard error of [`slope`], from the residuals.
pub(crate) fn slope_error(points: &[(f64, f64)]) -> f64 {
    let (x, y): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
    let left = variance(&y) * (1.0 - correlation(&x, &y).powi(2));
    (left / (variance(&x) * (points.len() as f64 - 2.0))).sqrt()
}

/// Counts how often the change from one number to the next reverses its sign.
pub(crate) fn reversals(numbers: &[f64]) -> usize {
    let steps: Vec<f64> = numbers.windows(2).map(|pair| pair[1] - pair[0]).collect();
    steps.windows(2).filter(|pair| pair[0] * pair[1] < 0.0).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        assert_eq!((mean(&[1.0, 2.0, 6.0]), variance(&[1.0, 3.0])), (3.0, 1.0));
        assert!((root_mean_square([3.0, 4.0].into_iter()) - 12.5f64.sqrt()).abs() < 1e-15);
        assert!((slope(&[(0.0, 1.0), (1.0, 3.0), (2.0, 5.0)]) - 2.0).abs() < 1e-12);
        assert_eq!((median(&[5.0, 1.0, 2.0]), median(&[4.0, 1.0, 2.0, 9.0])), (2.0, 3.0));
        assert!((standard_error(&[1.0, 3.0, 5.0]) - (4.0f64 / 3.0).sqrt()).abs() < 1e-15);
        // Residuals 1/2, −1, 1/2 about the line y = 3/2 x + 1/2: their squares over one degree of
        // freedom, over Σ(x − x̄)² = 2.
        assert!((slope_error(&[(0.0, 1.0), (1.0, 1.0), (2.0, 4.0)]) - 0.75f64.sqrt()).abs() < 1e-12);
        assert!((correlation(&[0.0, 1.0, 2.0], &[2.0, 1.0, 0.0]) + 1.0).abs() < 1e-12);
        assert_eq!((reversals(&[0.0, 1.0, 0.5, 0.4, 2.0]), reversals(&[1.0, 2.0, 3.0])), (2, 0));
    }
}
