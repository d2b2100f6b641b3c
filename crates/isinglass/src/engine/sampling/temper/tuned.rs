//! Burn-in: rounds that tune the ladder, its reference and the moves to the model.

use std::sync::Arc;

use rayon::prelude::*;

use super::super::kernel::{Forest, Model};
use super::bonds::{BondClusters, Bonds, Frustration};
use super::cluster::Clusters;
use super::ladder::{Ladder, Start};
use super::reference::{Candidate, Counts};
use super::team::{Number, Sums, Team};
use super::trees::Trees;
use super::{Moves, TemperSettings};

/// Sweeps of the first round of burn-in.
const FIRST_ROUND: usize = 32;

/// The share of burn-in after the last change: one in so many sweeps.
const SETTLED: usize = 16;

/// Sweeps from one count of the coldest states to the next.
pub(super) const COUNTED_EVERY: usize = 4;

/// Sweeps from one exchange of clusters to the next.
const CLUSTERS_EVERY: usize = 4;

/// Sweeps from one turn of clusters of bonds to the next.
const BONDS_EVERY: usize = 8;

/// Sweeps from one draw of a forest to the next.
const TREES_EVERY: usize = 4;

/// A cluster that holds nearly all units that differ moves nothing.
const ONE_CLUSTER: f64 = 0.95;

/// Teams on a ladder that is tuned for them.
pub(super) struct Tuned {
    /// The model with its reference.
    pub(super) model: Model,
    pub(super) teams: Vec<Team>,
    pub(super) ladder: Ladder,
    /// c of each pair of levels, see [`Sums`].
    pub(super) centres: Vec<f64>,
    /// The reference with the machine's means.
    pub(super) candidate: Candidate,
}

impl Tuned {
    /// Teams after burn-in.
    pub(super) fn new(model: &Model, start: Ladder, settings: &TemperSettings, row: u64) -> Self {
        let mut tuned = Self::start(model, start, settings, row);
        let settled = settings.burn_in / SETTLED;
        let rounds = rounds(settings.burn_in - settled);
        for (number, &sweeps) in rounds.iter().enumerate() {
            let counts = tuned.sweep(sweeps);
            // The reference is judged by states of ladders that do not have it: one that pins units which
            // change together hides their other states, and looks right from then on.
            if number + 2 == rounds.len() {
                tuned.follow_reference(&counts);
            } else if number + 2 < rounds.len() {
                tuned.candidate.follow(&counts);
            }
            tuned.tune(settings);
        }
        tuned.settle(settled);
        tuned
    }

    /// Teams in random states.
    pub(super) fn start(model: &Model, ladder: Ladder, settings: &TemperSettings, row: u64) -> Self {
        let mut model = model.clone();
        if ladder.start == Start::Free {
            model.set_free_reference();
        }
        let is_sparse = !model.couplings.follows_flips();
        let with_clusters = is_sparse && matches!(settings.moves, Moves::Auto | Moves::Cluster);
        let with_trees = is_sparse && settings.moves == Moves::Tree;
        let forests = with_trees.then(|| Arc::new(Forest::cover(&model.couplings)));
        let frustration = if with_clusters { Frustration::of(&model) } else { Frustration::Couplings };
        let clusters = (with_clusters && frustration != Frustration::None).then_some(CLUSTERS_EVERY);
        let bonds = (frustration != Frustration::Couplings).then(|| Arc::new(Bonds::new(&model)));
        let team = |team: u64| {
            let number = Number { seed: settings.seed, team: row * settings.replicas as u64 + team };
            let bonds = bonds.as_ref().map(|bonds| BondClusters::new(bonds, BONDS_EVERY, number));
            let trees = forests.as_ref().map(|forests| Trees::new(forests, TREES_EVERY));
            Team::new(&model, &ladder, number, Clusters::new(clusters), bonds, trees)
        };
        let teams = (0..settings.replicas as u64).map(team).collect();
        let centres = vec![0.0; ladder.levels() - 1];
        let candidate = Candidate::new(model.units());
        Self { model, teams, ladder, centres, candidate }
    }

