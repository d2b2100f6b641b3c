//! Engine `temper`: parallel tempering.

mod bonds;
mod cluster;
mod ground;
mod ladder;
mod persistent;
mod reference;
mod reweight;
mod run;
mod scan;
mod solution;
mod team;
mod temperatures;
mod tuned;

use std::sync::Arc;

use self::bonds::Bonds;
use self::ladder::Ladder;
pub(crate) use self::persistent::{Drawn, Length, Persistent};
use self::run::{Run, Schedule};
use self::solution::{Found, Solution, log_ratio};
pub use self::temperatures::Temperatures;
use super::answer::{self, Average};
use super::kernel::{Couplings, Model};
use crate::engine::fields::Fields;
use crate::engine::joint::check_asked;
use crate::engine::parts::{Piece, solve_in_parts, statistics_bytes};
use crate::engine::{
    Ask, BatchExpectations, Draws, Engine, Expectations, Guarantee, JointTable, ModeFinder, PairMoments,
    Pairs, Sampler, Scanner,
};
use crate::settings::{Settings, choices, constructors, range, settings};
use crate::table::{Batch, Group};
use crate::{Error, Evidence, Machine, Result};

choices! {
    /// Moves of tempered chains besides the update of one unit after the other.
    pub enum Moves = Auto {
        /// Those that pay, as burn-in shows.
        Auto = "auto",
        /// None.
        Single = "single",
        /// Clusters of units: those that turn together where couplings are not frustrated, and those
        /// that two ladders exchange.
        Cluster = "cluster",
    }
}

settings! {
    /// Settings of [`Temper`].
    pub struct TemperSettings for Temper {
        /// Levels of the ladder; if not given, as many as swaps need
        levels: Option<usize> = None => range::at_least_2,
        /// The ladder itself, as temperatures such as 4,2,1.4,1; infinity and the machine's own are added
        temperatures: Option<Temperatures> = None,
        /// Independent runs of two ladders each
        replicas: usize = 8 => range::at_least_2,
        /// Sweeps of every chain after burn-in; if not given, 16384 and up to four times as many until all is well sampled
        sweeps: Option<usize> = None => range::at_least_64,
        /// Sweeps before, which tune the ladder
        burn_in: usize = 4096,
        /// Moves besides the update of one unit after the other
        moves: Moves = Moves::Auto,
    }
    common { seed, budget }
    also check_ladder;
}

constructors!(Temper(TemperSettings));

fn check_ladder(settings: &TemperSettings) -> Result<()> {
    let Some(temperatures) = settings.temperatures else { return Ok(()) };
    if settings.levels.is_some() {
        return Err(Error::setting(
            "levels",
            "the temperatures of the ladder are given; give one of the two",
        ));
    }
    if temperatures.list().is_none() {
        return Err(Error::setting("temperatures", "expected temperatures such as 4,2,1.4,1"));
    }
    Ok(())
}

/// Parallel tempering: means, pair moments and log Z with standard errors, for any graph.
///
/// Chains run at the levels of a ladder, `p_k(s) ∝ q(s)^(1 − b_k) p(s)^(b_k)` with b from 0 (q,
/// independent units with the machine's means, as burn-in finds them) to 1 (p, the machine), and
/// exchange their levels, so that a state found hot can cool down elsewhere. Swaps are offered to even and odd pairs in turn, which makes chains travel
/// (Syed et al. 2022); the levels are placed so that all swaps are equally likely, and there are as
/// many as that takes. log Z joins all levels from the known end to the other.
///
/// *Complexity*: replicas × 2 × levels × sweeps × (units + edges). *Memory*: the chains, and the kept
/// states as bits.
/// *Accuracy*: standard errors from blocks of independent runs.
/// *When it fails*: where chains do not travel between the ends of the ladder; then `converged` is
/// false, as it is for split-R̂ above 1.05 or below 400 effective samples.
///
/// # Example
/// ```
/// use isinglass::{Engine, Enumerate, Evidence, Pairs, Temper, topology};
/// let glass = topology::sherrington_kirkpatrick(12, 2.0, 0)?;
/// let found = Temper::new().sweeps(Some(4096)).expectations(&glass, &Evidence::none(12), Pairs::None)?;
/// let truth = Enumerate::default().expectations(&glass, &Evidence::none(12), Pairs::None)?;
/// let error = found.errors.unwrap().log_z.unwrap();
/// assert!(found.diagnostics.converged && error < 0.02);
/// assert!((found.log_z.unwrap() - truth.log_z.unwrap()).abs() < 4.0 * error);
/// # Ok::<(), isinglass::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Temper {
    pub(crate) settings: TemperSettings,
}

