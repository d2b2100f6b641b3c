//! Exact draws of forests: units without a cycle among them, all at once, given the rest
//! (Hamze & de Freitas 2004).
//!
//! With log-odds `x = ln P(+1)/P(−1)` of a unit, given all outside the forest and its children, and
//! J twice the coupling to its parent, the unit adds
//! `m(x, J) = ln (1 + e^(x + J))/(e^x + e^J)` to the log-odds of its parent: in fields h = x/2 and
//! w = J/2, `m = ln cosh(h + w) − ln cosh(h − w)`. One pass from the leaves to the roots adds these
//! up, and one back draws each unit given its parent.

use fearless_simd::{Level, Simd, dispatch, f32x16, prelude::*, u32x16};
use rand::RngExt;

use super::lanes::{Lanes, Spins, add_pull, choose};
use super::{CHAINS, Couplings, Model};
use crate::numeric::chance::{exp, ln};
use crate::numeric::streams::{Purpose, stream};

/// The most forests that are grown.
const MOST: usize = 16;

const NONE: u32 = u32::MAX;

/// A maximal set of places without a cycle of couplings among them.
pub(in crate::engine::sampling) struct Forest {
    /// Each after its parent.
    members: Vec<Member>,
    /// The neighbours of each member outside the forest, one member after the other.
    outside: Vec<(u32, f32)>,
}

struct Member {
    place: u32,
    /// The place of the parent, and its number among the members; [`NONE`] for a root.
    parent: u32,
    parent_number: u32,
    coupling: f32,
    /// Where its neighbours outside end.
    end: u32,
}

impl Forest {
    /// Forests that together cover all places, if so many suffice. They depend on the couplings alone.
    pub(in crate::engine::sampling) fn cover(couplings: &Couplings) -> Vec<Self> {
        let units = couplings.len();
        let mut is_covered = vec![false; units];
        let mut forests: Vec<Self> = Vec::new();
        while forests.len() < MOST && is_covered.iter().any(|covered| !covered) {
            let mut random = stream(0, Purpose::Trees, forests.len() as u64);
            // Places that no forest has yet come first, in random order.
            let mut order: Vec<(bool, u64, usize)> =
                is_covered.iter().enumerate().map(|(k, &covered)| (covered, random.random(), k)).collect();
            order.sort_unstable();
            let forest = Self::grow(couplings, order.into_iter().map(|(_, _, place)| place));
            forest.members.iter().for_each(|member| is_covered[member.place as usize] = true);
            forests.push(forest);
        }
        forests
    }

    /// Takes one place after the other, if all its neighbours among those taken are in different trees.
    fn grow(couplings: &Couplings, order: impl Iterator<Item = usize>) -> Self {
        let units = couplings.len();
        let mut is_taken = vec![false; units];
        // A place of the same tree that is nearer to its representative, or the place itself.
        let mut parents: Vec<u32> = (0..units as u32).collect();
        let mut trees = Vec::new();
        for place in order {
            trees.clear();
            let joined =
                couplings.around(place).iter().filter(|&&(other, j)| j != 0.0 && is_taken[other as usize]);
            trees.extend(joined.map(|&(other, _)| representative(&mut parents, other)));
            trees.sort_unstable();
            if trees.windows(2).any(|two| two[0] == two[1]) {
                continue;
            }
            is_taken[place] = true;
            for &tree in &trees {
                parents[tree as usize] = place as u32;
            }
        }
        Self::of(couplings, &is_taken)
    }

    /// The forest of some places, each tree from its first place on.
    fn of(couplings: &Couplings, is_taken: &[bool]) -> Self {
        let mut forest = Self { members: Vec::new(), outside: Vec::new() };
        let mut is_met = vec![false; is_taken.len()];
        for root in (0..is_taken.len()).filter(|&place| is_taken[place]) {
            if std::mem::replace(&mut is_met[root], true) {
                continue;
            }
            let mut at = forest.members.len();
            forest.members.push(Member {
                place: root as u32,
                parent: NONE,
                parent_number: NONE,
                coupling: 0.0,
                end: 0,
            });
            while at < forest.members.len() {
                let place = forest.members[at].place;
                for &(other, coupling) in couplings.around(place as usize) {
                    let k = other as usize;
                    if !is_taken[k] {
                        forest.outside.push((other, coupling));
                    } else if coupling != 0.0 && !std::mem::replace(&mut is_met[k], true) {
                        let parent_number = at as u32;
                        forest.members.push(Member {
                            place: other,
                            parent: place,
                            parent_number,
                            coupling,
                            end: 0,
                        });
                    }
                }
                forest.members[at].end = forest.outside.len() as u32;
                at += 1;
            }
        }
        forest
    }

    /// The bytes of the forests of some units with some edges, and of the log-odds of some chains.
    pub(in crate::engine::sampling) fn bytes(units: usize, edges: usize, chains: usize) -> u128 {
        // Growing vectors may take twice their length.
        let forest = 2 * (size_of::<Member>() * units + 2 * 8 * edges);
        (MOST * forest) as u128 + 4 * units as u128 * chains.next_multiple_of(CHAINS) as u128
    }
}

