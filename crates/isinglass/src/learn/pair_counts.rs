//! Counts of the value pairs of two columns, by counting bits.
//!
//! A column is a sequence of bits, one per row, set where the cell is +1: the rows in which two
//! columns are both +1 are the bits of an `and`, 64 at a time. Row weights are whole numbers in
//! binary: the rows whose weight has bit k form plane k, which counts 2^k. Fractional or too large
//! weights are first rounded to a 2⁴⁰th of the largest. All sums are of integers: exact, in any
//! order.

use std::ops::Range;

use fearless_simd::{Level, Simd, dispatch};
use rayon::prelude::*;

use crate::Table;

/// Weights are at most 2 to this power,
const WEIGHT_BITS: u32 = 40;

/// and less if the sum of so many rows could exceed 2 to this one.
const SUM_BITS: u32 = 62;

const COLUMNS: usize = 64;

/// Columns as bits.
///
/// *Memory*: a bit per cell and plane, two if any cell is missing: for equal weights at most a
/// quarter of the table.
pub(super) struct PairCounts {
    level: Level,
    words: usize,
    /// For each plane its number, and its words in a column.
    planes: Vec<(u32, Range<usize>)>,
    /// Column after column: set where the cell is +1.
    up: Vec<u64>,
    rest: Rest,
    total: u64,
    is_exact: bool,
}

/// What is needed besides the bits.
enum Rest {
    /// No cell is missing: the weight of the rows in which each column is up.
    Complete {
        single: Vec<u64>,
    },
    Present(Vec<u64>),
}

/// Weights of the rows in which both columns are present: all, first up, second up, both up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) total: u64,
    pub(super) first: u64,
    pub(super) second: u64,
    pub(super) both: u64,
}

impl PairCounts {
    pub(super) fn new(table: &Table, columns: &[usize]) -> Self {
        let weights = whole_weights(table);
        let is_exact = weights.iter().enumerate().all(|(row, &weight)| weight as f64 == table.weight(row));
        let mut planes = Vec::new();
        let mut rows = Vec::new();
        let mut words = 0;
        for plane in 0..=WEIGHT_BITS {
            let members: Vec<usize> =
                (0..weights.len()).filter(|&row| weights[row] >> plane & 1 == 1).collect();
            if !members.is_empty() {
                let end = words + members.len().div_ceil(64);
                planes.push((plane, words..end));
                rows.push(members);
                words = end;
            }
        }
        let pack = |is_set: fn(i8) -> bool| {
            let mut bits = vec![0; columns.len() * words];
            // Some columns at a time, so that cells are read and words written side by side.
            let pieces = bits.par_chunks_mut((COLUMNS * words).max(1)).zip(columns.par_chunks(COLUMNS));
            pieces.for_each(|(bits, columns)| {
                for ((_, range), members) in planes.iter().zip(&rows) {
                    for (word, members) in range.clone().zip(members.chunks(64)) {
                        let mut sets = [0; COLUMNS];
                        for (bit, &row) in members.iter().enumerate() {
                            let cells = table.row(row);
                            for (set, &column) in sets.iter_mut().zip(columns) {
                                *set |= u64::from(is_set(cells[column])) << bit;
                            }
                        }
                        for (k, set) in sets[..columns.len()].iter().enumerate() {
                            bits[k * words + word] = *set;
                        }
                    }
                }
            });
            bits
        };
        let up = pack(|cell| cell > 0);
        let is_missing = |row: usize| columns.iter().any(|&column| table.row(row)[column] == 0);
        let rest = if (0..table.distinct_count()).any(is_missing) {
            Rest::Present(pack(|cell| cell != 0))
        } else {
            let ups = |column: &[u64]| weigh_common(&planes, column, column);
            let single = (0..columns.len()).map(|k| ups(&up[k * words..(k + 1) * words])).collect();
            Rest::Complete { single }
        };
        Self { level: Level::new(), words, planes, up, rest, total: weights.iter().sum(), is_exact }
    }

    /// Whether any packed cell is missing.
    pub(super) fn has_gaps(&self) -> bool {
        matches!(self.rest, Rest::Present(_))
    }

    /// Whether the weights are those of the table, not rounded.
    pub(super) fn is_exact(&self) -> bool {
        self.is_exact
    }

    /// The weight of all rows.
    pub(super) fn of_all_rows(&self) -> u64 {
        self.total
    }

    /// The counts of two columns, by their positions among the packed ones.
    pub(super) fn of(&self, a: usize, b: usize) -> Counts {
        dispatch!(self.level, simd => self.count(simd, a, b))
    }

