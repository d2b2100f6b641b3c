//! Learner `contrastive-divergence`: Gibbs steps away from the rows, or persistent chains.

use fearless_simd::Level;
use serde::Serialize;

use super::data::{Data, rows_of_epoch};
use super::kernel::{Kernel, Pieces, Plan, Use, cut};
use super::slots::{Ascent, Slots};
use crate::engine::{Diagnostics, Guarantee};
use crate::learn::journal::{
    Ended, Iterated, Journal, Limits, are_within, iterate, iterate_on, left_behind, state_at_the_end,
};
use crate::learn::notes::about_likelihood;
use crate::learn::origin::Origin;
use crate::learn::{Checkpoint, Fit, L2, Learner, Observer, Period, Step, Stop, penalty};
use crate::settings::{Settings, constructors, range, settings};
use crate::{Error, Machine, Result, Table};

/// The name by which users choose the learner.
const NAME: &str = "contrastive-divergence";

/// Energies beyond this leave the range of single precision.
const SCALE: f64 = 1e30;

/// Bytes of a parameter: the numbers of a fit, and its state as numbers and as bytes.
const BYTES_OF_A_PARAMETER: u128 = 48 + 32;

/// Most rows on which the objective is computed.
const JUDGED_ROWS: usize = 1000;

/// Learns by contrastive divergence (Hinton 2002): the gradient of the likelihood, with moments a
/// few Gibbs sweeps away from the rows instead of the machine's own.
///
/// ```text
/// Δw_ij ∝ ( ⟨s_i s_j⟩_rows − ⟨s_i s_j⟩_after k sweeps ) / T − λ w_ij
/// v ← μ v + η_t Δw,   w ← w + v        η_t = η / (1 + decay · t) in epoch t
/// ```
///
/// averaged over a mini-batch of rows. The first moments have visible and input cells clamped, the
/// second input cells alone. Hidden units without hidden neighbours are taken at their conditional
/// means; other hidden units and missing cells are drawn by `clamped_sweeps` Gibbs sweeps. With
/// `persistent`, sweeps continue persistent chains instead of beginning at the rows (Younes 1989,
/// Tieleman 2008); for each mini-batch, chain c has the inputs of row c.
///
/// An epoch takes rows in random order, each with a frequency in proportion to its weight. If all
/// weights are whole numbers (with a sum below 2³²), an epoch has as many rows as they add up to,
/// so that repeated rows and counted rows are trained alike; otherwise as many as were given. The
/// last mini-batch of an epoch may be smaller.
///
/// # Objective
/// The average over rows of the sum over visible cells of `ln P(s_i | all other units)`, with
/// hidden units and missing cells drawn given the row, on all distinct rows or 1,000 drawn by
/// weight, with the same random numbers in each epoch. Without hidden units and missing cells it is
/// the pseudo-log-likelihood; with them it is larger, since they were drawn given the cell itself:
/// use it to monitor progress only. The gradient in [`Step`] is the average over the epoch's
/// mini-batches; at the start, that of up to 1,000 rows.
///
/// # Complexity
/// About `(3 + 2k)` multiplications per row and edge in an epoch, in single precision: products of
/// dense matrices for two layers without couplings within them, otherwise sums along the edges.
/// *Memory*: a byte per cell, about 80 bytes per parameter, 4 bytes per row of an epoch.
///
/// # Accuracy, and when it fails
/// For k → ∞ the gradient is that of the likelihood, with noise; for small k it is biased, and
/// parameters settle near the optimum. Persistent chains have less bias if the rate is small enough
/// for them to keep up. Convergence is not detected: the fit runs all epochs,
/// [`Fit::converged`] is false, and [`Fit::log_likelihood`] is `None`. If parameters diverge, the
/// fit ends with the machine of the epoch before and says so; in the first epoch it is an error.
///
/// # Example
/// ```
/// use isinglass::{Table, topology};
/// use isinglass::learn::{ContrastiveDivergence, Learner, start};
/// let rows = [[1, 1, 1], [-1, -1, -1], [1, 1, 1], [-1, -1, -1], [1, 1, -1], [1, -1, -1]];
/// let table = Table::from_rows(["v0", "v1", "v2"], rows)?;
/// let start = start(&topology::rbm(3, 2)?, &table, 0, 0)?;
/// let learner = ContrastiveDivergence::new().iterations(200).batch(6);
/// let fit = learner.fit(&start, &table)?;
/// assert!(fit.history[200].objective > fit.history[0].objective);
/// # Ok::<(), isinglass::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ContrastiveDivergence {
    pub(crate) settings: ContrastiveDivergenceSettings,
}

