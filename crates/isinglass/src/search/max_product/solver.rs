//! Solves rows of evidence that share their free units, and batches.

use super::MaxProduct;
use super::cycles;
use super::forests::Forest;
use super::plan::Plan;
use super::trees::{choice, inwards, outwards};
use crate::engine::fields::{free_fields, values};
use crate::engine::{Diagnostics, Guarantee, digits};
use crate::{Machine, Result};

/// Sums of numbers up to this do not overflow.
const SCALE: f64 = 1e300;

/// A bound on greedy sweeps, reached only through rounding.
const GREEDY_SWEEPS: usize = 1000;

/// Solves rows with the same free units.
pub(super) struct Solver<'a> {
    machine: &'a Machine,
    free: &'a [usize],
    settings: &'a MaxProduct,
    plan: Plan,
    forests: Vec<Forest>,
}

/// The states of `N` rows, by unit, and how each search went.
pub(super) struct Solved<const N: usize> {
    pub(super) states: Vec<[f64; N]>,
    pub(super) diagnostics: [Diagnostics; N],
}

impl<'a> Solver<'a> {
    /// Prepares the rows of a machine with these free units.
    ///
    /// # Errors
    /// Invalid settings, numbers too large, or not enough budget.
    pub(super) fn new(machine: &'a Machine, free: &'a [usize], settings: &'a MaxProduct) -> Result<Self> {
        settings.check()?;
        machine.check_scale(MaxProduct::NAME, SCALE)?;
        check_room(machine, free, settings, 1, 1)?;
        let plan = Plan::new(machine, free);
        Ok(Self { machine, free, settings, forests: Forest::several(&plan), plan })
    }

    pub(super) fn free(&self) -> &'a [usize] {
        self.free
    }

    /// Returns exact without cycles, if the numbers of these units are small enough for nine
    /// digits.
    pub(super) fn guarantee(&self, free: impl IntoIterator<Item = usize>) -> Guarantee {
        if self.plan.core == 0 { digits::guarantee(self.machine, free) } else { Guarantee::Approximation }
    }

    /// Solves up to `N` rows. The result of a row depends on neither `N` nor other rows.
    pub(super) fn solve<const N: usize>(&self, rows: &[&[i8]]) -> Solved<N> {
        let Self { machine, free, settings, plan, forests } = self;
        let mut states = values::<N>(machine, rows);
        let by_local = free_fields(machine, free, &states);
        let mut fields: Vec<[f64; N]> = plan.locals.iter().map(|&k| by_local[k as usize]).collect();
        inwards(plan, &mut fields);
        let mut by_place = vec![[1.0; N]; free.len()];
        let mut diagnostics = [Diagnostics::direct(); N];
        if plan.core > 0 {
            let mut start = vec![[1.0; N]; plan.core];
            for row in 0..rows.len() {
                let state = self.greedy(|k| by_local[k][row]);
                for (start, &k) in start.iter_mut().zip(&plan.locals) {
                    start[row] = state[free[k as usize]];
                }
            }
            let found = cycles::search((plan, forests), settings, &fields[..plan.core], start, rows.len());
            by_place[..plan.core].copy_from_slice(&found.states);
            diagnostics = found.diagnostics;
        }
        outwards(plan, &fields, &mut by_place);
        for (&k, state) in plan.locals.iter().zip(by_place) {
            states[free[k as usize]] = state;
        }
        Solved { states, diagnostics }
    }

    /// Returns a greedy state: units chosen in turn given the earlier ones, then flipped until none
    /// changes.
    fn greedy(&self, field: impl Fn(usize) -> f64) -> Vec<f64> {
        let Self { machine, free, .. } = self;
        let mut state = vec![0.0; machine.unit_count()];
        for _ in 0..GREEDY_SWEEPS {
            let mut has_changed = false;
            for (k, &unit) in free.iter().enumerate() {
                let pull = |(other, edge): (usize, usize)| machine.weights()[edge] * state[other];
                let around: f64 = machine.graph().neighbours(unit).map(pull).sum();
                let total = field(k) + around / machine.temperature();
                if state[unit] == 0.0 || total * state[unit] < 0.0 {
                    state[unit] = choice(total);
                    has_changed = true;
                }
            }
            if !has_changed {
                break;
            }
        }
        state
    }
}

/// Checks that so many rows on so many threads fit the budget.
pub(super) fn check_room(
    machine: &Machine,
    free: &[usize],
    settings: &MaxProduct,
    rows: usize,
    threads: usize,
) -> Result<()> {
    let ends: usize = free.iter().map(|&unit| machine.graph().degree(unit)).sum();
    // Values and greedy states; fields by number and place, states, starts; a reader's fields,
    // states, totals and open places; messages.
    let numbers = 2 * machine.unit_count() as u128 + 12 * free.len() as u128 + 3 * ends as u128;
    let shared = Plan::bytes(machine, free) + Forest::bytes(free.len());
    let bytes = (shared + 8 * rows as u128 * numbers) * threads as u128;
    settings.budget.check(MaxProduct::NAME, bytes, || {
        let of_rows =
            if rows * threads > 1 { format!(", {} rows at once", rows * threads) } else { String::new() };
        format!("messages between {} free units through {ends} ends of couplings{of_rows}", free.len())
    })
}
