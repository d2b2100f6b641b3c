//! One row of evidence: its runs and their averages.

use std::sync::Arc;

use super::super::answer::{Answer, Average};
use super::super::kernel::{Chains, Couplings, Model};
use super::path::{Block, Path, RUNS};
use super::weights::Weights;
use super::{AisSettings, LEAST_EFFECTIVE_SAMPLES, LEAST_SHARE};
use crate::Machine;
use crate::engine::fields::Fields;
use crate::engine::{Diagnostics, Guarantee, Importance, JointTable};
use crate::numeric::stable::{log_cosh, log_sigmoid_twice};

/// The bytes that the runs of some free units take on some threads.
pub(super) fn bytes(free: usize, settings: &AisSettings, threads: usize) -> u128 {
    let blocks = settings.chains.div_ceil(RUNS) as u128;
    let states = Chains::bytes(free, RUNS) * (threads as u128).min(blocks);
    // Bits, logarithms, shares; fields in either precision.
    states + blocks * (8 * free as u128 + 24 * RUNS as u128) + 64 * free as u128
}

/// The solution of a row.
pub(super) struct Solution {
    log_z: Average,
    places: Vec<Result<usize, f64>>,
    found: Found,
}

/// Solves a row of evidence with the streams of its number.
pub(super) fn solve(
    machine: &Machine,
    row: &[i8],
    couplings: &Arc<Couplings>,
    number: usize,
    settings: &AisSettings,
) -> Solution {
    let fields = Fields::<1>::new(machine, &couplings.order, &[row]);
    let places = couplings.places(row);
    // Runs begin with each unit in its own field.
    let apart: f64 = fields.free.iter().map(|h| std::f64::consts::LN_2 + log_cosh(h[0])).sum();
    let apart = apart + fields.shifts[0];
    if couplings.are_none() {
        let fields = fields.free.iter().map(|field| field[0]).collect();
        return Solution { log_z: Average::known(apart), places, found: Found::Apart(fields) };
    }
    let runs = settings.chains;
    let first = (number * runs.next_multiple_of(RUNS)) as u64;
    let model = Model::new(machine, row, couplings);
    let steps = settings.steps();
    let path = Path { model: &model, steps, sweeps: settings.sweeps };
    let blocks = path.run(runs, settings.seed, first);
    let weights = Weights::new(&blocks, runs);
    // The weights are in single precision.
    let rounding = f64::from(f32::EPSILON) * weights.log_mean;
    let log_z =
        Average { mean: apart + weights.log_mean, standard_error: weights.standard_error.hypot(rounding) };
    let effective_samples = weights.effective_samples();
    let importance = Importance { runs, temperatures: steps, effective_samples };
    Solution { log_z, places, found: Found::Runs { blocks, weights, importance } }
}

enum Found {
    /// Without couplings: the field on each free unit.
    Apart(Vec<f64>),
    /// The runs and their weights.
    Runs { blocks: Vec<Block>, weights: Weights, importance: Importance },
}

impl Answer for Solution {
    fn log_z(&self) -> Average {
        self.log_z
    }

    fn unit(&self, unit: usize) -> Average {
        match (self.places[unit], &self.found) {
            (Err(value), _) => Average::known(value),
            (Ok(place), Found::Apart(fields)) => Average::known(fields[place].tanh()),
            (Ok(place), Found::Runs { blocks, weights, .. }) => {
                weights.average(|block| !blocks[block].up[place])
            }
        }
    }

    fn pair(&self, a: usize, b: usize) -> Average {
        match (self.places[a], self.places[b], &self.found) {
            (Ok(p), Ok(q), Found::Runs { blocks, weights, .. }) => {
                weights.average(|block| blocks[block].up[p] ^ blocks[block].up[q])
            }
            _ => self.unit(a).times(self.unit(b)),
        }
    }

    fn joint(&self, ask: &[usize]) -> Vec<Average> {
        let places: Vec<usize> = ask.iter().filter_map(|&unit| self.places[unit].ok()).collect();
        let states = 1 << places.len();
        match &self.found {
            Found::Apart(fields) => (0..states)
                .map(|number| {
                    let spins = JointTable::state(places.len(), number);
                    let units = places.iter().zip(spins);
                    let log: f64 = units.map(|(&k, s)| log_sigmoid_twice(f64::from(s) * fields[k])).sum();
                    Average::known(log.exp())
                })
                .collect(),
            Found::Runs { blocks, weights, .. } => weights.distribution(states, |block, run| {
                let bit = |place: usize| (blocks[block].up[place] >> run & 1) as usize;
                places.iter().fold(0, |bits, &place| bits << 1 | bit(place))
            }),
        }
    }

    fn guarantee(&self) -> Guarantee {
        match self.found {
            Found::Apart(_) => Guarantee::Exact,
            Found::Runs { .. } => Guarantee::Estimate,
        }
    }

    fn diagnostics(&self) -> Diagnostics {
        match &self.found {
            Found::Apart(_) => Diagnostics::direct(),
            Found::Runs { importance, .. } => {
                let runs = importance.runs as f64;
                let enough = LEAST_EFFECTIVE_SAMPLES.max(LEAST_SHARE * runs).min(0.5 * runs);
                Diagnostics::weighted(importance.effective_samples >= enough, *importance)
            }
        }
    }
}
