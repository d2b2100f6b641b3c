//! Engine `gibbs`: many chains side by side, for any graph.

use std::sync::Arc;

use rayon::prelude::*;

use super::diagnostics::{Summary, summarize};
use super::kernel::{Couplings, Model};
use super::record::{Plan, Record, clear_tail};
use crate::engine::expectations::{StandardErrors, each_pair};
use crate::engine::joint::check_asked;
use crate::engine::{
    Ask, BatchExpectations, Diagnostics, Draws, Engine, Expectations, Guarantee, JointTable, Mixing,
    PairMoments, Pairs, Sampler, Statistics,
};
use crate::numeric::bits::write_spins;
use crate::settings::{Settings, constructors, range, settings};
use crate::table::Batch;
use crate::{Error, Evidence, Machine, Result, cancel};

settings! {
    /// Settings of [`Gibbs`].
    pub struct GibbsSettings for Gibbs {
        /// States of each chain that are kept
        samples: usize = 1000 => range::at_least_4,
        /// Sweeps before the first state is kept
        burn_in: usize = 1000,
        /// Sweeps from one kept state to the next
        thin: usize = 1 => range::at_least_1,
        /// Chains, each with its own random stream
        chains: usize = 32 => range::at_least_1,
    }
    common { seed, budget }
}

constructors!(Gibbs(GibbsSettings));

/// Estimates by Gibbs sampling, correct for any graph.
///
/// *Accuracy*: standard errors from effective sample sizes. *When it fails*: strong couplings make
/// chains stick; then R̂ leaves 1, and `converged` is false above 1.05 or below 400 effective
/// samples. It has no log Z; [`Ais`](crate::Ais) has.
///
/// # Example
/// ```
/// use isinglass::{Engine, Evidence, Gibbs, Pairs, topology::{self, Neighbours}};
/// let lattice = topology::grid(8, 8, Neighbours::Four);
/// let machine = lattice.with_parameters(vec![0.2; 112], vec![0.1; 64])?;
/// let answer = Gibbs::default().expectations(&machine, &Evidence::none(64), Pairs::Edges)?;
/// assert!(answer.diagnostics.converged);
/// assert!(answer.errors.unwrap().means[0] < 0.02);
/// # Ok::<(), isinglass::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Gibbs {
    pub(crate) settings: GibbsSettings,
}

/// Chains count as mixed up to this split-R̂: each half of a chain then has about ten independent
/// states. (The stricter 1.01 of Vehtari et al. 2021 is meant for a few long chains.)
const R_HAT_LIMIT: f64 = 1.05;

/// The least effective sample size, all chains together (Vehtari et al. 2021).
const LEAST_EFFECTIVE_SAMPLES: f64 = 400.0;

/// Energies beyond this leave the range of single precision.
const SCALE: f64 = 1e30;

/// The bytes of a pair and its summary.
const PAIR_BYTES: u128 = 64;

/// Draws keep at least this many states of each chain, to judge their mixing.
const JUDGED_SAMPLES: usize = 200;

impl Gibbs {
    /// The name by which users choose the engine.
    pub const NAME: &'static str = "gibbs";

    /// Check the settings and the memory that they need.
    pub fn check(&self, units: usize) -> Result<()> {
        let settings = &self.settings;
        settings.validate()?;
        settings.budget.check(Self::NAME, self.bytes(units), || {
            format!("keeping {} states of {units} units in {} chains", settings.samples, settings.chains)
        })
    }

    /// Checks the length of the evidence, its free units and the machine's numbers.
    fn check_row(&self, machine: &Machine, evidence: &Evidence) -> Result<()> {
        machine.check_evidence(evidence)?;
        machine.check_scale(Self::NAME, SCALE)?;
        self.check(evidence.free_count())
    }

    /// The bytes that the kept states of some free units take.
    pub fn bytes(&self, units: usize) -> u128 {
        Record::bytes(units, self.settings.chains, self.settings.samples)
    }

