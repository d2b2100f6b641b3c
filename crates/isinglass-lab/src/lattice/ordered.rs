//! Mean-field inference pixel by pixel, in a given order from a given start: the algorithm of the
//! lecture, to be followed by hand.

use isinglass::topology::Neighbours;
use isinglass::{Budget, Error, Result, cancel};

use super::Lattice;

/// The variational free energy of independent pixels, `E_Q = E_Q[log Q] − E_Q[log P(H, X)]`,
/// without the constant log Z(θ) of the joint distribution.
///
/// With `m = 2π − 1` the three parts are
///
/// ```text
/// log_q     = Σ_i π_i ln π_i + (1 − π_i) ln(1 − π_i)        (0 ln 0 = 0)
/// couplings = J Σ_{neighbours i,j} m_i m_j                  (each pair once)
/// data      = D Σ_i m_i X_i
/// total     = log_q − couplings − data
/// ```
///
/// and `−total ≤ log Σ_H exp(J Σ H_i H_j + D Σ H_i X_i)`, the log Z of [`Lattice::machine`], with
/// equality only if Q is the posterior. An update of one pixel never raises the total. An energy
/// that sums over ordered pairs of neighbours has `couplings` twice; the update rule does not
/// minimise it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FreeEnergy {
    /// E_Q[log Q], the negative entropy.
    pub log_q: f64,
    /// The expected coupling of neighbours.
    pub couplings: f64,
    /// The expected coupling with observations.
    pub data: f64,
}

impl FreeEnergy {
    /// The variational free energy.
    pub fn total(&self) -> f64 {
        self.log_q - self.couplings - self.data
    }
}

/// The state of mean-field inference after a sweep.
#[derive(Debug, Clone, PartialEq)]
pub struct OrderedSweep {
    /// π_i = Q(H_i = +1), row by row.
    pub probabilities: Vec<f64>,
    /// The variational free energy of these probabilities.
    pub free_energy: FreeEnergy,
    /// The largest change of a probability in the sweep.
    pub change: f64,
}

impl Lattice {
    /// Runs mean-field inference in a given order from given probabilities:
    ///
    /// ```text
    /// p_i = Σ_j J (2π_j − 1) + D X_i          π_i = e^{p_i} / (e^{p_i} + e^{−p_i})
    /// ```
    ///
    /// for one pixel after the other, each with the newest values of its neighbours (lecture
    /// *Applied Machine Learning*, "Boltzmann Machines – Mean Field Inference"). Operations are in
    /// double precision and in exactly this order, so that results can be checked number by number.
    /// The state after each sweep is kept: this is for small pictures.
    /// [`Denoiser`](super::Denoiser) is for large ones and for many.
    ///
    /// *Arguments*: observations (−1, +1, or 0 for a missing one) and starting probabilities, both
    /// row by row; (row, column) of every pixel, each once; the number of sweeps.
    ///
    /// # Errors
    /// Lengths that do not fit; a probability outside [0, 1]; a pixel that is outside the picture,
    /// listed twice or left out; memory beyond the default budget.
    ///
    /// # Example
    /// ```
    /// use isinglass_lab::lattice::Lattice;
    /// // Two pixels, J = 0.5, D = 1; the right one was observed as −1, the left one is missing.
    /// let lattice = Lattice::new(1, 2, 0.5, 1.0)?;
    /// let sweeps = lattice.mean_field_in_order(&[0, -1], &[0.5, 0.5], &[(0, 1), (0, 0)], 1)?;
    /// // Right first: p = 0.5 · 0 − 1; then left: p = 0.5 (2π − 1) = 0.5 tanh(−1).
    /// assert!((sweeps[0].probabilities[1] - (-1f64).exp() / ((-1f64).exp() + 1f64.exp())).abs() < 1e-15);
    /// assert!((2.0 * sweeps[0].probabilities[0] - 1.0 - (0.5 * (-1f64).tanh()).tanh()).abs() < 1e-15);
    /// # Ok::<(), isinglass::Error>(())
    /// ```
    pub fn mean_field_in_order(
        &self,
        observed: &[i8],
        start: &[f64],
        order: &[(usize, usize)],
        sweeps: usize,
    ) -> Result<Vec<OrderedSweep>> {
        self.check_observed(observed)?;
        self.check_probabilities(start)?;
        let order = self.check_order(order)?;
        let bytes = (sweeps as u128 + 4).saturating_mul(8 * start.len() as u128);
        Budget::default().check("mean field in order", bytes, || {
            format!("to keep {sweeps} sweeps of {} pixels", start.len())
        })?;
        let mut probabilities = start.to_vec();
        let mut kept = Vec::with_capacity(sweeps);
        for _ in 0..sweeps {
            cancel::point();
            let mut change = 0f64;
            for &pixel in &order {
                let sum: f64 = self.around(pixel).map(|other| 2.0 * probabilities[other] - 1.0).sum();
                let p = self.coupling * sum + self.data * f64::from(observed[pixel]);
                // Both terms of the ratio are divided by the first, so that none overflows.
                let probability = 1.0 / (1.0 + (-2.0 * p).exp());
                change = change.max((probability - probabilities[pixel]).abs());
                probabilities[pixel] = probability;
            }
            let free_energy = self.energy_of(observed, &probabilities);
            kept.push(OrderedSweep { probabilities: probabilities.clone(), free_energy, change });
        }
        Ok(kept)
    }

