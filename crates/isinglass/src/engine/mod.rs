//! Engines: from a machine and evidence to expectations.
//!
//! The trait [`Engine`] is all that learners, scores and commands know. The engines live in folders
//! by kind: `exact` (right up to rounding), `variational` (bounds and approximations from fixed
//! points) and `sampling` (estimates with standard errors). [`auto`] chooses among them. Engines
//! call [`crate::machine`], [`crate::graph`] and [`crate::numeric`], never a learner.

pub mod auto;
mod cumulants;
mod exact;
mod expectations;
pub(crate) mod fields;
mod joint;
mod mode;
mod open;
pub(crate) mod parts;
mod pieces;
pub(crate) mod sampling;
mod scan;
mod variational;

pub use cumulants::Cumulants;
pub use exact::{
    Decimate, DecimationStep, Eliminate, Enumerate, ExactSettings, UnitOrZero, explain_decimation,
};
pub(crate) use exact::{digits, pinned};
pub(crate) use expectations::packed_pair;
pub use expectations::{
    Ask, BatchExpectations, Diagnostics, Expectations, Guarantee, Importance, Iteration, JointTable, Mixing,
    PairMoments, Pairs, StandardErrors, Statistics,
};
pub use mode::{Meetings, Mode, ModeFinder};
pub use open::Open;
pub(crate) use pieces::in_pieces;
pub(crate) use sampling::RowChains;
pub use sampling::{Ais, AisSettings, Gibbs, GibbsSettings, Moves, Temper, TemperSettings, Temperatures};
pub use scan::{Curves, Overlap, Scan, ScanRequest, Scanner};
pub use variational::{
    Annealing, Around, Bethe, LinearResponse, LinearResponseSettings, LogDet, LogDetSettings, MeanField,
    Mixture, MixtureComponents, MixtureSettings, Schedule, Structured, StructuredSettings, Tap, Trw,
    TrwSettings, VariationalSettings,
};

use std::fmt;

use crate::table::Batch;
use crate::{Evidence, Machine, Result};

/// The message where log Z is requested of an engine without it.
pub(crate) const WITH_LOG_Z: &str = "all engines but gibbs have it";

/// A way to compute expectations of a machine.
///
/// The batched form is the fast path for many rows, not a loop over the single one.
///
/// The same machine and evidence give the same bits every time, whatever was asked before. What
/// else an answer depends on is in [`fingerprint`](Engine::fingerprint).
///
/// # Example
/// Any engine can stand where one is required:
/// ```
/// use isinglass::{Engine, Enumerate, Evidence, Machine, Pairs, topology};
///
/// fn magnetisation(engine: &dyn Engine, machine: &Machine) -> isinglass::Result<f64> {
///     let answer = engine.expectations(machine, &Evidence::none(machine.unit_count()), Pairs::None)?;
///     Ok(answer.means.iter().sum::<f64>() / machine.unit_count() as f64)
/// }
///
/// let chain = topology::chain(10).with_parameters(vec![0.3; 9], vec![0.1; 10])?;
/// let m = magnetisation(&Enumerate::default(), &chain)?;
/// assert!(m > 0.1f64.tanh() && m < 1.0);
/// # Ok::<(), isinglass::Error>(())
/// ```
pub trait Engine: fmt::Debug + Send + Sync {
    /// The name by which users choose the engine.
    fn name(&self) -> &'static str;

    /// What answers depend on besides machine and evidence: the name, and all settings but the
    /// memory. A fit is resumed only with engines of the same fingerprints.
    fn fingerprint(&self) -> String;

    /// Whether its answers include log Z.
    fn has_log_z(&self) -> bool {
        true
    }

    /// Whether its answers are exact, but for numbers too large to be.
    fn is_exact(&self) -> bool {
        false
    }

    /// Whether its means and pair moments are the derivatives of its log Z: then they are the
    /// gradient of a likelihood that it can also compute.
    fn moments_are_derivatives(&self) -> bool {
        true
    }

    /// The engine as one that draws states, if it can.
    fn sampler(&self) -> Option<&dyn Sampler> {
        None
    }

    /// The engine as one that finds most probable states, if it can.
    fn mode_finder(&self) -> Option<&dyn ModeFinder> {
        None
    }

    /// The engine as one that knows the thermodynamics of a machine, if it does.
    fn scanner(&self) -> Option<&dyn Scanner> {
        None
    }

    /// Expectations of one machine under one evidence.
    fn expectations(&self, machine: &Machine, evidence: &Evidence, pairs: Pairs) -> Result<Expectations>;

    /// Expectations of one machine under each row of evidence.
    fn batch(&self, machine: &Machine, batch: &Batch, ask: Ask) -> Result<BatchExpectations>;

    /// The probabilities of every joint state of the requested units, given the evidence.
    ///
    /// Unless an engine has a better way, these are ratios of partition sums (Rüger 1997, eq. 6),
    /// from one batch.
    fn joint(&self, machine: &Machine, evidence: &Evidence, ask: &[usize]) -> Result<JointTable> {
        joint::by_partition_sums(self.name(), machine, evidence, ask, |machine, batch| {
            self.batch(machine, batch, Ask::default())
        })
    }

    /// The cumulants of every subset of a list of up to four units, given the evidence; a unit may
    /// stand more than once.
    ///
    /// Unless an engine has a better way, from the joint probabilities of the units.
    fn cumulants(&self, machine: &Machine, evidence: &Evidence, units: &[usize]) -> Result<Cumulants> {
        cumulants::by_joint(self, machine, evidence, units)
    }
}

/// States drawn from a machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Draws {
    /// The number of units of each state.
    pub units: usize,
    /// The states, one after another, −1 and +1.
    pub cells: Vec<i8>,
    /// Exact if the draws are independent and from the machine's own distribution.
    pub guarantee: Guarantee,
    /// How the computation went.
    pub diagnostics: Diagnostics,
}

/// An engine that can draw states.
///
/// # Example
/// ```
/// use isinglass::{Enumerate, Evidence, Machine, Sampler, topology};
/// let chain = topology::chain(5).with_parameters(vec![3.0; 4], vec![0.0; 5])?;
/// let draws = Enumerate::default().draw(&chain, &Evidence::none(5), 100, 0)?;
/// assert_eq!(draws.cells.len(), 5 * 100);
/// # Ok::<(), isinglass::Error>(())
/// ```
pub trait Sampler: Engine {
    /// Draw states given the evidence.
    fn draw(&self, machine: &Machine, evidence: &Evidence, count: usize, seed: u64) -> Result<Draws>;
}
