//! Solves rows of evidence that share their free units, and batches.

use rayon::prelude::*;

use super::cycles;
use super::plan::Plan;
use super::trees::{Forest, choice, inwards, outwards};
use super::{MaxProduct, States};
use crate::engine::fields::{free_fields, values};
use crate::engine::parts::{PARTS, Piece, cut};
use crate::engine::{Diagnostics, Guarantee, digits};
use crate::numeric::lanes::LANES;
use crate::settings::Settings;
use crate::table::{Batch, Group};
use crate::{Machine, Result};

/// Sums of numbers up to this do not overflow.
const SCALE: f64 = 1e300;

/// A bound on greedy sweeps, reached only through rounding.
const GREEDY_SWEEPS: usize = 1000;

/// The cost of an end of a coupling in eight rows, in about nanoseconds: on a tree,
const END_COST: f64 = 8.0;

/// and over all sweeps, with cycles.
const LOOPY_END_COST: f64 = 2000.0;

/// Up to so many rows are faster one by one.
const FEW_ROWS: usize = 2;

/// Solves rows with the same free units.
pub(super) struct Solver<'a> {
    machine: &'a Machine,
    free: &'a [usize],
    settings: &'a MaxProduct,
    plan: Plan,
    forests: Vec<Forest>,
}

/// The states of `N` rows, by unit (by place in the core), and how each search went.
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
        settings.validate()?;
        machine.check_scale(MaxProduct::NAME, SCALE)?;
        check_memory(machine, free, settings, 1, 1)?;
        let plan = Plan::new(machine, free);
        Ok(Self { machine, free, settings, forests: Forest::several(&plan), plan })
    }

    /// Returns exact without cycles, if the numbers of these units allow nine digits.
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
        let mut diagnostics = std::array::from_fn(|_| Diagnostics::direct());
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

    /// Returns a greedy state: units chosen given the earlier ones, then flipped until none
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
fn check_memory(
    machine: &Machine,
    free: &[usize],
    settings: &MaxProduct,
    rows: usize,
    threads: usize,
) -> Result<()> {
    let ends: usize = free.iter().map(|&unit| machine.graph().degree(unit)).sum();
    // Values and greedy states; fields by number and place, states, starts; a decoder's fields,
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

/// Solves all rows of a batch.
pub(super) fn solve_batch(settings: &MaxProduct, machine: &Machine, batch: &Batch) -> Result<States> {
    let units = machine.unit_count();
    let cells = (batch.row_count() as u128).saturating_mul(2 * units as u128);
    let what = || format!("the states of {units} units in {} rows", batch.row_count());
    settings.budget.check(MaxProduct::NAME, cells, what)?;
    let threads = rayon::current_num_threads();
    // Where eight rows do not fit on every thread, one may.
    let fits_lanes = |group: &Group| check_memory(machine, &group.free, settings, LANES, threads).is_ok();
    let in_lanes: Vec<bool> = batch.groups().iter().map(fits_lanes).collect();
    for (group, in_lanes) in batch.groups().iter().zip(&in_lanes) {
        if !in_lanes {
            check_memory(machine, &group.free, settings, 1, threads)?;
        }
    }
    let cost = |_: usize, group: &Group| {
        let ends = |&unit: &usize| machine.graph().degree(unit);
        let all: usize = group.free.iter().map(ends).sum();
        let among_free: usize = group.free.iter().map(|unit| ends(unit).min(group.free.len())).sum();
        // A forest has fewer couplings than units; more may have cycles.
        let has_cycles = among_free >= 2 * group.free.len();
        let loopy = if has_cycles { among_free as f64 * LOOPY_END_COST } else { 0.0 };
        (all + units) as f64 * END_COST + loopy
    };
    let solve_part = |pieces: &Vec<Piece>| {
        let mut part = Part { cells: Vec::new(), converged: 0, guarantee: Guarantee::Exact };
        for piece in pieces {
            let solver = Solver::new(machine, &batch.groups()[piece.group].free, settings)?;
            part.guarantee = part.guarantee.and(solver.guarantee(solver.free.iter().copied()));
            let lanes = if in_lanes[piece.group] { LANES } else { 1 };
            for first in piece.rows.clone().step_by(lanes) {
                let places = first..piece.rows.end.min(first + lanes);
                let rows: Vec<&[i8]> = places.map(|place| batch.row(place)).collect();
                if rows.len() <= FEW_ROWS {
                    for row in rows.chunks(1) {
                        part.add::<1>(&solver, row);
                    }
                } else {
                    part.add::<LANES>(&solver, &rows);
                }
            }
        }
        Ok(part)
    };
    let parts: Vec<Part> = cut(batch, PARTS, cost).par_iter().map(solve_part).collect::<Result<_>>()?;

    let mut states = States {
        units,
        cells: vec![0; batch.row_count() * units],
        converged: 0,
        guarantee: Guarantee::Exact,
    };
    let mut given = batch.given_order().iter();
    for part in parts {
        states.converged += part.converged;
        states.guarantee = states.guarantee.and(part.guarantee);
        for (row, &given) in part.cells.chunks(units.max(1)).zip(&mut given) {
            states.cells[given * units..(given + 1) * units].copy_from_slice(row);
        }
    }
    Ok(states)
}

/// The states of some rows, in grouped order.
struct Part {
    cells: Vec<i8>,
    converged: usize,
    guarantee: Guarantee,
}

impl Part {
    /// Solves some rows, at most `N`, and records their states.
    fn add<const N: usize>(&mut self, solver: &Solver<'_>, rows: &[&[i8]]) {
        let solved = solver.solve::<N>(rows);
        for row in 0..rows.len() {
            self.cells.extend(solved.states.iter().map(|state| state[row] as i8));
            self.converged += usize::from(solved.diagnostics[row].converged);
        }
    }
}
