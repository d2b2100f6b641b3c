//! A picture cut into four planes, in each of which no two pixels are neighbours.
//!
//! A plane holds the pixels whose row and column have given parities. Neighbours, four or eight,
//! are in other planes. So all pixels of a plane can be updated at once, with the same result as
//! one after the other. Within a plane, neighbours of adjacent pixels are adjacent too: every step
//! is a run of whole lanes. Pixels beyond the edge are zeros that stay zeros.

use rayon::prelude::*;

use super::Lattice;

/// The parities of row and column of each plane, in the order of updates: the black squares of a
/// checkerboard, then the white.
const PARITIES: [(usize, usize); PLANES] = [(0, 0), (1, 1), (0, 1), (1, 0)];
pub(super) const PLANES: usize = 4;

/// Returns the plane of the pixels whose row and column have given parities.
fn plane_of((row, column): (usize, usize)) -> usize {
    match (row, column) {
        (0, 0) => 0,
        (1, 1) => 1,
        (0, _) => 2,
        _ => 3,
    }
}

/// Steps to neighbours, as rows and columns. Opposite steps are next to each other.
const STEPS: [(isize, isize); 8] = [(0, -1), (0, 1), (-1, 0), (1, 0), (-1, -1), (1, 1), (-1, 1), (1, -1)];

/// Returns the number of the opposite step.
pub(super) fn opposite(step: usize) -> usize {
    step ^ 1
}

/// Pixels of a plane in one task. The cut depends on the picture, not on the number of threads.
const BAND_PIXELS: usize = 1 << 14;

/// The layout of planes in memory.
///
/// The row of a plane holds one run of numbers for each layer (means, fields, messages, …). As many
/// zeros as a vector has lanes precede each run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    rows: usize,
    columns: usize,
    /// Numbers in a SIMD vector.
    lanes: usize,
    layers: usize,
    /// The distance from one layer of a row to the next.
    pub(super) stride: usize,
}

/// The place of a neighbour relative to a pixel.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    /// The plane of the neighbour.
    pub(super) plane: usize,
    /// Its place there, minus the place of the pixel in its own plane.
    pub(super) offset: isize,
    /// 1 if its plane is updated before that of the pixel, otherwise 0.
    pub(super) earlier: f64,
}

impl Shape {
    pub(super) fn new(lattice: &Lattice, lanes: usize, layers: usize) -> Self {
        let (rows, columns) = (lattice.rows(), lattice.columns());
        Self { rows, columns, lanes, layers, stride: lanes + columns.div_ceil(2).next_multiple_of(lanes) }
    }

    /// Returns the bytes of the planes of a lattice, with numbers of `bytes` bytes each.
    pub(super) fn bytes(lattice: &Lattice, lanes: usize, layers: usize, bytes: usize) -> u128 {
        let stride = lattice.columns().div_ceil(2) as u128 + 2 * lanes as u128;
        let rows = lattice.rows().div_ceil(2) as u128 + 2;
        stride.saturating_mul(rows).saturating_mul((PLANES * layers * bytes) as u128)
    }

    /// The number of numbers in a row, all layers included.
    pub(super) fn row_length(&self) -> usize {
        self.stride * self.layers
    }

    /// The number of rows of a plane.
    fn plane_rows(&self, plane: usize) -> usize {
        (self.rows + 1 - PARITIES[plane].0) / 2
    }

    /// The number of pixels in a row of a plane.
    pub(super) fn width(&self, plane: usize) -> usize {
        (self.columns + 1 - PARITIES[plane].1) / 2
    }

    /// The number of rows of a band.
    fn band_rows(&self) -> usize {
        BAND_PIXELS.div_ceil(self.stride)
    }

    /// The number of bands of a plane.
    pub(super) fn bands(&self, plane: usize) -> usize {
        self.plane_rows(plane).div_ceil(self.band_rows())
    }

    /// Returns the place of the first pixel of a row, the same in each plane.
    pub(super) fn start(&self, row: usize) -> usize {
        (row + 1) * self.row_length() + self.lanes
    }

