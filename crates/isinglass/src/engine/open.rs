//! Which units are free in rows of evidence.

use crate::{Evidence, Spin};

/// The units that an engine must be able to sum out, row by row; the values clamped are of no account.
///
/// [`crate::complete::open`] tells it of a table that is to be filled, and [`crate::learn::open`] of one that is to be learned or scored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Open {
    /// Everything free that is free in any of the rows.
    pub in_any_row: Evidence,
    /// The first of those rows that leave most units free.
    pub in_one_row: Evidence,
    differ: bool,
}

impl Open {
    /// The same units in every row.
    pub fn alike(evidence: Evidence) -> Self {
        Self { in_any_row: evidence.clone(), in_one_row: evidence, differ: false }
    }

    /// From the units that each row leaves free.
    pub(crate) fn of(units: usize, rows: impl Iterator<Item = Vec<usize>>) -> Self {
        let (mut anywhere, mut freest, mut differ) = (vec![false; units], None::<Vec<usize>>, false);
        for free in rows {
            for &unit in &free {
                anywhere[unit] = true;
            }
            differ |= freest.as_ref().is_some_and(|other| *other != free);
            if freest.as_ref().is_none_or(|most| free.len() > most.len()) {
                freest = Some(free);
            }
        }
        let mut in_one = vec![false; units];
        for unit in freest.into_iter().flatten() {
            in_one[unit] = true;
        }
        Self { in_any_row: clamped_but(&anywhere), in_one_row: clamped_but(&in_one), differ }
    }

    /// Whether rows leave different units free. What an engine can do for one of them it may then fail to do for another, even one with fewer
    /// free units: a clamped neighbour is a bias.
    pub fn rows_differ(&self) -> bool {
        self.differ
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
