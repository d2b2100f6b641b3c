//! How the best split is looked for.

use crate::engine::Budget;
use crate::{Error, Result};

/// How the best split among subgraphs is looked for, and when the search ends.
///
/// # Example
/// ```
/// use isinglass::engine::TrwSettings;
/// let rough = TrwSettings { iterations: 20, ..TrwSettings::default() };
/// rough.check()?;
/// # Ok::<(), isinglass::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrwSettings {
    /// Converged when no subgraph's moment differs by more than this from the average, times the subgraph's share and their number; and shares would not lower the bound by more either.
    pub tolerance: f64,
    /// Iterations at most; the bound holds after any number of them, also after none.
    pub iterations: usize,
    /// The seed of the subgraphs.
    pub seed: u64,
    /// Limits the memory.
    pub budget: Budget,
}

impl Default for TrwSettings {
    fn default() -> Self {
        Self { tolerance: 1e-4, iterations: 1000, seed: 0, budget: Budget::default() }
    }
}

impl TrwSettings {
    /// Whether every number is one that a search can work with.
    ///
    /// # Errors
    /// [`Error::Invalid`] that names the setting.
    pub fn check(&self) -> Result<()> {
        if self.tolerance.is_finite() && self.tolerance > 0.0 {
            return Ok(());
        }
        let problem = format!("found {}, expected a finite number above 0", self.tolerance);
        Err(Error::invalid("tolerance", problem))
    }
}
