//! Solves rows of evidence, for `bethe` and for linear response around it.

use std::f64::consts::LN_2;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Bethe;
use super::beliefs::Beliefs;
use super::messages::Messages;
use super::monitor::Monitor;
use super::search::Search;
use super::wiring::Wiring;
use crate::engine::exact::digits::guarantee;
use crate::engine::expectations::packed_pair;
use crate::engine::fields::Fields;
use crate::engine::parts::{Part, solve_in_parts};
use crate::engine::variational::limits::Limits;
use crate::engine::variational::{VariationalSettings, check_statistics};
use crate::engine::{Ask, BatchExpectations, Diagnostics, Expectations, Guarantee, PairMoments, Pairs};
use crate::numeric::lanes::LANES;
use crate::numeric::stable::log_cosh;
use crate::table::{Batch, Group};
use crate::{Machine, Result};

/// Energies beyond this would overflow in sums and differences.
const SCALE: f64 = 1e290;

/// The cost of a message in eight rows, over all sweeps, in about nanoseconds.
pub(in crate::engine::variational) const MESSAGE_COST: f64 = 1000.0;

/// The cost of a unit or edge, clamped or free, in eight rows, in nanoseconds.
const ELEMENT_COST: f64 = 16.0;

/// Up to so many rows are faster one by one, with several messages of a row in a vector.
const FEW_ROWS: usize = 2;

/// Solves rows with the same free units.
pub(in crate::engine::variational) struct Solver<'a> {
    pub(in crate::engine::variational) machine: &'a Machine,
    pub(in crate::engine::variational) free: &'a [usize],
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
    /// `1 − ρ²` of every edge, ρ the correlation coefficient; 1 where the moment is a product.
    pub(in crate::engine::variational) unexplained: Vec<[f64; N]>,
    pub(in crate::engine::variational) diagnostics: [Diagnostics; N],
    /// What log Z can be.
    limits: [Limits; N],
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
        check_memory(machine, free, settings, 1, 1)?;
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

    /// Solves up to `N` rows, 1 or 8. The bits of a row depend on neither `N` nor other rows.
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
        let mut unexplained = vec![[1.0; N]; moments.len()];
        for (link, &edge) in wiring.edges.iter().enumerate() {
            moments[edge as usize] = by_link[link];
            covariances[edge as usize] = found.beliefs.covariances[link];
            unexplained[edge as usize] = found.beliefs.unexplained[link];
        }
        Solved {
            log_z: std::array::from_fn(|row| log_z[row] + shifts[row]),
            means,
            variances,
            moments,
            covariances,
            unexplained,
            diagnostics: found.diagnostics,
            limits: if wiring.is_forest {
                [Limits::NONE; N]
            } else {
                let limits = limits(wiring, &fields);
                std::array::from_fn(|row| limits[row].shifted(shifts[row]))
            },
        }
    }
}

/// Returns what log Z of the free units can be, in each row.
fn limits<const N: usize>(wiring: &Wiring, fields: &[[f64; N]]) -> [Limits; N] {
    let (mut independent, mut mean) = ([0.0; N], [0.0; N]);
    let mut strength = 0.0;
    for field in fields {
        for (sum, h) in independent.iter_mut().zip(field) {
            *sum += log_cosh(*h) + LN_2;
        }
    }
    let tanh: Vec<[f64; N]> = fields.iter().map(|field| field.map(f64::tanh)).collect();
    let local = |place: u32| wiring.locals[place as usize] as usize;
    let links = wiring.ahead.senders.iter().zip(&wiring.ahead.mirrors).zip(&wiring.ahead.couplings);
    for ((&sender, &mirror), v) in links {
        let (a, b) = (&tanh[local(sender)], &tanh[local(wiring.back.senders[mirror as usize])]);
        strength += v.abs();
        for row in 0..N {
            mean[row] += v * a[row] * b[row];
        }
    }
    std::array::from_fn(|row| Limits::new(independent[row], mean[row], strength))
}

