//! Many rows of evidence at once, grouped by which units they clamp.

use std::hash::BuildHasher;
use std::ops::Range;

use hashbrown::DefaultHashBuilder;
use hashbrown::hash_table::{Entry, HashTable};

use crate::{Error, Result};

/// Rows of evidence with weights: the clamped phase of learning, a table to score or to complete.
///
/// Rows that clamp the same set of units form a group, since what is prepared from structure
/// depends on that set alone. Answers are in the order in which the rows were given.
///
/// # Example
/// ```
/// use isinglass::Batch;
/// let batch = Batch::new(3, &[1, 0, 0, -1, 1, 0, -1, 0, 0], &[1.0, 2.0, 1.0])?;
/// assert_eq!(batch.row_count(), 3);
/// let group = &batch.groups()[0];
/// assert_eq!((group.free.as_slice(), group.rows.len()), ([1, 2].as_slice(), 2));
/// # Ok::<(), isinglass::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Batch {
    units: usize,
    cells: Vec<i8>,
    weights: Vec<f64>,
    groups: Vec<Group>,
    /// For each row in grouped order, its number in the order given.
    given: Vec<usize>,
}

/// Rows of a [`Batch`] with the same free units.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// The free units, in rising order.
    pub free: Vec<usize>,
    /// Which rows, in the batch's grouped order.
    pub rows: Range<usize>,
}

impl Batch {
    /// Groups rows (row after row, −1, +1 and 0 for free) by their free units.
    ///
    /// # Errors
    /// A wrong number of cells, a cell other than −1, +1 and 0, an invalid weight.
    pub fn new(units: usize, cells: &[i8], weights: &[f64]) -> Result<Self> {
        Error::check_length("cells of the batch", cells.len(), units.saturating_mul(weights.len()))?;
        if let Some(bad) = cells.iter().position(|cell| !(-1..=1).contains(cell)) {
            let place = format!("row {} of the batch, unit {}", bad / units, bad % units);
            let problem = format!("found {}, expected -1, +1 or 0 for free", cells[bad]);
            return Err(Error::invalid(place, problem));
        }
        if let Some(bad) = weights.iter().position(|weight| !(weight.is_finite() && *weight >= 0.0)) {
            let problem = format!("the weight is {}, expected a finite number of at least 0", weights[bad]);
            return Err(Error::invalid(format!("row {bad} of the batch"), problem));
        }
        let (group_of, frees) = group_by_free_units(units, cells, weights.len());
        let mut sizes = vec![0; frees.len()];
        for &group in &group_of {
            sizes[group] += 1;
        }
        let mut groups = Vec::with_capacity(frees.len());
        let mut next = 0;
        for (free, size) in frees.into_iter().zip(sizes) {
            groups.push(Group { free, rows: next..next + size });
            next += size;
        }
        let mut places: Vec<usize> = groups.iter().map(|group| group.rows.start).collect();
        let mut given = vec![0; weights.len()];
        for (row, &group) in group_of.iter().enumerate() {
            given[places[group]] = row;
            places[group] += 1;
        }
        let mut grouped = Vec::with_capacity(cells.len());
        for &row in &given {
            grouped.extend_from_slice(&cells[row * units..(row + 1) * units]);
        }
        let weights = given.iter().map(|&row| weights[row]).collect();
        Ok(Self { units, cells: grouped, weights, groups, given })
    }

    /// The number of units of each row.
    pub fn unit_count(&self) -> usize {
        self.units
    }

    /// The number of rows.
    pub fn row_count(&self) -> usize {
        self.given.len()
    }

    /// The groups, in the order of their first rows.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// The cells of a row, by its place in grouped order.
    pub fn row(&self, place: usize) -> &[i8] {
        &self.cells[place * self.units..(place + 1) * self.units]
    }

    /// The weights, in grouped order.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// For each row in grouped order, its number in the order given.
    pub fn given_order(&self) -> &[usize] {
        &self.given
    }
}

/// The group of each row, and the free units of each group, in the order of first rows.
///
/// Rows are compared by a bit for each unit: there may be as many patterns of free units as rows.
fn group_by_free_units(units: usize, cells: &[i8], rows: usize) -> (Vec<usize>, Vec<Vec<usize>>) {
    const BITS: usize = u64::BITS as usize;
    let width = units.div_ceil(BITS);
    let hasher = DefaultHashBuilder::default();
    let mut known = HashTable::new();
    // The patterns of all groups, followed by that of the current row.
    let mut patterns: Vec<u64> = Vec::new();
    let mut group_of = Vec::with_capacity(rows);
    let mut frees: Vec<Vec<usize>> = Vec::new();
    for row in 0..rows {
        let cells = &cells[row * units..(row + 1) * units];
        let is_free = |bits: u64, cell: &i8| bits << 1 | u64::from(*cell == 0);
        patterns.extend(cells.chunks(BITS).map(|some| some.iter().fold(0, is_free)));
        let pattern = |group: usize| &patterns[group * width..(group + 1) * width];
        let own = pattern(frees.len());
        let hash = hasher.hash_one(own);
        match known.entry(hash, |&group| pattern(group) == own, |&group| hasher.hash_one(pattern(group))) {
            Entry::Occupied(same) => {
                group_of.push(*same.get());
                patterns.truncate(frees.len() * width);
            }
            Entry::Vacant(entry) => {
                entry.insert(frees.len());
                group_of.push(frees.len());
                frees.push((0..units).filter(|&unit| cells[unit] == 0).collect());
            }
        }
    }
    (group_of, frees)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Patterns that differ in one unit, on either side of every border between words of bits.
    #[test]
    fn rows_are_grouped_by_exactly_their_free_units() {
        for units in [1, 63, 64, 65, 130] {
            let rows: Vec<Vec<i8>> = (0..4 * units)
                .map(|row| {
                    let cell = |unit| i8::from(unit != row % units && unit != row / 3 % units);
                    (0..units).map(|unit| if row % 7 == 0 { -1 } else { cell(unit) }).collect()
                })
                .collect();
            let weights: Vec<f64> = (0..rows.len()).map(|row| row as f64).collect();
            let batch = Batch::new(units, &rows.concat(), &weights).unwrap();
            let mut plain: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
            for (number, row) in rows.iter().enumerate() {
                plain.entry((0..units).filter(|&unit| row[unit] == 0).collect()).or_default().push(number);
            }
            assert_eq!(batch.groups().len(), plain.len());
            let firsts: Vec<usize> =
                batch.groups().iter().map(|group| batch.given_order()[group.rows.start]).collect();
            assert!(firsts.is_sorted());
            for group in batch.groups() {
                assert_eq!(batch.given_order()[group.rows.clone()], plain[&group.free]);
            }
            for (place, &given) in batch.given_order().iter().enumerate() {
                assert_eq!((batch.row(place), batch.weights()[place]), (&rows[given][..], weights[given]));
            }
        }
    }
}
