//! Simulated annealing of chains side by side (Kirkpatrick, Gelatt & Vecchi 1983): the quick search for
//! most probable states.
//!
//! Every chain cools from a random state in even steps of 1/T, and descends at the end. On sparse graphs a
//! run is a few chains, whose states are crossed; elsewhere, where all that differs hangs together, it is
//! one chain. Schedules double in length. Runs have agreed when enough of them, of all schedules so far,
//! have met the best energy, and the last schedule has met none better: easy machines need no more than two
//! short schedules. At the end of the longest, half as many are enough.

use std::ops::Range;

use rayon::prelude::*;

use super::super::kernel::{Chains, Model};
use super::landscape::{Best, Landscape};
use crate::numeric::streams::Purpose;

/// The sweeps of the first schedule.
const FIRST: usize = 32;

/// Where schedules begin and end, as typical fields of a unit over T.
const COOLING: Range<f64> = 0.8..7.0;

/// Chains that are annealed together: they share the walk along the neighbours.
const BLOCK: usize = 32;

/// Where chains follow flips, they share little.
const FLIPPED_BLOCK: usize = 16;

/// What a search is given.
pub(super) struct Plan {
    pub(super) seed: u64,
    /// Independent runs of each schedule.
    pub(super) runs: usize,
    /// Chains of a run.
    pub(super) chains: usize,
    /// Runs of all schedules that have to meet the best energy.
    pub(super) wanted: usize,
    /// The most sweeps of a chain, all schedules together.
    pub(super) sweeps: usize,
    /// The scale of the machine at which a typical field is as large as T.
    pub(super) unit_scale: f64,
}

/// What a search has found.
pub(super) struct Annealed {
    pub(super) best: Best,
    /// −E at the end of each run of all schedules.
    pub(super) values: Vec<f64>,
    /// Sweeps of a chain, all schedules together.
    pub(super) sweeps: usize,
    pub(super) has_agreed: bool,
}

/// Anneals on schedules of doubling length until runs agree, or sweeps are used up.
pub(super) fn search(model: &Model, landscape: &Landscape, plan: &Plan) -> Annealed {
    let best = Best::none(model.units());
    let mut found = Annealed { best, values: Vec::new(), sweeps: 0, has_agreed: false };
    let mut schedule = 0;
    while !found.has_agreed && found.sweeps < plan.sweeps && !landscape.is_at_limit(found.best.value) {
        let left = plan.sweeps - found.sweeps;
        let length = FIRST << schedule;
        // What would be left for a schedule that is shorter than this one is added to it.
        let length = if left < 3 * length { left } else { length };
        let before = found.best.value;
        let ends = anneal(model, landscape, plan, schedule, length);
        found.values.extend(ends.iter().map(|end| end.value));
        found.best = ends.into_iter().fold(found.best, Best::or);
        found.sweeps += length;
        let wanted = if found.sweeps < plan.sweeps { plan.wanted } else { plan.wanted.div_ceil(2) };
        found.has_agreed = !landscape.is_better(found.best.value, before)
            && found.met(landscape, found.best.value) >= wanted;
        schedule += 1;
    }
    found
}

impl Annealed {
    /// The runs that met some −E.
    pub(super) fn met(&self, landscape: &Landscape, top: f64) -> usize {
        self.values.iter().filter(|&&value| !landscape.is_better(top, value)).count()
    }
}

/// The states in which the runs of a schedule end.
fn anneal(model: &Model, landscape: &Landscape, plan: &Plan, schedule: usize, length: usize) -> Vec<Best> {
    let last = (length - 1).max(1) as f64;
    let step = (COOLING.end - COOLING.start) / last;
    let scale = |sweep: usize| plan.unit_scale * (COOLING.start + step * sweep as f64);
    let scales: Vec<f64> = (0..length).map(scale).collect();
    let block = if model.couplings.follows_flips() { FLIPPED_BLOCK } else { BLOCK };
    // Whole runs.
    let block = block.next_multiple_of(plan.chains);
    let all = plan.runs * plan.chains;
    let firsts: Vec<usize> = (0..all).step_by(block).collect();
    let run = |&first: &usize| {
        let count = block.min(all - first);
        let number = (schedule as u64) << 32 | first as u64;
        let mut chains = Chains::new(model, count, plan.seed, Purpose::Annealing, number);
        chains.anneal(model, &scales);
        let mut best = Best::none(model.units());
        let mut state = best.state.clone();
        let mut ends = Vec::with_capacity(count / plan.chains);
        for chain in 0..count {
            chains.each_spin(chain, |place, spin| state[place] = f64::from(spin));
            if chain % plan.chains == 0 {
                best.state.copy_from_slice(&state);
            } else {
                landscape.cross(&mut best.state, &state);
            }
            if (chain + 1) % plan.chains == 0 {
                best.value = landscape.descend(&mut best.state);
                ends.push(best.clone());
            }
        }
        ends
    };
    let blocks: Vec<Vec<Best>> = firsts.par_iter().map(run).collect();
    blocks.into_iter().flatten().collect()
}
