//! A network without a machine: compiled for a graph, run with numbers given as slices.

use super::memory::Segments;
use super::plan::{Blueprint, Form, NONE, Plan};
use super::star::{One, Sum};
use super::tape::{Keep, Tape};
use crate::Graph;

/// The network of a graph of small treewidth.
#[derive(Debug)]
pub(in crate::engine) struct Compiled {
    plan: Plan,
    segments: Segments,
}

impl Compiled {
    /// Compiles for an elimination order; `None` if a unit has more than `width` neighbours.
    ///
    /// *Arguments*: for each unit, whether it has a bias; all or none within a component.
    pub(in crate::engine) fn new(
        graph: &Graph,
        biased: &[bool],
        order: &[usize],
        width: usize,
    ) -> Option<Self> {
        let (order, steps) = graph.postordered(order, width)?;
        let free: Vec<usize> = (0..graph.unit_count()).collect();
        let edges: Vec<u32> = (0..graph.edges().len() as u32).collect();
        let plan = Plan::compile(Blueprint {
            graph,
            free: &free,
            edges: &edges,
            biased,
            order: &order,
            steps: &steps,
            form: Form::Weights,
        });
        let segments = Segments::whole(&plan);
        Some(Self { plan, segments })
    }

    /// A bound on the bytes of a network for some units at some width, with the numbers of a run.
    pub(in crate::engine) fn most_bytes(units: usize, width: usize) -> u128 {
        let (units, neighbours) = (units as u128, (units * width) as u128);
        let tables = units * (16 + 2 * 48 + (16 << width));
        Plan::bytes_of_steps(units, neighbours) + 16 * (units + neighbours) + tables
    }

    /// The cost of a pass, in sums of two terms.
    pub(in crate::engine) fn work(&self) -> f64 {
        self.plan.work()
    }

    /// Buffers for the numbers of runs.
    pub(in crate::engine) fn run(&self) -> Run<'_> {
        Run { tape: Tape::keeping_tables(&self.plan), network: self }
    }
}

/// A network with buffers for numbers.
pub(in crate::engine) struct Run<'c> {
    tape: Tape<'c, One>,
    network: &'c Compiled,
}

impl Run<'_> {
    /// Returns log Z for the weights of the edges and the fields of the units, both divided by T,
    /// and writes the moments of edges and units into the slices.
    ///
    /// A field on a unit without a bias is ignored, and the mean of that unit is 0.
    pub(in crate::engine) fn solve(
        &mut self,
        (weights, fields): (&[f64], &[f64]),
        (moments, means): (&mut [f64], &mut [f64]),
    ) -> f64 {
        let Compiled { plan, segments } = self.network;
        self.tape.load(|edge| weights[edge], |local| [fields[plan.free[local]]]);
        let [log_z] = self.tape.forward::<Sum>(Keep::For(segments));
        self.tape.backward(segments);
        for (edge, slot) in plan.edge_slots() {
            moments[edge] = self.tape.moments[slot][0].clamp(-1.0, 1.0);
        }
        for (&unit, &slot) in plan.free.iter().zip(&plan.bias_slots) {
            if slot != NONE {
                means[unit] = self.tape.moments[slot as usize][0].clamp(-1.0, 1.0);
            }
        }
        log_z
    }
}
