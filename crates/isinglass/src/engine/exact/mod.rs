//! Engines that are right up to rounding.

mod enumerate;
mod explain;
mod fields;
mod network;
mod parts;
pub(super) mod pinned;

pub use enumerate::Enumerate;
pub use explain::{DecimationStep, UnitOrZero, explain_decimation};
pub use network::{Decimate, Eliminate};
