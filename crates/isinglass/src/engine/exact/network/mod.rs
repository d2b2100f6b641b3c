//! Engines `decimate` and `eliminate`: sums over units one by one, through the adjoint network.
//!
//! `plan` compiles a graph and a set of free units into a flat tape; `star` holds the decimation
//! rules, `bucket` uses tables where pair weights do not suffice, `cut` deals large ones out to
//! threads, and `tape` runs a plan forward
//! (log Z) and backward (all moments), for one row or eight at a time. `structure` and `prepare`
//! lead from a machine to a plan, `store` keeps plans for the next call, `memory` fits passes into
//! the budget. `single` and `rows` answer for one evidence and for batches, `pairs` for all pair
//! moments; `walk` draws states and
//! finds the most probable one; `cumulants`, `fourier` and `thermal` run plans of tables with the
//! numbers of `generic`. `compiled` runs the plan of a graph without a machine. `digits` decides whether
//! answers are called exact.

mod bucket;
mod compiled;
mod cumulants;
mod cut;
pub(crate) mod digits;
mod fourier;
mod generic;
mod memory;
mod pairs;
mod plan;
mod prepare;
mod rows;
mod single;
mod star;
mod store;
mod structure;
mod tape;
mod thermal;
mod walk;

use num_complex::Complex64;

pub(in crate::engine) use self::compiled::{Compiled, Run};
use self::prepare::Reach;
use self::store::Networks;
pub(in crate::engine) use self::structure::Structure;
use crate::engine::auto::Estimate;
use crate::engine::cumulants::by_joint;
use crate::engine::exact::ExactSettings;
use crate::engine::scan::{Scan, ScanRequest, Scanner, of_draws};
use crate::engine::{
    Ask, BatchExpectations, Cumulants, Draws, Engine, Expectations, JointTable, Mode, ModeFinder, Pairs,
    Sampler,
};
use crate::table::Batch;
use crate::{Budget, Error, Evidence, Machine, Result};

/// Energies beyond this would overflow in sums and differences.
const SCALE: f64 = 1e290;

/// Exact answers for machines of any size that are decimatable: linear in the number of units.
///
/// A machine is decimatable if the free units together with unit 0, to which biases lead, have
/// treewidth at most 3 (Rüger 1997, definition 4.3).
///
/// *Complexity*: linear in the units, all edge moments together. *Memory*: linear.
/// *Accuracy*: 1e-9 and better, as long as the weights and biases of units that strong couplings
/// tie together add up to less than 1e6 T; beyond, the answer is an `approximation`.
/// *When it fails*: it refuses machines that are not decimatable; [`Eliminate`] uses tables there.
///
/// # Example
/// ```
/// use isinglass::{Decimate, Engine, Evidence, Machine, Pairs, topology};
/// let chain = topology::chain(1000).with_parameters(vec![0.5; 999], vec![0.0; 1000])?;
/// let answer = Decimate::default().expectations(&chain, &Evidence::none(1000), Pairs::Edges)?;
/// let exact = 1000.0 * 2f64.ln() + 999.0 * 0.5f64.cosh().ln();
/// assert!((answer.log_z.unwrap() - exact).abs() < 1e-9);
/// assert!((answer.correlations.values[500] - 0.5f64.tanh()).abs() < 1e-12);
///
/// # Ok::<(), isinglass::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Decimate {
    networks: Networks,
}

/// Exact answers for any machine whose treewidth the budget allows: decimation where it applies,
/// tables beyond.
///
/// *Complexity*: `O(n 2^w)` for width w of the elimination order found, all edge moments together;
/// the order is searched once for each structure.
/// *Memory*: tables of `2^w` numbers; where not all of them fit the budget, some are computed
/// twice. *Accuracy*: as [`Decimate`].
/// *When it fails*: where no order of a width within the budget is found, it refuses and reports
/// what it would need.
///
/// # Example
/// ```
/// use isinglass::{Eliminate, Engine, Enumerate, Evidence, Pairs, topology};
/// let glass = topology::sherrington_kirkpatrick(12, 1.0, 0)?;
/// let nothing = Evidence::none(12);
/// let one = Eliminate::default().expectations(&glass, &nothing, Pairs::Edges)?;
/// let other = Enumerate::default().expectations(&glass, &nothing, Pairs::Edges)?;
/// assert!((one.log_z.unwrap() - other.log_z.unwrap()).abs() < 1e-11);
/// # Ok::<(), isinglass::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Eliminate {
    networks: Networks,
}

impl Decimate {
    /// The name by which users choose the engine.
    pub const NAME: &'static str = "decimate";

    fn solver(&self) -> Solver<'_> {
        Solver { networks: &self.networks, name: Self::NAME, reach: Reach::Decimation }
    }
}

impl Eliminate {
    /// The name by which users choose the engine.
    pub const NAME: &'static str = "eliminate";

    fn solver(&self) -> Solver<'_> {
        Solver { networks: &self.networks, name: Self::NAME, reach: Reach::Tables }
    }
}

