//! Variational engines: a tractable family of distributions, and its best member.
//!
//! All of them look for a fixed point by iteration, under the same [`VariationalSettings`], and say whether they reached it.

mod settings;

pub use settings::{Annealing, Schedule, VariationalSettings};