settings! {
    /// Settings of [`ContrastiveDivergence`].
    pub struct ContrastiveDivergenceSettings for ContrastiveDivergence {
        /// Penalise couplings with X/2 times the sum of their squares
        l2 (into): L2 = L2::Weight(0.0) => penalty::number,
        /// The rate
        rate: f64 = 0.02 => range::positive,
        /// How fast the rate falls: in epoch t it is rate / (1 + X t)
        rate_decay: f64 = 0.5 => range::not_negative,
        /// Share of the last step that is kept, below 1
        momentum: f64 = 0.5 => range::below_1,
        /// Epochs: passes over the table
        iterations: usize = 10,
        /// Rows of a mini-batch
        batch: usize = 10 => range::at_least_1,
        /// Gibbs sweeps from the rows to the machine's own states, or of the chains for each mini-batch
        steps: usize = 1 => range::at_least_1,
        /// The machine's own states are persistent chains, and do not start at the rows
        persistent: bool = false,
        /// persistent: chains [default: as many as a mini-batch has rows]
        chains: Option<usize> = None => range::at_least_1,
    }
    rust {
        /// Gibbs sweeps of hidden units and missing cells given the row, where these depend on each other.
        clamped_sweeps: usize = 5 => range::at_least_1,
    }
    common { seed, budget }
    also ContrastiveDivergenceSettings::check_chains;
}

constructors!(ContrastiveDivergence(ContrastiveDivergenceSettings));

impl ContrastiveDivergenceSettings {
    fn check_chains(&self) -> Result<()> {
        match (self.chains, self.persistent) {
            (Some(_), false) => Err(Error::requires("chains", "persistent", "")),
            _ => Ok(()),
        }
    }
}

impl Learner for ContrastiveDivergence {
    fn name(&self) -> &'static str {
        NAME
    }

    fn converges(&self) -> bool {
        false
    }

    fn fit_from(
        &self,
        start: &Machine,
        table: &Table,
        from: Option<&Checkpoint>,
        observer: &mut dyn Observer,
    ) -> Result<Fit> {
        self.validate()?;
        start.check_scale(NAME, SCALE)?;
        let mut run = Run::new(self, start, table, 0)?;
        let journey = (self.origin(start, table), self.limits());
        let ended = iterate(NAME, &mut run, journey, from, observer)?;
        Ok(run.fit(ended, table))
    }
}