    fn plan(&self, row: usize) -> Plan {
        let settings = &self.settings;
        Plan {
            chains: settings.chains,
            burn_in: settings.burn_in,
            samples: settings.samples,
            thin: settings.thin,
            seed: settings.seed,
            first_chain: (row * settings.chains.next_multiple_of(super::kernel::CHAINS)) as u64,
        }
    }
}

/// The record of one evidence: free units in the record, clamped ones beside it.
struct Run {
    record: Record,
    /// For each unit, its place among the free units or its value.
    places: Vec<Result<usize, f64>>,
}

impl Run {
    /// Runs the chains of one row; the couplings are those of its free units.
    fn new(machine: &Machine, row: &[i8], couplings: &Arc<Couplings>, plan: &Plan) -> Self {
        let places = couplings.places(row);
        Self { record: Record::run(&Model::new(machine, row, couplings), plan), places }
    }

    /// Runs the chains of one evidence.
    fn single(machine: &Machine, evidence: &Evidence, plan: &Plan) -> Self {
        let free: Vec<usize> = evidence.free().collect();
        Self::new(machine, evidence.cells(), &Arc::new(Couplings::new(machine, &free)), plan)
    }

    fn units(&self) -> Vec<Summary> {
        (0..self.places.len()).into_par_iter().map(|unit| self.unit(unit)).collect()
    }

    fn unit(&self, unit: usize) -> Summary {
        cancel::point();
        match self.places[unit] {
            Err(value) => Summary::known(value),
            Ok(place) => summarize(self.record.chains, self.record.samples, |chain, out| {
                out.extend(self.record.sequence(place, chain));
            }),
        }
    }

    fn pair(&self, a: usize, b: usize) -> Summary {
        cancel::point();
        match (self.places[a], self.places[b]) {
            (Err(x), Err(y)) => Summary::known(x * y),
            (Err(x), Ok(_)) => self.unit(b).times(x),
            (Ok(_), Err(y)) => self.unit(a).times(y),
            (Ok(p), Ok(q)) => summarize(self.record.chains, self.record.samples, |chain, out| {
                // Equal bits are a product of +1; bits beyond the samples stay 0.
                out.extend(self.record.differences(p, q, chain).map(|word| !word));
                clear_tail(out, self.record.samples);
            }),
        }
    }

    /// ⟨s_a s_b⟩ without an error, given the means.
    fn product(&self, a: usize, b: usize, means: &[f64]) -> f64 {
        cancel::point();
        let (Ok(p), Ok(q)) = (self.places[a], self.places[b]) else {
            return means[a] * means[b];
        };
        let (chains, samples) = (self.record.chains, self.record.samples);
        let differences = (0..chains).flat_map(|chain| self.record.differences(p, q, chain));
        let apart: u64 = differences.map(|word| u64::from(word.count_ones())).sum();
        1.0 - 2.0 * apart as f64 / (chains * samples) as f64
    }

    /// Kept states: the first of each chain, then the second of each, and so on.
    fn draws(&self, count: usize) -> Vec<i8> {
        let (units, chains) = (self.places.len(), self.record.chains);
        let (free, places): (Vec<usize>, Vec<usize>) =
            (0..units).filter_map(|unit| self.places[unit].ok().map(|place| (unit, place))).unzip();
        let clamped: Vec<i8> = self.places.iter().map(|place| place.err().unwrap_or(0.0) as i8).collect();
        let mut cells = vec![0; count * units];
        // 64 states of every chain at a time.
        let parts = cells.par_chunks_mut((64 * chains * units).max(1)).enumerate();
        parts.for_each(|(word, cells)| {
            let count = cells.len() / units.max(1);
            let mut spins = vec![0; free.len()];
            for chain in 0..chains.min(count) {
                self.record.each_state(chain, word, &places, |time, state| {
                    let draw = time * chains + chain;
                    let Some(cells) = cells.get_mut(draw * units..(draw + 1) * units) else { return };
                    if free.len() == units {
                        return write_spins(state, cells);
                    }
                    write_spins(state, &mut spins);
                    cells.copy_from_slice(&clamped);
                    free.iter().zip(&spins).for_each(|(&unit, &spin)| cells[unit] = spin);
                });
            }
        });
        cells
    }

