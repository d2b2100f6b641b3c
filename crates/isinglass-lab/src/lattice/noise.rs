//! Noise that flips pixels, and the coupling that matches it.

use isinglass::numeric::streams::{Purpose, stream};
use isinglass::{Error, Result};
use rand::Rng;

/// The stream of the noise, beyond those of Gibbs chains on lattices.
const NOISE_STREAM: u64 = 1 << 55;

/// Returns half the log-odds of a pixel that is flipped with probability p, `½ ln((1−p)/p)`.
///
/// This is the coupling D of a [`Lattice`](super::Lattice) whose observations carry such noise.
///
/// # Errors
/// A share that is not above 0 and below 1.
///
/// # Example
/// ```
/// use isinglass_lab::lattice::log_odds_of_flips;
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

/// Flips each pixel of a picture independently with a given probability.
///
/// # Errors
/// A probability that is not from 0 to 1.
///
/// # Example
/// ```
/// use isinglass_lab::lattice::flip_pixels;
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