/// Energies beyond this leave the range of single precision.
const SCALE: f64 = 1e30;

/// The bytes of a pair and its averages.
const PAIR_BYTES: u128 = 48;

/// Levels with which a run begins.
const FIRST_LEVELS: usize = 16;

impl Temper {
    /// The name by which users choose the engine.
    pub const NAME: &'static str = "temper";

    fn schedule(&self) -> Schedule {
        Schedule::new(self.settings.sweeps, 0)
    }

    /// The levels that memory is reckoned for.
    fn most_levels(&self, free: usize) -> usize {
        let given = self.settings.temperatures.and_then(|given| given.list().map(|list| list.len() + 2));
        // Ladders grow about with the square root of the units. Up to 500 units, 8 to 40 levels were seen.
        let usual = 32 + 6 * (free as f64).sqrt() as usize;
        given.or(self.settings.levels).unwrap_or_else(|| usual.min(ladder::MOST))
    }

    /// The bytes that the chains of a machine with some free units take.
    pub(in crate::engine) fn bytes(&self, free: usize, edges: usize) -> u128 {
        let levels = self.most_levels(free);
        Couplings::bytes(free, edges)
            + Bonds::bytes(free, edges, self.settings.replicas)
            + Run::bytes(free, &self.settings, &self.schedule(), levels)
    }

    pub(in crate::engine) fn check(&self, machine: &Machine, free: usize, more: u128) -> Result<()> {
        self.validate()?;
        machine.check_scale(Self::NAME, SCALE)?;
        let bytes = self.bytes(free, machine.graph().edges().len()) + more;
        let replicas = self.settings.replicas;
        self.settings.budget.check(Self::NAME, bytes, || {
            format!(
                "{replicas} runs of two ladders of up to {} levels with {free} free units",
                self.most_levels(free)
            )
        })
    }

    fn ladder(&self, machine: &Machine) -> Ladder {
        match self.settings.temperatures.as_ref().and_then(Temperatures::list) {
            None => Ladder::from_reference(self.settings.levels.unwrap_or(FIRST_LEVELS)),
            Some(list) => {
                let own = machine.temperature();
                let hotter = list.iter().filter(|&&t| t > own).map(|t| t / own);
                Ladder::of_temperatures(&hotter.chain([1.0]).collect::<Vec<_>>())
            }
        }
    }

    fn solve(
        &self,
        machine: &Machine,
        row: &[i8],
        couplings: &Arc<Couplings>,
        number: usize,
        schedule: Schedule,
    ) -> Solution {
        let fields = Fields::<1>::new(machine, &couplings.order, &[row]);
        let places = couplings.places(row);
        let model = Model::new(machine, row, couplings);
        let ladder = self.ladder(machine);
        if couplings.are_none() {
            let apart = Ladder::from_reference(2).hottest_log_z(&model);
            let fields_of = fields.free.iter().map(|field| field[0]).collect();
            let log_z = Average::known(apart + fields.shifts[0]);
            return Solution { places, log_z, found: Found::Apart(fields_of) };
        }
        let run = Run::new(&model, ladder, &self.settings, schedule, number as u64);
        let ratio = log_ratio(&run);
        let start = run.hottest_log_z + fields.shifts[0];
        // Fields and weights are in single precision.
        let rounding = f64::from(f32::EPSILON) * ratio.mean.abs();
        let log_z =
            Average { mean: start + ratio.mean, standard_error: ratio.standard_error.hypot(rounding) };
        let mixed = run.mixed(model.units());
        Solution { places, log_z, found: Found::Run(run, mixed) }
    }

