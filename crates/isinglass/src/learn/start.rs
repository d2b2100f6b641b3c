//! Where a fit begins: biases from the columns' means, small random couplings of hidden units.

use crate::numeric::streams::{Purpose, stream};
use crate::topology::Numbers;
use crate::{Machine, Result, Role, Table};

/// Standard deviation of the couplings of hidden units at the start: small, but enough to break
/// their symmetry.
pub(super) const SPREAD: f64 = 0.1;

/// Means at the start are held this far from −1 and +1.
const MARGIN: f64 = 0.05;

/// The structure of a machine with numbers to begin a fit to a table with.
///
/// Visible units get the bias that they would have alone, couplings of hidden units are small and
/// random by seed and restart, all else is 0.
///
/// # Errors
/// A table that does not fit the machine.
///
/// # Example
/// ```
/// use isinglass::{Table, learn, topology};
/// let table = Table::from_rows(["v0", "v1"], [[1, -1], [1, 1], [-1, 1], [1, 1]])?;
/// let start = learn::start(&topology::rbm(2, 1)?, &table, 0, 0)?;
/// assert!((start.biases()[0] - 0.5f64.atanh()).abs() < 1e-15);
/// assert!(start.weights().iter().all(|w| *w != 0.0 && w.abs() < 1.0));
/// # Ok::<(), isinglass::Error>(())
/// ```
pub fn start(structure: &Machine, table: &Table, seed: u64, restart: u64) -> Result<Machine> {
    let roles = structure.roles();
    let edges = structure.graph().edges();
    let spread = Numbers::Normal { mean: 0.0, deviation: SPREAD };
    let drawn = spread.draw(edges.len(), &mut stream(seed, Purpose::Start, restart));
    let hidden = |unit: usize| roles[unit] == Role::Hidden;
    let weights = edges.iter().zip(drawn).map(|(&(a, b), w)| if hidden(a) || hidden(b) { w } else { 0.0 });
    let mut biases = vec![0.0; structure.unit_count()];
    for (unit, mean) in table.positions_in(structure)?.into_iter().zip(table.means()) {
        if roles[unit] == Role::Visible {
            let mean = mean.unwrap_or(0.0).clamp(MARGIN - 1.0, 1.0 - MARGIN);
            biases[unit] = structure.temperature() * mean.atanh();
        }
    }
    structure.clone().with_parameters(weights.collect(), biases)
}