    fn diagnostics(&self, units: &[Summary]) -> Diagnostics {
        let r_hat = units.iter().map(|unit| unit.r_hat).fold(1.0, f64::max);
        let least = |all: &mut dyn Iterator<Item = &Summary>| {
            all.map(|unit| unit.effective_samples).fold(f64::INFINITY, f64::min)
        };
        // Units that never moved reached the same value from random starts: not bad mixing.
        let moving = least(&mut units.iter().filter(|unit| unit.moved));
        let all = (self.record.chains * self.record.samples) as f64;
        Diagnostics {
            converged: r_hat <= R_HAT_LIMIT && moving >= LEAST_EFFECTIVE_SAMPLES.min(all),
            mixing: Some(Mixing {
                chains: self.record.chains,
                samples: self.record.samples,
                r_hat,
                effective_samples: least(&mut units.iter()).min(all),
                round_trips: None,
                swap_rates: Vec::new(),
            }),
            importance: None,
            iteration: None,
        }
    }
}

impl Engine for Gibbs {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn fingerprint(&self) -> String {
        format!("{} {}", Self::NAME, self.settings.fingerprint())
    }

    fn has_log_z(&self) -> bool {
        false
    }

    fn sampler(&self) -> Option<&dyn Sampler> {
        Some(self)
    }

    fn expectations(&self, machine: &Machine, evidence: &Evidence, pairs: Pairs) -> Result<Expectations> {
        self.check_row(machine, evidence)?;
        let count = PairMoments::count(pairs, machine.graph());
        let bytes = self.bytes(evidence.free_count()) + count as u128 * PAIR_BYTES;
        self.settings.budget.check(Self::NAME, bytes, || format!("moments of {count} pairs"))?;
        let run = Run::single(machine, evidence, &self.plan(0));
        let units = run.units();
        let mut wanted = Vec::with_capacity(count);
        each_pair(pairs, machine.graph(), |a, b| wanted.push((a, b)));
        let couples: Vec<Summary> = wanted.par_iter().map(|&(a, b)| run.pair(a, b)).collect();
        Ok(Expectations {
            log_z: None,
            means: units.iter().map(|unit| unit.mean).collect(),
            correlations: PairMoments { pairs, values: couples.iter().map(|pair| pair.mean).collect() },
            guarantee: Guarantee::Estimate,
            errors: Some(StandardErrors {
                log_z: None,
                means: units.iter().map(|unit| unit.standard_error).collect(),
                correlations: couples.iter().map(|pair| pair.standard_error).collect(),
            }),
            diagnostics: run.diagnostics(&units),
        })
    }

