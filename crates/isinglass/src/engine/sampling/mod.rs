//! Engines that draw states at random: estimates with standard errors.
//!
//! `kernel` advances sixteen chains side by side, `record` keeps their states in bits, `diagnostics` judges the record,
//! `gibbs` is the engine that has them. `ais` leads chains from independent units to the machine and weighs them: log Z.

mod ais;
mod diagnostics;
mod gibbs;
pub(crate) mod kernel;
mod record;

pub use ais::{Ais, AisSettings};
pub use gibbs::{Gibbs, GibbsSettings};
