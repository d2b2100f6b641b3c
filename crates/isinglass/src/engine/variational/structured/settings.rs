//! How the best Q is looked for.

use super::skeleton::MOST_PARENTS;
use crate::Budget;
use crate::{Error, Result};

/// How [`Structured`](super::Structured) looks for the best Q, and when the search ends.
///
/// # Example
/// ```
/// use isinglass::engine::{Structured, StructuredSettings};
/// let patient = StructuredSettings { starts: 10, ..StructuredSettings::default() };
/// let engine = Structured { width: 2, settings: patient };
/// assert_eq!(engine.settings.iterations, 1000);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StructuredSettings {
    /// Converged when no derivative of the bound by a logit of Q is larger than this.
    pub tolerance: f64,
    /// Steps of each climb at most; with 0, the best start is the answer.
    pub iterations: usize,
    /// Subgraphs that are tried: first the one of the strongest couplings, then others drawn in favour of strong couplings. The largest bound is kept.
    pub starts: usize,
    /// The seed of the starts.
    pub seed: u64,
    /// Limits the memory.
    pub budget: Budget,
}

impl Default for StructuredSettings {
    fn default() -> Self {
        Self { tolerance: 1e-9, iterations: 1000, starts: 1, seed: 0, budget: Budget::default() }
    }
}

impl StructuredSettings {
    /// Whether every number is one that the search can work with.
    ///
    /// # Errors
    /// [`Error::Invalid`] that names the setting.
    pub fn check(&self) -> Result<()> {
        if !(self.tolerance.is_finite() && self.tolerance > 0.0) {
            let problem = format!("found {}, expected a finite number above 0", self.tolerance);
            return Err(Error::invalid("tolerance", problem));
        }
        if self.starts == 0 {
            return Err(Error::invalid("starts", "found 0, expected at least 1"));
        }
        Ok(())
    }
}

/// Checks the width of cliques.
pub(super) fn check_width(width: usize) -> Result<()> {
    if (1..=MOST_PARENTS).contains(&width) {
        return Ok(());
    }
    Err(Error::invalid("width", format!("found {width}, expected 1 to {MOST_PARENTS}")))
}
