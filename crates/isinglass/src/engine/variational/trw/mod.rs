//! Engine `trw`: an upper bound from a convex combination of tractable subgraphs.
//!
//! `growth` grows one subgraph of small treewidth, `subgraphs` chooses enough of them; `split` has the bound as a function of how the parameters are split among them, with its
//! gradient from the networks of the subgraphs, and `descent` lowers it. `solver` leads from rows of evidence to the best split; `rows` answers for batches, `pairs` for all pairs.

mod descent;
mod growth;
mod pairs;
mod rows;
mod settings;
mod solver;
mod split;
mod subgraphs;

pub use self::settings::TrwSettings;
use self::solver::Solver;
use self::split::Bound;
use crate::engine::exact::pinned::clamp_pinned;
use crate::engine::{Ask, BatchExpectations, Engine, Expectations, PairMoments, Pairs};
use crate::settings::constructors;
use crate::table::Batch;
use crate::{Error, Evidence, Machine, Result};

/// An upper bound on log Z from subgraphs that can be summed over exactly.
///
/// The parameters θ (weights and biases over T) are split among spanning subgraphs k with shares `ρ_k ≥ 0`, `Σ_k ρ_k = 1`. As log Z is convex,
///
/// ```text
/// ln Z(θ) ≤ Σ_k ρ_k ln Z_k(θ_k)        for every split with Σ_k ρ_k θ_k = θ
/// ```
///
/// (Wainwright, Jaakkola & Willsky 2005, there with trees). The split and the shares are chosen to make the bound small; the derivatives by the split are the moments of the subgraphs, which agree where it is best, and
/// these are the means and edge moments of the answer: the derivatives of the bound. Subgraphs of treewidth up to 3 cost little more than trees, and are far tighter. Of [`Pairs::All`], those without an edge are averages over
/// the subgraphs, a pass for each unit of each subgraph.
///
/// *Complexity*: a pass through every subgraph for each iteration, linear in the units; tens of iterations for weak couplings, hundreds for strong ones. *Memory*: about 70 vectors of a number for each edge and unit of every subgraph; it is
/// checked against the budget. There are 16 subgraphs, or as many as it takes to cover every edge: on n units that are all joined, about `n/2` trees or `n/4` subgraphs of treewidth 3. Where one can hold all edges, one it is, and the answer is exact.
///
/// *Accuracy*: a bound for any number of iterations, up to rounding; near the optimum its error is of second order in the residual, the largest difference of moments that is left (of first order at worst, where a direction is nearly flat). A subgraph whose share has nearly vanished hides its slopes: one dense machine of seven units in 6,000 came to rest at a residual of 1e-9 with a bound 3e-5 above the best. Mean distance from log Z for ten units all joined, weights and biases uniform on
/// (−0.3, 0.3), for widths 1, 2, 3: about 1.8, 0.54, 0.25; on (−1, 1): 9.9, 1.1, 0.44. Where hundreds of units are all joined, each edge is in few subgraphs, and the bound is far off. *When it fails*: strong frustrated couplings, where the bound is far off, and may take more than the iterations allowed; then `converged` is false, and it is a
/// bound all the same. Which subgraphs are chosen depends on the weights, by powers of √2: where one passes from one power to the next, the bound may jump, by a little.
///
/// A row of a batch gets the same answer as alone, unless a field beyond 400 T leaves a unit no choice: alone, it counts as clamped.
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

    /// How many subgraphs there are at least, unless another number is chosen or one holds everything.
    pub const SUBGRAPHS: usize = 16;
}

impl Engine for Trw {
    fn name(&self) -> &'static str {
        Self::NAME
    }

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
        rows::solve(self, machine, batch, ask)
    }
}
