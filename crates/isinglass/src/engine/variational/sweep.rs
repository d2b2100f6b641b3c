//! One sweep over all units, for the rows of a panel.

use std::ops::Range;

use fearless_simd::{Simd, f64x8, prelude::*};

use super::search::Rows;
use super::update::{LaneGroup, TOGETHER, add_products, finish, store_all, tanh_of_lanes, tap};
use super::{Schedule, Theory};
use crate::numeric::lanes::{LANES, ln_two_cosh, tanh};

impl Rows<'_> {
    /// Updates every unit once, at an inverse temperature relative to the machine's own.
    #[inline(always)]
    pub(super) fn sweep<S: Simd>(&mut self, simd: S, beta: f64, backwards: bool, scratch: &mut Scratch) {
        scratch.change.fill(0.0);
        scratch.shares.iter_mut().zip(&self.logs).for_each(|(share, log)| *share = 1.0 - log.damping);
        match self.schedule {
            Schedule::Sequential => self.sequential(simd, beta, backwards, scratch),
            Schedule::Parallel => self.parallel(simd, beta, scratch),
        }
        for (log, &change) in self.logs[..self.used].iter_mut().zip(&scratch.change) {
            log.sweeps += 1;
            log.change = change;
        }
    }

    /// Iterates over the blocks of units. In blocks of one unit every other sweep is `backwards`: a
    /// chain settles from both ends.
    fn blocks(&self, backwards: bool) -> impl Iterator<Item = Range<usize>> + use<> {
        let (size, units) = (self.couplings.block(), self.couplings.units);
        let count = units.div_ceil(size);
        (0..count).map(move |number| {
            let number = if backwards && size == 1 { count - 1 - number } else { number };
            number * size..units.min((number + 1) * size)
        })
    }

    /// Updates one unit after the other; a block's fields come from one product, plus changes
    /// within it.
    #[inline(always)]
    fn sequential<S: Simd>(&mut self, simd: S, beta: f64, backwards: bool, scratch: &mut Scratch) {
        for block in self.blocks(backwards) {
            self.pull(block.clone(), &self.means, scratch);
            // A few lanes pass through the whole block, so that its changes stay in the cache.
            let mut start = 0;
            while start + TOGETHER * LANES <= self.width {
                self.update_block(simd, &block, LaneGroup::<TOGETHER>::new(start, self.width), beta, scratch);
                start += TOGETHER * LANES;
            }
            while start < self.width {
                self.update_block(simd, &block, LaneGroup::<1>::new(start, self.width), beta, scratch);
                start += LANES;
            }
        }
    }

    /// Solves the equations of the units of a block, one after the other, in `K` lanes of rows.
    #[inline(always)]
    fn update_block<S: Simd, const K: usize>(
        &mut self,
        simd: S,
        block: &Range<usize>,
        lanes: LaneGroup<K>,
        beta: f64,
        scratch: &mut Scratch,
    ) {
        let width = self.width;
        let shares = lanes.load(simd, &scratch.shares);
        let mut change = lanes.load(simd, &scratch.change);
        for (place, unit) in block.clone().enumerate() {
            let (here, all) = (place * width..(place + 1) * width, unit * width..(unit + 1) * width);
            let changed = place * K * LANES..(place + 1) * K * LANES;
            let couplings = self.couplings.column(unit, block.start..unit);
            let mut means = lanes.load(simd, &self.means[all.clone()]);
            let mut wanted = lanes.load(simd, &self.fields[all.clone()]);
            let pulls = lanes.load(simd, &scratch.pulls[here.clone()]);
            add_products(simd, &mut wanted, &pulls, (couplings, |v| v), &scratch.deltas, beta);
            if self.theory == Theory::Tap {
                let mut reactions = lanes.load(simd, &scratch.block_reactions[here]);
                let none = [f64x8::splat(simd, 0.0); K];
                let deltas = &scratch.variance_deltas;
                add_products(simd, &mut reactions, &none, (couplings, |v| v * v), deltas, beta * beta);
                for (wanted, (reaction, mean)) in wanted.iter_mut().zip(reactions.iter().zip(&means)) {
                    *wanted = tap(simd, *wanted, *reaction, *mean);
                }
            } else {
                tanh_of_lanes(simd, &mut wanted);
            }
            for k in 0..K {
                wanted[k] = (wanted[k] - means[k]) * shares[k];
                means[k] += wanted[k];
                change[k] = change[k].max(wanted[k].abs());
            }
            store_all(&wanted, &mut scratch.deltas[changed.clone()]);
            lanes.store(&means, &mut self.means[all.clone()]);
            if self.theory == Theory::Tap {
                let variances = &mut scratch.variances[all];
                let mut deltas = lanes.load(simd, variances);
                for (delta, mean) in deltas.iter_mut().zip(&mut means) {
                    *mean = f64x8::splat(simd, 1.0) - *mean * *mean;
                    *delta = *mean - *delta;
                }
                store_all(&deltas, &mut scratch.variance_deltas[changed]);
                lanes.store(&means, variances);
            }
        }
        lanes.store(&change, &mut scratch.change);
    }

    /// Updates all units from the values of the previous sweep; oscillation is detected and damped.
    #[inline(always)]
    fn parallel<S: Simd>(&mut self, simd: S, beta: f64, scratch: &mut Scratch) {
        let width = self.width;
        let old_means = self.means.clone();
        let mut compared = [vec![0.0; width], vec![0.0; width], vec![0.0; width]];
        for block in self.blocks(false) {
            self.pull(block.clone(), &old_means, scratch);
            for (place, unit) in block.enumerate() {
                let all = unit * width..(unit + 1) * width;
                for lanes in LaneGroup::each(width) {
                    let (field, reaction) = self.field(simd, lanes, (place, unit), beta, scratch);
                    let [mean] = lanes.load(simd, &self.means[all.clone()]);
                    let [share] = lanes.load(simd, &scratch.shares);
                    let now = (tanh(simd, field - mean * reaction) - mean) * share;
                    lanes.store(&[mean + now], &mut self.means[all.clone()]);
                    let [change] = lanes.load(simd, &scratch.change);
                    lanes.store(&[change.max(now.abs())], &mut scratch.change);
                    let [before] = lanes.load(simd, &scratch.before[all.clone()]);
                    for (sums, product) in compared.iter_mut().zip([now * before, now * now, before * before])
                    {
                        let [sum] = lanes.load(simd, sums);
                        lanes.store(&[sum + product], sums);
                    }
                    lanes.store(&[now], &mut scratch.before[all.clone()]);
                }
            }
        }
        if self.theory == Theory::Tap {
            scratch.variances.iter_mut().zip(&self.means).for_each(|(variance, m)| *variance = 1.0 - m * m);
        }
        for (row, log) in self.logs.iter_mut().enumerate() {
            log.compare([compared[0][row], compared[1][row], compared[2][row]]);
        }
    }

    /// Returns the largest violation in each row, and −F; see [`finish`] for `strict`.
    #[inline(always)]
    pub(super) fn finish<S: Simd>(&self, simd: S, strict: bool) -> (Vec<f64>, Vec<f64>) {
        let width = self.width;
        let mut scratch = Scratch::new(self);
        let mut worst = vec![0.0f64; width];
        let mut log_z = vec![0.0; width];
        for block in self.blocks(false) {
            self.pull(block.clone(), &self.means, &mut scratch);
            for (place, unit) in block.enumerate() {
                let all = unit * width..(unit + 1) * width;
                for lanes in LaneGroup::each(width) {
                    let at_work = self.field(simd, lanes, (place, unit), 1.0, &scratch);
                    let [field] = lanes.load(simd, &self.fields[all.clone()]);
                    let [mean] = lanes.load(simd, &self.means[all.clone()]);
                    let (violation, share) = finish(simd, self.theory, at_work, field, mean, strict);
                    let ([most], [sum]) = (lanes.load(simd, &worst), lanes.load(simd, &log_z));
                    lanes.store(&[most.max(violation)], &mut worst);
                    lanes.store(&[sum + share], &mut log_z);
                }
            }
        }
        (worst, log_z)
    }

    /// Returns `Σ ln 2cosh h_i` and `Σ v_ij m_i m_j` of each row; the means are those of independent
    /// units.
    #[inline(always)]
    pub(super) fn independent<S: Simd>(&self, simd: S) -> (Vec<f64>, Vec<f64>) {
        let width = self.width;
        let mut scratch = Scratch::new(self);
        let (mut logs, mut means) = (vec![0.0; width], vec![0.0; width]);
        for block in self.blocks(false) {
            self.pull(block.clone(), &self.means, &mut scratch);
            for (place, unit) in block.enumerate() {
                let (here, all) = (place * width..(place + 1) * width, unit * width..(unit + 1) * width);
                for lanes in LaneGroup::each(width) {
                    let [pull] = lanes.load(simd, &scratch.pulls[here.clone()]);
                    let [field] = lanes.load(simd, &self.fields[all.clone()]);
                    let [mean] = lanes.load(simd, &self.means[all.clone()]);
                    let ([log], [sum]) = (lanes.load(simd, &logs), lanes.load(simd, &means));
                    lanes.store(&[log + ln_two_cosh(simd, field)], &mut logs);
                    // Each pair counts for both of its units.
                    lanes.store(&[(pull * mean).mul_add(f64x8::splat(simd, 0.5), sum)], &mut means);
                }
            }
        }
        (logs, means)
    }

    /// Returns a unit's field and reaction (0 except for TAP), from the values at the block's
    /// start.
    #[inline(always)]
    fn field<S: Simd>(
        &self,
        simd: S,
        lanes: LaneGroup<1>,
        (place, unit): (usize, usize),
        beta: f64,
        scratch: &Scratch,
    ) -> (f64x8<S>, f64x8<S>) {
        let width = self.width;
        let here = place * width..(place + 1) * width;
        let [pull] = lanes.load(simd, &scratch.pulls[here.clone()]);
        let [field] = lanes.load(simd, &self.fields[unit * width..(unit + 1) * width]);
        let reaction = if self.theory == Theory::Tap {
            let [reaction] = lanes.load(simd, &scratch.block_reactions[here]);
            reaction * f64x8::splat(simd, beta * beta)
        } else {
            f64x8::splat(simd, 0.0)
        };
        ((pull + field) * f64x8::splat(simd, beta), reaction)
    }

    /// Computes the fields of the couplings on the units of a block.
    #[inline(always)]
    fn pull(&self, block: Range<usize>, means: &[f64], scratch: &mut Scratch) {
        self.couplings.pull(block.clone(), false, means, self.width, &mut scratch.pulls);
        if self.theory == Theory::Tap {
            self.couplings.pull(block, true, &scratch.variances, self.width, &mut scratch.block_reactions);
        }
    }
}

