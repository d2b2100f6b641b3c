//! What a candidate order costs, what finding it has cost, and when to stop; and the chance that breaks ties.

use crate::cancel;

/// What it costs to use an order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cost {
    pub(super) width: usize,
    /// Σ 2^(|S|+1) over all steps.
    pub(super) entries: f64,
}

impl Cost {
    pub(super) const NOTHING: Self = Self { width: 0, entries: 0.0 };

    /// What orders are compared by: time, and the memory of the largest table, which also takes time to come by.
    pub(super) fn rank(&self) -> f64 {
        self.entries + 4.0 * table_entries(self.width)
    }

    /// One more step, with a number of neighbours.
    pub(super) fn add(&mut self, neighbours: usize) {
        self.width = self.width.max(neighbours);
        self.entries += table_entries(neighbours);
    }
}

/// 2^(neighbours + 1): a unit and its neighbours.
pub(super) fn table_entries(neighbours: usize) -> f64 {
    // Beyond 1023 the number is infinite, and so is the cost.
    2f64.powi(neighbours.min(2000) as i32 + 1)
}

/// Limits for the making of one candidate, and the work that has gone into it.
///
/// Work is counted in entries read or written, so that what is found does not depend on the machine or its load.
#[derive(Debug)]
pub(super) struct Meter {
    pub(super) cost: Cost,
    pub(super) work: u64,
    max_width: usize,
    /// A candidate is of interest only below this [`Cost::rank`].
    rank: f64,
    /// And only within this much work.
    allowance: u64,
}

impl Meter {
    pub(super) fn new(max_width: usize, rank: f64, allowance: u64) -> Self {
        Self { cost: Cost::NOTHING, work: 0, max_width, rank, allowance }
    }

    /// Count work.
    pub(super) fn work(&mut self, amount: usize) {
        self.work += amount as u64;
    }

    /// Count a step. `None` if the candidate is not worth going on with.
    pub(super) fn step(&mut self, neighbours: usize) -> Option<()> {
        cancel::point();
        self.cost.add(neighbours);
        self.go_on()
    }

    /// `None` if the candidate is not worth going on with.
    pub(super) fn go_on(&self) -> Option<()> {
        let is_worth_it =
            self.cost.width <= self.max_width && self.cost.rank() < self.rank && self.work <= self.allowance;
        is_worth_it.then_some(())
    }
}

/// A small generator for breaking ties (SplitMix64: Steele, Lea & Flood 2014); the search takes the same path every time.
#[derive(Debug)]
pub(super) struct Chance(u64);

impl Chance {
    /// The generator for the candidate with a number.
    pub(super) fn new(number: u64) -> Self {
        let mut chance = Self(number);
        Self(chance.next())
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// A number below `end`, which is not 0.
    pub(super) fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.next()) * end as u128) >> 64) as usize
    }
}
