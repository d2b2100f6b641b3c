//! Ladders that outlive a machine: the free phase of learning by sampling.
//!
//! A learner changes the machine a little and continues the chains on it, so that they need not find
//! its states anew (Younes 1989; Tieleman 2008; with tempering Desjardins et al. 2010). All that
//! continues is in [`Persistent`]: the states by level, and the ladder. Random streams are chosen by
//! the number of the call, so that a fit can be resumed from it alone.

use std::sync::Arc;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::super::by_rows::ByRows;
use super::super::kernel::{Couplings, Model};
use super::Temper;
use super::ladder::Ladder;
use super::reference::{Candidate, Counts};
use super::team::{LADDERS, Team};
use super::tuned::{COUNTED_EVERY, Tuned};
use crate::{Machine, Result, cancel};

/// Chains that continue from machine to machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Persistent {
    ladder: Ladder,
    centres: Vec<f64>,
    candidate: Candidate,
    /// The fields of the reference, where it is not the units' own.
    reference: Option<Vec<f64>>,
    has_clusters: bool,
    /// Whether units are up: team by team, ladder by ladder, level by level, place by place.
    states: Vec<bool>,
}

/// How long a call runs, and what it keeps.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Length {
    /// Sweeps before the first state is kept.
    pub(crate) before: usize,
    /// States kept of each ladder.
    pub(crate) states: usize,
    /// Sweeps from one kept state to the next.
    pub(crate) thin: usize,
}

/// States of the machine, and what the ladder tells of its log Z.
pub(crate) struct Drawn {
    /// For each team its states: unit by unit, whether it is up.
    pub(crate) teams: Vec<Vec<bool>>,
    /// log Z of the machine, its offset included.
    pub(crate) log_z: f64,
}

impl Temper {
    /// The runs of two ladders each.
    pub(crate) fn teams(&self) -> usize {
        self.settings.replicas
    }

    /// Ladders for a machine without clamped units, after burn-in.
    ///
    /// # Errors
    /// Invalid settings; more memory than the budget, if some more bytes are needed besides.
    pub(crate) fn persistent(&self, machine: &Machine, more: u128) -> Result<Persistent> {
        self.check(machine, machine.unit_count(), more)?;
        let model = model_of(machine);
        Ok(Persistent::of(Tuned::new(&model, self.ladder(machine), &self.settings, 0)))
    }

    /// Continues ladders on a machine of the same structure; calls are numbered from 1.
    pub(crate) fn advance(
        &self,
        persistent: &mut Persistent,
        machine: &Machine,
        length: Length,
        call: u64,
    ) -> Drawn {
        let mut tuned = self.resume(persistent, machine, call);
        tuned.settle(length.before);
        let Tuned { model, teams, ladder, centres, candidate } = &mut tuned;
        let draw = |team: &mut Team| draw(team, model, ladder, (centres, candidate), length);
        let (states, counts): (Vec<Vec<bool>>, Vec<Counts>) = teams.par_iter_mut().map(draw).unzip();
        let states = states.iter().map(|states| by_unit(states, model)).collect();
        let log_z = tuned.log_z() + machine.offset();
        tuned.follow(&self.settings, &counts);
        *persistent = Persistent::of(tuned);
        Drawn { teams: states, log_z }
    }

    /// Teams in the states of ladders, with streams of their own.
    fn resume(&self, persistent: &Persistent, machine: &Machine, call: u64) -> Tuned {
        let Persistent { ladder, centres, candidate, reference, has_clusters, states } = persistent;
        let mut model = model_of(machine);
        if let Some(reference) = reference {
            model.set_reference(Some(reference));
        }
        let mut tuned = Tuned::start(&model, ladder.clone(), &self.settings, call);
        (tuned.centres, tuned.candidate) = (centres.clone(), candidate.clone());
        let size = LADDERS * ladder.levels() * model.units();
        for (team, states) in tuned.teams.iter_mut().zip(states.chunks_exact(size.max(1))) {
            team.set_states(states, model.units());
            team.clusters.every = team.clusters.every.filter(|_| *has_clusters);
        }
        tuned
    }
}

impl Persistent {
    fn of(tuned: Tuned) -> Self {
        let mut states = Vec::new();
        for team in &tuned.teams {
            team.each_state(|is_up| states.push(is_up));
        }
        let has_clusters = tuned.teams.iter().all(|team| team.clusters.every.is_some());
        let reference = tuned.model.reference();
        let Tuned { ladder, centres, candidate, .. } = tuned;
        Self { ladder, centres, candidate, reference, has_clusters, states }
    }
}

impl Tuned {
    /// log Z over the units by bridges between neighbouring levels, see
    /// [`log_ratio`](super::solution::log_ratio).
    fn log_z(&self) -> f64 {
        let sums = self.sums();
        let bridges = self.centres.iter().zip(sums.forward.iter().zip(&sums.backward));
        let ratio: f64 =
            bridges.map(|(centre, (forward, backward))| (forward / backward).ln() + 2.0 * centre).sum();
        self.ladder.hottest_log_z(&self.model) + ratio
    }
}

fn model_of(machine: &Machine) -> Model {
    let free: Vec<usize> = (0..machine.unit_count()).collect();
    let couplings = Arc::new(Couplings::new(machine, &free));
    Model::new(machine, &vec![0; machine.unit_count()], &couplings)
}

/// The coldest states of a team: state by state, place by place; and what was counted of them.
fn draw(
    team: &mut Team,
    model: &Model,
    ladder: &Ladder,
    (centres, candidate): (&[f64], &Candidate),
    length: Length,
) -> (Vec<bool>, Counts) {
    let mut states = vec![false; LADDERS * length.states * model.units()];
    let mut counts = Counts::new(model.units());
    for state in 0..length.states {
        cancel::point();
        for _ in 0..length.thin {
            team.step(model, ladder, centres);
        }
        for number in 0..LADDERS {
            let start = (state * LADDERS + number) * model.units();
            team.coldest(number, |place, up| states[start + place] = up);
        }
        if state.is_multiple_of(COUNTED_EVERY) {
            counts.add(team, candidate);
        }
    }
    (states, counts)
}

/// The same, unit by unit.
fn by_unit(states: &[bool], model: &Model) -> Vec<bool> {
    let units = model.units();
    let count = states.len() / units.max(1);
    let mut out = vec![false; states.len()];
    for (state, spins) in states.chunks_exact(units.max(1)).enumerate() {
        for (&unit, &up) in model.couplings.order.iter().zip(spins) {
            out[unit * count + state] = up;
        }
    }
    out
}
