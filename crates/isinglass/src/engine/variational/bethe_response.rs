//! Linear response around the fixed points of belief propagation.
//!
//! The curvature of the Bethe free energy is known in terms of the beliefs (Welling & Teh 2004, "Linear response algorithms for approximate inference in graphical models"):
//! with `ρ_ij` the correlation coefficient of two coupled units, the scaled inverse of the response is
//! `B_ii = 1 + Σ_j ρ_ij² / (1 − ρ_ij²)` and `B_ij = −ρ_ij / (1 − ρ_ij²)`. On a forest the response is exact.

use super::bethe::{Solved, Solver};
use super::couplings::{Couplings, Pair};
use super::panel::Panel;
use super::response::{self, Curvature, Plan};
use super::{LinearResponse, VariationalSettings};
use crate::engine::expectations::packed_pair;
use crate::engine::parts::{Part, Piece, solve_in_parts, statistics_bytes};
use crate::engine::{Ask, Batch, BatchExpectations, Expectations, Group, Guarantee, PairMoments, Pairs};
use crate::numeric::lanes::LANES;
use crate::{Error, Evidence, Machine, Result};

/// About what a message costs in eight rows, all sweeps together, in nanoseconds.
const MESSAGE_COST: f64 = 1000.0;

/// Expectations under one evidence.
pub(super) fn single(
    machine: &Machine,
    evidence: &Evidence,
    pairs: Pairs,
    settings: &VariationalSettings,
) -> Result<Expectations> {
    machine.check_evidence(evidence)?;
    let free: Vec<usize> = evidence.free().collect();
    let n = machine.units();
    let solver = Solver::new(machine, &free, settings)?;
    let couplings = Couplings::new(machine, &free, false);
    let plan =
        if pairs == Pairs::Edges { Plan::new(couplings.units, &couplings.pairs)? } else { Plan::Dense };
    let bytes = 8 * PairMoments::count(pairs, machine.graph()) as u128
        + if pairs == Pairs::None { 0 } else { plan.bytes(free.len(), 1) };
    check_memory(settings, bytes, free.len())?;
    let solved = solver.solve::<1>(&[evidence.cells()]);
    let means: Vec<f64> = solved.means.iter().map(|&[mean]| mean).collect();
    let mut correlations = PairMoments::collect(pairs, machine.graph(), |a, b| means[a] * means[b]);
    match pairs {
        Pairs::None => {}
        Pairs::Edges => {
            let responses =
                plan.responses(LinearResponse::NAME, &couplings, &curvature(&couplings, &free, &solved), 1)?;
            for (pair, x) in couplings.pairs.iter().zip(responses) {
                correlations.values[pair.edge as usize] += x;
            }
        }
        Pairs::All => {
            let inverse =
                response::dense(LinearResponse::NAME, &couplings, &curvature(&couplings, &free, &solved), 0)?;
            for (a, &unit) in free.iter().enumerate() {
                for (b, &other) in free.iter().enumerate().skip(a + 1) {
                    correlations.values[packed_pair(n, unit, other)] += inverse[(a, b)];
                }
            }
        }
    }
    let is_exact = solver.is_forest() && solved.diagnostics[0].converged;
    Ok(Expectations {
        log_z: Some(solved.log_z[0]),
        means,
        correlations,
        guarantee: if is_exact { Guarantee::Exact } else { Guarantee::Approximation },
        errors: None,
        diagnostics: solved.diagnostics[0],
    })
}

/// Expectations under each row of evidence.
pub(super) fn batch(
    machine: &Machine,
    batch: &Batch,
    ask: Ask,
    settings: &VariationalSettings,
) -> Result<BatchExpectations> {
    Error::check_length("units of the batch", batch.units(), machine.units())?;
    settings.check(machine.temperature())?;
    let sums = if ask.statistics { statistics_bytes(machine) } else { 0 };
    let free = batch.groups().iter().map(|group| group.free.len()).max().unwrap_or(0);
    let edges = machine.graph().edges().len();
    let each = Couplings::bytes(free, edges, false) + Panel::bytes(machine.units() + edges, free, LANES);
    check_memory(settings, each * rayon::current_num_threads() as u128 + sums, free)?;
    let cost = |_: usize, group: &Group| {
        let degree = |&unit: &usize| machine.graph().degree(unit).min(group.free.len());
        group.free.iter().map(degree).sum::<usize>() as f64 * MESSAGE_COST
    };
    solve_in_parts(machine, batch, ask, cost, |pieces, part| {
        pieces.iter().try_for_each(|piece| solve_piece(machine, batch, ask, piece, settings, part))
    })
}

