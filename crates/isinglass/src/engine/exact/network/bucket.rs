//! Elimination with tables of logarithms: a unit is summed out of all factors with it.
//!
//! With `d(S)` the field on the unit in a state S of its neighbours and `t_c(s, S)` the tables over
//! it, the result is `ln Σ_s exp(s d(S) + Σ_c t_c(s, S))`. Backwards, the probabilities of S are
//! split between the two values of the unit, and summed onto the incoming tables.
//!
//! States are numbered by bits. Blocks of states that differ in their low bits fit the innermost
//! cache and are processed in vectors. Several rows are side by side, like lowest bits. Large buckets
//! are cut into tasks.

use fearless_simd::{Simd, f64x8, prelude::*};
use rayon::prelude::*;

use super::cut::{Cut, Share};
use super::plan::{Bucket, Child, NONE, Plan};
use super::star::{Eight, Rows, Rule};
use crate::cancel;
use crate::numeric::lanes::{LANES, exp_nonpositive};

/// Numbers in a block.
const BLOCK: usize = 512;

/// Blocks of a large table between two checks for cancellation; some ten microseconds.
const BLOCKS_BETWEEN: usize = 64;

/// What holds for all blocks of a bucket, and buffers for one block.
#[derive(Default)]
pub(super) struct Scratch {
    block: Buffers,
    shared: Shared,
}

/// What holds for all blocks of a bucket.
#[derive(Default)]
struct Shared {
    /// The field on the unit by the bias and the low bits, in whole vectors.
    low_field: Vec<Eight>,
    /// The place of each vector (or state) of a block in each incoming table.
    offsets: Vec<u32>,
}

/// Buffers for one block at a time, in whole vectors.
#[derive(Default)]
struct Buffers {
    plus: Vec<Eight>,
    minus: Vec<Eight>,
    /// P(+) − P(−) of the unit, summed over blocks.
    excess: Vec<Eight>,
}

