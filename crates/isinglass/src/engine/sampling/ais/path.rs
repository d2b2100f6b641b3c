//! The distributions that lead from independent units to the machine, and the runs through them.

use std::sync::Arc;

use fearless_simd::{Level, Simd, dispatch, f32x16, prelude::*, u32x16};
use rayon::prelude::*;

use super::super::kernel::{CHAINS, Chains, Couplings, add_pull, choose};
use crate::numeric::streams::Purpose;

/// Groups of chains that go through the couplings together.
const GROUPS: usize = 4;

/// Runs that go through the couplings together: a bit of a word each.
pub(super) const RUNS: usize = GROUPS * CHAINS;

/// An energy for each run of a block.
type Energies = [[f64; CHAINS]; GROUPS];

/// `p_β(s) ∝ exp(Σ h_i s_i + β Σ w_ij s_i s_j)` for β from 0 to 1 in even steps, with everything divided by T.
pub(super) struct Path {
    couplings: Arc<Couplings>,
    /// 2 h_i of each free unit.
    fields: Vec<f32>,
    /// In single precision, so that updates and weights know the same numbers.
    betas: Vec<f32>,
}

impl Path {
    pub(super) fn new(couplings: &Arc<Couplings>, fields: &[f64], steps: usize) -> Self {
        Self {
            couplings: Arc::clone(couplings),
            fields: fields.iter().map(|h| (2.0 * h) as f32).collect(),
            betas: (0..=steps).map(|k| (k as f64 / steps as f64) as f32).collect(),
        }
    }

    /// Runs, numbered from `first` on. Blocks of them run in parallel.
    pub(super) fn run(&self, runs: usize, sweeps: usize, seed: u64, first: u64) -> Vec<Block> {
        let level = Level::new();
        (0..runs.div_ceil(RUNS))
            .into_par_iter()
            .map(|block| self.run_block(level, sweeps, seed, first + (block * RUNS) as u64))
            .collect()
    }

    fn run_block(&self, level: Level, sweeps: usize, seed: u64, first: u64) -> Block {
        let mut chains = Chains::new(self.fields.len(), seed, Purpose::AnnealedRun, first);
        let mut log_weights = [0.0; RUNS];
        // At β = 0 a sweep draws from the independent units, whatever the state was.
        let mut energies = dispatch!(level, simd => sweep(simd, self, 0.0, &mut chains));
        for betas in self.betas.windows(2) {
            let step = f64::from(betas[1]) - f64::from(betas[0]);
            for (log_weight, energy) in log_weights.iter_mut().zip(energies.as_flattened()) {
                *log_weight += step * energy;
            }
            for _ in 0..sweeps {
                energies = dispatch!(level, simd => sweep(simd, self, betas[1], &mut chains));
            }
        }
        Block { log_weights, up: chains.up().collect() }
    }
}

/// Where some runs came to.
pub(super) struct Block {
    /// ln w of each run.
    pub(super) log_weights: [f64; RUNS],
    /// For each free unit, a bit for each run: whether it is up in the end.
    pub(super) up: Vec<u64>,
}

/// Update every unit once at some β, which leaves p_β as it is. Gives `Σ w_ij s_i s_j` of the new states.
///
/// When a unit is updated, those before it have their new spins, so what these contribute to its field makes up the energy of the new state:
/// `Σ_i s_i Σ_{j<i} w_ij s_j`. It is summed in double precision and afresh in every sweep: nothing drifts.
#[inline(always)]
fn sweep<S: Simd>(simd: S, path: &Path, beta: f32, chains: &mut Chains<GROUPS>) -> Energies {
    let mut random = chains.random.map(|words| words.map(|word| u32x16::load_array(simd, word)));
    let mut energies = [[0.0; CHAINS]; GROUPS];
    let beta = f32x16::splat(simd, beta);
    for unit in 0..path.fields.len() {
        let around = path.couplings.around(unit);
        let (before, after) = around.split_at(around.partition_point(|&(other, _)| (other as usize) < unit));
        let none = [f32x16::splat(simd, 0.0); GROUPS];
        let new = add_pull(simd, none, before, &chains.states);
        let all = add_pull(simd, new, after, &chains.states);
        let own = f32x16::splat(simd, path.fields[unit]);
        for group in 0..GROUPS {
            let spin = choose(simd, all[group].mul_add(beta, own), &mut random[group]);
            spin.store_array(&mut chains.states[unit].0[group]);
            let energy = (spin * new[group]).to_array();
            for lane in 0..CHAINS {
                // Couplings are stored twice as large.
                energies[group][lane] += 0.5 * f64::from(energy[lane]);
            }
        }
    }
    chains.random = random.map(|words| words.map(SimdBase::to_array));
    energies
}
