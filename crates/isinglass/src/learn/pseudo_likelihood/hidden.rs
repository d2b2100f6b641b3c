//! The pseudo-likelihood of machines with hidden units, which are summed out of each conditional.

use fearless_simd::{Simd, f64x8, prelude::*};

use super::gain::{PseudoGain, Sums};
use super::responses::{lane, total};
use crate::numeric::lanes::{LANES, Lane, tanh_and_ln_two_cosh};
use crate::optimize::Objective;
use crate::{Budget, Error, Machine, Result, Role, Table};

/// The average pseudo-log-likelihood of complete rows under a machine with hidden units that are
/// joined with visible ones alone, all of them.
///
/// A hidden unit with bias c and couplings u multiplies the probability of a row by `cosh f`, `f = c
/// + u·s`, so that every conditional is known in closed form (Marlin, Swersky, Chen and de Freitas
/// 2010). With `T = 1`, `ln P(s_i | others) = −ln(1 + e^(−2 s_i h_i))` for the field
///
/// ```text
/// h_i = θ_i + Σ_j w_ij s_j + ½ s_i Σ_h [ln cosh f_h − ln cosh(f_h − 2 u_hi s_i)]
/// ```
///
/// and with `r_i = s_i − tanh h_i`, `t = tanh f`, `t_i = tanh(f − 2 u_i s_i)`
///
/// ```text
/// ∂L/∂c = ⟨A⟩,    ∂L/∂u_k = ⟨A s_k + r_k t_k⟩,    A = ½ Σ_i r_i s_i (t − t_i)
/// ```
///
/// Parameters are those of [`PseudoGain`], then those of each hidden unit: its bias and its couplings
/// to all units.
///
/// *Complexity*: that of [`PseudoGain`], and one exponential and logarithm for each cell and hidden
/// unit. *When it fails*: conditionals know which side a hidden unit is on from all other cells, so
/// that rows tell little of its bias; how the sides share the probability must be checked by draws.
pub(in crate::learn) struct HiddenGain {
    gain: PseudoGain,
    hidden: usize,
    units: usize,
    l2: f64,
}

impl HiddenGain {
    /// For a machine without hidden units, to which some are added; with a penalty on the squares of
    /// their couplings.
    ///
    /// # Errors
    /// Those of [`PseudoGain::new`]; input units.
    pub(in crate::learn) fn new(
        visible: &Machine,
        table: &Table,
        (hidden, l2): (usize, f64),
        budget: Budget,
    ) -> Result<Self> {
        if visible.with_role(Role::Input).next().is_some() {
            return Err(Error::CannotDo {
                who: super::NAME,
                what: "sum hidden units out beside input units".into(),
                why: "every unit is joined with them here".into(),
            });
        }
        let units = visible.unit_count();
        budget.check(super::NAME, PseudoGain::hidden_bytes(units, hidden), || {
            format!("{hidden} hidden units at {units} others")
        })?;
        Ok(Self { gain: PseudoGain::new(visible, table, 0.0, budget)?, hidden, units, l2 })
    }

    /// The couplings between visible units, which come first.
    pub(in crate::learn) fn couplings(&self) -> usize {
        self.gain.couplings()
    }

    /// The number of parameters.
    pub(in crate::learn) fn size(&self) -> usize {
        self.of_visible() + self.hidden * (self.units + 1)
    }

    fn of_visible(&self) -> usize {
        self.gain.couplings() + self.gain.biases()
    }

    /// The average pseudo-log-likelihood of a row, without the penalty.
    pub(in crate::learn) fn average(&self, parameters: &[f64]) -> f64 {
        self.sums(parameters, false).value
    }

    fn sums(&self, parameters: &[f64], gradient: bool) -> Sums {
        let (visible, hidden) = parameters.split_at(self.of_visible());
        let numbers: Vec<f64> = hidden.iter().map(|x| x / self.gain.temperature).collect();
        self.gain.sums(visible, &HiddenUnits { units: self.units, numbers: &numbers }, gradient)
    }

    /// Half the penalty's sum of squares.
    fn penalty(&self, parameters: &[f64]) -> f64 {
        let units = parameters[self.of_visible()..].chunks_exact(self.units + 1);
        0.5 * self.l2 * units.map(|unit| unit[1..].iter().map(|u| u * u).sum::<f64>()).sum::<f64>()
    }
}

