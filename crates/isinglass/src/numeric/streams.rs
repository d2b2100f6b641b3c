//! Random streams: one for each purpose and index, never one for each thread.
//!
//! A stream is fixed by the user's seed, what it is for, and the number of the chain, row or
//! restart that uses it. So a seed fixes every result on any number of threads.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// What a stream is used for; streams of different purposes never overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Purpose {
    /// Weights of a made machine.
    Weights = 1,
    /// Biases of a made machine.
    Biases = 2,
    /// A Gibbs chain.
    Chain = 3,
    /// Exact draws.
    Draws = 4,
    /// The start of a fit.
    Start = 5,
    /// Where a variational engine begins.
    VariationalStart = 6,
    /// Noise on pictures, and chains on lattices.
    Picture = 7,
    /// Subgraphs that bound a partition sum.
    Subgraphs = 8,
    /// Where the components of a mixture begin.
    Mixture = 9,
    /// A run of annealed importance sampling.
    AnnealedRun = 10,
    /// Which couplings a variational engine keeps.
    KeptCouplings = 11,
    /// Rows drawn with replacement.
    Resample = 12,
    /// Hidden units and missing cells of a table, drawn anew at every iteration of a fit.
    FreeUnits = 13,
    /// In which order contrastive divergence goes through rows.
    RowOrder = 14,
    /// States that contrastive divergence draws.
    Contrast = 15,
    /// Sets of units that are chosen together in a search for a state.
    Forests = 16,
    /// Where the units of a network are drawn.
    Drawing = 17,
}

/// The stream with a number for a purpose.
///
/// ```
/// use isinglass::numeric::streams::{stream, Purpose};
/// use rand_chacha::rand_core::Rng;
/// let first = |seed, index| stream(seed, Purpose::Chain, index).next_u64();
/// assert_eq!(first(7, 3), first(7, 3));
/// assert_ne!(first(7, 3), first(7, 4));
/// assert_ne!(first(7, 3), first(8, 3));
/// ```
pub fn stream(seed: u64, purpose: Purpose, index: u64) -> ChaCha8Rng {
    debug_assert!(index < 1 << 56);
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream((purpose as u64) << 56 | index);
    random
}
