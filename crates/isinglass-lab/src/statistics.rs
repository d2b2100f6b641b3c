//! The few statistics that studies need.

/// The mean; of nothing, not a number.
pub(crate) fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len() as f64
}

/// The mean square deviation from the mean.
pub(crate) fn variance(numbers: &[f64]) -> f64 {
    let middle = mean(numbers);
    numbers.iter().map(|x| (x - middle).powi(2)).sum::<f64>() / numbers.len() as f64
}

/// The number in the middle; of an even count, the mean of the two; of nothing, not a number.
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

/// The standard error of the mean.
pub(crate) fn standard_error(numbers: &[f64]) -> f64 {
    (variance(numbers) / (numbers.len() as f64 - 1.0)).sqrt()
}

/// The root of the mean square.
pub(crate) fn root_mean_square(numbers: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = numbers.fold((0.0, 0.0), |(sum, count), x| (sum + x * x, count + 1.0));
    (sum / count).sqrt()
}

/// Pearson's correlation.
pub(crate) fn correlation(x: &[f64], y: &[f64]) -> f64 {
    let (mean_x, mean_y) = (mean(x), mean(y));
    let products = x.iter().zip(y).map(|(a, b)| (a - mean_x) * (b - mean_y));
    mean(&products.collect::<Vec<_>>()) / (variance(x) * variance(y)).sqrt()
}

/// The slope of the straight line of least squares.
pub(crate) fn slope(points: &[(f64, f64)]) -> f64 {
    let (x, y): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
    correlation(&x, &y) * (variance(&y) / variance(&x)).sqrt()
}

/// The standard error of [`slope`], from how far the points are from the line.
pub(crate) fn slope_error(points: &[(f64, f64)]) -> f64 {
    let (x, y): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
    let left = variance(&y) * (1.0 - correlation(&x, &y).powi(2));
    (left / (variance(&x) * (points.len() as f64 - 2.0))).sqrt()
}

/// How often the change from one number to the next turns round.
pub(crate) fn turns(numbers: &[f64]) -> usize {
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
        // Residuals 1/2, −1, 1/2 about the line y = 3/2 x + 1/2: their squares over one degree of freedom, over Σ(x − x̄)² = 2.
        assert!((slope_error(&[(0.0, 1.0), (1.0, 1.0), (2.0, 4.0)]) - 0.75f64.sqrt()).abs() < 1e-12);
        assert!((correlation(&[0.0, 1.0, 2.0], &[2.0, 1.0, 0.0]) + 1.0).abs() < 1e-12);
        assert_eq!((turns(&[0.0, 1.0, 0.5, 0.4, 2.0]), turns(&[1.0, 2.0, 3.0])), (2, 0));
    }
}
