//! Cumulants as derivatives of log Z by the biases (Rüger 1997, theorem 3.1).
//!
//! `C(s_a, s_b, …) = T^r ∂^r log Z / ∂θ_a ∂θ_b …`: derivatives by the effective biases θ/T, with no
//! power of T left.

use super::Solver;
use super::digits::guarantee;
use super::generic::partition_sum;
use super::jet::{Jet, MAX_ORDER};
use super::plan::Form;
use crate::engine::Diagnostics;
use crate::engine::cumulants::{Cumulants, check_units};
use crate::engine::exact::pinned::clamp_pinned;
use crate::engine::fields::Fields;
use crate::{Evidence, Machine, Result};

impl Solver<'_> {
    /// The cumulants of all subsets of a list of units, from one pass.
    pub(super) fn cumulants(
        self,
        machine: &Machine,
        evidence: &Evidence,
        units: &[usize],
    ) -> Result<Cumulants> {
        self.check(machine, evidence)?;
        check_units(machine, units)?;
        const { assert!(MAX_ORDER == Cumulants::MAX_ORDER) };
        let evidence = clamp_pinned(machine, evidence, &[]);
        let free: Vec<usize> = evidence.free().collect();
        let plan = &*self.network(machine, &free, Form::Tables)?;
        self.check_numbers(plan, size_of::<Jet>(), 1)?;
        let fields = Fields::<1>::new(machine, &plan.free, &[evidence.cells()]);
        let bias = |local: usize| {
            let here = |&(_, &unit): &(usize, &usize)| unit == plan.free[local];
            let set = units.iter().enumerate().filter(here).fold(0, |set, (order, _)| set | 1 << order);
            let up = Jet::new(fields.free[local][0], set);
            [up.negated(), up]
        };
        let temperature = machine.temperature();
        let (log_z, _) = partition_sum(plan, |edge| machine.weights()[edge] / temperature, bias);
        let mut values: Vec<f64> = (1..1usize << units.len()).map(|set| log_z.0[set]).collect();
        // A clamped unit is a constant: its own mean, and no part of any other cumulant. The
        // derivatives say so but for the first.
        for (order, &unit) in units.iter().enumerate() {
            if let Some(spin) = evidence.get(unit) {
                values[(1 << order) - 1] = f64::from(spin.value());
            }
        }
        Ok(Cumulants {
            units: units.to_vec(),
            values,
            guarantee: guarantee(machine, free),
            diagnostics: Diagnostics::direct(),
        })
    }
}
