//! Updates of one unit: the mean that solves its own equation, given the others, in lanes of rows.

use fearless_simd::{Simd, f64x8, prelude::*};

use super::Theory;
use crate::numeric::lanes::{LANES, Lane, tanh, tanh_and_ln_two_cosh, tanh_of_two};

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

/// The most Newton steps for the equation of one unit; all but the first gain digits.
const NEWTON_STEPS: usize = 40;

/// A Newton step below this share of its position is rounding.
const NEWTON_END: f64 = 4e-16;

#[inline(always)]
pub(super) fn tanh_in_place<S: Simd>(simd: S, numbers: &mut [f64]) {
    let mut pairs = numbers.chunks_exact_mut(2 * LANES);
    for pair in &mut pairs {
        let (one, two) = pair.split_at_mut(LANES);
        let (x, y) = tanh_of_two(simd, f64x8::from_slice(simd, one), f64x8::from_slice(simd, two));
        x.store_slice(one);
        y.store_slice(two);
    }
    for rest in pairs.into_remainder().chunks_mut(LANES) {
        let mut lane = Lane::ZERO;
        lane.0[..rest.len()].copy_from_slice(rest);
        lane.store(tanh(simd, lane.load(simd)));
        rest.copy_from_slice(&lane.0[..rest.len()]);
    }
}

/// Solves TAP's equation of one unit (Kappen & Rodríguez 1997, eq. 30): `m = tanh(h − m D)`, with
/// `D = Σ_j w_ij² (1 − m_j²)` fixed. Like `tanh h` in mean field (eq. 10) this maximises −F in one
/// coordinate, in which −F is concave: a sweep never lowers it.
///
/// `x = |h − m D|` is the root of `f(x) = x + D tanh x − |h|`, increasing and, on x ≥ 0, concave: a
/// Newton step lands left of it, and further steps increase to it.
/// `x ≥ max(|h| − D, |h| / (1 + D))` since tanh x is at most 1 and at most x.
#[inline(always)]
pub(super) fn tap<S: Simd>(simd: S, h: f64x8<S>, d: f64x8<S>, old: f64x8<S>) -> f64x8<S> {
    let one = f64x8::splat(simd, 1.0);
    let size = h.abs();
    let least = (size - d).max(size / (one + d));
    // Close to the fixed point the old mean is nearly right.
    let mut x = (old.abs() * d).mul_add(f64x8::splat(simd, -1.0), size).max(least);
    for _ in 0..NEWTON_STEPS {
        let t = tanh(simd, x);
        let slope = (one - t * t).mul_add(d, one);
        let step = (size - x - d * t) / slope;
        let next = (x + step).max(least);
        let moved = (next - x).abs() - next * f64x8::splat(simd, NEWTON_END);
        x = next;
        let mut open = [0.0; LANES];
        moved.store_array(&mut open);
        if open.iter().all(|&open| open <= 0.0) {
            break;
        }
    }
    tanh(simd, x).copysign(h)
}

/// Returns the violation of the unit's equation and its term of −F:
/// `ln 2cosh x − x m + ½ m (h + θ)`, for TAP also `¼ (1 − m²) D` (eqs. 18 and 29, half of each
/// pair's term).
///
/// `ln 2cosh x − x m` is at least the entropy of m and equal at the fixed point; its error is of
/// second order in the violation. `strict` uses the entropy itself: mean field's −F is a bound for
/// any m.
#[inline(always)]
pub(super) fn finish<S: Simd>(
    simd: S,
    theory: Theory,
    (h, d): (f64x8<S>, f64x8<S>),
    field: f64x8<S>,
    m: f64x8<S>,
    strict: bool,
) -> (f64x8<S>, f64x8<S>) {
    let half = f64x8::splat(simd, 0.5);
    let x = match theory {
        Theory::MeanField => h,
        Theory::Tap => h - m * d,
    };
    let (mean, ln_two_cosh) = tanh_and_ln_two_cosh(simd, x);
    let violation = (mean - m).abs();
    let entropy = if strict {
        let mut means = [0.0; LANES];
        m.store_array(&mut means);
        f64x8::load_array_ref(simd, &means.map(entropy))
    } else {
        ln_two_cosh - x * m
    };
    let mut share = entropy + half * m * (h + field);
    if theory == Theory::Tap {
        let variance = f64x8::splat(simd, 1.0) - m * m;
        share += f64x8::splat(simd, 0.25) * variance * d;
    }
    (violation, share)
}

fn entropy(m: f64) -> f64 {
    let term = |p: f64| if p > 0.0 { -p * p.ln() } else { 0.0 };
    term(0.5 * (1.0 + m)) + term(0.5 * (1.0 - m))
}
