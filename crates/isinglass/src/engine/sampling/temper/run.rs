//! A run: after burn-in, sweeps whose coldest states are kept.

use rayon::prelude::*;

use super::super::kernel::{Chains, Model};
use super::TemperSettings;
use super::ladder::Ladder;
use super::team::{LADDERS, Sums, Team};
use super::tuned::Tuned;
use crate::cancel;
use crate::numeric::bits::transpose;
use crate::progress::Task;

/// The most states that are kept of a ladder, unless more are asked for: of a run whose sweeps are
/// given, and of a segment of one that ends by itself.
pub(super) const MOST_SAMPLES: usize = 2048;
const MOST_OF_SEGMENT: usize = 512;

/// The most blocks into which the sweeps of a segment are cut.
const BLOCKS: usize = 16;

/// Sweeps of a segment, and the most segments, where the number of sweeps is left to the run.
const SEGMENT: usize = 4096;
pub(super) const MOST_SEGMENTS: usize = 16;

/// The run ends early with so many effective samples of every unit, or at every temperature, at least.
pub(super) const ENOUGH_SAMPLES: f64 = 2000.0;

/// What a segment of a run takes and keeps.
#[derive(Debug, Clone, Copy)]
pub(super) struct Schedule {
    /// States kept of each ladder.
    pub(super) samples: usize,
    /// Sweeps from one to the next.
    pub(super) thin: usize,
    /// Words of 64 states in a block.
    words: usize,
    /// The most segments of the run.
    segments: usize,
    /// The effective samples of every unit with which the run ends early.
    enough: f64,
}

impl Schedule {
    /// For some sweeps, or as many as some effective samples take; so many states are kept of each
    /// ladder at least.
    pub(super) fn new(sweeps: Option<usize>, least_samples: usize, enough: f64) -> Self {
        let (sweeps, segments, most) = match sweeps {
            Some(sweeps) => (sweeps, 1, MOST_SAMPLES),
            None => (SEGMENT, MOST_SEGMENTS, MOST_OF_SEGMENT),
        };
        let thin = (sweeps / most.max(least_samples)).max(1);
        let words = (sweeps / thin).max(least_samples).div_ceil(64);
        // Whole words, and blocks of equal length.
        let words = if words < BLOCKS { words } else { words.next_multiple_of(BLOCKS) };
        Self { samples: 64 * words, thin, words: words.div_ceil(BLOCKS), segments, enough }
    }

    pub(super) fn words(&self) -> usize {
        self.samples / 64
    }

    pub(super) fn blocks(&self) -> usize {
        self.words() / self.words
    }

    /// Sweeps of a block.
    pub(super) fn block_sweeps(&self) -> usize {
        64 * self.words * self.thin
    }

    /// The most segments.
    pub(super) fn segments(&self) -> usize {
        self.segments
    }

    /// Words of a block.
    pub(super) fn block_words(&self) -> usize {
        self.words
    }
}

/// What a team has found in a segment.
pub(super) struct Kept {
    /// The coldest states as bits along time: unit by unit, ladder by ladder, word by word.
    pub(super) bits: Vec<u64>,
    /// The sums of each block.
    pub(super) sums: Vec<Sums>,
    pub(super) round_trips: usize,
}

/// A finished run.
pub(super) struct Run {
    pub(super) ladder: Ladder,
    /// Over the free units.
    pub(super) hottest_log_z: f64,
    pub(super) schedule: Schedule,
    /// c of each pair of levels, see [`Sums`].
    pub(super) centres: Vec<f64>,
    /// For each team what it found in each segment.
    pub(super) teams: Vec<Vec<Kept>>,
}

impl Run {
    /// The bytes of a run with some levels.
    pub(super) fn bytes(units: usize, settings: &TemperSettings, schedule: &Schedule, levels: usize) -> u128 {
        let words = (schedule.words() * schedule.segments) as u128;
        let kept = units as u128 * LADDERS as u128 * 8 * (words + 1);
        settings.replicas as u128 * (2 * Chains::bytes(units, LADDERS * levels) + kept)
    }

