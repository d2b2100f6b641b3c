//! The Gibbs update for sixteen chains in SIMD lanes.
//!
//! States are laid out unit by unit with chains in adjacent lanes, so the field of a unit in all chains is one multiplication and one
//! addition for each neighbour. Single precision is enough: a relative error of 1e-7 in a field that decides anything (a few units) shifts a
//! probability by as much, far below the sampling error of any run.

use std::sync::Arc;

use fearless_simd::{Level, Simd, dispatch, f32x16, prelude::*, u32x16};
use rand::Rng;

use crate::Machine;
use crate::numeric::streams::{Purpose, stream};

/// Chains that one update serves.
pub(super) const CHAINS: usize = 16;

/// The couplings among some free units, divided by T/2, in single precision: what rows with the same free units share.
pub(super) struct Couplings {
    offsets: Vec<usize>,
    neighbours: Vec<(u32, f32)>,
}

impl Couplings {
    pub(super) fn new(machine: &Machine, free: &[usize]) -> Self {
        let mut place = vec![u32::MAX; machine.units()];
        for (k, &unit) in free.iter().enumerate() {
            place[unit] = k as u32;
        }
        let scale = 2.0 / machine.temperature();
        let mut offsets = vec![0];
        let mut neighbours = Vec::new();
        for &unit in free {
            let around = machine.graph().neighbours(unit).filter(|&(other, _)| place[other] != u32::MAX);
            neighbours
                .extend(around.map(|(other, edge)| (place[other], (scale * machine.weights()[edge]) as f32)));
            offsets.push(neighbours.len());
        }
        Self { offsets, neighbours }
    }
}

/// A machine under one evidence, prepared for sweeps.
pub(super) struct Model {
    couplings: Arc<Couplings>,
    /// Biases of the free units, with the pull of the clamped ones, divided by T/2.
    biases: Vec<f32>,
}

impl Model {
    /// With the couplings of the units that the row leaves free.
    pub(super) fn new(machine: &Machine, row: &[i8], couplings: &Arc<Couplings>) -> Self {
        let scale = 2.0 / machine.temperature();
        let bias = |unit: usize| {
            let around = machine.graph().neighbours(unit);
            let pull: f64 = around.map(|(other, edge)| machine.weights()[edge] * f64::from(row[other])).sum();
            (scale * (machine.biases()[unit] + pull)) as f32
        };
        let biases = (0..machine.units()).filter(|&unit| row[unit] == 0).map(bias).collect();
        Self { couplings: Arc::clone(couplings), biases }
    }

    pub(super) fn units(&self) -> usize {
        self.biases.len()
    }
}

/// Sixteen chains: their states and their random streams.
pub(super) struct Chains {
    /// −1 or +1, unit by unit.
    states: Vec<[f32; CHAINS]>,
    random: [[u32; CHAINS]; 4],
}

impl Chains {
    /// Chains from `first` on, each in a random state from a stream of its own.
    pub(super) fn new(units: usize, seed: u64, first: u64) -> Self {
        let mut random = [[0; CHAINS]; 4];
        let mut states = vec![[0.0; CHAINS]; units];
        for lane in 0..CHAINS {
            let mut source = stream(seed, Purpose::Chain, first + lane as u64);
            for word in &mut random {
                word[lane] = source.next_u32();
            }
            // xoshiro must not start from zero everywhere.
            random[0][lane] |= 1;
            for state in &mut states {
                state[lane] = if source.next_u32() & 1 == 1 { 1.0 } else { -1.0 };
            }
        }
        Self { states, random }
    }

    /// Update every unit of every chain, a number of times.
    pub(super) fn sweep(&mut self, level: Level, model: &Model, sweeps: usize) {
        dispatch!(level, simd => sweep_lanes(simd, model, self, sweeps));
    }

    /// For each unit, which chains are up, one bit for each chain.
    pub(super) fn up(&self) -> impl Iterator<Item = u16> + '_ {
        self.states.iter().map(|state| {
            state.iter().enumerate().fold(0, |bits, (lane, &s)| bits | u16::from(s > 0.0) << lane)
        })
    }
}

#[inline(always)]
fn sweep_lanes<S: Simd>(simd: S, model: &Model, chains: &mut Chains, sweeps: usize) {
    let mut random = chains.random.map(|word| u32x16::load_array(simd, word));
    let one = f32x16::splat(simd, 1.0);
    for _ in 0..sweeps {
        for unit in 0..model.biases.len() {
            let mut field = f32x16::splat(simd, model.biases[unit]);
            let Couplings { offsets, neighbours } = &*model.couplings;
            for &(other, weight) in &neighbours[offsets[unit]..offsets[unit + 1]] {
                let state = f32x16::load_array_ref(simd, &chains.states[other as usize]);
                field = state.mul_add(f32x16::splat(simd, weight), field);
            }
            // P(+1) = 1/(1 + e^(−field)), so +1 where u + u e^(−field) < 1.
            let odds = exp(simd, -field);
            let u = uniform(simd, &mut random);
            let up = u.mul_add(odds, u).simd_lt(one);
            up.select(one, -one).store_array(&mut chains.states[unit]);
        }
    }
    chains.random = random.map(SimdBase::to_array);
}

/// A uniform number in (0, 1) in each lane: the upper 23 bits of xoshiro128++ (Blackman & Vigna 2021), in the middles of 2²³ equal
/// intervals, so that u and 1 − u are equally likely.
#[inline(always)]
fn uniform<S: Simd>(simd: S, s: &mut [u32x16<S>; 4]) -> f32x16<S> {
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
fn exp<S: Simd>(simd: S, x: f32x16<S>) -> f32x16<S> {
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
    use super::*;

    #[inline(always)]
    fn exp_of<S: Simd>(simd: S, x: [f32; CHAINS]) -> [f32; CHAINS] {
        exp(simd, f32x16::load_array(simd, x)).to_array()
    }

    #[test]
    fn exp_is_good_to_six_digits() {
        let level = Level::new();
        for k in -500..500i16 {
            let x: [f32; CHAINS] = std::array::from_fn(|lane| 0.16 * f32::from(k) + 0.01 * lane as f32);
            let y = dispatch!(level, simd => exp_of(simd, x));
            for (x, y) in x.into_iter().zip(y) {
                let exact = f64::from(x.clamp(-80.0, 80.0)).exp();
                // The argument is rounded to single precision on the way: 80 · 2⁻²⁴ is 5e-6.
                assert!((f64::from(y) - exact).abs() <= 8e-6 * exact, "exp({x}): {y}, not {exact}");
            }
        }
    }

    #[inline(always)]
    fn uniforms<S: Simd>(simd: S, random: [[u32; CHAINS]; 4], count: usize) -> Vec<f32> {
        let mut s = random.map(|word| u32x16::load_array(simd, word));
        (0..count).flat_map(|_| uniform(simd, &mut s).to_array()).collect()
    }

    #[test]
    fn uniform_numbers_fill_the_interval_evenly_and_lanes_differ() {
        let chains = Chains::new(1, 5, 0);
        let level = Level::new();
        let numbers = dispatch!(level, simd => uniforms(simd, chains.random, 20_000));
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
