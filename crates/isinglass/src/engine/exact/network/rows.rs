//! Batches: rows with the same free units share a network, eight of them at a time.

use std::sync::Arc;

use rayon::prelude::*;

use super::Solver;
use super::digits::guarantee;
use super::memory::{Gate, Segments, Turn};
use super::plan::{NONE, Plan};
use super::single::{all_means, load};
use super::star::{Eight, One, Rows, Sum};
use super::tape::{Keep, Tape};
use crate::engine::fields::Fields;
use crate::engine::parts::{Part, solve_in_parts, statistics_bytes};
use crate::engine::{Ask, BatchExpectations, Statistics};
use crate::numeric::lanes::LANES;
use crate::table::{Batch, Group};
use crate::{Machine, Result};

/// Tables of more units fill the lanes by themselves; eight rows of them would leave the cache.
const TABLE_BITS_IN_LANES: u8 = 8;

/// Nanoseconds for a sum of two terms in eight rows, forward and backward.
const SUM_COST: f64 = 16.0;

/// Nanoseconds for a unit or an edge, clamped or free, in eight rows.
const ELEMENT_COST: f64 = 8.0;

/// A group's network, and how it is run.
pub(super) struct Prepared {
    pub(super) plan: Arc<Plan>,
    /// Whether eight rows are summed in lanes; whatever the budget, so that it changes no sum.
    rows_share: bool,
    /// Eight rows at a time, or one.
    pub(super) in_lanes: bool,
    /// For the backward pass, if moments are requested.
    pub(super) segments: Option<Segments>,
    pub(super) turn: Turn,
}

impl Solver<'_> {
    /// Expectations under each row of evidence.
    pub(super) fn batch(self, machine: &Machine, batch: &Batch, ask: Ask) -> Result<BatchExpectations> {
        if ask.statistics {
            let bytes =
                statistics_bytes(machine) + Sums::bytes(machine) * rayon::current_num_threads() as u128;
            let edges = machine.graph().edges().len();
            self.networks.budget.check(self.name, bytes, || format!("the sums of {edges} edge moments"))?;
        }
        let with_moments = ask.means || ask.statistics;
        let prepared = self.prepared_groups(machine, batch, ask.statistics, with_moments)?;
        let elements = (machine.unit_count() + machine.graph().edges().len()) as f64;
        let cost = |number: usize, _: &Group| {
            let Prepared { plan, rows_share, .. } = &prepared[number];
            let cost = plan.work() * SUM_COST + elements * ELEMENT_COST;
            cost * if *rows_share { 1.0 } else { 8.0 }
        };
        // Parts run at the same time, each with its own tape, if the budget allows it.
        let gate = Gate::default();
        let mut answer = solve_in_parts(machine, batch, ask, cost, |pieces, part| {
            let mut sums = Sums::new(machine, ask);
            for piece in pieces {
                let prepared = &prepared[piece.group];
                let rows = piece.rows.clone();
                let block = Block { machine, batch, prepared, ask };
                let _turn = gate.pass(prepared.turn);
                if prepared.in_lanes {
                    block.solve::<LANES>(rows, part, &mut sums);
                } else {
                    block.solve::<1>(rows, part, &mut sums);
                }
            }
            if let Some(statistics) = &mut part.statistics {
                sums.add_to(statistics);
            }
            Ok(())
        })?;
        // Differences between rows matter here, so the clamped units' terms count as well.
        answer.guarantee = guarantee(machine, 0..machine.unit_count());
        Ok(answer)
    }

    /// The networks of all groups of a batch. In learning, all biases count.
    pub(super) fn prepared_groups(
        self,
        machine: &Machine,
        batch: &Batch,
        for_learning: bool,
        with_moments: bool,
    ) -> Result<Vec<Prepared>> {
        let groups = batch.groups();
        let known = groups.iter().map(|group| self.known(machine, &group.free, for_learning));
        let mut plans: Vec<Option<Arc<Plan>>> = known.collect();
        if plans.iter().any(Option::is_none) {
            let compile = |(plan, group): (&mut Option<Arc<Plan>>, &Group)| {
                if plan.is_none() {
                    *plan = Some(self.compiled(machine, &group.free, for_learning)?);
                }
                Ok(())
            };
            plans.par_iter_mut().zip(groups).try_for_each(compile)?;
        }
        let bytes: u128 = plans.iter().flatten().map(|plan| plan.bytes(1)).sum();
        let what = || format!("{} patterns of free units", groups.len());
        self.networks.budget.check(self.name, bytes, what)?;
        // Every group has its plan by now.
        let all = plans.into_iter().flatten().zip(groups);
        all.map(|(plan, group)| self.prepared(plan, group, with_moments)).collect()
    }

    fn prepared(self, plan: Arc<Plan>, group: &Group, with_moments: bool) -> Result<Prepared> {
        let widest = plan.table_bits.iter().copied().max().unwrap_or(0);
        let rows_share = group.rows.len() > 1 && widest <= TABLE_BITS_IN_LANES;
        // Where eight rows do not fit the budget, one may.
        let eight = if rows_share { self.fitted::<Eight>(&plan, with_moments).ok() } else { None };
        let in_lanes = eight.is_some();
        let (segments, turn) = eight.map_or_else(|| self.fitted::<One>(&plan, with_moments), Ok)?;
        Ok(Prepared { plan, rows_share, in_lanes, segments, turn })
    }

    /// How passes of a plan share the budget, with segments if moments are requested.
    fn fitted<R: Rows>(self, plan: &Plan, with_moments: bool) -> Result<(Option<Segments>, Turn)> {
        if with_moments {
            self.shared_segments::<R>(plan).map(|(segments, turn)| (Some(segments), turn))
        } else {
            self.shared_forward::<R>(plan).map(|turn| (None, turn))
        }
    }
}

