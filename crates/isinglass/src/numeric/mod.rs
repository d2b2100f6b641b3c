//! Random streams, SIMD lanes, dense and sparse matrices, stable elementary functions.

pub(crate) mod bits;
pub mod chance;
pub(crate) mod dense;
pub mod lanes;
pub(crate) mod selected_inverse;
pub mod stable;
pub mod streams;
