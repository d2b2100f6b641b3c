//! Why a fit stopped.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why a fit stopped; `Display` gives the sentence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Stop {
    /// No component of the gradient is larger than the tolerance.
    Gradient {
        /// The tolerance.
        tolerance: f64,
    },
    /// The parameters, or averages of them, hardly change any more.
    Settled {
        /// The tolerance.
        tolerance: f64,
        /// Whether averages over iterations are compared, as parameters fluctuate.
        averages: bool,
    },
    /// Sampled moments agree with the table's within the sampling error.
    MomentsAgree {
        /// The largest deviation, in standard errors of table and samples together.
        deviation: f64,
    },
    /// The result is that of a formula.
    ClosedForm,
    /// Equations that were solved step by step hold.
    EquationsHold,
    /// Least squares are within their tolerance.
    LeastSquares,
    /// The regressions of all units are done.
    PathsComplete,
    /// A learner that does not converge has run all its epochs.
    Epochs {
        /// Their number.
        count: usize,
    },
    /// All machines have been drawn.
    Draws {
        /// Their number.
        count: usize,
        /// The largest split-R̂ of a parameter.
        r_hat: f64,
        /// The smallest effective number of draws.
        effective_samples: f64,
        /// Whether these say that the chains have mixed.
        has_mixed: bool,
    },
    /// The iterations are used up.
    Limit {
        /// Their number.
        iterations: usize,
    },
    /// The observer requested it.
    Requested,
    /// The objective cannot be raised at its precision, and the gradient is not small.
    NoProgress,
    /// No step along the gradient could be taken.
    NoStep,
    /// No step improves the solution any more.
    NoGain,
    /// Equations have no solution.
    NoSolution,
    /// The gradient has not become smaller.
    Stalled {
        /// For so many iterations.
        iterations: usize,
    },
    /// The pseudo-likelihood by which machines are compared no longer rises.
    QualityStalled,
    /// Rows that the fit does not see get no more probable.
    HeldOutStalled,
    /// The objective is not finite after a step of fixed rate.
    NotFinite {
        /// The iteration.
        iteration: usize,
        /// The rate.
        rate: f64,
    },
    /// Parameters left the range of numbers.
    Diverged {
        /// What the learner counts.
        period: Period,
        /// The iteration or epoch.
        iteration: usize,
        /// The rate of the steps, where there is one.
        rate: Option<f64>,
    },
    /// As said, and the objective never exceeded that of the start.
    NeverRose(Box<Self>),
    /// Converged as said, but the engine had not.
    EngineNotConverged(Box<Self>),
    /// Converged as said, but hidden units had not settled in every row.
    HiddenUnsettled(Box<Self>),
}

/// What a learner counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Period {
    /// Steps of an optimizer or of a method of its own.
    Iteration,
    /// Passes over the rows.
    Epoch,
}

impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Iteration => "iteration",
            Self::Epoch => "epoch",
        })
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gradient { tolerance } => write!(f, "the gradient fell below {tolerance:e}"),
            Self::Settled { tolerance, averages } => {
                let what = if *averages { "averages of the parameters" } else { "the parameters" };
                write!(f, "{what} changed by less than {tolerance:e}")
            }
            Self::MomentsAgree { deviation } => {
                write!(
                    f,
                    "sampled moments agree with the table's (largest deviation: {deviation:.1} standard errors)"
                )
            }
            Self::HeldOutStalled => f.write_str("held-out rows get no more probable"),
            Self::ClosedForm => f.write_str("closed form"),
            Self::EquationsHold => f.write_str("the equations hold"),
            Self::LeastSquares => f.write_str("least squares within their tolerance"),
            Self::PathsComplete => f.write_str("the paths are complete"),
            Self::Epochs { count } => {
                write!(f, "made all {count} epoch{}", if *count == 1 { "" } else { "s" })
            }
            Self::Draws { count, r_hat, effective_samples, has_mixed } => {
                let but = if *has_mixed { "" } else { ", but the chains have not mixed" };
                write!(
                    f,
                    "drew all {count} machines{but} (R-hat {r_hat:.3}, {effective_samples:.0} effective draws)"
                )
            }
            Self::Limit { iterations } => write!(f, "reached the limit of {iterations} iterations"),
            Self::Requested => f.write_str("stopped on request"),
            Self::NoProgress => f.write_str("no further progress at the precision of the objective"),
            Self::NoStep => f.write_str("no step along the gradient could be taken"),
            Self::NoGain => f.write_str("no step gains any more"),
            Self::NoSolution => f.write_str("the equations have no solution"),
            Self::Stalled { iterations } => write!(
                f,
                "the gradient has not become smaller for {iterations} iterations: there may be no place where it vanishes"
            ),
            Self::QualityStalled => {
                f.write_str("the pseudo-likelihood has stopped rising, and the gradient is not small")
            }
            Self::NotFinite { iteration, rate } => write!(
                f,
                "diverged: the objective is not finite after iteration {iteration}; a rate below {rate} is needed"
            ),
            Self::Diverged { period, iteration, rate } => {
                let kept = if *iteration > 1 { ", and the machine of the one before is kept" } else { "" };
                write!(f, "diverged: parameters run away in {period} {iteration}{kept}; ")?;
                match rate {
                    Some(rate) => write!(f, "a rate below {} is needed", shortest(*rate)),
                    None => f.write_str("an L2 penalty may keep them small"),
                }
            }
            Self::NeverRose(stop) => {
                write!(f, "{stop}; the objective never rose: the rate is too large")
            }
            Self::EngineNotConverged(stop) => {
                write!(f, "{stop}, but the engine had not reached what it aims at")
            }
            Self::HiddenUnsettled(stop) => {
                write!(f, "{stop}, but hidden units had not settled in every row")
            }
        }
    }
}

/// A number in full where that is short, otherwise with its power of ten.
fn shortest(number: f64) -> String {
    let (full, power) = (number.to_string(), format!("{number:e}"));
    if full.len() > 8 && power.len() < full.len() { power } else { full }
}