impl ContrastiveDivergence {
    /// Runs the learner's epochs from a machine, and from the state that earlier epochs left,
    /// perhaps on other rows and with other settings.
    ///
    /// Momentum and persistent chains are resumed, and epochs are counted on, so that the rate
    /// keeps falling and random numbers differ. The history is that of all epochs. On the same
    /// table with the same settings, epochs run one by one give the same bits as all at once.
    ///
    /// # Errors
    /// As [`Learner::fit_from`]; a state of a machine with another structure.
    ///
    /// # Example
    /// ```
    /// use isinglass::{Table, topology};
    /// use isinglass::learn::{ContrastiveDivergence, Learner, NoObserver, start};
    /// let rows = [[1, 1, 1], [-1, -1, -1], [1, 1, 1], [-1, -1, -1], [1, 1, -1], [1, -1, -1]];
    /// let table = Table::from_rows(["v0", "v1", "v2"], rows)?;
    /// let start = start(&topology::rbm(3, 2)?, &table, 0, 0)?;
    /// let learner = ContrastiveDivergence::new().iterations(1).persistent(true);
    /// let first = learner.run_epochs(&start, &table, None, &mut NoObserver)?;
    /// let second = learner.run_epochs(&first.fit.machine, &table, first.state.as_ref(), &mut NoObserver)?;
    /// let both = learner.iterations(2).fit(&start, &table)?;
    /// assert_eq!((second.fit.machine, second.fit.history), (both.machine, both.history));
    /// # Ok::<(), isinglass::Error>(())
    /// ```
    pub fn run_epochs(
        &self,
        machine: &Machine,
        table: &Table,
        before: Option<&Checkpoint>,
        observer: &mut dyn Observer,
    ) -> Result<Epochs> {
        self.validate()?;
        machine.check_scale(NAME, SCALE)?;
        let origin = self.origin(machine, table);
        let left = before.map(|before| left_behind::<Rest>(&origin, before)).transpose()?;
        let (history, rest) = left.map_or((Vec::new(), None), |(history, rest)| (history, Some(rest)));
        let made = history.len().saturating_sub(1);
        let mut run = Run::new(self, machine, table, rest.as_ref().map_or(0, |rest| rest.2.len()))?;
        if let Some(rest) = rest {
            run.resume(rest)?;
        }
        let limits = Limits { iterations: made.saturating_add(self.iterations), ..self.limits() };
        let journal = Journal::with_history(origin.clone(), history);
        let ended = iterate_on(NAME, &mut run, journal, limits, observer)?;
        // After divergence there is no state; the machine is that of the epoch before.
        let state =
            (!ended.diverged).then(|| state_at_the_end(&origin, &ended.history, &run.rest())).transpose()?;
        let is_complete = ended.history.len() > limits.iterations;
        Ok(Epochs { fit: run.fit(ended, table), state, is_complete })
    }

    fn limits(&self) -> Limits {
        Limits { iterations: self.iterations, tolerance: 0.0, period: Period::Epoch }
    }

    fn origin<'o>(&self, start: &'o Machine, table: &'o Table) -> Origin<'o> {
        let chains = self.chains.map_or_else(|| "as many as a mini-batch has rows".into(), |n| n.to_string());
        let settings = [
            ("steps", self.steps.to_string()),
            ("persistent", self.persistent.to_string()),
            ("chains", chains),
            ("clamped sweeps", self.clamped_sweeps.to_string()),
            ("batch", self.batch.to_string()),
            ("rate", format!("{:?}", self.rate)),
            ("rate decay", format!("{:?}", self.rate_decay)),
            ("momentum", format!("{:?}", self.momentum)),
            ("l2", format!("{:?}", self.l2.weight())),
            ("seed", self.seed.to_string()),
        ];
        Origin::new(NAME, start, table, settings)
    }
}

/// The result of [`ContrastiveDivergence::run_epochs`].
#[derive(Debug, Clone, PartialEq)]
pub struct Epochs {
    /// The fit, with the history of all epochs so far.
    pub fit: Fit,
    /// The state to resume from; `None` if parameters diverged.
    pub state: Option<Checkpoint>,
    /// Whether all epochs were run.
    pub is_complete: bool,
}

/// Parameters (weights, then biases), velocities in the same order, the states of the chains.
type Rest = (Vec<f64>, Vec<f64>, Vec<i8>);

/// A fit in progress.
struct Run<'a> {
    settings: &'a ContrastiveDivergence,
    plan: Plan,
    data: Data,
    kernel: Kernel,
    slots: Slots,
    ascent: Ascent,
    pieces: Pieces,
    /// The rows of an epoch.
    order: Vec<u32>,
    judged: (Vec<u32>, Vec<f64>),
    judges: Pieces,
    machine: Machine,
}