impl Buffers {
    fn resize(&mut self, vectors: usize) {
        for buffer in [&mut self.plus, &mut self.minus] {
            buffer.clear();
            buffer.resize(vectors, [0.0; LANES]);
        }
    }
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
            let start = scratch.shared.offsets.len();
            let offset = |state: usize| (child.index(state as u64) * R::ROWS) as u32;
            scratch.shared.offsets.extend((0..1 << low).step_by(step).map(offset));
            let offsets = start..scratch.shared.offsets.len();
            incoming.push(Incoming { table: &tables[child.table as usize], child, in_vectors, offsets });
        }
        let high = (low..bits).map(|bit| (bit - low, weight(bit))).collect();
        Self { bits, low, incoming, high, base }
    }

    /// Computes the logarithms of the weights of a block, for both values of the unit.
    #[inline(always)]
    fn fill<S: Simd>(&self, simd: S, block: usize, shared: &Shared, buffers: &mut Buffers) {
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
        let numbers = buffers.plus.iter_mut().zip(&mut buffers.minus).zip(&shared.low_field);
        for ((plus, minus), low) in numbers {
            let d = load(simd, low) + field;
            (base + d).store_array(plus);
            (base - d).store_array(minus);
        }
        for incoming in &self.incoming {
            let start = self.start(incoming, block);
            let up = incoming.child.up() * R::ROWS;
            let offsets = &shared.offsets[incoming.offsets.clone()];
            if incoming.in_vectors {
                let numbers = buffers.plus.iter_mut().zip(&mut buffers.minus).zip(offsets);
                for ((plus, minus), &offset) in numbers {
                    let place = start + offset as usize;
                    add(simd, minus, vector(simd, &incoming.table[place..]));
                    add(simd, plus, vector(simd, &incoming.table[place + up..]));
                }
            } else {
                let numbers = buffers.plus.iter_mut().zip(&mut buffers.minus).zip(offsets.chunks(LANES));
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

    /// The numbers of a block.
    fn length(&self) -> usize {
        (R::ROWS << self.low).max(LANES)
    }

    fn cut(&self) -> Cut {
        Cut::new((self.bits, self.low, R::ROWS), &self.incoming.iter().map(|incoming| &incoming.child))
    }

    /// Sums over the unit (or maximises), into a table over the scope or the start of one vector.
    #[inline(always)]
    pub(super) fn forward<S: Simd, J: Rule>(
        &self,
        simd: S,
        spread: Spread,
        scratch: &mut Scratch,
        out: &mut [f64],
    ) {
        self.of_states::<S, Joined<J>>(simd, spread, scratch, out);
    }

    /// The probability that the unit is up in each state of the scope.
    #[inline(always)]
    pub(super) fn ups<S: Simd>(&self, simd: S, spread: Spread, scratch: &mut Scratch, out: &mut [f64]) {
        self.of_states::<S, Up>(simd, spread, scratch, out);
    }

    /// A function of both logarithms in each state.
    #[inline(always)]
    fn of_states<S: Simd, O: OfBoth>(&self, simd: S, spread: Spread, scratch: &mut Scratch, out: &mut [f64]) {
        let parts = if spread == Spread::OnThreads { self.cut().tasks() } else { 1 };
        if parts == 1 {
            return self.of_blocks::<S, O>(simd, 0, &scratch.shared, &mut scratch.block, out);
        }
        let size = out.len() / parts;
        out.par_chunks_mut(size).enumerate().for_each(|(part, out)| {
            let mut buffers = Buffers::default();
            buffers.resize(self.length() / LANES);
            let first = part * size / self.length();
            simd.vectorize(
                #[inline(always)]
                || self.of_blocks::<S, O>(simd, first, &scratch.shared, &mut buffers, out),
            );
        });
    }

    /// Successive blocks of the result.
    #[inline(always)]
    fn of_blocks<S: Simd, O: OfBoth>(
        &self,
        simd: S,
        first: usize,
        shared: &Shared,
        buffers: &mut Buffers,
        out: &mut [f64],
    ) {
        for (block, out) in (first..).zip(out.chunks_exact_mut(self.length())) {
            self.fill(simd, block, shared, buffers);
            let numbers = buffers.plus.iter().zip(&buffers.minus).zip(out.as_chunks_mut().0);
            for ((plus, minus), out) in numbers {
                O::of(simd, load(simd, plus), load(simd, minus)).store_array(out);
            }
        }
    }

    /// From P(S) to the moments of the unit with the scope, and to the adjoints of the incoming
    /// tables, which are given in their order with arbitrary numbers.
    ///
    /// The moments with units above the block are reported by bit; those of the low bits stay in
    /// the scratch for [`Scratch::fold`].
    #[inline(always)]
    pub(super) fn backward<S: Simd>(
        &self,
        simd: S,
        spread: Spread,
        scratch: &mut Scratch,
        probabilities: &[f64],
        adjoints: &mut [Vec<f64>],
        mut high_moment: impl FnMut(usize, R),
    ) {
        let cut = self.cut();
        let Scratch { block: buffers, shared } = scratch;
        let mut dealt: Vec<Vec<Share<'_>>> = (0..cut.tasks()).map(|_| Vec::new()).collect();
        for (incoming, adjoint) in self.incoming.iter().zip(adjoints.iter_mut()) {
            for (shares, share) in dealt.iter_mut().zip(cut.deal(&incoming.child, adjoint)) {
                shares.push(share);
            }
        }
        let mut above = vec![R::all(0.0); self.bits - self.low];
        if let [shares] = &mut dealt[..] {
            self.backward_of(simd, cut.blocks(0), shared, buffers, probabilities, shares, &mut above);
        } else {
            let task = |(task, shares): (usize, Vec<Share<'_>>)| {
                let (mut shares, mut above) = (shares, vec![R::all(0.0); self.bits - self.low]);
                let mut buffers = Buffers::default();
                buffers.resize(self.length() / LANES);
                simd.vectorize(
                    #[inline(always)]
                    || {
                        let (blocks, buffers) = (cut.blocks(task), &mut buffers);
                        self.backward_of(
                            simd,
                            blocks,
                            shared,
                            buffers,
                            probabilities,
                            &mut shares,
                            &mut above,
                        );
                    },
                );
                let copies: Vec<Option<Vec<f64>>> = shares.into_iter().map(Share::into_copy).collect();
                (buffers.excess, above, copies)
            };
            let tasks: Vec<_> = dealt.into_iter().enumerate().collect();
            let done: Vec<_> = match spread {
                Spread::OnThreads => tasks.into_par_iter().map(task).collect(),
                Spread::Alone => tasks.into_iter().map(task).collect(),
            };
            buffers.excess.clear();
            buffers.excess.resize(self.length() / LANES, [0.0; LANES]);
            for (incoming, adjoint) in self.incoming.iter().zip(adjoints.iter_mut()) {
                if cut.is_copied(&incoming.child) {
                    adjoint.fill(0.0);
                }
            }
            for (excess, part, copies) in done {
                for (sum, part) in above.iter_mut().zip(part) {
                    sum.add(part);
                }
                sum_up(buffers.excess.as_flattened_mut(), excess.as_flattened());
                for (adjoint, copy) in adjoints.iter_mut().zip(copies) {
                    if let Some(copy) = copy {
                        sum_up(adjoint, &copy);
                    }
                }
            }
        }
        for (bit, &sum) in above.iter().enumerate() {
            high_moment(self.low + bit, sum);
        }
    }

    /// [`backward`](Self::backward) of some blocks.
    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "the parts of one task, borrowed apart")]
    fn backward_of<S: Simd>(
        &self,
        simd: S,
        blocks: impl Iterator<Item = usize>,
        shared: &Shared,
        buffers: &mut Buffers,
        probabilities: &[f64],
        adjoints: &mut [Share<'_>],
        above: &mut [R],
    ) {
        let length = self.length();
        let one = f64x8::splat(simd, 1.0);
        buffers.excess.clear();
        buffers.excess.resize(length / LANES, [0.0; LANES]);
        adjoints.iter_mut().for_each(Share::clear);
        for block in blocks {
            let p = &probabilities[block * length..][..length];
            self.fill(simd, block, shared, buffers);
            let mut total = f64x8::splat(simd, 0.0);
            let numbers = buffers.plus.iter_mut().zip(&mut buffers.minus);
            for (((plus, minus), p), excess) in numbers.zip(p.as_chunks().0).zip(&mut buffers.excess) {
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
            for (incoming, adjoint) in self.incoming.iter().zip(adjoints.iter_mut()) {
                let start = self.start(incoming, block);
                let up = incoming.child.up() * R::ROWS;
                let offsets = &shared.offsets[incoming.offsets.clone()];
                scatter(simd, incoming.in_vectors, offsets, &buffers.minus, adjoint.from(start));
                scatter(simd, incoming.in_vectors, offsets, &buffers.plus, adjoint.from(start + up));
            }
        }
    }
}

/// What a state of the scope contributes to a result, from the logarithms of its weights with the
/// unit up and down.
trait OfBoth {
    fn of<S: Simd>(simd: S, plus: f64x8<S>, minus: f64x8<S>) -> f64x8<S>;
}

/// The logarithm of both together.
struct Joined<J>(std::marker::PhantomData<J>);

impl<J: Rule> OfBoth for Joined<J> {
    #[inline(always)]
    fn of<S: Simd>(simd: S, plus: f64x8<S>, minus: f64x8<S>) -> f64x8<S> {
        let half = f64x8::splat(simd, 0.5);
        (plus + minus).mul_add(half, J::join(simd, (plus - minus) * half))
    }
}

/// The probability that the unit is up.
struct Up;

impl OfBoth for Up {
    #[inline(always)]
    fn of<S: Simd>(simd: S, plus: f64x8<S>, minus: f64x8<S>) -> f64x8<S> {
        let difference = plus - minus;
        let e = exp_nonpositive(simd, -difference.abs());
        let large = f64x8::splat(simd, 1.0) / (f64x8::splat(simd, 1.0) + e);
        difference.simd_ge(f64x8::splat(simd, 0.0)).select(large, e * large)
    }
}

/// Whether large buckets are done by several threads. Numbers are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spread {
    /// One thread, since others are busy with other rows.
    Alone,
    /// All threads.
    OnThreads,
}

/// Adds the probabilities of a block to the adjoint of an incoming table.
#[inline(always)]
fn scatter<S: Simd>(simd: S, in_vectors: bool, offsets: &[u32], block: &[Eight], adjoint: &mut [f64]) {
    if in_vectors {
        for (p, &offset) in block.iter().zip(offsets) {
            add(simd, &mut adjoint[offset as usize..], load(simd, p));
        }
    } else {
        for (p, offsets) in block.iter().zip(offsets.chunks(LANES)) {
            for (p, &offset) in p.iter().zip(offsets) {
                adjoint[offset as usize] += p;
            }
        }
    }
}

fn sum_up(sums: &mut [f64], terms: &[f64]) {
    for (sum, x) in sums.iter_mut().zip(terms) {
        *sum += x;
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
        self.block.resize(vectors);
        let Shared { low_field, offsets } = &mut self.shared;
        low_field.clear();
        low_field.resize(vectors, [0.0; LANES]);
        offsets.clear();
        let field = low_field.as_flattened_mut();
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
        let excess = self.block.excess.as_flattened_mut();
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
