//! What users should know about a result: data, rendered when shown.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::message::{Message, Style};

/// What a user should know about a fit, a score or a completed table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Note {
    /// Columns with one value, whose biases have no finite optimum.
    ConstantColumns(Vec<String>),
    /// Columns that others determine, whose couplings have no finite optimum.
    DeterminedColumns(Vec<String>),
    /// Columns without values, about which nothing is learned.
    EmptyColumns(Vec<String>),
    /// Columns of inputs with missing cells, which are summed out.
    SummedInputs(Vec<String>),
    /// Columns with one value, whose biases are those with half a row added of each value.
    SmoothedColumns(Vec<String>),
    /// Columns without values, whose biases are 0.
    ZeroedColumns(Vec<String>),
    /// Couplings that the data hardly bound.
    Unbounded {
        /// The largest, divided by T.
        largest: f64,
    },
    /// A machine without visible units.
    NoVisibleUnits,
    /// A fit that oscillates.
    Oscillates {
        /// The iterations looked at, the last ones.
        iterations: usize,
        /// How often the objective turned in them.
        turns: usize,
        /// The smallest gradient in them.
        gradient: f64,
    },
    /// Learning with naive mean field, which has no fixed point on correlated data.
    MeanFieldLearning,
    /// A fit that did not converge, with the machine of largest pseudo-likelihood.
    BestKept {
        /// Its iteration.
        iteration: usize,
        /// The number of iterations, the start among them.
        seen: usize,
    },
    /// Couplings of a sparse fit.
    NotZero {
        /// Those that are not 0.
        count: usize,
        /// All.
        couplings: usize,
    },
    /// Couplings that were fitted again, without the penalty that selected them.
    Refitted {
        /// Their number.
        couplings: usize,
        /// The iterations of the second fit.
        iterations: usize,
        /// The exact engine of its likelihood; without one, it was by pseudo-likelihood.
        engine: Option<String>,
    },
    /// Columns whose regressions did not converge for some penalty.
    UnconvergedColumns(Vec<String>),
    /// Columns without a regression, as the fit was stopped.
    ColumnsLeft(Vec<String>),
    /// Correlations of pairs of columns come from the rows that have both.
    PairwiseCorrelations,
    /// Correlations that no distribution has.
    ImpossibleCorrelations {
        /// Their smallest eigenvalue.
        eigenvalue: f64,
    },
    /// Singular covariances, solved by least squares.
    LeastSquares {
        /// The number of columns.
        columns: usize,
        /// The largest difference left between correlations.
        difference: f64,
    },
    /// Singular covariances, shrunk towards independence.
    Shrunk {
        /// The number of columns.
        columns: usize,
        /// The share of independence.
        share: f64,
    },
    /// Two treatments of singular covariances, compared by pseudo-log-likelihood per row.
    BetterTreatment {
        /// That of least squares.
        least_squares: f64,
        /// That of shrinkage.
        shrinkage: f64,
    },
    /// Equations that do not hold to their tolerance.
    DifferenceLeft {
        /// The largest difference between correlations.
        difference: f64,
    },
    /// A closed form that is worse than independent units, by pseudo-log-likelihood per row.
    WorseThanIndependent {
        /// That of the machine.
        coupled: f64,
        /// That of independent units.
        independent: f64,
        /// The number of rows compared, if not all.
        rows: Option<usize>,
    },
    /// Free units were drawn from their exact distribution.
    DrawnExactly {
        /// The width of the elimination order.
        width: usize,
    },
    /// Free units were drawn by Gibbs chains.
    DrawnByChains {
        /// Sweeps between draws.
        sweeps: usize,
        /// Why not exactly, where that was possible.
        reason: Option<ChainsReason>,
    },
    /// A pseudo-log-likelihood of some rows.
    PseudoLikelihoodOfSome {
        /// The rows.
        rows: usize,
        /// All distinct rows.
        of: usize,
    },
    /// A restart without a result.
    RestartFailed {
        /// Counted from 1.
        restart: usize,
        /// The number of restarts.
        count: usize,
        /// Why it failed.
        why: String,
    },
    /// Restarts that were stopped on request.
    RestartsStopped {
        /// The restart, counted from 1.
        restart: usize,
        /// The number of restarts.
        count: usize,
    },
    /// One start in place of several: without hidden units all are the same.
    SameStarts {
        /// The number requested.
        requested: usize,
    },
    /// Resamples that could not be fitted.
    ResamplesFailed {
        /// Their number.
        failed: usize,
        /// The number tried.
        tried: usize,
        /// Why the first failed.
        why: String,
    },
    /// Resamples whose fits did not converge.
    ResamplesUnconverged {
        /// Their number.
        unconverged: usize,
        /// The number fitted.
        fitted: usize,
    },
    /// Resamples with parameters that the data hardly bound.
    ResamplesUnbounded {
        /// Their number.
        unbounded: usize,
        /// The number fitted.
        fitted: usize,
        /// The limit, divided by T.
        limit: f64,
    },
    /// Resamples that were stopped on request.
    ResamplesStopped {
        /// The number tried.
        tried: usize,
        /// The number requested.
        requested: usize,
    },
    /// Rows left out, since a cell or a covariate of theirs is missing.
    RowsLeftOut {
        /// Their number.
        rows: usize,
    },
    /// Sets of labels with a fit that failed.
    PermutationsFailed {
        /// Their number.
        failed: usize,
        /// The number tried.
        tried: usize,
        /// Why the first failed.
        why: String,
    },
    /// Sets of labels with a fit that did not converge.
    PermutationsUnconverged {
        /// Their number.
        unconverged: usize,
        /// The number fitted.
        fitted: usize,
    },
    /// Columns without values, all of whose cells are filled.
    FilledColumns(Vec<String>),
    /// Columns that were added for units without one.
    AddedColumns(Vec<String>),
    /// Columns of inputs that are filled though their distribution is not learned.
    FilledInputs(Vec<String>),
    /// A score that was not computed.
    Unavailable {
        /// The score or scores.
        what: Vec<String>,
        /// Why.
        why: String,
    },
}

