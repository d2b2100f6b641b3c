//! How the best split is looked for.

use crate::Budget;
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
    /// Converged when no moment of a subgraph differs from the average by more than this, in proportion to the subgraph's share, and no share has a steeper slope. What the bound is then off its
    /// optimum is of second order in this: at 1e-4, below 5e-7 on ten units all joined with numbers uniform on ±0.3, below 4e-5 on ±1, and 1e-6 on a grid of 30×30.
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
