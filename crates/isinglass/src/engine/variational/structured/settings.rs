//! How the best Q is searched for.

use super::Structured;
use crate::settings::{range, settings};

settings! {
    /// Settings of [`Structured`].
    ///
    /// # Example
    /// ```
    /// use isinglass::prelude::*;
    /// let engine = Structured::new().width(2).starts(10);
    /// assert_eq!(engine.max_sweeps, 1000);
    /// ```
    pub struct StructuredSettings for Structured {
        /// Treewidth of the subgraph that is kept, 1 (a tree) to 3
        width: usize = 3 => range::width,
        /// Subgraphs that are tried, the one of the strongest couplings first; the largest bound is
        /// kept
        starts: usize = 1 => range::at_least_1,
        /// Largest number of steps of each climb; with 0, the best start is the answer
        max_sweeps: usize = 1000,
    }
    rust {
        /// Converged when no derivative of the bound by a logit of Q is larger than this.
        tolerance: f64 = 1e-9 => range::positive,
    }
    common { seed, budget }
}