/// Why free units were not drawn exactly.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum ChainsReason {
    /// The elimination order needs tables of so many units.
    Width(usize),
    /// The engine refused, for this reason.
    Refused(String),
}

impl Note {
    /// A note on columns, if there are any.
    pub(crate) fn of_columns(columns: &[&str], note: fn(Vec<String>) -> Self) -> Option<Self> {
        (!columns.is_empty()).then(|| note(columns.iter().map(|&name| name.to_owned()).collect()))
    }

    /// A short name for programs, in kebab-case.
    pub fn code(&self) -> &'static str {
        match self {
            Self::ConstantColumns(_) => "constant-columns",
            Self::DeterminedColumns(_) => "determined-columns",
            Self::EmptyColumns(_) => "empty-columns",
            Self::SummedInputs(_) => "summed-inputs",
            Self::SmoothedColumns(_) => "smoothed-columns",
            Self::ZeroedColumns(_) => "zeroed-columns",
            Self::Unbounded { .. } => "unbounded",
            Self::NoVisibleUnits => "no-visible-units",
            Self::Oscillates { .. } => "oscillates",
            Self::MeanFieldLearning => "mean-field-learning",
            Self::BestKept { .. } => "best-kept",
            Self::NotZero { .. } => "not-zero",
            Self::Refitted { .. } => "refitted",
            Self::UnconvergedColumns(_) => "unconverged-columns",
            Self::ColumnsLeft(_) => "columns-left",
            Self::PairwiseCorrelations => "pairwise-correlations",
            Self::ImpossibleCorrelations { .. } => "impossible-correlations",
            Self::LeastSquares { .. } => "least-squares",
            Self::Shrunk { .. } => "shrunk",
            Self::BetterTreatment { .. } => "better-treatment",
            Self::DifferenceLeft { .. } => "difference-left",
            Self::WorseThanIndependent { .. } => "worse-than-independent",
            Self::DrawnExactly { .. } => "drawn-exactly",
            Self::DrawnByChains { .. } => "drawn-by-chains",
            Self::PseudoLikelihoodOfSome { .. } => "pseudo-likelihood-of-some",
            Self::RestartFailed { .. } => "restart-failed",
            Self::RestartsStopped { .. } => "restarts-stopped",
            Self::SameStarts { .. } => "same-starts",
            Self::ResamplesFailed { .. } => "resamples-failed",
            Self::ResamplesUnconverged { .. } => "resamples-unconverged",
            Self::ResamplesUnbounded { .. } => "resamples-unbounded",
            Self::ResamplesStopped { .. } => "resamples-stopped",
            Self::RowsLeftOut { .. } => "rows-left-out",
            Self::PermutationsFailed { .. } => "permutations-failed",
            Self::PermutationsUnconverged { .. } => "permutations-unconverged",
            Self::FilledColumns(_) => "filled-columns",
            Self::AddedColumns(_) => "added-columns",
            Self::FilledInputs(_) => "filled-inputs",
            Self::Unavailable { .. } => "unavailable",
        }
    }
}

