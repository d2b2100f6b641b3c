//! Engines that draw states at random: estimates with standard errors.
//!
//! `kernel` advances sixteen chains side by side, `record` keeps their states in bits,
//! `diagnostics` judges the record, `gibbs` is the engine that has them. `row_chains` advances a
//! chain for every row of a batch. `ais` leads chains from independent units to the machine and
//! weighs them: log Z.

mod ais;
mod diagnostics;
mod gibbs;
pub(crate) mod kernel;
mod record;
mod row_chains;

pub use ais::{Ais, AisSettings};
pub use gibbs::{Gibbs, GibbsSettings};
pub(crate) use row_chains::RowChains;
