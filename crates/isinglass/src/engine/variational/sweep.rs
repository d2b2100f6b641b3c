//! One sweep over all units, for the rows of a panel.

use std::ops::Range;

use fearless_simd::{Simd, f64x8, prelude::*};

use super::search::Rows;
use super::update::{finish, solve};
use super::{Schedule, Theory};
use crate::numeric::lanes::LANES;

impl Rows<'_> {
    /// Update every unit once, at an inverse temperature relative to the machine's own.
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

    /// The units of a block, and the blocks that there are.
    fn blocks(&self) -> (usize, usize) {
        let size = self.couplings.block();
        (size, self.couplings.units.div_ceil(size))
    }

    /// One unit after the other. The fields of a block of units come from one product; what has changed within the block since is added.
    #[inline(always)]
    fn sequential<S: Simd>(&mut self, simd: S, beta: f64, backwards: bool, scratch: &mut Scratch) {
        let (width, units) = (self.width, self.couplings.units);
        let (size, count) = self.blocks();
        let tap = self.theory == Theory::Tap;
        for number in 0..count {
            // Where a block is a unit, every other sweep goes backwards: what one end of a chain says reaches the other at once.
            let number = if backwards && size == 1 { count - 1 - number } else { number };
            let block = number * size..units.min((number + 1) * size);
            self.pull(block.clone(), &self.means, scratch);
            for (place, unit) in block.clone().enumerate() {
                let all = unit * width..(unit + 1) * width;
                let couplings = self.couplings.column(unit, block.start..unit);
                scratch.fields(simd, place, &self.fields[all.clone()], couplings, beta, tap);
                let means = &mut self.means[all.clone()];
                solve(simd, self.theory, &mut scratch.wanted, &scratch.reactions, means);
                let here = place * width..(place + 1) * width;
                move_means(
                    &scratch.wanted,
                    &scratch.shares,
                    means,
                    &mut scratch.deltas[here.clone()],
                    &mut scratch.change,
                );
                if tap {
                    let deltas = &mut scratch.variance_deltas[here];
                    for ((delta, variance), m) in
                        deltas.iter_mut().zip(&mut scratch.variances[all]).zip(means)
                    {
                        let new = 1.0 - *m * *m;
                        *delta = new - *variance;
                        *variance = new;
                    }
                }
            }
        }
    }

    /// All units from the values of the sweep before; swings are noticed, and damped.
    #[inline(always)]
    fn parallel<S: Simd>(&mut self, simd: S, beta: f64, scratch: &mut Scratch) {
        let (width, units) = (self.width, self.couplings.units);
        let (size, count) = self.blocks();
        let tap = self.theory == Theory::Tap;
        let old_means = self.means.clone();
        let mut compared = vec![[0.0; 3]; width];
        for number in 0..count {
            let block = number * size..units.min((number + 1) * size);
            self.pull(block.clone(), &old_means, scratch);
            for (place, unit) in block.enumerate() {
                let all = unit * width..(unit + 1) * width;
                scratch.fields(simd, place, &self.fields[all.clone()], &[], beta, tap);
                let means = &mut self.means[all.clone()];
                if tap {
                    let terms = scratch.wanted.iter_mut().zip(&scratch.reactions).zip(&*means);
                    terms.for_each(|((h, reaction), m)| *h -= m * reaction);
                }
                solve(simd, Theory::MeanField, &mut scratch.wanted, &[], means);
                let now = &mut scratch.deltas[..width];
                move_means(&scratch.wanted, &scratch.shares, means, now, &mut scratch.change);
                for ((sums, now), before) in compared.iter_mut().zip(now).zip(&mut scratch.before[all]) {
                    sums[0] += *now * *before;
                    sums[1] += *now * *now;
                    sums[2] += *before * *before;
                    *before = *now;
                }
            }
        }
        if tap {
            scratch.variances.iter_mut().zip(&self.means).for_each(|(variance, m)| *variance = 1.0 - m * m);
        }
        for (log, compared) in self.logs.iter_mut().zip(compared) {
            log.compare(compared);
        }
    }

    /// By how much the worst equation of each row is violated, and −F; see [`finish`] for `strict`.
    #[inline(always)]
    pub(super) fn finish<S: Simd>(&self, simd: S, strict: bool) -> (Vec<f64>, Vec<f64>) {
        let (width, units) = (self.width, self.couplings.units);
        let (size, count) = self.blocks();
        let tap = self.theory == Theory::Tap;
        let mut scratch = Scratch::new(self);
        let mut worst = vec![0.0f64; width];
        let mut log_z = vec![0.0; width];
        for number in 0..count {
            let block = number * size..units.min((number + 1) * size);
            self.pull(block.clone(), &self.means, &mut scratch);
            for (place, unit) in block.enumerate() {
                let all = unit * width..(unit + 1) * width;
                scratch.fields(simd, place, &self.fields[all.clone()], &[], 1.0, tap);
                for lanes in Lanes::of(width) {
                    let field = lanes.load(simd, &self.fields[all.clone()]);
                    let h = lanes.load(simd, &scratch.wanted);
                    let reaction =
                        if tap { lanes.load(simd, &scratch.reactions) } else { f64x8::splat(simd, 0.0) };
                    let m = lanes.load(simd, &self.means[all.clone()]);
                    let (violation, share) = finish(simd, self.theory, (h, reaction), field, m, strict);
                    lanes.store(lanes.load(simd, &worst).max(violation), &mut worst);
                    lanes.store(lanes.load(simd, &log_z) + share, &mut log_z);
                }
            }
        }
        (worst, log_z)
    }

    /// What the couplings do to the units of a block, at some means.
    #[inline(always)]
    fn pull(&self, block: Range<usize>, means: &[f64], scratch: &mut Scratch) {
        self.couplings.pull(block.clone(), false, means, self.width, &mut scratch.pulls);
        if self.theory == Theory::Tap {
            self.couplings.pull(block, true, &scratch.variances, self.width, &mut scratch.block_reactions);
        }
    }
}

