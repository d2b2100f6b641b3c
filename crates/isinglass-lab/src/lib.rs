//! Studies and figures: what isinglass shows, rather than what it computes.
//!
//! [`votes`] and [`digits`] are the studies of the tour `isinglass demo`; [`reproduce`] holds the experiments of the sources; [`report`] makes the page about a machine;
//! [`lattice`] denoises pictures; `figure` draws. Writing files and printing is the caller's business.

mod accuracy;
pub mod data;
pub mod digits;
mod figure;
mod filling;
pub mod lattice;
pub mod report;
pub mod reproduce;
pub mod sample;
mod statistics;
pub mod votes;

pub use accuracy::Accuracy;
#[cfg(feature = "png")]
pub use figure::to_png;
