//! Max-product: most probable states by messages, exact without cycles.
//!
//! `plan` tells trees and cycles apart, `trees` solves the former in two passes, `cycles` lets messages go round in the latter, and `reading` makes states of messages, which `forests` betters. `solver` leads from rows of evidence to
//! their states, and `rows` through a batch.

mod cycles;
mod forests;
mod plan;
mod reading;
mod rows;
mod solver;
mod trees;

use self::solver::{Solved, Solver};
use crate::engine::Guarantee;
use crate::engine::pinned::clamp_pinned;
use crate::engine::{Mode, ModeFinder};
use crate::settings::{Settings, constructors, range, settings};
use crate::table::Batch;
use crate::{Error, Evidence, Machine, Result};

/// The most probable state by the max-product algorithm: exact without cycles, a good guess with them.
///
/// Each unit j tells each neighbour i what the best state of all that lies behind it gains if i is up rather than down,
///
/// ```text
/// M_{j→i}(s_i) = max_{s_j} ψ_ij(s_i, s_j) φ_j(s_j) Π_{k≠i} M_{k→j}(s_j)        s_i* = arg max φ_i(s_i) Π_j M_{j→i}(s_i)
/// ```
///
/// (Yasuda, Tannai & Tanaka 2012, eqs. 3.5–3.7). With `ψ = exp(v s s')`, `v = w/T` and `φ = exp(h s)`, half the logarithm of `M(+1)/M(−1)` is
///
/// ```text
/// u_{j→i} = ½ (|h_{j\i} + v_ij| − |h_{j\i} − v_ij|) = ± min(|h_{j\i}|, |v_ij|)        h_{j\i} = h_j + Σ_{k≠i} u_{k→j}
/// ```
///
/// Clamped units are fields on their free neighbours, `h_i = (θ_i + Σ_j w_ij x_j) / T` (the source's appendix), and so it is the graph of the free units that counts.
///
/// *Forests*: one pass from the leaves to the roots, and one back in which each unit takes its best value given the one it hangs on. This is exact with ties too, where independent maxima would
/// not be: of a coupled pair without biases each unit may be up or down, but not each as it likes. Among equals, a unit is up. Trees that hang on cycles are solved this way given the cycles.
///
/// *Cycles*: messages begin at 0 and go round, damped, until none would change by more than [`tolerance`](Self::tolerance) of the largest coupling, or [`sweeps`](Self::sweeps) are over; `converged` tells which. States are read from them on the
/// way, the surest unit first and the others given it. Each goes downhill: sets of units without a cycle among them are put at their best given the others, and units are flipped as long as a flip lowers the energy. The best state of
/// all is the answer. It is an approximation, and called so, even where messages converge: no single flip betters it, and it is not worse than what flips alone make of the fields, but another state may be better. Where no unit of a connected part has a bias, one
/// is told to be up, since the mirror image is as good.
///
/// *Accuracy*: of 100 machines each, with normal numbers, the best state is found in 99 with 12 units all coupled (couplings of deviation 0.3 or 1); on 10×10 grids with couplings of deviation 1 in 97 with biases of deviation 1, in 94 with 0.5, and in
/// 70 without biases, though messages come to rest in few of these.
///
/// *Complexity*: linear in the couplings for each sweep; on a forest altogether. *Memory*: linear.
///
/// # Example
/// ```
/// use isinglass::engine::ModeFinder;
/// use isinglass::search::MaxProduct;
/// use isinglass::{Evidence, Guarantee, Machine, topology};
/// // An antiferromagnet without biases: each unit against its neighbours.
/// let chain = topology::chain(5).with_parameters(vec![-0.5; 4], vec![0.0; 5])?;
/// let mode = MaxProduct::default().mode(&chain, &Evidence::none(5))?;
/// assert_eq!(mode.guarantee, Guarantee::Exact);
/// assert_eq!(mode.energy, -2.0);
///
/// let full = topology::full(5).with_parameters(vec![0.1; 10], vec![0.2; 5])?;
/// let mode = MaxProduct::default().mode(&full, &Evidence::none(5))?;
/// assert_eq!((mode.state, mode.guarantee), (vec![1; 5], Guarantee::Approximation));
/// # Ok::<(), isinglass::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct MaxProduct {
    pub(crate) settings: MaxProductSettings,
}

