//! Search for most probable states beyond the exact engines.
//!
//! Engines that find the mode implement [`ModeFinder`](crate::engine::ModeFinder) themselves;
//! [`MaxProduct`] does nothing else.

mod max_product;

pub use max_product::{MaxProduct, MaxProductSettings, States};
