//! One evidence: log Z, means and pair moments.

use rayon::prelude::*;

use super::Solver;
use super::digits::guarantee;
use super::memory::{Gate, Segments};
use super::plan::{Form, NONE, Plan};
use super::prepare::Given;
use super::star::{One, Rows, Sum};
use super::structure::Structure;
use super::tape::{Keep, Tape};
use crate::engine::fields::Fields;
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
        let Given { evidence, free, plan, fields } = self.given(machine, evidence, Form::Weights)?;
        let plan = &*plan;
        let segments = self.segments::<One>(plan)?;
        let (log_z, tape) = solve(machine, plan, &segments, &fields);
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
}

/// Runs a plan for one row, forward to log Z and backward to the moments on the tape.
fn solve<'p>(
    machine: &Machine,
    plan: &'p Plan,
    segments: &Segments,
    fields: &Fields<1>,
) -> (f64, Tape<'p, One>) {
    let mut tape = Tape::new(plan);
    load(&mut tape, machine, fields);
    let [log_z] = tape.forward::<Sum>(Keep::For(segments));
    tape.backward(segments);
    (log_z, tape)
}

/// Sets the numbers of a machine under evidence.
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

impl Solver<'_> {
    /// Every pair moment: each unit is clamped in turn, and the means of the others give its
    /// moments.
    ///
    /// *Complexity*: a compilation and a pass for each unit, on all cores. *Memory*: the moments,
    /// twice.
    fn all_pairs(
        self,
        machine: &Machine,
        evidence: &Evidence,
        whole: &Plan,
        means: &[f64],
    ) -> Result<PairMoments> {
        let n = machine.unit_count();
        let bytes = 8 * (n as u128).pow(2);
        self.networks.budget.check(self.name, bytes, || format!("the moments of all pairs of {n} units"))?;
        let gate = Gate::default();
        let each = Each { solver: self, machine, evidence, whole, means };
        let rows: Vec<Vec<f64>> =
            (0..n).into_par_iter().map(|unit| each.with_later(unit, &gate)).collect::<Result<_>>()?;
        Ok(PairMoments { pairs: Pairs::All, values: rows.concat() })
    }
}

/// What the rows of pair moments are computed from.
struct Each<'a> {
    solver: Solver<'a>,
    machine: &'a Machine,
    evidence: &'a Evidence,
    whole: &'a Plan,
    means: &'a [f64],
}

impl Each<'_> {
    /// The moments of a unit with all later ones.
    fn with_later(&self, unit: usize, gate: &Gate) -> Result<Vec<f64>> {
        if self.evidence.get(unit).is_some() {
            return Ok(self.means[unit + 1..].iter().map(|mean| self.means[unit] * mean).collect());
        }
        let plan = self.plan_without(unit)?;
        let (segments, turn) = self.solver.shared_segments::<One>(&plan)?;
        let _pass = gate.pass(turn);
        // With p = P(s_i = +1): ⟨s_i s_j⟩ = p ⟨s_j⟩₊ − (1 − p) ⟨s_j⟩₋ and
        // ⟨s_j⟩ = p ⟨s_j⟩₊ + (1 − p) ⟨s_j⟩₋, so a pass with the more probable value suffices.
        let mean = self.means[unit];
        let s = if mean < 0.0 { -1i8 } else { 1 };
        let mut cells = self.evidence.cells().to_vec();
        cells[unit] = s;
        let fields = Fields::new(self.machine, &plan.free, &[&cells]);
        let (_, tape) = solve(self.machine, &plan, &segments, &fields);
        let given = all_means(&plan, &tape, &fields.values).split_off(unit + 1);
        let twice_p = 1.0 + mean.abs();
        let moment =
            |(&[given], own): (&One, &f64)| (f64::from(s) * (twice_p * given - own)).clamp(-1.0, 1.0);
        Ok(given.iter().zip(&self.means[unit + 1..]).map(moment).collect())
    }

    /// The order without a unit is an order of the others, and not wider.
    fn plan_without(&self, unit: usize) -> Result<Plan> {
        let order: Vec<usize> = self.whole.free.iter().copied().filter(|&other| other != unit).collect();
        let mut free = order.clone();
        free.sort_unstable();
        let mut place = vec![0; self.machine.unit_count()];
        for (k, &other) in free.iter().enumerate() {
            place[other] = k;
        }
        let order: Vec<usize> = order.iter().map(|&other| place[other]).collect();
        let structure = Structure::new(self.machine, &free)?;
        let steps = structure.graph.symbolic(&order, self.whole.width);
        let steps = steps.ok_or_else(|| self.solver.too_wide(&structure.graph, self.whole.width))?;
        Ok(structure.plan(&free, &order, &steps, Form::Weights))
    }
}
