//! One evidence: log Z, means and pair moments.

use rayon::prelude::*;

use super::plan::{Blueprint, Form, NONE, Plan};
use super::prepare::{Gate, Structure};
use super::star::{Eight, One, Rows, Sum};
use super::tape::{Keep, Tape};
use super::{Solver, guarantee};
use crate::engine::exact::fields::Fields;
use crate::engine::exact::pinned::clamp_pinned;
use crate::engine::{Diagnostics, Expectations, PairMoments, Pairs};
use crate::{Evidence, Machine, Result};

impl Solver<'_> {
    /// Expectations of one machine under one evidence.
    pub(super) fn expectations(
        self,
        machine: &Machine,
        evidence: &Evidence,
        pairs: Pairs,
    ) -> Result<Expectations> {
        self.check(machine, evidence)?;
        let evidence = clamp_pinned(machine, evidence, &[]);
        let free: Vec<usize> = evidence.free().collect();
        let plan = &*self.network(machine, &free, Form::Weights)?;
        let segments = self.segments::<One>(plan)?;
        let fields = Fields::<1>::new(machine, &plan.free, &[evidence.cells()]);
        let mut tape = Tape::<One>::new(plan);
        load(&mut tape, machine, &fields);
        let [log_z] = tape.forward::<Sum>(Keep::For(&segments));
        tape.backward(&segments);
        let means = all_means(plan, &tape, &fields.values);
        let means: Vec<f64> = means.into_iter().map(|[mean]| mean).collect();
        let correlations = match pairs {
            Pairs::None => PairMoments { pairs, values: Vec::new() },
            Pairs::Edges => {
                let edges = machine.graph().edges().iter();
                let mut values: Vec<f64> = edges.map(|&(a, b)| means[a] * means[b]).collect();
                for (edge, slot) in plan.edge_slots() {
                    values[edge] = tape.moments[slot][0].clamp(-1.0, 1.0);
                }
                PairMoments { pairs, values }
            }
            Pairs::All => self.all_pairs(machine, &evidence, plan, &means)?,
        };
        Ok(Expectations {
            log_z: Some(log_z + fields.shifts[0]),
            means,
            correlations,
            guarantee: guarantee(machine, free),
            errors: None,
            diagnostics: Diagnostics::direct(),
        })
    }

    /// Every pair moment: each unit is clamped both ways in turn, and the means of the others weighted by its probabilities.
    ///
    /// *Complexity*: a compilation and a pass for each unit, on all cores.
    fn all_pairs(
        self,
        machine: &Machine,
        evidence: &Evidence,
        whole: &Plan,
        means: &[f64],
    ) -> Result<PairMoments> {
        let n = machine.units();
        let gate = Gate::default();
        let mut free = whole.free.clone();
        free.sort_unstable();
        let mut place = vec![usize::MAX; n];
        for (k, &unit) in free.iter().enumerate() {
            place[unit] = k;
        }
        let order: Vec<usize> = whole.free.iter().map(|&unit| place[unit]).collect();
        let row_of = |&unit: &usize| -> Result<Vec<f64>> {
            // The order without the unit is an order of what is left, and not wider.
            let others: Vec<usize> = free.iter().copied().filter(|&other| other != unit).collect();
            let gone = free.partition_point(|&other| other < unit);
            let later = |place: usize| place - usize::from(place > gone);
            let order: Vec<usize> =
                order.iter().filter(|&&place| place != gone).map(|&place| later(place)).collect();
            let structure = Structure::new(machine, &others)?;
            let steps = structure.graph.symbolic(&order, whole.width);
            let steps = steps.ok_or_else(|| self.too_wide(&structure.graph, whole.width))?;
            let plan = Plan::compile(Blueprint {
                graph: &structure.graph,
                free: &others,
                edges: &structure.edges,
                biased: &structure.biased(),
                order: &order,
                steps: &steps,
                form: Form::Weights,
            });
            let (segments, turn) = self.shared_segments::<Eight>(&plan)?;
            let _turn = gate.pass(turn);
            let clamped = |s: i8| {
                let mut cells = evidence.cells().to_vec();
                cells[unit] = s;
                cells
            };
            let (down, up) = (clamped(-1), clamped(1));
            let fields = Fields::<8>::new(machine, &plan.free, &[&down, &up]);
            let mut tape = Tape::<Eight>::new(&plan);
            load(&mut tape, machine, &fields);
            tape.forward::<Sum>(Keep::For(&segments));
            tape.backward(&segments);
            let p_up = 0.5 * (1.0 + means[unit]);
            let moment = |given: &Eight| p_up * given[1] - (1.0 - p_up) * given[0];
            Ok(all_means(&plan, &tape, &fields.values).iter().map(moment).collect())
        };
        let rows: Vec<Vec<f64>> = free.par_iter().map(row_of).collect::<Result<_>>()?;
        Ok(PairMoments::collect(Pairs::All, machine.graph(), |a, b| match (place[a], place[b]) {
            (usize::MAX, _) | (_, usize::MAX) => means[a] * means[b],
            (row, _) => rows[row][b].clamp(-1.0, 1.0),
        }))
    }
}

/// Set the numbers of a machine under evidence.
pub(super) fn load<const N: usize>(tape: &mut Tape<'_, [f64; N]>, machine: &Machine, fields: &Fields<N>)
where
    [f64; N]: Rows,
{
    let temperature = machine.temperature();
    tape.load(|edge| machine.weights()[edge] / temperature, |local| fields.free[local]);
}

/// The mean of every unit of the machine, clamped ones by their values.
pub(super) fn all_means<R: Rows>(plan: &Plan, tape: &Tape<'_, R>, values: &[R]) -> Vec<R> {
    let mut means = values.to_vec();
    for (&unit, &slot) in plan.free.iter().zip(&plan.bias_slots) {
        means[unit] = if slot == NONE { R::all(0.0) } else { tape.moments[slot as usize] };
        for mean in means[unit].as_mut() {
            *mean = mean.clamp(-1.0, 1.0);
        }
    }
    means
}
