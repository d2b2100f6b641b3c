//! A run: burn-in rounds that tune the ladder, then sweeps whose coldest states are kept.

use std::sync::Arc;

use rayon::prelude::*;

use super::super::kernel::{Chains, Model};
use super::bonds::{BondClusters, Bonds, Frustration};
use super::cluster::Clusters;
use super::ladder::Ladder;
use super::team::{LADDERS, Number, Sums, Team};
use super::{Moves, TemperSettings};
use crate::cancel;

/// The most states that are kept of a ladder in a segment, unless more are asked for.
const MOST_SAMPLES: usize = 2048;

/// Blocks into which the sweeps of a segment are cut.
const BLOCKS: usize = 16;

/// Sweeps of a segment, and the most segments, where the number of sweeps is left to the run.
const SEGMENT: usize = 16384;
pub(super) const MOST_SEGMENTS: usize = 4;

/// The run ends early with so many effective samples of every unit.
const ENOUGH_SAMPLES: f64 = 2000.0;

/// Sweeps of the first round of burn-in.
const FIRST_ROUND: usize = 32;

/// Sweeps from one exchange of clusters to the next.
const CLUSTERS_EVERY: usize = 4;

/// Sweeps from one turn of clusters of bonds to the next.
const BONDS_EVERY: usize = 8;

/// A cluster that holds nearly all units that differ moves nothing.
const ONE_CLUSTER: f64 = 0.95;

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
}

impl Schedule {
    pub(super) fn new(sweeps: Option<usize>, least_samples: usize) -> Self {
        let segments = if sweeps.is_some() { 1 } else { MOST_SEGMENTS };
        let sweeps = sweeps.unwrap_or(SEGMENT);
        let thin = (sweeps / MOST_SAMPLES.max(least_samples)).max(1);
        let words = (sweeps / thin).max(least_samples).div_ceil(64);
        // Whole words, and blocks of equal length.
        let words = if words < BLOCKS { words } else { words.next_multiple_of(BLOCKS) };
        Self { samples: 64 * words, thin, words: words.div_ceil(BLOCKS), segments }
    }

    pub(super) fn words(&self) -> usize {
        self.samples / 64
    }

    pub(super) fn blocks(&self) -> usize {
        self.words() / self.words
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
        let Tuned { mut teams, ladder, centres } = Tuned::new(model, start, settings, row);
        let mut run = Self { ladder, schedule, centres, teams: teams.iter().map(|_| Vec::new()).collect() };
        for _ in 0..schedule.segments {
            let keep = |team: &mut Team| keep(team, model, &run.ladder, &run.centres, &schedule);
            let kept: Vec<Kept> = teams.par_iter_mut().map(keep).collect();
            run.teams.iter_mut().zip(kept).for_each(|(team, kept)| team.push(kept));
            let mixed = run.mixed(model.units());
            if mixed.effective_samples >= ENOUGH_SAMPLES && run.has_mixed(&mixed) {
                break;
            }
        }
        run
    }
}

/// Teams after burn-in, on a ladder tuned for them.
pub(super) struct Tuned {
    pub(super) teams: Vec<Team>,
    pub(super) ladder: Ladder,
    /// c of each pair of levels, see [`Sums`].
    pub(super) centres: Vec<f64>,
}

impl Tuned {
    pub(super) fn new(model: &Model, start: Ladder, settings: &TemperSettings, row: u64) -> Self {
        let ladder = start;
        let with_clusters = settings.moves != Moves::Single && !model.couplings.follows_flips();
        let frustration = if with_clusters { Frustration::of(model) } else { Frustration::Couplings };
        let clusters = (with_clusters && frustration != Frustration::None).then_some(CLUSTERS_EVERY);
        let bonds = (frustration != Frustration::Couplings).then(|| Arc::new(Bonds::new(model)));
        let teams: Vec<Team> = (0..settings.replicas as u64)
            .map(|team| {
                let number = Number { seed: settings.seed, team: row * settings.replicas as u64 + team };
                let bonds = bonds.as_ref().map(|bonds| BondClusters::new(bonds, BONDS_EVERY, number));
                Team::new(model, &ladder, number, Clusters::new(clusters), bonds)
            })
            .collect();
        let centres = vec![0.0; ladder.levels() - 1];
        let mut tuned = Self { teams, ladder, centres };
        for sweeps in rounds(settings.burn_in) {
            tuned.round(model, settings, sweeps);
        }
        tuned
    }

