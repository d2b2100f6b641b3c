//! The states of chains, one bit for each unit, chain and time.

use fearless_simd::{Level, Simd, dispatch};
use rayon::prelude::*;

use super::kernel::{CHAINS, Chains, Model};
use crate::numeric::bits::transpose;
use crate::numeric::streams::Purpose;
use crate::progress::Task;

/// The chains to run, and for how long.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    pub(super) chains: usize,
    pub(super) burn_in: usize,
    pub(super) samples: usize,
    pub(super) thin: usize,
    pub(super) seed: u64,
    /// The number of the first chain's stream.
    pub(super) first_chain: u64,
}

/// States of all chains, packed along time: 64 states of one unit in one chain to a word.
pub(super) struct Record {
    pub(super) chains: usize,
    pub(super) samples: usize,
    /// For each group of sixteen chains: unit by unit, chain by chain, word by word.
    groups: Vec<Vec<u64>>,
}

impl Record {
    /// The bytes that a record takes, with the buffers that fill it.
    pub(super) fn bytes(units: usize, chains: usize, samples: usize) -> u128 {
        let groups = chains.div_ceil(CHAINS) as u128;
        let words = samples.div_ceil(64) as u128;
        let masks = 128 * row_length(units) as u128;
        groups * (units as u128 * CHAINS as u128 * words * 8 + masks + Chains::bytes(units, CHAINS))
    }

    /// Runs the chains of a plan and keeps their states. Groups of chains run in parallel.
    pub(super) fn run(model: &Model, plan: &Plan) -> Self {
        let level = Level::new();
        let words = plan.samples.div_ceil(64);
        let units = model.units();
        let groups = plan.chains.div_ceil(CHAINS);
        let of_group = plan.samples.saturating_mul(plan.thin).saturating_add(plan.burn_in);
        let task = Task::begin(groups.saturating_mul(of_group) as u64);
        let groups = (0..groups)
            .into_par_iter()
            .map(|group| {
                let first = plan.first_chain + (group * CHAINS) as u64;
                let mut chains = Chains::new(model, CHAINS, plan.seed, Purpose::Chain, first);
                chains.advance(model, plan.burn_in);
                task.done(plan.burn_in as u64);
                let mut bits = vec![0; units * CHAINS * words];
                let length = row_length(units);
                let mut masks = vec![0; 64 * length];
                for word in 0..words {
                    let count = 64.min(plan.samples - 64 * word);
                    for masks in masks.chunks_exact_mut(length).take(count) {
                        chains.advance(model, plan.thin);
                        chains.sixteen_masks(&mut masks[..units]);
                    }
                    task.done(count.saturating_mul(plan.thin) as u64);
                    masks[count * length..].fill(0);
                    dispatch!(level, simd => write_words(simd, &masks, units, (word, words), &mut bits));
                }
                bits
            })
            .collect();
        Self { chains: plan.chains, samples: plan.samples, groups }
    }

    /// The states of a unit in a chain, packed; bits beyond the samples are 0.
    pub(super) fn sequence(&self, unit: usize, chain: usize) -> &[u64] {
        let words = self.samples.div_ceil(64);
        let start = (unit * CHAINS + chain % CHAINS) * words;
        &self.groups[chain / CHAINS][start..start + words]
    }

    /// Where the states of two units in a chain differ, packed.
    pub(super) fn differences(&self, a: usize, b: usize, chain: usize) -> impl Iterator<Item = u64> + '_ {
        self.sequence(a, chain).iter().zip(self.sequence(b, chain)).map(|(x, y)| x ^ y)
    }

    /// Visits the states of some units of a chain in 64 samples, time by time: a bit for each unit.
    pub(super) fn each_state(
        &self,
        chain: usize,
        word: usize,
        units: &[usize],
        mut visit: impl FnMut(usize, &[u64]),
    ) {
        let blocks = units.len().div_ceil(64);
        let mut states = vec![0; 64 * blocks];
        for (block, units) in units.chunks(64).enumerate() {
            let mut bits = [0; 64];
            for (&unit, bits) in units.iter().zip(&mut bits) {
                *bits = self.sequence(unit, chain)[word];
            }
            transpose(&mut bits);
            for (sample, bits) in bits.into_iter().enumerate() {
                states[sample * blocks + block] = bits;
            }
        }
        let count = 64.min(self.samples - 64 * word);
        let states = states.chunks_exact(blocks.max(1)).take(count);
        states.enumerate().for_each(|(time, state)| visit(time, state));
    }
}

/// Units whose masks fit into a word.
const UNITS: usize = 64 / CHAINS;

/// The masks of a time: whole words, and an odd number of cache lines, so that the same unit at
/// different times is not always in the same place of a cache.
fn row_length(units: usize) -> usize {
    const LINE: usize = 64 / size_of::<u16>();
    (units.div_ceil(LINE) | 1) * LINE
}

/// Turns the masks of 64 times, time by time, into a word of the sequence of each unit and chain.
#[inline(always)]
fn write_words<S: Simd>(_: S, masks: &[u16], units: usize, (word, words): (usize, usize), bits: &mut [u64]) {
    let length = row_length(units);
    for first in (0..units).step_by(UNITS) {
        let mut block = [0; 64];
        for (block, masks) in block.iter_mut().zip(masks.chunks_exact(length)) {
            let [a, b, c, d] = [0, 1, 2, 3].map(|k: usize| u64::from(masks[first + k]));
            *block = a | b << CHAINS | c << (2 * CHAINS) | d << (3 * CHAINS);
        }
        transpose(&mut block);
        let count = UNITS.min(units - first);
        for (k, &sequence) in block[..count * CHAINS].iter().enumerate() {
            bits[(first * CHAINS + k) * words + word] = sequence;
        }
    }
}

/// Sets the bits beyond the samples of a packed sequence to 0.
pub(super) fn clear_tail(bits: &mut [u64], samples: usize) {
    if let (Some(last), rest @ 1..) = (bits.last_mut(), samples % 64) {
        *last &= (1 << rest) - 1;
    }
}
