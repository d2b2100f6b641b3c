//! Sixteen random numbers side by side, in single precision: the kernel of Gibbs updates.
//!
//! The public part serves SIMD kernels in other crates. Vectors are those of `fearless_simd`.

use fearless_simd::{Simd, f32x16, prelude::*, u32x16};
use rand::Rng;

/// The number of floats in a vector.
pub const WIDTH: usize = 16;

/// Sixteen numbers, aligned to cache lines.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(align(64))]
pub(crate) struct Sixteen(pub(crate) [f32; WIDTH]);

impl Sixteen {
    pub(crate) const ZERO: Self = Self([0.0; WIDTH]);

    #[inline(always)]
    pub(crate) fn load<S: Simd>(&self, simd: S) -> f32x16<S> {
        f32x16::load_array_ref(simd, &self.0)
    }

    #[inline(always)]
    pub(crate) fn store<S: Simd>(&mut self, value: f32x16<S>) {
        value.store_array(&mut self.0);
    }
}

/// The states of sixteen xoshiro128+ generators side by side, aligned to cache lines.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub struct Generators([[u32; WIDTH]; 4]);

impl Generators {
    /// Seeds all generators from one stream.
    pub fn new(mut source: impl Rng) -> Self {
        let mut words = [[0; WIDTH]; 4];
        words.as_flattened_mut().fill_with(|| source.next_u32());
        // xoshiro must not start from zeros.
        words[0].iter_mut().for_each(|word| *word |= 1);
        Self(words)
    }

    /// Loads the states into vectors.
    #[inline(always)]
    pub fn load<S: Simd>(&self, simd: S) -> [u32x16<S>; 4] {
        // Not by `map`, which the compiler leaves as a call.
        let [a, b, c, d] = &self.0;
        [
            u32x16::load_array_ref(simd, a),
            u32x16::load_array_ref(simd, b),
            u32x16::load_array_ref(simd, c),
            u32x16::load_array_ref(simd, d),
        ]
    }

    /// Stores the states after their use.
    #[inline(always)]
    pub fn store<S: Simd>(&mut self, words: [u32x16<S>; 4]) {
        for (word, out) in words.into_iter().zip(&mut self.0) {
            word.store_array(out);
        }
    }
}

/// A uniform number in (0, 1) in each lane: the upper 23 bits of xoshiro128+ (Blackman & Vigna
/// 2021), in the middle of 2²³ equal intervals, so that u and 1 − u are equally likely.
#[inline(always)]
pub(crate) fn uniform<S: Simd>(simd: S, s: &mut [u32x16<S>; 4]) -> f32x16<S> {
    let rotate = |x: u32x16<S>, by: u32| (x << by) | (x >> (32 - by));
    let bits = s[0] + s[3];
    let shifted = s[1] << 9;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = rotate(s[3], 11);
    // The bits are the mantissa of a number in [1, 2), less 1 and half an interval: exact.
    let number = f32x16::from_bits((bits >> 9) | u32x16::splat(simd, 1.0f32.to_bits()));
    number - f32x16::splat(simd, 1.0 - 1.0 / 16_777_216.0)
}

/// `e^x` in each lane with a relative error below 1e-6; x is clamped to −80 … 80.
///
/// With `x = k ln 2 + r`, `e^r` is a polynomial of degree 5 with a relative error below 2e-7 for
/// |r| ≤ ½ ln 2, and k goes into the exponent bits.
#[inline(always)]
pub(crate) fn exp<S: Simd>(simd: S, x: f32x16<S>) -> f32x16<S> {
    /// 1.5 · 2²³: adding it leaves the nearest integer in the low bits.
    const ROUNDER: f32 = 12_582_912.0;
    /// Least largest relative error, with 1 at 0.
    const COEFFICIENTS: [f32; 6] = [1.0, 1.0, 0.499_992_3, 0.166_671_15, 0.041_890_11, 0.008_312_525];
    let rounder = f32x16::splat(simd, ROUNDER);
    let x = x.max(f32x16::splat(simd, -80.0)).min(f32x16::splat(simd, 80.0));
    let shifted = x.mul_add(f32x16::splat(simd, std::f32::consts::LOG2_E), rounder);
    let k = shifted - rounder;
    let r = k.mul_add(f32x16::splat(simd, -std::f32::consts::LN_2), x);
    let mut power = f32x16::splat(simd, COEFFICIENTS[5]);
    for degree in (0..5).rev() {
        power = power.mul_add(r, f32x16::splat(simd, COEFFICIENTS[degree]));
    }
    f32x16::from_bits(power.to_bits() + (shifted.to_bits() << 23u32))
}

