//! Chains in SIMD lanes: states unit by unit, sixteen chains to a vector.
//!
//! The field of a unit in all chains takes one multiply-add for each neighbour. Four vectors share the
//! walk along the neighbours where there are as many chains; otherwise updates of the same colour
//! overlap by themselves.

use fearless_simd::{Level, Simd, dispatch, f32x16, prelude::*, u32x16};
use rand::Rng;

use super::{CHAINS, Model};
use crate::cancel;
use crate::numeric::chance::{exp, spin_by_odds, uniform};
use crate::numeric::streams::{Purpose, stream};

/// The state of a unit in all chains of some groups: −1 or +1. Aligned to cache lines.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(crate) struct Spins<const GROUPS: usize>(pub(crate) [[f32; CHAINS]; GROUPS]);

/// Groups of chains side by side.
pub(super) struct Lanes<const GROUPS: usize> {
    /// Unit by unit, in the order of sweeps.
    pub(super) states: Vec<Spins<GROUPS>>,
    pub(super) random: [[[u32; CHAINS]; 4]; GROUPS],
    pub(super) scales: Spins<GROUPS>,
    /// Of the units of a forest, while it is drawn.
    pub(super) log_odds: Vec<Spins<GROUPS>>,
    sums: [[f64; CHAINS]; GROUPS],
}

/// Single precision sums up so many terms before they go to double precision.
const TERMS: usize = 4;

impl<const GROUPS: usize> Lanes<GROUPS> {
    /// Chains from `first` on, each in a random state from a stream of its own.
    pub(super) fn new(units: usize, seed: u64, purpose: Purpose, first: u64) -> Self {
        let mut random = [[[0; CHAINS]; 4]; GROUPS];
        let mut states = vec![Spins([[0.0; CHAINS]; GROUPS]); units];
        for chain in 0..GROUPS * CHAINS {
            let (group, lane) = (chain / CHAINS, chain % CHAINS);
            let mut source = stream(seed, purpose, first + chain as u64);
            for word in &mut random[group] {
                word[lane] = source.next_u32();
            }
            // xoshiro must not start from zeros.
            random[group][0][lane] |= 1;
            for state in &mut states {
                state.0[group][lane] = if source.next_u32() & 1 == 1 { 1.0 } else { -1.0 };
            }
        }
        let scales = Spins([[1.0; CHAINS]; GROUPS]);
        Self { states, random, scales, log_odds: Vec::new(), sums: [[0.0; CHAINS]; GROUPS] }
    }

    pub(super) fn set_scale(&mut self, chain: usize, scale: f64) {
        self.scales.0.as_flattened_mut()[chain] = scale as f32;
    }

    /// That of the state after the last sweep.
    pub(super) fn log_weight(&self, chain: usize) -> f64 {
        // Couplings and fields are stored twice as large.
        0.5 * self.sums.as_flattened()[chain]
    }

    /// Updates every unit of every chain, a number of times; the states at the end are weighed, if
    /// that is wanted.
    pub(super) fn sweep<const WEIGH: bool>(&mut self, level: Level, model: &Model, sweeps: usize) {
        for sweep in 1..=sweeps {
            cancel::point();
            if WEIGH && sweep == sweeps {
                dispatch!(level, simd => self.pass::<_, true, false>(simd, model));
            } else {
                dispatch!(level, simd => self.pass::<_, false, false>(simd, model));
            }
        }
    }

    /// A sweep of all chains at each of some scales, by Metropolis' rule, which flips more often than
    /// the heat bath.
    pub(super) fn anneal(&mut self, level: Level, model: &Model, scales: &[f64]) {
        for &scale in scales {
            cancel::point();
            self.scales = Spins([[scale as f32; CHAINS]; GROUPS]);
            dispatch!(level, simd => self.pass::<_, false, true>(simd, model));
        }
    }

    /// One sweep; with weights of the new states, if these are wanted.
    ///
    /// When a unit is updated, those before it have their new spins, so their contributions to its
    /// field add up to the weight of the new state: `Σ_i s_i (h_i − f_i + Σ_{j<i} w_ij s_j)`, anew in
    /// every sweep.
    #[inline(always)]
    fn pass<S: Simd, const WEIGHTS: bool, const METROPOLIS: bool>(&mut self, simd: S, model: &Model) {
        let zero = [f32x16::splat(simd, 0.0); GROUPS];
        let mut random = self.random.map(|words| words.map(|word| u32x16::load_array(simd, word)));
        let scales = self.scales.0.map(|lane| f32x16::load_array(simd, lane));
        let mut sums = zero;
        if WEIGHTS {
            self.sums = [[0.0; CHAINS]; GROUPS];
        }
        let units = model.units();
        for unit in 0..units {
            let [before, after] = model.couplings.split_around(unit);
            let shift = [f32x16::splat(simd, model.shifts[unit]); GROUPS];
            let new = add_pull(simd, shift, before, &self.states);
            let pull = add_pull(simd, new, after, &self.states);
            let bias = f32x16::splat(simd, model.biases[unit]);
            for group in 0..GROUPS {
                let field = pull[group].mul_add(scales[group], bias);
                let spin = if METROPOLIS {
                    let spin = f32x16::load_array_ref(simd, &self.states[unit].0[group]);
                    flip_by_rule(simd, spin, field, &mut random[group])
                } else {
                    choose(simd, field, &mut random[group])
                };
                spin.store_array(&mut self.states[unit].0[group]);
                if WEIGHTS {
                    sums[group] = spin.mul_add(new[group], sums[group]);
                }
            }
            if WEIGHTS && (unit % TERMS == TERMS - 1 || unit + 1 == units) {
                for group in 0..GROUPS {
                    add_to(&mut self.sums[group], sums[group]);
                }
                sums = zero;
            }
        }
        self.random = random.map(|words| words.map(SimdBase::to_array));
    }

