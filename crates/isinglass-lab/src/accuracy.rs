//! Accuracy of predicted cells, with a standard error that allows for dependent cells of a row.

/// The accuracy of predicted cells.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Accuracy {
    /// The number of correct predictions.
    pub correct: usize,
    /// The number of predictions.
    pub total: usize,
    /// The standard error of the share of correct predictions, with rows independent and cells of a
    /// row not: `√(R/(R−1) Σ (r − p n)²) / Σ n` over R rows with `r` correct of `n`, where `p` is
    /// the share over all rows. With one cell per row this is `√(p (1 − p) / (R − 1))`. NaN for a
    /// single row.
    pub error: f64,
}

impl Accuracy {
    /// Computes it from the numbers of correct and of all predictions in each row; rows without
    /// predictions do not count.
    pub(crate) fn of(rows: impl IntoIterator<Item = (usize, usize)>) -> Self {
        let rows: Vec<(usize, usize)> = rows.into_iter().filter(|row| row.1 > 0).collect();
        let correct: usize = rows.iter().map(|row| row.0).sum();
        let total: usize = rows.iter().map(|row| row.1).sum();
        let share = correct as f64 / total as f64;
        let squares: f64 = rows.iter().map(|&(r, n)| (r as f64 - share * n as f64).powi(2)).sum();
        let count = rows.len() as f64;
        Self { correct, total, error: (count / (count - 1.0) * squares).sqrt() / total as f64 }
    }

    /// Compares predictions with the truth, row by row, in the given columns of each row.
    pub(crate) fn compare<'a>(
        truth: impl Iterator<Item = &'a [i8]>,
        predictions: impl Iterator<Item = &'a [i8]>,
        columns: impl Iterator<Item = &'a [usize]>,
    ) -> Self {
        Self::of(truth.zip(predictions).zip(columns).map(|((truth, predicted), columns)| {
            (columns.iter().filter(|&&k| predicted[k] == truth[k]).count(), columns.len())
        }))
    }

    /// Returns the share of correct predictions.
    pub fn share(&self) -> f64 {
        self.correct as f64 / self.total as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_cell_per_row_has_the_binomial_error() {
        let found = Accuracy::of((0..100).map(|k| (usize::from(k < 80), 1)));
        assert_eq!((found.correct, found.total), (80, 100));
        assert!((found.error - (0.8f64 * 0.2 / 99.0).sqrt()).abs() < 1e-15);
    }

    #[test]
    fn fully_dependent_cells_count_as_one() {
        let alone = Accuracy::of((0..50).map(|k| (usize::from(k % 5 > 0), 1)));
        let together = Accuracy::of((0..50).map(|k| (if k % 5 > 0 { 8 } else { 0 }, 8)));
        assert!((alone.share() - together.share()).abs() < 1e-15);
        assert!((alone.error - together.error).abs() < 1e-15);
        let with_empty_rows =
            Accuracy::of((0..70).map(|k| if k < 50 { (usize::from(k % 5 > 0), 1) } else { (0, 0) }));
        assert_eq!(alone, with_empty_rows);
    }

    #[test]
    fn only_the_given_columns_count() {
        let truth: [&[i8]; 2] = [&[1, -1, 1], &[-1, -1, 1]];
        let predictions: [&[i8]; 2] = [&[1, 1, -1], &[1, -1, 1]];
        let columns: [&[usize]; 2] = [&[0, 1], &[1, 2]];
        let found = Accuracy::compare(truth.into_iter(), predictions.into_iter(), columns.into_iter());
        assert_eq!((found.correct, found.total), (3, 4));
    }
}
