//! Studies, experiments, figures and reports.
//!
//! [`votes`] and [`digits`] are the studies of `isinglass demo`; [`reproduce`] holds the
//! experiments of the sources; [`report`] builds the HTML page about a machine; [`lattice`]
//! denoises pictures; [`network`] draws networks alone; [`scan`] is the figure of thermodynamics over temperature; `figure` draws. Writing files and printing are left to the caller.

mod accuracy;
pub mod compare;
pub mod data;
pub mod digits;
mod figure;
mod filling;
pub mod lattice;
pub mod network;
mod progress;
pub mod report;
pub mod reproduce;
pub mod sample;
pub mod scan;
mod statistics;
mod streams;
pub mod votes;

pub use accuracy::Accuracy;
#[cfg(feature = "png")]
pub use figure::to_png;
pub use progress::{NoProgress, Progress};
