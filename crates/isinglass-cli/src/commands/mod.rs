//! One file for each command: its options, and what it prints.

pub(crate) mod compare;
pub(crate) mod complete;
pub(crate) mod convert;
pub(crate) mod demo;
pub(crate) mod denoise;
pub(crate) mod fit;
pub(crate) mod infer;
pub(crate) mod info;
pub(crate) mod make;
pub(crate) mod map;
mod measures;
pub(crate) mod network;
pub(crate) mod query;
pub(crate) mod report;
pub(crate) mod reproduce;
pub(crate) mod sample;
pub(crate) mod scan;
pub(crate) mod score;
