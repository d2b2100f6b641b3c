//! Mean field on a lattice: one plane after the other, eight pixels at a time.

use fearless_simd::{Level, Simd, dispatch, f64x8, prelude::*};
use isinglass::numeric::lanes::{LANES, tanh_and_ln_two_cosh};

use super::denoiser::{Denoised, Denoiser, Tally, iterate};
use super::planes::{PLANES, Planes, Shape, Step};
use super::{Lattice, Method};

/// Means, and fields of observations.
pub(super) const LAYERS: usize = 2;
const MEANS: usize = 0;
const FIELDS: usize = 1;

/// Denoises a picture on a lattice of `D` neighbours.
pub(super) fn run<const D: usize>(settings: &Denoiser, lattice: &Lattice, observed: &[i8]) -> Denoised {
    let level = Level::new();
    let mut planes = Planes::new(Shape::new(lattice, LANES, LAYERS));
    // Three values occur: their means are computed once.
    let uncoupled = [-1.0, 0.0, 1.0].map(|x| (lattice.data() * x).tanh());
    planes.fill(MEANS, |pixel| uncoupled[(observed[pixel] + 1) as usize]);
    planes.fill(FIELDS, |pixel| lattice.data() * f64::from(observed[pixel]));
    let ended = iterate(settings, |update| sweep::<D>(level, lattice.coupling(), &mut planes, update));
    Denoised {
        means: planes.gather(|plane, place| planes.plane(plane)[place]),
        sweeps: ended.sweeps,
        converged: ended.residual <= settings.tolerance,
        residual: ended.residual,
        free_energy: ended.free_energy,
        guarantee: Method::MeanField.guarantee(),
    }
}

/// The parameters of the update of a plane.
struct Job<const D: usize> {
    coupling: f64,
    steps: [Step; D],
    width: usize,
    /// Whether new means are stored.
    update: bool,
}

fn sweep<const D: usize>(level: Level, coupling: f64, planes: &mut Planes<f64>, update: bool) -> Tally {
    let mut tally = Tally { violation: 0.0, free_energy: 0.0 };
    let shape = planes.shape;
    for plane in 0..PLANES {
        let job = Job::<D> { coupling, steps: shape.steps(plane), width: shape.width(plane), update };
        let found = planes.update(
            plane,
            &mut vec![(); shape.bands(plane)],
            |planes, first, band, ()| dispatch!(level, simd => update_band(simd, &job, planes, first, band)),
        );
        for part in found {
            tally.violation = tally.violation.max(part.violation);
            tally.free_energy += part.free_energy;
        }
    }
    tally
}

/// Updates the means of some rows of a plane.
///
/// The free energy is summed in the same pass. With `m = tanh h` the entropy of a pixel is `ln
/// 2cosh h − h m`. A coupling is counted at the later of its two pixels, since from then on both
/// have the values at the end of the sweep.
#[inline(always)]
fn update_band<S: Simd, const D: usize>(
    simd: S,
    job: &Job<D>,
    planes: &Planes<f64>,
    first: usize,
    band: &mut [f64],
) -> Tally {
    let shape = &planes.shape;
    let coupling = f64x8::splat(simd, job.coupling);
    let earlier = job.steps.map(|step| f64x8::splat(simd, step.earlier));
    let span = job.width.next_multiple_of(LANES);
    let mut violation = f64x8::splat(simd, 0.0);
    let mut free_energy = 0.0;
    for (k, row) in band.chunks_exact_mut(shape.row_length()).enumerate() {
        let start = shape.start(first + k) as isize;
        let around: [&[f64]; D] =
            job.steps.map(|step| &planes.plane(step.plane)[(start + step.offset) as usize..][..span]);
        let (means, fields) = row.split_at_mut(shape.stride);
        let (means, fields) = (&mut means[LANES..][..span], &fields[LANES..][..span]);
        let mut row_energy = f64x8::splat(simd, 0.0);
        for at in (0..span).step_by(LANES) {
            let field = f64x8::from_slice(simd, &fields[at..at + LANES]);
            let mut sum = f64x8::splat(simd, 0.0);
            let mut sum_of_earlier = f64x8::splat(simd, 0.0);
            for d in 0..D {
                let mean = f64x8::from_slice(simd, &around[d][at..at + LANES]);
                sum += mean;
                sum_of_earlier = mean.mul_add(earlier[d], sum_of_earlier);
            }
            let h = sum.mul_add(coupling, field);
            let (tanh, ln_two_cosh) = tanh_and_ln_two_cosh(simd, h);
            let inside = inside(simd, job.width - at);
            let mean = tanh * inside;
            let entropy = ln_two_cosh - h * mean;
            let energy = mean * sum_of_earlier.mul_add(coupling, field);
            row_energy -= (energy + entropy) * inside;
            let old = f64x8::from_slice(simd, &means[at..at + LANES]);
            violation = violation.max((mean - old).abs());
            if job.update {
                mean.store_slice(&mut means[at..at + LANES]);
            }
        }
        free_energy += row_energy.reduce_sum();
    }
    Tally { violation: violation.reduce_max(), free_energy }
}

/// Returns 1 in the lanes of a row's pixels, 0 in those beyond its end.
#[inline(always)]
pub(super) fn inside<S: Simd>(simd: S, left: usize) -> f64x8<S> {
    /// As many ones as lanes, then zeros.
    const ENDS: [f64; 2 * LANES] = {
        let mut ends = [0.0; 2 * LANES];
        let mut k = 0;
        while k < LANES {
            ends[k] = 1.0;
            k += 1;
        }
        ends
    };
    let start = LANES - left.min(LANES);
    f64x8::from_slice(simd, &ENDS[start..start + LANES])
}