    /// Compiled for each instruction set: all but the oldest count bits of many words at a time.
    #[inline(always)]
    fn count<S: Simd>(&self, _simd: S, a: usize, b: usize) -> Counts {
        let column = |k: usize| k * self.words..(k + 1) * self.words;
        let (up_a, up_b) = (&self.up[column(a)], &self.up[column(b)]);
        match &self.rest {
            Rest::Complete { single } => Counts {
                total: self.total,
                first: single[a],
                second: single[b],
                both: weigh_common(&self.planes, up_a, up_b),
            },
            Rest::Present(present) => {
                let (present_a, present_b) = (&present[column(a)], &present[column(b)]);
                Counts {
                    total: weigh_common(&self.planes, present_a, present_b),
                    first: weigh_common(&self.planes, up_a, present_b),
                    second: weigh_common(&self.planes, present_a, up_b),
                    both: weigh_common(&self.planes, up_a, up_b),
                }
            }
        }
    }
}

/// The weight of the rows whose bits are set in both columns.
#[inline(always)]
fn weigh_common(planes: &[(u32, Range<usize>)], a: &[u64], b: &[u64]) -> u64 {
    let mut sum = 0;
    for (plane, range) in planes {
        let words = a[range.clone()].iter().zip(&b[range.clone()]);
        let count: u64 = words.map(|(x, y)| u64::from((x & y).count_ones())).sum();
        sum += count << plane;
    }
    sum
}

/// Row weights as whole numbers, in proportion.
fn whole_weights(table: &Table) -> Vec<u64> {
    let weights = || (0..table.distinct_count()).map(|row| table.weight(row));
    let largest = weights().fold(0.0, f64::max);
    let row_bits = usize::BITS - table.distinct_count().leading_zeros();
    let limit = (1u64 << WEIGHT_BITS.min(SUM_BITS - row_bits)) as f64;
    if largest <= limit && weights().all(|weight| weight.fract() == 0.0) {
        return weights().map(|weight| weight as u64).collect();
    }
    weights().map(|weight| (weight / largest * limit).round() as u64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Rows of four columns with weights of one kind: equal, whole, or any.
    fn tables(missing: bool) -> impl Strategy<Value = Table> {
        let cell = if missing {
            prop_oneof![Just(1i8), Just(-1), Just(0)]
        } else {
            prop_oneof![Just(1i8), Just(-1), Just(1)]
        };
        let weight = prop_oneof![Just(1u32), 0u32..50, any::<u32>()];
        let row = (proptest::collection::vec(cell, 9), weight);
        (proptest::collection::vec(row, 1..300), prop_oneof![Just(1.0), Just(0.5), Just(3.0)]).prop_map(
            |(rows, scale)| {
                let mut table = Table::new((0..9).map(|k| format!("c{k}"))).unwrap();
                for (row, weight) in rows {
                    table.push(&row, f64::from(weight) * scale).unwrap();
                }
                table
            },
        )
    }

    /// Counts by the plainest loop.
    fn plain(table: &Table, a: usize, b: usize) -> [f64; 4] {
        let mut counts = [0.0; 4];
        for row in 0..table.distinct_count() {
            let (x, y) = (table.row(row)[a], table.row(row)[b]);
            let holds = [x != 0 && y != 0, x > 0 && y != 0, x != 0 && y > 0, x > 0 && y > 0];
            for (count, holds) in counts.iter_mut().zip(holds) {
                *count += if holds { table.weight(row) } else { 0.0 };
            }
        }
        counts
    }

    proptest! {
        #[test]
        fn counts_are_those_of_a_plain_loop(table in prop_oneof![tables(true), tables(false)]) {
            let columns = [7, 0, 3, 8];
            let packed = PairCounts::new(&table, &columns);
            let whole: u64 = whole_weights(&table).iter().sum();
            let scale = if whole == 0 { 1.0 } else { table.total_weight() / whole as f64 };
            for a in 0..4 {
                for b in 0..4 {
                    let Counts { total, first, second, both } = packed.of(a, b);
                    let expected = plain(&table, columns[a], columns[b]);
                    for (found, expected) in [total, first, second, both].into_iter().zip(expected) {
                        let error = (found as f64 * scale - expected).abs();
                        prop_assert!(error <= 1e-9 * table.total_weight().max(1.0), "{found} × {scale}, expected {expected}");
                    }
                }
            }
        }
    }

    #[test]
    fn whole_weights_are_unchanged_and_equal_ones_make_one_plane() {
        let table = |weights: &[f64]| {
            let mut table = Table::new(["a", "b", "c", "d"]).unwrap();
            for (k, &weight) in weights.iter().enumerate() {
                let row: Vec<i8> = (0..4).map(|bit| if k >> bit & 1 == 1 { 1 } else { -1 }).collect();
                table.push(&row, weight).unwrap();
            }
            table
        };
        assert_eq!(whole_weights(&table(&[3.0, 0.0, 7.0])), [3, 0, 7]);
        assert_eq!(PairCounts::new(&table(&[0.1; 9]), &[0, 1]).planes.len(), 1);
        assert_eq!(whole_weights(&table(&[1e300, 5e299])), [1 << WEIGHT_BITS, 1 << (WEIGHT_BITS - 1)]);
    }
}