/// Some columns, the first few by name.
struct Columns<'a>(&'a [String], &'static str);

impl fmt::Display for Columns<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const NAMED: usize = 5;
        let Self(columns, what) = self;
        let named = columns[..columns.len().min(NAMED)].join(", ");
        let more = if columns.len() > NAMED { ", …" } else { "" };
        let s = if columns.len() == 1 { "" } else { "s" };
        write!(f, "{} column{s} {what} ({named}{more})", columns.len())
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = |f: &mut fmt::Formatter<'_>, names, what| Columns(names, what).fmt(f);
        match self {
            Self::ConstantColumns(names) => {
                columns(f, names, "with one value only, whose bias has no finite optimum")
            }
            Self::DeterminedColumns(names) => columns(
                f,
                names,
                "that others determine in every row: couplings have no finite optimum; an L2 penalty keeps them small",
            ),
            Self::EmptyColumns(names) => {
                columns(f, names, "without values, about which nothing can be learned")
            }
            Self::SummedInputs(names) => columns(
                f,
                names,
                "of inputs with missing cells, which are summed out though their own distribution is not learned",
            ),
            Self::SmoothedColumns(names) => columns(
                f,
                names,
                "with one value only: biases as if half a row of each value were added",
            ),
            Self::ZeroedColumns(names) => columns(f, names, "without values: biases are 0"),
            Self::Unbounded { largest } => write!(
                f,
                "couplings of up to {largest:.1}: the data hardly bound them; an L2 penalty keeps them small"
            ),
            Self::NoVisibleUnits => f.write_str("there are no visible units: nothing is modelled"),
            Self::Oscillates { iterations, turns, gradient } => write!(
                f,
                "the fit oscillates: in its last {iterations} iterations the objective turned {turns} times, and the gradient never fell below {gradient:.1e}"
            ),
            Self::MeanFieldLearning => f.write_str(
                "learning with naive mean field has no fixed point where the data are correlated (Kappen & Rodríguez 1997, section 2.3); \
                 linear-response, tap or bethe may do better",
            ),
            Self::BestKept { iteration, seen } => write!(
                f,
                "the machine of iteration {iteration} is kept, that of largest pseudo-likelihood among {seen}"
            ),
            Self::NotZero { count, couplings } => write!(f, "{count} of {couplings} couplings are not 0"),
            Self::Refitted { couplings, iterations, engine } => {
                write!(f, "{couplings} couplings were fitted again without penalty, by ")?;
                match engine {
                    Some(engine) => write!(f, "likelihood with engine {engine}")?,
                    None => f.write_str("pseudo-likelihood")?,
                }
                write!(f, " ({iterations} iterations)")
            }
            Self::UnconvergedColumns(names) => {
                columns(f, names, "whose regressions have not converged for some λ")
            }
            Self::ColumnsLeft(names) => columns(f, names, "without a regression, as the fit was stopped"),
            Self::PairwiseCorrelations => f.write_str(
                "missing cells: the correlation of two columns is that of the rows that have both",
            ),
            Self::ImpossibleCorrelations { eigenvalue } => write!(
                f,
                "the correlations, each from other rows, are those of no distribution (smallest eigenvalue {eigenvalue:.2e})"
            ),
            Self::LeastSquares { columns, difference } => write!(
                f,
                "the covariances of {columns} columns are singular: least squares by levenberg-marquardt, which leave a difference of up to {difference:.1e} between correlations"
            ),
            Self::Shrunk { columns, share } => write!(
                f,
                "the covariances of {columns} columns are singular: shrunk towards independence by a share of {share:.2e}"
            ),
            Self::BetterTreatment { least_squares, shrinkage } => write!(
                f,
                "pseudo-log-likelihood per row: {least_squares:.4} by least squares, {shrinkage:.4} by shrinkage; the larger was taken (for rows that are not among these, shrinkage is the safer choice)"
            ),
            Self::DifferenceLeft { difference } => write!(
                f,
                "the equations are left with a difference of {difference:.1e} between correlations"
            ),
            Self::WorseThanIndependent { coupled, independent, rows } => {
                f.write_str("pseudo-log-likelihood per row")?;
                if let Some(rows) = rows {
                    write!(f, " of {rows} rows")?;
                }
                write!(
                    f,
                    ": {coupled:.4}, and {independent:.4} without any couplings: the closed form does not suit these data, whose \
                     columns are too lopsided or too strongly coupled for it"
                )
            }
            Self::DrawnExactly { width } => write!(f, "free units were drawn exactly, at width {width}"),
            Self::DrawnByChains { sweeps, reason } => {
                write!(f, "free units were drawn by Gibbs chains of {sweeps} sweeps a draw")?;
                match reason {
                    None => Ok(()),
                    Some(ChainsReason::Width(width)) => {
                        write!(f, ": exact draws need tables of {width} units")
                    }
                    Some(ChainsReason::Refused(why)) => write!(f, ": {why}"),
                }
            }
            Self::PseudoLikelihoodOfSome { rows, of } => {
                write!(f, "the pseudo-log-likelihood is that on {rows} of {of} distinct rows")
            }
            Self::RestartFailed { restart, count, why } => {
                write!(f, "restart {restart} of {count} failed: {why}")
            }
            Self::RestartsStopped { restart, count } => {
                write!(f, "stopped on request in restart {restart} of {count}")
            }
            Self::SameStarts { requested } => write!(
                f,
                "without hidden units all starts are the same: 1 start in place of {requested}"
            ),
            Self::ResamplesFailed { failed, tried, why } => {
                write!(f, "{failed} of {tried} resamples could not be fitted; the first: {why}")
            }
            Self::ResamplesUnconverged { unconverged, fitted } => {
                write!(f, "{unconverged} of {fitted} fits have not converged; they count")
            }
            Self::ResamplesUnbounded { unbounded, fitted, limit } => write!(
                f,
                "in {unbounded} of {fitted} resamples couplings or biases have no finite optimum, or are beyond {limit} T: their intervals show where the learner stopped, not how certain they are"
            ),
            Self::ResamplesStopped { tried, requested } => {
                write!(f, "stopped on request after {tried} of {requested} resamples")
            }
            Self::RowsLeftOut { rows } => {
                write!(f, "{rows} rows have a missing cell or covariate and are left out")
            }
            Self::PermutationsFailed { failed, tried, why } => write!(
                f,
                "{failed} of {tried} sets of labels could not be fitted, and count as large differences; the first: {why}"
            ),
            Self::PermutationsUnconverged { unconverged, fitted } => {
                write!(f, "{unconverged} of {fitted} sets of labels have a fit that has not converged; they count")
            }
            Self::FilledColumns(names) => columns(f, names, "without values, filled all through"),
            Self::AddedColumns(names) => {
                columns(f, names, "added at the end, for units that the table has no column for")
            }
            Self::FilledInputs(names) => columns(
                f,
                names,
                "of inputs, whose own distribution is not learned, filled all the same",
            ),
            Self::Unavailable { what, why } => {
                let is = if what.len() == 1 { "is" } else { "are" };
                write!(f, "{} {is} unavailable: {why}", what.join(" and "))
            }
        }
    }
}

/// No note names a setting: the text is the same in every style.
impl Message for Note {
    fn render(&self, out: &mut dyn fmt::Write, _style: Style) -> fmt::Result {
        write!(out, "{self}")
    }
}
