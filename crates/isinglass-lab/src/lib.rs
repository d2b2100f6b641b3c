//! Studies and figures: what isinglass shows, rather than what it computes.
//!
//! [`votes`] is the study of the tour `isinglass demo`; `figure` draws. Writing files and printing is the caller's business.

pub mod data;
mod figure;
pub mod sample;
pub mod votes;
