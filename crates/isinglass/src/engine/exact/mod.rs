//! Engines that are right up to rounding.

mod enumerate;
mod explain;
mod network;
pub(super) mod pinned;

pub use enumerate::Enumerate;
pub use explain::{DecimationStep, UnitOrZero, explain_decimation};
pub(super) use network::{Compiled, Run, Structure, digits};
pub use network::{Decimate, Eliminate};
