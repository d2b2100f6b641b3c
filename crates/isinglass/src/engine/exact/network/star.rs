//! The decimation rules (Rüger 1997, eqs. 8–13) and their derivatives, for one row or eight.
//!
//! Summing out a unit with weights a, b, c to its neighbours x, y, z leaves
//! `2 cosh(a x + b y + c z)`, which does not change when all three flip. Its logarithm at the four
//! remaining states,
//!
//! ```text
//! A = L(a+b+c)   B = L(a+b−c)   C = L(a−b+c)   D = L(−a+b+c)        L(x) = ln 2 cosh x
//! ```
//!
//! is a constant `(A+B+C+D)/4`, the factor by which Z changes, and three pair weights: `v'_xy =
//! (A+B−C−D)/4`, and so on. With max in place of sum the same holds for `L(x) = |x|`.
//!
//! Backwards, the moments of the neighbours give the probability of each of the four states, and
//! the mean of the unit in a state is `tanh`.

use fearless_simd::{Simd, f64x8, prelude::*};

use crate::numeric::lanes::{LANES, ln_two_cosh, tanh};

/// How the two values of a unit are joined.
pub(super) trait Rule {
    /// The logarithm of `e^x` and `e^(−x)` joined.
    fn join<S: Simd>(simd: S, x: f64x8<S>) -> f64x8<S>;
}

/// Their sum: partition sums.
pub(super) struct Sum;

impl Rule for Sum {
    #[inline(always)]
    fn join<S: Simd>(simd: S, x: f64x8<S>) -> f64x8<S> {
        ln_two_cosh(simd, x)
    }
}

/// Their maximum: most probable states.
pub(super) struct Max;

impl Rule for Max {
    #[inline(always)]
    fn join<S: Simd>(_simd: S, x: f64x8<S>) -> f64x8<S> {
        x.abs()
    }
}

/// A number for each row that is evaluated at once.
pub(super) trait Rows: Copy + Send + Sync + AsRef<[f64]> + AsMut<[f64]> + 'static {
    /// The number of rows.
    const ROWS: usize;

    /// The same number in every row.
    fn all(x: f64) -> Self;

    /// The constant and the corrections of the weights 1–2, 1–3, 2–3 for some number of neighbours.
    fn decimate<S: Simd, R: Rule>(simd: S, count: u8, weights: [Self; 3]) -> (Self, [Self; 3]);

    /// The moments of the unit with each neighbour, given the moments 1–2, 1–3, 2–3.
    fn moments<S: Simd>(simd: S, count: u8, weights: [Self; 3], among: [Self; 3]) -> [Self; 3];

    /// The numbers as a vector; one row in all lanes.
    fn vector<S: Simd>(self, simd: S) -> f64x8<S>;

    /// The sum over a vector of successive entries, within each row.
    fn gathered(lanes: Eight) -> Self;

    #[inline(always)]
    fn add(&mut self, other: Self) {
        for (a, b) in self.as_mut().iter_mut().zip(other.as_ref()) {
            *a += b;
        }
    }
}

/// Eight rows: a lane each.
pub(super) type Eight = [f64; LANES];

impl Rows for Eight {
    const ROWS: usize = LANES;

    fn all(x: f64) -> Self {
        [x; LANES]
    }

    #[inline(always)]
    fn vector<S: Simd>(self, simd: S) -> f64x8<S> {
        f64x8::load_array(simd, self)
    }

    #[inline(always)]
    fn gathered(lanes: Eight) -> Self {
        lanes
    }

    #[inline(always)]
    fn decimate<S: Simd, R: Rule>(simd: S, count: u8, weights: [Self; 3]) -> (Self, [Self; 3]) {
        let zero = f64x8::splat(simd, 0.0);
        let [a, b, c] = weights.map(|w| f64x8::load_array(simd, w));
        let (constant, corrections) = match count {
            0 => (R::join(simd, zero), [zero; 3]),
            1 => (R::join(simd, a), [zero; 3]),
            2 => {
                let half = f64x8::splat(simd, 0.5);
                let (same, other) = (R::join(simd, a + b), R::join(simd, a - b));
                ((same + other) * half, [(same - other) * half, zero, zero])
            }
            _ => {
                let quarter = f64x8::splat(simd, 0.25);
                let all = R::join(simd, a + b + c);
                let third = R::join(simd, a + b - c);
                let second = R::join(simd, a - b + c);
                let first = R::join(simd, b - a + c);
                (
                    ((all + third) + (second + first)) * quarter,
                    [
                        ((all - second) + (third - first)) * quarter,
                        ((all - third) + (second - first)) * quarter,
                        ((all - third) + (first - second)) * quarter,
                    ],
                )
            }
        };
        (constant.to_array(), corrections.map(f64x8::to_array))
    }

