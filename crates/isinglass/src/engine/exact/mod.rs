//! Engines that are right up to rounding.

mod enumerate;

pub use enumerate::Enumerate;