/// `ln x` in each lane for normal x > 0, with an error below 2e-7 of it or, near 1, of x − 1.
///
/// With `x = 2^k m` and m within a factor √2 of 1 it is `k ln 2 + 2 artanh((m − 1) / (m + 1))`.
#[inline(always)]
pub(crate) fn ln<S: Simd>(simd: S, x: f32x16<S>) -> f32x16<S> {
    /// Added so that mantissas above √2 carry over into the exponent.
    const CARRY: u32 = 0x3f80_0000 - 0x3f35_04f3;
    let one = f32x16::splat(simd, 1.0);
    let bits = x.to_bits();
    let exponent = (bits + u32x16::splat(simd, CARRY)) >> 23u32;
    let m = f32x16::from_bits(bits - (exponent << 23u32) + u32x16::splat(simd, 1.0f32.to_bits()));
    let k: f32x16<S> = exponent.to_float();
    let ratio = (m - one) / (m + one);
    let square = ratio * ratio;
    let mut series = f32x16::splat(simd, 2.0 / 9.0);
    for odd in [7.0, 5.0, 3.0, 1.0f32] {
        series = series.mul_add(square, f32x16::splat(simd, 2.0 / odd));
    }
    (k - f32x16::splat(simd, 127.0)).mul_add(f32x16::splat(simd, std::f32::consts::LN_2), ratio * series)
}

/// Draws a spin with P(+1) = 1/(1 + e^(−x)) in each lane. Also returns its mean tanh(x/2), from the
/// same exponential.
#[inline(always)]
pub fn spin_and_mean<S: Simd>(simd: S, x: f32x16<S>, random: &mut [u32x16<S>; 4]) -> (f32x16<S>, f32x16<S>) {
    let odds = exp(simd, -x);
    (spin_by_odds(simd, odds, random), mean_by_odds(simd, odds))
}

/// tanh(x/2) in each lane.
#[inline(always)]
pub(crate) fn mean_of<S: Simd>(simd: S, x: f32x16<S>) -> f32x16<S> {
    mean_by_odds(simd, exp(simd, -x))
}

/// +1 with probability 1/(1 + odds) in each lane, else −1.
#[inline(always)]
pub(crate) fn spin_by_odds<S: Simd>(simd: S, odds: f32x16<S>, random: &mut [u32x16<S>; 4]) -> f32x16<S> {
    let one = f32x16::splat(simd, 1.0);
    let u = uniform(simd, random);
    u.mul_add(odds, u).simd_lt(one).select(one, -one)
}

#[inline(always)]
fn mean_by_odds<S: Simd>(simd: S, odds: f32x16<S>) -> f32x16<S> {
    let one = f32x16::splat(simd, 1.0);
    (one - odds) / (one + odds)
}

/// `ln 1/(1 + e^(−x))` in each lane, with an absolute error below 1e-6 (and 1e-7 of x).
///
/// It is `min(x, 0) − ln(1 + e^(−|x|))`, the logarithm as in
/// [`ln_1p_of_share`](crate::numeric::lanes::ln_1p_of_share) with five terms of the series.
#[inline(always)]
pub(crate) fn ln_logistic<S: Simd>(simd: S, x: f32x16<S>) -> f32x16<S> {
    const TERMS: u8 = 5;
    let root = f32x16::splat(simd, std::f32::consts::SQRT_2);
    let m = exp(simd, -x.abs()) + f32x16::splat(simd, 1.0);
    let ratio = (m - root) / (m + root);
    let square = ratio * ratio;
    let mut series = f32x16::splat(simd, 1.0 / f32::from(2 * TERMS - 1));
    for k in (0..TERMS - 1).rev() {
        series = series.mul_add(square, f32x16::splat(simd, 1.0 / f32::from(2 * k + 1)));
    }
    let ln = (ratio + ratio).mul_add(series, f32x16::splat(simd, 0.5 * std::f32::consts::LN_2));
    x.min(f32x16::splat(simd, 0.0)) - ln
}

