//! Most probable states: ladders that end far below the machine's temperature, and descent.
//!
//! Every few sweeps the coldest state of each ladder goes downhill by single and paired flips; each
//! independent run keeps the best state that it met. The search ends when all runs have met the
//! same energy.

use std::sync::Arc;

use rayon::prelude::*;

use super::super::kernel::{Couplings, Model};
use super::ladder::Ladder;
use super::team::{LADDERS, Team};
use super::tuned::Tuned;
use super::{FIRST_LEVELS, Temper};
use crate::engine::{Diagnostics, Guarantee, Meetings, Mode, ModeFinder};
use crate::{Evidence, Machine, Result, cancel};

/// The coldest level, in typical fields of a unit: flips against such a field are one in 160,000.
const COLDEST: f64 = 6.0;

/// Sweeps from one descent to the next.
const LOOK_EVERY: usize = 4;

/// Sweeps between two comparisons of the runs.
const SEGMENT: usize = 1024;

/// The most sweeps where they are not given.
const MOST_SWEEPS: usize = 32 * SEGMENT;

/// Pairs are tried on graphs of up to this mean degree.
const PAIRED_DEGREE: usize = 16;

/// The energies of the states of the free units in double precision, with the sign turned.
struct Landscape {
    offsets: Vec<usize>,
    neighbours: Vec<(u32, f64)>,
    fields: Vec<f64>,
}

impl Landscape {
    fn new(machine: &Machine, row: &[i8], couplings: &Couplings) -> Self {
        let places = couplings.places(row);
        let mut offsets = vec![0];
        let (mut neighbours, mut fields) = (Vec::new(), Vec::new());
        for &unit in &couplings.order {
            let mut field = machine.biases()[unit];
            for (other, edge) in machine.graph().neighbours(unit) {
                let weight = machine.weights()[edge];
                match places[other] {
                    Ok(place) => neighbours.push((place as u32, weight)),
                    Err(value) => field += weight * value,
                }
            }
            fields.push(field);
            offsets.push(neighbours.len());
        }
        Self { offsets, neighbours, fields }
    }

    fn around(&self, place: usize) -> &[(u32, f64)] {
        &self.neighbours[self.offsets[place]..self.offsets[place + 1]]
    }

    /// The typical size of the field on a unit: the median of √(h² + Σ w²).
    fn typical_field(&self) -> f64 {
        let size = |place: usize| {
            let squares: f64 = self.around(place).iter().map(|(_, w)| w * w).sum();
            (squares + self.fields[place].powi(2)).sqrt()
        };
        let mut sizes: Vec<f64> = (0..self.fields.len()).map(size).filter(|&size| size > 0.0).collect();
        sizes.sort_by(f64::total_cmp);
        sizes.get(sizes.len() / 2).copied().unwrap_or(1.0)
    }

    /// The most that any state can reach: every term at its best.
    fn limit(&self) -> f64 {
        let couplings: f64 = self.neighbours.iter().map(|(_, w)| w.abs()).sum();
        0.5 * couplings + self.fields.iter().map(|h| h.abs()).sum::<f64>()
    }

    /// Goes downhill until no flip of a unit, nor of two neighbours, helps. Returns −E.
    fn descend(&self, state: &mut [f64]) -> f64 {
        let units = state.len();
        let with_pairs = self.neighbours.len() <= PAIRED_DEGREE * units;
        let mut pulls: Vec<f64> =
            (0..units).map(|place| self.fields[place] + self.sum_around(place, state)).collect();
        let mut has_changed = true;
        while has_changed {
            has_changed = false;
            for place in 0..units {
                let gain = -state[place] * pulls[place];
                if gain > 0.0 {
                    self.flip(place, state, &mut pulls);
                    has_changed = true;
                    continue;
                }
                if !with_pairs {
                    continue;
                }
                let helps = |&&(other, w): &&(u32, f64)| {
                    let other = other as usize;
                    gain - state[other] * pulls[other] + 2.0 * w * state[place] * state[other] > 1e-12
                };
                if let Some(&(other, _)) = self.around(place).iter().find(helps) {
                    self.flip(place, state, &mut pulls);
                    self.flip(other as usize, state, &mut pulls);
                    has_changed = true;
                }
            }
        }
        (0..units)
            .map(|place| state[place] * (self.fields[place] + 0.5 * self.sum_around(place, state)))
            .sum()
    }

    fn sum_around(&self, place: usize, state: &[f64]) -> f64 {
        self.around(place).iter().map(|&(other, w)| w * state[other as usize]).sum()
    }

    fn flip(&self, place: usize, state: &mut [f64], pulls: &mut [f64]) {
        state[place] = -state[place];
        for &(other, w) in self.around(place) {
            pulls[other as usize] += 2.0 * w * state[place];
        }
    }
}

/// The best state that a run has met.
#[derive(Clone)]
struct Best {
    value: f64,
    state: Vec<f64>,
}

impl ModeFinder for Temper {
    fn mode(&self, machine: &Machine, evidence: &Evidence) -> Result<Mode> {
        machine.check_evidence(evidence)?;
        let free: Vec<usize> = evidence.free().collect();
        self.check(machine, free.len(), 0)?;
        let couplings = Arc::new(Couplings::new(machine, &free));
        let landscape = Landscape::new(machine, evidence.cells(), &couplings);
        let model = Model::new(machine, evidence.cells(), &couplings);
        let coldest = COLDEST * machine.temperature() / landscape.typical_field();
        let start = Ladder::of_scales(self.settings.levels.unwrap_or(FIRST_LEVELS), coldest);
        let mut tuned = Tuned::new(&model, start, &self.settings, 0);
        let nothing = Best { value: f64::NEG_INFINITY, state: vec![1.0; free.len()] };
        let mut bests = vec![nothing; tuned.teams.len()];
        // Energies that differ by rounding alone are equal.
        let rounding = 1e-10 * landscape.limit().max(1.0);
        let mut left = self.settings.sweeps.unwrap_or(MOST_SWEEPS);
        let (mut top, mut met) = (f64::NEG_INFINITY, 0);
        while left > 0 && met < bests.len() {
            let sweeps = left.min(SEGMENT);
            left -= sweeps;
            let (ladder, centres) = (&tuned.ladder, &tuned.centres);
            tuned.teams.par_iter_mut().zip(&mut bests).for_each(|(team, best)| {
                for sweep in 0..sweeps {
                    cancel::point();
                    team.step(&model, ladder, centres);
                    if sweep % LOOK_EVERY == 0 {
                        look(team, &landscape, best);
                    }
                }
            });
            top = bests.iter().map(|best| best.value).fold(f64::NEG_INFINITY, f64::max);
            met = bests.iter().filter(|best| best.value >= top - rounding).count();
        }
        // Of equal energies that of the first run, so that the answer is independent of threads.
        let found = bests.iter().find(|best| best.value >= top - rounding);
        let mut state = evidence.cells().to_vec();
        for (place, &unit) in couplings.order.iter().enumerate() {
            state[unit] = found.map_or(1, |best| best.state[place] as i8);
        }
        // Every coupling and bias at its best: no state can be better.
        let is_proved = free.is_empty() || top >= landscape.limit() - rounding;
        Ok(Mode {
            energy: machine.energy(&state),
            state,
            guarantee: if is_proved { Guarantee::Exact } else { Guarantee::Approximation },
            diagnostics: Diagnostics {
                converged: is_proved || 2 * met >= bests.len(),
                ..Diagnostics::direct()
            },
            meetings: Some(Meetings { met, runs: bests.len() }),
        })
    }
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
