//! How often a guess is right, with a standard error that knows that cells of a row are not independent.

/// Cells that were guessed, and how many of the guesses are right.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Accuracy {
    /// Guesses that are right.
    pub right: usize,
    /// All guesses.
    pub asked: usize,
    /// The standard error of the share that is right. Rows are taken as independent, cells of a row are not: with `r` right of `n` in each row and the share `p` of all,
    /// `√(R/(R−1) Σ (r − p n)²) / Σ n` over R rows, which for one cell a row is `√(p (1 − p) / (R − 1))`. Not a number for a single row.
    pub error: f64,
}

impl Accuracy {
    /// From the numbers of right guesses and of all guesses in each row; rows without a guess do not count.
    pub(crate) fn of(rows: impl IntoIterator<Item = (usize, usize)>) -> Self {
        let rows: Vec<(usize, usize)> = rows.into_iter().filter(|row| row.1 > 0).collect();
        let right: usize = rows.iter().map(|row| row.0).sum();
        let asked: usize = rows.iter().map(|row| row.1).sum();
        let share = right as f64 / asked as f64;
        let squares: f64 = rows.iter().map(|&(r, n)| (r as f64 - share * n as f64).powi(2)).sum();
        let count = rows.len() as f64;
        Self { right, asked, error: (count / (count - 1.0) * squares).sqrt() / asked as f64 }
    }

    /// Count where guesses and truth agree, row by row, in the places that were asked for.
    pub(crate) fn compare<'a>(
        truth: impl Iterator<Item = &'a [i8]>,
        guesses: impl Iterator<Item = &'a [i8]>,
        asked: impl Iterator<Item = &'a [usize]>,
    ) -> Self {
        Self::of(truth.zip(guesses).zip(asked).map(|((truth, guess), asked)| {
            (asked.iter().filter(|&&k| guess[k] == truth[k]).count(), asked.len())
        }))
    }

    /// The share of right guesses.
    pub fn share(&self) -> f64 {
        self.right as f64 / self.asked as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_cell_a_row_has_the_binomial_error() {
        let found = Accuracy::of((0..100).map(|k| (usize::from(k < 80), 1)));
        assert_eq!((found.right, found.asked), (80, 100));
        assert!((found.error - (0.8f64 * 0.2 / 99.0).sqrt()).abs() < 1e-15);
    }

    #[test]
    fn cells_that_go_together_count_as_one() {
        let alone = Accuracy::of((0..50).map(|k| (usize::from(k % 5 > 0), 1)));
        let together = Accuracy::of((0..50).map(|k| (if k % 5 > 0 { 8 } else { 0 }, 8)));
        assert!((alone.share() - together.share()).abs() < 1e-15);
        assert!((alone.error - together.error).abs() < 1e-15);
        let with_idle_rows =
            Accuracy::of((0..70).map(|k| if k < 50 { (usize::from(k % 5 > 0), 1) } else { (0, 0) }));
        assert_eq!(alone, with_idle_rows);
    }

    #[test]
    fn only_what_was_asked_for_counts() {
        let truth: [&[i8]; 2] = [&[1, -1, 1], &[-1, -1, 1]];
        let guesses: [&[i8]; 2] = [&[1, 1, -1], &[1, -1, 1]];
        let asked: [&[usize]; 2] = [&[0, 1], &[1, 2]];
        let found = Accuracy::compare(truth.into_iter(), guesses.into_iter(), asked.into_iter());
        assert_eq!((found.right, found.asked), (3, 4));
    }
}
