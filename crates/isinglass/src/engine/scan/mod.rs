//! Thermodynamics over temperature: what a scan gives, and the engines that can.
//!
//! [`Slopes`] is log Z with its derivatives, from which exact engines know all quantities at once;
//! `overlap` compares states of two replicas.

mod overlap;
mod slopes;

pub use self::overlap::Overlap;
pub(in crate::engine) use self::overlap::{Bins, binder, bytes_of_overlaps, of_draws};
pub(in crate::engine) use self::slopes::Slopes;

use super::{Diagnostics, Engine, Guarantee};
use crate::{Error, Evidence, Machine, Result};

/// What a scan is to give.
#[derive(Debug, Clone, PartialEq)]
pub struct ScanRequest {
    /// The temperatures, in rising order.
    pub(in crate::engine) temperatures: Vec<f64>,
    /// Whether overlaps of two replicas are wanted.
    pub(in crate::engine) overlap: bool,
    /// The seed of draws for overlaps by exact engines.
    pub(in crate::engine) seed: u64,
}

/// The most temperatures of a scan.
const MOST_TEMPERATURES: usize = 10_000;

impl ScanRequest {
    /// A scan of some temperatures, in any order; repeated ones count once.
    ///
    /// # Errors
    /// No temperature, more than 10,000, or one that is not finite and above 0.
    pub fn new(temperatures: &[f64]) -> Result<Self> {
        let mut temperatures = temperatures.to_vec();
        if let Some(wrong) = temperatures.iter().find(|t| !(t.is_finite() && **t > 0.0)) {
            let problem = format!("found {wrong}, expected finite numbers above 0");
            return Err(Error::setting("temperatures", problem));
        }
        temperatures.sort_by(f64::total_cmp);
        temperatures.dedup();
        if !(1..=MOST_TEMPERATURES).contains(&temperatures.len()) {
            let problem = format!("found {}, expected 1 to {MOST_TEMPERATURES} of them", temperatures.len());
            return Err(Error::setting("temperatures", problem));
        }
        Ok(Self { temperatures, overlap: false, seed: 0 })
    }

    /// The temperatures, in rising order.
    pub fn temperatures(&self) -> &[f64] {
        &self.temperatures
    }

    /// The lowest temperature.
    pub(in crate::engine) fn lowest(&self) -> f64 {
        self.temperatures[0]
    }

    /// Also compare the states of two replicas.
    #[must_use]
    pub fn overlap(self, overlap: bool) -> Self {
        Self { overlap, ..self }
    }

    /// The seed of the states that exact engines draw for overlaps.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }
}

/// The quantities of a scan, a number for each temperature; or their standard errors.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Curves {
    /// log Z.
    pub log_z: Vec<f64>,
    /// U = ⟨E⟩, with E as [`Machine::energy`] has it.
    pub energy: Vec<f64>,
    /// C = dU/dT = (⟨E²⟩ − ⟨E⟩²)/T².
    pub heat_capacity: Vec<f64>,
    /// M = ⟨Σ s_i⟩ over all units, clamped ones included.
    pub magnetisation: Vec<f64>,
    /// χ = ∂M/∂h = (⟨(Σ s_i)²⟩ − M²)/T, for a field h added to all biases.
    pub susceptibility: Vec<f64>,
    /// S = log Z + U/T, in natural units.
    pub entropy: Vec<f64>,
}

/// The quantities at one temperature, in the order of [`Curves::NAMES`].
pub(in crate::engine) type Point = [f64; Curves::NAMES.len()];

impl Curves {
    /// The names of the quantities, as files have them.
    pub const NAMES: [&'static str; 6] =
        ["log_z", "energy", "heat_capacity", "magnetisation", "susceptibility", "entropy"];

    /// Every quantity, in the order of [`NAMES`](Self::NAMES).
    pub fn all(&self) -> [&[f64]; Self::NAMES.len()] {
        [
            &self.log_z,
            &self.energy,
            &self.heat_capacity,
            &self.magnetisation,
            &self.susceptibility,
            &self.entropy,
        ]
    }

    pub(in crate::engine) fn new(points: &[Point]) -> Self {
        let curve = |k: usize| points.iter().map(|point| point[k]).collect();
        Self {
            log_z: curve(0),
            energy: curve(1),
            heat_capacity: curve(2),
            magnetisation: curve(3),
            susceptibility: curve(4),
            entropy: curve(5),
        }
    }
}

/// From log Z, the mean and variance of E, and the mean and variance of Σ s.
pub(in crate::engine) fn point(temperature: f64, log_z: f64, energy: [f64; 2], spins: [f64; 2]) -> Point {
    let [u, spread] = energy;
    let [m, fluctuation] = spins;
    [log_z, u, spread / (temperature * temperature), m, fluctuation / temperature, log_z + u / temperature]
}

/// The thermodynamics of a machine over temperature.
#[derive(Debug, Clone, PartialEq)]
pub struct Scan {
    /// The temperatures, in rising order.
    pub temperatures: Vec<f64>,
    /// The quantities.
    pub values: Curves,
    /// Their standard errors, where the answer is an estimate.
    pub errors: Option<Curves>,
    /// The overlaps of two replicas at each temperature, where they were wanted. They are estimates
    /// from states, whatever the guarantee of the rest.
    pub overlaps: Option<Vec<Overlap>>,
    /// What kind of answer this is.
    pub guarantee: Guarantee,
    /// How the computation went.
    pub diagnostics: Diagnostics,
}

impl Scan {
    /// The standard errors of a quantity as they are to be shown, by its place in [`Curves::NAMES`]; see
    /// [`Diagnostics::known_errors`].
    pub fn known_errors(&self, place: usize) -> Option<Vec<f64>> {
        self.errors.as_ref().map(|errors| self.diagnostics.known_errors(errors.all()[place]))
    }
}

/// An engine that knows the thermodynamics of a machine.
///
/// # Example
/// ```
/// use isinglass::engine::{ScanRequest, Scanner};
/// use isinglass::{Decimate, Evidence, topology};
/// let chain = topology::chain(100).with_parameters(vec![1.0; 99], vec![0.0; 100])?;
/// let scan = Decimate::default().scan(&chain, &Evidence::none(100), &ScanRequest::new(&[0.5, 2.0])?)?;
/// // U = −J (n − 1) tanh(J/T) for an open chain.
/// assert!((scan.values.energy[1] + 99.0 * 0.5f64.tanh()).abs() < 1e-10);
/// # Ok::<(), isinglass::Error>(())
/// ```
pub trait Scanner: Engine {
    /// The quantities of the machine at each temperature, given the evidence. Every state keeps its
    /// [`energy`](Machine::energy); the machine's own temperature does not matter.
    fn scan(&self, machine: &Machine, evidence: &Evidence, request: &ScanRequest) -> Result<Scan>;
}
