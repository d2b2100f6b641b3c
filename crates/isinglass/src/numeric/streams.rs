//! Random streams: one for each purpose and index, never one for each thread.
//!
//! A stream is chosen by the user's seed, its purpose, and the number of the chain, row or restart.
//! So a seed fixes every result on any number of threads.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// The purpose of a stream; streams of different purposes never overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Purpose {
    /// Weights of a new machine.
    Weights = 1,
    /// Biases of a new machine.
    Biases = 2,
    /// A Gibbs chain.
    Chain = 3,
    /// Exact draws.
    Draws = 4,
    /// The start of a fit.
    Start = 5,
    /// The start of a variational engine.
    VariationalStart = 6,
    /// Noise on pictures, and chains on lattices.
    Picture = 7,
    /// Subgraphs that bound a partition sum.
    Subgraphs = 8,
    /// The start of the components of a mixture.
    Mixture = 9,
    /// A run of annealed importance sampling.
    AnnealedRun = 10,
    /// Which couplings a variational engine keeps.
    KeptCouplings = 11,
    /// Rows drawn with replacement.
    Resample = 12,
    /// Hidden units and missing cells of a table, at every iteration of a fit.
    FreeUnits = 13,
    /// The order of rows in contrastive divergence.
    RowOrder = 14,
    /// States that contrastive divergence draws.
    Contrast = 15,
    /// Sets of units that are moved together in a search for a state.
    Forests = 16,
    /// The layout of a drawn network.
    Drawing = 17,
    /// A chain of a tempered ladder.
    TemperedChain = 18,
    /// Swaps between the levels of a ladder.
    Swaps = 19,
    /// Clusters of bonds between units that agree with their couplings.
    Bonds = 23,
    /// Which units of a new machine are joined.
    Structure = 24,
    /// A run of annealed importance sampling that returns from the machine to independent units.
    ReturningRun = 25,
    /// Which units of a state are flipped before a search begins anew.
    Restarts = 26,
    /// A chain of simulated annealing.
    Annealing = 31,
    /// Rows that are held out of a fit.
    HeldOut = 32,
    /// Labels that are exchanged among rows.
    Permutation = 50,
    /// Missing cells that are filled by draws.
    Imputation = 51,
    /// Forests of a tempered machine, and draws of their units.
    Trees = 33,
    /// Rows that are kept while others are left out.
    Subset = 36,
    /// Directions in which a further hidden unit is looked for.
    Growth = 40,
    /// Pairs of rows between which further hidden units split a table.
    Splits = 41,
    /// A chain over machines, in one of its sweeps.
    Posterior = 42,
}

/// A seed for work of its own, with a number for a purpose.
pub fn seed_of(seed: u64, purpose: Purpose, index: u64) -> u64 {
    stream(seed, purpose, index).next_u64()
}

/// The stream with a number for a purpose.
///
/// ```
/// use isinglass::numeric::streams::{stream, Purpose};
/// use rand_chacha::rand_core::Rng;
/// let first = |seed, index| stream(seed, Purpose::Chain, index).next_u64();
/// assert_eq!(first(7, 3), first(7, 3));
/// assert!(first(7, 3) != first(7, 4) && first(7, 3) != first(8, 3));
/// ```
pub fn stream(seed: u64, purpose: Purpose, index: u64) -> ChaCha8Rng {
    debug_assert!(index < 1 << 56);
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream((purpose as u64) << 56 | index);
    random
}
