//! Clusters that two states at the same level exchange (Houdayer 2001; Zhu, Ochoa & Katzgraber 2015).
//!
//! A cluster is a connected set of units in which the two states differ, as large as it can be. Units
//! next to it agree in both, so exchanging the cluster changes neither Σ w_ij s_i s_j nor Σ h_i s_i
//! of the two states together, whatever the fields, and is always accepted. The states wander far
//! in one move where clusters are of all sizes: on sparse graphs. Where all units that differ are in
//! one cluster, the move only exchanges the states, and is left out.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::super::kernel::{Chains, Model};
use super::team::LADDERS;

/// When clusters are exchanged, and what for.
pub(super) struct Clusters {
    /// Sweeps from one move to the next; none where it does not pay.
    pub(super) every: Option<usize>,
    sweeps: usize,
    /// The largest clusters as shares of the units that differ, summed, and their number.
    pub(super) largest: f64,
    pub(super) moves: f64,
    /// The units that differ and have not been met.
    differ: Vec<bool>,
    stack: Vec<u32>,
}

impl Clusters {
    pub(super) fn new(every: Option<usize>) -> Self {
        Self { every, sweeps: 0, largest: 0.0, moves: 0.0, differ: Vec::new(), stack: Vec::new() }
    }

    /// Exchanges clusters at the colder half of the levels, where it is time.
    pub(super) fn step(
        &mut self,
        model: &Model,
        chains: &mut Chains,
        chain_at: &[Vec<usize>; LADDERS],
        random: &mut ChaCha8Rng,
    ) {
        let Some(every) = self.every else { return };
        self.sweeps += 1;
        if !self.sweeps.is_multiple_of(every) {
            return;
        }
        let levels = chain_at[0].len();
        for k in levels / 2..levels {
            self.exchange(model, chains, [chain_at[0][k], chain_at[1][k]], random);
        }
    }

    /// Exchanges each cluster of two states with probability ½. The units that differ are the same
    /// before and after, so any choice among the clusters leaves the distribution as it is.
    fn exchange(&mut self, model: &Model, chains: &mut Chains, pair: [usize; 2], random: &mut ChaCha8Rng) {
        self.differ.resize(model.units(), false);
        chains.differences(pair, &mut self.differ);
        let count = self.differ.iter().filter(|&&differs| differs).count();
        let mut largest = 0;
        for seed in 0..model.units() {
            if !std::mem::take(&mut self.differ[seed]) {
                continue;
            }
            self.stack.clear();
            self.stack.push(seed as u32);
            let mut at = 0;
            while at < self.stack.len() {
                for &(other, coupling) in model.couplings.around(self.stack[at] as usize) {
                    if coupling != 0.0 && std::mem::take(&mut self.differ[other as usize]) {
                        self.stack.push(other);
                    }
                }
                at += 1;
            }
            largest = largest.max(self.stack.len());
            if random.random() {
                for chain in pair {
                    chains.flip(chain, &self.stack);
                }
            }
        }
        if count > 0 {
            self.largest += largest as f64 / count as f64;
            self.moves += 1.0;
        }
    }
}
