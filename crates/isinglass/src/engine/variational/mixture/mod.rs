//! Engine `mixture`: a mixture of products, each of which may settle in a mode of its own.
//!
//! `state` holds the parameters of a mixture, `bound` evaluates the bound and renews the mixing coefficients, `sweep` renews the units one after the other; `search` goes through starts (`start`) and
//! temperatures, with steps beyond the sweeps (`extrapolation`); `solver` leads from machine and evidence to the search and back.

mod bound;
mod extrapolation;
mod search;
mod solver;
mod start;
mod state;
mod sweep;
#[cfg(test)]
mod tests;

use super::{Annealing, VariationalSettings};
use crate::engine::{Ask, BatchExpectations, Diagnostics, Engine, Expectations, Guarantee, Pairs};
use crate::settings::{constructors, range, settings};
use crate::table::Batch;
use crate::{Evidence, Machine, Result};

/// A mixture of mean-field distributions, `Q(s) = Σ_l α_l Π_i q_li(s_i)` (Lawrence, Bishop & Jordan 1998, eq. 21).
///
/// log Z is a lower bound: with `B_l` the mean-field bound of component l,
///
/// ```text
/// log Z ≥ Σ_l α_l B_l + I_λ
/// I_λ = Σ_l α_l Σ_i ⟨ln r_li(s_i)⟩_l − Σ_l α_l ln α_l − Σ_l λ_l Σ_k α_k π_lk + Σ_l α_l ln λ_l + 1
/// π_lk = Π_i Σ_s r_li(s) q_ki(s)
/// ```
///
/// where I_λ (eq. 27) is a bound on the mutual information of component and state that takes no sum over states, for any smoothing distributions r and any λ > 0 (Jaakkola & Jordan 1998,
/// "Improving the mean field approximation via the use of mixture distributions"). The source's eq. 23 has the information with the wrong sign. All parameters are improved in turn, and none of these updates
/// lowers the bound; so it is a bound wherever the search is stopped. Means are `Σ_l α_l m_li` and pair moments `Σ_l α_l m_li m_lj` (eq. 28), which at the optimum are the derivatives of the bound.
///
/// *Complexity*: for each sweep and row, that of mean field times the number L of components, and L² for each unit. *Accuracy*: one component is mean field, and more are never worse. On ten fully connected units with weights and biases uniform on (−1, 1),
/// annealed, eight components leave about a seventh of its gap in log Z and a sixtieth of its squared error in pair moments.
/// Exact, and called so, where no two free units are coupled. *When it fails*: there are more modes than components; or the components, which begin near each other, end in the same mode: annealing and more starts help.
///
/// `converged` says that no mean of a component or smoothing distribution, and no mixing coefficient, violates its equation by more than the tolerance; components with a mixing coefficient below the tolerance do not count. Such
/// searches converge slowly, and the default tolerance is 1e-6. Units are updated one after the other.
///
/// # Example
/// Two modes, of which mean field sees one:
/// ```
/// use isinglass::{Engine, Enumerate, Evidence, Machine, MeanField, Mixture, Pairs, topology};
/// let magnet = topology::full(8).with_parameters(vec![0.3; 28], vec![0.0; 8])?;
/// let nothing = Evidence::none(8);
/// let truth = Enumerate::default().expectations(&magnet, &nothing, Pairs::None)?.log_z.unwrap();
/// let one = MeanField::default().expectations(&magnet, &nothing, Pairs::None)?;
/// let two = Mixture::new().components(2).expectations(&magnet, &nothing, Pairs::None)?;
/// assert!(one.log_z.unwrap() < truth - 0.69 && two.log_z.unwrap() < truth);
/// assert!(two.log_z.unwrap() > one.log_z.unwrap() + 0.6);
/// assert!(two.means[0].abs() < 1e-3 && one.means[0].abs() > 0.9);
/// # Ok::<(), isinglass::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Mixture {
    pub(crate) settings: MixtureSettings,
}

settings! {
    /// Settings of [`Mixture`].
    pub struct MixtureSettings for Mixture {
        /// Components of the mixture
        components: usize = 5 => range::at_least_1,
        /// Start at temperature T0 and cool to the machine's own in geometric steps: T0:STEPS, such as 60:8
        anneal: Option<Annealing> = None,
        /// Points at which the search starts; the result with the largest log Z is kept
        starts: usize = 1 => range::at_least_1,
        /// Largest number of sweeps, at each temperature
        max_sweeps: usize = 10_000 => range::at_least_1,
    }
    rust {
        /// Converged when no equation is violated by more than this.
        tolerance: f64 = 1e-6 => range::positive,
    }
    common { seed, budget }
}

impl MixtureSettings {
    /// How the fixed point is searched for.
    pub(super) fn fixed_point(&self) -> VariationalSettings {
        let Self { components: _, anneal, starts, max_sweeps, tolerance, seed, budget } = *self;
        let usual = VariationalSettings::default();
        usual
            .anneal(anneal)
            .starts(starts)
            .max_sweeps(max_sweeps)
            .tolerance(tolerance)
            .seed(seed)
            .budget(budget)
    }
}

/// The components of a mixture.
#[derive(Debug, Clone, PartialEq)]
pub struct MixtureComponents {
    /// The mixing coefficients α_l, which add up to 1.
    pub weights: Vec<f64>,
    /// The mean of every unit in each component; a clamped unit's is its value.
    pub means: Vec<Vec<f64>>,
    /// The bound on log Z.
    pub log_z: f64,
    /// What kind of answer this is.
    pub guarantee: Guarantee,
    /// How the search went.
    pub diagnostics: Diagnostics,
}

constructors!(Mixture(MixtureSettings));

impl Mixture {
    /// The name by which users choose the engine.
    pub const NAME: &'static str = "mixture";

    /// The bytes that one row with some free units takes.
    pub(in crate::engine) fn bytes(&self, machine: &Machine, free: usize) -> u128 {
        solver::bytes(self, machine, free)
    }

    /// The components of the best mixture, under one evidence: those from which [`Engine::expectations`] has its answer.
    ///
    /// # Example
    /// ```
    /// use isinglass::{Evidence, Machine, Mixture, topology};
    /// let magnet = topology::full(8).with_parameters(vec![0.3; 28], vec![0.0; 8])?;
    /// let found = Mixture::new().components(2).components_of(&magnet, &Evidence::none(8))?;
    /// assert!((found.weights[0] - 0.5).abs() < 1e-3);
    /// assert!(found.means[0][0] * found.means[1][0] < -0.8, "one mode up, the other down");
    /// # Ok::<(), isinglass::Error>(())
    /// ```
    pub fn components_of(&self, machine: &Machine, evidence: &Evidence) -> Result<MixtureComponents> {
        solver::components(self, machine, evidence)
    }
}

impl Engine for Mixture {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn expectations(&self, machine: &Machine, evidence: &Evidence, pairs: Pairs) -> Result<Expectations> {
        solver::single(self, machine, evidence, pairs)
    }

    fn batch(&self, machine: &Machine, batch: &Batch, ask: Ask) -> Result<BatchExpectations> {
        solver::batch(self, machine, batch, ask)
    }
}
