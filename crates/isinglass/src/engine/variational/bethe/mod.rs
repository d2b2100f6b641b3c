//! Engine `bethe`: loopy belief propagation.
//!
//! `wiring` orders units and links, `messages` updates messages, `monitor` detects oscillation,
//! `search` runs through starts and temperatures, `beliefs` computes log Z and moments. `solver`
//! solves rows of evidence and batches.

mod beliefs;
mod messages;
mod monitor;
#[cfg(test)]
mod response;
mod search;
mod solver;
mod wiring;

pub(super) use self::solver::{MESSAGE_COST, Solved, Solver, bytes};
use super::VariationalSettings;
use crate::engine::exact::pinned::clamp_pinned;
use crate::engine::{Ask, BatchExpectations, Engine, Expectations, PairMoments, Pairs};
use crate::settings::{Settings, constructors};
use crate::table::Batch;
use crate::{Error, Evidence, Machine, Result};

/// The Bethe approximation by belief propagation: exact without cycles, and often close with them.
///
/// Each unit i sends each neighbour j its field in the absence of j, in messages
///
/// ```text
/// u_{i→j} = artanh(tanh v_ij · tanh h_{i\j})        h_{i\j} = h_i + Σ_{k≠j} u_{k→i}
/// ```
///
/// with `v = w/T` and `h = θ/T` (Pearl 1988; for ±1 units Mézard & Montanari 2009, chapter 14). At
/// a fixed point `⟨s_i⟩ = tanh(h_i + Σ_k u_{k→i})`, the moments of couplings follow from the cavity
/// fields, and log Z is the Bethe free energy, which is stationary there (Yedidia, Freeman & Weiss
/// 2005): means and moments of couplings are its derivatives. With [`Pairs::All`], uncoupled units
/// count as independent, `⟨s_i s_j⟩ = ⟨s_i⟩⟨s_j⟩`, except on a forest, where all pairs are exact.
///
/// *Complexity*: linear in the couplings for each sweep. *Memory*: linear. A sweep updates each
/// message once. A forest takes one sweep, whatever the settings. Elsewhere sweeps continue until
/// the residual, the largest difference of a message from its equation, is at most the tolerance;
/// messages beyond ±20, where tanh is ±1 to the last digit, count as ±20. Oscillation is detected,
/// damped and reported.
///
/// An answer whose log Z is beyond elementary bounds is refused
/// ([`Error::ImpossibleLogZ`](crate::Error::ImpossibleLogZ)).
///
/// *Accuracy*: on forests as [`Decimate`](crate::Decimate), and labelled exact; an edge of weight 0
/// counts as an uncoupled pair. Elsewhere an approximation, not a bound, best for weak couplings
/// and long cycles. *When it fails*: with strong couplings on short frustrated cycles the iteration
/// may find no fixed point; then `converged` is false. With several fixed points, as in a
/// ferromagnet at low temperature, it finds one; `starts` and `anneal` search for a better one.
///
/// A row of a batch has the same answer as alone, bit for bit, unless a field beyond 400 T fixes a
/// unit: alone, the unit counts as clamped.
///
/// # Example
/// ```
/// use isinglass::{Bethe, Decimate, Engine, Enumerate, Evidence, Guarantee, Machine, Pairs, topology};
/// let nothing = Evidence::none(10);
/// let tree = topology::tree(10, 3).with_parameters(vec![0.8; 9], vec![0.1; 10])?;
/// let answer = Bethe::default().expectations(&tree, &nothing, Pairs::Edges)?;
/// let exact = Decimate::default().expectations(&tree, &nothing, Pairs::Edges)?;
/// assert_eq!(answer.guarantee, Guarantee::Exact);
/// assert!((answer.log_z.unwrap() - exact.log_z.unwrap()).abs() < 1e-12);
///
/// let clique = topology::full(10).with_parameters(vec![0.02; 45], vec![0.1; 10])?;
/// let answer = Bethe::default().expectations(&clique, &nothing, Pairs::Edges)?;
/// let exact = Enumerate::default().expectations(&clique, &nothing, Pairs::Edges)?;
/// assert_eq!(answer.guarantee, Guarantee::Approximation);
/// assert!(answer.diagnostics.converged);
/// assert!((answer.means[0] - exact.means[0]).abs() < 1e-3);
/// # Ok::<(), isinglass::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Bethe {
    pub(crate) settings: VariationalSettings,
}

constructors!(Bethe(VariationalSettings));

impl Bethe {
    /// The name by which users choose the engine.
    pub const NAME: &'static str = "bethe";
}

impl Engine for Bethe {
    identity!();

    fn expectations(&self, machine: &Machine, evidence: &Evidence, pairs: Pairs) -> Result<Expectations> {
        machine.check_evidence(evidence)?;
        PairMoments::check(Self::NAME, pairs, machine.graph(), 2, self.settings.budget)?;
        let evidence = clamp_pinned(machine, evidence, &[]);
        let free: Vec<usize> = evidence.free().collect();
        let solver = Solver::new(machine, &free, &self.settings)?;
        let solved = solver.solve::<1>(&[evidence.cells()]);
        solved.check(Self::NAME, 1)?;
        let values = match pairs {
            Pairs::None => Vec::new(),
            Pairs::Edges => solved.moments.iter().map(|&[moment]| moment).collect(),
            Pairs::All => solver.all_pairs(&solved),
        };
        let is_exact = match pairs {
            Pairs::None | Pairs::All => solver.is_forest(),
            Pairs::Edges => solver.is_forest_of_edges(),
        };
        Ok(solved.expectations(&solver, PairMoments { pairs, values }, is_exact))
    }

    fn batch(&self, machine: &Machine, batch: &Batch, ask: Ask) -> Result<BatchExpectations> {
        Error::check_length("units of the batch", batch.unit_count(), machine.unit_count())?;
        solver::solve_batch(machine, batch, ask, &self.settings)
    }
}