/// The representative of a tree, with paths halved on the way.
fn representative(parents: &mut [u32], mut place: u32) -> u32 {
    while parents[place as usize] != place {
        let above = parents[parents[place as usize] as usize];
        parents[place as usize] = above;
        place = above;
    }
    place
}

impl<const GROUPS: usize> Lanes<GROUPS> {
    /// Draws the units of a forest in every chain, given its other units.
    pub(super) fn draw_forest(&mut self, level: Level, model: &Model, forest: &Forest) {
        self.log_odds.resize(model.units(), Spins([[0.0; CHAINS]; GROUPS]));
        dispatch!(level, simd => self.draw(simd, model, forest));
    }

    #[inline(always)]
    fn draw<S: Simd>(&mut self, simd: S, model: &Model, forest: &Forest) {
        let scales = self.scales.0.map(|lane| f32x16::load_array(simd, lane));
        let mut random = self.random.map(|words| words.map(|word| u32x16::load_array(simd, word)));
        let mut start = 0;
        for (k, member) in forest.members.iter().enumerate() {
            let place = member.place as usize;
            let around = &forest.outside[start..member.end as usize];
            start = member.end as usize;
            let pull =
                add_pull(simd, [f32x16::splat(simd, model.shifts[place]); GROUPS], around, &self.states);
            let bias = f32x16::splat(simd, model.biases[place]);
            for group in 0..GROUPS {
                let field = pull[group].mul_add(scales[group], bias);
                field.store_array(&mut self.log_odds[k].0[group]);
            }
        }
        for (k, member) in forest.members.iter().enumerate().rev() {
            if member.parent == NONE {
                continue;
            }
            let coupling = f32x16::splat(simd, member.coupling);
            for group in 0..GROUPS {
                let x = f32x16::load_array_ref(simd, &self.log_odds[k].0[group]);
                let parent = &mut self.log_odds[member.parent_number as usize].0[group];
                let sum = f32x16::load_array_ref(simd, parent) + message(simd, x, coupling * scales[group]);
                sum.store_array(parent);
            }
        }
        for (k, member) in forest.members.iter().enumerate() {
            let coupling = f32x16::splat(simd, member.coupling);
            for group in 0..GROUPS {
                let mut x = f32x16::load_array_ref(simd, &self.log_odds[k].0[group]);
                if member.parent != NONE {
                    let parent = f32x16::load_array_ref(simd, &self.states[member.parent as usize].0[group]);
                    x = (coupling * scales[group]).mul_add(parent, x);
                }
                let spin = choose(simd, x, &mut random[group]);
                spin.store_array(&mut self.states[member.place as usize].0[group]);
            }
        }
        self.random = random.map(|words| words.map(SimdBase::to_array));
    }
}

