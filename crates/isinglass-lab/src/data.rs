//! Built-in tables; their origin is in `data/README.md`.

use std::path::Path;

use isinglass::Table;
use isinglass_files::{TableOptions, parse_csv, read_table};

/// The votes of the US House of Representatives on 16 issues of 1984, with the party of each
/// member, as CSV.
pub const HOUSE_VOTES_CSV: &str = include_str!("../../../data/house_votes_84.csv");

/// Returns the House votes as a table: 435 × 17, with missing cells.
///
/// ```
/// let votes = isinglass_lab::data::house_votes()?;
/// assert_eq!((votes.row_count(), votes.columns().len(), votes.missing_count()), (435, 17, 392));
/// # Ok::<(), isinglass_files::Error>(())
/// ```
pub fn house_votes() -> isinglass_files::Result<Table> {
    let csv = HOUSE_VOTES_CSV.as_bytes();
    parse_csv(csv, "house_votes_84.csv", b',', &TableOptions::default())
}

/// Handwritten digits of 8×8 pixels as CSV; the first column is the digit.
pub const DIGITS_CSV: &str = include_str!("../../../data/digits_8x8.csv");

/// Returns the pixels of the digits as a table: 1797 × 64, each picture row by row; ink is +1.
///
/// ```
/// let digits = isinglass_lab::data::digits()?;
/// assert_eq!((digits.row_count(), digits.columns().len(), digits.missing_count()), (1797, 64, 0));
/// # Ok::<(), isinglass_files::Error>(())
/// ```
pub fn digits() -> isinglass_files::Result<Table> {
    let options = TableOptions { drop: vec!["digit".into()], ..TableOptions::default() };
    parse_csv(DIGITS_CSV.as_bytes(), "digits_8x8.csv", b',', &options)
}

/// Returns the digit that each picture of [`digits`] shows.
///
/// ```
/// let labels = isinglass_lab::data::digit_labels();
/// assert_eq!((labels.len(), labels[0]), (1797, '0'));
/// ```
pub fn digit_labels() -> Vec<char> {
    DIGITS_CSV.lines().skip(1).filter_map(|line| line.chars().next()).collect()
}

/// Names of columns with the digit that a picture shows; these are no pixels.
const LABELS: [&str; 2] = ["label", "digit"];

/// Reads pictures from a user's table: 64 columns of pixels; a column named `label` or `digit` is
/// left out.
///
/// # Errors
/// A file that is not such a table.
pub fn read_digits(path: &Path) -> isinglass_files::Result<Table> {
    let without = |label: &str| {
        let options = TableOptions { drop: vec![label.into()], ..TableOptions::default() };
        read_table(path, &options)
    };
    // An absent column cannot be dropped; then the table is read as it is, and errors are about
    // that.
    LABELS
        .iter()
        .find_map(|label| without(label).ok())
        .map_or_else(|| read_table(path, &TableOptions::default()), Ok)
}
