//! Two ladders that run side by side: sweeps, swaps and sums.
//!
//! A chain keeps its state and moves between levels. Neighbouring levels are offered a swap after
//! every sweep, even pairs and odd pairs in turn, which carries chains along the ladder without
//! turning round at random (non-reversible swaps; Syed, Bouchard-Côté, Deligiannidis & Doucet 2022).
//! Two ladders share a team so that their states at the same level can exchange clusters.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::super::kernel::{Chains, Model};
use super::bonds::BondClusters;
use super::cluster::Clusters;
use super::ladder::Ladder;
use super::trees::Trees;
use crate::numeric::streams::{Purpose, stream};

/// The ladders of a team.
pub(super) const LADDERS: usize = 2;

/// Sweeps from one entry of the sums to the next.
pub(super) const SUMMED_EVERY: usize = 4;

/// The number of a run: a row of evidence, and a team of its replicas.
#[derive(Debug, Clone, Copy)]
pub(super) struct Number {
    pub(super) seed: u64,
    pub(super) team: u64,
}

/// Where a chain has been last: at neither end, at the hottest level, or at the coldest since then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trip {
    Unknown,
    FromHot,
    FromCold,
}

/// Sums over sweeps of what neighbouring levels tell about each other; pair k is (k, k + 1).
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sums {
    /// Entries of each level.
    pub(super) count: f64,
    /// Probabilities that a swap is rejected.
    pub(super) rejected: Vec<f64>,
    /// `exp(½ d − c)` at level k, with d the difference of the log-weights at k + 1 and k.
    pub(super) forward: Vec<f64>,
    /// `exp(c − ½ d)` at level k + 1.
    pub(super) backward: Vec<f64>,
    /// ½ d at either level, the next c.
    pub(super) centre: Vec<f64>,
}

impl Sums {
    pub(super) fn zero(levels: usize) -> Self {
        let none = vec![0.0; levels - 1];
        Self {
            count: 0.0,
            rejected: none.clone(),
            forward: none.clone(),
            backward: none.clone(),
            centre: none,
        }
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.count += other.count;
        let add = |a: &mut [f64], b: &[f64]| a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
        add(&mut self.rejected, &other.rejected);
        add(&mut self.forward, &other.forward);
        add(&mut self.backward, &other.backward);
        add(&mut self.centre, &other.centre);
    }

    /// `ln Z_{k+1} − ln Z_k` by the geometric bridge, from all sums but some that are left out.
    pub(super) fn log_ratio(&self, left_out: Option<&Self>, k: usize, centre: f64) -> f64 {
        let forward = self.forward[k] - left_out.map_or(0.0, |sums| sums.forward[k]);
        let backward = self.backward[k] - left_out.map_or(0.0, |sums| sums.backward[k]);
        (forward / backward).ln() + 2.0 * centre
    }

    /// The share of swaps that are accepted between neighbouring levels.
    pub(super) fn swap_rates(&self) -> Vec<f64> {
        self.rejected.iter().map(|sum| 1.0 - sum / self.count).collect()
    }
}

/// The states of both ladders after a sweep, before any swap.
pub(super) struct Seen<'a> {
    /// Sweeps made before.
    pub(super) sweeps: usize,
    pub(super) chains: &'a Chains,
    /// For each ladder the chain at each level, and what its state weighs.
    pub(super) chain_at: &'a [Vec<usize>; LADDERS],
    pub(super) weights: &'a [Vec<f64>; LADDERS],
}

/// Two ladders with their chains.
pub(super) struct Team {
    number: Number,
    /// How often the number of levels has changed.
    generation: u64,
    chains: Chains,
    /// For each ladder the chain at each level.
    chain_at: [Vec<usize>; LADDERS],
    /// For each ladder what the state at each level weighs.
    weights: [Vec<f64>; LADDERS],
    trips: Vec<Trip>,
    pub(super) round_trips: usize,
    random: ChaCha8Rng,
    sweeps: usize,
    pub(super) sums: Sums,
    pub(super) clusters: Clusters,
    /// Clusters of bonds, where they are used.
    bonds: Option<BondClusters>,
    /// Forests, where they are used.
    trees: Option<Trees>,
}

impl Team {
    pub(super) fn new(
        model: &Model,
        ladder: &Ladder,
        number: Number,
        clusters: Clusters,
        bonds: Option<BondClusters>,
        trees: Option<Trees>,
    ) -> Self {
        let levels = ladder.levels();
        let mut team = Self {
            number,
            generation: 0,
            chains: Self::chains(model, levels, number, 0),
            chain_at: [(0..levels).collect(), (levels..2 * levels).collect()],
            weights: [Vec::new(), Vec::new()],
            trips: vec![Trip::Unknown; LADDERS * levels],
            round_trips: 0,
            random: stream(number.seed, Purpose::Swaps, number.team),
            sweeps: 0,
            sums: Sums::zero(levels),
            clusters,
            bonds,
            trees,
        };
        team.set_scales(ladder);
        team
    }

    fn chains(model: &Model, levels: usize, number: Number, generation: u64) -> Chains {
        let first = ((number.team << 6) + generation.min(63)) << 12;
        Chains::new(model, LADDERS * levels, number.seed, Purpose::TemperedChain, first)
    }

