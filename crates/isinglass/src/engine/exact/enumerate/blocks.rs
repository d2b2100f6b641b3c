//! The walk through all states, block by block, eight lanes side by side.
//!
//! The free units of a problem are split into *block* units and *high* units. For each state of the
//! high units, the energies of all states of the block units make a table that stays in the
//! innermost cache; a [`Visitor`] sees one such table after another. A lane is a row of evidence
//! with the same free units (a batch), or a state of three further units (a single row).

use std::ops::Range;

use fearless_simd::{Level, Simd, dispatch, f64x8, prelude::*};

use crate::cancel;
use crate::numeric::lanes::Lane;

/// Most units of a block: 2⁸ states × 8 lanes × 8 bytes are 16 KiB.
const BLOCK_UNITS: usize = 8;

/// Couplings (divided by T) among the free units that all lanes share.
pub(super) struct Couplings {
    units: usize,
    /// Dense and symmetric, with zeros on the diagonal.
    matrix: Vec<f64>,
    /// Σ v_ab s_a s_b over pairs of block units, for each of their states; unit k is bit k.
    within_block: Vec<f64>,
}

impl Couplings {
    /// From a dense symmetric matrix, row after row.
    pub(super) fn new(units: usize, matrix: Vec<f64>) -> Self {
        debug_assert_eq!(matrix.len(), units * units);
        let block = units.min(BLOCK_UNITS);
        let mut within_block = vec![0.0];
        let mut fields = Vec::new();
        for b in 0..block {
            // The field of unit b in each state of the units before it, by doubling.
            fields.clear();
            fields.push(0.0);
            for a in 0..b {
                let v = matrix[b * units + a];
                let half = fields.len();
                fields.extend_from_within(..);
                fields[..half].iter_mut().for_each(|x| *x -= v);
                fields[half..].iter_mut().for_each(|x| *x += v);
            }
            let half = within_block.len();
            within_block.extend_from_within(..);
            for (k, field) in fields.iter().enumerate() {
                within_block[k] -= field;
                within_block[half + k] += field;
            }
        }
        Self { units, matrix, within_block }
    }

    pub(super) fn units(&self) -> usize {
        self.units
    }

    pub(super) fn block_units(&self) -> usize {
        self.units.min(BLOCK_UNITS)
    }

    /// Σ |v_ab| over all pairs.
    pub(super) fn scale(&self) -> f64 {
        self.matrix.iter().map(|v| v.abs()).sum::<f64>() / 2.0
    }

    /// The number of states of the high units: the number of blocks.
    pub(super) fn blocks(&self) -> usize {
        1 << (self.units - self.block_units())
    }

    fn coupling(&self, a: usize, b: usize) -> f64 {
        self.matrix[a * self.units + b]
    }
}

/// What differs between lanes: fields (divided by T) on the shared units, and a constant.
pub(super) struct LaneFields {
    fields: Vec<Lane>,
    in_use: usize,
    constant: Lane,
}

/// The constant of unused lanes: so low that their weight is zero beside any other.
const NOWHERE: f64 = -1e300;

impl LaneFields {
    /// With a constant for each of the lanes in use.
    pub(super) fn new(fields: Vec<Lane>, in_use: usize, constant: impl Fn(usize) -> f64) -> Self {
        let constant = |lane| if lane < in_use { constant(lane) } else { NOWHERE };
        Self { fields, in_use, constant: Lane(std::array::from_fn(constant)) }
    }

    /// The largest |constant| + Σ |h_a| of any lane in use.
    pub(super) fn scale(&self) -> f64 {
        let of_lane = |lane: usize| {
            let fields: f64 = self.fields.iter().map(|field| field.0[lane].abs()).sum();
            fields + self.constant.0[lane].abs()
        };
        (0..self.in_use).map(of_lane).fold(0.0, f64::max)
    }
}