/// Solves all rows of a batch.
pub(super) fn solve_batch(
    machine: &Machine,
    batch: &Batch,
    ask: Ask,
    settings: &VariationalSettings,
) -> Result<BatchExpectations> {
    settings.check(machine.temperature())?;
    check_statistics(Bethe::NAME, settings.budget, machine, ask)?;
    let threads = rayon::current_num_threads();
    // Where eight rows do not fit on every thread, one may.
    let fits_lanes = |group: &Group| check_memory(machine, &group.free, settings, LANES, threads).is_ok();
    let in_lanes: Vec<bool> = batch.groups().iter().map(fits_lanes).collect();
    for (group, in_lanes) in batch.groups().iter().zip(&in_lanes) {
        if !in_lanes {
            check_memory(machine, &group.free, settings, 1, threads)?;
        }
    }
    let elements = (machine.unit_count() + machine.graph().edges().len()) as f64;
    let cost = |_: usize, group: &Group| {
        let messages: usize =
            group.free.iter().map(|&unit| machine.graph().degree(unit).min(group.free.len())).sum();
        messages as f64 * MESSAGE_COST + elements * ELEMENT_COST
    };
    let all_exact = AtomicBool::new(true);
    let mut answer = solve_in_parts(machine, batch, ask, cost, |pieces, part| {
        for piece in pieces {
            let solver = Solver::new(machine, &batch.groups()[piece.group].free, settings)?;
            let is_exact = if ask.statistics { solver.is_forest_of_edges() } else { solver.is_forest() };
            if !is_exact {
                all_exact.store(false, Ordering::Relaxed);
            }
            let lanes = if in_lanes[piece.group] { LANES } else { 1 };
            for first in piece.rows.clone().step_by(lanes) {
                let places = first..piece.rows.end.min(first + lanes);
                let rows: Vec<&[i8]> = places.clone().map(|place| batch.row(place)).collect();
                let weights = &batch.weights()[places];
                if rows.len() <= FEW_ROWS {
                    for (row, weight) in rows.chunks(1).zip(weights.chunks(1)) {
                        let solved = solver.solve::<1>(row);
                        solved.check(Bethe::NAME, 1)?;
                        solved.record(weight, ask, part);
                    }
                } else {
                    let solved = solver.solve::<LANES>(&rows);
                    solved.check(Bethe::NAME, rows.len())?;
                    solved.record(weights, ask, part);
                }
            }
        }
        Ok(())
    })?;
    let is_exact = all_exact.into_inner() && answer.diagnostics.converged;
    // Differences between rows matter, so the terms of clamped units count as well.
    answer.guarantee =
        if is_exact { guarantee(machine, 0..machine.unit_count()) } else { Guarantee::Approximation };
    Ok(answer)
}

impl<const N: usize> Solved<N> {
    /// Refuses rows with a log Z that is impossible.
    ///
    /// # Errors
    /// [`Error::ImpossibleLogZ`](crate::Error::ImpossibleLogZ), by the name of an engine.
    pub(in crate::engine::variational) fn check(&self, engine: &'static str, rows: usize) -> Result<()> {
        self.limits
            .iter()
            .zip(self.log_z)
            .take(rows)
            .try_for_each(|(limits, log_z)| limits.check(engine, log_z))
    }

    /// Adds the results of the first rows to a part, one weight each.
    pub(in crate::engine::variational) fn record(&self, weights: &[f64], ask: Ask, part: &mut Part) {
        let rows = weights.len();
        part.log_z.extend(&self.log_z[..rows]);
        for diagnostics in &self.diagnostics[..rows] {
            part.diagnostics = part.diagnostics.and(diagnostics.clone());
        }
        if ask.means {
            for row in 0..rows {
                part.means.extend(self.means.iter().map(|mean| mean[row]));
            }
        }
        if let Some(statistics) = &mut part.statistics {
            let mut by_row = [0.0; N];
            by_row[..rows].copy_from_slice(weights);
            let sum = |x: &[f64; N]| x.iter().zip(&by_row).map(|(x, weight)| x * weight).sum::<f64>();
            statistics.weight += weights.iter().sum::<f64>();
            for (total, mean) in statistics.means.iter_mut().zip(&self.means) {
                *total += sum(mean);
            }
            for (total, moment) in statistics.edges.iter_mut().zip(&self.moments) {
                *total += sum(moment);
            }
        }
    }
}

impl Solved<1> {
    /// Returns expectations with these pair moments; `is_exact` holds only after convergence.
    pub(in crate::engine::variational) fn expectations(
        self,
        solver: &Solver<'_>,
        correlations: PairMoments,
        is_exact: bool,
    ) -> Expectations {
        let Self { log_z: [log_z], means, diagnostics: [diagnostics], .. } = self;
        let is_exact = is_exact && diagnostics.converged;
        let guarantee = || guarantee(solver.machine, solver.free.iter().copied());
        Expectations {
            log_z: Some(log_z),
            means: means.into_iter().map(|[mean]| mean).collect(),
            correlations,
            guarantee: if is_exact { guarantee() } else { Guarantee::Approximation },
            errors: None,
            diagnostics,
        }
    }
}

