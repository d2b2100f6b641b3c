//! Engines that sample: estimates with standard errors.
//!
//! `kernel` advances chains. `temper` runs ladders of them, `gibbs` plain chains whose states `record`
//! keeps and `diagnostics` judges, `ais` anneals them from independent units to the machine, and
//! `row_chains` advances one for every row of a batch. `blocks` gives errors from blocks of samples;
//! `answer` and
//! `by_rows` are what `temper` and `ais` have in common.

mod ais;
mod answer;
mod blocks;
mod by_rows;
mod diagnostics;
mod gibbs;
pub(crate) mod kernel;
mod record;
mod row_chains;
mod temper;

pub use ais::{Ais, AisSettings};
pub(in crate::engine) use by_rows::ByRows;
pub use gibbs::{Gibbs, GibbsSettings};
pub(crate) use row_chains::RowChains;
pub(crate) use temper::{Drawn, Length, Persistent};
pub use temper::{Moves, Temper, TemperSettings, Temperatures};
