//! Elimination with tables of logarithms: a unit is summed out of all factors with it.
//!
//! With `d(S)` the field on the unit in a state S of its neighbours and `t_c(s, S)` the tables over
//! it, the result is `ln Σ_s exp(s d(S) + Σ_c t_c(s, S))`. Backwards, the probabilities of S are
//! split between the two values of the unit, and summed onto the incoming tables.
//!
//! States are numbered by bits. Blocks of states that differ in their low bits fit the innermost
//! cache and are processed in vectors. Several rows are side by side, like lowest bits.

use fearless_simd::{Simd, f64x8, prelude::*};

use super::plan::{Bucket, Child, NONE, Plan};
use super::star::{Eight, Rows, Rule};
use crate::cancel;
use crate::numeric::lanes::{LANES, exp_nonpositive};

/// Numbers in a block.
const BLOCK: usize = 512;

/// Blocks of a large table between two checks for cancellation; some ten microseconds.
const BLOCKS_BETWEEN: usize = 64;

/// Buffers for one bucket at a time, in whole vectors.
#[derive(Default)]
pub(super) struct Scratch {
    plus: Vec<Eight>,
    minus: Vec<Eight>,
    /// The field on the unit by the bias and the low bits.
    low_field: Vec<Eight>,
    /// The place of each vector (or state) of a block in each incoming table.
    offsets: Vec<u32>,
    /// P(+) − P(−) of the unit, summed over blocks.
    excess: Vec<Eight>,
}

/// An incoming table.
struct Incoming<'a> {
    table: &'a [f64],
    child: Child,
    /// Whether the numbers of a vector are contiguous in the table.
    in_vectors: bool,
    /// Its offsets.
    offsets: std::ops::Range<usize>,
}

/// A bucket with its numbers.
pub(super) struct Numbers<'a, R> {
    bits: usize,
    low: usize,
    incoming: Vec<Incoming<'a>>,
    /// Bits above the block with a weight to the unit.
    high: Vec<(usize, R)>,
    /// The shift of the tables.
    base: R,
}

impl<'a, R: Rows> Numbers<'a, R> {
    pub(super) fn new(
        plan: &Plan,
        bucket: &Bucket,
        values: &[R],
        tables: &'a [Vec<f64>],
        shifts: &[R],
        scratch: &mut Scratch,
    ) -> Self {
        let (_, slots) = plan.scope(bucket);
        let bits = slots.len();
        let low = bits.min((BLOCK / R::ROWS).ilog2() as usize);
        let weight = |bit: usize| values[slots[bits - 1 - bit] as usize];
        let bias = if bucket.bias == NONE { R::all(0.0) } else { values[bucket.bias as usize] };
        scratch.prepare(low, bias, weight);
        let mut base = R::all(0.0);
        let mut incoming = Vec::with_capacity(bucket.children.len());
        for &child in plan.children(bucket) {
            for (sum, shift) in base.as_mut().iter_mut().zip(shifts[child.table as usize].as_ref()) {
                *sum -= shift;
            }
            // With one row, a vector is eight states; the table must have their bits in place.
            let in_vectors = R::ROWS == LANES || (low >= 3 && child.mask & 7 == 7 && child.unit_bit >= 3);
            let step = if in_vectors { LANES / R::ROWS } else { 1 };
            let start = scratch.offsets.len();
            let offset = |state: usize| (child.index(state as u64) * R::ROWS) as u32;
            scratch.offsets.extend((0..1 << low).step_by(step).map(offset));
            let offsets = start..scratch.offsets.len();
            incoming.push(Incoming { table: &tables[child.table as usize], child, in_vectors, offsets });
        }
        let high = (low..bits).map(|bit| (bit - low, weight(bit))).collect();
        Self { bits, low, incoming, high, base }
    }

