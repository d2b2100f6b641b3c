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

pub use divergence::{ContrastiveDivergence, Epochs};
pub use mean_field::MeanFieldCd;

use crate::{Error, Result};

/// Checks for a rate above 0 and a momentum in [0, 1).
fn check_rate(rate: f64, momentum: f64) -> Result<()> {
    if !(rate.is_finite() && rate > 0.0) {
        return Err(Error::invalid("rate", format!("found {rate}, expected a finite number above 0")));
    }
    check_share("momentum", momentum)
}

/// Checks for a number in [0, 1).
fn check_share(place: &str, share: f64) -> Result<()> {
    if !(0.0..1.0).contains(&share) {
        let problem = format!("found {share}, expected a number of at least 0 and below 1");
        return Err(Error::invalid(place, problem));
    }
    Ok(())
}
