//! The path of distributions from independent units to the machine, and the runs along it.

use rayon::prelude::*;

use super::super::kernel::{Chains, Model, Scales};
use crate::cancel;
use crate::numeric::streams::Purpose;

/// Runs of a block: a bit of a word each.
pub(super) const RUNS: usize = 64;

/// `p_β(s) ∝ exp(Σ h_i s_i + β Σ w_ij s_i s_j)` for β from 0 to 1 in even steps, divided by T.
pub(super) struct Path<'a> {
    pub(super) model: &'a Model,
    pub(super) steps: usize,
    pub(super) sweeps: usize,
}

impl Path<'_> {
    /// Makes runs, numbered from `first` on. Blocks run in parallel.
    pub(super) fn run(&self, runs: usize, seed: u64, first: u64) -> Vec<Block> {
        (0..runs.div_ceil(RUNS))
            .into_par_iter()
            .map(|block| self.run_block(seed, first + (block * RUNS) as u64))
            .collect()
    }

    fn run_block(&self, seed: u64, first: u64) -> Block {
        let mut chains = Chains::new(self.model, RUNS, seed, Purpose::AnnealedRun, first);
        let mut log_weights = [0.0; RUNS];
        // At β = 0 a sweep draws from the independent units, whatever the state was.
        set_beta(&mut chains, 0.0);
        chains.sweep(self.model, 1);
        let mut before = 0.0;
        for step in 1..=self.steps {
            cancel::point();
            // In single precision, so that updates and weights use the same numbers.
            let beta = (step as f64 / self.steps as f64) as f32;
            let change = f64::from(beta) - f64::from(before);
            for (run, log_weight) in log_weights.iter_mut().enumerate() {
                *log_weight += change * chains.log_weight(run).coupling;
            }
            set_beta(&mut chains, beta);
            chains.sweep(self.model, self.sweeps);
            before = beta;
        }
        let mut up = vec![0; self.model.units()];
        chains.masks(&mut up);
        Block { log_weights, up }
    }
}

fn set_beta(chains: &mut Chains, beta: f32) {
    let scales = Scales { coupling: f64::from(beta), ..Scales::MACHINE };
    (0..RUNS).for_each(|run| chains.set_scales(run, scales));
}

/// The results of a block of runs.
pub(super) struct Block {
    /// ln w of each run.
    pub(super) log_weights: [f64; RUNS],
    /// For each free unit, a bit for each run: whether it is up at the end.
    pub(super) up: Vec<u64>,
}
