//! Every pair moment, one unit after another: where the budget allows no more.

use rayon::prelude::*;

use crate::engine::exact::network::Solver;
use crate::engine::exact::network::memory::Gate;
use crate::engine::exact::network::plan::{Form, Plan};
use crate::engine::exact::network::single::{all_means, solve};
use crate::engine::exact::network::star::One;
use crate::engine::exact::network::structure::Structure;
use crate::engine::exact::network::tape::Tape;
use crate::engine::fields::Fields;
use crate::progress::Task;
use crate::{Evidence, Machine, Result};

impl Solver<'_> {
    /// Every pair moment: each unit is clamped in turn, and the means of the others give its
    /// moments.
    ///
    /// *Complexity*: a compilation and a pass for each unit, on all cores. *Memory*: the moments,
    /// twice.
    pub(super) fn by_clamping(
        self,
        machine: &Machine,
        evidence: &Evidence,
        whole: &Plan,
        means: &[f64],
    ) -> Result<Vec<f64>> {
        let n = machine.unit_count();
        let gate = Gate::default();
        let task = Task::begin(n as u64);
        let each = Each { solver: self, machine, evidence, whole, means };
        let rows: Vec<Vec<f64>> = (0..n)
            .into_par_iter()
            .map(|unit| each.with_later(unit, &gate).inspect(|_| task.done(1)))
            .collect::<Result<_>>()?;
        Ok(rows.concat())
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
        let (_, tape) = solve(Tape::new(&plan), self.machine, &segments, &fields);
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
