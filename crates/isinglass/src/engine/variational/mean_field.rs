//! Engines `mean-field`, `tap` and `linear-response`.

use super::solver::Solver;
use super::{Annealing, Schedule, VariationalSettings, bethe_response};
use crate::engine::{Ask, BatchExpectations, Engine, Expectations, Pairs};
use crate::settings::{Settings, choices, constructors, range, settings};
use crate::table::Batch;
use crate::{Evidence, Machine, Result};

/// The equations that means solve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Theory {
    /// Independent units.
    #[default]
    MeanField,
    /// With Onsager's reaction term.
    Tap,
}

/// Mean field: the best distribution of independent units, `m_i = tanh(θ_i + Σ_j w_ij m_j)`.
///
/// log Z is a lower bound for any m (Kappen & Rodríguez 1997, eq. 18). Pair moments are products of
/// means (eq. 16), which are the derivatives of the bound by the couplings.
///
/// *Complexity*: a matrix product or a pass over the edges per sweep; batched over rows.
/// *Accuracy*: means are good where each unit has many weak neighbours; units are uncorrelated.
/// Exact, and labelled so, where no two free units are coupled, as given the visible units of a
/// restricted machine. *When it fails*: strong couplings, which break symmetries of the machine.
/// Sequential updates never lower the bound and always settle;
/// [`Schedule::Parallel`](super::Schedule) may oscillate, which is reported.
///
/// # Example
/// ```
/// use isinglass::{Engine, Enumerate, Evidence, Guarantee, Machine, MeanField, Pairs, topology};
/// let machine = topology::full(8).with_parameters(vec![0.1; 28], vec![0.2; 8])?;
/// let (field, exact) = (MeanField::default(), Enumerate::default());
/// let found = field.expectations(&machine, &Evidence::none(8), Pairs::None)?;
/// let truth = exact.expectations(&machine, &Evidence::none(8), Pairs::None)?;
/// assert!(found.log_z < truth.log_z && found.guarantee == Guarantee::LowerBound);
/// assert!(found.diagnostics.converged && (found.means[0] - truth.means[0]).abs() < 0.1);
/// # Ok::<(), isinglass::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct MeanField {
    pub(crate) settings: VariationalSettings,
}

/// The equations of Thouless, Anderson and Palmer: mean field less the reaction of a unit's
/// neighbours to the unit itself, `m_i = tanh(θ_i + Σ_j w_ij m_j − m_i Σ_j w_ij² (1 − m_j²))`
/// (Kappen & Rodríguez 1997, eq. 30).
///
/// log Z is that of eq. 29, not a bound. Pair moments are its derivatives by the couplings, `m_i
/// m_j + w_ij (1 − m_i²)(1 − m_j²)`.
///
/// *Complexity*: twice that of mean field. *Accuracy*: third order in the couplings (mean field:
/// first); intended for many weak couplings of both signs. *When it fails*: strong couplings,
/// beyond the expansion it comes from; a log Z beyond elementary bounds is refused
/// ([`Error::ImpossibleLogZ`](crate::Error::ImpossibleLogZ)).
///
/// # Example
/// ```
/// use isinglass::{Engine, Enumerate, Evidence, Machine, MeanField, Pairs, Tap, topology};
/// let glass = topology::sherrington_kirkpatrick(12, 0.4, 0)?;
/// let nothing = Evidence::none(12);
/// let truth = Enumerate::default().expectations(&glass, &nothing, Pairs::None)?.log_z.unwrap();
/// let error = |engine: &dyn Engine| -> isinglass::Result<f64> {
///     Ok((engine.expectations(&glass, &nothing, Pairs::None)?.log_z.unwrap() - truth).abs())
/// };
/// assert!(error(&Tap::default())? < 0.1 * error(&MeanField::default())?);
/// # Ok::<(), isinglass::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Tap {
    pub(crate) settings: VariationalSettings,
}

choices! {
    /// The theory around which a linear response is taken.
    pub enum Around = MeanField {
        /// Mean field.
        MeanField = "mean-field",
        /// The equations of Thouless, Anderson and Palmer.
        Tap = "tap",
        /// Belief propagation.
        Bethe = "bethe",
    }
}

settings! {
    /// Settings of [`LinearResponse`].
    pub struct LinearResponseSettings for LinearResponse {
        /// The fixed point around which the response is taken
        around: Around = Around::MeanField,
        /// Start at temperature T0 and cool to the machine's own in geometric steps: T0:STEPS, such
        /// as 60:8
        anneal: Option<Annealing> = None,
        /// Points at which the search starts; the result with the largest log Z is kept
        starts: usize = 1 => range::at_least_1,
        /// Share of the old value kept in each update, below 1; raised where an iteration
        /// oscillates
        damping: f64 = 0.0 => range::below_1,
        /// Order of updates
        schedule: Schedule = Schedule::Sequential,
        /// Largest number of sweeps, at each temperature
        max_sweeps: usize = 10_000 => range::at_least_1,
    }
    rust {
        /// Converged when no equation is violated by more than this.
        tolerance: f64 = 1e-10 => range::positive,
    }
    common { seed, budget }
}

