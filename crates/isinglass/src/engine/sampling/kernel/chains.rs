//! Chains of any number on the kernel that is cheaper for their machine.

use fearless_simd::{Level, dispatch};

use super::lanes::Lanes;
use super::{CHAINS, Forest, Model, flips};
use crate::numeric::chance::WIDTH;
use crate::numeric::streams::Purpose;

/// Groups of chains that share the walk along the neighbours: with four, the sums of weights no longer
/// fit into registers, and a sweep that needs them takes 1.6 times as long.
const GROUPS: usize = 2;
/// Chains of such a block.
const WIDE: usize = GROUPS * CHAINS;

/// Chains with a random stream and a scale each. What a chain does is independent of its neighbours.
pub(in crate::engine::sampling) struct Chains {
    level: Level,
    kind: Kind,
}

enum Kind {
    /// Blocks of 32 chains, then of 16.
    Lanes {
        wide: Vec<Lanes<GROUPS>>,
        narrow: Vec<Lanes<1>>,
    },
    Flips(Vec<flips::Chain>),
}

impl Chains {
    /// Chains in random states, numbered from `first` on.
    pub(in crate::engine::sampling) fn new(
        model: &Model,
        count: usize,
        seed: u64,
        purpose: Purpose,
        first: u64,
    ) -> Self {
        let units = model.units();
        let kind = if model.couplings.rows.is_some() {
            let chain = |k: usize| flips::Chain::new(units, seed, purpose, first + k as u64);
            Kind::Flips((0..count).map(chain).collect())
        } else {
            let wide = count / WIDE;
            let narrow = (count - wide * WIDE).div_ceil(CHAINS);
            let begin = first + (wide * WIDE) as u64;
            Kind::Lanes {
                wide: (0..wide)
                    .map(|k| Lanes::new(units, seed, purpose, first + (k * WIDE) as u64))
                    .collect(),
                narrow: (0..narrow)
                    .map(|k| Lanes::new(units, seed, purpose, begin + (k * CHAINS) as u64))
                    .collect(),
            }
        };
        Self { level: Level::new(), kind }
    }

    /// The bytes of some chains.
    pub(in crate::engine::sampling) fn bytes(units: usize, count: usize) -> u128 {
        let lanes = count.next_multiple_of(CHAINS) as u128;
        // Spins, and where flips are followed pulls, both padded; generators.
        lanes * (8 * units.next_multiple_of(WIDTH) as u128 + 320)
    }

    pub(in crate::engine::sampling) fn set_scale(&mut self, chain: usize, scale: f64) {
        match &mut self.kind {
            Kind::Flips(chains) => chains[chain].set_scale(scale),
            Kind::Lanes { wide, narrow } => match split(chain, wide.len()) {
                Place::Wide(block, lane) => wide[block].set_scale(lane, scale),
                Place::Narrow(block, lane) => narrow[block].set_scale(lane, scale),
            },
        }
    }

    /// Has to be called where the model is no longer that of the last sweep.
    pub(in crate::engine::sampling) fn change_model(&mut self) {
        if let Kind::Flips(chains) = &mut self.kind {
            chains.iter_mut().for_each(flips::Chain::forget_pulls);
        }
    }

    /// Updates every unit of every chain, a number of times, and weighs the states at the end.
    pub(in crate::engine::sampling) fn sweep(&mut self, model: &Model, sweeps: usize) {
        self.sweep_and::<true>(model, sweeps);
    }

    /// The same, but states are not weighed.
    pub(in crate::engine::sampling) fn advance(&mut self, model: &Model, sweeps: usize) {
        self.sweep_and::<false>(model, sweeps);
    }

    fn sweep_and<const WEIGH: bool>(&mut self, model: &Model, sweeps: usize) {
        match (&mut self.kind, &model.couplings.rows) {
            (Kind::Lanes { wide, narrow }, _) => {
                for lanes in wide {
                    lanes.sweep::<WEIGH>(self.level, model, sweeps);
                }
                for lanes in narrow {
                    lanes.sweep::<WEIGH>(self.level, model, sweeps);
                }
            }
            (Kind::Flips(chains), Some(rows)) => {
                flips::sweep::<WEIGH>(self.level, model, rows, chains, sweeps);
            }
            // Chains that follow flips are made for models with rows.
            (Kind::Flips(_), None) => {}
        }
    }

