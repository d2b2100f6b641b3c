//! Draws of the machine from a short run, for other samplers to begin with.

use super::super::kernel::Model;
use super::ladder::Ladder;
use super::run::{ENOUGH_SAMPLES, Run, Schedule};
use super::solution::Mixed;
use super::team::LADDERS;
use super::{FIRST_LEVELS, Temper};
use crate::engine::Mixing;

/// The least effective sample size of a unit: as many independent draws are the least that others
/// can begin with.
const LEAST_EFFECTIVE_SAMPLES: f64 = 100.0;

/// Units of a smaller variance are left out: the rarer of their values has less than a hundredth of
/// the draws, and a short run may have met it once.
const LEAST_VARIANCE: f64 = 0.04;

/// Draws of the machine, run after run, in the order of time; the two ladders of a run side by side.
pub(in crate::engine::sampling) struct Starts {
    run: Run,
    mixed: Mixed,
    /// Draws of each ladder.
    each: usize,
}

impl Temper {
    /// Draws for a row of evidence, at least some of each ladder, evenly over its time.
    pub(in crate::engine::sampling) fn starts(&self, model: &Model, row: u64, each: usize) -> Starts {
        let schedule = Schedule::new(self.settings.sweeps, each, ENOUGH_SAMPLES);
        // A reference would follow what a short burn-in met, and hold chains in one valley.
        let ladder = Ladder::from_fields(FIRST_LEVELS);
        let run = Run::new(model, ladder, &self.settings, schedule, row);
        let mixed = run.mixed_among(model.units(), LEAST_VARIANCE);
        Starts { run, mixed, each }
    }
}

impl Starts {
    /// Whether a unit is up in a draw.
    pub(in crate::engine::sampling) fn is_up(&self, place: usize, draw: usize) -> bool {
        let (time, ladder) = (draw / LADDERS % self.each, draw % LADDERS);
        let team = draw / LADDERS / self.each;
        // At the ends of equal intervals.
        let sample = (time + 1) * self.run.samples() / self.each - 1;
        self.run.is_up(place, team * LADDERS + ladder, sample)
    }

    /// Whether chains travelled and agree.
    pub(in crate::engine::sampling) fn have_mixed(&self) -> bool {
        self.run.has_mixed_to(&self.mixed, LEAST_EFFECTIVE_SAMPLES)
    }

    pub(in crate::engine::sampling) fn mixing(&self) -> Mixing {
        self.run.mixing(&self.mixed)
    }
}
