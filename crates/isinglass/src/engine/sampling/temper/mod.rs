//! Engine `temper`: parallel tempering.

mod annealing;
mod bonds;
mod cluster;
mod ground;
mod ladder;
mod landscape;
mod persistent;
mod reference;
mod reweight;
mod run;
mod scan;
mod solution;
mod starts;
mod team;
mod temperatures;
mod trees;
mod tuned;

use std::sync::Arc;

use self::bonds::Bonds;
use self::ladder::Ladder;
pub(crate) use self::persistent::{Drawn, Length, Persistent};
use self::run::{ENOUGH_SAMPLES, MOST_SAMPLES, Run, Schedule};
use self::solution::{Sampling, log_ratio};
pub(super) use self::starts::Starts;
use self::team::LADDERS;
pub use self::temperatures::Temperatures;
use super::answer::{self, Average, Found, Solution};
use super::by_rows::{self, ByRows, PAIR_BYTES};
use super::kernel::{Couplings, Forest};
use crate::engine::joint::check_asked;
use crate::engine::{
    Ask, BatchExpectations, Draws, Engine, Expectations, Guarantee, JointTable, ModeFinder, PairMoments,
    Pairs, Sampler, Scanner,
};
use crate::settings::{Settings, choices, constructors, range, settings};
use crate::table::Batch;
use crate::{Budget, Error, Evidence, Machine, Result};