    /// A sweep of every chain at each of some scales; states are not weighed.
    pub(in crate::engine::sampling) fn anneal(&mut self, model: &Model, scales: &[f64]) {
        match (&mut self.kind, &model.couplings.rows) {
            (Kind::Lanes { wide, narrow }, _) => {
                for lanes in wide {
                    lanes.anneal(self.level, model, scales);
                }
                for lanes in narrow {
                    lanes.anneal(self.level, model, scales);
                }
            }
            (Kind::Flips(chains), Some(rows)) => flips::anneal(self.level, model, rows, chains, scales),
            // Chains that follow flips are made for models with rows.
            (Kind::Flips(_), None) => {}
        }
    }

    /// Draws the units of a forest in every chain, given its other units; where chains follow flips, nothing.
    pub(in crate::engine::sampling) fn draw_forest(&mut self, model: &Model, forest: &Forest) {
        if let Kind::Lanes { wide, narrow } = &mut self.kind {
            for lanes in wide {
                lanes.draw_forest(self.level, model, forest);
            }
            for lanes in narrow {
                lanes.draw_forest(self.level, model, forest);
            }
        }
    }

    /// What the scale multiplies in the log-weight of a chain's state, after the last sweep.
    pub(in crate::engine::sampling) fn log_weight(&self, chain: usize) -> f64 {
        match &self.kind {
            Kind::Flips(chains) => chains[chain].log_weight,
            Kind::Lanes { wide, narrow } => match split(chain, wide.len()) {
                Place::Wide(block, lane) => wide[block].log_weight(lane),
                Place::Narrow(block, lane) => narrow[block].log_weight(lane),
            },
        }
    }

    /// The spin of a unit: −1 or +1.
    #[inline(always)]
    pub(in crate::engine::sampling) fn spin(&self, chain: usize, place: usize) -> f32 {
        match &self.kind {
            Kind::Flips(chains) => chains[chain].spins[place / WIDTH].0[place % WIDTH],
            Kind::Lanes { wide, narrow } => match split(chain, wide.len()) {
                Place::Wide(block, lane) => wide[block].states[place].0.as_flattened()[lane],
                Place::Narrow(block, lane) => narrow[block].states[place].0.as_flattened()[lane],
            },
        }
    }

    /// Sets the spin of a unit.
    #[inline(always)]
    pub(in crate::engine::sampling) fn set_spin(&mut self, chain: usize, place: usize, spin: f32) {
        match &mut self.kind {
            Kind::Flips(chains) => chains[chain].set(place, spin > 0.0),
            Kind::Lanes { wide, narrow } => match split(chain, wide.len()) {
                Place::Wide(block, lane) => wide[block].states[place].0.as_flattened_mut()[lane] = spin,
                Place::Narrow(block, lane) => narrow[block].states[place].0.as_flattened_mut()[lane] = spin,
            },
        }
    }

    /// For each unit whether two chains differ in it.
    pub(in crate::engine::sampling) fn differences(&self, [a, b]: [usize; 2], out: &mut [bool]) {
        self.each_spin(a, |place, spin| out[place] = spin > 0.0);
        self.each_spin(b, |place, spin| out[place] ^= spin > 0.0);
    }

    /// Visits the spins of a chain, unit after unit.
    #[inline(always)]
    pub(in crate::engine::sampling) fn each_spin(&self, chain: usize, mut visit: impl FnMut(usize, f32)) {
        match &self.kind {
            Kind::Flips(chains) => {
                let spins = chains[chain].spins.iter().flat_map(|spins| spins.0);
                // Padding is 0.
                spins.enumerate().filter(|spin| spin.1 != 0.0).for_each(|(place, spin)| visit(place, spin));
            }
            Kind::Lanes { wide, narrow } => match split(chain, wide.len()) {
                Place::Wide(block, lane) => {
                    let states = wide[block].states.iter().enumerate();
                    states.for_each(|(place, spins)| visit(place, spins.0.as_flattened()[lane]));
                }
                Place::Narrow(block, lane) => {
                    let states = narrow[block].states.iter().enumerate();
                    states.for_each(|(place, spins)| visit(place, spins.0.as_flattened()[lane]));
                }
            },
        }
    }

