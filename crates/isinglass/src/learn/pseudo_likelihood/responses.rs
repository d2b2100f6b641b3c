//! Log-probabilities of cells from their fields, and the residuals of the gradient, in lanes of
//! rows.

use fearless_simd::{Simd, f64x8, prelude::*};

use crate::numeric::lanes::{LANES, Lane, ln, tanh_as_quotient};

/// The number of factors between ½ and 3 whose product cannot overflow or underflow.
const FACTORS: usize = 512;

/// Reads lanes of numbers that are stored unit after unit, for each its rows.
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

/// [`respond`] for one unit, with residuals.
#[inline(always)]
pub(super) fn respond_alone<S: Simd>(simd: S, shares: &[f64], cells: &[f64], fields: &mut [f64]) -> f64 {
    let half = f64x8::splat(simd, 0.5);
    let mut sum = f64x8::splat(simd, 0.0);
    for at in (0..fields.len()).step_by(LANES) {
        let (share, x, s) = (lane(simd, shares, at), lane(simd, fields, at), lane(simd, cells, at));
        let (a, b) = tanh_as_quotient(simd, x);
        let log = s.mul_add(x, -x.abs()) - ln(simd, b / (half * (a + b)));
        sum = share.mul_add(log, sum);
        (share * (s - (a / b).copysign(x))).store_slice(&mut fields[at..at + LANES]);
    }
    total(sum)
}

/// `Σ over rows of share Σ over units of ln P(s | x)`, `ln P = s x − ln 2cosh x`, for fields x
/// divided by T. With `residuals`, each field is replaced by `share (s − tanh x)`, and `share (1 −
/// tanh²)` is added to `bends`, lanes for each unit, unless they are empty.
///
/// `cells` holds the states of the units whose fields are given. With `tanh |x| = a/b` and `e =
/// e^(−2|x|)`, `ln 2cosh x = |x| + ln(1 + e)` and `1 + e = b / ½(a + b)`. So many units of a row
/// share one logarithm of a quotient of products, and two units share the division of their `tanh`.
#[inline(always)]
pub(super) fn respond<S: Simd>(
    simd: S,
    shares: &[f64],
    cells: &[f64],
    fields: &mut [f64],
    residuals: bool,
    bends: &mut [f64],
) -> f64 {
    let rows = shares.len();
    let (one, zero) = (f64x8::splat(simd, 1.0), f64x8::splat(simd, 0.0));
    let half = f64x8::splat(simd, 0.5);
    let mut sum = zero;
    for row in (0..rows).step_by(LANES) {
        let share = lane(simd, shares, row);
        let (mut log, mut above, mut below, mut count) = (zero, one, one, 0);
        let mut at = row;
        while at < fields.len() {
            // The last of an odd number of units is paired with itself, and counts once.
            let is_pair = at + rows < fields.len();
            let next = if is_pair { at + rows } else { at };
            let (x, s) = (lane(simd, fields, at), lane(simd, cells, at));
            let (y, t) = (lane(simd, fields, next), lane(simd, cells, next));
            let (a, b) = tanh_as_quotient(simd, x);
            let (c, d) = tanh_as_quotient(simd, y);
            log += s.mul_add(x, -x.abs());
            let both = b * d;
            if is_pair {
                log += t.mul_add(y, -y.abs());
                above *= both;
                below *= half * (a + b) * (half * (c + d));
            } else {
                above *= b;
                below *= half * (a + b);
            }
            count += 2;
            if count == FACTORS {
                log -= ln(simd, above / below);
                (above, below, count) = (one, one, 0);
            }
            if residuals {
                let inverse = one / both;
                let (tanh_x, tanh_y) = (a * d * inverse, b * c * inverse);
                let first = share * (s - tanh_x.copysign(x));
                let second = share * (t - tanh_y.copysign(y));
                if !bends.is_empty() {
                    let place = at / rows * LANES;
                    let bend = lane(simd, bends, place) + share * (one - tanh_x * tanh_x);
                    bend.store_slice(&mut bends[place..place + LANES]);
                    if is_pair {
                        let bend = lane(simd, bends, place + LANES) + share * (one - tanh_y * tanh_y);
                        bend.store_slice(&mut bends[place + LANES..place + 2 * LANES]);
                    }
                }
                first.store_slice(&mut fields[at..at + LANES]);
                second.store_slice(&mut fields[next..next + LANES]);
            }
            at = next + rows;
        }
        sum = share.mul_add(log - ln(simd, above / below), sum);
    }
    total(sum)
}
