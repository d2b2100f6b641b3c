//! The states of chains, one bit for each unit, chain and time.

use fearless_simd::Level;
use rayon::prelude::*;

use super::kernel::{CHAINS, Chains, Model};
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
        let lanes = chains.div_ceil(CHAINS) as u128 * CHAINS as u128;
        let words = samples.div_ceil(64) as u128;
        units as u128 * lanes * (words * 8 + 16)
    }

    /// Runs the chains of a plan and keeps their states. Groups of chains run in parallel.
    pub(super) fn run(model: &Model, plan: &Plan) -> Self {
        let words = plan.samples.div_ceil(64);
        let units = model.units();
        let level = Level::new();
        let groups = (0..plan.chains.div_ceil(CHAINS))
            .into_par_iter()
            .map(|group| {
                let first = plan.first_chain + (group * CHAINS) as u64;
                let mut chains = Chains::<1>::new(units, plan.seed, Purpose::Chain, first);
                chains.sweep(level, model, plan.burn_in);
                let mut bits = vec![0; units * CHAINS * words];
                for sample in 0..plan.samples {
                    chains.sweep(level, model, plan.thin);
                    let (word, bit) = (sample / 64, sample % 64);
                    for (up, row) in chains.up().zip(bits.chunks_exact_mut(CHAINS * words)) {
                        for lane in 0..CHAINS {
                            row[lane * words + word] |= (up >> lane & 1) << bit;
                        }
                    }
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

/// Sets the bits beyond the samples of a packed sequence to 0.
pub(super) fn clear_tail(bits: &mut [u64], samples: usize) {
    if let (Some(last), rest @ 1..) = (bits.last_mut(), samples % 64) {
        *last &= (1 << rest) - 1;
    }
}