impl LinearResponseSettings {
    /// How the fixed point is searched for.
    fn fixed_point(&self) -> VariationalSettings {
        let Self { around: _, anneal, starts, damping, schedule, max_sweeps, tolerance, seed, budget } =
            *self;
        VariationalSettings::default()
            .anneal(anneal)
            .starts(starts)
            .damping(damping)
            .schedule(schedule)
            .max_sweeps(max_sweeps)
            .tolerance(tolerance)
            .seed(seed)
            .budget(budget)
    }
}

/// Linear response: pair moments from the response of the means to the fields, `⟨s_i s_j⟩ = m_i m_j
/// + ∂m_i/∂θ_j` (Kappen & Rodríguez 1997, eq. 22; eqs. 24 to 28 with units clamped).
///
/// Means and log Z are those of the underlying theory. Around Bethe it is exact on forests, for
/// pairs without an edge too.
///
/// *Complexity*: the fixed point and the inverse of a matrix of the free units, O(n³); on sparse
/// structures only the entries required, by elimination. *Accuracy*: correlations to leading order,
/// also of pairs without an edge. *When it fails*: near a bifurcation of the fixed point responses
/// diverge; at a fixed point that is not a maximum it returns an error.
///
/// # Example
/// ```
/// use isinglass::{Engine, Enumerate, Evidence, LinearResponse, Machine, Pairs, topology};
/// let machine = topology::full(6).with_parameters(vec![0.05; 15], vec![0.3; 6])?;
/// let moment = |engine: &dyn Engine| -> isinglass::Result<f64> {
///     let answer = engine.expectations(&machine, &Evidence::none(6), Pairs::Edges)?;
///     Ok(answer.correlations.values[0] - answer.means[0] * answer.means[1])
/// };
/// assert!((moment(&LinearResponse::default())? - moment(&Enumerate::default())?).abs() < 0.01);
/// # Ok::<(), isinglass::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct LinearResponse {
    pub(crate) settings: LinearResponseSettings,
}

constructors!(
    MeanField(VariationalSettings),
    Tap(VariationalSettings),
    LinearResponse(LinearResponseSettings)
);

impl MeanField {
    /// The name by which users choose the engine.
    pub const NAME: &'static str = "mean-field";

    fn solver(&self) -> Solver {
        let settings = self.settings;
        Solver { engine: Self::NAME, theory: Theory::MeanField, response: false, settings }
    }
}

impl Tap {
    /// The name by which users choose the engine.
    pub const NAME: &'static str = "tap";

    fn solver(&self) -> Solver {
        Solver { engine: Self::NAME, theory: Theory::Tap, response: false, settings: self.settings }
    }
}

impl LinearResponse {
    /// The name by which users choose the engine.
    pub const NAME: &'static str = "linear-response";

    /// The solver, but around Bethe, which has its own.
    fn solver(&self) -> Option<Solver> {
        let theory = match self.around {
            Around::MeanField => Theory::MeanField,
            Around::Tap => Theory::Tap,
            Around::Bethe => return None,
        };
        Some(Solver { engine: Self::NAME, theory, response: true, settings: self.fixed_point() })
    }
}

impl Engine for MeanField {
    identity!();

    fn expectations(&self, machine: &Machine, evidence: &Evidence, pairs: Pairs) -> Result<Expectations> {
        self.solver().single(machine, evidence, pairs)
    }

    fn batch(&self, machine: &Machine, batch: &Batch, ask: Ask) -> Result<BatchExpectations> {
        self.solver().batch(machine, batch, ask)
    }
}

impl Engine for Tap {
    identity!();

    fn expectations(&self, machine: &Machine, evidence: &Evidence, pairs: Pairs) -> Result<Expectations> {
        self.solver().single(machine, evidence, pairs)
    }

    fn batch(&self, machine: &Machine, batch: &Batch, ask: Ask) -> Result<BatchExpectations> {
        self.solver().batch(machine, batch, ask)
    }
}

impl Engine for LinearResponse {
    identity!();

    fn moments_are_derivatives(&self) -> bool {
        false
    }

    fn expectations(&self, machine: &Machine, evidence: &Evidence, pairs: Pairs) -> Result<Expectations> {
        match self.solver() {
            Some(solver) => solver.single(machine, evidence, pairs),
            None => bethe_response::single(machine, evidence, pairs, &self.fixed_point()),
        }
    }

    fn batch(&self, machine: &Machine, batch: &Batch, ask: Ask) -> Result<BatchExpectations> {
        match self.solver() {
            Some(solver) => solver.batch(machine, batch, ask),
            None => bethe_response::batch(machine, batch, ask, &self.fixed_point()),
        }
    }
}
