//! Rows sent to an engine piece by piece.

use crate::{Error, Result};

/// Solves rows, up to a number at once, and fewer where preparing them exceeds the engine's budget.
///
/// *Arguments*: the rows; how many at once; a row's free units; the request; the use of its answer.
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
            // If the freest row alone exceeds the budget, fewer rows do not help.
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