    /// Levels, reference and moves follow what the sweeps since the last change showed.
    pub(super) fn follow(&mut self, settings: &TemperSettings, counts: &[Counts]) {
        self.follow_reference(counts);
        self.tune(settings);
    }

    fn follow_reference(&mut self, counts: &[Counts]) {
        let reference = self.candidate.follow(counts);
        if self.ladder.start == Start::Means {
            self.model.set_reference(reference);
        }
    }

    /// Levels and moves follow what the sweeps since the last change showed; sums and counts begin anew.
    fn tune(&mut self, settings: &TemperSettings) {
        let sums = self.sums();
        let rejected: Vec<f64> = sums.rejected.iter().map(|sum| sum / sums.count).collect();
        let next = if self.ladder.is_tunable {
            let levels = settings.levels.unwrap_or_else(|| self.ladder.wanted_levels(&rejected));
            self.ladder.tuned(&rejected, levels)
        } else {
            self.ladder.clone()
        };
        if settings.moves == Moves::Auto {
            self.drop_clusters_that_move_nothing();
        }
        self.set_centres(&sums, next.levels());
        let (model, ladder) = (&self.model, &self.ladder);
        self.teams.par_iter_mut().for_each(|team| team.set_ladder(model, ladder, &next));
        self.ladder = next;
    }

    /// Some sweeps in which nothing is changed; centres follow.
    pub(super) fn settle(&mut self, sweeps: usize) {
        self.sweep(sweeps);
        let sums = self.sums();
        self.set_centres(&sums, self.ladder.levels());
        let levels = self.ladder.levels();
        self.teams.iter_mut().for_each(|team| team.restart(levels));
    }

    /// Sweeps of all teams. Returns what each counted in the second half, which has forgotten most of
    /// where it began.
    fn sweep(&mut self, sweeps: usize) -> Vec<Counts> {
        let Self { model, teams, ladder, centres, candidate } = self;
        let burn = |team: &mut Team| {
            let mut counts = Counts::new(model.units());
            for sweep in 0..sweeps {
                team.step(model, ladder, centres);
                if 2 * sweep >= sweeps && sweep.is_multiple_of(COUNTED_EVERY) {
                    counts.add(team, candidate);
                }
            }
            counts
        };
        teams.par_iter_mut().map(burn).collect()
    }

    pub(super) fn sums(&self) -> Sums {
        let mut sums = Sums::zero(self.ladder.levels());
        self.teams.iter().for_each(|team| sums.add(&team.sums));
        sums
    }

    /// Centres from sums on this ladder, for one of some levels; 0 where they say nothing of it.
    fn set_centres(&mut self, sums: &Sums, levels: usize) {
        if levels != self.ladder.levels() {
            self.centres = vec![0.0; levels - 1];
        } else if sums.count > 0.0 {
            self.centres = sums.centre.iter().map(|sum| sum / sums.count).collect();
        }
    }

    fn drop_clusters_that_move_nothing(&mut self) {
        let total =
            |get: fn(&Clusters) -> f64| self.teams.iter().map(|team| get(&team.clusters)).sum::<f64>();
        if total(|clusters| clusters.largest) > ONE_CLUSTER * total(|clusters| clusters.moves) {
            self.teams.iter_mut().for_each(|team| team.clusters.every = None);
        }
    }
}

/// The sweeps of each round: each twice as long as the one before, and the longest last but one, since
/// it judges the reference: states of a few percent must not be missed there.
fn rounds(sweeps: usize) -> Vec<usize> {
    let mut rounds = Vec::new();
    let mut left = sweeps;
    let mut next = FIRST_ROUND;
    while left > 0 {
        let round = if left < 3 * next { left } else { next };
        rounds.push(round);
        left -= round;
        next *= 2;
    }
    if let [.., last_but_one, last] = &mut rounds[..] {
        std::mem::swap(last_but_one, last);
    }
    rounds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_double_and_add_up() {
        assert_eq!(rounds(1000), [32, 64, 128, 520, 256]);
        for sweeps in [0, 1, 31, 100, 4096] {
            assert_eq!(rounds(sweeps).iter().sum::<usize>(), sweeps);
        }
    }
}
