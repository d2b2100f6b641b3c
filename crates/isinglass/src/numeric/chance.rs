//! Sixteen random numbers side by side, in single precision: what Gibbs updates are made of.

use fearless_simd::{Simd, f32x16, prelude::*, u32x16};

/// Numbers that one operation gives.
pub(crate) const WIDTH: usize = 16;

/// A uniform number in (0, 1) in each lane: the upper 23 bits of xoshiro128++ (Blackman & Vigna 2021), in the middles of 2²³ equal
/// intervals, so that u and 1 − u are equally likely.
#[inline(always)]
pub(crate) fn uniform<S: Simd>(simd: S, s: &mut [u32x16<S>; 4]) -> f32x16<S> {
    let rotate = |x: u32x16<S>, by: u32| (x << by) | (x >> (32 - by));
    let bits = rotate(s[0] + s[3], 7) + s[0];
    let shifted = s[1] << 9;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = rotate(s[3], 11);
    let number: f32x16<S> = (bits >> 9).to_float();
    (number + f32x16::splat(simd, 0.5)) * f32x16::splat(simd, 1.0 / 8_388_608.0)
}

/// `e^x` in each lane with a relative error below 1e-6, for x held between −80 and 80.
#[inline(always)]
pub(crate) fn exp<S: Simd>(simd: S, x: f32x16<S>) -> f32x16<S> {
    /// 1.5 · 2²³: adding it leaves the nearest integer in the low bits.
    const ROUNDER: f32 = 12_582_912.0;
    const COEFFICIENTS: [f32; 7] = [1.0, 1.0, 0.5, 1.0 / 6.0, 1.0 / 24.0, 1.0 / 120.0, 1.0 / 720.0];
    let rounder = f32x16::splat(simd, ROUNDER);
    let x = x.max(f32x16::splat(simd, -80.0)).min(f32x16::splat(simd, 80.0));
    let shifted = x.mul_add(f32x16::splat(simd, std::f32::consts::LOG2_E), rounder);
    let k = shifted - rounder;
    let r = k.mul_add(f32x16::splat(simd, -std::f32::consts::LN_2), x);
    let mut power = f32x16::splat(simd, COEFFICIENTS[6]);
    for degree in (0..6).rev() {
        power = power.mul_add(r, f32x16::splat(simd, COEFFICIENTS[degree]));
    }
    f32x16::from_bits(power.to_bits() + (shifted.to_bits() << 23u32))
}

#[cfg(test)]
mod tests {
    use fearless_simd::{Level, dispatch};
    use rand::Rng;

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
}
