//! Elementary functions in forms that neither overflow nor cancel.

/// `ln cosh x = |x| + ln(1 + e^(−2|x|)) − ln 2`, for any finite x.
///
/// ```
/// use isinglass::numeric::stable::log_cosh;
/// assert!((log_cosh(0.5) - 0.5f64.cosh().ln()).abs() < 1e-15);
/// assert_eq!(log_cosh(-2000.0), 2000.0 - 2f64.ln());
/// ```
pub fn log_cosh(x: f64) -> f64 {
    let size = x.abs();
    size + (-2.0 * size).exp().ln_1p() - std::f64::consts::LN_2
}

/// `ln(e^a + e^b)`, where either may be −∞.
///
/// ```
/// use isinglass::numeric::stable::log_add;
/// assert!((log_add(1000.0, 1000.0) - (1000.0 + 2f64.ln())).abs() < 1e-12);
/// assert_eq!(log_add(f64::NEG_INFINITY, 3.0), 3.0);
/// ```
pub fn log_add(a: f64, b: f64) -> f64 {
    let (small, large) = if a < b { (a, b) } else { (b, a) };
    if small == f64::NEG_INFINITY {
        return large;
    }
    large + (small - large).exp().ln_1p()
}

/// `ln Σ e^x`; −∞ for no terms.
///
/// ```
/// use isinglass::numeric::stable::log_sum;
/// assert!((log_sum(&[-800.0, -800.0]) - (-800.0 + 2f64.ln())).abs() < 1e-12);
/// assert_eq!(log_sum(&[]), f64::NEG_INFINITY);
/// ```
pub fn log_sum(terms: &[f64]) -> f64 {
    let top = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if top == f64::NEG_INFINITY {
        return top;
    }
    top + terms.iter().map(|x| (x - top).exp()).sum::<f64>().ln()
}

/// `ln Σ e^x`, and the share of each term in the sum, whatever their common constant.
///
/// ```
/// use isinglass::numeric::stable::shares;
/// let (log, shares) = shares(&[1000.0, 1000.0 + 3f64.ln()]);
/// assert!((log - (1000.0 + 4f64.ln())).abs() < 1e-12);
/// assert!((shares[0] - 0.25).abs() < 1e-12);
/// ```
pub fn shares(terms: &[f64]) -> (f64, Vec<f64>) {
    let top = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = terms.iter().map(|x| (x - top).exp()).collect();
    let sum: f64 = weights.iter().sum();
    (top + sum.ln(), weights.iter().map(|w| w / sum).collect())
}

/// `ln P(s)` of a unit with field h at temperature 1, `−ln(1 + e^(−2 s h))`, given `x = s h`.
///
/// ```
/// use isinglass::numeric::stable::log_sigmoid_twice;
/// assert!((log_sigmoid_twice(0.3) - -(1.0 + (-0.6f64).exp()).ln()).abs() < 1e-15);
/// assert_eq!(log_sigmoid_twice(-1e4), -2e4);
/// ```
pub fn log_sigmoid_twice(x: f64) -> f64 {
    if x >= 0.0 { -(-2.0 * x).exp().ln_1p() } else { 2.0 * x - (2.0 * x).exp().ln_1p() }
}
