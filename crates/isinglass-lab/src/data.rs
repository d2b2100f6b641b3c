//! Tables built into the program; `data/README.md` tells where they come from.

use std::path::Path;

use isinglass::Table;
use isinglass_files::{TableOptions, parse_csv, read_table};

/// The votes of the US House of Representatives on 16 issues of 1984, with the party of each member, as CSV.
pub const HOUSE_VOTES_CSV: &str = include_str!("../../../data/house_votes_84.csv");

/// The house votes as a table: 435 × 17, with missing cells.
///
/// ```
/// let votes = isinglass_lab::data::house_votes()?;
/// assert_eq!((votes.rows(), votes.columns().len(), votes.missing_cells()), (435, 17, 392));
/// # Ok::<(), isinglass_files::Error>(())
/// ```
pub fn house_votes() -> isinglass_files::Result<Table> {
    let csv = HOUSE_VOTES_CSV.as_bytes();
    parse_csv(csv, "house_votes_84.csv", b',', &TableOptions::default())
}

/// Handwritten digits of 8×8 pixels, the first column telling which digit it is, as CSV.
pub const DIGITS_CSV: &str = include_str!("../../../data/digits_8x8.csv");

/// The pixels of the digits as a table: 1797 × 64, row after row of each picture; ink is +1.
///
/// ```
/// let digits = isinglass_lab::data::digits()?;
/// assert_eq!((digits.rows(), digits.columns().len(), digits.missing_cells()), (1797, 64, 0));
/// # Ok::<(), isinglass_files::Error>(())
/// ```
pub fn digits() -> isinglass_files::Result<Table> {
    let options = TableOptions { drop: vec!["digit".into()], ..TableOptions::default() };
    parse_csv(DIGITS_CSV.as_bytes(), "digits_8x8.csv", b',', &options)
}

/// Which digit each of the pictures of [`digits`] shows.
///
/// ```
/// let labels = isinglass_lab::data::digit_labels();
/// assert_eq!((labels.len(), labels[0]), (1797, '0'));
/// ```
pub fn digit_labels() -> Vec<char> {
    DIGITS_CSV.lines().skip(1).filter_map(|line| line.chars().next()).collect()
}

/// Columns that tell which digit a picture shows, and are no pixels.
const LABELS: [&str; 2] = ["label", "digit"];

/// Pictures from a table of one's own: 64 columns of pixels, and perhaps one named `label` or `digit`, which is left out.
///
/// # Errors
/// A file that is no such table.
pub fn read_digits(path: &Path) -> isinglass_files::Result<Table> {
    let without = |label: &str| {
        let options = TableOptions { drop: vec![label.into()], ..TableOptions::default() };
        read_table(path, &options)
    };
    // A column that is not there cannot be left out; then the table is read as it is, and any error is about that.
    LABELS
        .iter()
        .find_map(|label| without(label).ok())
        .map_or_else(|| read_table(path, &TableOptions::default()), Ok)
}
