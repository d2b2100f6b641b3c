//! Learner `bayes`: which couplings there are, with what probability and how strong, by Markov
//! chains over machines.
//!
//! `prior` has the prior distributions, `line` the directions in which chains move, `conditionals`
//! and `joint` the two likelihoods along them, `rows` the table and its missing cells, `chain` the
//! moves, `convergence` and `posterior` what draws say.

mod chain;
mod conditionals;
mod convergence;
mod joint;
mod line;
mod posterior;
mod prior;
mod rows;

pub use posterior::{CouplingPosterior, Marginal, Posterior};
pub use prior::{Inclusion, Slab};

use std::ops::ControlFlow;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use self::chain::{Chain, Prior, State};
use self::conditionals::Conditionals;
use self::joint::Joint;
use self::line::{Frame, Target};
use self::posterior::{Draws, Summary};
use self::rows::Rows;
use super::factorized::{Alone, about_alone};
use super::origin::Origin;
use super::refit::without_zeros;
use super::{Checkpoint, Fit, Learner, Observer, Step, Stop};
use crate::engine::{Diagnostics, Guarantee, Mixing};
use crate::likelihood::filled_pseudo_log_likelihood;
use crate::settings::{Settings, range, settings};
use crate::{Engine, Error, Machine, Note, Result, Role, Table};

/// The name by which users choose the learner.
const NAME: &str = "bayes";

/// Sweeps between calls of the observer.
const BLOCK: usize = 10;

/// Chains have mixed up to this split-R̂, and from so many effective draws on.
const LARGEST_R_HAT: f64 = 1.05;
const LEAST_EFFECTIVE: f64 = 400.0;

/// Samples machines from their posterior distribution given a table: a coupling is either absent,
/// or has a value from a broad prior (spike and slab: Mitchell and Beauchamp 1988).
///
/// ```text
/// P(γ, w, θ | rows) ∝ L(rows | w, θ) Π_{i<j} [π slab(w_ij)]^γ_ij [(1 − π) δ(w_ij)]^(1 − γ_ij) Π_i 1 / (π cosh θ_i)
/// ```
///
/// with couplings and biases divided by T. L is the pseudo-likelihood, as in the R package bgms
/// (Marsman, van den Bergh and Haslbeck 2025), or, with an exact engine ([`with_engine`](Self::with_engine)),
/// the likelihood itself. The machine of the fit has the means of couplings and biases over all
/// draws; [`run`](Self::run) gives the posterior distributions.
///
/// Chains visit one coupling after another in centred units, where couplings and biases are nearly
/// independent. The conditional of a coupling given all others is approximated by Student's
/// distribution at its mode; inclusion and value are proposed together from that, and accepted by the
/// rule for moves between spaces of different dimension (Green 1995; Gottardo and Raftery 2008).
/// Missing cells are drawn in every sweep, given all others of their row, so that intervals count
/// the uncertainty about them.
///
/// # Complexity
/// `O(r)` for each visit of a coupling, r being the distinct rows; with an engine, one evaluation for
/// each visit that changes the coupling. Chains run in parallel. *Memory*: for each chain 16 bytes
/// per cell (without an engine), and 4 bytes per parameter and draw.
///
/// # Accuracy, and when it fails
/// Draws are from the stated posterior once the chains have mixed, which R̂ and effective sample
/// sizes of every coupling and of its inclusion judge; a fit whose chains have not mixed is not
/// converged. The pseudo-posterior is narrower or wider than the posterior where the
/// pseudo-likelihood is a poor stand-in, with strong couplings and few rows. A row with missing
/// cells and a weight that is no whole number is drawn as one row. Hidden units are refused, and
/// input units with an engine.
///
/// # Example
/// ```
/// use isinglass::{Table, topology};
/// use isinglass::learn::{Bayes, NoObserver};
/// // a and b are equal in nine rows of ten; c is independent of both.
/// let mut table = Table::new(["a", "b", "c"])?;
/// for (row, weight) in [([1, 1, 1], 90.0), ([-1, -1, 1], 90.0), ([1, -1, 1], 10.0), ([-1, 1, 1], 10.0)] {
///     table.push(&row, weight)?;
///     table.push(&[row[0], row[1], -1], weight)?;
/// }
/// let start = topology::full(3).with_names(["a", "b", "c"])?;
/// let posterior = Bayes::new().run(&start, &table, None, &mut NoObserver)?;
/// let [ab, ac, _] = posterior.couplings[..] else { panic!("three couplings") };
/// assert!(ab.inclusion > 0.99 && ab.weight.low < 3f64.ln() && 3f64.ln() < ab.weight.high);
/// assert!(ac.inclusion < 0.2 && ac.log_bayes_factor < 0.0, "evidence for absence");
/// # Ok::<(), isinglass::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Bayes<'a> {
    engine: Option<&'a dyn Engine>,
    pub(crate) settings: BayesSettings,
}