#[cfg(test)]
mod tests {
    use fearless_simd::{Level, dispatch};

    use super::*;
    use crate::numeric::streams::{Purpose, stream};

    #[inline(always)]
    fn exp_of<S: Simd>(simd: S, x: [f32; WIDTH]) -> [f32; WIDTH] {
        exp(simd, f32x16::load_array(simd, x)).to_array()
    }

    #[test]
    fn exp_is_good_to_six_digits() {
        let level = Level::new();
        for k in -500..500i16 {
            let x: [f32; WIDTH] = std::array::from_fn(|lane| 0.16 * f32::from(k) + 0.01 * lane as f32);
            let y = dispatch!(level, simd => exp_of(simd, x));
            for (x, y) in x.into_iter().zip(y) {
                let exact = f64::from(x.clamp(-80.0, 80.0)).exp();
                // The argument is rounded to single precision on the way: 80 · 2⁻²⁴ is 5e-6.
                assert!((f64::from(y) - exact).abs() <= 8e-6 * exact, "exp({x}): {y}, not {exact}");
            }
        }
    }

    #[inline(always)]
    fn uniforms<S: Simd>(simd: S, random: [[u32; WIDTH]; 4], count: usize) -> Vec<f32> {
        let mut s = random.map(|word| u32x16::load_array(simd, word));
        (0..count).flat_map(|_| uniform(simd, &mut s).to_array()).collect()
    }

    #[test]
    fn uniform_numbers_fill_the_interval_evenly_and_lanes_differ() {
        let mut source = stream(5, Purpose::Chain, 0);
        let random = std::array::from_fn(|_| std::array::from_fn(|_| source.next_u32()));
        let level = Level::new();
        let numbers = dispatch!(level, simd => uniforms(simd, random, 20_000));
        let mut counts = [0u32; 100];
        for &u in &numbers {
            assert!(u > 0.0 && u < 1.0);
            counts[(u * 100.0) as usize] += 1;
        }
        let expected = numbers.len() as f64 / 100.0;
        let chi_square: f64 = counts.iter().map(|&c| (f64::from(c) - expected).powi(2) / expected).sum();
        assert!(chi_square < 160.0, "chi² with 99 degrees of freedom: {chi_square}");
        assert_ne!(numbers[0], numbers[1]);
    }

    #[inline(always)]
    fn spins_and_logarithms<S: Simd>(simd: S, x: f32, count: usize) -> (Vec<f32>, f32, f32) {
        let mut random = Generators::new(stream(7, Purpose::Contrast, 0)).load(simd);
        let field = f32x16::splat(simd, x);
        let spins = (0..count).flat_map(|_| spin_and_mean(simd, field, &mut random).0.to_array()).collect();
        let mean = spin_and_mean(simd, field, &mut random).1.to_array()[3];
        (spins, mean, ln_logistic(simd, field).to_array()[3])
    }

    #[test]
    fn spins_have_their_means_and_logarithms_their_digits() {
        let level = Level::new();
        for x in [-200.0f32, -30.0, -3.0, -0.5, 0.0, 0.1, 2.0, 17.0, 90.0] {
            let (spins, mean, ln) = dispatch!(level, simd => spins_and_logarithms(simd, x, 2000));
            let exact = (0.5 * f64::from(x)).tanh();
            assert!((f64::from(mean) - exact).abs() < 1e-6, "mean at {x}: {mean}");
            let found = spins.iter().map(|&s| f64::from(s)).sum::<f64>() / spins.len() as f64;
            let deviation = ((1.0 - exact * exact) / spins.len() as f64).sqrt();
            assert!((found - exact).abs() <= 4.0 * deviation, "spins at {x}: {found}, not {exact}");
            let exact = f64::from(x).min(0.0) - (-f64::from(x.abs())).exp().ln_1p();
            assert!((f64::from(ln) - exact).abs() <= 1e-6 + 1e-7 * exact.abs(), "ln at {x}: {ln}");
        }
    }
}
