//! Numeric ground: random streams, lanes of numbers, dense matrices, stable elementary functions.
//!
//! Called by every engine and learner; calls nothing of the crate.

pub mod chance;
pub(crate) mod dense;
pub mod lanes;
pub(crate) mod selected_inverse;
pub mod stable;
pub mod streams;
