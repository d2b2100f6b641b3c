//! Random streams of experiments and studies: one per purpose and index, disjoint from those of
//! the core.

use rand::{Rng, RngExt};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// What a stream is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Purpose {
    /// Patterns to be learned.
    Patterns = 1,
    /// The seeds of machines.
    Machine = 2,
    /// Cells of a table that are hidden from a fit.
    HiddenCells = 3,
}

/// The core's purposes are small numbers in the highest byte; ours have its highest bit set.
const OURS: u64 = 1 << 63;

/// Returns the stream with an index for a purpose.
pub(crate) fn stream(seed: u64, purpose: Purpose, index: u64) -> ChaCha8Rng {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(OURS | (purpose as u64) << 56 | index);
    random
}

/// Returns a derived seed by its index.
pub(crate) fn seed_of(seed: u64, index: u64) -> u64 {
    stream(seed, Purpose::Machine, index).next_u64()
}

/// Draws −1 or +1, each with probability ½.
pub(crate) fn spin(random: &mut impl Rng) -> i8 {
    if random.random::<bool>() { 1 } else { -1 }
}
