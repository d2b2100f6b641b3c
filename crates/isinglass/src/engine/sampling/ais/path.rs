//! The path of distributions from independent units to the machine, and the runs along it.

use std::sync::Arc;

use fearless_simd::{Level, Simd, dispatch, f32x16, prelude::*, u32x16};
use rayon::prelude::*;

use super::super::kernel::{CHAINS, Chains, Spins, add_pull, choose};
use super::wiring::{BUNCH, Shared, Step, Wiring};
use crate::cancel;
use crate::numeric::streams::Purpose;

/// Groups of chains that share the walk along the couplings.
const GROUPS: usize = 4;

/// Runs of a block: a bit of a word each.
pub(super) const RUNS: usize = GROUPS * CHAINS;

/// An energy for each run of a block.
type Energies = [[f64; CHAINS]; GROUPS];

/// `p_β(s) ∝ exp(Σ h_i s_i + β Σ w_ij s_i s_j)` for β from 0 to 1 in even steps, divided by T.
pub(super) struct Path {
    wiring: Arc<Wiring>,
    /// 2 h_i of each free unit.
    fields: Vec<f32>,
    /// In single precision, so that updates and weights use the same numbers.
    betas: Vec<f32>,
}

impl Path {
    pub(super) fn new(wiring: &Arc<Wiring>, fields: &[f64], steps: usize) -> Self {
        Self {
            wiring: Arc::clone(wiring),
            fields: fields.iter().map(|h| (2.0 * h) as f32).collect(),
            betas: (0..=steps).map(|k| (k as f64 / steps as f64) as f32).collect(),
        }
    }

    /// Makes runs, numbered from `first` on. Blocks run in parallel.
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
                cancel::point();
                energies = dispatch!(level, simd => sweep(simd, self, betas[1], &mut chains));
            }
        }
        Block { log_weights, up: chains.up().collect() }
    }
}

/// The results of a block of runs.
pub(super) struct Block {
    /// ln w of each run.
    pub(super) log_weights: [f64; RUNS],
    /// For each free unit, a bit for each run: whether it is up at the end.
    pub(super) up: Vec<u64>,
}

/// Updates every unit once at some β, which leaves p_β invariant. Returns `Σ w_ij s_i s_j` of the
/// new states.
///
/// When a unit is updated, those before it have their new spins, so their contributions to its
/// field add up to the energy of the new state: `Σ_i s_i Σ_{j<i} w_ij s_j`, summed in double
/// precision and anew in every sweep, without drift.
#[inline(always)]
fn sweep<S: Simd>(simd: S, path: &Path, beta: f32, chains: &mut Chains<GROUPS>) -> Energies {
    let none = [f32x16::splat(simd, 0.0); GROUPS];
    let mut block = Sweep {
        beta: f32x16::splat(simd, beta),
        random: chains.random.map(|words| words.map(|word| u32x16::load_array(simd, word))),
        energies: [[0.0; CHAINS]; GROUPS],
    };
    let states = &mut chains.states[..];
    for step in &path.wiring.steps {
        match step {
            Step::Unit(unit, before) => {
                let [before, after] = path.wiring.around(*unit, *before);
                let new = add_pull(simd, none, before, states);
                let all = add_pull(simd, new, after, states);
                block.update(simd, path.fields[*unit], [new, all], &mut states[*unit]);
            }
            Step::Bunch(bunch) => {
                let [before, after] = path.wiring.around_bunch(bunch);
                let new = add_pulls(simd, [none; BUNCH], before, states);
                let all = add_pulls(simd, new, after, states);
                for k in 0..BUNCH {
                    let [mut new, mut all] = [new[k], all[k]];
                    for other in (0..BUNCH).filter(|&other| other != k) {
                        let coupling = f32x16::splat(simd, bunch.inner[k][other]);
                        for group in 0..GROUPS {
                            let spin = f32x16::load_array_ref(simd, &states[bunch.first + other].0[group]);
                            all[group] = spin.mul_add(coupling, all[group]);
                            if other < k {
                                new[group] = spin.mul_add(coupling, new[group]);
                            }
                        }
                    }
                    let unit = bunch.first + k;
                    block.update(simd, path.fields[unit], [new, all], &mut states[unit]);
                }
            }
        }
    }
    chains.random = block.random.map(|words| words.map(SimdBase::to_array));
    block.energies
}

/// The state of a sweep of a block.
struct Sweep<S: Simd> {
    beta: f32x16<S>,
    random: [[u32x16<S>; 4]; GROUPS],
    energies: Energies,
}

impl<S: Simd> Sweep<S> {
    /// Draws the spins of a unit, given its own field and the contributions of neighbours: those
    /// with new spins, and all.
    #[inline(always)]
    fn update(
        &mut self,
        simd: S,
        field: f32,
        [new, all]: [[f32x16<S>; GROUPS]; 2],
        state: &mut Spins<GROUPS>,
    ) {
        let own = f32x16::splat(simd, field);
        for group in 0..GROUPS {
            let spin = choose(simd, all[group].mul_add(self.beta, own), &mut self.random[group]);
            spin.store_array(&mut state.0[group]);
            let energy = (spin * new[group]).to_array();
            for lane in 0..CHAINS {
                // Couplings are stored twice as large.
                self.energies[group][lane] += 0.5 * f64::from(energy[lane]);
            }
        }
    }
}

/// Adds the contributions of some neighbours to the fields of a bunch.
#[inline(always)]
fn add_pulls<S: Simd>(
    simd: S,
    mut fields: [[f32x16<S>; GROUPS]; BUNCH],
    neighbours: &[Shared],
    states: &[Spins<GROUPS>],
) -> [[f32x16<S>; GROUPS]; BUNCH] {
    for (other, couplings) in neighbours {
        let state = &states[*other as usize].0;
        for k in 0..BUNCH {
            let coupling = f32x16::splat(simd, couplings[k]);
            for group in 0..GROUPS {
                fields[k][group] =
                    f32x16::load_array_ref(simd, &state[group]).mul_add(coupling, fields[k][group]);
            }
        }
    }
    fields
}
