//! Solves rows of evidence: the dual of each, minimised from equal multipliers.

use std::ops::ControlFlow;

use super::super::couplings::{pairs_among, places};
use super::super::{check_statistics, record};
use super::LogDet;
use super::cuts::violated;
use super::dual::Dual;
use crate::engine::exact::digits::guarantee;
use crate::engine::fields::Fields;
use crate::engine::parts::solve_in_parts;
use crate::engine::{Ask, BatchExpectations, Diagnostics, Guarantee, Iteration};
use crate::numeric::dense::Matrix;
use crate::optimize::{Method, OptimizerSettings, maximize};
use crate::progress::Task;
use crate::settings::Settings;
use crate::table::{Batch, Group};
use crate::{Machine, Result};

/// Energies beyond this would overflow in sums and differences.
const SCALE: f64 = 1e140;

/// The cost of a row is about so many nanoseconds times the cube of its free units.
const COST: f64 = 300.0;

/// Matrices of all free units that a row takes.
const MATRICES: u128 = 10;

/// Vectors of all parameters that the search remembers.
const VECTORS: u128 = 64;

/// Rounds in which inequalities are added.
const ROUNDS: usize = 4;

/// Solves rows with the same free units.
pub(super) struct Solver<'a> {
    engine: &'a LogDet,
    machine: &'a Machine,
    free: &'a [usize],
    /// The place of each unit among the free ones.
    places: Vec<u32>,
    /// Couplings among the free units, over T.
    couplings: Matrix,
}

/// A row with its bound.
pub(super) struct Solved {
    pub(super) log_z: f64,
    /// ⟨s_i⟩ of every unit of the machine.
    pub(super) means: Vec<f64>,
    /// ⟨s_i s_j⟩ of the free units.
    moments: Matrix,
    pub(super) diagnostics: Diagnostics,
}

impl<'a> Solver<'a> {
    /// Prepares the rows of a machine with these free units.
    ///
    /// # Errors
    /// Invalid settings, numbers too large, or not enough budget for so many threads.
    pub(super) fn new(
        engine: &'a LogDet,
        machine: &'a Machine,
        free: &'a [usize],
        threads: usize,
    ) -> Result<Self> {
        engine.settings.validate()?;
        machine.check_scale(LogDet::NAME, SCALE)?;
        engine.check_memory(free.len(), threads)?;
        let mut couplings = Matrix::zeros(free.len());
        for pair in pairs_among(machine, free) {
            couplings.set_both(pair.a as usize, pair.b as usize, pair.coupling);
        }
        Ok(Self { engine, machine, free, places: places(machine, free), couplings })
    }

    /// The kind of answer: where numbers are too large for nine digits, it is not a bound.
    pub(super) fn guarantee(&self, units: impl IntoIterator<Item = usize>) -> Guarantee {
        match guarantee(self.machine, units) {
            Guarantee::Exact if !self.free.is_empty() => Guarantee::UpperBound,
            other => other,
        }
    }

    /// Solves a row.
    pub(super) fn solve(&self, cells: &[i8]) -> Result<Solved> {
        let Fields { free: fields, shifts: [shift], values } =
            Fields::<1>::new(self.machine, self.free, &[cells]);
        let mut means: Vec<f64> = values.into_iter().map(|[value]| value).collect();
        if self.free.is_empty() {
            let (moments, diagnostics) = (Matrix::zeros(0), Diagnostics::direct());
            return Ok(Solved { log_z: shift, means, moments, diagnostics });
        }
        let units = self.free.len();
        // Biases are couplings to one more unit, the last.
        let has_fields = fields.iter().any(|&[field]| field != 0.0);
        let mut couplings = Matrix::zeros(units + usize::from(has_fields));
        for column in 0..units {
            couplings.column_mut(column)[..units].copy_from_slice(self.couplings.column(column));
        }
        if has_fields {
            for (unit, &[field]) in fields.iter().enumerate() {
                couplings.set_both(units, unit, field);
            }
        }
        let mut dual = Dual::new(couplings, LogDet::NAME);
        let (parameters, diagnostics) = self.minimise(&mut dual)?;
        let bound = dual.rigorous(&parameters)?;
        let mut moments = dual.at(&parameters)?.moments;
        for column in 0..moments.size() {
            moments.column_mut(column).iter_mut().for_each(|x| *x = x.clamp(-1.0, 1.0));
        }
        if has_fields {
            for (place, &unit) in self.free.iter().enumerate() {
                means[unit] = moments[(units, place)];
            }
        }
        let log_z = bound - if has_fields { std::f64::consts::LN_2 } else { 0.0 } + shift;
        let rounding = 2.0 * f64::EPSILON * (bound.abs() + shift.abs());
        Ok(Solved { log_z: log_z + rounding, means, moments, diagnostics })
    }