    #[inline(always)]
    fn moments<S: Simd>(simd: S, count: u8, weights: [Self; 3], among: [Self; 3]) -> [Self; 3] {
        let zero = f64x8::splat(simd, 0.0);
        let one = f64x8::splat(simd, 1.0);
        let [a, b, c] = weights.map(|w| f64x8::load_array(simd, w));
        let [xy, xz, yz] = among.map(|m| f64x8::load_array(simd, m));
        match count {
            0 => [zero; 3],
            1 => [tanh(simd, a), zero, zero],
            2 => {
                let half = f64x8::splat(simd, 0.5);
                let same = (one + xy).max(zero) * half * tanh(simd, a + b);
                let other = (one - xy).max(zero) * half * tanh(simd, a - b);
                [same + other, same - other, zero]
            }
            _ => {
                let quarter = f64x8::splat(simd, 0.25);
                let all = (one + xy + xz + yz).max(zero) * quarter * tanh(simd, a + b + c);
                let third = (one + xy - xz - yz).max(zero) * quarter * tanh(simd, a + b - c);
                let second = (one - xy + xz - yz).max(zero) * quarter * tanh(simd, a - b + c);
                let first = (one - xy - xz + yz).max(zero) * quarter * tanh(simd, b - a + c);
                [all + third + second - first, all + third - second + first, all - third + second + first]
            }
        }
        .map(f64x8::to_array)
    }
}

/// A single row: the four states of the neighbours are the lanes.
pub(super) type One = [f64; 1];

/// The fields on the unit in the states (+,+,+), (+,+,−), (+,−,+), (−,+,+) of its neighbours;
/// missing neighbours have weight 0.
#[inline(always)]
fn fields(weights: [One; 3]) -> Eight {
    let [[a], [b], [c]] = weights;
    [a + b + c, a + b - c, a - b + c, b - a + c, 0.0, 0.0, 0.0, 0.0]
}

impl Rows for One {
    const ROWS: usize = 1;

    fn all(x: f64) -> Self {
        [x]
    }

    #[inline(always)]
    fn vector<S: Simd>(self, simd: S) -> f64x8<S> {
        f64x8::splat(simd, self[0])
    }

    #[inline(always)]
    fn gathered(lanes: Eight) -> Self {
        [lanes.iter().sum()]
    }

    #[inline(always)]
    fn decimate<S: Simd, R: Rule>(simd: S, _count: u8, weights: [Self; 3]) -> (Self, [Self; 3]) {
        let joined = R::join(simd, f64x8::load_array(simd, fields(weights)));
        let [all, third, second, first, ..] = joined.to_array();
        (
            [0.25 * ((all + third) + (second + first))],
            [
                [0.25 * ((all - second) + (third - first))],
                [0.25 * ((all - third) + (second - first))],
                [0.25 * ((all - third) + (first - second))],
            ],
        )
    }

    #[inline(always)]
    fn moments<S: Simd>(simd: S, _count: u8, weights: [Self; 3], among: [Self; 3]) -> [Self; 3] {
        let [[xy], [xz], [yz]] = among;
        let means = tanh(simd, f64x8::load_array(simd, fields(weights)));
        let [all, third, second, first, ..] = means.to_array();
        let all = 0.25 * (1.0 + xy + xz + yz).max(0.0) * all;
        let third = 0.25 * (1.0 + xy - xz - yz).max(0.0) * third;
        let second = 0.25 * (1.0 - xy + xz - yz).max(0.0) * second;
        let first = 0.25 * (1.0 - xy - xz + yz).max(0.0) * first;
        [[all + third + second - first], [all + third - second + first], [all - third + second + first]]
    }
}