impl Objective for HiddenGain {
    fn value_and_gradient(&self, parameters: &[f64], gradient: &mut [f64]) -> Result<f64> {
        Error::check_length("parameters", parameters.len(), self.size())?;
        let sums = self.sums(parameters, true);
        let visible = self.of_visible();
        let factor = 1.0 / self.gain.temperature;
        gradient[..visible].copy_from_slice(&self.gain.layout.gather(&sums.moments, factor));
        for ((place, slot), sum) in gradient[visible..].iter_mut().enumerate().zip(&sums.hidden) {
            let is_bias = place % (self.units + 1) == 0;
            *slot = factor * sum - if is_bias { 0.0 } else { self.l2 * parameters[visible + place] };
        }
        Ok(sums.value - self.penalty(parameters))
    }

    fn value(&self, parameters: &[f64]) -> Result<f64> {
        Ok(self.average(parameters) - self.penalty(parameters))
    }

    /// Couplings of a hidden unit bend the conditionals of their visible ones, about as biases do.
    fn precondition(&self, gradient: &mut [f64]) {
        let (visible, hidden) = gradient.split_at_mut(self.of_visible());
        self.gain.precondition(visible);
        for unit in hidden.chunks_exact_mut(self.units + 1) {
            for (slot, information) in unit[1..].iter_mut().zip(self.gain.information_of_biases()) {
                *slot /= information + self.l2;
            }
        }
    }
}

/// Hidden units with their numbers divided by T: for each its bias, then its couplings to all units.
pub(super) struct HiddenUnits<'a> {
    pub(super) units: usize,
    pub(super) numbers: &'a [f64],
}

/// What a panel of rows has to do with hidden units.
#[derive(Default)]
pub(super) struct Turns {
    /// For each hidden unit and row `tanh f`.
    own: Vec<f64>,
    /// For each hidden unit, visible unit and row `tanh f` with the unit turned.
    turned: Vec<f64>,
}

