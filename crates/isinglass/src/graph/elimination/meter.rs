//! The cost of a candidate order, the work of finding it and its limits; random tie-breaking.

use crate::cancel;

/// The cost of using an order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cost {
    pub(super) width: usize,
    /// Σ 2^(|S|+1) over all steps.
    pub(super) entries: f64,
}

impl Cost {
    pub(super) const NOTHING: Self = Self { width: 0, entries: 0.0 };

    /// What orders are compared by: time, and the memory of the largest table.
    pub(super) fn rank(&self) -> f64 {
        self.entries + 4.0 * table_entries(self.width)
    }

    /// Adds a step with a number of neighbours.
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

/// Limits for one candidate, and the work done for it.
///
/// Work is counted in entries read or written, so that the result does not depend on the computer.
#[derive(Debug)]
pub(super) struct Meter {
    pub(super) cost: Cost,
    pub(super) work: u64,
    max_width: usize,
    /// The [`Cost::rank`] that a candidate must stay below.
    rank: f64,
    /// The work that it may take.
    allowance: u64,
}

impl Meter {
    pub(super) fn new(max_width: usize, rank: f64, allowance: u64) -> Self {
        Self { cost: Cost::NOTHING, work: 0, max_width, rank, allowance }
    }

    /// Counts work.
    pub(super) fn work(&mut self, amount: usize) {
        self.work += amount as u64;
    }

    /// Counts a step. `None` if the candidate exceeds a limit.
    pub(super) fn step(&mut self, neighbours: usize) -> Option<()> {
        cancel::point();
        self.cost.add(neighbours);
        self.check()
    }

    /// `None` if the candidate exceeds a limit.
    pub(super) fn check(&self) -> Option<()> {
        let Cost { width, .. } = self.cost;
        (width <= self.max_width && self.cost.rank() < self.rank && self.work <= self.allowance).then_some(())
    }
}

/// A generator for breaking ties, with a fixed seed (SplitMix64: Steele, Lea & Flood 2014).
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
