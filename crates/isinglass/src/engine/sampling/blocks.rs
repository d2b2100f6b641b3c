//! Averages and their errors from the means of blocks of samples.
//!
//! Each of several independent runs is cut into consecutive blocks of equal length. Blocks much longer
//! than the correlation time are nearly independent; what correlation is left between neighbours
//! enters as that of a first-order process.

/// The mean over the blocks of all runs, and its quality.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Estimate {
    pub(super) mean: f64,
    /// Of the mean.
    pub(super) variance: f64,
    /// The variance of the means of half runs around the mean of all.
    pub(super) between: f64,
}

/// Runs further apart than blocks allow for count by themselves beyond this factor: for eight runs,
/// one in two hundred by chance.
const FAR_APART: f64 = 3.0;

/// Blocks of a run, at least, where neighbours are joined to longer ones.
const LEAST_BLOCKS: usize = 8;

/// From the means of blocks, run after run.
///
/// The variance is the largest of those by blocks of one, two, four, … times the length: short
/// blocks are many, and long ones see slow changes.
pub(super) fn estimate(means: &[f64], runs: usize) -> Estimate {
    let length = means.len() / runs;
    let mean = average(means);
    let spread = |parts: &[f64]| {
        parts.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (parts.len() as f64 - 1.0).max(1.0)
    };
    let mut by_blocks = variance_by_blocks(means, runs, mean);
    let mut joined = 2;
    while length / joined >= LEAST_BLOCKS {
        // What is left over at the end of a run is in the mean alone.
        let longer = means.chunks_exact(length).flat_map(|run| run.chunks_exact(joined).map(average));
        by_blocks = by_blocks.max(variance_by_blocks(&longer.collect::<Vec<_>>(), runs, mean));
        joined *= 2;
    }
    let whole: Vec<f64> = means.chunks_exact(length).map(average).collect();
    let by_runs = spread(&whole) / runs as f64;
    let half = (length / 2).max(1);
    let halves: Vec<f64> =
        means.chunks_exact(length).flat_map(|run| run.chunks_exact(half).take(2)).map(average).collect();
    let variance = if by_runs > FAR_APART * by_blocks { by_runs } else { by_blocks };
    Estimate { mean, variance, between: spread(&halves) }
}

fn average(part: &[f64]) -> f64 {
    part.iter().sum::<f64>() / part.len() as f64
}

/// The variance of the mean from blocks, those of a run as a first-order process.
fn variance_by_blocks(means: &[f64], runs: usize, mean: f64) -> f64 {
    let count = means.len() as f64;
    let length = means.len() / runs;
    let squares: f64 = means.iter().map(|x| (x - mean).powi(2)).sum();
    let lagged: f64 = means
        .chunks_exact(length)
        .flat_map(|run| run.windows(2))
        .map(|x| (x[0] - mean) * (x[1] - mean))
        .sum();
    let neighbours = (runs * (length - 1)) as f64;
    let correlation =
        if squares > 0.0 && neighbours > 0.0 { lagged / neighbours * count / squares } else { 0.0 };
    let correlation = correlation.clamp(0.0, 0.9);
    squares / (count - 1.0).max(1.0) / count * (1.0 + correlation) / (1.0 - correlation)
}

/// Numbers that are estimated from all blocks of several runs, by a jackknife: from all blocks, and
/// from all but each.
///
/// Pseudo-values stand for blocks: their mean is free of the first order of the bias, their spread is
/// the error.
pub(super) fn jackknife<const N: usize>(
    blocks: usize,
    runs: usize,
    numbers: impl Fn(Option<usize>) -> [f64; N],
) -> [Estimate; N] {
    let count = blocks as f64;
    let all = numbers(None);
    let rest: Vec<[f64; N]> = (0..blocks).map(|block| numbers(Some(block))).collect();
    std::array::from_fn(|k| {
        let values: Vec<f64> = rest.iter().map(|rest| count * all[k] - (count - 1.0) * rest[k]).collect();
        estimate(&values, runs)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::streams::{Purpose, stream};
    use rand::RngExt;

    /// Runs of a first-order process, block means of some length, and how often two errors cover 0.
    fn coverage(keep: f64, length: usize) -> f64 {
        let trials = 20_000;
        let covered = (0..trials).filter(|&trial| {
            let mut random = stream(3, Purpose::Draws, trial);
            let mut means = Vec::new();
            for _ in 0..8 {
                let mut state = 1.0;
                for _ in 0..16 {
                    let mut sum = 0.0;
                    for _ in 0..length {
                        state = if random.random::<f64>() >= keep { -state } else { state };
                        sum += state;
                    }
                    means.push(sum / length as f64);
                }
            }
            let found = estimate(&means, 8);
            found.mean.abs() <= 2.0 * found.variance.sqrt()
        });
        covered.count() as f64 / trials as f64
    }

    #[test]
    fn two_errors_cover_the_truth_as_often_as_they_should() {
        // 20,000 trials: a standard error of 0.15 %.
        for (keep, length) in [(0.5, 8), (0.9, 64), (0.95, 64)] {
            let found = coverage(keep, length);
            assert!((0.945..0.969).contains(&found), "keep {keep}: {found}");
        }
    }

    #[test]
    fn runs_that_stay_apart_show_in_the_error() {
        let means: Vec<f64> = (0..64).map(|k| if k / 16 < 2 { 1.0 } else { -1.0 }).collect();
        let found = estimate(&means, 4);
        assert_eq!(found.mean, 0.0);
        assert!(found.variance > 0.2 && found.between > 0.9);
        assert_eq!(estimate(&[1.0; 64], 4), Estimate { mean: 1.0, variance: 0.0, between: 0.0 });
    }
}
