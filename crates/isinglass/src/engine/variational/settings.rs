//! How fixed points are looked for: what all variational engines share.

use std::str::FromStr;

use crate::Budget;
use crate::numeric::streams::{Purpose, stream};
use crate::topology::Numbers;
use crate::{Error, Result};

/// How a fixed point is looked for, and when the search ends.
///
/// # Example
/// ```
/// use isinglass::engine::VariationalSettings;
/// let patient = VariationalSettings { starts: 10, anneal: Some("60:8".parse()?), ..VariationalSettings::default() };
/// patient.check(1.0)?;
/// # Ok::<(), isinglass::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VariationalSettings {
    /// Converged when no equation is violated by more than this.
    pub tolerance: f64,
    /// Sweeps at most, at each temperature.
    pub sweeps: usize,
    /// The share of the old value that is kept in every update, from 0 to below 1; raised where an iteration oscillates.
    pub damping: f64,
    /// One unit after the other, or all at once.
    pub schedule: Schedule,
    /// Points from which the search begins; the one that ends with the largest log Z is kept.
    pub starts: usize,
    /// From a higher temperature down to the machine's own.
    pub anneal: Option<Annealing>,
    /// The seed of the starts.
    pub seed: u64,
    /// Limits the memory.
    pub budget: Budget,
}

/// In which order units are updated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Schedule {
    /// One unit after the other, each seeing what came of those before it.
    #[default]
    Sequential,
    /// All at once from the values of the sweep before: the textbook's iteration, which may oscillate.
    Parallel,
}

impl Default for VariationalSettings {
    fn default() -> Self {
        Self {
            tolerance: 1e-10,
            sweeps: 10_000,
            damping: 0.0,
            schedule: Schedule::Sequential,
            starts: 1,
            anneal: None,
            seed: 0,
            budget: Budget::default(),
        }
    }
}

/// Temperatures that fall geometrically.
///
/// # Example
/// ```
/// use isinglass::engine::Annealing;
/// let anneal: Annealing = "16:4".parse()?;
/// assert_eq!(anneal.temperatures(1.0).collect::<Vec<_>>(), [16.0, 8.0, 4.0, 2.0]);
/// # Ok::<(), isinglass::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Annealing {
    /// The temperature to begin with.
    pub from: f64,
    /// The steps down to the machine's own temperature.
    pub steps: usize,
}

impl FromStr for Annealing {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let parts = text.split_once(':');
        let numbers = parts.map(|(from, steps)| (from.trim().parse::<f64>(), steps.trim().parse::<usize>()));
        match numbers {
            Some((Ok(from), Ok(steps)))
                if from.is_finite() && from > 0.0 && (1..=10_000).contains(&steps) =>
            {
                Ok(Self { from, steps })
            }
            _ => {
                let problem = format!(
                    "found '{text}', expected a temperature and a number of steps (1 to 10000) such as 60:8"
                );
                Err(Error::invalid("anneal", problem))
            }
        }
    }
}

impl Annealing {
    /// Returns the temperatures above the machine's own, the highest first.
    pub fn temperatures(self, last: f64) -> impl Iterator<Item = f64> {
        let ratio = last / self.from;
        (0..self.steps).map(move |k| self.from * ratio.powf(k as f64 / self.steps as f64))
    }
}

/// The largest shift of the first start: enough to leave a point held by symmetry alone.
const NUDGE: f64 = 1e-3;

impl VariationalSettings {
    /// Above the machine's own temperature, sweeps end at this change,
    pub(super) const WARM_TOLERANCE: f64 = 1e-4;
    /// or after so many sweeps.
    pub(super) const WARM_SWEEPS: usize = 100;

    /// Whether every number is one that an iteration can work with, at a machine's temperature.
    ///
    /// # Errors
    /// [`Error::Invalid`] that names the setting.
    pub fn check(&self, temperature: f64) -> Result<()> {
        if !(self.tolerance.is_finite() && self.tolerance > 0.0) {
            let problem = format!("found {}, expected a finite number above 0", self.tolerance);
            return Err(Error::invalid("tolerance", problem));
        }
        if !(0.0..1.0).contains(&self.damping) {
            let problem = format!("found {}, expected a number of at least 0 and below 1", self.damping);
            return Err(Error::invalid("damping", problem));
        }
        for (place, count) in [("starts", self.starts), ("sweeps", self.sweeps)] {
            if count == 0 {
                return Err(Error::invalid(place, "found 0, expected at least 1"));
            }
        }
        match self.anneal {
            Some(Annealing { from, .. }) if !(from.is_finite() && from > temperature) => {
                let problem = format!(
                    "begins at {from}, expected more than the machine's own temperature, {temperature}"
                );
                Err(Error::invalid("anneal", problem))
            }
            _ => Ok(()),
        }
    }

    /// Returns where a start puts each unit: near `tanh(field)` (start 0), or anywhere. It is the
    /// same for every row, so that answers are independent of the other rows of a batch.
    pub(super) fn start(&self, start: usize, units: usize) -> StartingMeans {
        let range = if start == 0 { NUDGE } else { 1.0 };
        let spread = Numbers::Uniform { low: -range, high: range };
        let random = &mut stream(self.seed, Purpose::VariationalStart, start as u64);
        StartingMeans { at_field: start == 0, shifts: spread.draw(units, random) }
    }
}

/// The point at which a search begins.
pub(super) struct StartingMeans {
    /// Whether units begin at `tanh(field + shift)`; otherwise at the shift itself.
    pub(super) at_field: bool,
    /// One for each unit of the machine.
    pub(super) shifts: Vec<f64>,
}