/// What the two engines share: they differ in their reach.
#[derive(Clone, Copy)]
struct Solver<'a> {
    networks: &'a Networks,
    name: &'static str,
    reach: Reach,
}

impl Solver<'_> {
    fn check(self, machine: &Machine, evidence: &Evidence) -> Result<()> {
        machine.check_evidence(evidence)?;
        machine.check_scale(self.name, SCALE)
    }
}

macro_rules! engine_by_network {
    ($engine:ty) => {
        impl Engine for $engine {
            fn name(&self) -> &'static str {
                Self::NAME
            }

            fn fingerprint(&self) -> String {
                Self::NAME.into()
            }

            fn is_exact(&self) -> bool {
                true
            }

            fn sampler(&self) -> Option<&dyn Sampler> {
                Some(self)
            }

            fn mode_finder(&self) -> Option<&dyn ModeFinder> {
                Some(self)
            }

            fn scanner(&self) -> Option<&dyn Scanner> {
                Some(self)
            }

            fn expectations(
                &self,
                machine: &Machine,
                evidence: &Evidence,
                pairs: Pairs,
            ) -> Result<Expectations> {
                self.solver().expectations(machine, evidence, pairs)
            }

            fn batch(&self, machine: &Machine, batch: &Batch, ask: Ask) -> Result<BatchExpectations> {
                Error::check_length("units of the batch", batch.unit_count(), machine.unit_count())?;
                machine.check_scale(Self::NAME, SCALE)?;
                self.solver().batch(machine, batch, ask)
            }

            fn cumulants(
                &self,
                machine: &Machine,
                evidence: &Evidence,
                units: &[usize],
            ) -> Result<Cumulants> {
                match self.solver().cumulants(machine, evidence, units) {
                    // Numbers with derivatives take sixteen times the memory of partition sums.
                    Err(Error::OverBudget { .. }) => by_joint(self, machine, evidence, units),
                    result => result,
                }
            }
        }

        impl $engine {
            /// With default settings.
            #[must_use]
            pub fn new() -> Self {
                Self::default()
            }

            /// The memory that may be used.
            #[must_use]
            pub fn budget(self, budget: Budget) -> Self {
                Self { networks: Networks::new(budget) }
            }

            /// The cost of the network for some free units; it is kept for the first answer.
            pub(in crate::engine) fn estimate(&self, machine: &Machine, free: &[usize]) -> Estimate {
                self.solver().estimate(machine, free)
            }

            /// The characteristic function `⟨exp(i Σ x_c s_c)⟩` of some units given the evidence,
            /// for each of several choices of x (Rüger 1997, corollary 3.2).
            ///
            /// *Complexity*: a pass with complex numbers for each choice, on all cores.
            ///
            /// # Example
            /// ```
            /// use isinglass::{Eliminate, Evidence, topology};
            /// let (coin, none, at) = (topology::chain(1), Evidence::none(1), [vec![(0, 0.7)]]);
            /// let value = Eliminate::default().characteristic(&coin, &none, &at)?[0];
            /// assert!((value.re - 0.7f64.cos()).abs() < 1e-15 && value.im.abs() < 1e-15);
            /// # Ok::<(), isinglass::Error>(())
            /// ```
            pub fn characteristic(
                &self,
                machine: &Machine,
                evidence: &Evidence,
                frequencies: &[Vec<(usize, f64)>],
            ) -> Result<Vec<Complex64>> {
                self.solver().characteristic(machine, evidence, frequencies)
            }

            /// The probabilities of every joint state of a few units by Fourier inference (Rüger
            /// 1997, theorem 3.4): the result of [`Engine::joint`] by another method.
            ///
            /// *Complexity*: a pass with complex numbers for each subset of up to 12 asked units.
            pub fn joint_by_fourier(
                &self,
                machine: &Machine,
                evidence: &Evidence,
                ask: &[usize],
            ) -> Result<JointTable> {
                self.solver().joint_by_fourier(machine, evidence, ask)
            }
        }

        impl From<ExactSettings> for $engine {
            fn from(settings: ExactSettings) -> Self {
                Self::new().budget(settings.budget)
            }
        }

        impl Sampler for $engine {
            fn draw(&self, machine: &Machine, evidence: &Evidence, count: usize, seed: u64) -> Result<Draws> {
                self.solver().draw(machine, evidence, count, seed)
            }
        }

        /// One forward pass at each temperature, with numbers that carry their derivatives.
        impl Scanner for $engine {
            fn scan(&self, machine: &Machine, evidence: &Evidence, request: &ScanRequest) -> Result<Scan> {
                let scan = self.solver().scan(machine, evidence, request)?;
                Ok(Scan { overlaps: of_draws(self, machine, evidence, request)?, ..scan })
            }
        }

        impl ModeFinder for $engine {
            fn mode(&self, machine: &Machine, evidence: &Evidence) -> Result<Mode> {
                self.solver().mode(machine, evidence)
            }
        }
    };
}

engine_by_network!(Decimate);
engine_by_network!(Eliminate);