impl<'a> Run<'a> {
    /// *Arguments*: the settings, and the number of cells of the persistent chains to resume.
    /// Unless given, the number of chains does not shrink: the last mini-batch may have been small.
    fn new(
        settings: &'a ContrastiveDivergence,
        start: &Machine,
        table: &Table,
        chain_cells: usize,
    ) -> Result<Self> {
        let cells = table.distinct_count() as u128 * start.unit_count() as u128;
        settings.budget.check(NAME, 2 * cells, || format!("{cells} cells"))?;
        let data = Data::new(start, table)?;
        let rows = settings.batch.min(data.epoch_rows);
        let usual = rows.max(chain_cells / start.unit_count().max(1));
        let chains = if settings.persistent { settings.chains.unwrap_or(usual) } else { 0 };
        let judged = data.shares.len().min(JUDGED_ROWS);
        let sizes = [(rows, chains), (judged, 0)];
        let pieces = sizes.map(|(rows, chains)| cut(start, rows.max(chains)));
        let (parameters, states) = Kernel::sizes(start, &pieces);
        // The order from which judged rows are drawn is freed before that of an epoch is made.
        let needed = 2 * cells
            + 4 * data.epoch_rows as u128
            + states
            + parameters * (BYTES_OF_A_PARAMETER + 4 * pieces[0].0 as u128)
            + 2 * chains as u128 * start.unit_count() as u128;
        let rows = data.epoch_rows;
        settings.budget.check(NAME, needed, || {
            format!("{cells} cells, {rows} rows of an epoch, {parameters} parameters and {chains} chains")
        })?;
        let kernel = Kernel::new(start);
        let slots = kernel.slots(start);
        let plan = Plan {
            level: Level::new(),
            seed: settings.seed,
            steps: settings.steps,
            clamped_sweeps: settings.clamped_sweeps,
        };
        Ok(Self {
            ascent: Ascent::new(&slots, start, settings.momentum, settings.l2.weight()),
            pieces: Pieces::new(&kernel, start, &plan, sizes[0], slots.count),
            judges: Pieces::new(&kernel, start, &plan, sizes[1], 0),
            order: Vec::new(),
            judged: judged_rows(&data, settings.seed),
            machine: start.clone(),
            settings,
            plan,
            data,
            kernel,
            slots,
        })
    }

    /// Resumes velocities and chains of a fit to other rows, with the machine's own parameters.
    /// Missing chains begin at rows.
    fn resume(&mut self, (_, velocity, chains): Rest) -> Result<()> {
        self.begin_chains();
        let mut all = self.pieces.chains();
        if chains.len() % self.machine.unit_count().max(1) != 0 {
            return Err(Error::checkpoint("its chains are not of this machine"));
        }
        all.iter_mut().zip(chains).for_each(|(cell, before)| *cell = before);
        self.restore((self.slots.gather(&self.ascent.parameters), velocity, all), 0)
    }

    fn fit(self, ended: Ended, table: &Table) -> Fit {
        Fit {
            kept: ended.history.len() - 1,
            notes: about_likelihood(&self.machine, table),
            machine: self.machine,
            history: ended.history,
            converged: ended.converged,
            stopped: ended.stopped,
            log_likelihood: None,
            guarantee: Guarantee::Approximation,
            pseudo_log_likelihood: None,
            diagnostics: Diagnostics::direct(),
        }
    }

    /// Loads the parameters and starts the chains at rows of the first epoch.
    fn begin_chains(&mut self) {
        self.kernel.load(self.plan.level, &self.ascent.parameters);
        rows_of_epoch(&self.data, self.settings.seed, 0, &mut self.order);
        self.pieces.begin_chains(&self.kernel, &self.plan, &self.data, &self.order);
    }

    fn objective(&mut self) -> f64 {
        let (rows, weights) = &self.judged;
        self.judges.objective(&self.kernel, &self.plan, &self.data, (rows, weights))
    }
}

