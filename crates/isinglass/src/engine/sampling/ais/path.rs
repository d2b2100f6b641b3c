//! The path of distributions from independent units to the machine, and the runs along it in either
//! direction.

use rayon::prelude::*;

use super::super::kernel::{Chains, Model};
use super::super::temper::Starts;
use crate::cancel;
use crate::numeric::streams::Purpose;
use crate::progress::Task;

/// Runs of a block: a bit of a word each.
pub(super) const RUNS: usize = 64;

/// `p_β(s) ∝ exp(Σ h_i s_i + β Σ w_ij s_i s_j)` for β from 0 to 1 in even steps, divided by T.
pub(super) struct Path<'a> {
    pub(super) model: &'a Model,
    pub(super) steps: usize,
    pub(super) sweeps: usize,
}

impl Path<'_> {
    /// Makes runs to the machine, numbered from `first` on. Blocks run in parallel.
    pub(super) fn run(&self, runs: usize, seed: u64, first: u64) -> Vec<Block> {
        let blocks = runs.div_ceil(RUNS);
        let task = Task::begin(blocks.saturating_mul(self.steps) as u64);
        (0..blocks)
            .into_par_iter()
            .map(|block| self.run_block(seed, first + (block * RUNS) as u64, &task))
            .collect()
    }

    fn run_block(&self, seed: u64, first: u64, task: &Task) -> Block {
        let mut chains = Chains::new(self.model, RUNS, seed, Purpose::AnnealedRun, first);
        let mut log_weights = [0.0; RUNS];
        // At β = 0 a sweep draws from the independent units, whatever the state was.
        set_beta(&mut chains, 0.0);
        chains.sweep(self.model, 1);
        for step in 1..=self.steps {
            cancel::point();
            self.add_step(step, &chains, &mut log_weights);
            set_beta(&mut chains, self.beta(step));
            chains.sweep(self.model, self.sweeps);
            task.done(1);
        }
        let mut up = vec![0; self.model.units()];
        chains.masks(&mut up);
        Block { log_weights, up }
    }

    /// Makes runs from draws of the machine back to independent units: those of [`run`](Self::run)
    /// backwards in time. A multiple of [`RUNS`]; returns ln w of each.
    ///
    /// A sweep backwards visits the units in the opposite order, which is what the reversed model
    /// does.
    pub(super) fn run_back(&self, starts: &Starts, runs: usize, seed: u64, first: u64) -> Vec<f64> {
        let reversed = self.model.reversed();
        let task = Task::begin((runs / RUNS).saturating_mul(self.steps) as u64);
        let blocks: Vec<[f64; RUNS]> = (0..runs / RUNS)
            .into_par_iter()
            .map(|block| {
                let number = first + (block * RUNS) as u64;
                let mut chains = Chains::new(&reversed, RUNS, seed, Purpose::ReturningRun, number);
                for run in 0..RUNS {
                    for place in 0..reversed.units() {
                        let up = starts.is_up(place, block * RUNS + run);
                        chains.set_spin(run, reversed.units() - 1 - place, if up { 1.0 } else { -1.0 });
                    }
                }
                let mut log_weights = [0.0; RUNS];
                for step in (1..=self.steps).rev() {
                    cancel::point();
                    set_beta(&mut chains, self.beta(step));
                    chains.sweep(&reversed, self.sweeps);
                    self.add_step(step, &chains, &mut log_weights);
                    task.done(1);
                }
                log_weights
            })
            .collect();
        blocks.concat()
    }

    /// In single precision, so that updates and weights use the same numbers.
    fn beta(&self, step: usize) -> f32 {
        (step as f64 / self.steps as f64) as f32
    }

    /// Adds what a step between two distributions contributes to ln w.
    ///
    /// In both directions the weight of a step is that of a state at the lower β before, or at the
    /// higher β after, the sweeps at the higher β in the order of the way to the machine.
    fn add_step(&self, step: usize, chains: &Chains, log_weights: &mut [f64; RUNS]) {
        let change = f64::from(self.beta(step)) - f64::from(self.beta(step - 1));
        for (run, log_weight) in log_weights.iter_mut().enumerate() {
            *log_weight += change * chains.log_weight(run);
        }
    }
}

fn set_beta(chains: &mut Chains, beta: f32) {
    (0..RUNS).for_each(|run| chains.set_scale(run, f64::from(beta)));
}

/// The results of a block of runs.
pub(super) struct Block {
    /// ln w of each run.
    pub(super) log_weights: [f64; RUNS],
    /// For each free unit, a bit for each run: whether it is up at the end.
    pub(super) up: Vec<u64>,
}
