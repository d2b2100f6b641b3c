//! Engines that sample: estimates with standard errors.
//!
//! `kernel` advances sixteen chains side by side, `record` keeps their states in bits and
//! `diagnostics` judges them for the engine `gibbs`. `row_chains` advances a chain for every row of
//! a batch. `ais` anneals chains from independent units to the machine, for log Z.

mod ais;
mod diagnostics;
mod gibbs;
pub(crate) mod kernel;
mod record;
mod row_chains;

pub use ais::{Ais, AisSettings};
pub use gibbs::{Gibbs, GibbsSettings};
pub(crate) use row_chains::RowChains;

/// For each unit, its place among the free units, or its value if it is clamped (not 0).
fn places(values: impl Iterator<Item = f64>) -> Vec<Result<usize, f64>> {
    let mut free = 0..;
    values.map(|value| if value == 0.0 { free.next().ok_or(value) } else { Err(value) }).collect()
}
