//! Sum-product messages on a lattice: one plane after the other, eight pixels at a time.

use fearless_simd::{Level, Simd, dispatch, f64x8, prelude::*};

use isinglass::numeric::lanes::{LANES, exp_nonpositive, ln_1p_of_share};
use isinglass::topology::Neighbours;

use super::denoiser::{Denoised, Denoiser, Tally, iterate};
use super::mean_field::inside;
use super::planes::{PLANES, Planes, Shape, Step, opposite};
use super::{Lattice, Method};

/// A message to each neighbour, and the fields of observations.
pub(super) fn layers(neighbours: Neighbours) -> usize {
    match neighbours {
        Neighbours::Four => 4 + 1,
        Neighbours::Eight => 8 + 1,
    }
}

/// Denoises a picture on a lattice of `D` neighbours.
pub(super) fn run<const D: usize>(settings: &Denoiser, lattice: &Lattice, observed: &[i8]) -> Denoised {
    let level = Level::new();
    let shape = Shape::new(lattice, LANES, D + 1);
    let mut planes = Planes::new(shape);
    planes.fill(D, |pixel| lattice.data() * f64::from(observed[pixel]));
    let ended = iterate(settings, |update| {
        sweep::<D>(level, lattice.coupling(), settings.damping, &mut planes, update)
    });
    let steps: [[Step; D]; PLANES] = std::array::from_fn(|plane| shape.steps(plane));
    let field = |plane: usize, place: usize| {
        let incoming = |d: usize| {
            let Step { plane, offset, .. } = steps[plane][d];
            planes.plane(plane)[(place as isize + offset) as usize + opposite(d) * shape.stride]
        };
        planes.plane(plane)[place + D * shape.stride] + (0..D).map(incoming).sum::<f64>()
    };
    Denoised {
        means: planes.gather(|plane, place| field(plane, place).tanh()),
        sweeps: ended.sweeps,
        converged: ended.residual <= settings.tolerance,
        residual: ended.residual,
        free_energy: Vec::new(),
        guarantee: Method::Bethe.guarantee(),
    }
}

/// The parameters of the update of a plane.
struct Job<const D: usize> {
    coupling: f64,
    /// The share of the new message in an update; 0 changes nothing.
    share: f64,
    steps: [Step; D],
    width: usize,
}

fn sweep<const D: usize>(
    level: Level,
    coupling: f64,
    damping: f64,
    planes: &mut Planes<f64>,
    update: bool,
) -> Tally {
    let mut violation = 0f64;
    let shape = planes.shape;
    let share = if update { 1.0 - damping } else { 0.0 };
    for plane in 0..PLANES {
        let job = Job::<D> { coupling, share, steps: shape.steps(plane), width: shape.width(plane) };
        let found = planes.update(
            plane,
            &mut vec![(); shape.bands(plane)],
            |planes, first, band, ()| dispatch!(level, simd => update_band(simd, &job, planes, first, band)),
        );
        violation = found.into_iter().fold(violation, f64::max);
    }
    Tally { violation, free_energy: 0.0 }
}