    /// Packs the state of a chain, a bit for each unit: whether it is up.
    pub(in crate::engine::sampling) fn pack(&self, chain: usize, out: &mut [u64]) {
        out.fill(0);
        self.each_spin(chain, |place, spin| out[place / 64] |= u64::from(spin > 0.0) << (place % 64));
    }

    /// Σ s of each chain.
    pub(in crate::engine::sampling) fn totals(&self, out: &mut Vec<f64>) {
        out.clear();
        match &self.kind {
            Kind::Flips(chains) => {
                let total = |chain: &flips::Chain| chain.spins.iter().flat_map(|spins| spins.0).sum::<f32>();
                out.extend(chains.iter().map(|chain| f64::from(total(chain))));
            }
            Kind::Lanes { wide, narrow } => {
                for lanes in wide {
                    lanes.add_totals(out);
                }
                for lanes in narrow {
                    lanes.add_totals(out);
                }
            }
        }
    }

    /// Flips some units of a chain.
    pub(in crate::engine::sampling) fn flip(&mut self, chain: usize, places: &[u32]) {
        let places = places.iter().map(|&place| place as usize);
        match &mut self.kind {
            Kind::Flips(chains) => places.for_each(|place| chains[chain].flip(place)),
            Kind::Lanes { wide, narrow } => match split(chain, wide.len()) {
                Place::Wide(block, lane) => {
                    places
                        .for_each(|place| negate(&mut wide[block].states[place].0.as_flattened_mut()[lane]));
                }
                Place::Narrow(block, lane) => {
                    places.for_each(|place| {
                        negate(&mut narrow[block].states[place].0.as_flattened_mut()[lane]);
                    });
                }
            },
        }
    }

    /// For each unit a bit for each of up to 64 chains: whether it is up.
    pub(in crate::engine::sampling) fn masks(&self, out: &mut [u64]) {
        match &self.kind {
            Kind::Flips(chains) => {
                for (place, mask) in out.iter_mut().enumerate() {
                    let up = |chain: &flips::Chain| chain.spins[place / WIDTH].0[place % WIDTH] > 0.0;
                    *mask = chains
                        .iter()
                        .enumerate()
                        .fold(0, |bits, (k, chain)| bits | u64::from(up(chain)) << k);
                }
            }
            Kind::Lanes { wide, narrow } => {
                let mut part = vec![0; out.len()];
                let mut first = 0;
                out.fill(0);
                let mut join = |part: &[u64], chains: usize| {
                    out.iter_mut().zip(part).for_each(|(all, bits)| *all |= bits << first);
                    first += chains;
                };
                for lanes in wide {
                    dispatch!(self.level, simd => lanes.masks(simd, &mut part));
                    join(&part, WIDE);
                }
                for lanes in narrow {
                    dispatch!(self.level, simd => lanes.masks(simd, &mut part));
                    join(&part, CHAINS);
                }
            }
        }
    }

    /// For each unit a bit for each of the first sixteen chains: whether it is up.
    pub(in crate::engine::sampling) fn sixteen_masks(&self, out: &mut [u16]) {
        match &self.kind {
            Kind::Flips(chains) => {
                for (place, mask) in out.iter_mut().enumerate() {
                    let up = |chain: &flips::Chain| chain.spins[place / WIDTH].0[place % WIDTH] > 0.0;
                    let chains = chains.iter().take(CHAINS).enumerate();
                    *mask = chains.fold(0, |bits, (k, chain)| bits | u16::from(up(chain)) << k);
                }
            }
            Kind::Lanes { wide, narrow } => match (wide.first(), narrow.first()) {
                (Some(lanes), _) => dispatch!(self.level, simd => lanes.first_masks(simd, out)),
                (None, Some(lanes)) => dispatch!(self.level, simd => lanes.first_masks(simd, out)),
                (None, None) => {}
            },
        }
    }
}

#[inline(always)]
fn negate(spin: &mut f32) {
    *spin = -*spin;
}

enum Place {
    Wide(usize, usize),
    Narrow(usize, usize),
}

#[inline(always)]
fn split(chain: usize, wide: usize) -> Place {
    match chain.checked_sub(wide * WIDE) {
        None => Place::Wide(chain / WIDE, chain % WIDE),
        Some(rest) => Place::Narrow(rest / CHAINS, rest % CHAINS),
    }
}
