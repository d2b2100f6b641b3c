//! Which units are free in rows of evidence.

use std::collections::BTreeSet;

use crate::{Evidence, Spin};

/// The units that an engine must be able to sum out, row by row; the values clamped are of no
/// account.
///
/// [`crate::complete::open`] tells it of a table that is to be filled, and [`crate::learn::open`]
/// of one that is to be learned or scored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Open {
    /// Everything free that is free in any of the rows.
    pub in_any_row: Evidence,
    /// The first of those rows that leave most units free.
    pub in_one_row: Evidence,
    /// What the rows leave free, each set of units once.
    patterns: BTreeSet<Vec<usize>>,
}

impl Open {
    /// The same units in every row.
    pub fn alike(evidence: Evidence) -> Self {
        let patterns = BTreeSet::from([evidence.free().collect()]);
        Self { in_any_row: evidence.clone(), in_one_row: evidence, patterns }
    }

    /// From the units that each row leaves free, in rising order.
    pub(crate) fn of(units: usize, rows: impl Iterator<Item = Vec<usize>>) -> Self {
        let (mut anywhere, mut in_one) = (vec![false; units], Vec::new());
        let mut patterns = BTreeSet::new();
        for free in rows {
            if patterns.contains(&free) {
                continue;
            }
            for &unit in &free {
                anywhere[unit] = true;
            }
            if patterns.is_empty() || free.len() > in_one.len() {
                in_one.clone_from(&free);
            }
            patterns.insert(free);
        }
        let mut freest = vec![false; units];
        for unit in in_one {
            freest[unit] = true;
        }
        Self { in_any_row: clamped_but(&anywhere), in_one_row: clamped_but(&freest), patterns }
    }

    /// Whether rows leave different units free. What an engine can do for one of them it may then
    /// fail to do for another, even one with fewer free units: these may be joined more densely,
    /// and a clamped neighbour is a bias.
    pub fn rows_differ(&self) -> bool {
        self.patterns.len() > 1
    }

    /// What the rows leave free, each set of units once, in rising order.
    pub(crate) fn patterns(&self) -> impl Iterator<Item = &[usize]> {
        self.patterns.iter().map(Vec::as_slice)
    }
}

/// Evidence of everything but what is free.
fn clamped_but(free: &[bool]) -> Evidence {
    let mut evidence = Evidence::none(free.len());
    for unit in (0..free.len()).filter(|&unit| !free[unit]) {
        evidence.clamp(unit, Spin::Up);
    }
    evidence
}
