//! Most probable states.

use super::{Diagnostics, Guarantee};
use crate::{Evidence, Machine, Result};

/// A state and how sure it is that no other is more probable.
#[derive(Debug, Clone, PartialEq)]
pub struct Mode {
    /// The state of every unit, −1 or +1; clamped units as the evidence says.
    pub state: Vec<i8>,
    /// Its [`energy`](Machine::energy): not divided by T, the machine's offset included.
    pub energy: f64,
    /// [`Guarantee::Exact`]: there is no better one.
    pub guarantee: Guarantee,
    /// How the search went.
    pub diagnostics: Diagnostics,
    /// How many of several independent searches met it, where there were several.
    pub meetings: Option<Meetings>,
}

/// How many of several independent searches met the best state of all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meetings {
    /// Those that met a state of the same energy.
    pub met: usize,
    /// All of them.
    pub runs: usize,
}

/// An engine that can find the most probable state.
///
/// # Example
/// ```
/// use isinglass::{Enumerate, Evidence, Machine, Unit, engine::ModeFinder};
/// let machine = Machine::new(vec![Unit::new("a", 0.1), Unit::new("b", 0.0)], [(0, 1, -0.5)])?;
/// let mode = Enumerate::default().mode(&machine, &Evidence::none(2))?;
/// assert_eq!(mode.state, [1, -1]);
/// assert!((mode.energy - -0.6).abs() < 1e-15);
/// # Ok::<(), isinglass::Error>(())
/// ```
pub trait ModeFinder {
    /// The most probable state given the evidence; among equals, the same one every time.
    fn mode(&self, machine: &Machine, evidence: &Evidence) -> Result<Mode>;
}
