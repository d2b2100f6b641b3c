//! Engine `ais`: annealed importance sampling.

mod path;
mod row;
mod weights;
mod wiring;

use std::sync::Arc;

use rayon::prelude::*;

use self::row::Row;
use self::wiring::Wiring;
use crate::engine::expectations::{StandardErrors, each_pair};
use crate::engine::fields::Fields;
use crate::engine::joint::check_asked;
use crate::engine::parts::{Piece, solve_in_parts, statistics_bytes};
use crate::engine::{
    Ask, BatchExpectations, Engine, Expectations, Guarantee, JointTable, PairMoments, Pairs,
};
use crate::settings::{Settings, constructors, range, settings};
use crate::table::{Batch, Group};
use crate::{Error, Evidence, Machine, Result};

settings! {
    /// Settings of [`Ais`].
    pub struct AisSettings for Ais {
        /// Independent runs, each with its own random stream
        chains: usize = 1024 => range::at_least_2,
        /// Temperatures on the way from independent units to the machine
        temperatures: usize = 1000 => range::at_least_1,
    }
    rust {
        /// Gibbs sweeps at each temperature.
        sweeps: usize = 1 => range::at_least_1,
    }
    common { seed, budget }
}

constructors!(Ais(AisSettings));

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
        Wiring::bytes(free, edges) + row::bytes(free, &self.settings, rayon::current_num_threads())
    }

    fn check(&self, machine: &Machine, free: usize, more: u128) -> Result<()> {
        self.validate()?;
        machine.check_scale(Self::NAME, SCALE)?;
        let AisSettings { chains, budget, .. } = self.settings;
        let bytes = self.bytes(free, machine.graph().edges().len()) + more;
        budget.check(Self::NAME, bytes, || format!("{chains} runs with {free} free units"))
    }

    /// The row of one evidence; an answer needs some more bytes.
    fn prepare(&self, machine: &Machine, evidence: &Evidence, more: u128) -> Result<Row> {
        machine.check_evidence(evidence)?;
        let free: Vec<usize> = evidence.free().collect();
        self.check(machine, free.len(), more)?;
        let wiring = Arc::new(Wiring::new(machine, &free));
        Ok(Row { wiring, fields: Fields::new(machine, &free, &[evidence.cells()]), number: 0 })
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
        let row = self.prepare(machine, evidence, count as u128 * PAIR_BYTES)?;
        let answer = row.solve(&self.settings);
        let units: Vec<_> = (0..machine.unit_count()).into_par_iter().map(|unit| answer.unit(unit)).collect();
        let mut wanted = Vec::with_capacity(count);
        each_pair(pairs, machine.graph(), |a, b| wanted.push((a, b)));
        let couples: Vec<_> = wanted.par_iter().map(|&(a, b)| answer.pair(a, b)).collect();
        let guarantee = answer.guarantee();
        let errors = || StandardErrors {
            log_z: Some(answer.log_z.standard_error),
            means: units.iter().map(|unit| unit.standard_error).collect(),
            correlations: couples.iter().map(|pair| pair.standard_error).collect(),
        };
        Ok(Expectations {
            log_z: Some(answer.log_z.mean),
            means: units.iter().map(|unit| unit.mean).collect(),
            correlations: PairMoments { pairs, values: couples.iter().map(|pair| pair.mean).collect() },
            guarantee,
            errors: (guarantee == Guarantee::Estimate).then(errors),
            diagnostics: answer.diagnostics(),
        })
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
        let AisSettings { chains, temperatures, sweeps, .. } = self.settings;
        let lanes = chains as f64 * temperatures as f64 * sweeps as f64 / 16.0;
        let cost = |_: usize, group: &Group| 8.0 * lanes * (edges + 4 * group.free.len()) as f64;
        solve_in_parts(machine, batch, ask, cost, |pieces, part| {
            for Piece { group, rows } in pieces {
                let free = &batch.groups()[*group].free;
                let wiring = Arc::new(Wiring::new(machine, free));
                for place in rows.clone() {
                    let fields = Fields::new(machine, free, &[batch.row(place)]);
                    let number = batch.given_order()[place];
                    let row = Row { wiring: Arc::clone(&wiring), fields, number };
                    let answer = row.solve(&self.settings);
                    part.log_z.push(answer.log_z.mean);
                    part.log_z_errors.push(answer.log_z.standard_error);
                    part.guarantee = part.guarantee.and(answer.guarantee());
                    part.diagnostics = part.diagnostics.and(answer.diagnostics());
                    if !(ask.statistics || ask.means) {
                        continue;
                    }
                    let units = 0..machine.unit_count();
                    let means: Vec<f64> = units.map(|unit| answer.unit(unit).mean).collect();
                    if let Some(sums) = &mut part.statistics {
                        let edges = machine.graph().edges().iter();
                        let edges: Vec<f64> = edges.map(|&(a, b)| answer.pair(a, b).mean).collect();
                        sums.add(&means, &edges, batch.weights()[place]);
                    }
                    if ask.means {
                        part.means.extend(means);
                    }
                }
            }
            Ok(())
        })
    }

    /// Weighted shares of the runs, with standard errors.
    fn joint(&self, machine: &Machine, evidence: &Evidence, ask: &[usize]) -> Result<JointTable> {
        check_asked(machine, evidence, ask)?;
        let runs = self.settings.chains;
        let row = self.prepare(machine, evidence, PAIR_BYTES << ask.len())?;
        if !row.wiring.are_none() && 1 << ask.len() > runs {
            return Err(Error::CannotDo {
                who: Self::NAME,
                what: format!("tell apart the 2^{} states of {0} units", ask.len()),
                why: format!(
                    "it makes only {runs} runs; ask for fewer units, or take more runs or an exact engine"
                ),
            });
        }
        let answer = row.solve(&self.settings);
        let shares = answer.joint(ask);
        let guarantee = answer.guarantee();
        let errors = || shares.iter().map(|share| share.standard_error).collect();
        Ok(JointTable {
            units: ask.to_vec(),
            probabilities: shares.iter().map(|share| share.mean).collect(),
            errors: (guarantee == Guarantee::Estimate).then(errors),
            guarantee,
            diagnostics: answer.diagnostics(),
        })
    }
}