choices! {
    /// Moves of tempered chains besides the update of one unit after the other.
    ///
    /// Clusters are what [`Moves::Auto`] considers. Effective samples of the slowest unit for a second of processor
    /// time, on four 16×16 lattices with couplings ±2 and biases N(0, 0.4²): 50 to 79 with single units alone,
    /// 67 to 113 with forests, 125 to 451 with clusters. On two random graphs of 200 units of degree 3 with
    /// couplings ±1.2, forests gave 6 and 68 % more than clusters. Densely coupled machines, whose chains follow
    /// flips, have neither.
    pub enum Moves = Auto {
        /// Those of clusters that pay, as burn-in shows.
        Auto = "auto",
        /// None.
        Single = "single",
        /// Forests: every fourth sweep all units of a set without cycles are drawn at once, given the rest.
        Tree = "tree",
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
        /// Sweeps of every chain after burn-in; if not given, 4096 and up to sixteen times as many until all is well sampled
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

/// Levels with which a run begins.
const FIRST_LEVELS: usize = 16;

impl Temper {
    /// The name by which users choose the engine.
    pub const NAME: &'static str = "temper";

    /// Two for each independent run.
    fn ladders(&self) -> usize {
        LADDERS * self.settings.replicas
    }

    fn schedule(&self) -> Schedule {
        Schedule::new(self.settings.sweeps, 0, ENOUGH_SAMPLES)
    }

    /// The levels that memory is reckoned for.
    fn most_levels(&self, free: usize) -> usize {
        let given = self.settings.temperatures.and_then(|given| given.list().map(|list| list.len() + 2));
        // Ladders grow about with the square root of the units. Up to 500 units, 8 to 40 levels were seen.
        let usual = 32 + 6 * (free as f64).sqrt() as usize;
        given.or(self.settings.levels).unwrap_or_else(|| usual.min(ladder::MOST))
    }

    /// The bytes that a run keeps beyond those of the usual schedule.
    fn bytes_beyond(&self, free: usize, schedule: &Schedule) -> u128 {
        let bytes = |schedule| Run::bytes(free, &self.settings, schedule, self.most_levels(free));
        bytes(schedule).saturating_sub(bytes(&self.schedule()))
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
    ) -> Solution<Sampling> {
        Solution::new(machine, row, couplings, |model, [_, shift]| {
            let run = Run::new(model, self.ladder(machine), &self.settings, schedule, number as u64);
            let ratio = log_ratio(&run);
            // Fields and weights are in single precision.
            let rounding = f64::from(f32::EPSILON) * ratio.mean.abs();
            let log_z = Average {
                mean: run.hottest_log_z + shift + ratio.mean,
                standard_error: ratio.standard_error.hypot(rounding),
            };
            let mixed = run.mixed(model.units());
            (log_z, Sampling { run, mixed })
        })
    }
}

impl ByRows for Temper {
    type Found = Sampling;

    fn budget(&self) -> Budget {
        self.settings.budget
    }

    fn validate(&self) -> Result<()> {
        self.settings.validate()
    }

    fn bytes(&self, free: usize, edges: usize) -> u128 {
        let levels = self.most_levels(free);
        let forests = match self.settings.moves {
            Moves::Tree => Forest::bytes(free, edges, self.settings.replicas * LADDERS * levels),
            _ => 0,
        };
        Couplings::bytes(free, edges)
            + Bonds::bytes(free, edges, self.settings.replicas)
            + forests
            + Run::bytes(free, &self.settings, &self.schedule(), levels)
    }

    fn needs(&self, free: usize) -> String {
        let replicas = self.settings.replicas;
        format!(
            "{replicas} runs of two ladders of up to {} levels with {free} free units",
            self.most_levels(free)
        )
    }

    fn all_sweeps(&self) -> f64 {
        let TemperSettings { replicas, burn_in, .. } = self.settings;
        let schedule = self.schedule();
        let sweeps = schedule.samples * schedule.thin + burn_in;
        (2 * FIRST_LEVELS * replicas * sweeps) as f64
    }

    fn solve_row(
        &self,
        machine: &Machine,
        row: &[i8],
        couplings: &Arc<Couplings>,
        number: usize,
    ) -> Solution<Sampling> {
        self.solve(machine, row, couplings, number, self.schedule())
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
        let solution = by_rows::solve_one(self, machine, evidence, count as u128 * PAIR_BYTES)?;
        Ok(answer::expectations(&solution, machine, pairs))
    }

    /// Each row by itself, with streams of its own.
    fn batch(&self, machine: &Machine, batch: &Batch, ask: Ask) -> Result<BatchExpectations> {
        by_rows::solve_batch(self, machine, batch, ask)
    }

    /// Shares of the kept states, with standard errors.
    fn joint(&self, machine: &Machine, evidence: &Evidence, ask: &[usize]) -> Result<JointTable> {
        check_asked(machine, evidence, ask)?;
        // Rare states need many kept ones.
        let least = if self.settings.sweeps.is_some() { 0 } else { MOST_SAMPLES };
        let schedule = Schedule::new(self.settings.sweeps, least, ENOUGH_SAMPLES);
        let states = self.ladders() * schedule.samples;
        answer::check_states(Self::NAME, ask.len(), states, "draws")?;
        let more = (PAIR_BYTES << ask.len()) + self.bytes_beyond(machine.unit_count(), &schedule);
        let couplings = by_rows::couplings(self, machine, evidence, more)?;
        let solution = self.solve(machine, evidence.cells(), &couplings, 0, schedule);
        Ok(answer::joint_table(&solution, ask))
    }
}

impl Sampler for Temper {
    /// Draws go round the ladders, evenly over the kept states of each. The run goes on until half of
    /// them are independent, or to its limit.
    fn draw(&self, machine: &Machine, evidence: &Evidence, count: usize, seed: u64) -> Result<Draws> {
        let engine = self.seed(seed);
        let ladders = self.ladders();
        let each = count.div_ceil(ladders.max(1));
        let schedule = Schedule::new(self.settings.sweeps, each, ENOUGH_SAMPLES.max(0.5 * count as f64));
        let n = machine.unit_count();
        let more = count as u128 * n as u128 + self.bytes_beyond(n, &schedule);
        let couplings = by_rows::couplings(&engine, machine, evidence, more)?;
        let solution = engine.solve(machine, evidence.cells(), &couplings, 0, schedule);
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
            Found::Sampled(Sampling { run, .. }) => {
                for draw in 0..count {
                    let sample = draw / ladders * run.samples() / each.max(1);
                    let spin = |place: usize| 2 * i8::from(run.is_up(place, draw % ladders, sample)) - 1;
                    cells.extend(
                        solution.places.iter().map(|place| place.map_or_else(|value| value as i8, spin)),
                    );
                }
            }
        }
        let guarantee = match solution.guarantee() {
            Guarantee::Exact => Guarantee::Exact,
            _ => Guarantee::Approximation,
        };
        Ok(Draws { units: n, cells, guarantee, diagnostics: solution.diagnostics() })
    }
}
