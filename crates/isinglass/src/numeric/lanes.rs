//! Eight doubles side by side: the lane type of the exact kernels, and elementary functions on it.
//!
//! The public part serves SIMD kernels in other crates. Vectors are those of `fearless_simd`.

use fearless_simd::{Simd, f64x8, prelude::*, u64x8};

/// The number of doubles in a vector: the rows (or states) that one operation serves.
pub const LANES: usize = 8;

/// One number for each lane.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(align(64))]
pub(crate) struct Lane(pub(crate) [f64; LANES]);

impl Lane {
    pub(crate) const ZERO: Self = Self([0.0; LANES]);

    #[inline(always)]
    pub(crate) fn load<S: Simd>(&self, simd: S) -> f64x8<S> {
        f64x8::load_array_ref(simd, &self.0)
    }

    #[inline(always)]
    pub(crate) fn store<S: Simd>(&mut self, value: f64x8<S>) {
        value.store_array(&mut self.0);
    }

    #[inline(always)]
    pub(crate) fn add<S: Simd>(&mut self, simd: S, value: f64x8<S>) {
        self.store(self.load(simd) + value);
    }
}

/// The upper digits of ln 2, and the rest.
const LN_2_HIGH: f64 = 6.931_471_803_691_238e-1;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// Returns `e^x` in each lane for x ≤ 0, with a relative error below 1e-15. Below −700 it returns
/// `e^(−700)` ≈ 1e-304.
///
/// The argument is split as `x = k ln 2 + r` with |r| ≤ ½ ln 2. `e^r` is its Taylor polynomial of
/// degree 12 (remainder below 2e-16), and k is added to the exponent bits.
#[inline(always)]
pub fn exp_nonpositive<S: Simd>(simd: S, x: f64x8<S>) -> f64x8<S> {
    const INVERSE_FACTORIALS: [f64; 13] = {
        let mut terms = [1.0; 13];
        let mut k = 1;
        while k < 13 {
            terms[k] = terms[k - 1] / k as f64;
            k += 1;
        }
        terms
    };
    let (r, doublings) = split(simd, x);
    let mut power = f64x8::splat(simd, INVERSE_FACTORIALS[12]);
    for degree in (0..12).rev() {
        power = power.mul_add(r, f64x8::splat(simd, INVERSE_FACTORIALS[degree]));
    }
    doubled(power, doublings)
}

/// `x = k ln 2 + r` with |r| ≤ ½ ln 2 for −700 ≤ x ≤ 0: r, and a number with k in its low bits.
#[inline(always)]
fn split<S: Simd>(simd: S, x: f64x8<S>) -> (f64x8<S>, f64x8<S>) {
    /// 1.5 · 2⁵²: adding it leaves the nearest integer in the low bits.
    const ROUNDER: f64 = 6_755_399_441_055_744.0;
    let rounder = f64x8::splat(simd, ROUNDER);
    let x = x.max(f64x8::splat(simd, -700.0));
    let shifted = x.mul_add(f64x8::splat(simd, std::f64::consts::LOG2_E), rounder);
    let k = shifted - rounder;
    let r = k.mul_add(f64x8::splat(simd, -LN_2_HIGH), x);
    (k.mul_add(f64x8::splat(simd, -LN_2_LOW), r), shifted)
}

/// `2^k x` for x near 1: k goes into the exponent bits.
#[inline(always)]
fn doubled<S: Simd>(x: f64x8<S>, doublings: f64x8<S>) -> f64x8<S> {
    f64x8::from_bits(x.to_bits() + (doublings.to_bits() << 52u32))
}

/// Returns `ln(1 + e)` in each lane for 0 ≤ e ≤ 1, with an absolute error below 4e-16.
///
/// With `m = 1 + e` it is `½ ln 2 + 2 artanh((m − √2) / (m + √2))`. The argument stays below 0.172
/// in size, so eleven odd terms of the series suffice.
#[inline(always)]
pub fn ln_1p_of_share<S: Simd>(simd: S, e: f64x8<S>) -> f64x8<S> {
    let root = f64x8::splat(simd, std::f64::consts::SQRT_2);
    let m = e + f64x8::splat(simd, 1.0);
    let x = (m - root) / (m + root);
    (x + x).mul_add(artanh_ratio(simd, x), f64x8::splat(simd, 0.5 * std::f64::consts::LN_2))
}

/// `artanh(x) / x` for |x| < 0.172, by eleven terms of the series.
#[inline(always)]
fn artanh_ratio<S: Simd>(simd: S, x: f64x8<S>) -> f64x8<S> {
    const TERMS: usize = 11;
    let square = x * x;
    let mut series = f64x8::splat(simd, 1.0 / (2 * TERMS - 1) as f64);
    for k in (0..TERMS - 1).rev() {
        series = series.mul_add(square, f64x8::splat(simd, 1.0 / (2 * k + 1) as f64));
    }
    series
}

