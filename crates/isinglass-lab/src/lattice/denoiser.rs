//! The settings of inference on lattices, and its answer.

use std::fmt;
use std::str::FromStr;

use isinglass::numeric::{chance, lanes};
use isinglass::topology::Neighbours;
use isinglass::{Budget, Error, Guarantee, Result, cancel};
use rayon::prelude::*;

use super::planes::Shape;
use super::{Lattice, bethe, gibbs, mean_field};

/// The method that infers the hidden pixels.
///
/// ```
/// use isinglass_lab::lattice::Method;
/// assert_eq!("bethe".parse::<Method>()?, Method::Bethe);
/// assert_eq!(Method::MeanField.to_string(), "mean-field");
/// # Ok::<(), isinglass::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Method {
    /// The product of independent pixels closest to the posterior, `m_i = tanh(J Σ m_j + D X_i)`.
    /// Pixels are updated one after the other, first the black squares of a checkerboard, then the
    /// white (with eight neighbours: four colours). A lower bound on log Z. Overconfident at strong
    /// couplings.
    #[default]
    MeanField,
    /// Belief propagation with messages `u = ½ [ln cosh(h+J) − ln cosh(h−J)]`, where h is the field
    /// of the sender without the receiver's message. Exact on a single row; on a lattice the Bethe
    /// approximation (Yedidia, Freeman & Weiss 2005). Four times the work of mean field.
    Bethe,
    /// Gibbs sampling that starts at the observed picture. Asymptotically exact; the standard error
    /// falls with the square root of the kept sweeps.
    Gibbs,
}

impl Method {
    /// All methods, in the order of the documentation.
    pub const ALL: [Self; 3] = [Self::MeanField, Self::Bethe, Self::Gibbs];

    /// The name of the method on the command line and in messages.
    pub fn word(self) -> &'static str {
        match self {
            Self::MeanField => "mean-field",
            Self::Bethe => "bethe",
            Self::Gibbs => "gibbs",
        }
    }

    /// The guarantee of its answers.
    pub fn guarantee(self) -> Guarantee {
        match self {
            Self::MeanField => Guarantee::LowerBound,
            Self::Bethe => Guarantee::Approximation,
            Self::Gibbs => Guarantee::Estimate,
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for Method {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|method| method.word() == word).ok_or_else(|| {
            Error::invalid("method", format!("found '{word}', expected mean-field, bethe or gibbs"))
        })
    }
}

/// Infers the hidden pixels of a [`Lattice`] from the observed ones.
///
/// Tasks and random streams depend on the picture only, so the answer is the same on any number of
/// threads. Time and memory of a sweep are proportional to the number of pixels: about 25 bytes a
/// pixel for mean field and Gibbs, 50 for Bethe (80 with eight neighbours).
///
/// # Example
/// ```
/// use isinglass_lab::lattice::{Denoiser, Lattice, Method};
/// let lattice = Lattice::new(3, 3, 0.4, 1.0)?;
/// let observed = [1, 1, 1, 1, -1, 1, 1, 1, 1];
/// for method in Method::ALL {
///     let answer = Denoiser { method, ..Denoiser::default() }.denoise(&lattice, &observed)?;
///     assert_eq!(answer.decisions(), [1; 9], "{method}: the odd pixel is noise");
/// }
/// # Ok::<(), isinglass::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Denoiser {
    /// The method that infers the hidden pixels.
    pub method: Method,
    /// Mean field and Bethe: the largest number of sweeps. Gibbs: the number of kept sweeps.
    pub iterations: usize,
    /// Mean field and Bethe: the largest violation of an equation at convergence. With 0, all
    /// sweeps are done.
    pub tolerance: f64,
    /// Bethe: the share of the old message in every update, from 0 to below 1.
    pub damping: f64,
    /// Gibbs: the number of sweeps before the first kept one.
    pub burn_in: usize,
    /// Gibbs: the seed.
    pub seed: u64,
    /// The limit on memory.
    pub budget: Budget,
}

