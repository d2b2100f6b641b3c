//! The characteristic function (Rüger 1997, corollary 3.2) and Fourier inference (theorem 3.4).
//!
//! `⟨exp(i Σ x_c s_c)⟩ = Z_{θ + iTx} / Z`: a bias shifted by `iTx` turns the weight of a state by
//! `e^(i x s)`. At `x ∈ {0, π/2}` the factor is 1 or `i s`, so that the characteristic function
//! gives the moments `⟨Π_{c∈A} s_c⟩` up to a power of i, and
//!
//! ```text
//! p(γ | α) = 2^(−|O|) Σ_{A ⊆ O} (Π_{c∈A} γ_c) ⟨Π_{c∈A} s_c⟩_α
//! ```
//!
//! The complex sums are taken in tables, where they may vanish; a decimated weight would be the
//! logarithm of 0.

use std::f64::consts::FRAC_PI_2;

use num_complex::Complex64;
use rayon::prelude::*;

use super::Solver;
use super::digits::guarantee;
use super::generic::partition_sum;
use super::plan::Form;
use super::polar::Polar;
use crate::engine::exact::pinned::clamp_pinned;
use crate::engine::fields::Fields;
use crate::engine::joint::check_asked;
use crate::engine::{Diagnostics, JointTable};
use crate::{Error, Evidence, Machine, Result};

/// More asked units than this are left to the ratio of partition sums: every subset takes a pass.
const MOST_ASKED: usize = 12;

impl Solver<'_> {
    /// `⟨exp(i Σ x_c s_c)⟩` for each of several choices of x, given by unit.
    pub(super) fn characteristic(
        self,
        machine: &Machine,
        evidence: &Evidence,
        frequencies: &[Vec<(usize, f64)>],
    ) -> Result<Vec<Complex64>> {
        self.check(machine, evidence)?;
        for &(unit, x) in frequencies.iter().flatten() {
            if unit >= machine.unit_count() || !x.is_finite() {
                let problem = format!(
                    "unit {unit} at {x}: expected one of {} units and a finite number",
                    machine.unit_count()
                );
                return Err(Error::invalid("characteristic function", problem));
            }
        }
        let evidence = clamp_pinned(machine, evidence, &[]);
        let free: Vec<usize> = evidence.free().collect();
        let plan = &*self.network(machine, &free, Form::Tables)?;
        let threads = rayon::current_num_threads().min(frequencies.len().max(1));
        self.check_numbers(plan, size_of::<Polar>(), threads)?;
        let fields = Fields::<1>::new(machine, &plan.free, &[evidence.cells()]);
        let temperature = machine.temperature();
        let at = |frequency: &[(usize, f64)]| {
            let mut turn = vec![0.0; machine.unit_count()];
            for &(unit, x) in frequency {
                turn[unit] += x;
            }
            let direction = |x: f64| Complex64::from_polar(1.0, x);
            let bias = |local: usize| {
                let (field, x) = (fields.free[local][0], turn[plan.free[local]]);
                [
                    Polar { log: -field, direction: direction(-x) },
                    Polar { log: field, direction: direction(x) },
                ]
            };
            let (sum, factor) = partition_sum(plan, |edge| machine.weights()[edge] / temperature, bias);
            // Clamped units turn the whole by their values.
            let clamped: f64 = turn.iter().zip(evidence.cells()).map(|(x, &s)| x * f64::from(s)).sum();
            (sum.direction * direction(clamped), sum.log, factor)
        };
        let (_, log_z, factor) = at(&[]);
        let ratio = |frequency: &Vec<(usize, f64)>| {
            let (direction, log, other_factor) = at(frequency);
            direction * ((log - log_z) + (other_factor - factor)).exp()
        };
        Ok(frequencies.par_iter().map(ratio).collect())
    }

    /// P(asked | evidence) by Fourier inference.
    pub(super) fn joint_by_fourier(
        self,
        machine: &Machine,
        evidence: &Evidence,
        ask: &[usize],
    ) -> Result<JointTable> {
        check_asked(machine, evidence, ask)?;
        if ask.len() > MOST_ASKED {
            let problem = format!(
                "{} units have 2^{0} sets of moments; at most {MOST_ASKED} can be asked for in this way",
                ask.len()
            );
            return Err(Error::invalid("Fourier inference", problem));
        }
        let k = ask.len();
        let frequency = |set: usize| {
            let inside = (0..k).filter(|place| set >> (k - 1 - place) & 1 == 1);
            inside.map(|place| (ask[place], FRAC_PI_2)).collect()
        };
        let frequencies: Vec<Vec<(usize, f64)>> = (0..1 << k).map(frequency).collect();
        let values = self.characteristic(machine, evidence, &frequencies)?;
        // The moment is what is left of i^|A| ⟨Π s⟩ without the power of i.
        let moment = |(set, value): (usize, &Complex64)| (value / Complex64::I.powu(set.count_ones())).re;
        let mut table: Vec<f64> = values.iter().enumerate().map(moment).collect();
        walsh_hadamard(&mut table);
        let share = 1.0 / table.len() as f64;
        Ok(JointTable {
            units: ask.to_vec(),
            probabilities: table.iter().map(|sum| (sum * share).max(0.0)).collect(),
            errors: None,
            guarantee: guarantee(machine, 0..machine.unit_count()),
            diagnostics: Diagnostics::direct(),
        })
    }
}

/// `Σ_A (Π_{c∈A} γ_c) f(A)` for every γ, in place: bit 0 of γ is −1.
fn walsh_hadamard(table: &mut [f64]) {
    let mut half = 1;
    while half < table.len() {
        for pair in table.chunks_exact_mut(2 * half) {
            let (without, with) = pair.split_at_mut(half);
            for (a, b) in without.iter_mut().zip(with) {
                (*a, *b) = (*a - *b, *a + *b);
            }
        }
        half *= 2;
    }
}