/// `ln x` in each lane for normal x > 0, with an error below 4e-16 of it or, near 1, of x − 1.
///
/// With `x = 2^k m` and m within a factor √2 of 1 it is `k ln 2 + 2 artanh((m − 1) / (m + 1))`.
#[inline(always)]
pub(crate) fn ln<S: Simd>(simd: S, x: f64x8<S>) -> f64x8<S> {
    /// Added so that mantissas above √2 carry over into the exponent.
    const CARRY: u64 = 0x3ff0_0000_0000_0000 - 0x3fe6_a09e_667f_3bcd;
    /// 2⁵²: with an integer in its low bits, it is the sum of both.
    const HOLDER: f64 = 4_503_599_627_370_496.0;
    let bits = x.to_bits();
    let exponent = (bits + u64x8::splat(simd, CARRY)) >> 52u32;
    let k = f64x8::from_bits(exponent | u64x8::splat(simd, HOLDER.to_bits()))
        - f64x8::splat(simd, HOLDER + 1023.0);
    let m = f64x8::from_bits(bits - (exponent << 52u32) + u64x8::splat(simd, 1.0f64.to_bits()));
    let one = f64x8::splat(simd, 1.0);
    let ratio = (m - one) / (m + one);
    let artanh_twice = (ratio + ratio) * artanh_ratio(simd, ratio);
    let small = k.mul_add(f64x8::splat(simd, LN_2_LOW), artanh_twice);
    k.mul_add(f64x8::splat(simd, LN_2_HIGH), small)
}

/// `ln(2 cosh x) = |x| + ln(1 + e^(−2|x|))` in each lane, for any finite x.
#[inline(always)]
pub(crate) fn ln_two_cosh<S: Simd>(simd: S, x: f64x8<S>) -> f64x8<S> {
    let size = x.abs();
    size + ln_1p_of_share(simd, exp_nonpositive(simd, size * f64x8::splat(simd, -2.0)))
}

/// `tanh x` in each lane, with an absolute error below 4e-16.
#[inline(always)]
pub(crate) fn tanh<S: Simd>(simd: S, x: f64x8<S>) -> f64x8<S> {
    let one = f64x8::splat(simd, 1.0);
    let e = exp_nonpositive(simd, x.abs() * f64x8::splat(simd, -2.0));
    ((one - e) / (one + e)).copysign(x)
}

/// Returns `tanh x` and `ln(2 cosh x)` in each lane, from one exponential.
#[inline(always)]
pub fn tanh_and_ln_two_cosh<S: Simd>(simd: S, x: f64x8<S>) -> (f64x8<S>, f64x8<S>) {
    let one = f64x8::splat(simd, 1.0);
    let size = x.abs();
    let e = exp_nonpositive(simd, size * f64x8::splat(simd, -2.0));
    (((one - e) / (one + e)).copysign(x), size + ln_1p_of_share(simd, e))
}

/// `tanh` of two vectors with one division, `a/b = ad/bd`; with an absolute error below 8e-16.
#[inline(always)]
pub(crate) fn tanh_of_two<S: Simd>(simd: S, x: f64x8<S>, y: f64x8<S>) -> (f64x8<S>, f64x8<S>) {
    let ((a, b), (c, d)) = (tanh_as_quotient(simd, x), tanh_as_quotient(simd, y));
    let inverse = f64x8::splat(simd, 1.0) / (b * d);
    ((a * d * inverse).copysign(x), (b * c * inverse).copysign(y))
}

