//! From fields to the log-probabilities of cells, and to what their gradient is made of: lanes of rows.

use fearless_simd::{Simd, f64x8, prelude::*};

use crate::numeric::lanes::{LANES, Lane, exp_nonpositive, ln};

/// Factors between 1 and 2 whose product is in no danger of overflow.
const FACTORS: usize = 512;

/// Numbers unit after unit, for each its rows, read by lanes.
#[inline(always)]
pub(super) fn lane<S: Simd>(simd: S, from: &[f64], at: usize) -> f64x8<S> {
    f64x8::from_slice(simd, &from[at..at + LANES])
}

/// The sum of the lanes, in their order.
#[inline(always)]
pub(super) fn total<S: Simd>(lanes: f64x8<S>) -> f64 {
    let mut out = Lane::ZERO;
    out.store(lanes);
    out.0.iter().sum()
}

/// `Σ x y` over rows.
#[inline(always)]
pub(super) fn product<S: Simd>(simd: S, x: &[f64], y: &[f64]) -> f64 {
    let mut sum = f64x8::splat(simd, 0.0);
    for at in (0..x.len()).step_by(LANES) {
        sum = lane(simd, x, at).mul_add(lane(simd, y, at), sum);
    }
    total(sum)
}

/// `Σ over rows of share Σ over units of ln P(s | x)`, `ln P = s x − ln 2cosh x`, for fields x that are divided by T.
/// With `residuals`, each field is replaced by `share (s − tanh x)`.
///
/// `cells` holds the states of each of the units whose fields are given. Since `ln 2cosh x = |x| + ln(1 + e)` with `e = e^(−2|x|)`, a row needs the
/// logarithm of a product only, which is taken once for many units.
#[inline(always)]
pub(super) fn respond<S: Simd>(
    simd: S,
    shares: &[f64],
    cells: &[f64],
    fields: &mut [f64],
    residuals: bool,
) -> f64 {
    let rows = shares.len();
    let (one, zero) = (f64x8::splat(simd, 1.0), f64x8::splat(simd, 0.0));
    let minus_two = f64x8::splat(simd, -2.0);
    let mut sum = zero;
    for row in (0..rows).step_by(LANES) {
        let share = lane(simd, shares, row);
        let (mut log, mut factors, mut count) = (zero, one, 0);
        let mut at = row;
        while at < fields.len() {
            let (x, s) = (lane(simd, fields, at), lane(simd, cells, at));
            let size = x.abs();
            let e = exp_nonpositive(simd, size * minus_two);
            let factor = one + e;
            log += s.mul_add(x, -size);
            factors *= factor;
            count += 1;
            if count == FACTORS {
                log -= ln(simd, factors);
                factors = one;
                count = 0;
            }
            if residuals {
                let residual = share * (s - ((one - e) / factor).copysign(x));
                residual.store_slice(&mut fields[at..at + LANES]);
            }
            at += rows;
        }
        sum = share.mul_add(log - ln(simd, factors), sum);
    }
    total(sum)
}