    /// Minimises the bound, and again with inequalities that the optimum violates.
    fn minimise(&self, dual: &mut Dual) -> Result<(Vec<f64>, Diagnostics)> {
        let settings = &self.engine.settings;
        let mut parameters = dual.start()?;
        let (mut sweeps, mut residual, mut converged) = (0, f64::INFINITY, false);
        let task = Task::open_ended();
        for round in 0..=ROUNDS {
            let limits = OptimizerSettings {
                method: Method::default(),
                iterations: settings.max_sweeps.saturating_sub(sweeps),
                tolerance: settings.tolerance,
            };
            let mut made = 0;
            let found = maximize(dual, parameters.into(), &limits, &mut |visit| {
                task.done(1);
                (made, residual) = (visit.iteration, visit.gradient_norm);
                Ok(ControlFlow::Continue(()))
            })?;
            (parameters, converged) = (found.parameters, found.converged);
            sweeps += made;
            let left = settings.cuts - dual.cuts.len();
            if round == ROUNDS || left == 0 || sweeps >= settings.max_sweeps {
                break;
            }
            let share = left.div_ceil(ROUNDS - round);
            let more = violated(&dual.at(&parameters)?.moments, &dual.cuts, share);
            if more.is_empty() {
                break;
            }
            parameters = dual.with_cuts(parameters, more);
        }
        let iteration = Iteration { sweeps, residual, damping: 0.0, oscillated: false };
        Ok((parameters, Diagnostics::iterated(converged, iteration)))
    }

    /// ⟨s_i s_j⟩ of any two units.
    pub(super) fn moment(&self, solved: &Solved, a: usize, b: usize) -> f64 {
        let [place, other] = [a, b].map(|unit| self.places[unit] as usize);
        if place.max(other) < self.free.len() {
            solved.moments[(place, other)]
        } else {
            solved.means[a] * solved.means[b]
        }
    }
}

/// Solves all rows of a batch, each independent of the others.
pub(super) fn solve_batch(
    engine: &LogDet,
    machine: &Machine,
    batch: &Batch,
    ask: Ask,
) -> Result<BatchExpectations> {
    engine.settings.validate()?;
    check_statistics(LogDet::NAME, engine.settings.budget, machine, ask)?;
    let threads = rayon::current_num_threads();
    for group in batch.groups() {
        engine.check_memory(group.free.len(), threads)?;
    }
    let cost = |_: usize, group: &Group| 8.0 * COST * (group.free.len() as f64).powi(3);
    solve_in_parts(machine, batch, ask, cost, |pieces, part| {
        for piece in pieces {
            let solver = Solver::new(engine, machine, &batch.groups()[piece.group].free, threads)?;
            // Differences between rows matter, so the terms of clamped units count as well.
            part.guarantee = part.guarantee.and(solver.guarantee(0..machine.unit_count()));
            for row in piece.rows.clone() {
                let solved = solver.solve(batch.row(row))?;
                let edges = machine.graph().edges().iter();
                let moments: Vec<f64> = if ask.statistics {
                    edges.map(|&(a, b)| solver.moment(&solved, a, b)).collect()
                } else {
                    Vec::new()
                };
                let answer = (solved.log_z, solved.diagnostics);
                record(part, ask, batch.weights()[row], answer, (solved.means, &moments));
            }
        }
        Ok(())
    })
}

impl LogDet {
    /// The bytes of a row with so many free units.
    pub(in crate::engine) fn bytes(&self, free: usize) -> u128 {
        let units = free as u128 + 1;
        8 * (MATRICES * units * units + VECTORS * (2 * units + self.settings.cuts as u128))
    }

    fn check_memory(&self, free: usize, threads: usize) -> Result<()> {
        self.settings.budget.check(Self::NAME, self.bytes(free) * threads as u128, || {
            let rows = if threads == 1 { String::new() } else { format!(", {threads} times at once,") };
            format!("the covariances of {free} free units{rows}")
        })
    }
}
