//! Mixing of chains of numbers: split-R̂ and effective sample size (Vehtari et al. 2021).

/// How well chains of one number mixed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Mixed {
    /// Infinite if chains stay apart without moving.
    pub(super) r_hat: f64,
    /// All draws if the number never changed, in any chain.
    pub(super) effective_samples: f64,
}

/// *Argument*: the draws of each chain, at least four, as many in each.
pub(super) fn mixed(chains: &[Vec<f64>]) -> Mixed {
    let length = chains.first().map_or(0, Vec::len) / 2;
    let halves: Vec<&[f64]> =
        chains.iter().flat_map(|chain| [&chain[..length], &chain[chain.len() - length..]]).collect();
    let (n, m) = (length as f64, halves.len() as f64);
    let means: Vec<f64> = halves.iter().map(|half| half.iter().sum::<f64>() / n).collect();
    let centre = means.iter().sum::<f64>() / m;
    let covariance = |lag: usize| -> f64 {
        let of = |(half, mean): (&&[f64], &f64)| {
            half[lag..].iter().zip(*half).map(|(x, y)| (x - mean) * (y - mean)).sum::<f64>() / n
        };
        halves.iter().zip(&means).map(of).sum::<f64>() / m
    };
    let within = covariance(0) * n / (n - 1.0);
    let between = means.iter().map(|mean| (mean - centre).powi(2)).sum::<f64>() / (m - 1.0);
    let pooled = (n - 1.0) / n * within + between;
    if pooled <= 0.0 {
        return Mixed { r_hat: 1.0, effective_samples: m * n };
    }
    if within <= 0.0 {
        return Mixed { r_hat: f64::INFINITY, effective_samples: 1.0 };
    }
    // Geyer's initial monotone sequence of pairs of autocorrelations.
    let autocorrelation = |lag: usize| 1.0 - (within - covariance(lag)) / pooled;
    let (mut time, mut previous) = (-1.0, f64::INFINITY);
    let mut lag = 0;
    while lag + 1 < length {
        let pair = autocorrelation(lag) + autocorrelation(lag + 1);
        if pair <= 0.0 {
            break;
        }
        previous = pair.min(previous);
        time += 2.0 * previous;
        lag += 2;
    }
    let least = 1.0 / (m * n).log10().max(1.0);
    Mixed { r_hat: (pooled / within).sqrt(), effective_samples: m * n / time.max(least) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::streams::{Purpose, stream};
    use rand_distr::{Distribution, StandardNormal};

    /// An autoregressive sequence: ρ_t = φ^t.
    fn sequence(phi: f64, number: u64, length: usize) -> Vec<f64> {
        let mut random = stream(3, Purpose::Draws, number);
        let mut x: f64 = StandardNormal.sample(&mut random);
        let next = |_| {
            let noise: f64 = StandardNormal.sample(&mut random);
            x = phi * x + (1.0 - phi * phi).sqrt() * noise;
            x
        };
        (0..length).map(next).collect()
    }

    #[test]
    fn effective_samples_of_known_sequences() {
        for (phi, tolerance) in [(0.0, 0.1), (0.5, 0.15), (0.9, 0.25), (-0.4, 0.25)] {
            let chains: Vec<_> = (0..8).map(|k| sequence(phi, k, 4000)).collect();
            let found = mixed(&chains);
            let expected = 8.0 * 4000.0 * (1.0 - phi) / (1.0 + phi);
            assert!((found.effective_samples / expected - 1.0).abs() < tolerance, "{phi}: {found:?}");
            assert!((found.r_hat - 1.0).abs() < 0.01);
        }
    }

    #[test]
    fn chains_that_disagree_are_found_out() {
        assert_eq!(mixed(&[vec![0.0; 10], vec![1.0; 10]]).r_hat, f64::INFINITY);
        assert_eq!(mixed(&[vec![1.0; 10], vec![1.0; 10]]), Mixed { r_hat: 1.0, effective_samples: 20.0 });
        let moved: Vec<f64> = sequence(0.0, 1, 400).into_iter().map(|x| x + 1.0).collect();
        assert!(mixed(&[sequence(0.0, 0, 400), moved]).r_hat > 1.1);
    }
}