/// Buffers of one sweep. Numbers are stored by unit, as wide as the panel.
pub(super) struct Scratch {
    /// Σ_j v_ij m_j and Σ_j v_ij² (1 − m_j²) for the units of a block, as they were at its start.
    pulls: Vec<f64>,
    block_reactions: Vec<f64>,
    /// 1 less the damping of each row.
    shares: Vec<f64>,
    change: Vec<f64>,
    /// The changes of the units of a block, and of their 1 − m², for `K` lanes of rows.
    deltas: Vec<f64>,
    variance_deltas: Vec<f64>,
    /// 1 − m² of every unit, for TAP.
    variances: Vec<f64>,
    /// The changes of the previous sweep, for parallel sweeps.
    before: Vec<f64>,
}

impl Scratch {
    pub(super) fn new(rows: &Rows<'_>) -> Self {
        let (width, block) = (rows.width, rows.couplings.block());
        let tap = rows.theory == Theory::Tap;
        let changes = block * TOGETHER * LANES;
        let numbers = |wanted: bool, count: usize| vec![0.0; if wanted { count * width } else { 0 }];
        Self {
            pulls: numbers(true, block),
            block_reactions: numbers(tap, block),
            shares: numbers(true, 1),
            change: numbers(true, 1),
            deltas: vec![0.0; changes],
            variance_deltas: vec![0.0; if tap { changes } else { 0 }],
            variances: rows.means.iter().filter(|_| tap).map(|m| 1.0 - m * m).collect(),
            before: numbers(rows.schedule == Schedule::Parallel, rows.couplings.units),
        }
    }
}
