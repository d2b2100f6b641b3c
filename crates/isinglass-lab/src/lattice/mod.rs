//! Denoising of black-and-white pictures by inference on lattices.
//!
//! Hidden pixels are coupled with their neighbours and with their observations. A [`Lattice`] is
//! the model. A [`Denoiser`] infers the hidden pixels of one picture or of many. It assumes one
//! coupling for all neighbours, so that pictures of millions of pixels take seconds; it shares the
//! SIMD kernels of the core (`isinglass::numeric`). [`Lattice::mean_field_in_order`] runs the
//! textbook update pixel by pixel in a given order.
//!
//! ```
//! use isinglass_lab::lattice::{Denoiser, Lattice, flip_pixels};
//! // A white square on black; one pixel in ten is flipped.
//! let lattice = Lattice::new(20, 20, 0.8, 1.1)?;
//! let square = |k: usize| (5..15).contains(&(k / 20)) && (5..15).contains(&(k % 20));
//! let clean: Vec<i8> = (0..400).map(|k| if square(k) { 1 } else { -1 }).collect();
//! let noisy = flip_pixels(&clean, 0.1, 7)?;
//! let answer = Denoiser::default().denoise(&lattice, &noisy)?;
//! let wrong = |picture: &[i8]| picture.iter().zip(&clean).filter(|(a, b)| a != b).count();
//! assert!(answer.converged && 5 * wrong(&answer.decisions()) < wrong(&noisy));
//! # Ok::<(), isinglass::Error>(())
//! ```

mod bethe;
mod denoiser;
mod gibbs;
mod mean_field;
mod noise;
mod ordered;
mod planes;

pub use denoiser::{Denoised, Denoiser, Method};
pub use noise::{flip_pixels, log_odds_of_flips};
pub use ordered::{FreeEnergy, OrderedSweep};

use isinglass::topology::Neighbours;
use isinglass::{Budget, Error, Graph, Machine, Result};

/// The largest absolute coupling. Beyond it, a pixel is certain at any precision.
const STRONGEST: f64 = 100.0;

/// A lattice of hidden pixels H and observed pixels X, all −1 or +1:
///
/// ```text
/// log P(H, X) = J Σ_{neighbours i,j} H_i H_j + D Σ_i H_i X_i − log Z
/// ```
///
/// J is the coupling of each pair of neighbours, counted once. D is the coupling of a hidden pixel
/// with its observation. An observation of 0 is missing, and its term is left out. If a share p of
/// the pixels is flipped by noise, D is half the log-odds, `½ ln((1−p)/p)`: see
/// [`log_odds_of_flips`].
///
/// # Example
/// ```
/// use isinglass::{Engine, Enumerate, Evidence, Pairs};
/// use isinglass_lab::lattice::Lattice;
/// // A small lattice is a machine like any other; observations are biases.
/// let lattice = Lattice::new(2, 3, 0.5, 1.0)?;
/// let machine = lattice.machine(&[1, 1, -1, 1, 0, 1])?;
/// let answer = Enumerate::default().expectations(&machine, &Evidence::none(6), Pairs::None)?;
/// assert!(answer.means[4] > 0.0, "the missing pixel follows its neighbours");
/// # Ok::<(), isinglass::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lattice {
    rows: usize,
    columns: usize,
    coupling: f64,
    data: f64,
    neighbours: Neighbours,
}

impl Lattice {
    /// Creates a lattice in which each pixel has four neighbours.
    ///
    /// # Errors
    /// No rows or columns; a coupling that is not finite, or above 100 in size.
    pub fn new(rows: usize, columns: usize, coupling: f64, data: f64) -> Result<Self> {
        for (place, size) in [("rows", rows), ("columns", columns)] {
            if size == 0 {
                return Err(Error::invalid(place, "found 0, expected at least 1"));
            }
        }
        for (place, number) in [("coupling", coupling), ("data", data)] {
            // Not a number fails every comparison.
            if !(-STRONGEST..=STRONGEST).contains(&number) {
                let problem = format!("found {number}, expected a number from -{STRONGEST} to {STRONGEST}");
                return Err(Error::invalid(place, problem));
            }
        }
        Ok(Self { rows, columns, coupling, data, neighbours: Neighbours::Four })
    }

    /// Chooses four or eight neighbours for each pixel.
    #[must_use]
    pub fn with_neighbours(self, neighbours: Neighbours) -> Self {
        Self { neighbours, ..self }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// J, the coupling of neighbours.
    pub fn coupling(&self) -> f64 {
        self.coupling
    }

    /// D, the coupling of a pixel with its observation.
    pub fn data(&self) -> f64 {
        self.data
    }

    /// Which pixels are neighbours.
    pub fn neighbours(&self) -> Neighbours {
        self.neighbours
    }

    /// The number of pixels; `usize::MAX` if it is larger.
    pub fn pixels(&self) -> usize {
        self.rows.saturating_mul(self.columns)
    }

    /// Returns the machine of the hidden pixels, row by row, with the observations as biases: for
    /// small lattices, and any engine.
    ///
    /// # Errors
    /// Observations that are not −1, 0 or +1, or not one for each pixel; more memory than the
    /// default budget.
    pub fn machine(&self, observed: &[i8]) -> Result<Machine> {
        self.check_observed(observed)?;
        let edges = 4 * observed.len() as u128;
        Budget::default().check("lattice", Machine::bytes(observed.len() as u128, edges), || {
            format!("a machine of {} units", observed.len())
        })?;
        let graph = Graph::grid(self.rows, self.columns, self.neighbours);
        let weights = vec![self.coupling; graph.edges().len()];
        let biases = observed.iter().map(|&x| self.data * f64::from(x)).collect();
        Machine::from_graph(graph).with_parameters(weights, biases)
    }

    /// Checks that there is an observation for each pixel, −1, 0 or +1.
    fn check_observed(&self, observed: &[i8]) -> Result<()> {
        Error::check_length("observed pixels", observed.len(), self.pixels())?;
        match observed.iter().position(|x| !(-1..=1).contains(x)) {
            None => Ok(()),
            Some(k) => {
                Err(Error::invalid(self.place(k), format!("found {}, expected -1, 0 or +1", observed[k])))
            }
        }
    }

    /// Describes a pixel in error messages.
    fn place(&self, pixel: usize) -> String {
        format!("pixel in row {}, column {}", pixel / self.columns, pixel % self.columns)
    }
}
