//! p-values of many tests, corrected for their number.

/// Holm's correction (Holm 1979): the chance of any false rejection is at most the level, whatever
/// the tests depend on.
pub(super) fn holm(p: &[f64]) -> Vec<f64> {
    let order = rising(p);
    let mut corrected = vec![0.0; p.len()];
    let mut largest: f64 = 0.0;
    for (rank, &k) in order.iter().enumerate() {
        largest = largest.max((p.len() - rank) as f64 * p[k]).min(1.0);
        corrected[k] = largest;
    }
    corrected
}

/// The correction of Benjamini and Hochberg (1995): the expected share of false ones among the
/// rejections is at most the level, for tests that are independent or positively dependent.
pub(super) fn benjamini_hochberg(p: &[f64]) -> Vec<f64> {
    let order = rising(p);
    let mut corrected = vec![0.0; p.len()];
    let mut smallest: f64 = 1.0;
    for (rank, &k) in order.iter().enumerate().rev() {
        smallest = smallest.min(p.len() as f64 / (rank + 1) as f64 * p[k]);
        corrected[k] = smallest;
    }
    corrected
}

fn rising(p: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_textbooks_example() {
        let p = [0.01, 0.04, 0.03, 0.005];
        let close = |found: Vec<f64>, expected: [f64; 4]| {
            assert!(found.iter().zip(expected).all(|(x, y)| (x - y).abs() < 1e-12), "{found:?}");
        };
        close(holm(&p), [0.03, 0.06, 0.06, 0.02]);
        close(benjamini_hochberg(&p), [0.02, 0.04, 0.04, 0.02]);
        assert!(holm(&[]).is_empty() && benjamini_hochberg(&[]).is_empty());
    }

    proptest! {
        /// The definition, for each level: Holm rejects as long as `p_(k) ≤ α / (m − k)`, and
        /// Benjamini–Hochberg up to the last `p_(k) ≤ α k / m`.
        #[test]
        fn rejections_are_those_of_the_definition(
            p in proptest::collection::vec(0.0..1.0f64, 1..12),
            level in 0.001..0.5f64,
        ) {
            let mut sorted = p.clone();
            sorted.sort_by(f64::total_cmp);
            let m = p.len() as f64;
            let by_holm = sorted.iter().enumerate().take_while(|(k, p)| **p * (m - *k as f64) <= level).count();
            let by_bh = sorted.iter().enumerate().rposition(|(k, p)| p * (m / (k + 1) as f64) <= level).map_or(0, |k| k + 1);
            prop_assert_eq!(holm(&p).iter().filter(|p| **p <= level).count(), by_holm);
            prop_assert_eq!(benjamini_hochberg(&p).iter().filter(|p| **p <= level).count(), by_bh);
        }
    }
}
