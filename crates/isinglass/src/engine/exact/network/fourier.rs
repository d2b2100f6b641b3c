//! The characteristic function (Rüger 1997, corollary 3.2) and Fourier inference (theorem 3.4).
//!
//! `⟨exp(i Σ x_c s_c)⟩ = Z_{θ + iTx} / Z`: a bias shifted by `iTx` multiplies the weight of a state
//! by `e^(i x s)`. At `x ∈ {0, π/2}` the factor is 1 or `i s`, so that the characteristic function
//! gives the moments `⟨Π_{c∈A} s_c⟩` up to a power of i, and
//!
//! ```text
//! p(γ | α) = 2^(−|O|) Σ_{A ⊆ O} (Π_{c∈A} γ_c) ⟨Π_{c∈A} s_c⟩_α
//! ```
//!
//! The complex sums may vanish, so they are computed in tables: no pair weight holds ln 0.

use std::f64::consts::FRAC_PI_2;

use num_complex::Complex64;
use rayon::prelude::*;

use super::Solver;
use super::digits::guarantee;
use super::generic::{Number, partition_sum};
use super::plan::Form;
use super::prepare::Given;
use crate::engine::joint::check_asked;
use crate::engine::{Diagnostics, JointTable};
use crate::{Error, Evidence, Machine, Result};

/// The most asked units: every subset takes a pass.
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
        let Given { evidence, plan, fields, .. } = self.given(machine, evidence, Form::Tables)?;
        let threads = rayon::current_num_threads().min(frequencies.len().max(1));
        self.check_numbers(&plan, size_of::<Polar>(), threads)?;
        let temperature = machine.temperature();
        let at = |frequency: &[(usize, f64)]| {
            let mut turn = vec![0.0; machine.unit_count()];
            for &(unit, x) in frequency {
                turn[unit] += x;
            }
            let direction = |x: f64| Complex64::from_polar(1.0, x);
            let bias = |local: usize| {
                let (field, x) = (fields.free[local][0], turn[plan.free[local]]);
                [-1.0, 1.0].map(|s| Polar { log: s * field, direction: direction(s * x) })
            };
            let (sum, factor) = partition_sum(&plan, |edge| machine.weights()[edge] / temperature, bias);
            // Clamped units multiply the whole by their factors.
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
                "{} units have 2^{0} sets of moments; at most {MOST_ASKED} units are supported",
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
        // The characteristic function is i^|A| ⟨Π s⟩.
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

/// A complex number `e^log · direction`, with a direction of size 1: of any magnitude, 0 included.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Polar {
    log: f64,
    direction: Complex64,
}

impl Number for Polar {
    fn one() -> Self {
        Self { log: 0.0, direction: Complex64::ONE }
    }

    fn times(&mut self, other: &Self) {
        self.log += other.log;
        self.direction *= other.direction;
    }

    fn shift(&mut self, x: f64) {
        self.log += x;
    }

    fn log_size(&self) -> f64 {
        self.log
    }

    fn sum(a: Self, b: Self) -> Self {
        let top = a.log.max(b.log);
        if top == f64::NEG_INFINITY {
            return a;
        }
        let sum = a.direction * (a.log - top).exp() + b.direction * (b.log - top).exp();
        let size = sum.norm();
        if size == 0.0 {
            return Self { log: f64::NEG_INFINITY, direction: Complex64::ONE };
        }
        Self { log: top + size.ln(), direction: sum / size }
    }
}
