//! Engines that draw states at random: estimates with standard errors.
//!
//! `kernel` advances sixteen chains side by side, `record` keeps their states in bits, `diagnostics` judges the record,
//! `gibbs` is the engine.

mod diagnostics;
mod gibbs;
mod kernel;
mod record;

pub use gibbs::{Gibbs, GibbsSettings};
