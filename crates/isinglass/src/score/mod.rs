//! How good a machine is: likelihood, pseudo-likelihood, completion quality.
//!
//! Calls engines and tables; nothing calls it but commands.

mod completion;

use crate::engine::{Engine, Guarantee};
use crate::learn::{InformationGain, Phases};
use crate::{Error, Machine, Result, Table};

/// The scores of a machine on a table, averages per row with weights.
#[derive(Debug, Clone, PartialEq)]
pub struct Score {
    /// The number of rows.
    pub rows: usize,
    /// log P(visible | input), missing cells and hidden units summed out.
    pub log_likelihood: Option<f64>,
    /// Σ_i log P(s_i | all other observed cells of the row), over the visible cells that are observed.
    pub pseudo_log_likelihood: Option<f64>,
    /// Kappen & Rodríguez 1997, eq. 37: `Q = −` the average over cells of log P(s_i | all other observed cells of the row).
    pub completion: Option<f64>,
    /// What kind of numbers these are.
    pub guarantee: Guarantee,
    /// Why a score could not be had.
    pub notes: Vec<String>,
}

/// Score a machine on a table.
///
/// A score that an engine cannot give, or not within its budget, is `None`, with a note; any other failure is an error.
///
/// # Example
/// ```
/// use isinglass::{Enumerate, Machine, Table, learn::Phases, score, topology};
/// let coins = Machine::from_graph(topology::full(3));
/// let table = Table::from_rows(["x0", "x1", "x2"], [[1, 1, -1], [0, 1, 1]])?;
/// let engine = Enumerate::default();
/// let score = score::score(&coins, &table, Phases { clamped: &engine, free: &engine })?;
/// let ln2 = 2f64.ln();
/// assert!((score.log_likelihood.unwrap() - -2.5 * ln2).abs() < 1e-12);    // three cells, then two
/// assert!((score.completion.unwrap() - ln2).abs() < 1e-12);
/// # Ok::<(), isinglass::Error>(())
/// ```
pub fn score(machine: &Machine, table: &Table, phases: Phases<'_>) -> Result<Score> {
    let mut notes = Vec::new();
    let mut guarantee = Guarantee::Exact;
    let gain = InformationGain::new(phases, machine, table, 0.0)?;
    let log_likelihood = had(gain.evaluate(machine), "log_likelihood", &mut notes)?.map(|found| {
        guarantee = guarantee.and(found.guarantee);
        found.gain
    });
    let completion = completion::completion(machine, table, phases.clamped);
    let completion = had(completion, "pseudo_log_likelihood and completion", &mut notes)?;
    if let Some(found) = &completion {
        guarantee = guarantee.and(found.guarantee);
    }
    Ok(Score {
        rows: table.rows(),
        log_likelihood,
        pseudo_log_likelihood: completion.as_ref().map(|found| found.per_row),
        completion: completion.as_ref().and_then(|found| found.per_cell.map(|x| -x)),
        guarantee,
        notes,
    })
}

/// The average pseudo-log-likelihood of a row, as [`Score::pseudo_log_likelihood`].
pub(crate) fn pseudo_log_likelihood(machine: &Machine, table: &Table, engine: &dyn Engine) -> Result<f64> {
    Ok(completion::completion(machine, table, engine)?.per_row)
}

/// A score, or a note why the engine cannot give it.
fn had<T>(result: Result<T>, what: &str, notes: &mut Vec<String>) -> Result<Option<T>> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(error @ (Error::CannotDo { .. } | Error::OverBudget { .. })) => {
            notes.push(format!("{what} could not be had: {error}"));
            Ok(None)
        }
        Err(error) => Err(error),
    }
}
