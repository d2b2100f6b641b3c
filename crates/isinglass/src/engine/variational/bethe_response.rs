//! Linear response around the fixed points of belief propagation.
//!
//! The curvature of the Bethe free energy follows from the beliefs (Welling & Teh 2004, "Linear
//! response algorithms for approximate inference in graphical models"). With `ρ_ij` the correlation
//! coefficient of two coupled units, the scaled inverse response is
//! `B_ii = 1 + Σ_j ρ_ij² / (1 − ρ_ij²)` and `B_ij = −ρ_ij / (1 − ρ_ij²)`.
//!
//! On a forest the response is exact without an inverse: beliefs give the moments of couplings, and
//! products along paths those of other pairs. Elsewhere an inverse loses as many digits as
//! `1 − ρ²`, computed without cancellation, has leading zeros.

use super::bethe::{MESSAGE_COST, Solved, Solver, bytes};
use super::couplings::{Couplings, Pair, pairs_among};
use super::response::{self, Curvature, Plan};
use super::{LinearResponse, VariationalSettings};
use crate::engine::exact::digits::guarantee;
use crate::engine::exact::pinned::clamp_pinned;
use crate::engine::parts::{solve_in_parts, statistics_bytes};
use crate::engine::{Ask, BatchExpectations, Expectations, Guarantee, PairMoments, Pairs};
use crate::numeric::lanes::LANES;
use crate::table::{Batch, Group};
use crate::{Error, Evidence, Machine, Result};

/// With a smaller `1 − ρ²`, an inverse would have fewer than six digits.
const LEAST_UNEXPLAINED: f64 = 1e-10;

/// Tied units count as independent below this product of standard deviations, which bounds their
/// covariance.
const NO_COVARIANCE: f64 = 1e-10;

/// Returns expectations under one evidence.
pub(super) fn single(
    machine: &Machine,
    evidence: &Evidence,
    pairs: Pairs,
    settings: &VariationalSettings,
) -> Result<Expectations> {
    machine.check_evidence(evidence)?;
    let evidence = clamp_pinned(machine, evidence, &[]);
    let free: Vec<usize> = evidence.free().collect();
    let copies = if pairs == Pairs::All { 2 } else { 1 };
    let needed = bytes(machine, &free, settings, 1)
        + response_bytes(machine, free.len(), 1)
        + 8 * copies * PairMoments::count(pairs, machine.graph()) as u128;
    check_memory(settings, needed, free.len())?;
    let responder = Responder::new(machine, &free, settings)?;
    let Responder { solver, couplings } = &responder;
    let plan = match pairs {
        _ if solver.is_forest() => Plan::Independent,
        Pairs::None => Plan::Independent,
        Pairs::Edges => Plan::new(couplings.units, &couplings.pairs)?,
        Pairs::All => Plan::Dense,
    };
    check_memory(settings, needed + plan.bytes(free.len(), 1), free.len())?;
    let mut solved = solver.solve::<1>(&[evidence.cells()]);
    solved.check(LinearResponse::NAME, 1)?;
    let values = match pairs {
        Pairs::None => Vec::new(),
        Pairs::Edges => {
            responder.respond(&plan, &mut solved, 1)?;
            solved.moments.iter().map(|&[moment]| moment).collect()
        }
        Pairs::All if solver.is_forest() => solver.all_pairs(&solved),
        Pairs::All => responder.all_pairs(&solved)?,
    };
    Ok(solved.expectations(solver, PairMoments { pairs, values }, solver.is_forest()))
}

/// Returns expectations under each row of evidence.
pub(super) fn batch(
    machine: &Machine,
    batch: &Batch,
    ask: Ask,
    settings: &VariationalSettings,
) -> Result<BatchExpectations> {
    Error::check_length("units of the batch", batch.unit_count(), machine.unit_count())?;
    settings.check(machine.temperature())?;
    let prepare = |group: &Group| prepare(machine, group, ask, settings);
    let plans: Vec<Plan> = batch.groups().iter().map(prepare).collect::<Result<_>>()?;
    let cost = |number: usize, group: &Group| {
        let degree = |&unit: &usize| machine.graph().degree(unit).min(group.free.len());
        let messages = group.free.iter().map(degree).sum::<usize>() as f64 * MESSAGE_COST;
        messages + plans[number].cost(group.free.len())
    };
    let mut answer = solve_in_parts(machine, batch, ask, cost, |pieces, part| {
        for piece in pieces {
            let responder = Responder::new(machine, &batch.groups()[piece.group].free, settings)?;
            for first in piece.rows.clone().step_by(LANES) {
                let places = first..piece.rows.end.min(first + LANES);
                let rows: Vec<&[i8]> = places.clone().map(|place| batch.row(place)).collect();
                let mut solved = responder.solver.solve::<LANES>(&rows);
                solved.check(LinearResponse::NAME, rows.len())?;
                if ask.statistics {
                    responder.respond(&plans[piece.group], &mut solved, rows.len())?;
                }
                solved.record(&batch.weights()[places], ask, part);
                let converged = solved.diagnostics[..rows.len()].iter().all(|row| row.converged);
                if !(responder.solver.is_forest() && converged) {
                    part.guarantee = Guarantee::Approximation;
                }
            }
        }
        Ok(())
    })?;
    if answer.guarantee == Guarantee::Exact {
        // Differences between rows matter, so the terms of clamped units count as well.
        answer.guarantee = guarantee(machine, 0..machine.unit_count());
    }
    Ok(answer)
}

