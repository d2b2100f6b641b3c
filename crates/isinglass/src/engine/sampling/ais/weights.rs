//! Weighted averages over runs, and their errors.

use super::super::answer::Average;
use super::path::{Block, RUNS};
use crate::numeric::stable::shares;

/// The weights of runs, as shares in their sum.
pub(super) struct Weights {
    /// For each block of runs; 0 in lanes without a run.
    shares: Vec<[f64; RUNS]>,
    /// ln of the mean weight.
    pub(super) log_mean: f64,
    /// The standard error of `log_mean`.
    pub(super) standard_error: f64,
    /// Σ share²: one over the effective sample size.
    squares: f64,
}

impl Weights {
    /// Of the first `runs` runs.
    pub(super) fn new(blocks: &[Block], runs: usize) -> Self {
        let logs: Vec<f64> = blocks.iter().flat_map(|block| &block.log_weights).take(runs).copied().collect();
        let (log_sum, all) = shares(&logs);
        let mut shares = vec![[0.0; RUNS]; blocks.len()];
        for (run, &share) in all.iter().enumerate() {
            shares[run / RUNS][run % RUNS] = share;
        }
        let squares = all.iter().map(|share| share * share).sum::<f64>();
        let n = runs as f64;
        // The relative variance of the mean weight; around the mean, so that equal weights give 0.
        let around = all.iter().map(|share| (share - 1.0 / n).powi(2)).sum::<f64>();
        Self { shares, log_mean: log_sum - n.ln(), standard_error: (around * n / (n - 1.0)).sqrt(), squares }
    }

    /// The number of runs of equal weight with the same variance (Kong 1992).
    pub(super) fn effective_samples(&self) -> f64 {
        1.0 / self.squares
    }

    /// The average of a number that is −1 in the runs whose bits are set, and +1 in the others.
    ///
    /// The variance is that of a ratio of means, `Σ share² (x − mean)²`, with one more run on each
    /// side, so that what is the same in every run is not certain.
    pub(super) fn average(&self, down: impl Fn(usize) -> u64) -> Average {
        let (mut sum, mut squares) = (0.0, 0.0);
        for (block, shares) in self.shares.iter().enumerate() {
            let mut bits = down(block);
            while bits != 0 {
                let share = shares[bits.trailing_zeros() as usize];
                sum += share;
                squares += share * share;
                bits &= bits - 1;
            }
        }
        self.between(sum, squares)
    }

    /// From the sums of shares and of squared shares of the runs that are down.
    fn between(&self, sum: f64, squares: f64) -> Average {
        let mean = (1.0 - 2.0 * sum).clamp(-1.0, 1.0);
        let variance =
            squares * (mean + 1.0).powi(2) + (self.squares - squares).max(0.0) * (mean - 1.0).powi(2);
        let tempered = mean / (1.0 + 2.0 * self.squares);
        let doubt = (mean * mean - tempered * tempered) * self.squares;
        Average { mean, standard_error: (variance + doubt).sqrt() }
    }

    /// The share of the runs with each number below `count`.
    pub(super) fn distribution(&self, count: usize, number: impl Fn(usize, usize) -> usize) -> Vec<Average> {
        let mut sums = vec![(0.0, 0.0); count];
        for (block, shares) in self.shares.iter().enumerate() {
            for (lane, share) in shares.iter().enumerate() {
                let (sum, squares) = &mut sums[number(block, lane)];
                *sum += share;
                *squares += share * share;
            }
        }
        let probability = |(sum, squares)| {
            let contrary = self.between(sum, squares);
            Average { mean: sum, standard_error: contrary.standard_error / 2.0 }
        };
        sums.into_iter().map(probability).collect()
    }
}
