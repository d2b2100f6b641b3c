//! Engines that are right up to rounding.

mod enumerate;
pub(super) mod pinned;

pub use enumerate::Enumerate;
