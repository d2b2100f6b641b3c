//! Numeric ground: random streams, lanes of numbers, stable elementary functions.
//!
//! Called by every engine and learner; calls nothing of the crate.

pub(crate) mod lanes;
pub mod stable;
pub mod streams;
