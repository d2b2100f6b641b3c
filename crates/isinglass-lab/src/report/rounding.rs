//! Numbers of the page, rounded to the digits that can be seen.

use serde::{Serialize, Serializer};

/// Significant digits of a number on the page.
const DIGITS: usize = 5;

/// A number that is serialised with few digits; NaN and infinities become `null`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Short(pub(super) f64);

impl Serialize for Short {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(rounded(self.0))
    }
}

/// Marks all numbers of a list for rounding.
pub(super) fn short(numbers: impl IntoIterator<Item = f64>) -> Vec<Short> {
    numbers.into_iter().map(Short).collect()
}

/// Returns the nearest number with few digits.
fn rounded(x: f64) -> f64 {
    if !x.is_finite() {
        return x;
    }
    let text = format!("{x:.*e}", DIGITS - 1);
    // The text was just formatted from a number.
    text.parse().unwrap_or(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_five_digits() {
        let text = serde_json::to_string(&short([0.123_456_789, -1234.5678, 0.0, 1e-9, 2.0, f64::NAN]));
        assert_eq!(text.unwrap(), "[0.12346,-1234.6,0.0,1e-9,2.0,null]");
    }
}