/// Checks that so many rows on so many threads fit the budget.
fn check_memory(
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
        + 8 * (3 * machine.unit_count() + 2 * free.len() + 3 * machine.graph().edges().len()) as u128;
    Wiring::bytes(machine, free.len(), links) + numbers * rows as u128
}

impl Solver<'_> {
    /// Returns ⟨s_i s_j⟩ of all pairs of a solved row: (0,1), (0,2), …, (1,2), ….
    ///
    /// Coupled pairs have the moments of their beliefs. Other pairs are exact on a forest, where a
    /// unit depends on earlier ones through one neighbour r:
    /// `cov(i, j) = cov(i, r) cov(r, j) / var(r)`. Elsewhere they count as independent.
    /// *Complexity*: quadratic in the units.
    pub(in crate::engine::variational) fn all_pairs(&self, solved: &Solved<1>) -> Vec<f64> {
        let graph = self.machine.graph();
        let n = self.machine.unit_count();
        let product = |a: usize, b: usize| solved.means[a][0] * solved.means[b][0];
        let mut values = PairMoments::collect(Pairs::All, graph, product).values;
        let pair = |a: usize, b: usize| packed_pair(n, a.min(b), a.max(b));
        if self.is_forest() {
            let unit = |place: u32| self.free[self.wiring.locals[place as usize] as usize];
            let places = self.wiring.locals.len();
            // Products of means are added once all covariances are computed.
            let mut covariances = vec![0.0; values.len()];
            for place in 0..places {
                let Some((parent, edge)) = self.before(place) else { continue };
                let (own, parent) = (unit(place as u32), unit(parent as u32));
                let [spread] = solved.variances[parent];
                let [slope] = slopes(solved, parent, edge);
                for before in (0..place as u32).map(unit) {
                    let through = if before == parent { spread } else { covariances[pair(parent, before)] };
                    covariances[pair(own, before)] = slope * through;
                }
            }
            for (value, covariance) in values.iter_mut().zip(covariances) {
                *value = (*value + covariance).clamp(-1.0, 1.0);
            }
        }
        for &edge in &self.wiring.edges {
            let (a, b) = graph.edges()[edge as usize];
            [values[pair(a, b)]] = solved.moments[edge as usize];
        }
        values
    }

    /// Sets the exact moments of a forest's edges of weight 0.
    ///
    /// *Complexity*: for each such edge, the path between its ends.
    pub(in crate::engine::variational) fn follow_idle_edges<const N: usize>(&self, solved: &mut Solved<N>) {
        if !(self.wiring.is_forest && self.wiring.has_idle_edges) {
            return;
        }
        let mut place_of = vec![None; self.machine.unit_count()];
        for (place, &local) in self.wiring.locals.iter().enumerate() {
            place_of[self.free[local as usize]] = Some(place);
        }
        let unit = |place: usize| self.free[self.wiring.locals[place] as usize];
        for (edge, &(a, b)) in self.machine.graph().edges().iter().enumerate() {
            let (Some(mut from), Some(mut to)) = (place_of[a], place_of[b]) else { continue };
            if self.machine.weights()[edge] / self.machine.temperature() != 0.0 {
                continue;
            }
            // Back from the later end, until both ends are at the same unit.
            let mut covariance = [1.0; N];
            while from != to {
                let later = from.max(to);
                let Some((parent, link)) = self.before(later) else { break };
                let slope = slopes(solved, unit(parent), link);
                covariance = std::array::from_fn(|row| covariance[row] * slope[row]);
                (from, to) = (from.min(to), parent);
            }
            if from == to {
                let spread = &solved.variances[unit(from)];
                let add = |row: usize| solved.moments[edge][row] + covariance[row] * spread[row];
                solved.moments[edge] = std::array::from_fn(|row| add(row).clamp(-1.0, 1.0));
            }
        }
    }

    /// Returns, in a forest, the one earlier place coupled with a place, and their edge.
    fn before(&self, place: usize) -> Option<(usize, usize)> {
        let back = &self.wiring.back;
        let mirror = back.mirrors[back.of(place..place + 1).next()?] as usize;
        Some((self.wiring.ahead.senders[mirror] as usize, self.wiring.edges[mirror] as usize))
    }
}

/// Returns `cov(i, r) / var(r)`: the regression of a unit on its neighbour; 0 if that is certain.
fn slopes<const N: usize>(solved: &Solved<N>, unit: usize, edge: usize) -> [f64; N] {
    let (spread, tied) = (&solved.variances[unit], &solved.covariances[edge]);
    std::array::from_fn(|row| if spread[row] > f64::MIN_POSITIVE { tied[row] / spread[row] } else { 0.0 })
}