settings! {
    /// Settings of [`Bayes`].
    pub struct BayesSettings for Bayes<'_> {
        /// The prior distribution of a coupling that is included
        slab: Slab = Slab::Cauchy,
        /// Its scale, for couplings divided by T of units that are −1 or +1; a coupling of units that
        /// are 0 or 1 is 4 times that
        scale: f64 = 0.625 => range::positive,
        /// The prior probability that a coupling is included; or uniform: an unknown share of the
        /// couplings is included
        inclusion: Inclusion = Inclusion::Probability(0.5) => prior::within,
        /// Machines drawn by each chain
        samples: usize = 1000 => range::at_least_4,
        /// Sweeps before the first draw, in which proposals adapt
        burn_in: usize = 500,
        /// Independent chains
        chains: usize = 4 => range::at_least_2,
        /// The probability that credible intervals cover
        credible: f64 = 0.95 => range::below_1,
        /// Drop couplings from the machine that are included with a smaller probability; 0.5 leaves
        /// the median probability model
        cutoff: f64 = 0.0 => range::below_1,
    }
    common { seed, budget }
}

impl From<BayesSettings> for Bayes<'_> {
    fn from(settings: BayesSettings) -> Self {
        Self { engine: None, settings }
    }
}

/// What a checkpoint keeps.
#[derive(Serialize, Deserialize)]
struct Kept {
    chains: Vec<State>,
    history: Vec<Step>,
}

impl<'a> Bayes<'a> {
    /// With default settings: the posterior of the pseudo-likelihood.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The posterior of the likelihood itself, by an exact engine.
    #[must_use]
    pub fn with_engine(self, engine: &'a dyn Engine) -> Self {
        Self { engine: Some(engine), ..self }
    }

    /// Samples the posterior, or resumes from a checkpoint: with more samples, if requested.
    ///
    /// *Arguments*: the structure, whose couplings may be included (its numbers are not used); the
    /// table; a checkpoint; an observer, called every ten sweeps with the average log-(pseudo-)
    /// likelihood of the chains and the machine of their means at that time.
    ///
    /// # Errors
    /// Settings out of range; an engine that is not exact; hidden units; inputs with an engine;
    /// missing cells of inputs; more memory than the budget; those of the engine.
    pub fn run(
        &self,
        start: &Machine,
        table: &Table,
        from: Option<&Checkpoint>,
        observer: &mut dyn Observer,
    ) -> Result<Posterior> {
        self.validate()?;
        self.check_engine(start)?;
        self.check_memory(start, table)?;
        let rows = Rows::new(NAME, start, table)?;
        let mut centre = vec![0.0; start.unit_count()];
        let mut biases = vec![0.0; start.unit_count()];
        let (mut constant, mut empty) = (Vec::new(), Vec::new());
        for (name, (weight, sum)) in table.columns().iter().zip(table.column_sums()) {
            let unit = start.position(name)?;
            let visible = start.roles()[unit] == Role::Visible;
            centre[unit] = if weight > 0.0 { sum / weight } else { 0.0 };
            match Alone::of(weight, sum) {
                Alone::Empty if visible => empty.push(name.as_str()),
                Alone::Constant(field) if visible => {
                    constant.push(name.as_str());
                    biases[unit] = field;
                }
                Alone::Varied(field) if visible => biases[unit] = field,
                _ => {}
            }
        }
        let frame = Frame::new(start, centre);
        let origin = Origin::new(NAME, start, table, self.dependencies());
        let job = Job { settings: self.settings, frame: &frame, start, origin };
        let notes: Vec<Note> = about_alone(&constant, &empty).collect();
        let mut posterior = match self.engine {
            None => job.run(&biases, |rows| Ok(Conditionals::new(&frame, rows)), &rows, from, observer)?,
            Some(engine) => {
                job.run(&biases, |rows| Joint::new(&frame, engine, start, rows), &rows, from, observer)?
            }
        };
        posterior.engine = self.engine.map(Engine::name);
        if table.missing_count() == 0 {
            let machine = &posterior.fit.machine;
            let value = filled_pseudo_log_likelihood(machine, table, &vec![0.0; start.unit_count()])?;
            posterior.fit.pseudo_log_likelihood = Some(value);
        }
        posterior.fit.notes = notes;
        Ok(posterior)
    }