/// Room for one sweep. All numbers stand unit after unit, as wide as the panel.
pub(super) struct Scratch {
    width: usize,
    /// Σ_j v_ij m_j and Σ_j v_ij² (1 − m_j²) for the units of a block, as they were when its turn came.
    pulls: Vec<f64>,
    block_reactions: Vec<f64>,
    /// For one unit: its field, then the mean it is to have; and Σ_j v_ij² (1 − m_j²).
    wanted: Vec<f64>,
    reactions: Vec<f64>,
    /// How far each row goes towards the value wanted: 1 less its damping.
    shares: Vec<f64>,
    /// The largest change of each row.
    change: Vec<f64>,
    /// The changes of the units of a block, and of their 1 − m².
    deltas: Vec<f64>,
    variance_deltas: Vec<f64>,
    /// 1 − m² of every unit, for TAP.
    variances: Vec<f64>,
    /// The changes of the sweep before, for sweeps in parallel.
    before: Vec<f64>,
}

impl Scratch {
    pub(super) fn new(rows: &Rows<'_>) -> Self {
        let (width, block) = (rows.width, rows.couplings.block());
        let tap = rows.theory == Theory::Tap;
        let numbers = |wanted: bool, count: usize| vec![0.0; if wanted { count * width } else { 0 }];
        Self {
            width,
            pulls: numbers(true, block),
            block_reactions: numbers(tap, block),
            wanted: numbers(true, 1),
            reactions: numbers(tap, 1),
            shares: numbers(true, 1),
            change: numbers(true, 1),
            deltas: numbers(true, block),
            variance_deltas: numbers(tap, block),
            variances: rows.means.iter().filter(|_| tap).map(|m| 1.0 - m * m).collect(),
            before: numbers(rows.schedule == Schedule::Parallel, rows.couplings.units),
        }
    }

