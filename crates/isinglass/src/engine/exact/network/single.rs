//! One evidence: log Z, means and pair moments.

use super::Solver;
use super::digits::guarantee;
use super::memory::Segments;
use super::plan::{Form, NONE, Plan};
use super::prepare::Given;
use super::star::{One, Rows, Sum};
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
        let (log_z, tape) = solve(Tape::on_threads(plan), machine, &segments, &fields);
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
pub(super) fn solve<'p>(
    mut tape: Tape<'p, One>,
    machine: &Machine,
    segments: &Segments,
    fields: &Fields<1>,
) -> (f64, Tape<'p, One>) {
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
