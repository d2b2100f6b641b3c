//! Which units are free in rows of evidence.

use std::collections::BTreeSet;

use crate::Evidence;

/// The units that an engine must sum out, row by row, whatever the clamped values.
///
/// See [`crate::complete::open`] and [`TwoPhase::open`](crate::likelihood::TwoPhase::open).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Open {
    /// All units free that are free in any row.
    pub in_any_row: Evidence,
    /// The first of the rows with most free units.
    pub in_one_row: Evidence,
    /// The sets of free units, each once.
    patterns: BTreeSet<Vec<usize>>,
}

impl Open {
    /// The same units in every row.
    pub fn alike(evidence: Evidence) -> Self {
        let patterns = BTreeSet::from([evidence.free().collect()]);
        Self { in_any_row: evidence.clone(), in_one_row: evidence, patterns }
    }

    /// From the free units of each row, in rising order.
    pub(crate) fn of(units: usize, rows: impl Iterator<Item = Vec<usize>>) -> Self {
        let mut in_one = Vec::new();
        let mut patterns = BTreeSet::new();
        for free in rows {
            if patterns.contains(&free) {
                continue;
            }
            if free.len() > in_one.len() {
                in_one.clone_from(&free);
            }
            patterns.insert(free);
        }
        let in_any_row = clamped_except(units, patterns.iter().flatten());
        Self { in_any_row, in_one_row: clamped_except(units, &in_one), patterns }
    }

    /// Whether rows leave different units free. An engine may then fail for one row and not for
    /// another, even one with more free units: fewer units may be joined more densely, and a
    /// clamped neighbour is a bias.
    pub fn rows_differ(&self) -> bool {
        self.patterns.len() > 1
    }

    /// The sets of free units, each once, in rising order.
    pub(crate) fn patterns(&self) -> impl Iterator<Item = &[usize]> {
        self.patterns.iter().map(Vec::as_slice)
    }
}

/// Evidence of all units except the free ones.
fn clamped_except<'a>(units: usize, free: impl IntoIterator<Item = &'a usize>) -> Evidence {
    let mut cells = vec![1; units];
    free.into_iter().for_each(|&unit| cells[unit] = 0);
    Evidence::from_row(&cells)
}