/// Updates the messages of some rows of a plane to their neighbours. Returns the largest violation
/// of a message equation before its update.
#[inline(always)]
fn update_band<S: Simd, const D: usize>(
    simd: S,
    job: &Job<D>,
    planes: &Planes<f64>,
    first: usize,
    band: &mut [f64],
) -> f64 {
    let shape = &planes.shape;
    let transfer = Transfer::new(simd, job.coupling);
    let share = f64x8::splat(simd, job.share);
    let span = job.width.next_multiple_of(LANES);
    let mut violation = f64x8::splat(simd, 0.0);
    for (k, row) in band.chunks_exact_mut(shape.row_length()).enumerate() {
        let start = shape.start(first + k) as isize;
        // The message of the neighbour in a direction comes in the opposite one.
        let around: [&[f64]; D] = std::array::from_fn(|d| {
            let from = (start + job.steps[d].offset) as usize + opposite(d) * shape.stride;
            &planes.plane(job.steps[d].plane)[from..][..span]
        });
        let (outgoing, fields) = row.split_at_mut(D * shape.stride);
        let fields = &fields[LANES..][..span];
        for at in (0..span).step_by(LANES) {
            let incoming: [f64x8<S>; D] =
                std::array::from_fn(|d| f64x8::from_slice(simd, &around[d][at..at + LANES]));
            let mut field = f64x8::from_slice(simd, &fields[at..at + LANES]);
            for message in incoming {
                field += message;
            }
            let inside = inside(simd, job.width - at);
            for d in 0..D {
                let place = &mut outgoing[d * shape.stride + LANES + at..][..LANES];
                let old = f64x8::from_slice(simd, place);
                let difference = transfer.message(simd, field - incoming[d]) * inside - old;
                violation = violation.max(difference.abs());
                difference.mul_add(share, old).store_slice(place);
            }
        }
    }
    violation.reduce_max()
}

/// The message of a pixel over a coupling J, given its field h without the receiver's message:
/// `u = ½ [ln cosh(h+J) − ln cosh(h−J)]`.
///
/// With `a = e^(−2|h|)` and `c = e^(−2|J|)`, both at most 1, its size is `min(|h|, |J|) − ½ ln((a +
/// c) / (max(a, c) (1 + a c)))`. The argument of the logarithm is between 1 and 2: nothing
/// overflows, and no large terms cancel. All pixels have the same J, so a message takes one
/// exponential; Bethe of the core, with a J for each edge, takes two.
struct Transfer<S: Simd> {
    /// |J|
    size: f64x8<S>,
    /// e^(−2|J|)
    share: f64x8<S>,
    /// The sign of J, as ±1.
    sign: f64x8<S>,
}

impl<S: Simd> Transfer<S> {
    #[inline(always)]
    fn new(simd: S, coupling: f64) -> Self {
        Self {
            size: f64x8::splat(simd, coupling.abs()),
            share: f64x8::splat(simd, (-2.0 * coupling.abs()).exp()),
            sign: f64x8::splat(simd, coupling.signum()),
        }
    }

    #[inline(always)]
    fn message(&self, simd: S, h: f64x8<S>) -> f64x8<S> {
        let size = h.abs();
        let a = exp_nonpositive(simd, size * f64x8::splat(simd, -2.0));
        let c = self.share;
        let larger = a.max(c);
        let product = larger.mul_add(a * c, larger);
        // (a + c) / product − 1, which is (min − max a c) / product.
        let excess = (a.min(c) - larger * (a * c)) / product;
        let u = size.min(self.size) - f64x8::splat(simd, 0.5) * ln_1p_of_share(simd, excess);
        u.copysign(h) * self.sign
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use isinglass::numeric::stable::log_cosh;

    #[inline(always)]
    fn messages<S: Simd>(simd: S, coupling: f64, h: [f64; LANES]) -> [f64; LANES] {
        Transfer::new(simd, coupling).message(simd, f64x8::load_array(simd, h)).to_array()
    }

    #[test]
    fn messages_are_half_the_difference_of_two_logarithms() {
        let level = Level::new();
        for coupling in [-100.0, -3.0, -0.7, -1e-3, 0.0, 1e-9, 0.4, 1.0, 2.5, 17.0, 100.0] {
            for k in 0..400 {
                let h: [f64; LANES] = std::array::from_fn(|lane| {
                    0.017 * f64::from(k * k) / 10.0 * [1.0, -1.0][lane % 2] + 0.3 * lane as f64
                });
                let found = dispatch!(level, simd => messages(simd, coupling, h));
                for (h, u) in h.into_iter().zip(found) {
                    let exact = 0.5 * (log_cosh(h + coupling) - log_cosh(h - coupling));
                    let rounding = 1e-15 * (1.0 + h.abs() + coupling.abs());
                    assert!((u - exact).abs() <= rounding, "h = {h}, J = {coupling}: {u}, not {exact}");
                }
            }
        }
    }
}
