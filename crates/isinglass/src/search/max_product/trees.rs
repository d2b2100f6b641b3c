//! Solves trees, in two passes: messages from the leaves inwards, choices outwards.
//!
//! The trees are those behind the core, for up to `N` rows; and forests within the core. A state
//! that no single flip improves may have clusters that should flip together. The best state of a
//! set without cycles, given all others, takes two passes; the search descends over several such
//! sets in turn. They depend on the structure alone, and are shared by all rows.

use fearless_simd::{Level, Simd, dispatch};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::plan::{Link, NONE, Plan};
use crate::numeric::streams::{Purpose, stream};

/// `½ (|h + v| − |h − v|) = ± min(|h|, |v|)`: the max-product message through a coupling v.
#[inline(always)]
pub(super) fn message(v: f64, h: f64) -> f64 {
    let most = v.abs();
    (h * 1f64.copysign(v)).max(-most).min(most)
}

/// Returns the better spin in a field; up in a tie.
#[inline(always)]
pub(super) fn choice(field: f64) -> f64 {
    if field >= 0.0 { 1.0 } else { -1.0 }
}

/// Adds the messages of each tree to the fields, from the leaves inwards.
pub(super) fn inwards<const N: usize>(plan: &Plan, fields: &mut [[f64; N]]) {
    dispatch!(Level::new(), simd => add_messages(simd, plan, fields));
}

#[inline(always)]
fn add_messages<S: Simd, const N: usize>(_simd: S, plan: &Plan, fields: &mut [[f64; N]]) {
    for (k, &(to, v)) in plan.parents.iter().enumerate().rev() {
        if to != NONE {
            let field = fields[plan.core + k];
            for (sum, h) in fields[to as usize].iter_mut().zip(field) {
                *sum += message(v, h);
            }
        }
    }
}

/// Chooses the state of each place behind the core, given the core's, from the roots outwards.
pub(super) fn outwards<const N: usize>(plan: &Plan, fields: &[[f64; N]], states: &mut [[f64; N]]) {
    dispatch!(Level::new(), simd => choose(simd, plan, fields, states));
}

#[inline(always)]
fn choose<S: Simd, const N: usize>(_simd: S, plan: &Plan, fields: &[[f64; N]], states: &mut [[f64; N]]) {
    for (place, &(to, v)) in (plan.core..).zip(&plan.parents) {
        let other = if to == NONE { [0.0; N] } else { states[to as usize] };
        for ((state, h), other) in states[place].iter_mut().zip(fields[place]).zip(other) {
            *state = choice(h + v * other);
        }
    }
}

/// The number of sets. On grids each has about two thirds of the units; together they cover all.
const FORESTS: u64 = 8;

/// Units of the core without a cycle among them, each after its parent.
pub(super) struct Forest {
    members: Vec<Member>,
}

#[derive(Clone, Copy)]
struct Member {
    place: u32,
    /// The parent's number among the members; [`NONE`] for a root.
    parent: u32,
    coupling: f64,
}

impl Forest {
    /// Estimates the bytes of the forests.
    pub(super) fn bytes(free: usize) -> u128 {
        u128::from(FORESTS) * 16 * free as u128
    }

    /// Grows the forests of a core.
    pub(super) fn several(plan: &Plan) -> Vec<Self> {
        if plan.core == 0 {
            return Vec::new();
        }
        (0..FORESTS).map(|number| Self::grow(plan, &mut stream(0, Purpose::Forests, number))).collect()
    }

