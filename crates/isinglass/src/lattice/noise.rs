//! Noise: pixels flipped at random, and the coupling that a share of flips means.

use rand::Rng;

use crate::numeric::streams::{Purpose, stream};
use crate::{Error, Result};

/// The stream of the noise: far from those of chains on lattices.
pub(super) const NOISE_STREAM: u64 = 1 << 55;

/// Half the log-odds of a pixel that is flipped with probability p, `½ ln((1−p)/p)`: the coupling D of a [`Lattice`](super::Lattice)
/// with which observations tell as much as such noise leaves them.
///
/// # Errors
/// A share that is not above 0 and below 1.
///
/// ```
/// use isinglass::lattice::log_odds_of_flips;
/// assert!((log_odds_of_flips(0.1)? - 3f64.ln()).abs() < 1e-15);
/// assert_eq!(log_odds_of_flips(0.5)?, 0.0);
/// # Ok::<(), isinglass::Error>(())
/// ```
pub fn log_odds_of_flips(share: f64) -> Result<f64> {
    if share > 0.0 && share < 1.0 {
        return Ok(0.5 * ((1.0 - share) / share).ln());
    }
    Err(Error::invalid("share of flips", format!("found {share}, expected a number above 0 and below 1")))
}

/// A picture with each pixel flipped with a probability, each by a chance of its own.
///
/// # Errors
/// A probability that is not from 0 to 1.
///
/// ```
/// use isinglass::lattice::flip_pixels;
/// let noisy = flip_pixels(&[1; 10_000], 0.1, 3)?;
/// let flipped = noisy.iter().filter(|&&x| x == -1).count();
/// assert!((900..1100).contains(&flipped));
/// # Ok::<(), isinglass::Error>(())
/// ```
pub fn flip_pixels(pixels: &[i8], share: f64, seed: u64) -> Result<Vec<i8>> {
    if !(0.0..=1.0).contains(&share) {
        return Err(Error::invalid(
            "share of flips",
            format!("found {share}, expected a number from 0 to 1"),
        ));
    }
    let mut random = stream(seed, Purpose::Picture, NOISE_STREAM);
    // 2³² is more than any draw: a share of 1 flips all.
    let limit = (share * 4_294_967_296.0) as u64;
    let flip = |&x: &i8| if u64::from(random.next_u32()) < limit { -x } else { x };
    Ok(pixels.iter().map(flip).collect())
}
