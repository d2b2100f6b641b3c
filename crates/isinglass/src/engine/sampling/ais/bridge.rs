//! log Z from runs in both directions: Bennett's acceptance ratio.
//!
//! Runs to the machine and runs back are each other's time reversals, so that the densities of
//! x = ln w differ by `p_reverse(x) = p_forward(x) exp(x − c)`, c = ln(Z/Z₀) (Crooks 1999). Of all
//! estimates from both the one of Bennett (1976) has the least variance; it is the maximum-likelihood
//! estimate, too (Shirts, Bair, Hooker & Pande 2003): c solves
//!
//! ```text
//! Σ_forward σ(x − c + M) = Σ_reverse σ(c − M − x)        M = ln(n_reverse/n_forward), σ(t) = 1/(1 + e^(−t))
//! ```
//!
//! Forward runs are independent. Reverse runs begin with draws of a few ladders, so their errors are
//! those of blocks.

use super::super::answer::Average;
use super::super::blocks;

/// Blocks of reverse runs for each team of ladders.
pub(super) const BLOCKS: usize = 4;

/// Newton's steps at most; each that leaves the bracket halves it.
const STEPS: usize = 200;

/// The logarithms of the weights of runs in both directions.
pub(super) struct Works<'a> {
    pub(super) forward: &'a [f64],
    /// Team after team, in the order of time; the same multiple of [`BLOCKS`] of each.
    pub(super) reverse: &'a [f64],
    pub(super) teams: usize,
}

impl Works<'_> {
    /// c with its standard error.
    pub(super) fn bridge(&self) -> Average {
        let (n, m) = (self.forward.len() as f64, self.reverse.len() as f64);
        let shift = (m / n).ln();
        let c = self.solve(shift);
        let forward: Vec<f64> = self.forward.iter().map(|x| sigmoid(x - c + shift)).collect();
        let reverse: Vec<f64> = self.reverse.iter().map(|x| sigmoid(c - shift - x)).collect();
        let slope: f64 = forward.iter().chain(&reverse).map(|f| f * (1.0 - f)).sum();
        let mean = forward.iter().sum::<f64>() / n;
        let spread = forward.iter().map(|f| (f - mean).powi(2)).sum::<f64>() / (n - 1.0);
        // The first order of what the two sums do to c.
        let variance = n * spread + m * m * self.block_estimate(&reverse).variance;
        Average { mean: c, standard_error: variance.sqrt() / slope }
    }

    /// c from the reverse runs alone, `−ln ⟨exp(−x)⟩`, with its standard error.
    pub(super) fn reverse_only(&self) -> Average {
        let least = self.reverse.iter().copied().fold(f64::INFINITY, f64::min);
        let weights: Vec<f64> = self.reverse.iter().map(|x| (least - x).exp()).collect();
        let found = self.block_estimate(&weights);
        Average { mean: least - found.mean.ln(), standard_error: found.variance.sqrt() / found.mean }
    }

    /// The mean of a number of each reverse run.
    fn block_estimate(&self, numbers: &[f64]) -> blocks::Estimate {
        let length = numbers.len() / (self.teams * BLOCKS);
        let mean = |block: &[f64]| block.iter().sum::<f64>() / block.len() as f64;
        blocks::estimate(&numbers.chunks_exact(length).map(mean).collect::<Vec<_>>(), self.teams)
    }

    /// Newton's method in a bracket; the difference of the two sums falls with c.
    fn solve(&self, shift: f64) -> f64 {
        let all = || self.forward.iter().chain(self.reverse);
        // Beyond all works by this, one sum is far below one term of the other.
        let beyond = 50.0 + 2.0 * shift.abs();
        let mut low = all().copied().fold(f64::INFINITY, f64::min) + shift - beyond;
        let mut high = all().copied().fold(f64::NEG_INFINITY, f64::max) + shift + beyond;
        let mut c = f64::midpoint(low, high);
        for _ in 0..STEPS {
            let (mut difference, mut slope) = (0.0, 0.0);
            for x in self.forward {
                let f = sigmoid(x - c + shift);
                difference += f;
                slope += f * (1.0 - f);
            }
            for x in self.reverse {
                let f = sigmoid(c - shift - x);
                difference -= f;
                slope += f * (1.0 - f);
            }
            if difference > 0.0 {
                low = c;
            } else {
                high = c;
            }
            let newton = c + difference / slope;
            let next = if newton > low && newton < high { newton } else { f64::midpoint(low, high) };
            let change = (next - c).abs();
            c = next;
            if change <= 1e-13 * c.abs().max(1.0) {
                break;
            }
        }
        c
    }
}

fn sigmoid(t: f64) -> f64 {
    1.0 / (1.0 + (-t).exp())
}
