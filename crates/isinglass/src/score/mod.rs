//! How good a machine is: likelihood, Kullback divergence, pseudo-likelihood, completion quality,
//! and the likelihoods of simpler models to compare with.
//!
//! Calls learners, engines and tables; front ends call it.

mod entropy;

use crate::bracket::{Bounds, LikelihoodBracket};
use crate::engine::{Diagnostics, Engine, Guarantee};
use crate::learn::{independent_log_likelihood, tree_log_likelihood};
use crate::likelihood::{LogLikelihood, Phases, completion, log_likelihood};
use crate::{Error, Machine, Note, Result, Table};

/// The scores of a machine on a table, averages per row with weights.
#[derive(Debug, Clone, PartialEq)]
pub struct Score {
    /// The number of rows.
    pub rows: usize,
    /// log P(visible | input), missing cells and hidden units summed out.
    pub log_likelihood: Option<f64>,
    /// What kind of number it is, or would be.
    pub log_likelihood_guarantee: Guarantee,
    /// Its standard error, and that of the Kullback divergence, where it is an estimate with one; NaN
    /// where it is unknown ([`Diagnostics::known_error`]).
    pub log_likelihood_error: Option<f64>,
    /// The log-likelihood of independent units with the rates of the same rows. A machine below it
    /// has not learned what goes with what.
    pub independent_log_likelihood: f64,
    /// That of the Chow–Liu tree of the same rows ([`tree_log_likelihood`]); none with missing cells,
    /// input units or very many columns.
    pub tree_log_likelihood: Option<f64>,
    /// Kappen & Rodríguez 1997, eq. 5: `K = Σ_α q_α log(q_α / p_α)` between the shares q of the
    /// rows and the machine's probabilities p of their visible units given the input units. At
    /// least 0, and 0 only for a machine that has the table's own distribution; `−` the
    /// log-likelihood `−` the entropy of q. Rows with missing cells have no share, so there is none
    /// for a table with any.
    pub kullback: Option<f64>,
    /// Σ_i log P(s_i | all other observed cells of the row), over the visible cells that are
    /// observed.
    pub pseudo_log_likelihood: Option<f64>,
    /// Kappen & Rodríguez 1997, eq. 37: `Q = −` the average over cells of log P(s_i | all other
    /// observed cells of the row).
    pub completion: Option<f64>,
    /// What kind of numbers these are together, the Kullback divergence aside.
    pub guarantee: Guarantee,
    /// What kind of number the Kullback divergence is: a bound on the other side where the
    /// log-likelihood is a bound.
    pub kullback_guarantee: Guarantee,
    /// How the computations went, all scores together.
    pub diagnostics: Diagnostics,
    /// The log-likelihood between two bounds, if requested.
    pub bracket: Option<LikelihoodBracket>,
    /// Why a score is unavailable.
    pub notes: Vec<Note>,
}

/// Scores a machine on a table.
///
/// A score that an engine cannot give, or not within its budget, is `None`, with a note; any other
/// failure is an error.
///
/// # Example
/// ```
/// use isinglass::{Enumerate, Machine, Table, likelihood::Phases, score, topology};
/// let coins = topology::full(3);
/// let table = Table::from_rows(["x0", "x1", "x2"], [[1, 1, -1], [0, 1, 1]])?;
/// let engine = Enumerate::default();
/// let score = score::score(&coins, &table, Phases::both(&engine))?;
/// let ln2 = 2f64.ln();
/// assert!((score.log_likelihood.unwrap() - -2.5 * ln2).abs() < 1e-12);    // three cells, then two
/// assert!((score.completion.unwrap() - ln2).abs() < 1e-12);
/// assert_eq!(score.kullback, None);                                       // a cell is missing
///
/// let table = Table::from_rows(["x0", "x1", "x2"], [[1, 1, -1], [-1, 1, 1]])?;
/// let score = score::score(&coins, &table, Phases::both(&engine))?;
/// assert!((score.kullback.unwrap() - 2.0 * ln2).abs() < 1e-12);           // log (1/2)/(1/8), for both rows
/// # Ok::<(), isinglass::Error>(())
/// ```
pub fn score(machine: &Machine, table: &Table, phases: Phases<'_>) -> Result<Score> {
    let mut notes = Vec::new();
    let likelihood = log_likelihood(machine, table, phases);
    let gain = or_unavailable(likelihood, &["log_likelihood", "kullback"], &mut notes)?;
    all_scores(machine, table, phases.clamped, gain, notes)
}

