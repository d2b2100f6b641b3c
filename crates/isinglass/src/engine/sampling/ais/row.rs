//! One row of evidence: its runs from both ends and their averages.

use super::super::answer::{Average, Sampled};
use super::super::kernel::{Chains, Couplings, Model};
use super::super::temper::Temper;
use super::AisSettings;
use super::bridge::Works;
use super::path::{Block, Path, RUNS};
use super::weights::Weights;
use crate::engine::sampling::ByRows;
use crate::engine::{Diagnostics, Importance, Mixing};

/// Runs of two ladders each that draw where reverse runs begin.
const TEAMS: usize = 8;

/// Of so many forward runs one runs back.
const FORWARD_RUNS: usize = 2;

/// Sweeps of annealing, all forward runs together, for a sweep of burn-in: three times as many sweeps
/// of about 256 chains then take three quarters of the time of the forward runs.
const ANNEALED: usize = 1024;

/// Sweeps of burn-in at least.
const LEAST_BURN_IN: usize = 256;

/// Tempered chains do not share their streams with those of engine `temper`.
const OTHER_SEED: u64 = 0x616e_6e65_616c_6564;

impl AisSettings {
    /// Runs from the machine back to independent units: whole blocks, equally many for each ladder.
    fn reverse_runs(&self) -> usize {
        (self.chains / FORWARD_RUNS).next_multiple_of(RUNS)
    }

    /// The tempered run from which reverse runs begin.
    fn tempering(&self) -> Temper {
        let annealed = self.chains.saturating_mul(self.steps()).saturating_mul(self.sweeps);
        let burn_in = (annealed / ANNEALED).max(LEAST_BURN_IN);
        Temper::new()
            .replicas(TEAMS)
            .burn_in(burn_in)
            .sweeps(Some(2 * burn_in))
            .seed(self.seed ^ OTHER_SEED)
            .budget(self.budget)
    }

    /// The bytes that the runs of some free units take on some threads.
    pub(super) fn bytes(&self, free: usize, edges: usize, threads: usize) -> u128 {
        let blocks = self.chains.div_ceil(RUNS) as u128;
        let states = Chains::bytes(free, RUNS) * (threads as u128).min(blocks);
        // Bits, logarithms, shares; fields in either precision.
        let forward = states + blocks * (8 * free as u128 + 24 * RUNS as u128) + 64 * free as u128;
        // Logarithms and what is made of them; the couplings backwards.
        let reverse = 32 * self.reverse_runs() as u128 + Couplings::bytes(free, edges);
        forward + reverse + self.tempering().bytes(free, edges)
    }

    /// Sweeps of all chains together.
    pub(super) fn all_sweeps(&self) -> f64 {
        let runs = self.chains as f64 + self.reverse_runs() as f64;
        runs * self.steps() as f64 * self.sweeps as f64 + self.tempering().all_sweeps()
    }
}

/// Runs from both ends.
pub(in crate::engine) struct Runs {
    blocks: Vec<Block>,
    weights: Weights,
    importance: Importance,
    /// Of the tempered chains from whose draws reverse runs begin.
    mixing: Mixing,
    have_mixed: bool,
}

/// Runs from both ends for a row of evidence, with the streams of its number; log Z without couplings
/// is known.
pub(super) fn sample(model: &Model, apart: f64, number: usize, settings: &AisSettings) -> (Average, Runs) {
    let AisSettings { chains: runs, sweeps, seed, .. } = *settings;
    let steps = settings.steps();
    let path = Path { model, steps, sweeps };
    let first = (number * runs.next_multiple_of(RUNS)) as u64;
    let blocks = path.run(runs, seed, first);
    let weights = Weights::new(&blocks, runs);

    let reverse_runs = settings.reverse_runs();
    let starts = settings.tempering().starts(model, number as u64, reverse_runs / (2 * TEAMS));
    let reverse = path.run_back(&starts, reverse_runs, seed, (number * reverse_runs) as u64);
    let forward: Vec<f64> = blocks.iter().flat_map(|block| block.log_weights).take(runs).collect();
    let works = Works { forward: &forward, reverse: &reverse, teams: TEAMS };
    let (both, back) = (works.bridge(), works.reverse_only());

    // The weights are in single precision.
    let rounding = f64::from(f32::EPSILON) * both.mean.abs();
    let importance = Importance {
        runs,
        temperatures: steps,
        effective_samples: weights.effective_samples(),
        forward_log_z: apart + weights.log_mean,
        forward_error: weights.standard_error.hypot(rounding),
        reverse_runs,
        reverse_log_z: apart + back.mean,
        reverse_error: back.standard_error.hypot(rounding),
        log_z: apart + both.mean,
        log_z_error: both.standard_error.hypot(rounding),
    };
    // Ends that disagree leave log Z open between them.
    let open = if importance.ends_agree() {
        0.0
    } else {
        0.5 * (importance.reverse_log_z - importance.forward_log_z).abs()
    };
    let log_z = Average { mean: importance.log_z, standard_error: importance.log_z_error.max(open) };
    let (mixing, have_mixed) = (starts.mixing(), starts.have_mixed());
    (log_z, Runs { blocks, weights, importance, mixing, have_mixed })
}

impl Sampled for Runs {
    fn unit(&self, place: usize) -> Average {
        self.weights.average(|block| !self.blocks[block].up[place])
    }

    fn pair(&self, a: usize, b: usize) -> Average {
        self.weights.average(|block| self.blocks[block].up[a] ^ self.blocks[block].up[b])
    }

    fn joint(&self, places: &[usize]) -> Vec<Average> {
        self.weights.distribution(1 << places.len(), |block, run| {
            let bit = |place: usize| (self.blocks[block].up[place] >> run & 1) as usize;
            places.iter().fold(0, |bits, &place| bits << 1 | bit(place))
        })
    }

    fn diagnostics(&self) -> Diagnostics {
        let converged = self.importance.has_many_runs() && self.importance.ends_agree() && self.have_mixed;
        Diagnostics { mixing: Some(self.mixing.clone()), ..Diagnostics::weighted(converged, self.importance) }
    }
}
