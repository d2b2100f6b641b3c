//! Eight numbers side by side: the lane type of the exact kernels, and elementary functions on it.

use fearless_simd::{Simd, f64x8, prelude::*};

/// Rows (or states) that one operation of an exact kernel serves.
pub(crate) const LANES: usize = 8;

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

/// `e^x` in each lane for x ≤ 0, with a relative error below 1e-15; below −700 it is `e^(−700)` ≈ 1e-304.
///
/// The argument is split as `x = k ln 2 + r` with |r| ≤ ½ ln 2; `e^r` is its Taylor polynomial of degree 12
/// (remainder below 2e-16), and k goes into the exponent bits.
#[inline(always)]
pub(crate) fn exp_nonpositive<S: Simd>(simd: S, x: f64x8<S>) -> f64x8<S> {
    const LN_2_HIGH: f64 = 6.931_471_803_691_238e-1;
    const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    /// 1.5 · 2⁵²: adding it leaves the nearest integer in the low bits.
    const ROUNDER: f64 = 6_755_399_441_055_744.0;
    const INVERSE_FACTORIALS: [f64; 13] = {
        let mut terms = [1.0; 13];
        let mut k = 1;
        while k < 13 {
            terms[k] = terms[k - 1] / k as f64;
            k += 1;
        }
        terms
    };
    let rounder = f64x8::splat(simd, ROUNDER);
    let x = x.max(f64x8::splat(simd, -700.0));
    let shifted = x.mul_add(f64x8::splat(simd, std::f64::consts::LOG2_E), rounder);
    let k = shifted - rounder;
    let r = k.mul_add(f64x8::splat(simd, -LN_2_HIGH), x);
    let r = k.mul_add(f64x8::splat(simd, -LN_2_LOW), r);
    let mut power = f64x8::splat(simd, INVERSE_FACTORIALS[12]);
    for degree in (0..12).rev() {
        power = power.mul_add(r, f64x8::splat(simd, INVERSE_FACTORIALS[degree]));
    }
    f64x8::from_bits(power.to_bits() + (shifted.to_bits() << 52u32))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fearless_simd::{Level, dispatch};

    #[inline(always)]
    fn exp_of<S: Simd>(simd: S, x: [f64; LANES]) -> [f64; LANES] {
        let mut out = Lane::ZERO;
        out.store(exp_nonpositive(simd, Lane(x).load(simd)));
        out.0
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
