//! How the best split among subgraphs is searched for.

use super::Trw;
use crate::settings::{range, settings};

settings! {
    /// Settings of [`Trw`].
    pub struct TrwSettings for Trw {
        /// Largest treewidth of the subgraphs, 1 (spanning trees) to 3
        width: usize = 3 => range::width,
        /// The Gaussian of engine logdet beside the subgraphs, with a share of its own: tighter on
        /// dense machines, and an eigendecomposition for each iteration
        with_logdet: bool = false,
        /// Largest number of iterations; the bound holds after any number of them
        max_sweeps: usize = 1000,
    }
    rust {
        /// Smallest number of subgraphs ([`Trw::SUBGRAPHS`] by default); more are chosen where
        /// these do not cover every edge.
        subgraphs: Option<usize> = None => range::at_least_1,
        /// Converged when no moment of a subgraph differs from the average by more than this, in
        /// proportion to the subgraph's share, and no share has a steeper slope. The bound is then
        /// off its optimum by second order in this: at 1e-4, below 5e-7 on ten units all joined
        /// with numbers uniform on ±0.3, below 4e-5 on ±1, and 1e-6 on a grid of 30×30.
        tolerance: f64 = 1e-4 => range::positive,
    }
    common { seed, budget }
}