/// What the rows of a group are solved with.
struct Block<'a> {
    machine: &'a Machine,
    batch: &'a Batch,
    prepared: &'a Prepared,
    ask: Ask,
}

impl Block<'_> {
    fn solve<const N: usize>(&self, rows: std::ops::Range<usize>, part: &mut Part, sums: &mut Sums)
    where
        [f64; N]: Rows,
    {
        let Self { machine, batch, .. } = *self;
        let plan = &*self.prepared.plan;
        let edge_slots = sums.is_needed.then(|| edge_slots(plan, machine.graph().edges().len()));
        // No other row waits for its turn.
        let is_only = batch.row_count() == 1;
        let mut tape = if is_only { Tape::<[f64; N]>::on_threads(plan) } else { Tape::new(plan) };
        let rows_start = rows.start;
        for first in rows.clone().step_by(N) {
            let places = first..rows.end.min(first + N);
            let cells: Vec<&[i8]> = places.clone().map(|place| batch.row(place)).collect();
            let fields = Fields::<N>::new(machine, &plan.free, &cells);
            load(&mut tape, machine, &fields);
            let keep = self.prepared.segments.as_ref().map_or(Keep::Nothing, Keep::For);
            let log_z = tape.forward::<Sum>(keep);
            let rows = places.len();
            part.log_z.extend(log_z.iter().zip(fields.shifts).take(rows).map(|(log, shift)| log + shift));
            let Some(segments) = &self.prepared.segments else { continue };
            tape.backward(segments);
            let means = all_means(plan, &tape, &fields.values);
            if self.ask.means {
                for row in 0..rows {
                    part.means.extend(means.iter().map(|mean| mean[row]));
                }
            }
            if let Some(edge_slots) = &edge_slots {
                let mut weights = [0.0; N];
                weights[..rows].copy_from_slice(&batch.weights()[places]);
                // One row at a time, it is summed in the lane that it has among eight.
                let lane = if N == 1 && self.prepared.rows_share { (first - rows_start) % LANES } else { 0 };
                sums.add(machine, (lane, &weights), &means, edge_slots, &tape.moments);
            }
        }
    }
}

/// The slot of each of the machine's edges between free units.
fn edge_slots(plan: &Plan, edges: usize) -> Vec<u32> {
    let mut slots = vec![NONE; edges];
    for (edge, slot) in plan.edge_slots() {
        slots[edge] = slot as u32;
    }
    slots
}

/// Weighted sums of moments, lane by lane; the lanes are summed at the end.
struct Sums {
    is_needed: bool,
    weight: Eight,
    means: Vec<Eight>,
    edges: Vec<Eight>,
}

impl Sums {
    fn bytes(machine: &Machine) -> u128 {
        64 * (machine.unit_count() + machine.graph().edges().len()) as u128
    }

    fn new(machine: &Machine, ask: Ask) -> Self {
        let count = |numbers: usize| vec![[0.0; LANES]; if ask.statistics { numbers } else { 0 }];
        Self {
            is_needed: ask.statistics,
            weight: [0.0; LANES],
            means: count(machine.unit_count()),
            edges: count(machine.graph().edges().len()),
        }
    }

    fn add<const N: usize>(
        &mut self,
        machine: &Machine,
        (at, weights): (usize, &[f64; N]),
        means: &[[f64; N]],
        edge_slots: &[u32],
        moments: &[[f64; N]],
    ) {
        for lane in 0..N {
            self.weight[at + lane] += weights[lane];
        }
        for (sum, mean) in self.means.iter_mut().zip(means) {
            for lane in 0..N {
                sum[at + lane] += weights[lane] * mean[lane];
            }
        }
        let edges = machine.graph().edges().iter().zip(edge_slots);
        for (sum, (&(a, b), &slot)) in self.edges.iter_mut().zip(edges) {
            if slot == NONE {
                for lane in 0..N {
                    sum[at + lane] += weights[lane] * means[a][lane] * means[b][lane];
                }
            } else {
                let moment = &moments[slot as usize];
                for lane in 0..N {
                    sum[at + lane] += weights[lane] * moment[lane];
                }
            }
        }
    }

    fn add_to(&self, statistics: &mut Statistics) {
        statistics.weight += self.weight.iter().sum::<f64>();
        let sums = statistics.means.iter_mut().chain(&mut statistics.edges);
        for (sum, lanes) in sums.zip(self.means.iter().chain(&self.edges)) {
            *sum += lanes.iter().sum::<f64>();
        }
    }
}
