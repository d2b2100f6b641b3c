//! Lanes of a panel's rows that are processed together, which hides the latency of additions.

use fearless_simd::{Simd, f64x8, prelude::*};

use crate::numeric::lanes::{LANES, tanh, tanh_of_two};

/// Lanes per group.
pub(super) const TOGETHER: usize = 4;

/// The position of `K` lanes of rows in a panel; or of its only row, alone in a lane.
#[derive(Clone, Copy)]
pub(super) struct LaneGroup<const K: usize> {
    start: usize,
    single: bool,
}

impl<const K: usize> LaneGroup<K> {
    /// *Arguments*: the first row, and the width of the panel.
    #[inline(always)]
    pub(super) fn new(start: usize, width: usize) -> Self {
        Self { start, single: width == 1 }
    }

    /// Loads the numbers of these rows.
    #[inline(always)]
    pub(super) fn load<S: Simd>(self, simd: S, from: &[f64]) -> [f64x8<S>; K] {
        let mut lanes = [f64x8::splat(simd, 0.0); K];
        if self.single {
            lanes[0] = f64x8::splat(simd, from[0]);
        } else {
            let from = &from[self.start..self.start + K * LANES];
            for (lane, from) in lanes.iter_mut().zip(from.chunks_exact(LANES)) {
                *lane = f64x8::from_slice(simd, from);
            }
        }
        lanes
    }

    /// Stores the numbers of these rows.
    #[inline(always)]
    pub(super) fn store<S: Simd>(self, lanes: &[f64x8<S>; K], to: &mut [f64]) {
        if self.single {
            let mut numbers = [0.0; LANES];
            lanes[0].store_array(&mut numbers);
            to[0] = numbers[0];
        } else {
            store_all(lanes, &mut to[self.start..self.start + K * LANES]);
        }
    }
}

impl LaneGroup<1> {
    /// Iterates over the lanes of a panel.
    #[inline(always)]
    pub(super) fn each(width: usize) -> impl Iterator<Item = Self> {
        (0..width).step_by(LANES).map(move |start| Self::new(start, width))
    }
}

/// Stores lanes contiguously.
#[inline(always)]
pub(super) fn store_all<S: Simd, const K: usize>(lanes: &[f64x8<S>; K], to: &mut [f64]) {
    for (lane, to) in lanes.iter().zip(to.chunks_exact_mut(LANES)) {
        lane.store_slice(to);
    }
}

/// `sums ← c (sums + x + Σ_k f(v_k) y_k)`, where `y` holds the lanes for each k.
#[inline(always)]
pub(super) fn add_products<S: Simd, const K: usize>(
    simd: S,
    sums: &mut [f64x8<S>; K],
    x: &[f64x8<S>; K],
    (couplings, f): (&[f64], impl Fn(f64) -> f64),
    y: &[f64],
    scale: f64,
) {
    for (sum, x) in sums.iter_mut().zip(x) {
        *sum += *x;
    }
    for (&v, row) in couplings.iter().zip(y.chunks_exact(K * LANES)) {
        let v = f64x8::splat(simd, f(v));
        for (sum, y) in sums.iter_mut().zip(row.chunks_exact(LANES)) {
            *sum = v.mul_add(f64x8::from_slice(simd, y), *sum);
        }
    }
    for sum in sums {
        *sum *= f64x8::splat(simd, scale);
    }
}

/// `tanh` of all lanes, two at a time.
#[inline(always)]
pub(super) fn tanh_of_lanes<S: Simd, const K: usize>(simd: S, lanes: &mut [f64x8<S>; K]) {
    let mut pairs = lanes.chunks_exact_mut(2);
    for pair in &mut pairs {
        (pair[0], pair[1]) = tanh_of_two(simd, pair[0], pair[1]);
    }
    for lane in pairs.into_remainder() {
        *lane = tanh(simd, *lane);
    }
}
