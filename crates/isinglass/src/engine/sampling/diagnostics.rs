//! Mixing of chains and errors of means: split-R̂ and effective sample size.
//!
//! Records are ±1, so sums over time are counts of bits, and products at a lag are exclusive ors
//! with the shifted sequence. The estimators are those of Vehtari et al. 2021, "Rank-normalization,
//! folding, and localization", without ranks (two values have none).

use super::record::clear_tail;

/// The common mean of sequences of ±1, one for each chain, and its quality.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Summary {
    pub(super) mean: f64,
    pub(super) standard_error: f64,
    /// Infinite if chains stay apart without moving.
    pub(super) r_hat: f64,
    /// As many as chains if nothing ever moved.
    pub(super) effective_samples: f64,
    /// Whether any chain ever moved. If none did, all reached the same value from random starts.
    pub(super) moved: bool,
}

impl Summary {
    /// Of a clamped value.
    pub(super) fn known(mean: f64) -> Self {
        Self { mean, standard_error: 0.0, r_hat: 1.0, effective_samples: f64::INFINITY, moved: false }
    }

    /// Multiplied by a sign.
    pub(super) fn times(self, sign: f64) -> Self {
        Self { mean: sign * self.mean, ..self }
    }
}

/// Half of a chain, packed from bit 0.
struct Half {
    bits: Vec<u64>,
    /// Σ s over the half.
    sum: f64,
}

/// Summarises sequences of `samples` states; `fill` writes the packed sequence of a chain.
pub(super) fn summarize(
    chains: usize,
    samples: usize,
    mut fill: impl FnMut(usize, &mut Vec<u64>),
) -> Summary {
    let length = samples / 2;
    let mut halves = Vec::with_capacity(2 * chains);
    let mut buffer = Vec::new();
    let mut up = 0;
    for chain in 0..chains {
        buffer.clear();
        fill(chain, &mut buffer);
        up += buffer.iter().map(|word| word.count_ones() as usize).sum::<usize>();
        for start in [0, samples - length] {
            let bits = slice(&buffer, start, length);
            let sum = signed(&bits, length);
            halves.push(Half { bits, sum });
        }
    }
    let total = (chains * samples) as f64;
    let mean = 2.0 * up as f64 / total - 1.0;

    let n = length as f64;
    let m = halves.len() as f64;
    let means: Vec<f64> = halves.iter().map(|half| half.sum / n).collect();
    let centre = means.iter().sum::<f64>() / m;
    let within = means.iter().map(|x| (1.0 - x * x) * n / (n - 1.0)).sum::<f64>() / m;
    let between = means.iter().map(|x| (x - centre).powi(2)).sum::<f64>() / (m - 1.0);
    let pooled = (n - 1.0) / n * within + between;

    let (r_hat, effective_samples) = if pooled <= 0.0 {
        // Never moved, in any chain: each chain counts as one draw.
        (1.0, chains as f64)
    } else if within <= 0.0 {
        (f64::INFINITY, 1.0)
    } else {
        let time = correlation_time(&halves, length, within, pooled);
        ((pooled / within).sqrt(), m * n / time)
    };
    // One more independent draw on each side, so that a unit that never moved is not certain.
    let tempered = mean * effective_samples / (effective_samples + 2.0);
    Summary {
        mean,
        standard_error: ((1.0 - tempered * tempered) / effective_samples).sqrt(),
        r_hat,
        effective_samples,
        moved: pooled > 0.0,
    }
}

/// Up to this, all lags are visited; beyond, steps grow with the lag, to bound the cost.
const EVERY_LAG: usize = 128;

/// 1 + 2 Σ ρ_t, cut off by Geyer's initial monotone sequence; at least 1/log₁₀ of the number of
/// states, however they alternate.
///
/// Beyond [`EVERY_LAG`] each pair of lags stands for all up to the next one visited. As the sequence
/// falls, that gives fewer effective samples.
fn correlation_time(halves: &[Half], length: usize, within: f64, pooled: f64) -> f64 {
    let n = length as f64;
    let mut ends: Vec<(f64, f64)> = halves.iter().map(|half| (half.sum, half.sum)).collect();
    let mut at = 0;
    let mut autocorrelation = |lag: usize| {
        let mut sum = 0.0;
        for (half, (head, tail)) in halves.iter().zip(&mut ends) {
            let mean = half.sum / n;
            for passed in at + 1..=lag {
                *head -= value(&half.bits, length - passed);
                *tail -= value(&half.bits, passed - 1);
            }
            let remaining = (length - lag) as f64;
            let products = remaining - 2.0 * f64::from(differing(&half.bits, length, lag));
            sum += (products - mean * (*head + *tail) + remaining * mean * mean) / n;
        }
        at = lag;
        1.0 - (within - sum / halves.len() as f64) / pooled
    };
    let mut time = -1.0;
    let mut previous = f64::INFINITY;
    let mut lag = 0;
    while lag + 1 < length {
        let pair = autocorrelation(lag) + autocorrelation(lag + 1);
        if pair <= 0.0 {
            break;
        }
        previous = pair.min(previous);
        let step = if lag < EVERY_LAG { 2 } else { (lag / 8).next_multiple_of(2) };
        let pairs = step.min(length - lag) as f64 / 2.0;
        time += 2.0 * previous * pairs;
        lag += step;
    }
    time.max(1.0 / (halves.len() as f64 * n).log10().max(1.0))
}

