//! Decodes messages into states, the most certain unit first, and improves the states.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::plan::{Link, Plan};
use super::trees::{Forest, choice};
use crate::cancel;

/// The most rounds through all forests from each state; few are needed.
const ROUNDS: usize = 20;

/// A restart flips at most one in so many places.
const LARGEST: usize = 4;

/// Decodes states of one row from messages, and keeps the best.
pub(super) struct Decoder<'a> {
    plan: &'a Plan,
    forests: &'a [Forest],
    fields: Vec<f64>,
    best: Vec<f64>,
    /// −E/T of the best.
    height: f64,
    state: Vec<f64>,
    /// The field of each open place: states of decided neighbours, messages of open ones.
    totals: Vec<f64>,
    /// Open places by certainty, whose bits sort alike, then by number; outdated entries are
    /// skipped.
    open: BinaryHeap<(u64, Reverse<u32>)>,
}

impl<'a> Decoder<'a> {
    /// Takes the field on each place of the core.
    pub(super) fn new(plan: &'a Plan, forests: &'a [Forest], fields: Vec<f64>) -> Self {
        let places = fields.len();
        Self {
            plan,
            forests,
            fields,
            best: vec![1.0; places],
            height: f64::NEG_INFINITY,
            state: vec![0.0; places],
            totals: vec![0.0; places],
            open: BinaryHeap::with_capacity(places),
        }
    }

    /// Returns the best state so far.
    pub(super) fn best(&self) -> &[f64] {
        &self.best
    }

    /// Descends from a state.
    pub(super) fn offer(&mut self, state: impl Iterator<Item = f64>) {
        self.state.clear();
        self.state.extend(state);
        self.descend();
        self.keep_if_better();
    }

    /// Decodes a state from messages and the fields that they were computed with.
    pub(super) fn decode(&mut self, field: impl Fn(usize) -> f64, incoming: impl Fn(usize) -> f64) {
        let plan = self.plan;
        self.open.clear();
        for place in 0..plan.core {
            self.totals[place] = field(place) + plan.links_of(place).map(&incoming).sum::<f64>();
            self.open.push((self.totals[place].abs().to_bits(), Reverse(place as u32)));
        }
        self.state.fill(0.0);
        while let Some((sureness, Reverse(place))) = self.open.pop() {
            let place = place as usize;
            let total = self.totals[place];
            if self.state[place] != 0.0 || total.abs().to_bits() != sureness {
                continue;
            }
            let state = choice(total);
            self.state[place] = state;
            for link in &plan.links[plan.links_of(place)] {
                let to = link.to as usize;
                if self.state[to] == 0.0 {
                    self.totals[to] += link.coupling * state - incoming(link.mirror as usize);
                    self.open.push((self.totals[to].abs().to_bits(), Reverse(link.to)));
                }
            }
        }
        self.descend();
        self.keep_if_better();
    }

    /// Searches around the best state: flips a random connected set of places, descends, and goes on
    /// from what it finds if that is no worse (iterated local search; Lourenço, Martin & Stützle
    /// 2003).
    pub(super) fn restart(&mut self, times: usize, random: &mut ChaCha8Rng) {
        let mut current = (self.height, self.best.clone());
        for _ in 0..times {
            self.state.copy_from_slice(&current.1);
            self.flip_some(random);
            self.descend();
            let height = height(self.plan, &self.fields, &self.state);
            if height >= current.0 {
                current.0 = height;
                current.1.copy_from_slice(&self.state);
            }
            self.keep_if_better();
        }
    }

    /// Flips a random connected set of places: up to a share of all.
    fn flip_some(&mut self, random: &mut ChaCha8Rng) {
        let most = (self.plan.core / LARGEST).max(2);
        let count = random.random_range(1..=most);
        let mut ready = vec![random.random_range(0..self.plan.core)];
        let mut is_met = vec![false; self.plan.core];
        is_met[ready[0]] = true;
        for _ in 0..count {
            if ready.is_empty() {
                break;
            }
            let place = ready.swap_remove(random.random_range(0..ready.len()));
            self.state[place] = -self.state[place];
            for link in &self.plan.links[self.plan.links_of(place)] {
                if !std::mem::replace(&mut is_met[link.to as usize], true) {
                    ready.push(link.to as usize);
                }
            }
        }
    }

    /// Improves the state by forests, while a round gains more than rounding; then by single flips.
    fn descend(&mut self) {
        let Self { plan, fields, state, totals, .. } = self;
        let field = |state: &[f64], place: usize| field(plan, fields, state, place);
        let mut height = height(plan, fields, state);
        for _ in 0..ROUNDS {
            cancel::point();
            for forest in self.forests {
                forest.settle(state, field, totals);
            }
            let now = self::height(plan, fields, state);
            let has_gained = now - height > ROUNDING * height.abs();
            height = now;
            if !has_gained {
                break;
            }
        }
        // Each flip gains more than rounding, so this ends.
        let mut has_changed = true;
        while has_changed {
            has_changed = false;
            for place in 0..plan.core {
                let terms = plan.links_of(place).len() + 2;
                let size = fields[place].abs() + plan.strengths[place];
                if field(state, place) * state[place] < -f64::EPSILON * terms as f64 * size {
                    state[place] = -state[place];
                    has_changed = true;
                }
            }
        }
    }

    fn keep_if_better(&mut self) {
        let height = height(self.plan, &self.fields, &self.state);
        if height > self.height {
            self.height = height;
            self.best.copy_from_slice(&self.state);
        }
    }
}

/// Gains below this share are rounding.
const ROUNDING: f64 = 1e-13;

/// Returns the field on a place from its own field and its neighbours' states.
fn field(plan: &Plan, fields: &[f64], state: &[f64], place: usize) -> f64 {
    let pull = |link: &Link| link.coupling * state[link.to as usize];
    fields[place] + plan.links[plan.links_of(place)].iter().map(pull).sum::<f64>()
}

/// Returns −E/T of a state.
fn height(plan: &Plan, fields: &[f64], state: &[f64]) -> f64 {
    // Each coupling is counted at both ends.
    let own = |place: usize| 0.5 * state[place] * (field(plan, fields, state, place) + fields[place]);
    (0..plan.core).map(own).sum()
}
