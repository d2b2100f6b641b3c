//! How well each column is predicted by the others.

use crate::engine::{Diagnostics, Engine, Guarantee};
use crate::likelihood::cell_log_probabilities;
use crate::{Machine, Result, Role, Table};

/// How well the cells of each visible unit are predicted by the other cells of their rows.
///
/// A cell is predicted to have the value that is more probable given all other observed cells of its
/// row; hidden units and missing cells are summed out. Both values being equally probable counts as
/// half a hit.
///
/// * **Accuracy**: the share of observed cells that are predicted.
/// * **Normalised accuracy**: `(A − A₀) / (1 − A₀)`, where A₀ is the accuracy of the more frequent
///   value: the share of what is left to be predicted (Haslbeck and Waldorp 2018, for binary
///   variables). 0 if the others say nothing, 1 if they say all; below 0 if a column is predicted
///   worse than by its more frequent value. Undefined for a constant column.
#[derive(Debug, Clone, PartialEq)]
pub struct Predictability {
    /// For each unit; `None` for hidden and input units, and columns without values.
    pub accuracy: Vec<Option<f64>>,
    /// For each unit.
    pub normalised: Vec<Option<f64>>,
    /// What kind of numbers the probabilities are.
    pub guarantee: Guarantee,
    /// How the engine's computation went.
    pub diagnostics: Diagnostics,
}

/// Computes how well the columns of a table are predicted by a machine.
///
/// The engine is used for rows with hidden units or missing cells; in others, conditional
/// probabilities need none, and are exact.
///
/// These are figures of the rows that the machine was fitted to unless others are given: with many
/// couplings for few rows they are too high.
///
/// # Errors
/// A table without a unit's column; failures of the engine.
///
/// # Example
/// ```
/// use isinglass::network::predictability;
/// use isinglass::{Enumerate, Table, topology};
/// let pair = topology::full(2).with_parameters(vec![1.0], vec![0.0; 2])?;
/// let table = Table::from_rows(["x0", "x1"], [[1, 1], [1, 1], [-1, -1], [1, -1]])?;
/// let found = predictability(&pair, &table, &Enumerate::default())?;
/// // Three of four cells of x0 are as x1 says. x0 is up in three of four rows, x1 in two.
/// assert_eq!(found.accuracy, [Some(0.75), Some(0.75)]);
/// assert_eq!(found.normalised, [Some(0.0), Some(0.5)]);
/// # Ok::<(), isinglass::Error>(())
/// ```
pub fn predictability(machine: &Machine, table: &Table, engine: &dyn Engine) -> Result<Predictability> {
    /// What is summed up over the cells of a unit.
    #[derive(Clone, Default)]
    struct Sum {
        up: f64,
        all: f64,
        hits: f64,
    }
    let mut sums = vec![Sum::default(); machine.unit_count()];
    let visible: Vec<usize> = machine.with_role(Role::Visible).collect();
    let half = 0.5f64.ln();
    let (guarantee, diagnostics) =
        cell_log_probabilities(machine, table, engine, &mut |(row, weight), values| {
            let observed = visible.iter().filter(|&&unit| row[unit] != 0);
            for (&unit, value) in observed.zip(values) {
                let sum = &mut sums[unit];
                sum.all += weight;
                sum.up += if row[unit] > 0 { weight } else { 0.0 };
                // Rounding does not decide between values that are equally probable.
                let is_even = (value - half).abs() < 1e-12;
                sum.hits += if is_even {
                    0.5 * weight
                } else if *value > half {
                    weight
                } else {
                    0.0
                };
            }
        })?;
    let accuracy = |sum: &Sum| (sum.all > 0.0).then(|| sum.hits / sum.all);
    let normalised = |sum: &Sum| {
        let most = sum.up.max(sum.all - sum.up) / sum.all;
        accuracy(sum).filter(|_| most < 1.0).map(|accuracy| (accuracy - most) / (1.0 - most))
    };
    Ok(Predictability {
        accuracy: sums.iter().map(accuracy).collect(),
        normalised: sums.iter().map(normalised).collect(),
        guarantee,
        diagnostics,
    })
}
