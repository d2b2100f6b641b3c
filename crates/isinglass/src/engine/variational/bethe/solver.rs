//! Solves rows of evidence, for `bethe` and for linear response around it.

use super::Bethe;
use super::beliefs::Beliefs;
use super::messages::Messages;
use super::monitor::Monitor;
use super::search::Search;
use super::wiring::Wiring;
use crate::engine::Diagnostics;
use crate::engine::fields::Fields;
use crate::engine::variational::VariationalSettings;
use crate::{Machine, Result};

/// Energies beyond this would overflow in sums and differences.
const SCALE: f64 = 1e290;

/// Solves rows with the same free units.
pub(in crate::engine::variational) struct Solver<'a> {
    pub(super) machine: &'a Machine,
    pub(super) free: &'a [usize],
    settings: &'a VariationalSettings,
    pub(super) wiring: Wiring,
}

/// `N` rows at the end of their search.
pub(in crate::engine::variational) struct Solved<const N: usize> {
    /// The Bethe log Z with all constants.
    pub(in crate::engine::variational) log_z: [f64; N],
    /// ⟨s_i⟩ of every unit of the machine.
    pub(in crate::engine::variational) means: Vec<[f64; N]>,
    /// `1 − ⟨s_i⟩²` of every unit, without cancellation; 0 of clamped ones.
    pub(in crate::engine::variational) variances: Vec<[f64; N]>,
    /// ⟨s_i s_j⟩ of every edge; the product of the means for weight 0 or a clamped end.
    pub(in crate::engine::variational) moments: Vec<[f64; N]>,
    /// ⟨s_i s_j⟩ − ⟨s_i⟩⟨s_j⟩ of every edge, without cancellation; 0 where the moment is a product.
    pub(in crate::engine::variational) covariances: Vec<[f64; N]>,
    /// `1 − ρ²` of every edge, with ρ the correlation coefficient, without cancellation; 1 where
    /// the moment is a product.
    pub(in crate::engine::variational) rests: Vec<[f64; N]>,
    /// How each row's search went.
    pub(in crate::engine::variational) diagnostics: [Diagnostics; N],
}

impl<'a> Solver<'a> {
    /// Prepares the rows of a machine with these free units.
    ///
    /// # Errors
    /// Invalid settings, numbers too large, or not enough budget.
    pub(in crate::engine::variational) fn new(
        machine: &'a Machine,
        free: &'a [usize],
        settings: &'a VariationalSettings,
    ) -> Result<Self> {
        settings.check(machine.temperature())?;
        machine.check_scale(Bethe::NAME, SCALE)?;
        check_room(machine, free, settings, 1, 1)?;
        Ok(Self { machine, free, settings, wiring: Wiring::new(machine, free) })
    }

    /// Returns whether fixed points are exact: no coupling of free units lies on a cycle.
    pub(in crate::engine::variational) fn is_forest(&self) -> bool {
        self.wiring.is_forest
    }

    /// Returns whether edge moments are exact too: no edge of weight 0 joins two free units.
    pub(super) fn is_forest_of_edges(&self) -> bool {
        self.wiring.is_forest && !self.wiring.has_idle_edges
    }

    /// Solves up to `N` rows, 1 or 8. The result of a row depends on neither `N` nor other rows:
    /// bit for bit.
    pub(in crate::engine::variational) fn solve<const N: usize>(&self, rows: &[&[i8]]) -> Solved<N> {
        let Self { machine, free, settings, wiring } = self;
        let Fields { free: fields, shifts, values } = Fields::<N>::new(machine, free, rows);
        let mut messages = Messages::new(wiring, &fields);
        let found = Search { machine, free, settings }.run(&mut messages, rows.len());
        drop(messages);
        let Beliefs { log_z, means: by_place, variances: spread, moments: by_link, .. } = found.beliefs;

        let mut means = values;
        let mut variances = vec![[0.0; N]; machine.unit_count()];
        for ((&local, mean), variance) in wiring.locals.iter().zip(by_place).zip(spread) {
            let unit = free[local as usize];
            means[unit] = mean;
            variances[unit] = variance;
        }
        let product = |&(a, b): &(usize, usize)| std::array::from_fn(|row| means[a][row] * means[b][row]);
        let mut moments: Vec<[f64; N]> = machine.graph().edges().iter().map(product).collect();
        let mut covariances = vec![[0.0; N]; moments.len()];
        let mut rests = vec![[1.0; N]; moments.len()];
        for (link, &edge) in wiring.edges.iter().enumerate() {
            moments[edge as usize] = by_link[link];
            covariances[edge as usize] = found.beliefs.covariances[link];
            rests[edge as usize] = found.beliefs.rests[link];
        }
        Solved {
            log_z: std::array::from_fn(|row| log_z[row] + shifts[row]),
            means,
            variances,
            moments,
            covariances,
            rests,
            diagnostics: found.diagnostics,
        }
    }
}

/// Checks that so many rows on so many threads fit the budget.
pub(super) fn check_room(
    machine: &Machine,
    free: &[usize],
    settings: &VariationalSettings,
    rows: usize,
    threads: usize,
) -> Result<()> {
    let bytes = bytes(machine, free, settings, rows) * threads as u128;
    settings.budget.check(Bethe::NAME, bytes, || {
        let links = Wiring::most_links(machine, free);
        let of_rows =
            if rows * threads > 1 { format!(", {} rows at once", rows * threads) } else { String::new() };
        format!("messages between {} free units through {links} couplings{of_rows}", free.len())
    })
}

/// Returns the bytes of some rows at once.
pub(in crate::engine::variational) fn bytes(
    machine: &Machine,
    free: &[usize],
    settings: &VariationalSettings,
    rows: usize,
) -> u128 {
    let links = Wiring::most_links(machine, free);
    let numbers = Messages::<1>::bytes(free.len(), links, settings.schedule)
        + Messages::<1>::bytes(0, links, settings.schedule) * u128::from(settings.starts > 1)
        + Monitor::<1>::bytes(free.len())
        + Beliefs::<1>::bytes(free.len(), links)
        + 8 * (3 * machine.unit_count() + free.len() + 3 * machine.graph().edges().len()) as u128;
    Wiring::bytes(machine, free.len(), links) + numbers * rows as u128
}