    /// The solution for one evidence; an answer needs some more bytes.
    fn solve_one(
        &self,
        machine: &Machine,
        evidence: &Evidence,
        schedule: Schedule,
        more: u128,
    ) -> Result<Solution> {
        machine.check_evidence(evidence)?;
        let free: Vec<usize> = evidence.free().collect();
        self.check(machine, free.len(), more)?;
        let couplings = Arc::new(Couplings::new(machine, &free));
        Ok(self.solve(machine, evidence.cells(), &couplings, 0, schedule))
    }
}

impl Engine for Temper {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn fingerprint(&self) -> String {
        format!("{} {}", Self::NAME, self.settings.fingerprint())
    }

    /// The moments are those of the coldest states; log Z is another estimate from the same chains.
    fn moments_are_derivatives(&self) -> bool {
        false
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

    fn expectations(&self, machine: &Machine, evidence: &Evidence, pairs: Pairs) -> Result<Expectations> {
        let count = PairMoments::count(pairs, machine.graph());
        let solution = self.solve_one(machine, evidence, self.schedule(), count as u128 * PAIR_BYTES)?;
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
        let TemperSettings { replicas, burn_in, .. } = self.settings;
        let schedule = self.schedule();
        let sweeps = schedule.samples * schedule.thin + burn_in;
        let lanes = (2 * FIRST_LEVELS * replicas * sweeps) as f64 / 16.0;
        let cost = |_: usize, group: &Group| 8.0 * lanes * (edges + 4 * group.free.len()) as f64;
        solve_in_parts(machine, batch, ask, cost, |pieces, part| {
            for Piece { group, rows } in pieces {
                let couplings = Arc::new(Couplings::new(machine, &batch.groups()[*group].free));
                for place in rows.clone() {
                    let number = batch.given_order()[place];
                    let solution = self.solve(machine, batch.row(place), &couplings, number, schedule);
                    answer::add_row(&solution, machine, (batch, place), ask, part);
                }
            }
            Ok(())
        })
    }

    /// Shares of the kept states, with standard errors.
    fn joint(&self, machine: &Machine, evidence: &Evidence, ask: &[usize]) -> Result<JointTable> {
        check_asked(machine, evidence, ask)?;
        let schedule = self.schedule();
        let states = 2 * self.settings.replicas * schedule.samples;
        answer::check_states(Self::NAME, ask.len(), states, "draws")?;
        let solution = self.solve_one(machine, evidence, schedule, PAIR_BYTES << ask.len())?;
        Ok(answer::joint_table(&solution, ask))
    }
}

impl Sampler for Temper {
    /// Draws go round the ladders, evenly over the kept states of each.
    fn draw(&self, machine: &Machine, evidence: &Evidence, count: usize, seed: u64) -> Result<Draws> {
        let engine = self.seed(seed);
        let ladders = 2 * self.settings.replicas;
        let each = count.div_ceil(ladders.max(1));
        let schedule = Schedule::new(self.settings.sweeps, each);
        let n = machine.unit_count();
        let kept = n as u128 * ladders as u128 * schedule.samples as u128 / 8;
        let solution = engine.solve_one(machine, evidence, schedule, count as u128 * n as u128 + kept)?;
        let mut cells = Vec::with_capacity(count * n);
        match &solution.found {
            Found::Apart(fields) => {
                use crate::numeric::streams::{Purpose, stream};
                use rand::RngExt;
                let mut random = stream(seed, Purpose::Draws, 0);
                for _ in 0..count {
                    cells.extend(solution.places.iter().map(|place| match *place {
                        Err(value) => value as i8,
                        Ok(place) => {
                            let up = f64::midpoint(1.0, fields[place].tanh());
                            if random.random::<f64>() < up { 1 } else { -1 }
                        }
                    }));
                }
            }
            Found::Run(run, _) => {
                for draw in 0..count {
                    let sample = draw / ladders * run.samples() / each.max(1);
                    let spin = |place: usize| 2 * i8::from(run.is_up(place, draw % ladders, sample)) - 1;
                    cells.extend(
                        solution.places.iter().map(|place| place.map_or_else(|value| value as i8, spin)),
                    );
                }
            }
        }
        let guarantee = match answer::Answer::guarantee(&solution) {
            Guarantee::Exact => Guarantee::Exact,
            _ => Guarantee::Approximation,
        };
        Ok(Draws { units: n, cells, guarantee, diagnostics: answer::Answer::diagnostics(&solution) })
    }
}