/// A table of one block: −E/T of each state in each lane, and `top`, its largest value in each
/// lane.
pub(super) struct Block<'a> {
    /// The state of the high units: unit `block_units + k` is bit k.
    pub(super) high: usize,
    /// Scratch: a visitor may overwrite it.
    pub(super) energies: &'a mut [Lane],
    pub(super) top: Lane,
}

/// Sees every block of a range in rising order.
pub(super) trait Visitor {
    fn visit<S: Simd>(&mut self, simd: S, block: Block<'_>);
}

/// −1 or +1 by a bit of a state.
#[inline(always)]
pub(super) fn sign(state: usize, bit: usize) -> f64 {
    if state >> bit & 1 == 1 { 1.0 } else { -1.0 }
}

/// Walks through the blocks of a range.
pub(super) fn walk<V: Visitor>(
    couplings: &Couplings,
    lanes: &LaneFields,
    range: Range<usize>,
    visitor: &mut V,
) {
    let level = Level::new();
    dispatch!(level, simd => walk_lanes(simd, couplings, lanes, range, visitor));
}

#[inline(always)]
fn walk_lanes<S: Simd, V: Visitor>(
    simd: S,
    couplings: &Couplings,
    lanes: &LaneFields,
    range: Range<usize>,
    visitor: &mut V,
) {
    let block = couplings.block_units();
    let low = block / 2;
    let mut energies = vec![Lane::ZERO; 1 << block];
    let mut low_table = vec![Lane::ZERO; 1 << low];
    let mut high_table = vec![Lane::ZERO; 1 << (block - low)];
    let mut fields = vec![Lane::ZERO; block];
    for high in range {
        cancel::point();
        let constant = fields_given_high(simd, couplings, lanes, high, &mut fields);
        linear_table(simd, &fields[..low], f64x8::splat(simd, 0.0), &mut low_table);
        linear_table(simd, &fields[low..], constant, &mut high_table);
        let mut top = f64x8::splat(simd, f64::NEG_INFINITY);
        let rows = energies.chunks_exact_mut(1 << low);
        let pairs = couplings.within_block.chunks_exact(1 << low);
        for ((row, pairs), start) in rows.zip(pairs).zip(&high_table) {
            let start = start.load(simd);
            for ((energy, pair), linear) in row.iter_mut().zip(pairs).zip(&low_table) {
                let e = start + linear.load(simd) + f64x8::splat(simd, *pair);
                top = top.max(e);
                energy.store(e);
            }
        }
        visitor.visit(simd, Block { high, energies: &mut energies, top: Lane(top.to_array()) });
    }
}

/// The fields on the block units, and the constant, with the high units in a state.
#[inline(always)]
fn fields_given_high<S: Simd>(
    simd: S,
    couplings: &Couplings,
    lanes: &LaneFields,
    high: usize,
    fields: &mut [Lane],
) -> f64x8<S> {
    let block = couplings.block_units();
    let high_units = couplings.units - block;
    for (a, field) in fields.iter_mut().enumerate() {
        let shift: f64 = (0..high_units).map(|k| couplings.coupling(a, block + k) * sign(high, k)).sum();
        field.store(lanes.fields[a].load(simd) + f64x8::splat(simd, shift));
    }
    let mut constant = lanes.constant.load(simd);
    for k in 0..high_units {
        let above: f64 = (0..k).map(|j| couplings.coupling(block + k, block + j) * sign(high, j)).sum();
        let field = lanes.fields[block + k].load(simd) + f64x8::splat(simd, above);
        constant += field * f64x8::splat(simd, sign(high, k));
    }
    constant
}

/// `constant + Σ h_k s_k` for each state of the units, by doubling; unit k is bit k.
#[inline(always)]
fn linear_table<S: Simd>(simd: S, fields: &[Lane], constant: f64x8<S>, table: &mut [Lane]) {
    table[0].store(constant);
    for (k, field) in fields.iter().enumerate() {
        let field = field.load(simd);
        let (down, up) = table.split_at_mut(1 << k);
        for (down, up) in down.iter_mut().zip(up) {
            let here = down.load(simd);
            up.store(here + field);
            down.store(here - field);
        }
    }
}