impl HiddenUnits<'_> {
    /// None.
    pub(super) const NONE: HiddenUnits<'static> = HiddenUnits { units: 0, numbers: &[] };

    /// Adds what they do to the fields of all units in a panel of rows.
    #[inline(always)]
    pub(super) fn add_fields<S: Simd>(
        &self,
        simd: S,
        rows: usize,
        cells: &[f64],
        fields: &mut [f64],
        turns: &mut Turns,
    ) {
        let units = self.units;
        let count = self.numbers.len() / (units + 1);
        turns.own.resize(count * rows, 0.0);
        turns.turned.resize(count * units * rows, 0.0);
        let half = f64x8::splat(simd, 0.5);
        for (h, numbers) in self.numbers.chunks_exact(units + 1).enumerate() {
            let (bias, couplings) = (numbers[0], &numbers[1..]);
            let turned = &mut turns.turned[h * units * rows..(h + 1) * units * rows];
            for row in (0..rows).step_by(LANES) {
                let mut f = f64x8::splat(simd, bias);
                for (k, &u) in couplings.iter().enumerate() {
                    f = lane(simd, cells, k * rows + row).mul_add(f64x8::splat(simd, u), f);
                }
                let (t, log) = tanh_and_ln_two_cosh(simd, f);
                t.store_slice(&mut turns.own[h * rows + row..h * rows + row + LANES]);
                for (k, &u) in couplings.iter().enumerate() {
                    let at = k * rows + row;
                    let s = lane(simd, cells, at);
                    let (t, log_turned) =
                        tanh_and_ln_two_cosh(simd, s.mul_add(f64x8::splat(simd, -2.0 * u), f));
                    t.store_slice(&mut turned[at..at + LANES]);
                    let field = (half * s).mul_add(log - log_turned, lane(simd, fields, at));
                    field.store_slice(&mut fields[at..at + LANES]);
                }
            }
        }
    }

    /// Adds the derivatives by their numbers, for the residuals of all units in a panel of rows.
    #[inline(always)]
    pub(super) fn add_moments<S: Simd>(
        &self,
        simd: S,
        rows: usize,
        cells: &[f64],
        residuals: &[f64],
        turns: &Turns,
        sums: &mut [f64],
    ) {
        let units = self.units;
        let half = f64x8::splat(simd, 0.5);
        let mut pulls = vec![0.0; rows];
        for (h, sums) in sums.chunks_exact_mut(units + 1).enumerate() {
            let turned = &turns.turned[h * units * rows..(h + 1) * units * rows];
            let own = &turns.own[h * rows..(h + 1) * rows];
            let mut of_bias = Lane::ZERO;
            for row in (0..rows).step_by(LANES) {
                let t = lane(simd, own, row);
                let mut pull = f64x8::splat(simd, 0.0);
                for at in (row..units * rows).step_by(rows) {
                    let change = lane(simd, cells, at) * (t - lane(simd, turned, at));
                    pull = lane(simd, residuals, at).mul_add(change, pull);
                }
                let pull = half * pull;
                pull.store_slice(&mut pulls[row..row + LANES]);
                of_bias.add(simd, pull);
            }
            sums[0] += of_bias.0.iter().sum::<f64>();
            for (k, sum) in sums[1..].iter_mut().enumerate() {
                let mut found = f64x8::splat(simd, 0.0);
                for row in (0..rows).step_by(LANES) {
                    let at = k * rows + row;
                    found = lane(simd, &pulls, row).mul_add(lane(simd, cells, at), found);
                    found = lane(simd, residuals, at).mul_add(lane(simd, turned, at), found);
                }
                *sum += total(found);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::{self, Numbers};
    use crate::{Engine, Enumerate, Evidence, Pairs, Spin};

    /// The value against conditionals by enumeration of a machine with hidden units, and the gradient
    /// against differences.
    #[test]
    fn conditionals_are_those_of_the_machine_with_its_hidden_units() {
        let normal = |deviation| Numbers::Normal { mean: 0.0, deviation };
        for (seed, hidden, temperature) in [(1, 1, 1.0), (2, 3, 1.7)] {
            let names = ["a", "b", "c", "d", "e"];
            let visible = topology::full(5).with_names(names).unwrap();
            let visible = visible.with_numbers(&normal(0.4), &normal(0.3), seed).unwrap();
            let visible = visible.with_temperature(temperature).unwrap();
            let rows = [[1, 1, -1, 1, -1], [-1, 1, 1, 1, 1], [-1, -1, -1, 1, -1], [1, -1, 1, -1, 1]];
            let table = Table::from_rows(names, rows).unwrap();
            let gain = HiddenGain::new(&visible, &table, (hidden, 0.3), Budget::default()).unwrap();
            let units: Vec<f64> = (0..hidden * 6).map(|k| (1.0 + 7.0 * k as f64).sin()).collect();
            let mut parameters = gain.gain.parameters_of(&visible);
            parameters.extend(&units);

            let graph = crate::Graph::new(
                5 + hidden,
                visible
                    .graph()
                    .edges()
                    .iter()
                    .copied()
                    .chain((0..5).flat_map(|k| (0..hidden).map(move |h| (k, 5 + h)))),
            )
            .unwrap();
            let weight = |&(a, b): &(usize, usize)| match visible.graph().edge_between(a, b.min(4)) {
                _ if b >= 5 => units[(b - 5) * 6 + 1 + a],
                Some(edge) => visible.weights()[edge],
                None => 0.0,
            };
            let weights = graph.edges().iter().map(weight).collect();
            let biases = visible.biases().iter().copied().chain(units.chunks(6).map(|u| u[0])).collect();
            let machine = Machine::from_graph(graph).with_temperature(temperature).unwrap();
            let machine = machine.with_parameters(weights, biases).unwrap();
            let log_z = |row: &[i8]| {
                let mut evidence = Evidence::none(5 + hidden);
                for (unit, &cell) in row.iter().enumerate() {
                    evidence.clamp(unit, if cell > 0 { Spin::Up } else { Spin::Down });
                }
                Enumerate::default().expectations(&machine, &evidence, Pairs::None).unwrap().log_z.unwrap()
            };
            let mut expected = 0.0;
            for row in &rows {
                for unit in 0..5 {
                    let mut turned = *row;
                    turned[unit] = -turned[unit];
                    expected -= (log_z(&turned) - log_z(row)).exp().ln_1p() / 4.0;
                }
            }
            assert!((gain.average(&parameters) - expected).abs() < 1e-12, "{expected}");

            let mut gradient = vec![0.0; parameters.len()];
            gain.value_and_gradient(&parameters, &mut gradient).unwrap();
            for k in 0..parameters.len() {
                let moved = |length: f64| {
                    let mut moved = parameters.clone();
                    moved[k] += length;
                    gain.value(&moved).unwrap()
                };
                let slope = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                assert!((slope - gradient[k]).abs() < 1e-8, "{k}: {slope} {}", gradient[k]);
            }
        }
    }
}