impl Default for Denoiser {
    fn default() -> Self {
        Self {
            method: Method::MeanField,
            iterations: 500,
            tolerance: 1e-4,
            damping: 0.0,
            burn_in: 50,
            seed: 0,
            budget: Budget::default(),
        }
    }
}

/// The posterior of the hidden pixels, as inferred by a [`Denoiser`].
#[derive(Debug, Clone, PartialEq)]
pub struct Denoised {
    /// ⟨H_i⟩ = 2π_i − 1, row by row.
    pub means: Vec<f64>,
    /// The number of sweeps done, burn-in included.
    pub sweeps: usize,
    /// Whether the method converged. Mean field and Bethe: the residual is at most the tolerance.
    /// Gibbs: the split R̂ (Gelman & Rubin 1992) of the log-weights of the kept states is at most
    /// 1.1.
    pub converged: bool,
    /// The error of the answer. Mean field: the largest |m_i − tanh(J Σ m_j + D X_i)|. Bethe: the
    /// largest violation of a message equation. Both are measured after the last sweep. Gibbs: the
    /// standard error of a mean, root mean square over pixels, from the two halves of the kept
    /// sweeps.
    pub residual: f64,
    /// Mean field: the variational free energy after each sweep,
    /// [`FreeEnergy::total`](super::FreeEnergy::total). It never rises except by rounding. Empty
    /// for other methods.
    pub free_energy: Vec<f64>,
    /// The guarantee of the answer. For mean field, the last free energy is at least −log Z.
    pub guarantee: Guarantee,
}

impl Denoised {
    /// Returns the more probable value of each pixel: +1 where π ≥ ½, as in the lecture.
    pub fn decisions(&self) -> Vec<i8> {
        self.means.iter().map(|&mean| if mean >= 0.0 { 1 } else { -1 }).collect()
    }

    /// Returns π_i = P(H_i = +1), row by row.
    pub fn probabilities(&self) -> Vec<f64> {
        self.means.iter().map(|&mean| f64::midpoint(1.0, mean)).collect()
    }
}

impl Denoiser {
    /// Infers the hidden pixels of a picture.
    ///
    /// *Arguments*: observations row by row: −1, +1, or 0 for a missing one.
    ///
    /// # Errors
    /// Invalid settings, observations that do not fit the lattice, memory beyond the budget.
    pub fn denoise(&self, lattice: &Lattice, observed: &[i8]) -> Result<Denoised> {
        self.check(lattice, 1)?;
        lattice.check_observed(observed)?;
        Ok(self.run(lattice, observed, 0))
    }

    /// Infers the hidden pixels of many pictures of one size.
    ///
    /// Each answer is that of [`Denoiser::denoise`], except that Gibbs chains of different pictures
    /// have different random streams. Those of the first picture are the same.
    ///
    /// # Errors
    /// As for one picture, with its number.
    ///
    /// # Example
    /// ```
    /// use isinglass_lab::lattice::{Denoiser, Lattice};
    /// let lattice = Lattice::new(2, 2, 0.8, 1.0)?;
    /// let answers = Denoiser::default().denoise_many(&lattice, &[[1, 1, 1, -1], [-1, -1, 1, -1]])?;
    /// assert_eq!(answers[1].decisions(), [-1; 4]);
    /// # Ok::<(), isinglass::Error>(())
    /// ```
    pub fn denoise_many<P: AsRef<[i8]> + Sync>(
        &self,
        lattice: &Lattice,
        observed: &[P],
    ) -> Result<Vec<Denoised>> {
        self.check(lattice, observed.len())?;
        for (number, picture) in observed.iter().enumerate() {
            lattice
                .check_observed(picture.as_ref())
                .map_err(|error| Error::invalid(format!("picture {number}"), error.to_string()))?;
        }
        let solve = |(number, picture): (usize, &P)| self.run(lattice, picture.as_ref(), number as u64);
        Ok(if lattice.pixels() > SMALL {
            observed.iter().enumerate().map(solve).collect()
        } else {
            observed.par_iter().enumerate().map(solve).collect()
        })
    }

    fn run(&self, lattice: &Lattice, observed: &[i8], picture: u64) -> Denoised {
        match lattice.neighbours() {
            Neighbours::Four => self.run_with::<4>(lattice, observed, picture),
            Neighbours::Eight => self.run_with::<8>(lattice, observed, picture),
        }
    }

