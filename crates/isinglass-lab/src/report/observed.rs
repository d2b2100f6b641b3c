//! Means and pair moments of a table's columns; pairs over the rows in which both cells are
//! present.

use isinglass::Table;

/// A bit-packed table for computing many means and pair moments.
///
/// Rows of equal weight are packed together, 64 to a word: a pair costs a few operations per 64
/// rows.
pub(super) struct Observed {
    /// The weight of each row of a word.
    weights: Vec<f64>,
    /// For each column, the cells that are present, and those that are +1.
    present: Vec<Vec<u64>>,
    up: Vec<Vec<u64>>,
}

impl Observed {
    pub(super) fn of(table: &Table) -> Self {
        let mut rows: Vec<usize> =
            (0..table.distinct_count()).filter(|&row| table.weight(row) > 0.0).collect();
        rows.sort_by(|&a, &b| table.weight(a).total_cmp(&table.weight(b)));
        let groups = rows.chunk_by(|&a, &b| table.weight(a) == table.weight(b));
        let words: Vec<&[usize]> = groups.flat_map(|group| group.chunks(64)).collect();
        let bits = |column: usize, is_set: &dyn Fn(i8) -> bool| -> Vec<u64> {
            let word = |rows: &&[usize]| {
                rows.iter().fold(0, |word, &row| word << 1 | u64::from(is_set(table.row(row)[column])))
            };
            words.iter().map(word).collect()
        };
        let columns = 0..table.columns().len();
        Self {
            weights: words.iter().map(|rows| table.weight(rows[0])).collect(),
            present: columns.clone().map(|column| bits(column, &|cell| cell != 0)).collect(),
            up: columns.map(|column| bits(column, &|cell| cell > 0)).collect(),
        }
    }

    /// Returns the weight of the rows in which a column is present, and its mean over them.
    pub(super) fn mean(&self, column: usize) -> (f64, f64) {
        let words = self.present[column].iter().zip(&self.up[column]);
        self.ratio(words.map(|(present, up)| (present.count_ones(), present ^ up)))
    }

    /// Returns the weight of the rows in which two columns are present, and the mean of their
    /// product.
    pub(super) fn moment(&self, a: usize, b: usize) -> (f64, f64) {
        let ups = self.up[a].iter().zip(&self.up[b]);
        let presents = self.present[a].iter().zip(&self.present[b]);
        self.ratio(presents.zip(ups).map(|((p, q), (x, y))| ((p & q).count_ones(), p & q & (x ^ y))))
    }

    /// Computes weight and mean from the number of rows that count in each word and those that are
    /// −1.
    fn ratio(&self, words: impl Iterator<Item = (u32, u64)>) -> (f64, f64) {
        let (mut total, mut sum) = (0.0, 0.0);
        for (&weight, (count, down)) in self.weights.iter().zip(words) {
            total += weight * f64::from(count);
            sum += weight * (f64::from(count) - 2.0 * f64::from(down.count_ones()));
        }
        (total, sum / total)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn packed_rows_match_a_plain_loop(
            cells in proptest::collection::vec(-1i8..=1, 3..900),
            weights in proptest::collection::vec(prop_oneof![Just(1.0), Just(0.0), 0.1..9.0f64], 300),
        ) {
            let mut table = Table::new(["a", "b", "c"]).unwrap();
            for (row, weight) in cells.chunks_exact(3).zip(&weights) {
                table.push(row, *weight).unwrap();
            }
            let observed = Observed::of(&table);
            let plain = |value: &dyn Fn(&[i8]) -> i8| {
                let rows = cells.chunks_exact(3).zip(&weights).filter(|(row, _)| value(row) != 0);
                let (total, sum) = rows.fold((0.0, 0.0), |(total, sum), (row, weight)| {
                    (total + weight, sum + weight * f64::from(value(row)))
                });
                (total, sum / total)
            };
            let same = |found: (f64, f64), expected: (f64, f64)| {
                let near = |x: f64, y: f64| (x - y).abs() < 1e-9 || (x.is_nan() && y.is_nan());
                near(found.0, expected.0) && near(found.1, expected.1)
            };
            for a in 0..3 {
                prop_assert!(same(observed.mean(a), plain(&|row| row[a])));
                for b in 0..3 {
                    prop_assert!(same(observed.moment(a, b), plain(&|row| row[a] * row[b])));
                }
            }
        }
    }
}
