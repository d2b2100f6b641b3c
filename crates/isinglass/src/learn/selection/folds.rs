//! Rows that are held out: those of another table, or parts of the table in turn.

use std::borrow::Cow;

use rand_distr::{Binomial, Distribution, Uniform};

use crate::numeric::streams::{Purpose, stream};
use crate::{Error, Machine, Result, Table};

/// Into so many parts a table is cut.
const FOLDS: usize = 5;

/// Parts are held out in turn until so many rows were: more would not change the choice.
const ENOUGH: f64 = 2000.0;

/// Beyond so many multiplications of an evaluation (rows × columns²), one part is held out alone:
/// fits take seconds each.
const MOST_WORK: f64 = 5e8;

/// Fewer rows cannot be cut.
const LEAST_ROWS: f64 = 10.0;

/// Rows to fit, and rows to judge by.
pub(super) struct Fold<'a> {
    pub(super) train: Cow<'a, Table>,
    pub(super) held_out: Cow<'a, Table>,
}

impl Fold<'_> {
    /// The weights of the held-out rows.
    pub(super) fn weights(&self) -> impl Iterator<Item = f64> + '_ {
        (0..self.held_out.distinct_count()).map(|row| self.held_out.weight(row))
    }
}

/// All rows of a table, judged by those of another.
///
/// # Errors
/// Rows to validate with that do not fit the machine, or have no weight.
pub(super) fn validation<'a>(start: &Machine, table: &'a Table, rows: &'a Table) -> Result<Fold<'a>> {
    rows.positions_in(start)?;
    if rows.total_weight() <= 0.0 {
        return Err(Error::invalid("rows to validate with", "they have no weight"));
    }
    Ok(Fold { train: Cow::Borrowed(table), held_out: Cow::Borrowed(rows) })
}

/// Cuts a fifth off a table, by chance: the rows to fit, and those held out.
///
/// # Errors
/// Too few rows.
pub fn hold_out(table: &Table, seed: u64) -> Result<(Table, Table)> {
    let first = folds(table, seed)?.into_iter().next().ok_or_else(none_tried)?;
    Ok((first.train.into_owned(), first.held_out.into_owned()))
}

/// Cuts a table at random and holds the parts out in turn, until enough rows were.
///
/// Weights that are whole numbers count rows, and every such row goes to a part of its own; other
/// rows go to a part as a whole.
///
/// # Errors
/// Too few rows.
pub(super) fn folds(table: &Table, seed: u64) -> Result<Vec<Fold<'static>>> {
    let total = table.total_weight();
    let mut order: Vec<usize> = (0..table.distinct_count()).filter(|&row| table.weight(row) > 0.0).collect();
    order.sort_by_key(|&row| table.row(row));
    // Beyond 2⁵³ not every whole number is representable.
    let is_whole = total < 9e15 && order.iter().all(|&row| table.weight(row).fract() == 0.0);
    let rows = if is_whole { total } else { table.row_count() as f64 };
    if rows < LEAST_ROWS {
        let problem = format!("found {rows}, expected at least {LEAST_ROWS} to hold some out");
        return Err(Error::invalid("rows", problem));
    }
    let weights = if is_whole { whole(table, &order, seed)? } else { in_parts(table, &order, seed)? };
    let work = table.distinct_count() as f64 * (table.columns().len() as f64).powi(2);
    let turns = if work > MOST_WORK { 1 } else { (ENOUGH * FOLDS as f64 / rows).ceil() as usize };
    let made = turns.clamp(1, FOLDS);
    let of = |weight: &dyn Fn(&[f64; FOLDS]) -> f64| -> Result<Table> {
        let mut part = Table::new(table.columns().iter().cloned())?;
        for (&row, weights) in order.iter().zip(&weights) {
            let weight = weight(weights);
            if weight > 0.0 {
                part.push(table.row(row), weight)?;
            }
        }
        Ok(part)
    };
    let mut all = Vec::new();
    for fold in 0..made {
        let held_out = of(&|weights| weights[fold])?;
        let train = of(&|weights| (0..FOLDS).filter(|&k| k != fold).map(|k| weights[k]).sum())?;
        if held_out.total_weight() > 0.0 && train.total_weight() > 0.0 {
            all.push(Fold { train: Cow::Owned(train), held_out: Cow::Owned(held_out) });
        }
    }
    if all.is_empty() { Err(none_tried()) } else { Ok(all) }
}