impl Iterated for Run<'_> {
    type Rest = Rest;

    fn rest(&self) -> impl Serialize {
        let Ascent { parameters, velocity, .. } = &self.ascent;
        (self.slots.gather(parameters), self.slots.gather(velocity), self.pieces.chains())
    }

    fn restore(&mut self, (parameters, velocity, chains): Self::Rest, _epoch: usize) -> Result<()> {
        let count = self.slots.edges.len() + self.slots.units.len();
        Error::check_length("parameters of the state", parameters.len(), count)?;
        Error::check_length("velocities of the state", velocity.len(), count)?;
        Error::check_length("chains of the state", chains.len(), self.pieces.chains().len())?;
        self.ascent.parameters = self.slots.scatter(&parameters);
        self.ascent.velocity = self.slots.scatter(&velocity);
        self.machine = self.slots.machine_of(&self.machine, &self.ascent.parameters)?;
        self.kernel.load(self.plan.level, &self.ascent.parameters);
        self.pieces.set_chains(&chains);
        Ok(())
    }

    fn begin(&mut self) -> Result<Step> {
        self.begin_chains();
        self.pieces.begin(&self.plan, Use::Start);
        let most = JUDGED_ROWS.max(self.settings.batch).min(self.order.len());
        let mut batches = 0;
        for rows in self.order[..most].chunks(self.settings.batch) {
            self.ascent.note(self.pieces.contrast(&self.kernel, &self.plan, &self.data, rows));
            batches += 1;
        }
        // The chains have moved.
        self.pieces.begin_chains(&self.kernel, &self.plan, &self.data, &self.order);
        let gradient_norm = self.ascent.take_norm(batches);
        Ok(Step { iteration: 0, objective: self.objective(), gradient_norm })
    }

    fn advance(&mut self, epoch: usize) -> Result<Option<Step>> {
        let settings = self.settings;
        let rate = settings.rate / (1.0 + settings.rate_decay * (epoch - 1) as f64);
        rows_of_epoch(&self.data, settings.seed, epoch, &mut self.order);
        self.pieces.begin(&self.plan, Use::Epoch(epoch));
        let mut batches = 0;
        for rows in self.order.chunks(settings.batch) {
            let gradient = self.pieces.contrast(&self.kernel, &self.plan, &self.data, rows);
            self.ascent.step(self.plan.level, gradient, rate);
            self.kernel.load(self.plan.level, &self.ascent.parameters);
            batches += 1;
        }
        let gradient_norm = self.ascent.take_norm(batches);
        let sound = are_within(&self.ascent.parameters, self.machine.temperature(), SCALE);
        let objective = self.objective();
        if !(sound && gradient_norm.is_finite() && objective.is_finite()) {
            return Ok(None);
        }
        self.machine = self.slots.machine_of(&self.machine, &self.ascent.parameters)?;
        Ok(Some(Step { iteration: epoch, objective, gradient_norm }))
    }

    fn machine(&self) -> &Machine {
        &self.machine
    }

    fn converged(&self, _last: &Step, _tolerance: f64) -> Option<Stop> {
        None
    }

    fn complete(&self, limits: Limits) -> Stop {
        Stop::Epochs { count: limits.iterations }
    }

    fn rate(&self) -> Option<f64> {
        Some(self.settings.rate)
    }
}

/// The rows and weights of the objective: all rows if they are few, otherwise some drawn by weight.
fn judged_rows(data: &Data, seed: u64) -> (Vec<u32>, Vec<f64>) {
    if data.shares.len() <= JUDGED_ROWS {
        return ((0..data.shares.len() as u32).collect(), data.shares.clone());
    }
    let mut rows = Vec::new();
    rows_of_epoch(data, seed, 0, &mut rows);
    rows.truncate(JUDGED_ROWS);
    rows.shrink_to_fit();
    let weights = vec![1.0 / rows.len() as f64; rows.len()];
    (rows, weights)
}
