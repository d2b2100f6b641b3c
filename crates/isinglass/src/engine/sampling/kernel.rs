//! The Gibbs update for chains in SIMD lanes, sixteen to a group.
//!
//! States are laid out unit by unit with chains in adjacent lanes, so the field of a unit in all
//! chains takes one multiply-add for each neighbour. Several groups share the walk along the
//! neighbours. Single precision is enough: a relative error of 1e-7 in a field of a few units
//! shifts a probability by as much, far below the sampling error.

use std::sync::Arc;

use fearless_simd::{Level, Simd, dispatch, f32x16, prelude::*, u32x16};
use rand::Rng;

use crate::numeric::chance::{WIDTH, exp, spin_by_odds};
use crate::numeric::streams::{Purpose, stream};
use crate::{Machine, cancel};

/// Chains of a group.
pub(super) const CHAINS: usize = WIDTH;

/// The couplings among some free units, divided by T/2, in single precision.
pub(super) struct Couplings {
    offsets: Vec<usize>,
    neighbours: Vec<(u32, f32)>,
}

/// The state of a unit in all chains of some groups: −1 or +1. Aligned to cache lines.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(crate) struct Spins<const GROUPS: usize>(pub(crate) [[f32; CHAINS]; GROUPS]);

impl Couplings {
    pub(super) fn new(machine: &Machine, free: &[usize]) -> Self {
        let mut place = vec![u32::MAX; machine.unit_count()];
        for (k, &unit) in free.iter().enumerate() {
            place[unit] = k as u32;
        }
        let scale = 2.0 / machine.temperature();
        let mut offsets = vec![0];
        let mut neighbours = Vec::new();
        for &unit in free {
            let around = machine.graph().neighbours(unit).filter(|&(other, _)| place[other] != u32::MAX);
            let coupling = |edge: usize| (scale * machine.weights()[edge]) as f32;
            neighbours.extend(around.map(|(other, edge)| (place[other], coupling(edge))));
            offsets.push(neighbours.len());
        }
        Self { offsets, neighbours }
    }

    /// The neighbours of a unit in rising order, each with its coupling.
    #[inline(always)]
    pub(super) fn around(&self, unit: usize) -> &[(u32, f32)] {
        &self.neighbours[self.offsets[unit]..self.offsets[unit + 1]]
    }

    /// Whether no two of the units are coupled.
    pub(super) fn are_none(&self) -> bool {
        self.neighbours.iter().all(|&(_, coupling)| coupling == 0.0)
    }

    /// The bytes of the couplings among some units with some edges.
    pub(super) fn bytes(units: usize, edges: usize) -> u128 {
        8 * (units as u128 + 1) + 16 * edges as u128
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
        let biases = (0..machine.unit_count()).filter(|&unit| row[unit] == 0).map(bias).collect();
        Self { couplings: Arc::clone(couplings), biases }
    }

    pub(super) fn units(&self) -> usize {
        self.biases.len()
    }
}

/// Groups of chains: their states and their random streams.
pub(super) struct Chains<const GROUPS: usize> {
    /// Unit by unit.
    pub(super) states: Vec<Spins<GROUPS>>,
    pub(super) random: [[[u32; CHAINS]; 4]; GROUPS],
}

impl<const GROUPS: usize> Chains<GROUPS> {
    /// Chains from `first` on, each in a random state from a stream of its own.
    pub(super) fn new(units: usize, seed: u64, purpose: Purpose, first: u64) -> Self {
        let mut random = [[[0; CHAINS]; 4]; GROUPS];
        let mut states = vec![Spins([[0.0; CHAINS]; GROUPS]); units];
        for chain in 0..GROUPS * CHAINS {
            let (group, lane) = (chain / CHAINS, chain % CHAINS);
            let mut source = stream(seed, purpose, first + chain as u64);
            for word in &mut random[group] {
                word[lane] = source.next_u32();
            }
            // xoshiro must not start from zeros.
            random[group][0][lane] |= 1;
            for state in &mut states {
                state.0[group][lane] = if source.next_u32() & 1 == 1 { 1.0 } else { -1.0 };
            }
        }
        Self { states, random }
    }

    /// Updates every unit of every chain, a number of times.
    pub(super) fn sweep(&mut self, level: Level, model: &Model, sweeps: usize) {
        dispatch!(level, simd => sweep_lanes(simd, model, self, sweeps));
    }

    /// For each unit, one bit for each chain, of up to 64: whether it is up.
    pub(super) fn up(&self) -> impl Iterator<Item = u64> + '_ {
        self.states.iter().map(|state| {
            let chains = state.0.as_flattened().iter().enumerate();
            chains.fold(0, |bits, (chain, &s)| bits | u64::from(s > 0.0) << chain)
        })
    }
}

#[inline(always)]
fn sweep_lanes<S: Simd, const GROUPS: usize>(
    simd: S,
    model: &Model,
    chains: &mut Chains<GROUPS>,
    sweeps: usize,
) {
    let mut random = chains.random.map(|words| words.map(|word| u32x16::load_array(simd, word)));
    for _ in 0..sweeps {
        cancel::point();
        for unit in 0..model.biases.len() {
            let bias = [f32x16::splat(simd, model.biases[unit]); GROUPS];
            let field = add_pull(simd, bias, model.couplings.around(unit), &chains.states);
            for group in 0..GROUPS {
                let spin = choose(simd, field[group], &mut random[group]);
                spin.store_array(&mut chains.states[unit].0[group]);
            }
        }
    }
    chains.random = random.map(|words| words.map(SimdBase::to_array));
}

/// Adds the contributions of some neighbours to the field of a unit.
#[inline(always)]
pub(crate) fn add_pull<S: Simd, const GROUPS: usize>(
    simd: S,
    mut field: [f32x16<S>; GROUPS],
    neighbours: &[(u32, f32)],
    states: &[Spins<GROUPS>],
) -> [f32x16<S>; GROUPS] {
    for &(other, coupling) in neighbours {
        let coupling = f32x16::splat(simd, coupling);
        let state = &states[other as usize].0;
        for group in 0..GROUPS {
            field[group] = f32x16::load_array_ref(simd, &state[group]).mul_add(coupling, field[group]);
        }
    }
    field
}

/// Draws the spin of a unit by its field: P(+1) = 1/(1 + e^(−field)).
#[inline(always)]
pub(super) fn choose<S: Simd>(simd: S, field: f32x16<S>, random: &mut [u32x16<S>; 4]) -> f32x16<S> {
    spin_by_odds(simd, exp(simd, -field), random)
}
