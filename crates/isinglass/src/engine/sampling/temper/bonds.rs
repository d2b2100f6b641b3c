//! Clusters of units that agree with their couplings (Fortuin & Kasteleyn 1972; Swendsen & Wang 1987).
//!
//! A coupling that its two units satisfy, `w_ij s_i s_j > 0`, becomes a bond with probability
//! `1 − exp(−2 b |w_ij|)`, b the scale of the level. Given the bonds, the units of a cluster turn only
//! together, and clusters are independent of each other: each is drawn from its two states by the field on it,
//! `P(turn) = 1/(1 + exp(2 Σ h_i s_i))`. Fields are often made bonds to a ghost unit, whose
//! cluster stays; here these bonds are summed out, so that fields of both signs in a cluster cancel.
//!
//! The move is right for any machine. It is used where couplings are not frustrated, that is, all of them
//! can be satisfied at once: there clusters are the droplets of the machine, and chains do not slow down near a
//! critical temperature. Elsewhere clusters grow over all units long before units order.

use std::sync::Arc;

use fearless_simd::{Level, Simd, dispatch, f32x16, prelude::*};

use super::super::kernel::{Chains, Model};
use super::ladder::Ladder;
use super::team::{LADDERS, Number};
use crate::numeric::chance::{Generators, Sixteen, WIDTH, exp, spin_by_odds, uniform};
use crate::numeric::streams::{Purpose, stream};

/// What of a machine cannot be satisfied at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Frustration {
    /// Nothing.
    None,
    /// Couplings can be satisfied at once, but not together with the fields.
    Fields,
    /// Some cycle of couplings cannot.
    Couplings,
}

impl Frustration {
    /// Walks along the couplings and gives each unit the side that its neighbours ask for.
    pub(super) fn of(model: &Model) -> Self {
        let mut sides = vec![0.0f32; model.units()];
        let mut found = Self::None;
        let mut stack = Vec::new();
        for first in 0..model.units() {
            if sides[first] != 0.0 {
                continue;
            }
            sides[first] = 1.0;
            stack.push(first);
            // The side of the fields of this part, once there is a field.
            let mut pulled = 0.0;
            while let Some(place) = stack.pop() {
                let pull = f64::from(sides[place]) * model.field(place, 1.0);
                if pull * pulled < 0.0 {
                    found = Self::Fields;
                } else if pull != 0.0 {
                    pulled = pull.signum();
                }
                for &(other, coupling) in model.couplings.around(place) {
                    let side = sides[place] * coupling;
                    let other = other as usize;
                    if side * sides[other] < 0.0 {
                        return Self::Couplings;
                    }
                    if side != 0.0 && sides[other] == 0.0 {
                        sides[other] = side.signum();
                        stack.push(other);
                    }
                }
            }
        }
        found
    }
}

/// The couplings of a model, each once.
pub(super) struct Bonds {
    /// The two places, and whether their units are equal where the coupling is satisfied.
    ends: Vec<(u32, u32, bool)>,
    /// 2 |w|/T, sixteen to a vector; padding is 0, which is never a bond.
    strengths: Vec<Sixteen>,
}

impl Bonds {
    pub(super) fn new(model: &Model) -> Self {
        let mut ends = Vec::new();
        let mut strengths = Vec::new();
        for place in 0..model.units() {
            for &(other, coupling) in model.couplings.around(place) {
                if coupling != 0.0 && place < other as usize {
                    if ends.len() % WIDTH == 0 {
                        strengths.push(Sixteen::ZERO);
                    }
                    strengths[ends.len() / WIDTH].0[ends.len() % WIDTH] = coupling.abs();
                    ends.push((place as u32, other, coupling > 0.0));
                }
            }
        }
        Self { ends, strengths }
    }

    /// The bytes of the bonds, and of what some teams note of them.
    pub(super) fn bytes(units: usize, edges: usize, teams: usize) -> u128 {
        // Growing vectors may take twice their length.
        32 * edges as u128 + teams as u128 * (edges as u128 / 2 + 16 * units as u128 + 1024)
    }
}

/// Turns clusters of bonds in the states of a team.
pub(super) struct BondClusters {
    bonds: Arc<Bonds>,
    /// Sweeps from one move to the next.
    every: usize,
    sweeps: usize,
    level: Level,
    random: Generators,
    /// For sixteen couplings each, those that would be bonds if they are satisfied.
    open: Vec<u16>,
    up: Vec<bool>,
    /// A unit of the same cluster with a smaller place, or the unit itself.
    parents: Vec<u32>,
    /// At the first unit of a cluster the field on it times its spins, twice.
    fields: Vec<Sixteen>,
    turned: Vec<u32>,
}

impl BondClusters {
    pub(super) fn new(bonds: &Arc<Bonds>, every: usize, number: Number) -> Self {
        Self {
            bonds: Arc::clone(bonds),
            every,
            sweeps: 0,
            level: Level::new(),
            random: Generators::new(stream(number.seed, Purpose::Bonds, number.team)),
            open: vec![0; bonds.strengths.len()],
            up: Vec::new(),
            parents: Vec::new(),
            fields: Vec::new(),
            turned: Vec::new(),
        }
    }