    /// All but the number of samples, of which there may be more later.
    fn dependencies(&self) -> [(&'static str, String); 2] {
        let settings = BayesSettings { samples: 0, credible: 0.0, cutoff: 0.0, ..self.settings };
        [
            ("settings", settings.fingerprint()),
            ("engine", self.engine.map_or_else(String::new, Engine::fingerprint)),
        ]
    }

    fn check_engine(&self, start: &Machine) -> Result<()> {
        let Some(engine) = self.engine else { return Ok(()) };
        if !engine.is_exact() {
            return Err(Error::CannotDo {
                who: NAME,
                what: format!("sample with the engine {}", engine.name()),
                why: "it needs exact moments; without an engine it samples the pseudo-posterior".into(),
            });
        }
        if start.with_role(Role::Input).next().is_some() {
            return Err(Error::CannotDo {
                who: NAME,
                what: "sample the exact posterior of a machine with input units".into(),
                why: "every row has a partition sum of its own; without an engine it samples the pseudo-posterior".into(),
            });
        }
        Ok(())
    }

    fn check_memory(&self, start: &Machine, table: &Table) -> Result<()> {
        let units = start.unit_count() as u128;
        // Rows with missing cells stand alone, and each chain draws its own.
        let gaps = table.missing_count() > 0;
        let rows = if gaps { table.row_count() } else { table.distinct_count() } as u128;
        let chains = self.chains as u128;
        let of_chain = if self.engine.is_none() { 24 } else { 0 } + if gaps { 8 } else { 0 };
        let cells = 8 * (units + 1) * rows + chains * of_chain * units * rows;
        let numbers = start.graph().edges().len() as u128 + units;
        // Draws are kept once, and sorted column by column.
        let draws = 4 * chains * self.samples as u128 * (numbers + 8);
        self.budget.check(NAME, cells + draws, || {
            format!("{} chains that draw {} machines each of {numbers} numbers", self.chains, self.samples)
        })
    }
}

impl Learner for Bayes<'_> {
    fn name(&self) -> &'static str {
        NAME
    }

    fn fit_from(
        &self,
        start: &Machine,
        table: &Table,
        from: Option<&Checkpoint>,
        observer: &mut dyn Observer,
    ) -> Result<Fit> {
        Ok(self.run(start, table, from, observer)?.fit)
    }
}

/// What all chains of a fit have in common.
struct Job<'a> {
    settings: BayesSettings,
    frame: &'a Frame,
    start: &'a Machine,
    origin: Origin<'a>,
}