settings! {
    /// Settings of [`MaxProduct`].
    pub struct MaxProductSettings for MaxProduct {
        /// Share of the old message kept in each update, below 1
        damping: f64 = 0.5 => range::below_1,
        /// Largest number of sweeps over all messages
        max_sweeps: usize = 300 => range::at_least_1,
    }
    rust {
        /// Converged when no message is off by more than this share of the largest coupling on a cycle.
        tolerance: f64 = 1e-6 => range::positive,
    }
    common { budget }
}

constructors!(MaxProduct(MaxProductSettings));

/// The most probable states of many rows, from [`MaxProduct::rows`].
#[derive(Debug, Clone, PartialEq)]
pub struct States {
    /// The number of units of each state.
    pub units: usize,
    /// The states, one after another in the order in which the rows were given: −1 and +1, clamped units as the rows say.
    pub cells: Vec<i8>,
    /// The number of rows whose messages came to rest; without cycles all do.
    pub converged: usize,
    /// [`Guarantee::Exact`]: no row has a better state.
    pub guarantee: Guarantee,
}

impl States {
    /// The state of a row, by its number in the order given.
    pub fn row(&self, row: usize) -> &[i8] {
        &self.cells[row * self.units..(row + 1) * self.units]
    }
}

impl MaxProduct {
    /// The name by which users choose it.
    pub const NAME: &'static str = "max-product";

    /// The most probable state given each row of evidence; each is what [`mode`](ModeFinder::mode) finds for the row alone.
    ///
    /// Rows that leave the same units free go through side by side, on all cores.
    ///
    /// # Example
    /// ```
    /// use isinglass::search::MaxProduct;
    /// use isinglass::{Batch, Guarantee, Machine, Unit};
    /// // Two hidden units in a chain over two visible ones.
    /// let units = ["a", "b", "x", "y"].map(|name| Unit::new(name, 0.0)).to_vec();
    /// let machine = Machine::new(units, [(0, 2, 1.0), (1, 3, 0.3), (2, 3, 0.5)])?;
    /// let rows = Batch::new(4, &[1, 1, 0, 0, -1, 1, 0, 0], &[1.0; 2])?;
    /// let states = MaxProduct::default().rows(&machine, &rows)?;
    /// assert_eq!(states.row(1), [-1, 1, -1, -1]);
    /// assert_eq!((states.converged, states.guarantee), (2, Guarantee::Exact));
    /// # Ok::<(), isinglass::Error>(())
    /// ```
    ///
    /// # Errors
    /// Rows for another number of units, bad settings, numbers too large, and what does not fit the budget.
    pub fn rows(&self, machine: &Machine, rows: &Batch) -> Result<States> {
        Error::check_length("units of the batch", rows.unit_count(), machine.unit_count())?;
        self.validate()?;
        rows::solve(self, machine, rows)
    }
}

impl ModeFinder for MaxProduct {
    fn mode(&self, machine: &Machine, evidence: &Evidence) -> Result<Mode> {
        machine.check_evidence(evidence)?;
        let free: Vec<usize> = evidence.free().collect();
        let solver = Solver::new(machine, &free, self)?;
        let Solved { states, diagnostics: [diagnostics] } = solver.solve::<1>(&[evidence.cells()]);
        let state: Vec<i8> = states.into_iter().map(|[state]| state as i8).collect();
        Ok(Mode {
            energy: -machine.negative_energy(&state),
            guarantee: solver.guarantee(clamp_pinned(machine, evidence, &[]).free()),
            state,
            diagnostics,
        })
    }
}