    fn batch(&self, machine: &Machine, batch: &Batch, ask: Ask) -> Result<BatchExpectations> {
        Error::check_length("units of the batch", batch.unit_count(), machine.unit_count())?;
        for group in batch.groups() {
            self.check(group.free.len())?;
        }
        machine.check_scale(Self::NAME, SCALE)?;
        let n = machine.unit_count();
        let mut statistics = ask.statistics.then(|| Statistics::zero(machine.graph()));
        let mut means = ask.means.then(|| vec![0.0; batch.row_count() * n]);
        let mut diagnostics = Diagnostics::direct();
        let wanted = ask.statistics || ask.means;
        for group in batch.groups().iter().filter(|_| wanted) {
            let couplings = Arc::new(Couplings::new(machine, &group.free));
            let places: Vec<usize> = group.rows.clone().collect();
            // Rows are drawn on all cores and summed in order, within the budget.
            let at_once = (u128::from(self.settings.budget.0) / self.bytes(group.free.len()).max(1))
                .clamp(1, 64) as usize;
            for places in places.chunks(at_once) {
                let rows: Vec<_> = places
                    .par_iter()
                    .map(|&place| {
                        let plan = self.plan(batch.given_order()[place]);
                        let run = Run::new(machine, batch.row(place), &couplings, &plan);
                        let units: Vec<Summary> = (0..n).map(|unit| run.unit(unit)).collect();
                        let row_means: Vec<f64> = units.iter().map(|unit| unit.mean).collect();
                        let edges = machine.graph().edges().iter().filter(|_| ask.statistics);
                        let edges: Vec<f64> = edges.map(|&(a, b)| run.product(a, b, &row_means)).collect();
                        (row_means, edges, run.diagnostics(&units))
                    })
                    .collect();
                for (&place, (row_means, row_edges, row_diagnostics)) in places.iter().zip(rows) {
                    if let Some(sums) = &mut statistics {
                        sums.add(&row_means, &row_edges, batch.weights()[place]);
                    }
                    if let Some(means) = &mut means {
                        let given = batch.given_order()[place];
                        means[given * n..(given + 1) * n].copy_from_slice(&row_means);
                    }
                    diagnostics = diagnostics.and(row_diagnostics);
                }
            }
        }
        Ok(BatchExpectations {
            log_z: None,
            log_z_errors: None,
            statistics,
            means,
            guarantee: Guarantee::Estimate,
            diagnostics,
        })
    }

    /// Shares of the kept states, with standard errors.
    fn joint(&self, machine: &Machine, evidence: &Evidence, ask: &[usize]) -> Result<JointTable> {
        check_asked(machine, evidence, ask)?;
        self.check_row(machine, evidence)?;
        let settings = &self.settings;
        if 1 << ask.len() > settings.chains * settings.samples {
            return Err(Error::CannotDo {
                who: Self::NAME,
                what: format!("tell apart the 2^{} states of {0} units", ask.len()),
                why: format!(
                    "it keeps only {} states; ask for fewer units, or take more samples or an exact engine",
                    settings.chains * settings.samples
                ),
            });
        }
        let run = Run::single(machine, evidence, &self.plan(0));
        let record = &run.record;
        let places: Vec<usize> = ask.iter().filter_map(|&unit| run.places[unit].ok()).collect();
        let shares: Vec<Summary> = (0..1usize << ask.len())
            .into_par_iter()
            .map(|number| {
                let state = JointTable::state(ask.len(), number);
                summarize(record.chains, record.samples, |chain, out| {
                    out.resize(record.samples.div_ceil(64), u64::MAX);
                    clear_tail(out, record.samples);
                    for (&place, &s) in places.iter().zip(&state) {
                        for (word, &up) in out.iter_mut().zip(record.sequence(place, chain)) {
                            *word &= if s == 1 { up } else { !up };
                        }
                    }
                })
            })
            .collect();
        Ok(JointTable {
            units: ask.to_vec(),
            probabilities: shares.iter().map(|share| f64::midpoint(1.0, share.mean)).collect(),
            errors: Some(shares.iter().map(|share| share.standard_error / 2.0).collect()),
            guarantee: Guarantee::Estimate,
            diagnostics: run.diagnostics(&run.units()),
        })
    }
}

impl Sampler for Gibbs {
    /// Draws go round the chains: the first kept state of each, then the second of each, and so on.
    fn draw(&self, machine: &Machine, evidence: &Evidence, count: usize, seed: u64) -> Result<Draws> {
        let samples = count.div_ceil(self.settings.chains.max(1)).max(JUDGED_SAMPLES);
        let settings = self.settings.samples(samples).seed(seed);
        let engine = Self { settings };
        engine.check_row(machine, evidence)?;
        let n = machine.unit_count();
        let bytes = engine.bytes(evidence.free_count()) + count as u128 * n as u128;
        settings.budget.check(Self::NAME, bytes, || format!("{count} draws of {n} units"))?;
        let run = Run::single(machine, evidence, &engine.plan(0));
        let diagnostics = run.diagnostics(&run.units());
        Ok(Draws { units: n, cells: run.draws(count), guarantee: Guarantee::Approximation, diagnostics })
    }
}