/// Chooses how the rows of a group are inverted, within the budget on all threads.
fn prepare(machine: &Machine, group: &Group, ask: Ask, settings: &VariationalSettings) -> Result<Plan> {
    let free = &group.free;
    let sums = if ask.statistics { statistics_bytes(machine) } else { 0 };
    let each = bytes(machine, free, settings, LANES) + response_bytes(machine, free.len(), LANES);
    let threads = rayon::current_num_threads() as u128;
    check_memory(settings, each * threads + sums, free.len())?;
    if !ask.statistics || Solver::new(machine, free, settings)?.is_forest() {
        return Ok(Plan::Independent);
    }
    let plan = Plan::new(free.len(), &pairs_among(machine, free))?;
    check_memory(settings, (each + plan.bytes(free.len(), LANES)) * threads + sums, free.len())?;
    Ok(plan)
}

/// Computes responses for rows with the same free units.
struct Responder<'a> {
    solver: Solver<'a>,
    couplings: Couplings,
}

impl<'a> Responder<'a> {
    fn new(machine: &'a Machine, free: &'a [usize], settings: &'a VariationalSettings) -> Result<Self> {
        let solver = Solver::new(machine, free, settings)?;
        Ok(Self { solver, couplings: Couplings::new(machine, free, false) })
    }

    /// Replaces the moments of beliefs by those of linear response, on a forest for weight 0 only.
    fn respond<const N: usize>(&self, plan: &Plan, solved: &mut Solved<N>, rows: usize) -> Result<()> {
        if self.solver.is_forest() {
            self.solver.follow_idle_edges(solved);
            return Ok(());
        }
        let curvature = self.curvature(solved, rows)?;
        let responses = plan.responses(LinearResponse::NAME, &self.couplings, &curvature, rows)?;
        for (pair, x) in self.couplings.pairs.iter().zip(responses.as_chunks::<N>().0) {
            let (a, b) = self.solver.machine.graph().edges()[pair.edge as usize];
            solved.moments[pair.edge as usize] =
                std::array::from_fn(|row| solved.means[a][row] * solved.means[b][row] + x[row]);
        }
        Ok(())
    }

    /// Returns the moments of all pairs of a machine with cycles.
    fn all_pairs(&self, solved: &Solved<1>) -> Result<Vec<f64>> {
        let Solver { machine, free, .. } = self.solver;
        let product = |a: usize, b: usize| solved.means[a][0] * solved.means[b][0];
        let mut values = PairMoments::collect(Pairs::All, machine.graph(), product).values;
        let curvature = self.curvature(solved, 1)?;
        let (name, pairs) = (LinearResponse::NAME, (&self.couplings, free));
        response::add_to_all_pairs(name, pairs, &curvature, machine.unit_count(), &mut values)?;
        Ok(values)
    }

    /// Returns the curvature at the beliefs of some rows.
    ///
    /// # Errors
    /// [`Error::Numerical`] where two tied units leave the inverse no digits.
    fn curvature<const N: usize>(&self, solved: &Solved<N>, rows: usize) -> Result<Curvature> {
        let (machine, couplings) = (self.solver.machine, &self.couplings);
        let mut scales = vec![[0.0; N]; couplings.units];
        let mut diagonal = vec![[1.0; N]; couplings.units];
        let mut pairs = Vec::with_capacity(couplings.pairs.len() * N);
        for &Pair { a, b, edge, .. } in &couplings.pairs {
            let (a, b, edge) = (a as usize, b as usize, edge as usize);
            let (unit, other) = machine.graph().edges()[edge];
            scales[a] = solved.variances[unit].map(f64::sqrt);
            scales[b] = solved.variances[other].map(f64::sqrt);
            for row in 0..N {
                let both = scales[a][row] * scales[b][row];
                let (covariance, unexplained) =
                    (solved.covariances[edge][row], solved.unexplained[edge][row]);
                // A unit whose mean is ±1 does not respond.
                let is_certain =
                    both <= f64::MIN_POSITIVE || (unexplained < LEAST_UNEXPLAINED && both <= NO_COVARIANCE);
                if is_certain || row >= rows {
                    pairs.push(0.0);
                    continue;
                }
                if unexplained < LEAST_UNEXPLAINED {
                    return Err(tied(machine, unit, other, unexplained));
                }
                // For large ρ, 1 − ρ² has more digits.
                let rho = if unexplained < 0.5 {
                    (1.0 - unexplained).sqrt().copysign(covariance)
                } else {
                    covariance / both
                };
                diagonal[a][row] += rho * rho / unexplained;
                diagonal[b][row] += rho * rho / unexplained;
                pairs.push(-rho / unexplained);
            }
        }
        let (scales, diagonal) = (scales.into_flattened(), diagonal.into_flattened());
        Ok(Curvature { width: N, scales, diagonal, pairs })
    }
}

fn tied(machine: &Machine, a: usize, b: usize, unexplained: f64) -> Error {
    let (a, b) = (machine.name(a), machine.name(b));
    Error::Numerical {
        method: LinearResponse::NAME,
        problem: format!(
            "units {a} and {b}, on a cycle or beside one, are tied so strongly (1 − ρ² = {unexplained:.1e}, expected at least {LEAST_UNEXPLAINED:e}) \
             that the response around bethe would have no digits; another theory to respond around may help"
        ),
    }
}

/// Returns the bytes of couplings, curvature and response.
fn response_bytes(machine: &Machine, free: usize, rows: usize) -> u128 {
    let edges = machine.graph().edges().len();
    Couplings::bytes(free, edges, false) + 8 * rows as u128 * (4 * free as u128 + 4 * edges as u128)
}

fn check_memory(settings: &VariationalSettings, bytes: u128, free: usize) -> Result<()> {
    settings.budget.check(LinearResponse::NAME, bytes, || format!("the linear response of {free} units"))
}