fn solve_piece(
    machine: &Machine,
    batch: &Batch,
    ask: Ask,
    piece: &Piece,
    settings: &VariationalSettings,
    part: &mut Part,
) -> Result<()> {
    let free = &batch.groups()[piece.group].free;
    let solver = Solver::new(machine, free, settings)?;
    let couplings = Couplings::new(machine, free, false);
    let plan = if ask.statistics { Plan::new(couplings.units, &couplings.pairs)? } else { Plan::Independent };
    check_memory(settings, plan.bytes(free.len(), LANES) * rayon::current_num_threads() as u128, free.len())?;
    for first in piece.rows.clone().step_by(LANES) {
        let places = first..piece.rows.end.min(first + LANES);
        let rows: Vec<&[i8]> = places.clone().map(|place| batch.row(place)).collect();
        let solved = solver.solve::<LANES>(&rows);
        part.log_z.extend(&solved.log_z[..rows.len()]);
        for (row, diagnostics) in solved.diagnostics[..rows.len()].iter().enumerate() {
            part.diagnostics = part.diagnostics.and(*diagnostics);
            if !(solver.is_forest() && diagnostics.converged) {
                part.guarantee = Guarantee::Approximation;
            }
            if ask.means {
                part.means.extend(solved.means.iter().map(|mean| mean[row]));
            }
        }
        let Some(statistics) = &mut part.statistics else { continue };
        let mut weights = [0.0; LANES];
        weights[..rows.len()].copy_from_slice(&batch.weights()[places]);
        let sum = |x: &[f64; LANES]| x.iter().zip(&weights).map(|(x, weight)| x * weight).sum::<f64>();
        statistics.weight += weights.iter().sum::<f64>();
        for (total, mean) in statistics.means.iter_mut().zip(&solved.means) {
            *total += sum(mean);
        }
        for (total, &(a, b)) in statistics.edges.iter_mut().zip(machine.graph().edges()) {
            *total += sum(&std::array::from_fn(|row| solved.means[a][row] * solved.means[b][row]));
        }
        let curvature = curvature(&couplings, free, &solved);
        let responses = plan.responses(LinearResponse::NAME, &couplings, &curvature, rows.len())?;
        for (pair, x) in couplings.pairs.iter().zip(responses.as_chunks().0) {
            statistics.edges[pair.edge as usize] += sum(x);
        }
    }
    Ok(())
}

/// The curvature at the beliefs of some rows.
fn curvature<const N: usize>(couplings: &Couplings, free: &[usize], solved: &Solved<N>) -> Curvature {
    let scales: Vec<[f64; N]> = free.iter().map(|&unit| solved.variances[unit].map(f64::sqrt)).collect();
    let mut diagonal = vec![[1.0; N]; free.len()];
    let mut pairs = Vec::with_capacity(couplings.pairs.len() * N);
    for &Pair { a, b, edge, .. } in &couplings.pairs {
        for row in 0..N {
            let both = scales[a as usize][row] * scales[b as usize][row];
            // A unit whose mean has reached ±1 answers to nothing.
            let rho = if both > 0.0 { solved.covariances[edge as usize][row] / both } else { 0.0 };
            let rest = 1.0 - rho * rho;
            diagonal[a as usize][row] += rho * rho / rest;
            diagonal[b as usize][row] += rho * rho / rest;
            pairs.push(-rho / rest);
        }
    }
    Curvature { width: N, scales: scales.into_flattened(), diagonal: diagonal.into_flattened(), pairs }
}

fn check_memory(settings: &VariationalSettings, bytes: u128, free: usize) -> Result<()> {
    settings.budget.check(LinearResponse::NAME, bytes, || format!("the linear response of {free} units"))
}
