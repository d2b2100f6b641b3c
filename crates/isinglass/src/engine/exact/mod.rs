//! Engines that are right up to rounding.

mod enumerate;
mod fields;
mod network;
mod parts;
pub(super) mod pinned;

pub use enumerate::Enumerate;
pub use network::{Decimate, Eliminate};