    /// Appends Σ s of each chain; whole numbers, which single precision holds for 2^24 units.
    pub(super) fn add_totals(&self, out: &mut Vec<f64>) {
        for group in 0..GROUPS {
            let mut sums = [0.0f32; CHAINS];
            for state in &self.states {
                sums.iter_mut().zip(&state.0[group]).for_each(|(sum, spin)| *sum += spin);
            }
            out.extend(sums.map(f64::from));
        }
    }

    /// For each unit, one bit for each chain of the first group: whether it is up.
    #[inline(always)]
    pub(super) fn first_masks<S: Simd>(&self, simd: S, out: &mut [u16]) {
        let zero = f32x16::splat(simd, 0.0);
        for (mask, state) in out.iter_mut().zip(&self.states) {
            *mask = f32x16::load_array_ref(simd, &state.0[0]).simd_gt(zero).to_bitmask() as u16;
        }
    }

    /// For each unit, one bit for each chain: whether it is up.
    #[inline(always)]
    pub(super) fn masks<S: Simd>(&self, simd: S, out: &mut [u64]) {
        let zero = f32x16::splat(simd, 0.0);
        for (mask, state) in out.iter_mut().zip(&self.states) {
            *mask = 0;
            for group in 0..GROUPS {
                let up = f32x16::load_array_ref(simd, &state.0[group]).simd_gt(zero);
                *mask |= up.to_bitmask() << (group * CHAINS);
            }
        }
    }
}

#[inline(always)]
fn add_to<S: Simd>(sums: &mut [f64; CHAINS], terms: f32x16<S>) {
    for (sum, term) in sums.iter_mut().zip(terms.to_array()) {
        *sum += f64::from(term);
    }
}

/// Neighbours from which on the sum is cut into four.
const MANY: usize = 16;

/// Adds the contributions of some neighbours to the field of a unit.
#[inline(always)]
pub(crate) fn add_pull<S: Simd, const GROUPS: usize>(
    simd: S,
    mut field: [f32x16<S>; GROUPS],
    neighbours: &[(u32, f32)],
    states: &[Spins<GROUPS>],
) -> [f32x16<S>; GROUPS] {
    let mut rest = neighbours;
    if GROUPS == 1 && neighbours.len() >= MANY {
        // Four sums at a time: one alone would wait for itself.
        let mut sums = [f32x16::splat(simd, 0.0); 4];
        let fours = neighbours.chunks_exact(4);
        rest = fours.remainder();
        for four in fours {
            for k in 0..4 {
                let (other, coupling) = four[k];
                let state = f32x16::load_array_ref(simd, &states[other as usize].0[0]);
                sums[k] = state.mul_add(f32x16::splat(simd, coupling), sums[k]);
            }
        }
        field[0] += (sums[0] + sums[1]) + (sums[2] + sums[3]);
    }
    for &(other, coupling) in rest {
        let coupling = f32x16::splat(simd, coupling);
        let state = &states[other as usize].0;
        for group in 0..GROUPS {
            field[group] = f32x16::load_array_ref(simd, &state[group]).mul_add(coupling, field[group]);
        }
    }
    field
}

/// Draws the spin of a unit by its field: P(+1) = 1/(1 + e^(−field)).
#[inline(always)]
pub(crate) fn choose<S: Simd>(simd: S, field: f32x16<S>, random: &mut [u32x16<S>; 4]) -> f32x16<S> {
    spin_by_odds(simd, exp(simd, -field), random)
}

/// Flips a spin with probability min(1, e^(−s·field)) (Metropolis et al. 1953).
#[inline(always)]
fn flip_by_rule<S: Simd>(
    simd: S,
    spin: f32x16<S>,
    field: f32x16<S>,
    random: &mut [u32x16<S>; 4],
) -> f32x16<S> {
    let is_flipped = uniform(simd, random).simd_lt(exp(simd, -(spin * field)));
    is_flipped.select(-spin, spin)
}