    fn run_with<const D: usize>(&self, lattice: &Lattice, observed: &[i8], picture: u64) -> Denoised {
        match self.method {
            Method::MeanField => mean_field::run::<D>(self, lattice, observed),
            Method::Bethe => bethe::run::<D>(self, lattice, observed),
            Method::Gibbs => gibbs::run::<D>(self, lattice, observed, picture),
        }
    }

    /// Checks the settings, and that some pictures fit the budget.
    fn check(&self, lattice: &Lattice, pictures: usize) -> Result<()> {
        if !(self.tolerance.is_finite() && self.tolerance >= 0.0) {
            let problem = format!("found {}, expected a finite number of at least 0", self.tolerance);
            return Err(Error::invalid("tolerance", problem));
        }
        if !(0.0..1.0).contains(&self.damping) {
            let problem = format!("found {}, expected a number of at least 0 and below 1", self.damping);
            return Err(Error::invalid("damping", problem));
        }
        let (least, most) = match self.method {
            // Sums of states are counted in single precision.
            Method::Gibbs => (gibbs::LEAST_SWEEPS, 1 << 24),
            Method::MeanField | Method::Bethe => (1, usize::MAX),
        };
        if !(least..=most).contains(&self.iterations) {
            let problem =
                format!("found {}, expected from {least} to {most} for {}", self.iterations, self.method);
            return Err(Error::invalid("iterations", problem));
        }
        let working = match self.method {
            Method::MeanField => Shape::bytes(lattice, lanes::LANES, mean_field::LAYERS, size_of::<f64>()),
            Method::Bethe => {
                Shape::bytes(lattice, lanes::LANES, bethe::layers(lattice.neighbours()), size_of::<f64>())
            }
            Method::Gibbs => Shape::bytes(lattice, chance::WIDTH, gibbs::LAYERS, size_of::<f32>()),
        };
        let pixels = (lattice.rows() as u128).saturating_mul(lattice.columns() as u128);
        let answer = pixels.saturating_mul(8).saturating_add(size_of::<Denoised>() as u128);
        let at_once = if lattice.pixels() > SMALL { 1 } else { pictures.min(rayon::current_num_threads()) };
        let needed =
            working.saturating_mul(at_once as u128).saturating_add(answer.saturating_mul(pictures as u128));
        self.budget.check(self.method.word(), needed, || {
            let size = format!("{} × {} pixels", lattice.rows(), lattice.columns());
            if pictures == 1 {
                format!("a picture of {size}")
            } else {
                format!("{pictures} pictures of {size}")
            }
        })
    }
}

/// The most pixels of a picture that one thread does alone. Such pictures are done in parallel,
/// larger ones one after the other, each on all threads.
const SMALL: usize = 1 << 16;

/// The result of a sweep over all pixels.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tally {
    /// The largest violation of an equation during the sweep.
    pub(super) violation: f64,
    /// The free energy; 0 where it is not computed.
    pub(super) free_energy: f64,
}

/// The end of an iteration.
pub(super) struct Ended {
    pub(super) sweeps: usize,
    pub(super) residual: f64,
    pub(super) free_energy: Vec<f64>,
}

/// Sweeps until the equations hold within the tolerance.
///
/// Later updates of a sweep change the violations found earlier in it. So before the iteration
/// ends, one more pass measures the residual without updates.
///
/// *Arguments*: `sweep` does a sweep, with updates if its argument is true.
pub(super) fn iterate(settings: &Denoiser, mut sweep: impl FnMut(bool) -> Tally) -> Ended {
    let mut free_energy = Vec::new();
    let mut residual = f64::INFINITY;
    while residual > settings.tolerance && free_energy.len() < settings.iterations {
        cancel::point();
        let tally = sweep(true);
        free_energy.push(tally.free_energy);
        if tally.violation <= settings.tolerance || free_energy.len() == settings.iterations {
            residual = sweep(false).violation;
        }
    }
    Ended { sweeps: free_energy.len(), residual, free_energy }
}
