//! A picture cut into four planes, in each of which no two pixels are neighbours.
//!
//! A plane holds the pixels whose row and column have given parities. Neighbours, four or eight, are in other planes, so all pixels of a plane can be
//! updated at once and the result is that of one after the other. Within a plane pixels stand side by side, and neighbours of
//! adjacent pixels are adjacent too: every step is a run of whole lanes. Pixels beyond the edge are zeros that stay zeros.

use rayon::prelude::*;

use super::Lattice;
use crate::topology::Neighbours;

/// The parities of row and column of each plane, in the order in which planes are updated: the black squares of a checkerboard, then the white.
const PARITIES: [(usize, usize); PLANES] = [(0, 0), (1, 1), (0, 1), (1, 0)];
pub(super) const PLANES: usize = 4;

/// The plane of the pixels whose row and column have given parities.
fn plane_of((row, column): (usize, usize)) -> usize {
    match (row, column) {
        (0, 0) => 0,
        (1, 1) => 1,
        (0, _) => 2,
        _ => 3,
    }
}

/// Steps to neighbours, as rows and columns; each is followed or preceded by its opposite.
const STEPS: [(isize, isize); 8] = [(0, -1), (0, 1), (-1, 0), (1, 0), (-1, -1), (1, 1), (-1, 1), (1, -1)];

/// The number of the opposite step.
pub(super) fn opposite(step: usize) -> usize {
    step ^ 1
}

/// Pixels of a plane that one thread works on at a time: the cut depends on the picture alone.
const BAND_PIXELS: usize = 1 << 14;

/// How planes are laid out in memory.
///
/// The row of a plane holds one run of numbers for each layer (a mean, a field, a message, …), each behind as many zeros as a lane has numbers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    rows: usize,
    columns: usize,
    /// Numbers in a SIMD lane.
    lanes: usize,
    layers: usize,
    /// From one layer of a row to the next.
    pub(super) stride: usize,
}

/// Where a neighbour is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    /// In this plane,
    pub(super) plane: usize,
    /// so far behind the place of the pixel itself,
    pub(super) offset: isize,
    /// and 1 if that plane is updated before, otherwise 0.
    pub(super) earlier: f64,
}

impl Shape {
    pub(super) fn new(lattice: &Lattice, lanes: usize, layers: usize) -> Self {
        let (rows, columns) = (lattice.rows(), lattice.columns());
        Self { rows, columns, lanes, layers, stride: lanes + columns.div_ceil(2).next_multiple_of(lanes) }
    }

    /// The bytes of the planes of a lattice, with numbers of some bytes.
    pub(super) fn bytes(lattice: &Lattice, lanes: usize, layers: usize, bytes: usize) -> u128 {
        let stride = lattice.columns().div_ceil(2) as u128 + 2 * lanes as u128;
        let rows = lattice.rows().div_ceil(2) as u128 + 2;
        stride.saturating_mul(rows).saturating_mul((PLANES * layers * bytes) as u128)
    }

    /// Numbers of all layers of a row.
    pub(super) fn row_length(&self) -> usize {
        self.stride * self.layers
    }

    /// Rows of a plane.
    fn plane_rows(&self, plane: usize) -> usize {
        (self.rows + 1 - PARITIES[plane].0) / 2
    }

    /// Pixels in a row of a plane.
    pub(super) fn width(&self, plane: usize) -> usize {
        (self.columns + 1 - PARITIES[plane].1) / 2
    }

    /// Rows of a band.
    fn band_rows(&self) -> usize {
        BAND_PIXELS.div_ceil(self.stride)
    }

    /// Bands of a plane.
    pub(super) fn bands(&self, plane: usize) -> usize {
        self.plane_rows(plane).div_ceil(self.band_rows())
    }

    /// Where the first pixel of a row of any plane is.
    pub(super) fn start(&self, row: usize) -> usize {
        (row + 1) * self.row_length() + self.lanes
    }

    /// Where the neighbours of a plane's pixels are.
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
    /// Zeros everywhere.
    pub(super) fn new(shape: Shape) -> Self {
        let length = (shape.rows.div_ceil(2) + 2) * shape.row_length() + shape.lanes;
        Self { shape, planes: std::array::from_fn(|_| vec![T::default(); length]) }
    }

    /// All numbers of a plane.
    pub(super) fn plane(&self, plane: usize) -> &[T] {
        &self.planes[plane]
    }

    /// Fill a layer with a number for each pixel of the picture, row by row.
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

    /// Make a number for each pixel of the picture, row by row.
    ///
    /// *Arguments*: what makes the number of a pixel, given its plane and the place of its layer 0.
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

    /// Update one plane: its bands on all cores, each with something of its own. The other planes can be read meanwhile.
    /// What the bands give comes in order.
    ///
    /// *Arguments*: the work on a band: the planes, with the one that is updated empty; the number of the band's first row; its rows.
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

/// The number of neighbours that a pixel inside the picture has.
pub(super) fn degree(neighbours: Neighbours) -> usize {
    match neighbours {
        Neighbours::Four => 4,
        Neighbours::Eight => 8,
    }
}
