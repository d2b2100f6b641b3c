//! Clusters that two states at the same level exchange (Houdayer 2001; Zhu, Ochoa & Katzgraber 2015).
//!
//! A cluster is a connected set of units in which the two states differ, as large as it can be. Units
//! next to it agree in both, so exchanging the cluster changes neither Σ w_ij s_i s_j nor Σ h_i s_i
//! of the two states together, whatever the fields, and is always accepted. The states wander far
//! in one move where clusters are of all sizes: on sparse graphs. Where all units that differ hang
//! together in one cluster, the move only exchanges the states, and is left out.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::super::kernel::{Chains, Model};
use super::team::LADDERS;

/// When clusters are exchanged, and what for.
pub(super) struct Clusters {
    /// Sweeps from one move to the next; none where it does not pay.
    pub(super) every: Option<usize>,
    sweeps: usize,
    /// Shares of the differing units that moved, summed, and their number.
    pub(super) moved: f64,
    pub(super) moves: f64,
    stack: Vec<u32>,
    is_in: Vec<bool>,
}

impl Clusters {
    pub(super) fn new(every: Option<usize>) -> Self {
        Self { every, sweeps: 0, moved: 0.0, moves: 0.0, stack: Vec::new(), is_in: Vec::new() }
    }

    /// One cluster for every other level, where it is time.
    pub(super) fn step(
        &mut self,
        model: &Model,
        chains: &mut Chains,
        chain_at: &[Vec<usize>; LADDERS],
        random: &mut ChaCha8Rng,
    ) {
        let Some(every) = self.every else { return };
        self.sweeps += 1;
        if self.sweeps % every != 0 {
            return;
        }
        self.is_in.resize(model.units(), false);
        // The hottest level has no use of it: its states are independent anyway.
        let first = 1 + (self.sweeps / every) % 2;
        for k in (first..chain_at[0].len()).step_by(2) {
            self.exchange(model, chains, [chain_at[0][k], chain_at[1][k]], random);
        }
    }

    /// Exchanges the cluster around a unit in which the states differ.
    fn exchange(
        &mut self,
        model: &Model,
        chains: &mut Chains,
        [a, b]: [usize; 2],
        random: &mut ChaCha8Rng,
    ) {
        let units = model.units();
        let differ = |chains: &Chains, place: usize| chains.spin(a, place) != chains.spin(b, place);
        let count = (0..units).filter(|&place| differ(chains, place)).count();
        if count == 0 {
            return;
        }
        let chosen = random.random_range(0..count);
        let seed = (0..units).filter(|&place| differ(chains, place)).nth(chosen);
        // There are `count` of them.
        let Some(seed) = seed else { return };
        self.stack.clear();
        self.stack.push(seed as u32);
        self.is_in[seed] = true;
        let mut at = 0;
        while at < self.stack.len() {
            let place = self.stack[at] as usize;
            at += 1;
            for &(other, coupling) in model.couplings.around(place) {
                if coupling != 0.0 && !self.is_in[other as usize] && differ(chains, other as usize) {
                    self.is_in[other as usize] = true;
                    self.stack.push(other);
                }
            }
        }
        for &place in &self.stack {
            let place = place as usize;
            self.is_in[place] = false;
            let (x, y) = (chains.spin(a, place), chains.spin(b, place));
            chains.set_spin(a, place, y);
            chains.set_spin(b, place, x);
        }
        self.moved += self.stack.len() as f64 / count as f64;
        self.moves += 1.0;
    }
}
