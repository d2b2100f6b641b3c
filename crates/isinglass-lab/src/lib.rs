//! Studies and figures: what isinglass shows, rather than what it computes.
//!
//! [`votes`] is the study of the tour `isinglass demo`; [`reproduce`] holds the experiments of the sources; [`report`] makes the page about a machine;
//! `figure` draws. Writing files and printing is the caller's business.

pub mod data;
mod figure;
pub mod report;
pub mod reproduce;
pub mod sample;
mod statistics;
pub mod votes;

#[cfg(feature = "png")]
pub use figure::to_png;