    /// Returns the places of the neighbours of a plane's pixels.
    pub(super) fn steps<const D: usize>(&self, plane: usize) -> [Step; D] {
        let (row, column) = PARITIES[plane];
        std::array::from_fn(|step| {
            let (down, right) = STEPS[step];
            let (to_row, to_column) = (row as isize + down, column as isize + right);
            let parities = (to_row.rem_euclid(2) as usize, to_column.rem_euclid(2) as usize);
            let to = plane_of(parities);
            Step {
                plane: to,
                offset: to_row.div_euclid(2) * self.row_length() as isize + to_column.div_euclid(2),
                earlier: f64::from(u8::from(to < plane)),
            }
        })
    }
}

/// The planes of a picture.
pub(super) struct Planes<T> {
    pub(super) shape: Shape,
    planes: [Vec<T>; PLANES],
}

impl<T: Copy + Default + Send + Sync> Planes<T> {
    /// Creates planes of zeros.
    pub(super) fn new(shape: Shape) -> Self {
        let length = (shape.rows.div_ceil(2) + 2) * shape.row_length() + shape.lanes;
        Self { shape, planes: std::array::from_fn(|_| vec![T::default(); length]) }
    }

    /// All numbers of a plane.
    pub(super) fn plane(&self, plane: usize) -> &[T] {
        &self.planes[plane]
    }

    /// Fills a layer with a number for each pixel of the picture, row by row.
    pub(super) fn fill(&mut self, layer: usize, number: impl Fn(usize) -> T) {
        let shape = self.shape;
        for (plane, numbers) in self.planes.iter_mut().enumerate() {
            let (row_parity, column_parity) = PARITIES[plane];
            for row in 0..shape.plane_rows(plane) {
                let first = (2 * row + row_parity) * shape.columns + column_parity;
                let run = &mut numbers[shape.start(row) + layer * shape.stride..][..shape.width(plane)];
                for (k, x) in run.iter_mut().enumerate() {
                    *x = number(first + 2 * k);
                }
            }
        }
    }

    /// Computes a number for each pixel of the picture, row by row.
    ///
    /// *Arguments*: `number` returns the number of a pixel, given its plane and its place in layer
    /// 0.
    pub(super) fn gather(&self, number: impl Fn(usize, usize) -> f64 + Sync) -> Vec<f64> {
        let shape = &self.shape;
        let mut picture = vec![0.0; shape.rows * shape.columns];
        picture.par_chunks_mut(shape.columns).enumerate().with_min_len(64).for_each(|(row, out)| {
            for column_parity in 0..2 {
                let plane = plane_of((row % 2, column_parity));
                let start = shape.start(row / 2);
                for (k, x) in out[column_parity.min(shape.columns)..].iter_mut().step_by(2).enumerate() {
                    *x = number(plane, start + k);
                }
            }
        });
        picture
    }

    /// Updates the bands of one plane in parallel, while the other planes can be read. Returns the
    /// results of the bands in order.
    ///
    /// *Arguments*: `extras` holds the state of each band. `work` updates a band. It is given the
    /// planes, with the updated one empty, the number of the band's first row, its rows, and its
    /// state.
    pub(super) fn update<E: Send, R: Send>(
        &mut self,
        plane: usize,
        extras: &mut [E],
        work: impl Fn(&Self, usize, &mut [T], &mut E) -> R + Sync,
    ) -> Vec<R> {
        let shape = self.shape;
        let mut own = std::mem::take(&mut self.planes[plane]);
        let (length, at_once) = (shape.row_length(), shape.band_rows());
        let rows = &mut own[length..][..shape.plane_rows(plane) * length];
        let this = &*self;
        let results = if extras.len() == 1 {
            rows.chunks_mut(at_once * length)
                .zip(extras)
                .map(|(band, extra)| work(this, 0, band, extra))
                .collect()
        } else {
            rows.par_chunks_mut(at_once * length)
                .zip(extras)
                .enumerate()
                .map(|(k, (band, extra))| work(this, k * at_once, band, extra))
                .collect()
        };
        self.planes[plane] = own;
        results
    }
}
