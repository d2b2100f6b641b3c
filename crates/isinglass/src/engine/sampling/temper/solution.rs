//! What a run tells about a row: log Z from all levels, averages over the coldest states.

use super::super::answer::{Average, Sampled};
use super::super::blocks::{Estimate, estimate, jackknife};
use super::run::{Kept, Run};
use super::team::{LADDERS, Sums};
use crate::engine::{Diagnostics, JointTable, Mixing};

/// Chains count as mixed up to this split-R̂.
pub(super) const R_HAT_LIMIT: f64 = 1.05;

/// The least effective sample size of a unit that moves.
pub(super) const LEAST_EFFECTIVE_SAMPLES: f64 = 400.0;

/// Round trips of each team at least, on average.
const LEAST_ROUND_TRIPS: usize = 4;

/// How well a run mixed.
pub(super) struct Mixed {
    r_hat: f64,
    /// The smallest of any unit that moves.
    pub(super) effective_samples: f64,
}

/// The means of blocks of a number that is −1 or +1, put together.
struct Counted {
    estimate: Estimate,
    /// The blocks that met the rarer of the two values.
    met: usize,
}

/// `ln Z_coldest − ln Z_hottest` with its standard error.
///
/// Neighbouring levels are joined by the geometric bridge,
/// `Z_{k+1} / Z_k = ⟨exp(½ d)⟩_k / ⟨exp(−½ d)⟩_{k+1}` with d the difference of log-weights (Meng &
/// Wong 1996), which needs overlap of the two but samples of neither in the middle. The error is
/// that of a jackknife over blocks, so that what all levels of a time have in common counts.
pub(super) fn log_ratio(run: &Run) -> Average {
    let blocks: Vec<&Sums> = run.sums().collect();
    let mut all = Sums::zero(run.ladder.levels());
    for sums in &blocks {
        all.add(sums);
    }
    let without = |left_out: Option<&Sums>| -> f64 {
        run.centres.iter().enumerate().map(|(k, &centre)| all.log_ratio(left_out, k, centre)).sum()
    };
    let [found] = jackknife(blocks.len(), run.teams.len(), |left_out| [without(left_out.map(|k| blocks[k]))]);
    Average { mean: found.mean, standard_error: found.variance.sqrt() }
}

/// Whether the chains of all teams went up and down their ladders.
pub(super) fn have_travelled(round_trips: &[usize]) -> bool {
    let total: usize = round_trips.iter().sum();
    round_trips.iter().all(|&trips| trips > 0) && total >= LEAST_ROUND_TRIPS * round_trips.len()
}

impl Run {
    /// The means of blocks of a number that is +1 where the bits of a state are set, and −1 elsewhere.
    fn blocks(&self, word: impl Fn(&Kept, usize, usize) -> u64) -> Counted {
        let mut means = Vec::new();
        for segment in self.teams.iter().flatten() {
            for block in 0..self.schedule.blocks() {
                let words = block * self.schedule.block_words()..(block + 1) * self.schedule.block_words();
                let mut up = 0;
                for ladder in 0..LADDERS {
                    up += words
                        .clone()
                        .map(|at| u64::from(word(segment, ladder, at).count_ones()))
                        .sum::<u64>();
                }
                let states = (64 * LADDERS * self.schedule.block_words()) as f64;
                means.push(2.0 * up as f64 / states - 1.0);
            }
        }
        let estimate = estimate(&means, self.teams.len());
        let usual = estimate.mean.signum();
        Counted { met: means.iter().filter(|&&mean| mean != usual).count(), estimate }
    }

    fn word(&self, team: &Kept, place: usize, ladder: usize, at: usize) -> u64 {
        team.bits[(place * LADDERS + ladder) * self.schedule.words() + at]
    }

    fn unit(&self, place: usize) -> Counted {
        self.blocks(|team, ladder, at| self.word(team, place, ladder, at))
    }

    fn pair(&self, a: usize, b: usize) -> Counted {
        self.blocks(|team, ladder, at| !(self.word(team, a, ladder, at) ^ self.word(team, b, ladder, at)))
    }

    /// The share of states in which some units have some values.
    fn share(&self, places: &[usize], state: &[i8]) -> Counted {
        self.blocks(|team, ladder, at| {
            places.iter().zip(state).fold(u64::MAX, |bits, (&place, &s)| {
                let up = self.word(team, place, ladder, at);
                bits & if s == 1 { up } else { !up }
            })
        })
    }

    /// A kept state of a ladder: whether a unit is up.
    pub(super) fn is_up(&self, place: usize, ladder: usize, sample: usize) -> bool {
        let team = &self.teams[ladder / LADDERS];
        let segment = &team[sample / self.schedule.samples];
        let sample = sample % self.schedule.samples;
        self.word(segment, place, ladder % LADDERS, sample / 64) >> (sample % 64) & 1 == 1
    }

    /// The states kept of each ladder.
    pub(super) fn samples(&self) -> usize {
        self.schedule.samples * self.teams[0].len()
    }

    fn sums(&self) -> impl Iterator<Item = &Sums> {
        self.teams.iter().flatten().flat_map(|segment| &segment.sums)
    }

