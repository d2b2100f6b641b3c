//! Averages of fluctuating parameters over the last half of the iterations, and their convergence.

use serde::{Deserialize, Serialize};

/// Most blocks; when reached, neighbours are merged.
const BLOCKS: usize = 32;

/// Iterations of a block at first.
const FIRST: usize = 2;

/// Blocks before convergence is tested.
const LEAST: usize = 16;

/// Sums of parameters over blocks of iterations, all of the same length.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Averages {
    length: usize,
    blocks: Vec<Vec<f64>>,
    /// The block that is not complete, and its iterations.
    open: Vec<f64>,
    filled: usize,
}

impl Averages {
    pub(super) fn new(parameters: usize) -> Self {
        Self { length: FIRST, blocks: Vec::new(), open: vec![0.0; parameters], filled: 0 }
    }

    pub(super) fn bytes(parameters: u128) -> u128 {
        8 * (BLOCKS as u128 + 1) * parameters
    }

    /// Whether a state's averages match a number of parameters and of iterations.
    pub(super) fn are_of(&self, parameters: usize, iterations: usize) -> bool {
        let counted = self.length.checked_mul(self.blocks.len()).and_then(|n| n.checked_add(self.filled));
        let sums = self.blocks.iter().chain([&self.open]);
        counted == Some(iterations)
            && self.filled < self.length
            && self.blocks.len() < BLOCKS
            && sums.into_iter().all(|sum| sum.len() == parameters)
    }

    /// Adds the parameters of an iteration.
    pub(super) fn add(&mut self, parameters: &[f64]) {
        add(&mut self.open, parameters);
        self.filled += 1;
        if self.filled < self.length {
            return;
        }
        let empty = vec![0.0; self.open.len()];
        self.blocks.push(std::mem::replace(&mut self.open, empty));
        self.filled = 0;
        if self.blocks.len() == BLOCKS {
            let mut joined = Vec::with_capacity(BLOCKS);
            let mut blocks = std::mem::take(&mut self.blocks).into_iter();
            while let (Some(mut first), Some(second)) = (blocks.next(), blocks.next()) {
                add(&mut first, &second);
                joined.push(first);
            }
            self.blocks = joined;
            self.length *= 2;
        }
    }

    /// The average over the last half of the iterations, by whole blocks and the rest; `None`
    /// before there are two blocks.
    pub(super) fn of_last_half(&self) -> Option<Vec<f64>> {
        let first = self.blocks.len() / 2;
        if first == 0 {
            return None;
        }
        let mut sum = self.open.clone();
        for block in &self.blocks[first..] {
            add(&mut sum, block);
        }
        let count = self.length * (self.blocks.len() - first) + self.filled;
        Some(sum.into_iter().map(|x| x / count as f64).collect())
    }

    /// The speed of the average: the difference of the averages over the two halves of the last
    /// half of the iterations, as a mean over all parameters, divided by the iterations between
    /// them. `None` while a block is open, or there are too few.
    pub(super) fn speed(&self) -> Option<f64> {
        if self.filled > 0 || self.blocks.len() < LEAST || !self.blocks.len().is_multiple_of(4) {
            return None;
        }
        let quarter = self.blocks.len() / 4;
        let sum = |blocks: &[Vec<f64>]| {
            let mut sum = vec![0.0; self.open.len()];
            for block in blocks {
                add(&mut sum, block);
            }
            sum
        };
        let (former, latter) = (&self.blocks[2 * quarter..3 * quarter], &self.blocks[3 * quarter..]);
        let iterations = (quarter * self.length) as f64;
        // Once from sums to averages, once for the iterations between them.
        Some(mean_change(&sum(former), &sum(latter)) / (iterations * iterations))
    }
}

/// The mean over parameters of the absolute change (Yasuda, Tannai and Tanaka 2012, eq. 4.2).
pub(super) fn mean_change(a: &[f64], b: &[f64]) -> f64 {
    let changes = a.iter().zip(b).map(|(x, y)| (x - y).abs());
    changes.sum::<f64>() / a.len().max(1) as f64
}

fn add(sum: &mut [f64], x: &[f64]) {
    sum.iter_mut().zip(x).for_each(|(sum, x)| *sum += x);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn averages_are_those_of_the_last_half_also_after_merging() {
        let mut averages = Averages::new(2);
        assert_eq!((averages.of_last_half(), averages.speed()), (None, None));
        for t in 1..=1000 {
            averages.add(&[f64::from(t), 1.0]);
            let Some(mean) = averages.of_last_half() else { continue };
            assert!((mean[1] - 1.0).abs() < 1e-12);
            // By whole blocks, of which there are at least sixteen once any were merged.
            let half = 0.75 * f64::from(t);
            assert!((mean[0] - half).abs() <= 0.05 * half + 2.0, "{} at {t}", mean[0]);
            if let Some(speed) = averages.speed() {
                assert!(
                    (speed - 0.5).abs() < 1e-9,
                    "one of two parameters moves by 1 an iteration: {speed} at {t}"
                );
            }
        }
        assert!(averages.blocks.len() < BLOCKS);
    }
}