    /// Some sweeps, after which the ladder is tuned by what they showed; sums and counts begin anew.
    pub(super) fn round(&mut self, model: &Model, settings: &TemperSettings, sweeps: usize) {
        let Self { teams, ladder, centres } = self;
        teams.par_iter_mut().for_each(|team| {
            for _ in 0..sweeps {
                team.step(model, ladder, centres);
            }
        });
        self.tune(model, settings);
    }

    /// Tunes the ladder by the sums of all sweeps since it was tuned last.
    fn tune(&mut self, model: &Model, settings: &TemperSettings) {
        let Self { teams, ladder, centres } = self;
        let mut sums = Sums::zero(ladder.levels());
        for team in &*teams {
            sums.add(&team.sums);
        }
        let rejected: Vec<f64> = sums.rejected.iter().map(|sum| sum / sums.count).collect();
        *centres = sums.centre.iter().map(|sum| sum / sums.count).collect();
        let next = if ladder.is_tunable {
            let levels = settings.levels.unwrap_or_else(|| ladder.wanted_levels(&rejected));
            ladder.tuned(&rejected, levels)
        } else {
            ladder.clone()
        };
        if settings.moves == Moves::Auto {
            let total = |get: fn(&Clusters) -> f64| teams.iter().map(|team| get(&team.clusters)).sum::<f64>();
            let (largest, moves) = (total(|c| c.largest), total(|c| c.moves));
            if largest > ONE_CLUSTER * moves {
                for team in &mut *teams {
                    team.clusters.every = None;
                }
            }
        }
        if next.levels() != ladder.levels() {
            *centres = vec![0.0; next.levels() - 1];
        }
        teams.par_iter_mut().for_each(|team| team.set_ladder(model, ladder, &next));
        *ladder = next;
    }
}

/// The sweeps of each round of burn-in: each twice as long as the one before, and a last one in
/// which nothing is changed but the centres.
fn rounds(burn_in: usize) -> Vec<usize> {
    let mut rounds = Vec::new();
    let mut left = burn_in;
    let mut next = FIRST_ROUND;
    while left > 0 {
        let round = if left < 3 * next { left } else { next };
        rounds.push(round);
        left -= round;
        next *= 2;
    }
    rounds
}

/// The sweeps of a segment.
fn keep(team: &mut Team, model: &Model, ladder: &Ladder, centres: &[f64], schedule: &Schedule) -> Kept {
    let units = model.units();
    let words = schedule.words();
    let mut bits = vec![0; units * LADDERS * words];
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
                    team.coldest(ladder, |place, up| {
                        bits[(place * LADDERS + ladder) * words + word] |= u64::from(up) << bit;
                    });
                }
            }
        }
        sums.push(std::mem::replace(&mut team.sums, Sums::zero(ladder.levels())));
    }
    Kept { bits, sums, round_trips: team.round_trips - before }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_double_and_add_up() {
        assert_eq!(rounds(1000), [32, 64, 128, 256, 520]);
        for burn_in in [0, 1, 31, 100, 4096] {
            assert_eq!(rounds(burn_in).iter().sum::<usize>(), burn_in);
        }
    }

    #[test]
    fn blocks_are_whole_words_of_equal_length() {
        for (sweeps, least) in [(1, 0), (64, 0), (1000, 0), (16384, 0), (100_000, 0), (100, 9000)] {
            let schedule = Schedule::new(Some(sweeps), least);
            assert_eq!(schedule.blocks() * schedule.block_words(), schedule.words());
            assert!(schedule.samples >= least && schedule.samples * schedule.thin >= sweeps);
            assert!(schedule.blocks() >= schedule.words().min(BLOCKS));
        }
    }
}