/// Numerator and denominator of `tanh |x| = (1 − e) / (1 + e)`, with `e = e^(−2|x|)`.
///
/// With `−2|x| = k ln 2 + r` and the Padé approximant `e^r ≈ (A + rB) / (A − rB)`, where
/// `A = 1 + r²/9 + r⁴/1008` and `B = 1/2 + r²/72 + r⁴/30240` (remainder below 1e-15), both are
/// multiplied by `A − rB`, which avoids a division.
#[inline(always)]
pub(crate) fn tanh_as_quotient<S: Simd>(simd: S, x: f64x8<S>) -> (f64x8<S>, f64x8<S>) {
    let number = |x: f64| f64x8::splat(simd, x);
    let (r, doublings) = split(simd, x.abs() * number(-2.0));
    let square = r * r;
    let even = number(1.0 / 1008.0).mul_add(square, number(1.0 / 9.0)).mul_add(square, number(1.0));
    let odd = number(1.0 / 30240.0).mul_add(square, number(1.0 / 72.0)).mul_add(square, number(0.5)) * r;
    let (below, above) = (even - odd, doubled(even + odd, doublings));
    (below - above, below + above)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fearless_simd::{Level, dispatch};

    #[inline(always)]
    fn exp_of<S: Simd>(simd: S, x: [f64; LANES]) -> [f64; LANES] {
        exp_nonpositive(simd, Lane(x).load(simd)).to_array()
    }

    #[inline(always)]
    fn two_tanh_of<S: Simd>(simd: S, x: [f64; LANES]) -> ([f64; LANES], [f64; LANES]) {
        let y = x.map(|x| 0.7 - 3.0 * x);
        let (a, b) = tanh_of_two(simd, Lane(x).load(simd), Lane(y).load(simd));
        (a.to_array(), b.to_array())
    }

    #[inline(always)]
    fn both_of<S: Simd>(simd: S, x: [f64; LANES]) -> ([f64; LANES], [f64; LANES]) {
        let x = Lane(x).load(simd);
        let (cosh, tan) = (ln_two_cosh(simd, x).to_array(), tanh(simd, x).to_array());
        let (both_tan, both_cosh) = tanh_and_ln_two_cosh(simd, x);
        assert_eq!((both_cosh.to_array(), both_tan.to_array()), (cosh, tan));
        (cosh, tan)
    }

    #[test]
    fn ln_two_cosh_and_tanh_are_right_to_the_last_digits() {
        let level = Level::new();
        for k in -4000..4000 {
            let x = std::array::from_fn(|lane| 0.003_71 * f64::from(k) + 1e-3 * lane as f64);
            let (cosh, tan) = dispatch!(level, simd => both_of(simd, x));
            let (first, second) = dispatch!(level, simd => two_tanh_of(simd, x));
            for ((x, first), second) in x.into_iter().zip(first).zip(second) {
                assert!((first - x.tanh()).abs() <= 8e-16, "tanh({x}): {first}");
                assert!((second - (0.7 - 3.0 * x).tanh()).abs() <= 8e-16, "tanh of the second: {second}");
            }
            for ((x, cosh), tan) in x.into_iter().zip(cosh).zip(tan) {
                let exact = x.abs() + (-2.0 * x.abs()).exp().ln_1p();
                assert!((cosh - exact).abs() <= 4e-16 * (1.0 + exact), "ln 2cosh({x}): {cosh}, not {exact}");
                assert!((tan - x.tanh()).abs() <= 4e-16, "tanh({x}): {tan}, not {}", x.tanh());
            }
        }
        let far =
            dispatch!(level, simd => both_of(simd, [0.0, -0.0, 1e4, -1e4, 1e300, -1e300, 800.0, -800.0]));
        assert!((far.0[0] - std::f64::consts::LN_2).abs() < 4e-16);
        assert_eq!(far.0[2..], [1e4, 1e4, 1e300, 1e300, 800.0, 800.0]);
        assert_eq!(far.1[2..], [1.0, -1.0, 1.0, -1.0, 1.0, -1.0]);
    }

    #[inline(always)]
    fn ln_of<S: Simd>(simd: S, x: [f64; LANES]) -> [f64; LANES] {
        ln(simd, Lane(x).load(simd)).to_array()
    }

    #[test]
    fn ln_is_right_to_the_last_digits() {
        let level = Level::new();
        for k in -7000..7000 {
            let x = std::array::from_fn(|lane| (0.1 * f64::from(k) + 0.011 * lane as f64).exp());
            let y = dispatch!(level, simd => ln_of(simd, x));
            for (x, y) in x.into_iter().zip(y) {
                let exact = x.ln();
                assert!((y - exact).abs() <= 4e-16 * exact.abs().max(1e-300), "ln({x}): {y}, not {exact}");
            }
        }
        let near =
            [1.0, 1.0 + f64::EPSILON, 1.0 - f64::EPSILON, 0.999, 1.001, f64::MAX, f64::MIN_POSITIVE, 2.0];
        for (x, y) in near.into_iter().zip(dispatch!(level, simd => ln_of(simd, near))) {
            assert!((y - x.ln()).abs() <= 4e-16 * x.ln().abs(), "ln({x}): {y}, not {}", x.ln());
        }
    }

    #[test]
    fn exp_is_right_to_the_last_digits() {
        let level = Level::new();
        for k in 0..20_000 {
            let x = std::array::from_fn(|lane| -0.004_37 * f64::from(k * 8 + lane as i32));
            let y = dispatch!(level, simd => exp_of(simd, x));
            for (x, y) in x.into_iter().zip(y) {
                let exact = x.max(-700.0).exp();
                assert!((y - exact).abs() <= 1e-15 * exact, "exp({x}): {y}, not {exact}");
            }
        }
    }
}