/// What is said where nothing could be compared.
pub(super) fn none_tried() -> Error {
    Error::invalid("rows", "found too few to choose a penalty by")
}

/// The weight of each row in each part: every count goes to a part by itself.
fn whole(table: &Table, order: &[usize], seed: u64) -> Result<Vec<[f64; FOLDS]>> {
    let mut random = stream(seed, Purpose::HeldOut, 0);
    let mut weights = Vec::with_capacity(order.len());
    for &row in order {
        let mut left = table.weight(row) as u64;
        let mut parts = [0.0; FOLDS];
        for (k, part) in parts.iter_mut().enumerate() {
            let share = 1.0 / (FOLDS - k) as f64;
            let count = Binomial::new(left, share).map_err(|error| drawing(&error))?.sample(&mut random);
            *part = count as f64;
            left -= count;
        }
        weights.push(parts);
    }
    Ok(weights)
}

/// The weight of each row in each part: every row as given goes to a part with its share of the
/// weight.
fn in_parts(table: &Table, order: &[usize], seed: u64) -> Result<Vec<[f64; FOLDS]>> {
    let mut random = stream(seed, Purpose::HeldOut, 0);
    let mut counts = vec![0usize; table.distinct_count()];
    table.distinct_of().iter().for_each(|&row| counts[row as usize] += 1);
    let part = Uniform::new(0, FOLDS).map_err(|error| drawing(&error))?;
    let mut weights = Vec::with_capacity(order.len());
    for &row in order {
        let mut parts = [0.0; FOLDS];
        for _ in 0..counts[row] {
            parts[part.sample(&mut random)] += table.weight(row) / counts[row] as f64;
        }
        weights.push(parts);
    }
    Ok(weights)
}

fn drawing(error: &impl std::fmt::Display) -> Error {
    Error::Numerical { method: "selection", problem: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(weights: impl Fn(usize) -> f64) -> Table {
        let mut table = Table::new(["a", "b", "c"]).unwrap();
        for k in 0..100 {
            let cell = |bit: usize| if k >> bit & 1 == 1 { 1 } else { -1 };
            table.push(&[cell(0), cell(1), cell(2)], weights(k)).unwrap();
        }
        table
    }

    /// Every row is held out once, and fitted in all other parts.
    #[test]
    fn parts_add_up_to_the_table() {
        for table in [table(|_| 1.0), table(|k| (k % 3) as f64), table(|k| 0.3 + k as f64)] {
            let all = folds(&table, 3).unwrap();
            assert_eq!(all.len(), FOLDS);
            for row in 0..table.distinct_count() {
                let weight = |part: &Table| {
                    let mut same = (0..part.distinct_count()).filter(|&k| part.row(k) == table.row(row));
                    same.next().map_or(0.0, |k| part.weight(k))
                };
                let held_out: f64 = all.iter().map(|fold| weight(&fold.held_out)).sum();
                assert!((held_out - table.weight(row)).abs() < 1e-9 * table.total_weight());
                for fold in &all {
                    let sum = weight(&fold.train) + weight(&fold.held_out);
                    assert!((sum - table.weight(row)).abs() < 1e-9 * table.total_weight());
                }
            }
        }
    }

    #[test]
    fn enough_rows_are_held_out_once_and_few_refused() {
        assert_eq!(folds(&table(|_| 1000.0), 0).unwrap().len(), 1);
        let few = Table::from_rows(["a"], [[1], [-1], [1]]).unwrap();
        let message = folds(&few, 0).err().unwrap().to_string();
        assert_eq!(message, "rows: found 3, expected at least 10 to hold some out");
    }
}
