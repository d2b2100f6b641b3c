//! Rows that an engine is asked about piece by piece.

use crate::{Error, Result};

/// Ask about rows, so many at once at most, and fewer where the preparations for all of them are
/// beyond an engine's budget.
///
/// *Arguments*: the rows; how many at once; how many units a row leaves free; the question; what is
/// done with its answer.
pub(crate) fn in_pieces<R: Copy, A>(
    rows: &[R],
    mut at_once: usize,
    free: impl Fn(R) -> usize,
    ask: impl Fn(&[R]) -> Result<A>,
    mut take: impl FnMut(&[R], A) -> Result<()>,
) -> Result<()> {
    let mut rest = rows;
    while !rest.is_empty() {
        let piece = &rest[..at_once.clamp(1, rest.len())];
        let answer = match ask(piece) {
            // What one row cannot have, fewer rows cannot have either; else the preparations for
            // all these rows were too much at once.
            Err(refusal @ Error::OverBudget { .. }) if piece.len() > 1 => {
                let freest = piece.iter().copied().max_by_key(|&row| free(row));
                freest.map(|row| ask(&[row])).transpose().map_err(|_| refusal)?;
                at_once = piece.len() / 2;
                continue;
            }
            answer => answer?,
        };
        take(piece, answer)?;
        rest = &rest[piece.len()..];
    }
    Ok(())
}
