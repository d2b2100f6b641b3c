//! Gibbs sampling on a lattice: one plane after the other, sixteen pixels at a time.

use fearless_simd::{Level, Simd, dispatch, f32x16, prelude::*};
use isinglass::cancel;
use isinglass::numeric::chance::{Generators, WIDTH, spin_and_mean};
use isinglass::numeric::streams::{Purpose, stream};

use super::denoiser::{Denoised, Denoiser};
use super::planes::{PLANES, Planes, Shape, Step};
use super::{Lattice, Method};

/// States, observations, and the sums of the states of the two halves of the kept sweeps.
pub(super) const LAYERS: usize = 4;
const STATES: usize = 0;
const OBSERVED: usize = 1;
const SUMS: [usize; 2] = [2, 3];

/// The least number of kept sweeps: each half needs a variance.
pub(super) const LEAST_SWEEPS: usize = 4;

/// The largest split R̂ of a converged chain (Gelman & Rubin 1992).
const R_HAT_LIMIT: f64 = 1.1;

/// Denoises a picture on a lattice of `D` neighbours. The number of the picture fixes its random
/// streams.
pub(super) fn run<const D: usize>(
    settings: &Denoiser,
    lattice: &Lattice,
    observed: &[i8],
    picture: u64,
) -> Denoised {
    let shape = Shape::new(lattice, WIDTH, LAYERS);
    let mut chain = Chain::<D> {
        level: Level::new(),
        lattice,
        generators: generators(&shape, settings.seed, picture),
        planes: Planes::new(shape),
    };
    chain.planes.fill(OBSERVED, |pixel| f32::from(observed[pixel]));
    // A missing pixel starts at 0; the first sweep draws it.
    chain.planes.fill(STATES, |pixel| f32::from(observed[pixel]));
    for _ in 0..settings.burn_in {
        chain.sweep(None);
    }
    let half = settings.iterations / 2;
    let log_weights: Vec<f64> =
        (0..settings.iterations).map(|sweep| chain.sweep(Some(SUMS[usize::from(sweep >= half)]))).collect();

    let planes = &chain.planes;
    let sum = |layer: usize, plane: usize, place: usize| {
        f64::from(planes.plane(plane)[place + layer * shape.stride])
    };
    let [first, second] = SUMS;
    let counts = [half as f64, (settings.iterations - half) as f64];
    let mean_square = {
        let halves = planes.gather(|plane, place| {
            sum(first, plane, place) / counts[0] - sum(second, plane, place) / counts[1]
        });
        halves.iter().map(|difference| difference * difference).sum::<f64>() / halves.len() as f64
    };
    let kept = settings.iterations as f64;
    Denoised {
        means: planes.gather(|plane, place| (sum(first, plane, place) + sum(second, plane, place)) / kept),
        sweeps: settings.burn_in + settings.iterations,
        converged: split_r_hat(&log_weights) <= R_HAT_LIMIT,
        residual: mean_square.sqrt() / 2.0,
        free_energy: Vec::new(),
        guarantee: Method::Gibbs.guarantee(),
    }
}

/// Creates the random streams by picture, plane and band.
fn generators(shape: &Shape, seed: u64, picture: u64) -> [Vec<Generators>; PLANES] {
    std::array::from_fn(|plane| {
        let index = |band: usize| picture << 24 | (band * PLANES + plane) as u64;
        let of_band = |band| Generators::new(stream(seed, Purpose::Picture, index(band)));
        (0..shape.bands(plane)).map(of_band).collect()
    })
}

/// A chain and its random streams.
struct Chain<'a, const D: usize> {
    level: Level,
    lattice: &'a Lattice,
    planes: Planes<f32>,
    generators: [Vec<Generators>; PLANES],
}

/// The parameters of the update of a plane.
struct Job<const D: usize> {
    /// 2J
    coupling: f32,
    /// 2D
    data: f32,
    steps: [Step; D],
    width: usize,
    /// The layer to which the new states are added.
    keep: Option<usize>,
}

impl<const D: usize> Chain<'_, D> {
    /// Draws every pixel given its neighbours. Returns the log-weight of the new state.
    fn sweep(&mut self, keep: Option<usize>) -> f64 {
        cancel::point();
        let (coupling, data) = (self.lattice.coupling(), self.lattice.data());
        let shape = self.planes.shape;
        // Pairs that agree minus pairs that differ, of neighbours and of pixels with observations.
        let (mut pairs, mut agreement) = (0.0, 0.0);
        for plane in 0..PLANES {
            let job = Job::<D> {
                coupling: 2.0 * coupling as f32,
                data: 2.0 * data as f32,
                steps: shape.steps(plane),
                width: shape.width(plane),
                keep,
            };
            let level = self.level;
            let found = self.planes.update(plane, &mut self.generators[plane], |planes, first, band, random| {
                dispatch!(level, simd => update_band(simd, &job, planes, first, band, random))
            });
            for (in_pairs, in_agreement) in found {
                pairs += in_pairs;
                agreement += in_agreement;
            }
        }
        coupling * pairs + data * agreement
    }
}

