//! Engine `trw`: an upper bound from a convex combination of tractable subgraphs.
//!
//! `subgraphs` chooses subgraphs of small treewidth; `split` computes bound and gradient as a
//! function of the split of the parameters, `gaussian` is the bound of engine `logdet` as one more
//! part of the split, `descent` minimises the bound. `solver` solves rows of
//! evidence and batches.

mod descent;
mod gaussian;
mod settings;
mod solver;
mod split;
mod subgraphs;

pub use self::settings::TrwSettings;
use self::solver::Solver;
use self::split::Bound;
use crate::engine::exact::pinned::clamp_pinned;
use crate::engine::{Ask, BatchExpectations, Engine, Expectations, PairMoments, Pairs};
use crate::settings::{Settings, constructors};
use crate::table::Batch;
use crate::{Error, Evidence, Machine, Result};

/// An upper bound on log Z from subgraphs that can be summed over exactly.
///
/// The parameters θ (weights and biases over T) are split among spanning subgraphs k with shares
/// `ρ_k ≥ 0`, `Σ_k ρ_k = 1`. As log Z is convex,
///
/// ```text
/// ln Z(θ) ≤ Σ_k ρ_k ln Z_k(θ_k)        for every split with Σ_k ρ_k θ_k = θ
/// ```
///
/// (Wainwright, Jaakkola & Willsky 2005, there with trees). Split and shares minimise the bound.
/// Its derivatives by the split are the moments of the subgraphs, which agree at the optimum; their
/// averages are the means and edge moments of the answer, the derivatives of the bound. Subgraphs
/// of treewidth up to 3 cost little more than trees and are far tighter. With [`Pairs::All`], pairs
/// without an edge are averages over the subgraphs, a pass for each unit of each subgraph.
///
/// *Complexity*: a pass through every subgraph per iteration, linear in the units; tens of
/// iterations for weak couplings, hundreds for strong ones. *Memory*: about 70 numbers for each
/// edge and unit of every subgraph, within the budget. There are 16 subgraphs, or as many as cover
/// every edge: on n fully coupled units about `n/2` trees or `n/4` subgraphs of treewidth 3. If one
/// subgraph can hold all edges, the answer is exact.
///
/// *Accuracy*: a bound after any number of iterations, up to rounding. Near the optimum its error
/// is of second order in the residual, the largest difference of moments (first order at worst, in
/// a nearly flat direction). A subgraph with a vanishing share hides its slopes: of 6,000 dense
/// machines of seven units, one ended at a residual of 1e-9 with a bound 3e-5 above the best. Mean
/// distance from log Z for ten fully coupled units, weights and biases uniform on (−0.3, 0.3), for
/// widths 1, 2, 3: about 1.8, 0.54, 0.25; on (−1, 1): 9.9, 1.1, 0.44. *When it fails*: hundreds of
/// fully coupled units, where each edge is in few subgraphs, and strong frustrated couplings: the
/// bound is loose, and may need more iterations; then `converged` is false, and it is still a
/// bound. The choice of subgraphs depends on the weights in powers of √2: the bound may jump
/// slightly where a weight passes one.
///
/// A row of a batch has the same answer as alone, unless a field beyond 400 T fixes a unit: alone,
/// the unit counts as clamped.
///
/// # Example
/// ```
/// use isinglass::{Engine, Enumerate, Evidence, Guarantee, Machine, MeanField, Pairs, Trw, topology};
/// let machine = topology::full(8).with_parameters(vec![0.2; 28], vec![0.1; 8])?;
/// let nothing = Evidence::none(8);
/// let above = Trw::default().expectations(&machine, &nothing, Pairs::Edges)?;
/// let below = MeanField::default().expectations(&machine, &nothing, Pairs::Edges)?;
/// let truth = Enumerate::default().expectations(&machine, &nothing, Pairs::Edges)?;
/// assert_eq!(above.guarantee, Guarantee::UpperBound);
/// assert!(below.log_z < truth.log_z && truth.log_z < above.log_z);
/// assert!(above.log_z.unwrap() - truth.log_z.unwrap() < 0.3);
///
/// // Trees give the classical bound.
/// let trees = Trw::new().width(1).expectations(&machine, &nothing, Pairs::None)?;
/// assert!(above.log_z < trees.log_z);
/// # Ok::<(), isinglass::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Trw {
    pub(crate) settings: TrwSettings,
}

constructors!(Trw(TrwSettings));

impl Trw {
    /// The name by which users choose the engine.
    pub const NAME: &'static str = "trw";

    /// How many subgraphs there are at least, unless another number is chosen or one holds
    /// everything.
    pub const SUBGRAPHS: usize = 16;
}

impl Engine for Trw {
    identity!();

    fn expectations(&self, machine: &Machine, evidence: &Evidence, pairs: Pairs) -> Result<Expectations> {
        machine.check_evidence(evidence)?;
        PairMoments::check(Self::NAME, pairs, machine.graph(), 3, self.settings.budget)?;
        let evidence = clamp_pinned(machine, evidence, &[]);
        let free: Vec<usize> = evidence.free().collect();
        let solver = Solver::new(self, machine, &free, 1)?;
        let solved = solver.solve(&mut Bound::new(&solver.split), evidence.cells())?;
        let correlations = match pairs {
            Pairs::None => PairMoments { pairs, values: Vec::new() },
            Pairs::All => solver.all_pairs(&solved, &evidence)?,
            Pairs::Edges => PairMoments { pairs, values: solved.moments },
        };
        Ok(Expectations {
            log_z: Some(solved.log_z),
            means: solved.means,
            correlations,
            guarantee: solver.guarantee(free.iter().copied()),
            errors: None,
            diagnostics: solved.diagnostics,
        })
    }

    fn batch(&self, machine: &Machine, batch: &Batch, ask: Ask) -> Result<BatchExpectations> {
        Error::check_length("units of the batch", batch.unit_count(), machine.unit_count())?;
        solver::solve_batch(self, machine, batch, ask)
    }
}
