//! One row of evidence: its runs and their averages.

use std::sync::Arc;

use super::super::places;
use super::path::{Block, Path, RUNS};
use super::weights::{Average, Weights};
use super::wiring::Wiring;
use super::{AisSettings, LEAST_EFFECTIVE_SAMPLES, LEAST_SHARE};
use crate::engine::fields::Fields;
use crate::engine::{Diagnostics, Guarantee, Importance, JointTable};
use crate::numeric::stable::{log_cosh, log_sigmoid_twice};

/// A row of evidence and the number of its streams.
pub(super) struct Row {
    pub(super) wiring: Arc<Wiring>,
    pub(super) fields: Fields<1>,
    pub(super) number: usize,
}

/// The bytes that the runs of some free units take on some threads.
pub(super) fn bytes(free: usize, settings: &AisSettings, threads: usize) -> u128 {
    let blocks = settings.chains.div_ceil(RUNS) as u128;
    let states = free as u128 * RUNS as u128 * 4 * (threads as u128).min(blocks);
    // Bits, logarithms, shares; fields in either precision; steps.
    let ends = blocks * (8 * free as u128 + 24 * RUNS as u128);
    states + ends + 64 * free as u128 + 4 * settings.temperatures as u128
}

impl Row {
    pub(super) fn solve(&self, settings: &AisSettings) -> Answer {
        let fields: Vec<f64> = self.fields.free.iter().map(|field| field[0]).collect();
        let places = places(self.fields.values.iter().map(|value| value[0]));
        // Runs begin with each unit in its own field.
        let apart = fields.iter().map(|&h| std::f64::consts::LN_2 + log_cosh(h)).sum::<f64>();
        let apart = apart + self.fields.shifts[0];
        if self.wiring.are_none() {
            return Answer { log_z: Average::known(apart), places, found: Found::Apart(fields) };
        }
        let runs = settings.chains;
        let first = (self.number * runs.next_multiple_of(RUNS)) as u64;
        let path = Path::new(&self.wiring, &fields, settings.temperatures);
        let blocks = path.run(runs, settings.sweeps, settings.seed, first);
        let weights = Weights::new(&blocks, runs);
        // The weights are in single precision.
        let rounding = f64::from(f32::EPSILON) * weights.log_mean;
        let log_z = Average {
            mean: apart + weights.log_mean,
            standard_error: weights.standard_error.hypot(rounding),
        };
        let importance = Importance {
            runs,
            temperatures: settings.temperatures,
            effective_samples: weights.effective_samples(),
        };
        Answer { log_z, places, found: Found::Runs { blocks, weights, importance } }
    }
}

/// The solution of a row.
pub(super) struct Answer {
    pub(super) log_z: Average,
    places: Vec<Result<usize, f64>>,
    found: Found,
}

enum Found {
    /// Without couplings: the field on each free unit.
    Apart(Vec<f64>),
    /// The runs and their weights.
    Runs { blocks: Vec<Block>, weights: Weights, importance: Importance },
}

impl Answer {
    pub(super) fn unit(&self, unit: usize) -> Average {
        match (self.places[unit], &self.found) {
            (Err(value), _) => Average::known(value),
            (Ok(place), Found::Apart(fields)) => Average::known(fields[place].tanh()),
            (Ok(place), Found::Runs { blocks, weights, .. }) => {
                weights.average(|block| !blocks[block].up[place])
            }
        }
    }

    pub(super) fn pair(&self, a: usize, b: usize) -> Average {
        match (self.places[a], self.places[b], &self.found) {
            (Ok(p), Ok(q), Found::Runs { blocks, weights, .. }) => {
                weights.average(|block| blocks[block].up[p] ^ blocks[block].up[q])
            }
            _ => {
                let (a, b) = (self.unit(a), self.unit(b));
                // At least one has no error; if the other has, the first is −1 or +1.
                Average { mean: a.mean * b.mean, standard_error: a.standard_error.max(b.standard_error) }
            }
        }
    }

    /// The probabilities of the joint states of some free units, in counting order.
    pub(super) fn joint(&self, ask: &[usize]) -> Vec<Average> {
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

    pub(super) fn guarantee(&self) -> Guarantee {
        match self.found {
            Found::Apart(_) => Guarantee::Exact,
            Found::Runs { .. } => Guarantee::Estimate,
        }
    }

    pub(super) fn diagnostics(&self) -> Diagnostics {
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