/// Draws the pixels of some rows of a plane. Returns the sums of `H_i H_j` over earlier neighbours
/// and of `H_i X_i`.
#[inline(always)]
fn update_band<S: Simd, const D: usize>(
    simd: S,
    job: &Job<D>,
    planes: &Planes<f32>,
    first: usize,
    band: &mut [f32],
    generators: &mut Generators,
) -> (f64, f64) {
    let shape = &planes.shape;
    let zero = f32x16::splat(simd, 0.0);
    let (coupling, data) = (f32x16::splat(simd, job.coupling), f32x16::splat(simd, job.data));
    let earlier = job.steps.map(|step| f32x16::splat(simd, step.earlier as f32));
    let span = job.width.next_multiple_of(WIDTH);
    let mut random = generators.load(simd);
    let (mut pairs, mut agreement) = (0.0, 0.0);
    for (k, row) in band.chunks_exact_mut(shape.row_length()).enumerate() {
        let start = shape.start(first + k) as isize;
        let around: [&[f32]; D] =
            job.steps.map(|step| &planes.plane(step.plane)[(start + step.offset) as usize..][..span]);
        let (states, others) = row.split_at_mut(OBSERVED * shape.stride);
        let (observed, sums) = others.split_at_mut(shape.stride);
        let (states, observed) = (&mut states[WIDTH..][..span], &observed[WIDTH..][..span]);
        let mut sums = job.keep.map(|layer| &mut sums[(layer - SUMS[0]) * shape.stride + WIDTH..][..span]);
        let (mut row_pairs, mut row_agreement) = (zero, zero);
        for at in (0..span).step_by(WIDTH) {
            let seen = f32x16::from_slice(simd, &observed[at..at + WIDTH]);
            let (mut sum, mut sum_of_earlier) = (zero, zero);
            for d in 0..D {
                let state = f32x16::from_slice(simd, &around[d][at..at + WIDTH]);
                sum += state;
                sum_of_earlier = state.mul_add(earlier[d], sum_of_earlier);
            }
            let (spin, _) = spin_and_mean(simd, sum.mul_add(coupling, seen * data), &mut random);
            let state = spin * inside(simd, job.width - at);
            state.store_slice(&mut states[at..at + WIDTH]);
            row_pairs = state.mul_add(sum_of_earlier, row_pairs);
            row_agreement = state.mul_add(seen, row_agreement);
            if let Some(sums) = &mut sums {
                let place = &mut sums[at..at + WIDTH];
                (f32x16::from_slice(simd, place) + state).store_slice(place);
            }
        }
        pairs += f64::from(row_pairs.reduce_sum());
        agreement += f64::from(row_agreement.reduce_sum());
    }
    generators.store(random);
    (pairs, agreement)
}

/// Returns 1 in the lanes of a row's pixels, 0 in those beyond its end.
#[inline(always)]
fn inside<S: Simd>(simd: S, left: usize) -> f32x16<S> {
    /// As many ones as lanes, then zeros.
    const ENDS: [f32; 2 * WIDTH] = {
        let mut ends = [0.0; 2 * WIDTH];
        let mut k = 0;
        while k < WIDTH {
            ends[k] = 1.0;
            k += 1;
        }
        ends
    };
    let start = WIDTH - left.min(WIDTH);
    f32x16::from_slice(simd, &ENDS[start..start + WIDTH])
}

/// Returns the split R̂ of one series: the spread of its two halves together, relative to that of
/// each alone.
fn split_r_hat(series: &[f64]) -> f64 {
    let n = series.len() / 2;
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let halves = [&series[..n], &series[series.len() - n..]];
    let means = halves.map(mean);
    let variance = |part: &[f64], middle: f64| {
        part.iter().map(|x| (x - middle).powi(2)).sum::<f64>() / (part.len() - 1) as f64
    };
    let within = f64::midpoint(variance(halves[0], means[0]), variance(halves[1], means[1]));
    // The variance of two numbers.
    let between = (means[0] - means[1]).powi(2) / 2.0;
    if between == 0.0 {
        return 1.0;
    }
    ((n - 1) as f64 / n as f64 + between / within).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r_hat_separates_drift_from_noise() {
        let noise = |k: i32| f64::from((k * 7919) % 101) / 101.0;
        let still: Vec<f64> = (0..200).map(noise).collect();
        let drifting: Vec<f64> = (0..200).map(|k| noise(k) + 0.02 * f64::from(k)).collect();
        assert!(split_r_hat(&still) < 1.02);
        assert!(split_r_hat(&drifting) > 1.5);
        assert_eq!(split_r_hat(&[3.0; 8]), 1.0);
        assert_eq!(split_r_hat(&[0.0, 0.0, 1.0, 1.0]), f64::INFINITY);
    }
}
