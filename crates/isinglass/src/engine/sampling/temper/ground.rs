//! Most probable states: annealed chains, then ladders that end far below the machine's temperature.
//!
//! Easy machines are solved by simulated annealing alone. Where annealed runs do not agree, ladders are
//! tempered: every few sweeps the coldest state of each goes downhill by single and paired flips. Each
//! annealed run and each run of two ladders is independent, and keeps the best state that it met.

use std::sync::Arc;

use rayon::prelude::*;

use super::super::by_rows::ByRows;
use super::super::kernel::{Couplings, Model};
use super::annealing::{self, Plan};
use super::ladder::Ladder;
use super::landscape::{Best, Landscape};
use super::team::{LADDERS, Team};
use super::tuned::Tuned;
use super::{FIRST_LEVELS, Temper, TemperSettings};
use crate::engine::{Diagnostics, Guarantee, Meetings, Mode, ModeFinder};
use crate::{Evidence, Machine, Result, cancel};

/// The coldest level, in typical fields of a unit: flips against such a field are one in 160,000.
const COLDEST: f64 = 6.0;

/// The most sweeps of annealed chains: schedules of 32 to 16,384.
const MOST_ANNEALED: usize = 32_736;

/// Chains of a run on a sparse graph, where their states are crossed. There is a run for each replica, and
/// twice as many have to meet the best energy.
const CROSSED_CHAINS: usize = 8;

/// Runs of one chain for each replica elsewhere. As many as replicas have to meet the best energy.
const RUNS_PER_REPLICA: usize = 4;

/// Annealing has been over the ground: a ladder tuned in this share of burn-in is good enough, one in so many sweeps.
const BURN_IN_SHARE: usize = 4;

/// Of tempered runs one in so many has to meet the best energy.
const WANTED_LADDERS: usize = 2;

/// Sweeps from one descent to the next.
const LOOK_EVERY: usize = 16;

/// Sweeps between two comparisons of the runs.
const SEGMENT: usize = 256;

/// The least sweeps of tempered runs that do not agree. They end when none has met a better state in the second half
/// of its sweeps.
const LEAST_SWEEPS: usize = 4096;

/// The most sweeps of tempered runs where sweeps are not given.
const MOST_SWEEPS: usize = 32 * 1024;

impl ModeFinder for Temper {
    fn mode(&self, machine: &Machine, evidence: &Evidence) -> Result<Mode> {
        machine.check_evidence(evidence)?;
        let free: Vec<usize> = evidence.free().collect();
        self.check(machine, free.len(), 0)?;
        let couplings = Arc::new(Couplings::new(machine, &free));
        let landscape = Landscape::new(machine, evidence.cells(), &couplings);
        let mut model = Model::new(machine, evidence.cells(), &couplings);
        model.set_free_reference();
        let (best, meetings, has_agreed) = self.search(machine, &model, &landscape);
        let mut state = evidence.cells().to_vec();
        for (place, &unit) in couplings.order.iter().enumerate() {
            state[unit] = best.state[place] as i8;
        }
        let is_proved = free.is_empty() || landscape.is_at_limit(best.value);
        Ok(Mode {
            energy: machine.energy(&state),
            state,
            guarantee: if is_proved { Guarantee::Exact } else { Guarantee::Approximation },
            diagnostics: Diagnostics { converged: is_proved || has_agreed, ..Diagnostics::direct() },
            meetings: Some(meetings),
        })
    }
}

impl Temper {
    /// Anneals, and tempers where annealed runs do not agree. Returns the best state, which of the
    /// independent runs met its energy, and whether these are enough.
    fn search(&self, machine: &Machine, model: &Model, landscape: &Landscape) -> (Best, Meetings, bool) {
        let replicas = self.settings.replicas;
        let unit_scale = machine.temperature() / landscape.typical_field();
        let (runs, chains, wanted) = if landscape.is_sparse() {
            (replicas, CROSSED_CHAINS, 2 * replicas)
        } else {
            (RUNS_PER_REPLICA * replicas, 1, replicas)
        };
        let plan = Plan {
            seed: self.settings.seed,
            runs,
            chains,
            wanted,
            sweeps: self.settings.sweeps.unwrap_or(MOST_ANNEALED).min(MOST_ANNEALED),
            unit_scale,
        };
        let annealed = annealing::search(model, landscape, &plan);
        let left = self.settings.sweeps.map_or(MOST_SWEEPS, |sweeps| sweeps - annealed.sweeps);
        let bests = if annealed.has_agreed || landscape.is_at_limit(annealed.best.value) || left == 0 {
            Vec::new()
        } else {
            let levels = self.settings.levels.unwrap_or(FIRST_LEVELS);
            let start = Ladder::of_scales(levels, COLDEST * unit_scale);
            self.temper(model, landscape, start, annealed.best.value, left)
        };
        let runs = annealed.values.len() + bests.len();
        let best = bests.iter().cloned().fold(annealed.best.clone(), Best::or);
        let met_by_annealing = annealed.met(landscape, best.value);
        let met_by_ladders = met(landscape, &bests, best.value);
        let has_agreed =
            annealed.has_agreed || !bests.is_empty() && WANTED_LADDERS * met_by_ladders >= bests.len();
        (best, Meetings { met: met_by_annealing + met_by_ladders, runs }, has_agreed)
    }

    /// The best states of independent runs of tempered ladders, which end when enough of them have met the same
    /// −E, no worse than a known one, and none has met a better one for a segment; or when the second half of their
    /// sweeps was in vain.
    fn temper(
        &self,
        model: &Model,
        landscape: &Landscape,
        start: Ladder,
        known: f64,
        most: usize,
    ) -> Vec<Best> {
        let settings = TemperSettings { burn_in: self.settings.burn_in / BURN_IN_SHARE, ..self.settings };
        let mut tuned = Tuned::new(model, start, &settings, 0);
        let mut bests = vec![Best::none(model.units()); tuned.teams.len()];
        let mut top = known;
        let (mut done, mut bettered) = (0, 0);
        // Where sweeps are given, all of them are made in search of agreement.
        let is_patient = self.settings.sweeps.is_some();
        while done < most && (is_patient || done < 2 * bettered.max(LEAST_SWEEPS / 2)) {
            let sweeps = (most - done).min(SEGMENT);
            done += sweeps;
            let (ladder, centres) = (&tuned.ladder, &tuned.centres);
            tuned.teams.par_iter_mut().zip(&mut bests).for_each(|(team, best)| {
                for sweep in 0..sweeps {
                    cancel::point();
                    team.step(model, ladder, centres);
                    if sweep % LOOK_EVERY == 0 {
                        look(team, landscape, best);
                    }
                }
            });
            let before = top;
            top = bests.iter().map(|best| best.value).fold(top, f64::max);
            if landscape.is_better(top, before) {
                bettered = done;
            } else if WANTED_LADDERS * met(landscape, &bests, top) >= bests.len() {
                break;
            }
        }
        bests
    }
}

/// The runs that met some −E.
fn met(landscape: &Landscape, bests: &[Best], top: f64) -> usize {
    bests.iter().filter(|run| !landscape.is_better(top, run.value)).count()
}

/// Descends from the coldest states of a team.
fn look(team: &Team, landscape: &Landscape, best: &mut Best) {
    let mut state = vec![0.0; best.state.len()];
    for ladder in 0..LADDERS {
        team.coldest(ladder, |place, up| state[place] = if up { 1.0 } else { -1.0 });
        let value = landscape.descend(&mut state);
        if value > best.value {
            best.value = value;
            best.state.copy_from_slice(&state);
        }
    }
}
