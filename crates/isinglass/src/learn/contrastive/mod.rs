//! Contrastive learning: moments of the rows less moments a few steps away from them, without a
//! partition sum.
//!
//! [`ContrastiveDivergence`] steps by Gibbs sampling, [`MeanFieldCd`] by mean field.

mod data;
mod divergence;
mod kernel;
mod layers;
mod mean_field;
mod mean_field_rows;
mod slots;
mod wires;

pub use divergence::{ContrastiveDivergence, ContrastiveDivergenceSettings, Epochs};
pub use mean_field::{MeanFieldCd, MeanFieldCdSettings};