    /// Adds random units joined to exactly one member, from random roots, until none is left.
    fn grow(plan: &Plan, random: &mut ChaCha8Rng) -> Self {
        let mut members: Vec<Member> = Vec::new();
        // The number of members joined to each place; `NONE` for members.
        let mut touches = vec![0u32; plan.core];
        let mut ready = Vec::new();
        let shift = random.random_range(0..plan.core);
        for first in (shift..plan.core).chain(0..shift) {
            if touches[first] == 0 {
                ready.push(Member { place: first as u32, parent: NONE, coupling: 0.0 });
            }
            while !ready.is_empty() {
                let member = ready.swap_remove(random.random_range(0..ready.len()));
                let place = member.place as usize;
                if touches[place] > u32::from(member.parent != NONE) {
                    continue;
                }
                touches[place] = NONE;
                let parent = members.len() as u32;
                members.push(member);
                for &Link { to, coupling, .. } in &plan.links[plan.links_of(place)] {
                    let touches = &mut touches[to as usize];
                    *touches = touches.saturating_add(1);
                    if *touches == 1 {
                        ready.push(Member { place: to, parent, coupling });
                    }
                }
            }
        }
        Self { members }
    }

    /// Chooses the best states of the members, given all others.
    ///
    /// *Arguments*: the states of all places; the field on a place, given states, of which 0
    /// contributes nothing; a buffer of one number per place.
    pub(super) fn settle(
        &self,
        states: &mut [f64],
        field: impl Fn(&[f64], usize) -> f64,
        buffer: &mut [f64],
    ) {
        for member in &self.members {
            states[member.place as usize] = 0.0;
        }
        for (member, total) in self.members.iter().zip(&mut *buffer) {
            *total = field(states, member.place as usize);
        }
        for (k, member) in self.members.iter().enumerate().rev() {
            if member.parent != NONE {
                buffer[member.parent as usize] += message(member.coupling, buffer[k]);
            }
        }
        for (member, &total) in self.members.iter().zip(&*buffer) {
            let pull = match self.members.get(member.parent as usize) {
                Some(other) => member.coupling * states[other.place as usize],
                None => 0.0,
            };
            states[member.place as usize] = choice(total + pull);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Neighbours;
    use crate::{Graph, Machine};

    fn forests(graph: Graph) -> (Plan, Vec<Forest>) {
        let (units, edges) = (graph.unit_count(), graph.edges().len());
        let machine = Machine::from_graph(graph).with_parameters(vec![1.0; edges], vec![0.0; units]).unwrap();
        let plan = Plan::new(&machine, &(0..units).collect::<Vec<_>>());
        let forests = Forest::several(&plan);
        (plan, forests)
    }

    #[test]
    fn members_touch_those_before_them_once_at_most() {
        let grid = Graph::grid(9, 7, Neighbours::Four);
        for graph in [grid.clone(), Graph::grid(6, 6, Neighbours::Eight), Graph::full(9)] {
            let (plan, forests) = forests(graph);
            for forest in &forests {
                for (k, member) in forest.members.iter().enumerate() {
                    let before = &forest.members[..k];
                    let is_before = |link: &&Link| before.iter().any(|other| other.place == link.to);
                    let links = &plan.links[plan.links_of(member.place as usize)];
                    let touched: Vec<u32> = links.iter().filter(is_before).map(|link| link.to).collect();
                    let parent = before.get(member.parent as usize).map(|other| other.place);
                    assert_eq!(touched, parent.into_iter().collect::<Vec<_>>());
                }
            }
        }
        let (plan, forests) = forests(grid);
        let covered = |place: usize| {
            forests.iter().any(|forest| forest.members.iter().any(|member| member.place as usize == place))
        };
        assert!((0..plan.core).all(covered));
        assert!(forests.iter().all(|forest| forest.members.len() > plan.core / 2));
    }

    #[test]
    fn a_message_is_half_the_gain_of_an_upward_neighbour() {
        let sizes = [0.0, 1e-9, 0.3, 0.75, 1.0, 20.0, 1e200];
        let numbers = || sizes.into_iter().chain(sizes.map(|x| -x));
        for v in numbers().filter(|&v| v != 0.0) {
            for h in numbers() {
                let best = |neighbour: f64| (h + v * neighbour).abs();
                let expected = 0.5 * (best(1.0) - best(-1.0));
                let size = h.abs().max(v.abs());
                assert!((message(v, h) - expected).abs() <= 2e-16 * size, "v {v}, h {h}");
            }
        }
    }
}