    /// Computes the logarithms of the weights of a block, for both values of the unit.
    #[inline(always)]
    fn fill<S: Simd>(&self, simd: S, block: usize, scratch: &mut Scratch) {
        if block % BLOCKS_BETWEEN == BLOCKS_BETWEEN - 1 {
            cancel::point();
        }
        let mut field = R::all(0.0);
        for (bit, weight) in &self.high {
            let sign = if block >> bit & 1 == 1 { 1.0 } else { -1.0 };
            for (sum, w) in field.as_mut().iter_mut().zip(weight.as_ref()) {
                *sum += sign * w;
            }
        }
        let (field, base) = (field.vector(simd), self.base.vector(simd));
        let numbers = scratch.plus.iter_mut().zip(&mut scratch.minus).zip(&scratch.low_field);
        for ((plus, minus), low) in numbers {
            let d = load(simd, low) + field;
            (base + d).store_array(plus);
            (base - d).store_array(minus);
        }
        for incoming in &self.incoming {
            let start = self.start(incoming, block);
            let up = incoming.child.up() * R::ROWS;
            let offsets = &scratch.offsets[incoming.offsets.clone()];
            if incoming.in_vectors {
                let numbers = scratch.plus.iter_mut().zip(&mut scratch.minus).zip(offsets);
                for ((plus, minus), &offset) in numbers {
                    let place = start + offset as usize;
                    add(simd, minus, vector(simd, &incoming.table[place..]));
                    add(simd, plus, vector(simd, &incoming.table[place + up..]));
                }
            } else {
                let numbers = scratch.plus.iter_mut().zip(&mut scratch.minus).zip(offsets.chunks(LANES));
                for ((plus, minus), offsets) in numbers {
                    let pair = plus.iter_mut().zip(minus);
                    for ((plus, minus), &offset) in pair.zip(offsets) {
                        let place = start + offset as usize;
                        *minus += incoming.table[place];
                        *plus += incoming.table[place + up];
                    }
                }
            }
        }
    }

    /// Where the numbers of a block begin in a table.
    #[inline(always)]
    fn start(&self, incoming: &Incoming<'_>, block: usize) -> usize {
        incoming.child.index((block as u64) << self.low) * R::ROWS
    }

    /// Sums over the unit (or maximises), into a table over the scope or the start of one vector.
    #[inline(always)]
    pub(super) fn forward<S: Simd, J: Rule>(&self, simd: S, scratch: &mut Scratch, out: &mut [f64]) {
        let length = (R::ROWS << self.low).max(LANES);
        let half = f64x8::splat(simd, 0.5);
        for (block, out) in out.chunks_exact_mut(length).enumerate() {
            self.fill(simd, block, scratch);
            let numbers = scratch.plus.iter().zip(&scratch.minus).zip(out.as_chunks_mut().0);
            for ((plus, minus), out) in numbers {
                let (plus, minus) = (load(simd, plus), load(simd, minus));
                let joined = (plus + minus).mul_add(half, J::join(simd, (plus - minus) * half));
                joined.store_array(out);
            }
        }
    }

    /// From P(S) to the moments of the unit with the scope, and onto the incoming tables.
    ///
    /// The moments with units above the block are reported by bit; those of the low bits stay in
    /// the scratch for [`Scratch::fold`].
    #[inline(always)]
    pub(super) fn backward<S: Simd>(
        &self,
        simd: S,
        scratch: &mut Scratch,
        probabilities: &[f64],
        adjoints: &mut [Vec<f64>],
        mut high_moment: impl FnMut(usize, R),
    ) {
        let length = (R::ROWS << self.low).max(LANES);
        let one = f64x8::splat(simd, 1.0);
        scratch.excess.clear();
        scratch.excess.resize(length / LANES, [0.0; LANES]);
        let mut above = vec![R::all(0.0); self.bits - self.low];
        for (block, p) in probabilities.chunks_exact(length).enumerate() {
            self.fill(simd, block, scratch);
            let mut total = f64x8::splat(simd, 0.0);
            let numbers = scratch.plus.iter_mut().zip(&mut scratch.minus);
            for (((plus, minus), p), excess) in numbers.zip(p.as_chunks().0).zip(&mut scratch.excess) {
                let difference = load(simd, plus) - load(simd, minus);
                let e = exp_nonpositive(simd, -difference.abs());
                let large = load(simd, p) / (one + e);
                let small = e * large;
                let is_up = difference.simd_ge(f64x8::splat(simd, 0.0));
                let (up, down) = (is_up.select(large, small), is_up.select(small, large));
                up.store_array(plus);
                down.store_array(minus);
                total += up - down;
                add(simd, excess, up - down);
            }
            let total = R::gathered(total.to_array());
            for (bit, sum) in above.iter_mut().enumerate() {
                let sign = if block >> bit & 1 == 1 { 1.0 } else { -1.0 };
                for (sum, x) in sum.as_mut().iter_mut().zip(total.as_ref()) {
                    *sum += sign * x;
                }
            }
            for incoming in &self.incoming {
                self.scatter(simd, incoming, block, scratch, &mut adjoints[incoming.child.table as usize]);
            }
        }
        for (bit, &sum) in above.iter().enumerate() {
            high_moment(self.low + bit, sum);
        }
    }

