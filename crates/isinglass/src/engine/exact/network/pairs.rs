//! Every pair moment, of pairs without an edge too.

use rayon::prelude::*;

use super::Solver;
use super::plan::{Form, Plan};
use super::room::Gate;
use super::single::{all_means, load};
use super::star::{One, Sum};
use super::structure::Structure;
use super::tape::{Keep, Tape};
use crate::engine::fields::Fields;
use crate::engine::{PairMoments, Pairs};
use crate::{Evidence, Machine, Result};

impl Solver<'_> {
    /// Each unit is clamped in turn, and the means of the others tell its moments with them.
    ///
    /// *Complexity*: a compilation and a pass for each unit, on all cores. *Memory*: the moments,
    /// twice.
    pub(super) fn all_pairs(
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

/// What the rows of the moments are computed from.
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
        // ⟨s_i s_j⟩ = p ⟨s_j⟩₊ − (1 − p) ⟨s_j⟩₋ with p = P(s_i = +1), and ⟨s_j⟩ = p ⟨s_j⟩₊ + (1 −
        // p) ⟨s_j⟩₋: the more probable value tells both.
        let mean = self.means[unit];
        let s = if mean < 0.0 { -1i8 } else { 1 };
        let mut cells = self.evidence.cells().to_vec();
        cells[unit] = s;
        let fields = Fields::<1>::new(self.machine, &plan.free, &[&cells]);
        let mut tape = Tape::<One>::new(&plan);
        load(&mut tape, self.machine, &fields);
        tape.forward::<Sum>(Keep::For(&segments));
        tape.backward(&segments);
        let given = all_means(&plan, &tape, &fields.values).split_off(unit + 1);
        let twice_p = 1.0 + mean.abs();
        let moment =
            |(&[given], own): (&One, &f64)| (f64::from(s) * (twice_p * given - own)).clamp(-1.0, 1.0);
        Ok(given.iter().zip(&self.means[unit + 1..]).map(moment).collect())
    }

    /// The order without a unit is an order of what is left, and not wider.
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