impl Job<'_> {
    fn run<'t, T: Target + 't>(
        &self,
        biases: &[f64],
        target: impl Fn(Rows) -> Result<T>,
        rows: &Rows,
        from: Option<&Checkpoint>,
        observer: &mut dyn Observer,
    ) -> Result<Posterior> {
        let BayesSettings { slab, scale, inclusion, seed, samples, burn_in, .. } = self.settings;
        let prior = Prior { inclusion, slab, scale };
        let mut chains: Vec<Chain<'_, T>> = Vec::new();
        for number in 0..self.settings.chains {
            chains.push(Chain::new(self.frame, prior, target(rows.clone())?, biases, (seed, number)));
        }
        let mut history: Vec<Step> = Vec::new();
        if let Some(state) = from {
            let kept: Kept = self.origin.read(state)?;
            history = kept.history;
            chains.iter_mut().zip(kept.chains).for_each(|(chain, state)| chain.resume(state));
        }
        let mut sweeps = history.last().map_or(0, |step| step.iteration);
        let mut stopped = None;
        while sweeps < burn_in + samples && stopped.is_none() {
            let adapts = sweeps < burn_in;
            let end = (sweeps + BLOCK).min(if adapts { burn_in } else { burn_in + samples });
            let made: Vec<Result<()>> = chains
                .par_iter_mut()
                .map(|chain| (sweeps..end).try_for_each(|_| chain.sweep(adapts)))
                .collect();
            made.into_iter().collect::<Result<()>>()?;
            sweeps = end;
            let objective = chains.iter().map(Chain::average).sum::<f64>() / chains.len() as f64;
            let step = Step { iteration: sweeps, objective, gradient_norm: 0.0 };
            history.push(step);
            if let ControlFlow::Break(()) = observer.step(&step, &self.now(&chains)?)? {
                stopped = Some(Stop::Requested);
            }
            observer.checkpoint(&step, &|| {
                let kept = chains.iter().map(Chain::state).collect();
                self.origin.state(&Kept { chains: kept, history: history.clone() })
            })?;
        }
        if sweeps <= burn_in {
            // Stopped before the first draw: what the chains are at is all there is.
            chains.iter_mut().for_each(Chain::keep);
        }
        self.posterior(&chains, history, stopped)
    }

    /// The machine of the chains' means now.
    fn now<T: Target>(&self, chains: &[Chain<'_, T>]) -> Result<Machine> {
        let (count, temperature) = (chains.len() as f64, self.start.temperature());
        let mean =
            |of: &dyn Fn(&Chain<'_, T>) -> f64| chains.iter().map(of).sum::<f64>() * temperature / count;
        let couplings = (0..self.frame.ends.len()).map(|k| mean(&|chain| chain.at.weights[k])).collect();
        let biases = (0..self.start.unit_count()).map(|unit| mean(&|chain| chain.at.biases[unit])).collect();
        self.machine(couplings, biases)
    }

    /// The start with these couplings and biases.
    fn machine(&self, couplings: Vec<f64>, mut biases: Vec<f64>) -> Result<Machine> {
        let mut weights = self.start.weights().to_vec();
        for (&edge, w) in self.frame.edges.iter().zip(couplings) {
            weights[edge] = w;
        }
        for (unit, bias) in biases.iter_mut().enumerate() {
            if !self.frame.is_modelled[unit] {
                *bias = self.start.biases()[unit];
            }
        }
        self.start.clone().with_parameters(weights, biases)
    }

    fn posterior<T: Target>(
        &self,
        chains: &[Chain<'_, T>],
        history: Vec<Step>,
        stopped: Option<Stop>,
    ) -> Result<Posterior> {
        let draws = Draws {
            chains: chains.iter().map(|chain| &chain.draws[..]).collect(),
            width: self.frame.ends.len() + self.frame.modelled.len(),
            temperature: self.start.temperature(),
            level: self.settings.credible,
        };
        let samples = draws.samples();
        let Summary { couplings, biases, r_hat, effective_samples } =
            draws.summary(self.frame, self.settings.inclusion);
        let has_mixed = r_hat <= LARGEST_R_HAT && effective_samples >= LEAST_EFFECTIVE;
        let converged = has_mixed && stopped.is_none();
        let stopped = stopped.unwrap_or(Stop::Draws {
            count: samples * chains.len(),
            r_hat,
            effective_samples,
            has_mixed,
        });
        let mean = |found: &CouplingPosterior| {
            if found.inclusion >= self.settings.cutoff { found.weight.mean } else { 0.0 }
        };
        let means = couplings.iter().map(mean).collect();
        let offsets = biases.iter().map(|bias| bias.map_or(0.0, |found| found.mean)).collect();
        let machine = without_zeros(&self.machine(means, offsets)?)?;
        let mixing = Mixing {
            chains: chains.len(),
            samples,
            r_hat,
            effective_samples,
            round_trips: None,
            swap_rates: Vec::new(),
        };
        let diagnostics = Diagnostics { converged: has_mixed, mixing: Some(mixing), ..Diagnostics::direct() };
        let fit = Fit {
            machine,
            kept: history.len().saturating_sub(1),
            history,
            converged,
            stopped,
            log_likelihood: None,
            guarantee: Guarantee::Approximation,
            pseudo_log_likelihood: None,
            diagnostics,
            notes: Vec::new(),
        };
        let level = self.settings.credible;
        Ok(Posterior { fit, couplings, biases, level, chains: chains.len(), samples, engine: None })
    }
}