    /// Runs all teams of a row.
    pub(super) fn new(
        model: &Model,
        start: Ladder,
        settings: &TemperSettings,
        schedule: Schedule,
        row: u64,
    ) -> Self {
        // At most: a run of segments ends when it has enough samples.
        let of_segment = schedule.samples.saturating_mul(schedule.thin);
        let sweeps = schedule.segments.saturating_mul(of_segment).saturating_add(settings.burn_in);
        let task = Task::begin(settings.replicas.saturating_mul(sweeps) as u64);
        let Tuned { model, mut teams, ladder, centres, .. } = Tuned::new(model, start, settings, row);
        task.done(settings.replicas.saturating_mul(settings.burn_in) as u64);
        let mut run = Self {
            hottest_log_z: ladder.hottest_log_z(&model),
            ladder,
            schedule,
            centres,
            teams: teams.iter().map(|_| Vec::new()).collect(),
        };
        for _ in 0..schedule.segments {
            let keep = |team: &mut Team| {
                let kept = keep(team, &model, &run.ladder, &run.centres, &schedule);
                task.done(schedule.samples.saturating_mul(schedule.thin) as u64);
                kept
            };
            let kept: Vec<Kept> = teams.par_iter_mut().map(keep).collect();
            run.teams.iter_mut().zip(kept).for_each(|(team, kept)| team.push(kept));
            let mixed = run.mixed(model.units());
            if mixed.effective_samples >= schedule.enough && run.has_mixed(&mixed) {
                break;
            }
        }
        run
    }
}

/// The sweeps of a segment.
fn keep(team: &mut Team, model: &Model, ladder: &Ladder, centres: &[f64], schedule: &Schedule) -> Kept {
    let units = model.units();
    let words = schedule.words();
    let mut bits = vec![0; units * LADDERS * words];
    let parts = units.div_ceil(64);
    let mut states = vec![0; 64 * LADDERS * parts];
    let mut sums = Vec::with_capacity(schedule.blocks());
    let before = team.round_trips;
    for block in 0..schedule.blocks() {
        for word in block * schedule.block_words()..(block + 1) * schedule.block_words() {
            for bit in 0..64 {
                cancel::point();
                for _ in 0..schedule.thin {
                    team.step(model, ladder, centres);
                }
                for ladder in 0..LADDERS {
                    let state = (bit * LADDERS + ladder) * parts;
                    team.pack_coldest(ladder, &mut states[state..state + parts]);
                }
            }
            write_word(&states, units, (word, words), &mut bits);
        }
        sums.push(std::mem::replace(&mut team.sums, Sums::zero(ladder.levels())));
    }
    Kept { bits, sums, round_trips: team.round_trips - before }
}

/// Turns 64 states of each ladder, a bit for each unit, into a word of the bits along time of each unit.
fn write_word(states: &[u64], units: usize, (word, words): (usize, usize), bits: &mut [u64]) {
    let parts = units.div_ceil(64);
    for part in 0..parts {
        for ladder in 0..LADDERS {
            let mut block = std::array::from_fn(|time| states[(time * LADDERS + ladder) * parts + part]);
            transpose(&mut block);
            for (place, along_time) in (64 * part..units).zip(block) {
                bits[(place * LADDERS + ladder) * words + word] = along_time;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_whole_words_of_equal_length() {
        for (sweeps, least) in [(1, 0), (64, 0), (1000, 0), (16384, 0), (100_000, 0), (100, 9000)] {
            let schedule = Schedule::new(Some(sweeps), least, 0.0);
            assert_eq!(schedule.blocks() * schedule.block_words(), schedule.words());
            assert!(schedule.samples >= least && schedule.samples * schedule.thin >= sweeps);
            assert!(schedule.blocks() >= schedule.words().min(BLOCKS));
        }
    }
}
