//! Engine `ais`: annealed importance sampling.

mod bridge;
mod path;
mod row;
mod weights;

use std::sync::Arc;

use self::row::Runs;
use super::answer::{self, Solution};
use super::by_rows::{self, ByRows, PAIR_BYTES};
use super::kernel::Couplings;
use super::temper::Temperatures;
use crate::engine::joint::check_asked;
use crate::engine::{Ask, BatchExpectations, Engine, Expectations, JointTable, PairMoments, Pairs};
use crate::settings::{Settings, constructors, range, settings};
use crate::table::Batch;
use crate::{Budget, Error, Evidence, Machine, Result};

settings! {
    /// Settings of [`Ais`].
    pub struct AisSettings for Ais {
        /// Independent runs, each with its own random stream
        chains: usize = 1024 => range::at_least_2,
        /// Temperatures on the way from independent units to the machine
        temperatures: Temperatures = 1000.into(),
    }
    rust {
        /// Gibbs sweeps at each temperature.
        sweeps: usize = 1 => range::at_least_1,
    }
    common { seed, budget }
    also check_steps;
}

constructors!(Ais(AisSettings));

fn check_steps(settings: &AisSettings) -> Result<()> {
    match settings.temperatures.count() {
        Some(1..) => Ok(()),
        _ => Err(Error::setting(
            "temperatures",
            format!("found {}, expected a whole number of at least 1", settings.temperatures),
        )),
    }
}

impl AisSettings {
    /// Steps from independent units to the machine.
    pub(in crate::engine) fn steps(&self) -> usize {
        self.temperatures.count().unwrap_or(1)
    }
}

/// Annealed importance sampling from both ends: log Z with a standard error, for any graph.
///
/// Each run (Neal 2001) begins with independent units in their own fields, whose log Z is known, and
/// goes in K steps through the distributions `p_β(s) ∝ exp(Σ h_i s_i + β Σ w_ij s_i s_j)`,
/// β = 0, 1/K, …, 1, with Gibbs sweeps at each. Its weight is
/// `ln w = Σ_k (β_{k+1} − β_k) Σ w_ij s_i s_j` (Salakhutdinov & Murray 2008, for restricted machines);
/// the mean of w is an unbiased estimate of `Z / Z_0`, whatever the mixing and the number of steps.
/// So its logarithm is hardly ever too high by much, but may be far too low: nothing in the weights
/// tells of states that no run reached.
///
/// Half as many runs go the other way, from draws of the machine back to independent units, each
/// step the time reversal of the one forward. The mean of 1/w estimates `Z_0 / Z`, so these err to
/// the other side (Grosse, Ancha & Roy 2015). The draws are those of a short run of engine
/// [`temper`](crate::Temper). log Z joins both ends by Bennett's acceptance ratio. Means and pair
/// moments are weighted averages of the final states of the forward runs.
///
/// *Complexity*: 2 to 3 × runs × steps × sweeps × (edges + units), a third of it for the ladders.
/// *Memory*: the couplings, 64 runs for each thread, and 16 ladders.
/// *Accuracy*: standard errors from the spread of forward runs, and of blocks of the reverse runs of
/// each ladder; for moments, those of a ratio of means. Fields are in single precision, which the
/// error allows for. Exact where no two free units are coupled.
/// *When it fails*: with strong couplings chains fall into valleys early. `converged` is true if the
/// forward weights have 100 effective runs (of few runs half their number, of many a hundredth), if
/// the reverse runs leave log Z where the forward runs put it, within three standard errors, and
/// know it to 0.1, and if the ladders mixed: chains travelled between their ends, and every unit
/// whose rarer value has a hundredth of the draws has split-R̂ up to 1.05 and 100 effective samples.
/// Otherwise the standard error of log Z is at least half the distance of the estimates from
/// either end alone, if it is the ends that disagree; those of moments may be too small. Valleys
/// that neither runs nor ladders reached show in no diagnostic. More steps help more than more runs.
///
/// # Example
/// ```
/// use isinglass::{Ais, Engine, Enumerate, Evidence, Pairs, topology};
/// let glass = topology::sherrington_kirkpatrick(12, 1.0, 0)?;
/// let found = Ais::default().expectations(&glass, &Evidence::none(12), Pairs::None)?;
/// let truth = Enumerate::default().expectations(&glass, &Evidence::none(12), Pairs::None)?;
/// let error = found.errors.unwrap().log_z.unwrap();
/// assert!(found.diagnostics.converged && error < 0.01);
/// assert!((found.log_z.unwrap() - truth.log_z.unwrap()).abs() < 4.0 * error);
/// # Ok::<(), isinglass::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Ais {
    pub(crate) settings: AisSettings,
}

impl Ais {
    /// The name by which users choose the engine.
    pub const NAME: &'static str = "ais";
}

impl ByRows for Ais {
    type Found = Runs;

    fn budget(&self) -> Budget {
        self.settings.budget
    }

    fn validate(&self) -> Result<()> {
        self.settings.validate()
    }

    fn bytes(&self, free: usize, edges: usize) -> u128 {
        Couplings::bytes(free, edges) + self.settings.bytes(free, edges, rayon::current_num_threads())
    }

    fn needs(&self, free: usize) -> String {
        format!("{} runs with {free} free units", self.settings.chains)
    }

    fn all_sweeps(&self) -> f64 {
        self.settings.all_sweeps()
    }

    fn solve_row(
        &self,
        machine: &Machine,
        row: &[i8],
        couplings: &Arc<Couplings>,
        number: usize,
    ) -> Solution<Runs> {
        Solution::new(machine, row, couplings, |model, [apart, shift]| {
            row::sample(model, apart + shift, number, &self.settings)
        })
    }
}

impl Engine for Ais {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn fingerprint(&self) -> String {
        format!("{} {}", Self::NAME, self.settings.fingerprint())
    }

    /// The moments are those of the weighted states; log Z is another estimate from the same runs.
    fn moments_are_derivatives(&self) -> bool {
        false
    }

    fn expectations(&self, machine: &Machine, evidence: &Evidence, pairs: Pairs) -> Result<Expectations> {
        let count = PairMoments::count(pairs, machine.graph());
        let solution = by_rows::solve_one(self, machine, evidence, count as u128 * PAIR_BYTES)?;
        Ok(answer::expectations(&solution, machine, pairs))
    }

    /// Each row by itself, with streams of its own.
    fn batch(&self, machine: &Machine, batch: &Batch, ask: Ask) -> Result<BatchExpectations> {
        by_rows::solve_batch(self, machine, batch, ask)
    }

    /// Weighted shares of the runs, with standard errors.
    fn joint(&self, machine: &Machine, evidence: &Evidence, ask: &[usize]) -> Result<JointTable> {
        check_asked(machine, evidence, ask)?;
        let runs = self.settings.chains;
        answer::check_states(Self::NAME, ask.len(), runs, "runs")?;
        let solution = by_rows::solve_one(self, machine, evidence, PAIR_BYTES << ask.len())?;
        Ok(answer::joint_table(&solution, ask))
    }
}