    /// Turns clusters at the colder half of the levels, where it is time: above, they are small.
    pub(super) fn step(
        &mut self,
        model: &Model,
        ladder: &Ladder,
        chains: &mut Chains,
        chain_at: &[Vec<usize>; LADDERS],
    ) {
        self.sweeps += 1;
        if !self.sweeps.is_multiple_of(self.every) {
            return;
        }
        let hotter = ladder.levels() / 2;
        for chain_at in chain_at {
            for (&chain, &scale) in chain_at.iter().zip(&ladder.points).skip(hotter) {
                self.turn(model, scale, chains, chain);
            }
        }
    }

    fn turn(&mut self, model: &Model, scale: f64, chains: &mut Chains, chain: usize) {
        let units = model.units();
        self.up.resize(units, false);
        chains.each_spin(chain, |place, spin| self.up[place] = spin > 0.0);
        self.parents.clear();
        self.parents.extend(0..units as u32);
        let level = self.level;
        dispatch!(level, simd => self.draw_bonds(simd, scale as f32));
        self.join();
        self.fields.clear();
        self.fields.resize(units.div_ceil(WIDTH), Sixteen::ZERO);
        for place in 0..units {
            // Parents come first, so theirs is the first unit of the cluster already.
            let root = self.parents[self.parents[place] as usize];
            self.parents[place] = root;
            let field = (2.0 * model.field(place, scale)) as f32;
            self.fields[root as usize / WIDTH].0[root as usize % WIDTH] +=
                if self.up[place] { field } else { -field };
        }
        dispatch!(level, simd => self.draw_turns(simd));
        self.turned.clear();
        for (place, &root) in self.parents.iter().enumerate() {
            if self.fields[root as usize / WIDTH].0[root as usize % WIDTH] > 0.0 {
                self.turned.push(place as u32);
            }
        }
        chains.flip(chain, &self.turned);
    }

    /// Draws for every coupling whether it would be a bond.
    #[inline(always)]
    fn draw_bonds<S: Simd>(&mut self, simd: S, scale: f32) {
        let mut random = self.random.load(simd);
        let scale = f32x16::splat(simd, -scale);
        for (open, strength) in self.open.iter_mut().zip(&self.bonds.strengths) {
            let closed = exp(simd, strength.load(simd) * scale);
            *open = uniform(simd, &mut random).simd_gt(closed).to_bitmask() as u16;
        }
        self.random.store(random);
    }

    /// Joins units along the bonds.
    fn join(&mut self) {
        for (k, &open) in self.open.iter().enumerate() {
            let mut left = open;
            while left != 0 {
                let (a, b, is_equal) = self.bonds.ends[k * WIDTH + left.trailing_zeros() as usize];
                left &= left - 1;
                if (self.up[a as usize] == self.up[b as usize]) == is_equal {
                    let (a, b) = (root(&mut self.parents, a), root(&mut self.parents, b));
                    self.parents[a.max(b) as usize] = a.min(b);
                }
            }
        }
    }

    /// Replaces the field on each cluster by +1 if it turns, else −1.
    #[inline(always)]
    fn draw_turns<S: Simd>(&mut self, simd: S) {
        let mut random = self.random.load(simd);
        for field in &mut self.fields {
            let odds = exp(simd, field.load(simd));
            field.store(spin_by_odds(simd, odds, &mut random));
        }
        self.random.store(random);
    }
}

/// The first unit of a cluster, with paths halved on the way.
fn root(parents: &mut [u32], mut place: u32) -> u32 {
    while parents[place as usize] != place {
        let above = parents[parents[place as usize] as usize];
        parents[place as usize] = above;
        place = above;
    }
    place
}

#[cfg(test)]
mod tests {
    use super::super::super::kernel::Couplings;
    use super::*;
    use crate::topology::{self, Neighbours};
    use crate::{Evidence, Machine};

    fn frustration(machine: &Machine) -> Frustration {
        let free: Vec<usize> = (0..machine.unit_count()).collect();
        let couplings = Arc::new(Couplings::new(machine, &free));
        Frustration::of(&Model::new(machine, Evidence::none(free.len()).cells(), &couplings))
    }

    #[test]
    fn frustration_is_found_through_a_gauge() {
        let grid = topology::grid(3, 4, Neighbours::Four);
        // Every coupling and bias satisfied by one state.
        let state: [f64; 12] = [1.0, -1.0, -1.0, 1.0, 1.0, 1.0, -1.0, 1.0, -1.0, -1.0, 1.0, 1.0];
        let mut weights: Vec<f64> =
            grid.graph().edges().iter().map(|edge| 0.5 * state[edge.0] * state[edge.1]).collect();
        let mut biases: Vec<f64> = state.iter().map(|s| -0.2 * s).collect();
        biases[3] = 0.0;
        let machine = |weights: &[f64], biases: &[f64]| {
            grid.clone().with_parameters(weights.to_vec(), biases.to_vec()).unwrap()
        };
        assert_eq!(frustration(&machine(&weights, &biases)), Frustration::None);
        biases[3] = 0.1 * state[3];
        assert_eq!(frustration(&machine(&weights, &biases)), Frustration::Fields);
        weights[0] = -weights[0];
        assert_eq!(frustration(&machine(&weights, &[0.0; 12])), Frustration::Couplings);
        weights[0] = 0.0;
        assert_eq!(frustration(&machine(&weights, &[0.0; 12])), Frustration::None);
    }
}
