//! Engine `ais`: annealed importance sampling.

mod path;
mod row;
mod weights;

use std::sync::Arc;

use self::row::Solution;
use super::answer;
use super::kernel::Couplings;
use super::temper::Temperatures;
use crate::engine::joint::check_asked;
use crate::engine::parts::{Piece, solve_in_parts, statistics_bytes};
use crate::engine::{Ask, BatchExpectations, Engine, Expectations, JointTable, PairMoments, Pairs};
use crate::settings::{Settings, constructors, range, settings};
use crate::table::{Batch, Group};
use crate::{Error, Evidence, Machine, Result};

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

/// Annealed importance sampling (Neal 2001): log Z with a standard error, for any graph.
///
/// Each run begins with independent units in their own fields, whose log Z is known, and goes in K
/// steps through the distributions `p_β(s) ∝ exp(Σ h_i s_i + β Σ w_ij s_i s_j)`, β = 0, 1/K, …, 1,
/// with Gibbs sweeps at each. Its weight is `ln w = Σ_k (β_{k+1} − β_k) Σ w_ij s_i s_j`
/// (Salakhutdinov & Murray 2008, for restricted machines); the mean of w is an unbiased estimate of
/// `Z / Z_0`, whatever the mixing and the number of steps. Means and pair moments are weighted
/// averages of the final states.
///
/// *Complexity*: runs × steps × sweeps × (edges + units). *Memory*: the couplings, and 64 runs for
/// each thread.
/// *Accuracy*: standard errors from the spread of the weights; for moments, those of a ratio of
/// means. `exp(log_z)` is unbiased; log Z is low by about half the square of its standard error.
/// Fields are in single precision, which the error allows for. Exact where no two free units are
/// coupled.
/// *When it fails*: with strong couplings chains fall into valleys early; then a few runs carry all
/// the weight, and `converged` is false below 100 effective samples (of few runs, half their
/// number; of many, a hundredth). Valleys that no run reached show in no diagnostic. Where weights
/// are uneven, more steps help more than more runs.
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

/// Below this, a few runs carry the weights: log Z and its error are unreliable.
const LEAST_EFFECTIVE_SAMPLES: f64 = 100.0;

/// The same as a share of the runs: the heaviest of many runs may not have been seen.
const LEAST_SHARE: f64 = 0.01;

/// Energies beyond this leave the range of single precision.
const SCALE: f64 = 1e30;

/// The bytes of a pair and its averages.
const PAIR_BYTES: u128 = 48;

impl Ais {
    /// The name by which users choose the engine.
    pub const NAME: &'static str = "ais";

    /// The bytes that the runs of a machine with some free units take.
    pub(in crate::engine) fn bytes(&self, free: usize, edges: usize) -> u128 {
        Couplings::bytes(free, edges) + row::bytes(free, &self.settings, rayon::current_num_threads())
    }

    fn check(&self, machine: &Machine, free: usize, more: u128) -> Result<()> {
        self.validate()?;
        machine.check_scale(Self::NAME, SCALE)?;
        let AisSettings { chains, budget, .. } = self.settings;
        let bytes = self.bytes(free, machine.graph().edges().len()) + more;
        budget.check(Self::NAME, bytes, || format!("{chains} runs with {free} free units"))
    }

    /// The solution for one evidence; an answer needs some more bytes.
    fn solve_one(&self, machine: &Machine, evidence: &Evidence, more: u128) -> Result<Solution> {
        machine.check_evidence(evidence)?;
        let free: Vec<usize> = evidence.free().collect();
        self.check(machine, free.len(), more)?;
        let couplings = Arc::new(Couplings::new(machine, &free));
        Ok(row::solve(machine, evidence.cells(), &couplings, 0, &self.settings))
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
        let solution = self.solve_one(machine, evidence, count as u128 * PAIR_BYTES)?;
        Ok(answer::expectations(&solution, machine, pairs))
    }

    /// Each row by itself, with streams of its own.
    fn batch(&self, machine: &Machine, batch: &Batch, ask: Ask) -> Result<BatchExpectations> {
        Error::check_length("units of the batch", batch.unit_count(), machine.unit_count())?;
        let free = batch.groups().iter().map(|group| group.free.len()).max().unwrap_or(0);
        let edges = machine.graph().edges().len();
        // Every thread may work on a row.
        let others = rayon::current_num_threads() as u128 - 1;
        let statistics = if ask.statistics { statistics_bytes(machine) } else { 0 };
        self.check(machine, free, self.bytes(free, edges) * others + statistics)?;
        // About a nanosecond for each coupling and unit in the sixteen lanes of an update.
        let AisSettings { chains, sweeps, .. } = self.settings;
        let lanes = chains as f64 * self.steps() as f64 * sweeps as f64 / 16.0;
        let cost = |_: usize, group: &Group| 8.0 * lanes * (edges + 4 * group.free.len()) as f64;
        solve_in_parts(machine, batch, ask, cost, |pieces, part| {
            for Piece { group, rows } in pieces {
                let couplings = Arc::new(Couplings::new(machine, &batch.groups()[*group].free));
                for place in rows.clone() {
                    let number = batch.given_order()[place];
                    let solution = row::solve(machine, batch.row(place), &couplings, number, &self.settings);
                    answer::add_row(&solution, machine, (batch, place), ask, part);
                }
            }
            Ok(())
        })
    }

    /// Weighted shares of the runs, with standard errors.
    fn joint(&self, machine: &Machine, evidence: &Evidence, ask: &[usize]) -> Result<JointTable> {
        check_asked(machine, evidence, ask)?;
        let runs = self.settings.chains;
        answer::check_states(Self::NAME, ask.len(), runs, "runs")?;
        let solution = self.solve_one(machine, evidence, PAIR_BYTES << ask.len())?;
        Ok(answer::joint_table(&solution, ask))
    }
}
