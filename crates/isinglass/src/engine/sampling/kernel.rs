//! The Gibbs update for sixteen chains in SIMD lanes.
//!
//! States are laid out unit by unit with chains in adjacent lanes, so the field of a unit in all chains is one multiplication and one
//! addition for each neighbour. Single precision is enough: a relative error of 1e-7 in a field that decides anything (a few units) shifts a
//! probability by as much, far below the sampling error of any run.

use std::sync::Arc;

use fearless_simd::{Level, Simd, dispatch, f32x16, prelude::*, u32x16};
use rand::Rng;

use crate::Machine;
use crate::numeric::chance::{WIDTH, exp, uniform};
use crate::numeric::streams::{Purpose, stream};

/// Chains that one update serves.
pub(super) const CHAINS: usize = WIDTH;

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