    fn round_trips(&self) -> impl Iterator<Item = usize> {
        self.teams.iter().map(|team| team.iter().map(|segment| segment.round_trips).sum())
    }

    /// Whether chains travelled and agree.
    pub(super) fn has_mixed(&self, mixed: &Mixed) -> bool {
        self.has_mixed_to(mixed, LEAST_EFFECTIVE_SAMPLES)
    }

    /// The same with another least effective sample size.
    pub(super) fn has_mixed_to(&self, mixed: &Mixed, least: f64) -> bool {
        have_travelled(&self.round_trips().collect::<Vec<_>>())
            && mixed.r_hat <= R_HAT_LIMIT
            && mixed.effective_samples >= least.min(self.states() as f64)
    }

    pub(super) fn states(&self) -> usize {
        self.teams.len() * LADDERS * self.samples()
    }

    pub(super) fn mixing(&self, mixed: &Mixed) -> Mixing {
        let mut sums = Sums::zero(self.ladder.levels());
        self.sums().for_each(|part| sums.add(part));
        Mixing {
            chains: self.teams.len() * LADDERS,
            samples: self.samples(),
            r_hat: mixed.r_hat,
            effective_samples: mixed.effective_samples,
            round_trips: Some(self.round_trips().sum()),
            swap_rates: sums.swap_rates(),
        }
    }

    /// How well the means of all units mixed.
    pub(super) fn mixed(&self, units: usize) -> Mixed {
        // A unit that moved hardly ever says nothing of the others.
        let blocks = (self.schedule.blocks() * self.teams.len() * self.teams[0].len()) as f64;
        self.mixed_among(units, 1.0 / (blocks * blocks))
    }

    /// How well the means of those units mixed whose variance is above some.
    pub(super) fn mixed_among(&self, units: usize, least: f64) -> Mixed {
        use rayon::prelude::*;
        let all: Vec<(f64, f64)> = (0..units)
            .into_par_iter()
            .filter_map(|place| {
                let Estimate { mean, variance, between } = self.unit(place).estimate;
                let within = 1.0 - mean * mean;
                (within > least).then(|| ((1.0 + between / within).sqrt(), within / variance.max(1e-300)))
            })
            .collect();
        Mixed {
            r_hat: all.iter().map(|unit| unit.0).fold(1.0, f64::max),
            effective_samples: all.iter().map(|unit| unit.1).fold(self.states() as f64, f64::min),
        }
    }
}

impl Mixed {
    /// The average with its error.
    ///
    /// A rare value may belong to states that were not met at all, such as a cluster of units turned
    /// round, and the blocks tell of the others alone. So there is one more independent state on each
    /// side, of as many as the slowest unit has. Where many blocks met the rarer value, it is unlikely
    /// that the visit to come is of another kind than all before: one in as many, and one more
    /// (Good 1953).
    fn average(&self, found: &Counted) -> Average {
        let Estimate { mean, variance, .. } = found.estimate;
        let n = self.effective_samples;
        let tempered = mean * n / (n + 2.0);
        let doubt = (mean * mean - tempered * tempered) / n / (found.met + 1) as f64;
        Average { mean, standard_error: (variance + doubt).sqrt() }
    }
}

/// A run, and what its units say of its mixing.
pub(in crate::engine) struct Sampling {
    pub(super) run: Run,
    pub(super) mixed: Mixed,
}

impl Sampled for Sampling {
    fn unit(&self, place: usize) -> Average {
        self.mixed.average(&self.run.unit(place))
    }

    fn pair(&self, a: usize, b: usize) -> Average {
        self.mixed.average(&self.run.pair(a, b))
    }

    fn joint(&self, places: &[usize]) -> Vec<Average> {
        let share = |number: usize| {
            let state = JointTable::state(places.len(), number);
            let found = self.mixed.average(&self.run.share(places, &state));
            Average { mean: f64::midpoint(1.0, found.mean), standard_error: found.standard_error / 2.0 }
        };
        (0..1 << places.len()).map(share).collect()
    }

    fn diagnostics(&self) -> Diagnostics {
        let Self { run, mixed } = self;
        Diagnostics {
            converged: run.has_mixed(mixed),
            mixing: Some(run.mixing(mixed)),
            ..Diagnostics::direct()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_values_are_no_surer_than_the_slowest_unit() {
        let mixed = Mixed { r_hat: 1.0, effective_samples: 2000.0 };
        let error = |mean: f64, variance: f64, met: usize| {
            let estimate = Estimate { mean, variance, between: 0.0 };
            mixed.average(&Counted { estimate, met }).standard_error
        };
        // Never met in as many independent states: one of them in each direction.
        assert!((error(1.0, 0.0, 0) - 2.0 / 2000.0).abs() < 1e-5);
        // Met in one block alone, that block may be one kind of visit of several.
        assert!(error(0.9999, 1e-9, 1) > 7e-4);
        // Met everywhere, the blocks know.
        assert!((error(0.98, 1e-6, 128) / 1e-3 - 1.0).abs() < 0.01);
        assert!((error(0.0, 4e-4, 128) / 0.02 - 1.0).abs() < 1e-9);
    }
}