    /// Adds the probabilities of a block to the adjoint of an incoming table.
    #[inline(always)]
    fn scatter<S: Simd>(
        &self,
        simd: S,
        incoming: &Incoming<'_>,
        block: usize,
        scratch: &Scratch,
        adjoint: &mut [f64],
    ) {
        let start = self.start(incoming, block);
        let up = incoming.child.up() * R::ROWS;
        let offsets = &scratch.offsets[incoming.offsets.clone()];
        if incoming.in_vectors {
            for ((plus, minus), &offset) in scratch.plus.iter().zip(&scratch.minus).zip(offsets) {
                let place = start + offset as usize;
                add(simd, &mut adjoint[place..], load(simd, minus));
                add(simd, &mut adjoint[place + up..], load(simd, plus));
            }
        } else {
            let numbers = scratch.plus.iter().zip(&scratch.minus).zip(offsets.chunks(LANES));
            for ((plus, minus), offsets) in numbers {
                for ((plus, minus), &offset) in plus.iter().zip(minus).zip(offsets) {
                    let place = start + offset as usize;
                    adjoint[place] += minus;
                    adjoint[place + up] += plus;
                }
            }
        }
    }
}

#[inline(always)]
fn load<S: Simd>(simd: S, numbers: &Eight) -> f64x8<S> {
    f64x8::load_array_ref(simd, numbers)
}

/// The first eight numbers.
#[inline(always)]
fn vector<S: Simd>(simd: S, numbers: &[f64]) -> f64x8<S> {
    f64x8::from_slice(simd, &numbers[..LANES])
}

/// Adds to the first eight numbers.
#[inline(always)]
fn add<S: Simd>(simd: S, numbers: &mut [f64], terms: f64x8<S>) {
    let sum = vector(simd, numbers) + terms;
    sum.store_slice(&mut numbers[..LANES]);
}

impl Scratch {
    /// Sizes the buffers for a block and fills in the field by the bias and the low bits.
    fn prepare<R: Rows>(&mut self, low: usize, bias: R, weight: impl Fn(usize) -> R) {
        let vectors = (R::ROWS << low).div_ceil(LANES);
        for buffer in [&mut self.plus, &mut self.minus, &mut self.low_field] {
            buffer.clear();
            buffer.resize(vectors, [0.0; LANES]);
        }
        self.offsets.clear();
        let field = self.low_field.as_flattened_mut();
        field[..R::ROWS].copy_from_slice(bias.as_ref());
        for bit in 0..low {
            let length = R::ROWS << bit;
            let (down, up) = field[..2 * length].split_at_mut(length);
            let weight = weight(bit);
            for (down, up) in down.chunks_exact_mut(R::ROWS).zip(up.chunks_exact_mut(R::ROWS)) {
                for (row, w) in weight.as_ref().iter().enumerate() {
                    up[row] = down[row] + w;
                    down[row] -= w;
                }
            }
        }
    }

    /// The moments of the unit with the units of the low bits, highest first, and then its mean.
    pub(super) fn fold<R: Rows>(&mut self, bits: usize, mut moment: impl FnMut(Option<usize>, R)) {
        let excess = self.excess.as_flattened_mut();
        let low = bits.min((BLOCK / R::ROWS).ilog2() as usize);
        for bit in (0..low).rev() {
            let length = R::ROWS << bit;
            let (down, up) = excess[..2 * length].split_at_mut(length);
            let mut sum = R::all(0.0);
            for (down, up) in down.chunks_exact_mut(R::ROWS).zip(up.chunks_exact(R::ROWS)) {
                for (row, sum) in sum.as_mut().iter_mut().enumerate() {
                    *sum += up[row] - down[row];
                    down[row] += up[row];
                }
            }
            moment(Some(bit), sum);
        }
        let mut mean = R::all(0.0);
        mean.as_mut().copy_from_slice(&excess[..R::ROWS]);
        moment(None, mean);
    }
}
