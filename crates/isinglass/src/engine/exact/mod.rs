//! Exact engines: right up to rounding.

mod enumerate;
mod explain;
mod network;
pub(crate) mod pinned;
mod speed;

pub use enumerate::Enumerate;
pub use explain::{DecimationStep, UnitOrZero, explain_decimation};
pub(crate) use network::digits;
pub(super) use network::{Compiled, Run, Structure};
pub use network::{Decimate, Eliminate};

use crate::settings::settings;

settings! {
    /// Settings of [`Enumerate`], [`Decimate`] and [`Eliminate`].
    pub struct ExactSettings for Enumerate {}
    common { budget }
}
