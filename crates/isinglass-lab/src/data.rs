//! Tables built into the program; `data/README.md` tells where they come from.

use isinglass::Table;
use isinglass_files::{TableOptions, parse_csv};

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