/// Scores a machine on a table, with the log-likelihood between two rigorous bounds.
///
/// [`Score::log_likelihood`] is then the lower bound, and the Kullback divergence an upper one.
/// `engine` gives the probabilities of cells, which are no bounds.
///
/// # Errors
/// As [`Bounds::log_likelihood`].
///
/// # Example
/// ```
/// use isinglass::bracket::Bounds;
/// use isinglass::{Enumerate, Machine, Table, likelihood::Phases, score, topology};
/// let full = topology::full(6).with_parameters(vec![0.2; 15], vec![0.1; 6])?;
/// let table = Table::from_rows(["x0", "x1", "x2", "x3", "x4", "x5"], [[1, 1, -1, 1, 1, 1], [0, 1, 1, 1, -1, 1]])?;
/// let engine = Enumerate::default();
/// let exact = score::score(&full, &table, Phases::both(&engine))?.log_likelihood.unwrap();
/// let bounds = Bounds::default();
/// let bracket = score::score_between(&full, &table, &bounds, &bounds, &engine)?.bracket.unwrap();
/// assert!(bracket.lower <= exact && exact <= bracket.upper);
/// # Ok::<(), isinglass::Error>(())
/// ```
pub fn score_between(
    machine: &Machine,
    table: &Table,
    clamped: &Bounds,
    free: &Bounds,
    engine: &dyn Engine,
) -> Result<Score> {
    let bracket = Bounds::log_likelihood(machine, table, clamped, free)?;
    let lower = LogLikelihood {
        value: bracket.lower,
        error: None,
        guarantee: bracket.guarantee,
        diagnostics: bracket.diagnostics.clone(),
    };
    let score = all_scores(machine, table, engine, Some(lower), Vec::new())?;
    Ok(Score { bracket: Some(bracket), ..score })
}

/// The scores that follow from the log-likelihood, and those that need none.
fn all_scores(
    machine: &Machine,
    table: &Table,
    engine: &dyn Engine,
    gain: Option<LogLikelihood>,
    mut notes: Vec<Note>,
) -> Result<Score> {
    let mut guarantee = gain.as_ref().map_or(Guarantee::Exact, |gain| gain.guarantee);
    let mut diagnostics = gain.as_ref().map_or(Diagnostics::direct(), |gain| gain.diagnostics.clone());
    let log_likelihood_guarantee = guarantee;
    let kullback_guarantee = guarantee.negated();
    let kullback = match &gain {
        Some(gain) => or_unavailable(entropy::negative_entropy(machine, table), &["kullback"], &mut notes)?
            .map(|best| at_least_zero(best - gain.value, kullback_guarantee)),
        None => None,
    };
    let completion = completion(machine, table, engine);
    let completion = or_unavailable(completion, &["pseudo_log_likelihood", "completion"], &mut notes)?;
    if let Some(found) = &completion {
        guarantee = guarantee.and(found.guarantee);
        diagnostics = diagnostics.and(found.diagnostics.clone());
    }
    Ok(Score {
        rows: table.row_count(),
        log_likelihood: gain.as_ref().map(|gain| gain.value),
        log_likelihood_guarantee,
        log_likelihood_error: gain.and_then(|gain| Some(gain.diagnostics.known_error(gain.error?))),
        independent_log_likelihood: independent_log_likelihood(machine, table)?,
        tree_log_likelihood: tree_log_likelihood(machine, table)?,
        kullback,
        pseudo_log_likelihood: completion.as_ref().map(|found| found.per_row),
        completion: completion.as_ref().and_then(|found| found.per_cell.map(|x| -x)),
        guarantee,
        kullback_guarantee,
        diagnostics,
        bracket: None,
        notes,
    })
}

/// A divergence that is exact is not below 0, whatever rounding makes of the difference; what an
/// approximation makes of it is shown.
fn at_least_zero(divergence: f64, guarantee: Guarantee) -> f64 {
    if guarantee == Guarantee::Exact { divergence.max(0.0) } else { divergence }
}

/// A score, or a note on why it is unavailable.
fn or_unavailable<T>(result: Result<T>, what: &[&str], notes: &mut Vec<Note>) -> Result<Option<T>> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(error @ (Error::CannotDo { .. } | Error::OverBudget { .. })) => {
            let what = what.iter().map(|&score| score.to_owned()).collect();
            notes.push(Note::Unavailable { what, why: error.to_string() });
            Ok(None)
        }
        Err(error) => Err(error),
    }
}