/// The value at a time.
fn value(bits: &[u64], at: usize) -> f64 {
    if bits[at / 64] >> (at % 64) & 1 == 1 { 1.0 } else { -1.0 }
}

/// Σ s over the first `length` bits.
fn signed(bits: &[u64], length: usize) -> f64 {
    let up: u32 = bits.iter().map(|word| word.count_ones()).sum();
    2.0 * f64::from(up) - length as f64
}

/// Copies `length` bits from bit `start` on; bits beyond are 0.
fn slice(bits: &[u64], start: usize, length: usize) -> Vec<u64> {
    let mut out: Vec<u64> = (0..length.div_ceil(64)).map(|k| shifted_word(bits, start + 64 * k)).collect();
    clear_tail(&mut out, length);
    out
}

/// The 64 bits from a position on.
fn shifted_word(bits: &[u64], from: usize) -> u64 {
    let (word, shift) = (from / 64, from % 64);
    let get = |k: usize| bits.get(k).copied().unwrap_or(0);
    if shift == 0 { get(word) } else { get(word) >> shift | get(word + 1) << (64 - shift) }
}

/// The number of times t at which the values at t and t + lag differ.
fn differing(bits: &[u64], length: usize, lag: usize) -> u32 {
    let remaining = length - lag;
    let word = |k: usize| {
        let word = bits[k] ^ shifted_word(bits, 64 * k + lag);
        let left = remaining - 64 * k;
        if left < 64 { word & ((1 << left) - 1) } else { word }
    };
    (0..remaining.div_ceil(64)).map(|k| word(k).count_ones()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::streams::{Purpose, stream};
    use rand::RngExt;

    fn pack(values: &[f64]) -> Vec<u64> {
        let mut bits = vec![0; values.len().div_ceil(64)];
        for (t, &s) in values.iter().enumerate() {
            bits[t / 64] |= u64::from(s > 0.0) << (t % 64);
        }
        bits
    }

    /// A two-state chain that keeps its state with probability `keep`: ρ_t = (2 keep − 1)^t.
    fn sticky(keep: f64, chain: u64, samples: usize) -> Vec<f64> {
        let mut random = stream(11, Purpose::Draws, chain);
        let mut state = if random.random::<f64>() < 0.5 { 1.0 } else { -1.0 };
        let mut next = |_| {
            state = if random.random::<f64>() >= keep { -state } else { state };
            state
        };
        (0..samples).map(&mut next).collect()
    }

    #[test]
    fn effective_samples_of_a_known_chain() {
        for (keep, tolerance) in [(0.5, 0.1), (0.8, 0.15), (0.95, 0.25), (0.2, 0.2)] {
            let rho: f64 = 2.0 * keep - 1.0;
            let expected = 16.0 * 4000.0 * (1.0 - rho) / (1.0 + rho);
            let sequences: Vec<_> = (0..16).map(|c| pack(&sticky(keep, c, 4000))).collect();
            let summary = summarize(16, 4000, |c, out| out.extend(&sequences[c]));
            let ratio = summary.effective_samples / expected;
            assert!((ratio - 1.0).abs() < tolerance, "keep {keep}: {ratio}");
            assert!((summary.r_hat - 1.0).abs() < 0.01);
            assert!(summary.mean.abs() < 5.0 * summary.standard_error);
        }
    }

    #[test]
    fn bits_agree_with_plain_sums() {
        let values = sticky(0.7, 3, 1001);
        let bits = pack(&values);
        let half = slice(&bits, 501, 500);
        assert_eq!(signed(&half, 500), values[501..].iter().sum::<f64>());
        for lag in [0, 1, 7, 63, 64, 65, 200, 499] {
            let plain = (0..500 - lag).filter(|&t| values[501 + t] != values[501 + t + lag]).count();
            assert_eq!(differing(&half, 500, lag) as usize, plain, "lag {lag}");
        }
    }

    #[test]
    fn chains_that_disagree_are_found_out() {
        let still =
            |c: usize, out: &mut Vec<u64>| out.extend(pack(&vec![if c == 0 { 1.0 } else { -1.0 }; 100]));
        assert_eq!(summarize(4, 100, still).r_hat, f64::INFINITY);
        let frozen = summarize(4, 100, |_, out| out.extend(pack(&[1.0; 100])));
        assert_eq!((frozen.r_hat, frozen.effective_samples), (1.0, 4.0));
        assert!(frozen.standard_error > 0.0);
        let drifting = |c: usize, out: &mut Vec<u64>| {
            let mut values = sticky(0.5, c as u64, 400);
            values[..200].fill(1.0);
            out.extend(pack(&values));
        };
        assert!(summarize(4, 400, drifting).r_hat > 1.1);
    }
}