    /// The field and the reaction on a unit of a block, given its couplings with the units of the block that have changed since.
    #[inline(always)]
    fn fields<S: Simd>(
        &mut self,
        simd: S,
        place: usize,
        fields: &[f64],
        couplings: &[f64],
        beta: f64,
        tap: bool,
    ) {
        let here = place * self.width..(place + 1) * self.width;
        let before = (&self.pulls[here.clone()], Some(fields));
        add_products(simd, &mut self.wanted, before, couplings, &self.deltas, (|v| v, beta));
        if tap {
            let before = (&self.block_reactions[here], None);
            let deltas = &self.variance_deltas;
            add_products(simd, &mut self.reactions, before, couplings, deltas, (|v| v * v, beta * beta));
        }
    }
}

/// `out ← c (base + shift + Σ_k f(v_k) x_k)`, where `x` holds as many numbers for each k as there are in `out`.
#[inline(always)]
fn add_products<S: Simd>(
    simd: S,
    out: &mut [f64],
    (base, shift): (&[f64], Option<&[f64]>),
    couplings: &[f64],
    x: &[f64],
    (f, scale): (impl Fn(f64) -> f64, f64),
) {
    /// Lanes that go through together, so that one addition need not wait for the other.
    const TOGETHER: usize = 4;
    let width = out.len();
    let mut done = 0;
    for group in out.chunks_exact_mut(TOGETHER * LANES) {
        let mut sum = [f64x8::splat(simd, 0.0); TOGETHER];
        for (k, sum) in sum.iter_mut().enumerate() {
            let here = done + k * LANES..done + (k + 1) * LANES;
            *sum = f64x8::from_slice(simd, &base[here.clone()]);
            if let Some(shift) = shift {
                *sum += f64x8::from_slice(simd, &shift[here]);
            }
        }
        for (k, &v) in couplings.iter().enumerate() {
            let v = f64x8::splat(simd, f(v));
            let row = &x[k * width + done..][..TOGETHER * LANES];
            for (sum, x) in sum.iter_mut().zip(row.chunks_exact(LANES)) {
                *sum = v.mul_add(f64x8::from_slice(simd, x), *sum);
            }
        }
        for (sum, numbers) in sum.into_iter().zip(group.chunks_exact_mut(LANES)) {
            (sum * f64x8::splat(simd, scale)).store_slice(numbers);
        }
        done += TOGETHER * LANES;
    }
    for at in done..width {
        let known = couplings.iter().enumerate().map(|(k, &v)| f(v) * x[k * width + at]);
        out[at] = scale * (base[at] + shift.map_or(0.0, |shift| shift[at]) + known.sum::<f64>());
    }
}

/// Move the means of a unit towards those wanted, as far as each row's damping lets them.
#[inline(always)]
fn move_means(wanted: &[f64], shares: &[f64], means: &mut [f64], deltas: &mut [f64], change: &mut [f64]) {
    let numbers = wanted.iter().zip(shares).zip(means).zip(deltas).zip(change);
    for ((((wanted, share), mean), delta), change) in numbers {
        let step = (wanted - *mean) * share;
        *delta = step;
        *mean += step;
        *change = change.max(step.abs());
    }
}

/// Eight rows of a panel, or its only one.
#[derive(Clone, Copy)]
pub(super) struct Lanes {
    start: usize,
    single: bool,
}

impl Lanes {
    /// All lanes of a panel.
    #[inline(always)]
    pub(super) fn of(width: usize) -> impl Iterator<Item = Self> {
        (0..width).step_by(LANES).map(move |start| Self { start, single: width == 1 })
    }

    #[inline(always)]
    pub(super) fn load<S: Simd>(self, simd: S, from: &[f64]) -> f64x8<S> {
        if self.single {
            f64x8::splat(simd, from[0])
        } else {
            f64x8::from_slice(simd, &from[self.start..self.start + LANES])
        }
    }

    #[inline(always)]
    pub(super) fn store<S: Simd>(self, value: f64x8<S>, to: &mut [f64]) {
        let mut numbers = [0.0; LANES];
        value.store_array(&mut numbers);
        if self.single {
            to[0] = numbers[0];
        } else {
            to[self.start..self.start + LANES].copy_from_slice(&numbers);
        }
    }
}