    /// Returns the variational free energy of independent pixels with given probabilities of +1,
    /// for example of a start.
    ///
    /// # Errors
    /// Lengths that do not fit, a probability outside [0, 1].
    pub fn free_energy(&self, observed: &[i8], probabilities: &[f64]) -> Result<FreeEnergy> {
        self.check_observed(observed)?;
        self.check_probabilities(probabilities)?;
        Ok(self.energy_of(observed, probabilities))
    }

    /// Returns all pixels row by row, as an order for [`Lattice::mean_field_in_order`].
    pub fn rows_in_order(&self) -> Vec<(usize, usize)> {
        (0..self.rows).flat_map(|row| (0..self.columns).map(move |column| (row, column))).collect()
    }

    fn energy_of(&self, observed: &[i8], probabilities: &[f64]) -> FreeEnergy {
        let part = |p: f64| if p > 0.0 { p * p.ln() } else { 0.0 };
        let mean = |pixel: usize| 2.0 * probabilities[pixel] - 1.0;
        let mut sums = FreeEnergy { log_q: 0.0, couplings: 0.0, data: 0.0 };
        for pixel in 0..probabilities.len() {
            sums.log_q += part(probabilities[pixel]) + part(1.0 - probabilities[pixel]);
            let before: f64 = self.around(pixel).filter(|&other| other < pixel).map(mean).sum();
            sums.couplings += self.coupling * mean(pixel) * before;
            sums.data += self.data * mean(pixel) * f64::from(observed[pixel]);
        }
        sums
    }

    /// Returns the neighbours of a pixel, row by row.
    fn around(&self, pixel: usize) -> impl Iterator<Item = usize> + use<> {
        let (rows, columns) = (self.rows, self.columns);
        let diagonals = self.neighbours == Neighbours::Eight;
        let (row, column) = (pixel / columns, pixel % columns);
        let near = |place: usize, end: usize| place.saturating_sub(1)..(place + 2).min(end);
        near(row, rows).flat_map(move |r| near(column, columns).map(move |c| (r, c))).filter_map(
            move |(r, c)| {
                let is_neighbour =
                    if diagonals { (r, c) != (row, column) } else { (r == row) != (c == column) };
                is_neighbour.then_some(r * columns + c)
            },
        )
    }

    fn check_probabilities(&self, probabilities: &[f64]) -> Result<()> {
        Error::check_length("probabilities", probabilities.len(), self.pixels())?;
        match probabilities.iter().position(|p| !(0.0..=1.0).contains(p)) {
            None => Ok(()),
            Some(k) => {
                let problem =
                    format!("found the probability {}, expected a number from 0 to 1", probabilities[k]);
                Err(Error::invalid(self.place(k), problem))
            }
        }
    }

    /// Returns the numbers of the pixels in an order. Checks that it has each of them once.
    fn check_order(&self, order: &[(usize, usize)]) -> Result<Vec<usize>> {
        Error::check_length("pixels in the order", order.len(), self.pixels())?;
        let mut seen = vec![false; order.len()];
        order
            .iter()
            .enumerate()
            .map(|(place, &(row, column))| {
                let at = || format!("order, place {place}");
                if row >= self.rows || column >= self.columns {
                    let problem = format!(
                        "found ({row}, {column}), expected a pixel of {} × {}",
                        self.rows, self.columns
                    );
                    return Err(Error::invalid(at(), problem));
                }
                let pixel = row * self.columns + column;
                if std::mem::replace(&mut seen[pixel], true) {
                    let problem = format!("found ({row}, {column}) again, expected each pixel once");
                    return Err(Error::invalid(at(), problem));
                }
                Ok(pixel)
            })
            .collect()
    }
}
