//! Log Z and all moments up to second order, at a cost of `O(2^n)` together.
//!
//! Within a block, units are summed out of the table of weights one after another, highest bit
//! first. Each step splits the table into a half of sums, for the next step, and a half of
//! differences, `Σ s_k …`, which is summed out for the pair moments of unit k. Sizes halve at each
//! step: a constant number of additions for each state.

use fearless_simd::{Simd, f64x8, prelude::*};

use super::blocks::{Block, Couplings, LaneFields, Visitor, sign, walk};
use crate::engine::expectations::packed_pair;
use crate::numeric::lanes::{LANES, Lane, exp_nonpositive};

/// The moments to compute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// Log-sums alone.
    Zeroth,
    /// Log-sums, means and pair moments.
    Second,
}

/// Sums over states in each lane, all divided by `e^top`.
#[derive(Clone)]
pub(super) struct Sums {
    order: Order,
    units: usize,
    block: usize,
    top: Lane,
    /// Σ weight.
    zeroth: Lane,
    /// Σ weight · s_a.
    first: Vec<Lane>,
    /// Σ weight · s_a s_b, pairs packed.
    second: Vec<Lane>,
}

impl Sums {
    /// Sums over a range of blocks.
    pub(super) fn over(
        couplings: &Couplings,
        lanes: &LaneFields,
        range: std::ops::Range<usize>,
        order: Order,
    ) -> Self {
        let units = couplings.units();
        let (first, second) = match order {
            Order::Zeroth => (0, 0),
            Order::Second => (units, units * units.saturating_sub(1) / 2),
        };
        let mut sums = Self {
            order,
            units,
            block: couplings.block_units(),
            top: Lane([f64::NEG_INFINITY; LANES]),
            zeroth: Lane::ZERO,
            first: vec![Lane::ZERO; first],
            second: vec![Lane::ZERO; second],
        };
        walk(couplings, lanes, range, &mut sums);
        sums
    }

    /// Adds the sums over other states of the same problem.
    pub(super) fn merge(&mut self, other: &Self) {
        for lane in 0..LANES {
            let top = self.top.0[lane].max(other.top.0[lane]);
            let here = (self.top.0[lane] - top).exp();
            let there = (other.top.0[lane] - top).exp();
            let mix = |a: &mut Lane, b: &Lane| a.0[lane] = a.0[lane] * here + b.0[lane] * there;
            mix(&mut self.zeroth, &other.zeroth);
            self.first.iter_mut().zip(&other.first).for_each(|(a, b)| mix(a, b));
            self.second.iter_mut().zip(&other.second).for_each(|(a, b)| mix(a, b));
            self.top.0[lane] = top;
        }
    }

    /// ln Σ weight of a lane.
    pub(super) fn log_sum(&self, lane: usize) -> f64 {
        self.top.0[lane] + self.zeroth.0[lane].ln()
    }

    /// ⟨s_a⟩ in a lane.
    pub(super) fn mean(&self, a: usize, lane: usize) -> f64 {
        (self.first[a].0[lane] / self.zeroth.0[lane]).clamp(-1.0, 1.0)
    }

    /// ⟨s_a s_b⟩ in a lane, a < b.
    pub(super) fn pair(&self, a: usize, b: usize, lane: usize) -> f64 {
        (self.second[packed_pair(self.units, a, b)].0[lane] / self.zeroth.0[lane]).clamp(-1.0, 1.0)
    }

    /// Raises the reference of the sums to the top of a new block.
    #[inline(always)]
    fn rescale<S: Simd>(&mut self, simd: S, block_top: Lane) {
        if (0..LANES).all(|lane| block_top.0[lane] <= self.top.0[lane]) {
            return;
        }
        let mut factors = Lane([1.0; LANES]);
        for lane in 0..LANES {
            let top = self.top.0[lane].max(block_top.0[lane]);
            factors.0[lane] = (self.top.0[lane] - top).exp();
            self.top.0[lane] = top;
        }
        let factors = factors.load(simd);
        let all = self.first.iter_mut().chain(&mut self.second);
        for sum in all.chain(std::iter::once(&mut self.zeroth)) {
            sum.store(sum.load(simd) * factors);
        }
    }
}

impl Visitor for Sums {
    #[inline(always)]
    fn visit<S: Simd>(&mut self, simd: S, block: Block<'_>) {
        self.rescale(simd, block.top);
        let top = self.top.load(simd);
        let table = block.energies;
        if self.order == Order::Zeroth {
            let mut sum = f64x8::splat(simd, 0.0);
            for energy in table.iter() {
                sum += exp_nonpositive(simd, energy.load(simd) - top);
            }
            self.zeroth.add(simd, sum);
            return;
        }
        for weight in table.iter_mut() {
            weight.store(exp_nonpositive(simd, weight.load(simd) - top));
        }
        let (units, inside) = (self.units, self.block);
        let high_units = units - inside;
        for k in (0..inside).rev() {
            let (sums, rest) = table.split_at_mut(1 << k);
            let differences = &mut rest[..1 << k];
            for (sum, difference) in sums.iter_mut().zip(differences.iter_mut()) {
                let (down, up) = (sum.load(simd), difference.load(simd));
                sum.store(down + up);
                difference.store(up - down);
            }
            for j in (0..k).rev() {
                let moment = sum_out(simd, &mut differences[..1 << (j + 1)]);
                self.second[packed_pair(units, j, k)].add(simd, moment);
            }
            let first = differences[0].load(simd);
            self.first[k].add(simd, first);
            for h in 0..high_units {
                let signed = first * f64x8::splat(simd, sign(block.high, h));
                self.second[packed_pair(units, k, inside + h)].add(simd, signed);
            }
        }
        let total = table[0].load(simd);
        self.zeroth.add(simd, total);
        for h in 0..high_units {
            let signed = total * f64x8::splat(simd, sign(block.high, h));
            self.first[inside + h].add(simd, signed);
            for g in 0..h {
                let pair = signed * f64x8::splat(simd, sign(block.high, g));
                self.second[packed_pair(units, inside + g, inside + h)].add(simd, pair);
            }
        }
    }
}

/// Sums the highest unit out of a table, into its first half; returns Σ s of that unit.
#[inline(always)]
fn sum_out<S: Simd>(simd: S, table: &mut [Lane]) -> f64x8<S> {
    let (low, high) = table.split_at_mut(table.len() / 2);
    let mut moment = f64x8::splat(simd, 0.0);
    for (low, high) in low.iter_mut().zip(high) {
        let (down, up) = (low.load(simd), high.load(simd));
        moment += up - down;
        low.store(down + up);
    }
    moment
}