    /// Moves to another ladder, or to the same with another model; sums and counts begin anew.
    pub(super) fn set_ladder(&mut self, model: &Model, old: &Ladder, new: &Ladder) {
        let levels = new.levels();
        if levels != old.levels() {
            self.generation += 1;
            let mut chains = Self::chains(model, levels, self.number, self.generation);
            let chain_at = [(0..levels).collect(), (levels..2 * levels).collect()];
            for (k, nearest) in old.nearest(new).into_iter().enumerate() {
                for ladder in 0..LADDERS {
                    let from = self.chain_at[ladder][nearest];
                    for place in 0..model.units() {
                        chains.set_spin(ladder * levels + k, place, self.chains.spin(from, place));
                    }
                }
            }
            (self.chains, self.chain_at) = (chains, chain_at);
        }
        self.chains.change_model();
        self.restart(levels);
        self.set_scales(new);
    }

    /// Forgets sums and trips.
    pub(super) fn restart(&mut self, levels: usize) {
        self.sums = Sums::zero(levels);
        self.trips = vec![Trip::Unknown; LADDERS * levels];
        self.round_trips = 0;
    }

    fn set_scales(&mut self, ladder: &Ladder) {
        for chain_at in &self.chain_at {
            for (&chain, &scale) in chain_at.iter().zip(&ladder.points) {
                self.chains.set_scale(chain, scale);
            }
        }
    }

    /// A sweep of every chain, then swaps, clusters and forests.
    pub(super) fn step(&mut self, model: &Model, ladder: &Ladder, centres: &[f64]) {
        self.step_seen(model, ladder, centres, |_| ());
    }

    /// The same, with a look at the states between the sweep and the swaps.
    pub(super) fn step_seen(
        &mut self,
        model: &Model,
        ladder: &Ladder,
        centres: &[f64],
        look: impl FnOnce(&Seen<'_>),
    ) {
        self.chains.sweep(model, 1);
        let is_summed = self.sweeps.is_multiple_of(SUMMED_EVERY);
        let Self { chains, chain_at, weights, .. } = self;
        for (weights, chain_at) in weights.iter_mut().zip(&*chain_at) {
            weights.clear();
            weights.extend(chain_at.iter().map(|&chain| chains.log_weight(chain)));
        }
        look(&Seen { sweeps: self.sweeps, chains, chain_at, weights });
        for number in 0..LADDERS {
            if is_summed {
                self.add_to_sums(number, ladder, centres);
            }
            self.swap(number, ladder);
        }
        self.sweeps += 1;
        self.clusters.step(model, &mut self.chains, &self.chain_at, &mut self.random);
        if let Some(bonds) = &mut self.bonds {
            bonds.step(model, ladder, &mut self.chains, &self.chain_at);
        }
        if let Some(trees) = &mut self.trees {
            trees.step(model, &mut self.chains);
        }
    }

    fn add_to_sums(&mut self, number: usize, ladder: &Ladder, centres: &[f64]) {
        let (sums, weights) = (&mut self.sums, &self.weights[number]);
        sums.count += 1.0;
        for (k, points) in ladder.points.windows(2).enumerate() {
            let half = 0.5 * (points[1] - points[0]);
            let (low, high) = (half * weights[k], half * weights[k + 1]);
            sums.rejected[k] += 1.0 - (2.0 * (low - high)).exp().min(1.0);
            sums.forward[k] += (low - centres[k]).exp();
            sums.backward[k] += (centres[k] - high).exp();
            sums.centre[k] += 0.5 * (low + high);
        }
    }

    /// Offers swaps to the even or the odd pairs of a ladder.
    fn swap(&mut self, number: usize, ladder: &Ladder) {
        let (chain_at, weights) = (&mut self.chain_at[number], &self.weights[number]);
        for k in (self.sweeps % 2..ladder.levels() - 1).step_by(2) {
            let points = [ladder.points[k], ladder.points[k + 1]];
            let log_odds = (points[1] - points[0]) * (weights[k] - weights[k + 1]);
            if log_odds < 0.0 && self.random.random::<f64>() >= log_odds.exp() {
                continue;
            }
            chain_at.swap(k, k + 1);
            self.chains.set_scale(chain_at[k], points[0]);
            self.chains.set_scale(chain_at[k + 1], points[1]);
        }
        let hot = &mut self.trips[chain_at[0]];
        self.round_trips += usize::from(*hot == Trip::FromCold);
        *hot = Trip::FromHot;
        let cold = &mut self.trips[chain_at[ladder.levels() - 1]];
        if *cold == Trip::FromHot {
            *cold = Trip::FromCold;
        }
    }

    /// Visits all states: ladder by ladder, level by level, place by place, whether a unit is up.
    pub(super) fn each_state(&self, mut visit: impl FnMut(bool)) {
        for &chain in self.chain_at.iter().flatten() {
            self.chains.each_spin(chain, |_, spin| visit(spin > 0.0));
        }
    }

    /// Sets all states, in the same order.
    pub(super) fn set_states(&mut self, states: &[bool], units: usize) {
        for (&chain, state) in self.chain_at.iter().flatten().zip(states.chunks_exact(units.max(1))) {
            for (place, &up) in state.iter().enumerate() {
                self.chains.set_spin(chain, place, if up { 1.0 } else { -1.0 });
            }
        }
    }

    /// Packs the coldest state of a ladder, a bit for each place: whether its unit is up.
    pub(super) fn pack_coldest(&self, ladder: usize, out: &mut [u64]) {
        self.chains.pack(self.coldest_chain(ladder), out);
    }

    fn coldest_chain(&self, ladder: usize) -> usize {
        self.chain_at[ladder].last().map_or(0, |&chain| chain)
    }

    /// Visits the coldest state of a ladder: each place and whether its unit is up.
    #[inline(always)]
    pub(super) fn coldest(&self, ladder: usize, mut visit: impl FnMut(usize, bool)) {
        self.chains.each_spin(self.coldest_chain(ladder), |place, spin| visit(place, spin > 0.0));
    }
}