/// `ln (1 + e^(x + J))/(e^x + e^J)` in each lane, with an error below 2e-6 and 2e-7 of |x| + |J|.
///
/// It is `max(x + J, 0) − max(x, J) + ln (1 + e^(−|x + J|))/(1 + e^(−|x − J|))`, where nothing overflows.
#[inline(always)]
fn message<S: Simd>(simd: S, x: f32x16<S>, j: f32x16<S>) -> f32x16<S> {
    let (zero, one) = (f32x16::splat(simd, 0.0), f32x16::splat(simd, 1.0));
    let (sum, difference) = (x + j, x - j);
    let ratio = (one + exp(simd, -sum.abs())) / (one + exp(simd, -difference.abs()));
    sum.max(zero) - x.max(j) + ln(simd, ratio)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::{self, Neighbours, Numbers};
    use crate::{Evidence, Machine};

    #[inline(always)]
    fn messages<S: Simd>(simd: S, x: [f32; CHAINS], j: f32) -> [f32; CHAINS] {
        message(simd, f32x16::load_array(simd, x), f32x16::splat(simd, j)).to_array()
    }

    #[test]
    fn messages_are_differences_of_logarithms_of_cosh() {
        let level = Level::new();
        let log_cosh = |x: f64| x.abs() + (-2.0 * x.abs()).exp().ln_1p() - std::f64::consts::LN_2;
        for j in [-60.0f32, -7.0, -1.0, -1e-3, 0.0, 0.3, 2.0, 20.0, 150.0] {
            for k in -12..12i8 {
                let x: [f32; CHAINS] =
                    std::array::from_fn(|lane| f32::from(k).powi(3) / 10.0 + 0.37 * lane as f32);
                let found = dispatch!(level, simd => messages(simd, x, j));
                for (x, found) in x.into_iter().zip(found) {
                    let (h, w) = (0.5 * f64::from(x), 0.5 * f64::from(j));
                    let exact = log_cosh(h + w) - log_cosh(h - w);
                    let error = (f64::from(found) - exact).abs();
                    assert!(
                        error < 2e-6 + 2e-7 * f64::from(x.abs() + j.abs()),
                        "m({x}, {j}): {found}, {exact}"
                    );
                }
            }
        }
    }

    fn couplings(machine: &Machine) -> Couplings {
        Couplings::new(machine, &(0..machine.unit_count()).collect::<Vec<_>>())
    }

    #[test]
    fn forests_cover_all_and_are_maximal() {
        let numbers: Numbers = "normal:0,1".parse().unwrap();
        for machine in [
            topology::grid(7, 9, Neighbours::Four),
            topology::regular(40, 3, 1).unwrap(),
            topology::grid(1, 12, Neighbours::Four),
        ] {
            let machine = machine.with_numbers(&numbers, &numbers, 1).unwrap();
            let couplings = couplings(&machine);
            let forests = Forest::cover(&couplings);
            let mut is_covered = vec![false; couplings.len()];
            for forest in &forests {
                let mut is_taken = vec![false; couplings.len()];
                for member in &forest.members {
                    is_taken[member.place as usize] = true;
                    is_covered[member.place as usize] = true;
                }
                // A forest has a coupling for each member that is not a root: no cycle is left out.
                let inside = |place: usize| {
                    couplings.around(place).iter().filter(|&&(other, _)| is_taken[other as usize]).count()
                };
                let taken = || (0..couplings.len()).filter(|&place| is_taken[place]);
                let edges: usize = taken().map(inside).sum::<usize>() / 2;
                let roots = forest.members.iter().filter(|member| member.parent == NONE).count();
                assert_eq!(edges, forest.members.len() - roots);
                // Every other place would close a cycle, so it has two neighbours inside.
                assert!((0..couplings.len()).all(|place| is_taken[place] || inside(place) >= 2));
            }
            assert!(is_covered.iter().all(|&covered| covered) && forests.len() <= 8, "{}", forests.len());
        }
    }

    /// Draws of a forest against the probabilities of all its states given the rest, by enumeration.
    #[test]
    fn draws_have_the_conditional_distribution() {
        const DRAWS: usize = 4000;
        let numbers: Numbers = "normal:0,0.8".parse().unwrap();
        let machine = topology::grid(3, 3, Neighbours::Four).with_numbers(&numbers, &numbers, 5).unwrap();
        let couplings = std::sync::Arc::new(couplings(&machine));
        let mut model = Model::new(&machine, Evidence::none(9).cells(), &couplings);
        // A reference of its own, so that the scale matters.
        model.set_reference(Some(&[0.1, -0.2, 0.3, 0.0, 0.5, -0.4, 0.2, 0.1, -0.3]));
        let scale = 1.3;
        for forest in &Forest::cover(&couplings) {
            let mut lanes = Lanes::<4>::new(9, 3, Purpose::TemperedChain, 0);
            (0..4 * CHAINS).for_each(|chain| lanes.set_scale(chain, scale));
            // One state outside in all chains.
            let outside: Vec<usize> =
                (0..9).filter(|&k| forest.members.iter().all(|member| member.place as usize != k)).collect();
            for &place in &outside {
                lanes.states[place].0.as_flattened_mut().fill(if place % 2 == 0 { 1.0 } else { -1.0 });
            }
            let members = forest.members.len();
            let weight = |bits: usize| {
                let mut state: Vec<f64> = (0..9).map(|k| if k % 2 == 0 { 1.0 } else { -1.0 }).collect();
                for (k, member) in forest.members.iter().enumerate() {
                    state[member.place as usize] = if bits >> k & 1 == 1 { 1.0 } else { -1.0 };
                }
                let mut sum = 0.0;
                for place in 0..9 {
                    let pull: f64 = (couplings.around(place).iter())
                        .map(|&(other, j)| 0.25 * scale * f64::from(j) * state[other as usize])
                        .sum();
                    sum += state[place] * (model.field(place, scale) + pull);
                }
                sum.exp()
            };
            let weights: Vec<f64> = (0..1 << members).map(weight).collect();
            let total: f64 = weights.iter().sum();
            let mut counts = vec![0.0; 1 << members];
            for _ in 0..DRAWS {
                lanes.draw_forest(Level::new(), &model, forest);
                for chain in 0..4 * CHAINS {
                    let up = |place: u32| lanes.states[place as usize].0.as_flattened()[chain] > 0.0;
                    let bits = (forest.members.iter().enumerate())
                        .fold(0, |bits, (k, member)| bits | usize::from(up(member.place)) << k);
                    counts[bits] += 1.0;
                }
            }
            // Draws are independent; cells with few of them are left out.
            let (mut chi_square, mut cells) = (0.0, 0.0);
            for (count, weight) in counts.iter().zip(&weights) {
                let expected = weight / total * (DRAWS * 4 * CHAINS) as f64;
                if expected > 10.0 {
                    chi_square += (count - expected) * (count - expected) / expected;
                    cells += 1.0;
                }
            }
            // Four deviations of χ².
            assert!(chi_square < cells + 4.0 * (2.0f64 * cells).sqrt(), "χ² {chi_square} of {cells} cells");
            assert!(cells > 16.0);
        }
    }
}
