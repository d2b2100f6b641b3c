//! Mixing of chains and errors of means: split-R̂ and effective sample size.
//!
//! Records are ±1, so sums over time are counts of bits, and products at a lag are exclusive ors
//! with the shifted sequence. The estimators are those of Vehtari et al. 2021, "Rank-normalization,
//! folding, and localization", without ranks (two values have none).

use fearless_simd::{Level, Simd, dispatch};

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

/// The halves of all chains, each packed from bit 0 of its first word.
struct Halves {
    /// Half after half; bits beyond the length are 0. One word more at the end, for shifts.
    bits: Vec<u64>,
    /// Words of a half.
    words: usize,
    length: usize,
    /// Σ s over each half.
    sums: Vec<f64>,
    level: Level,
}

/// Summarises sequences of `samples` states; `fill` writes the packed sequence of a chain.
pub(super) fn summarize(
    chains: usize,
    samples: usize,
    mut fill: impl FnMut(usize, &mut Vec<u64>),
) -> Summary {
    let length = samples / 2;
    let words = length.div_ceil(64);
    let mut halves = Halves {
        bits: Vec::with_capacity(2 * chains * words + 1),
        words,
        length,
        sums: Vec::with_capacity(2 * chains),
        level: Level::new(),
    };
    let mut buffer = Vec::with_capacity(samples.div_ceil(64));
    let mut up = 0;
    for chain in 0..chains {
        buffer.clear();
        fill(chain, &mut buffer);
        let level = halves.level;
        up += dispatch!(level, simd => ones(simd, &buffer)) as usize;
        for start in [0, samples - length] {
            halves.push(&buffer, start);
        }
    }
    halves.bits.push(0);
    let total = (chains * samples) as f64;
    let mean = 2.0 * up as f64 / total - 1.0;

    let n = length as f64;
    let m = halves.sums.len() as f64;
    let means: Vec<f64> = halves.sums.iter().map(|sum| sum / n).collect();
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
        let time = correlation_time(&halves, within, pooled);
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
fn correlation_time(halves: &Halves, within: f64, pooled: f64) -> f64 {
    let (length, count) = (halves.length, halves.sums.len() as f64);
    let n = length as f64;
    let mut ends: Vec<(f64, f64)> = halves.sums.iter().map(|&sum| (sum, sum)).collect();
    let mut at = 0;
    let mut autocorrelation = |lag: usize| {
        let remaining = (length - lag) as f64;
        let level = halves.level;
        let apart = dispatch!(level, simd => differing(simd, halves, lag)) as f64;
        let mut sum = count * remaining - 2.0 * apart;
        for (half, (head, tail)) in ends.iter_mut().enumerate() {
            let mean = halves.sums[half] / n;
            let bits = halves.of(half);
            for passed in at + 1..=lag {
                *head -= value(bits, length - passed);
                *tail -= value(bits, passed - 1);
            }
            sum += mean * (remaining * mean - (*head + *tail));
        }
        at = lag;
        1.0 - (within - sum / (n * count)) / pooled
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
    time.max(1.0 / (count * n).log10().max(1.0))
}

/// The value at a time.
fn value(bits: &[u64], at: usize) -> f64 {
    if bits[at / 64] >> (at % 64) & 1 == 1 { 1.0 } else { -1.0 }
}

impl Halves {
    /// Appends the bits of a sequence from bit `start` on.
    fn push(&mut self, sequence: &[u64], start: usize) {
        let begin = self.bits.len();
        let (first, shift) = (start / 64, start % 64);
        let get = |k: usize| sequence.get(k).copied().unwrap_or(0);
        let word = |k: usize| {
            if shift == 0 {
                get(first + k)
            } else {
                get(first + k) >> shift | get(first + k + 1) << (64 - shift)
            }
        };
        self.bits.extend((0..self.words).map(word));
        clear_tail(&mut self.bits[begin..], self.length);
        let level = self.level;
        let up = dispatch!(level, simd => ones(simd, &self.bits[begin..]));
        self.sums.push(2.0 * up as f64 - self.length as f64);
    }

    fn of(&self, half: usize) -> &[u64] {
        &self.bits[half * self.words..(half + 1) * self.words]
    }
}

/// The bits that are set; with instructions that count them.
#[inline(always)]
fn ones<S: Simd>(_: S, bits: &[u64]) -> u64 {
    bits.iter().map(|word| u64::from(word.count_ones())).sum()
}

/// The number of times t, of all halves, at which the values at t and t + lag differ.
#[inline(always)]
fn differing<S: Simd>(_: S, halves: &Halves, lag: usize) -> u64 {
    let (skip, shift) = (lag / 64, lag % 64);
    let remaining = halves.length - lag;
    let (whole, rest) = (remaining / 64, remaining % 64);
    let mut sum = 0;
    for half in 0..halves.sums.len() {
        // What a shift brings in from the next half is beyond the times that are left.
        let begin = half * halves.words;
        let bits = &halves.bits[begin..];
        let apart = |k: usize| {
            // Two shifts, since one by 64 is none.
            let later = bits[k + skip] >> shift | bits[k + skip + 1] << 1 << (63 - shift);
            bits[k] ^ later
        };
        sum += (0..whole).map(|k| u64::from(apart(k).count_ones())).sum::<u64>();
        if rest > 0 {
            sum += u64::from((apart(whole) & ((1 << rest) - 1)).count_ones());
        }
    }
    sum
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
        let (values, others) = (sticky(0.7, 3, 1001), sticky(0.4, 4, 1001));
        let level = Level::new();
        let mut halves = Halves { bits: Vec::new(), words: 8, length: 500, sums: Vec::new(), level };
        halves.push(&pack(&values), 501);
        halves.push(&pack(&others), 0);
        halves.bits.push(0);
        assert_eq!(halves.sums, [values[501..].iter().sum::<f64>(), others[..500].iter().sum::<f64>()]);
        for lag in [0, 1, 7, 63, 64, 65, 200, 448, 499] {
            let plain = |half: &[f64]| (0..500 - lag).filter(|&t| half[t] != half[t + lag]).count();
            let found = dispatch!(level, simd => differing(simd, &halves, lag));
            assert_eq!(found as usize, plain(&values[501..]) + plain(&others[..500]), "lag {lag}");
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
