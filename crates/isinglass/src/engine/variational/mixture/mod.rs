//! Engine `mixture`: a mixture of products, each of which may settle in a mode of its own.
//!
//! `state` holds the parameters, `bound` evaluates the bound and updates the mixing coefficients,
//! `climb` updates the units and iterates from one start, `search` runs through starts and
//! temperatures, and `solver` computes expectations.

mod bound;
mod climb;
mod search;
mod solver;
mod state;
#[cfg(test)]
mod tests;

use super::{Annealing, VariationalSettings};
use crate::engine::{Diagnostics, Guarantee};
use crate::settings::{constructors, range, settings};

/// A mixture of products, `Q(s) = Σ_l α_l Π_i q_li(s_i)` (Lawrence, Bishop & Jordan 1998, eq. 21).
///
/// log Z is a lower bound: with `B_l` the mean-field bound of component l,
///
/// ```text
/// log Z ≥ Σ_l α_l B_l + I_λ
/// I_λ = Σ_l α_l Σ_i ⟨ln r_li(s_i)⟩_l − Σ_l α_l ln α_l − Σ_l λ_l Σ_k α_k π_lk + Σ_l α_l ln λ_l + 1
/// π_lk = Π_i Σ_s r_li(s) q_ki(s)
/// ```
///
/// where I_λ (eq. 27) bounds the mutual information of component and state without a sum over
/// states, for any smoothing distributions r and any λ > 0 (Jaakkola & Jordan 1998, "Improving the
/// mean field approximation via the use of mixture distributions"). The source's eq. 23 has the
/// information with the wrong sign. Parameters are updated in turn, and no update lowers the bound,
/// which therefore holds wherever the search stops. Means are `Σ_l α_l m_li` and pair moments `Σ_l
/// α_l m_li m_lj` (eq. 28), at the optimum the derivatives of the bound.
///
/// *Complexity*: for each sweep and row, that of mean field times the number L of components, and
/// L² for each unit. *Accuracy*: one component is mean field, and more are never worse. On ten
/// fully connected units with weights and biases uniform on (−1, 1), annealed, eight components
/// leave about a seventh of mean field's gap in log Z and a sixtieth of its squared error in pair
/// moments. Exact, and labelled so, where no two free units are coupled. *When it fails*: more
/// modes than components; or components that end in the same mode: annealing and more starts help.
///
/// `converged`: no mean of a component or smoothing distribution, and no mixing coefficient,
/// violates its equation by more than the tolerance; components with a mixing coefficient below the
/// tolerance do not count. Convergence is slow, and the default tolerance is 1e-6. Updates are
/// sequential.
///
/// # Example
/// Two modes, of which mean field finds one:
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
        /// Start at temperature T0 and cool to the machine's own in geometric steps: T0:STEPS, such
        /// as 60:8
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
    /// The mean of every unit in each component; of a clamped unit, its value.
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
}
