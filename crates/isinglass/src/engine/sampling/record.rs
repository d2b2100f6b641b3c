//! The states of chains, one bit for each unit, chain and time.

use rayon::prelude::*;

use super::kernel::{CHAINS, Chains, Model};
use crate::numeric::bits::transpose;
use crate::numeric::streams::Purpose;

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
        groups * (units as u128 * (CHAINS as u128 * words * 8 + 512) + Chains::bytes(units, CHAINS))
    }

    /// Runs the chains of a plan and keeps their states. Groups of chains run in parallel.
    pub(super) fn run(model: &Model, plan: &Plan) -> Self {
        let words = plan.samples.div_ceil(64);
        let units = model.units();
        let groups = (0..plan.chains.div_ceil(CHAINS))
            .into_par_iter()
            .map(|group| {
                let first = plan.first_chain + (group * CHAINS) as u64;
                let mut chains = Chains::new(model, CHAINS, plan.seed, Purpose::Chain, first);
                chains.sweep(model, plan.burn_in);
                let mut bits = vec![0; units * CHAINS * words];
                let mut masks = vec![0; 64 * units];
                for word in 0..words {
                    let count = 64.min(plan.samples - 64 * word);
                    for masks in masks.chunks_exact_mut(units.max(1)).take(count) {
                        chains.sweep(model, plan.thin);
                        chains.masks(masks);
                    }
                    masks[count * units..].fill(0);
                    write_word(&masks, units, (word, words), &mut bits);
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

    /// Whether a unit is up in a state of a chain.
    pub(super) fn is_up(&self, unit: usize, chain: usize, sample: usize) -> bool {
        self.sequence(unit, chain)[sample / 64] >> (sample % 64) & 1 == 1
    }
}

/// Turns the masks of 64 times, time by time, into a word of the sequence of each unit and chain.
fn write_word(masks: &[u64], units: usize, (word, words): (usize, usize), bits: &mut [u64]) {
    /// Units whose masks fit into a word.
    const UNITS: usize = 64 / CHAINS;
    for first in (0..units).step_by(UNITS) {
        let count = UNITS.min(units - first);
        let mut block: [u64; 64] = std::array::from_fn(|time| {
            let masks = masks[time * units + first..][..count].iter().enumerate();
            masks.fold(0, |all, (k, mask)| all | mask << (k * CHAINS))
        });
        transpose(&mut block);
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
