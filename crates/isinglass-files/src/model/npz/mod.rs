//! Machines as NumPy arrays in a zip archive: `weights` (n×n), `bias`, `names`, and what else a machine has.
//!
//! | array | shape | holds |
//! |---|---|---|
//! | `weights` | n×n | symmetric, zero diagonal |
//! | `bias` | n | θ |
//! | `names` | n | text; without it, `x0`, `x1`, … |
//! | `roles` | n | text; without it, all units are visible |
//! | `temperature`, `offset` | one number | 1 and 0 without them |
//! | `edges` | k×2 | positions; without it, the edges are the weights that are not zero |

mod read;
mod write;

pub(super) use read::read;
pub(super) use write::write;

/// The arrays that are known.
const ARRAYS: [&str; 7] = ["weights", "bias", "names", "roles", "temperature", "offset", "edges"];
