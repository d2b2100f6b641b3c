//! The pseudo-likelihood of a table as a function of the trained parameters, with its gradient.

use std::ops::Range;

use fearless_simd::{Level, Simd, dispatch, f64x8, prelude::*};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::hidden::{HiddenUnits, Turns};
use super::layout::Layout;
use super::panels::Panels;
use super::responses::{lane, product, respond};
use crate::cancel;
use crate::learn::conditioning::Conditioning;
use crate::learn::trained::Trained;
use crate::numeric::dense::{add_transposed_times, multiply};
use crate::numeric::lanes::LANES;
use crate::optimize::{Evaluated, Objective};
use crate::{Budget, Error, Machine, Result, Table};

/// Products of matrices are used if at least one pair of units in so many is joined: they need more
/// operations than the edges do, but each is faster.
const DENSE: usize = 16;

/// Largest number of pieces of work; each has its own sums.
const PIECES: usize = 16;

/// Least multiplications of a piece; below, threads cost more than they save.
const PIECE: usize = 1 << 19;

/// The weighted average over rows of the pseudo-log-likelihood of visible units given all others,
/// and its gradient:
///
/// ```text
/// L = Σ_r w_r Σ_i −ln(1 + e^(−2 s_ri h_ri / T)) / Σ_r w_r  −  λ/2 Σ w_ij²        h_ri = θ_i + Σ_j w_ij s_rj
/// ∂L/∂w_ij = ⟨s_i (s_j − tanh(h_j/T))⟩ / T + ⟨s_j (s_i − tanh(h_i/T))⟩ / T − λ w_ij
/// ```
///
/// (Besag 1975.) Input units have no conditionals of their own. Trainable are all weights but those
/// between input units, then all biases but those of input units.
///
/// # Complexity
/// For r distinct rows 4 r n² multiplications as two products of matrices if at least one pair of
/// units in sixteen is joined, otherwise 4 r per edge. *Memory*: two bytes per cell, and up to
/// sixteen n × n matrices, or sixteen numbers per edge.
///
/// # Example
/// ```
/// use isinglass::{Budget, Machine, Table, topology};
/// use isinglass::learn::{Objective, PseudoGain};
/// let table = Table::from_rows(["a", "b"], [[1, 1], [-1, 1], [-1, -1]])?;
/// let start = topology::full(2).with_names(["a", "b"])?;
/// let gain = PseudoGain::new(&start, &table, 0.0, Budget::default())?;
/// let mut gradient = [0.0; 3];
/// let value = gain.value_and_gradient(&[0.0, 0.0, 0.0], &mut gradient)?;
/// assert!((value + 2.0 * 2f64.ln()).abs() < 1e-15);
/// assert!((gradient[0] - 2.0 / 3.0).abs() < 1e-15, "⟨s_a s_b⟩, once for each of the two");
/// # Ok::<(), isinglass::Error>(())
/// ```
pub struct PseudoGain {
    pub(super) trained: Trained,
    panels: Panels,
    pub(super) l2: f64,
    pub(super) temperature: f64,
    units: usize,
    pub(super) layout: Layout,
    /// The unit at each position of the layout, the one after the last being the constant +1;
    /// `None` if each modelled unit has a column of all units, and fields are products of matrices.
    pub(super) others: Option<Vec<usize>>,
    level: Level,
    pub(super) conditioning: Conditioning,
    /// The curvature of centred parameters, for independent units.
    information: Vec<f64>,
}

/// Whether enough pairs of units are joined for products of matrices.
fn is_dense(machine: &Machine) -> bool {
    let units = machine.unit_count();
    units > 1 && machine.graph().edges().len() >= units * (units - 1) / 2 / DENSE
}

pub(super) struct Sums {
    pub(super) value: f64,
    /// At each position of the layout ⟨s_j (s_i − tanh)⟩; for products also where there is no
    /// coupling.
    pub(super) moments: Vec<f64>,
    /// For each modelled unit ⟨1 − tanh²⟩, lane by lane.
    bends: Vec<f64>,
    /// The derivatives by the numbers of hidden units.
    pub(super) hidden: Vec<f64>,
}

/// The terms of the sum over units.
#[derive(Serialize, Deserialize)]
pub(super) struct Parts {
    /// The derivatives of each conditional by its own numbers, divided by T, at each position of
    /// the layout; undefined where there is no coupling.
    pub(super) slopes: Vec<f64>,
    /// For each modelled unit ⟨1 − tanh²⟩.
    pub(super) bends: Vec<f64>,
    /// The biases, if there are no couplings and moments alone gave these terms.
    pub(super) alone: Option<Vec<f64>>,
}

impl PseudoGain {
    /// Prepares a table for a machine's structure, names, roles and temperature.
    ///
    /// # Errors
    /// A table that does not fit the machine or whose rows have no weight, hidden units, missing
    /// cells, more memory than the budget has.
    pub fn new(start: &Machine, table: &Table, l2: f64, budget: Budget) -> Result<Self> {
        Self::check(super::NAME, start, table.distinct_count(), budget)?;
        Ok(Self::of_panels(start, Panels::new(super::NAME, start, table)?, l2))
    }

    /// Prepares complete rows of a machine's units, one after another, each with a weight above 0.
    ///
    /// # Errors
    /// No rows, more memory than the budget has.
    pub(in crate::learn) fn of_rows(
        who: &'static str,
        start: &Machine,
        (cells, weights): (&[i8], &[f64]),
        l2: f64,
        budget: Budget,
    ) -> Result<Self> {
        Self::check(who, start, weights.len(), budget)?;
        Ok(Self::of_panels(start, Panels::of_cells(start.unit_count(), cells, weights)?, l2))
    }

    /// Replaces the cells of some units in the rows given to [`PseudoGain::of_rows`].
    pub(in crate::learn) fn replace(&mut self, changed: &[usize], cells: &[i8]) {
        self.panels.replace(changed, cells);
    }

    fn of_panels(start: &Machine, panels: Panels, l2: f64) -> Self {
        let trained = Trained::of(start);
        let (layout, others) = if is_dense(start) {
            (Layout::of_columns(&trained, start), None)
        } else {
            let (layout, others) = Layout::of_edges(&trained, start);
            (layout, Some(others))
        };
        let means: Vec<f64> = (0..start.unit_count()).map(|unit| panels.mean(unit)).collect();
        let conditioning = Conditioning::new(&trained, &means, panels.total_weight);
        let alone: Vec<f64> = trained.biases.iter().map(|&unit| conditioning.variance(unit)).collect();
        let information = conditioning.pseudo_information(&alone, l2, start.temperature());
        Self {
            panels,
            l2,
            conditioning,
            information,
            temperature: start.temperature(),
            units: start.unit_count(),
            layout,
            others,
            trained,
            level: Level::new(),
        }
    }

    fn check(who: &'static str, start: &Machine, rows: usize, budget: Budget) -> Result<()> {
        let n = start.unit_count() as u128;
        let cells = rows as u128 * n;
        let sums = if is_dense(start) { n * (n + 1) } else { 2 * start.graph().edges().len() as u128 + n };
        let needed = 2 * cells + 8 * (PIECES as u128 + 2) * sums;
        budget.check(who, needed, || format!("{cells} cells, with {PIECES} times {sums} sums,"))
    }

    /// The trainable parameters of a machine with this structure.
    pub fn parameters_of(&self, machine: &Machine) -> Vec<f64> {
        self.trained.parameters_of(machine)
    }

    /// The machine with other trainable parameters.
    pub fn machine_of(&self, parameters: &[f64]) -> Result<Machine> {
        self.trained.machine_of(parameters)
    }

    fn check_length(&self, numbers: &[f64]) -> Result<()> {
        Error::check_length("parameters", numbers.len(), self.couplings() + self.trained.biases.len())
    }

    /// The number of trained couplings, which come before the biases.
    pub(in crate::learn) fn couplings(&self) -> usize {
        self.trained.edges.len()
    }

    /// An estimate of the largest curvature for strongly coupled units: the most parameters of a
    /// unit, divided by T².
    pub(in crate::learn) fn steepness(&self) -> f64 {
        let mut parameters = vec![1u32; self.units];
        for (a, b) in self.trained.ends() {
            parameters[a] += 1;
            parameters[b] += 1;
        }
        f64::from(parameters.into_iter().max().unwrap_or(1)) / (self.temperature * self.temperature)
    }

    pub(in crate::learn) fn biases(&self) -> usize {
        self.trained.biases.len()
    }

    /// The average pseudo-log-likelihood of a row, without the penalty.
    pub(in crate::learn) fn average(&self, parameters: &[f64]) -> f64 {
        self.sums(parameters, &HiddenUnits::NONE, false).value
    }

    /// The penalty on the average pseudo-log-likelihood of a row.
    pub(super) fn penalty(&self, parameters: &[f64]) -> f64 {
        0.5 * self.l2 * parameters[..self.couplings()].iter().map(|w| w * w).sum::<f64>()
    }

    /// Value and gradient, with the terms they are sums of.
    pub(super) fn evaluate(&self, parameters: &[f64]) -> Result<Evaluated<Parts>> {
        self.check_length(parameters)?;
        let Sums { value, moments, bends, .. } = self.sums(parameters, &HiddenUnits::NONE, true);
        let mut gradient = self.layout.gather(&moments, 1.0 / self.temperature);
        for (slot, weight) in gradient.iter_mut().zip(&parameters[..self.couplings()]) {
            *slot -= self.l2 * weight;
        }
        let bends = bends.chunks_exact(LANES).map(|lanes| lanes.iter().sum()).collect();
        let parts = Parts { slopes: moments, bends, alone: None };
        Ok(Evaluated { value: value - self.penalty(parameters), gradient, parts })
    }

    /// The curvature of biases, for independent units.
    pub(super) fn information_of_biases(&self) -> &[f64] {
        &self.information[self.couplings()..]
    }

    /// The bytes that hidden units take for the panels in work.
    pub(super) fn hidden_bytes(units: usize, hidden: usize) -> u128 {
        8 * PIECES as u128 * (hidden * (units + 1) * Panels::MOST_ROWS) as u128
    }

    pub(super) fn sums(&self, parameters: &[f64], hidden: &HiddenUnits<'_>, gradient: bool) -> Sums {
        let numbers = self.layout.spread(parameters, 1.0 / self.temperature);
        // Cut by the work alone, and added in order: the same sums on any number of threads.
        let of_row = 2 * numbers.len() + 16 * (self.trained.biases.len() + hidden.numbers.len());
        let work = self.panels.count() * self.panels.rows * of_row;
        let pieces = (work / PIECE).clamp(1, PIECES).min(self.panels.count());
        let bound = |piece: usize| piece * self.panels.count() / pieces;
        let of_piece = |piece: usize| {
            cancel::point();
            let panels = bound(piece)..bound(piece + 1);
            dispatch!(self.level, simd => self.sum(simd, panels, (&numbers, hidden), gradient))
        };
        let parts: Vec<Sums> = (0..pieces).into_par_iter().map(of_piece).collect();
        let mut parts = parts.into_iter();
        // There is at least one panel, and so at least one piece.
        let first = parts.next().expect("there is a piece");
        parts.fold(first, |mut sums, part| {
            sums.value += part.value;
            sums.moments.iter_mut().zip(part.moments).for_each(|(sum, x)| *sum += x);
            sums.bends.iter_mut().zip(part.bends).for_each(|(sum, x)| *sum += x);
            sums.hidden.iter_mut().zip(part.hidden).for_each(|(sum, x)| *sum += x);
            sums
        })
    }

    #[inline(always)]
    fn sum<S: Simd>(
        &self,
        simd: S,
        panels: Range<usize>,
        (numbers, hidden): (&[f64], &HiddenUnits<'_>),
        gradient: bool,
    ) -> Sums {
        let (rows, height) = (self.panels.rows, self.units + 1);
        let modelled = self.trained.biases.len();
        let mut sums = Sums {
            value: 0.0,
            moments: vec![0.0; if gradient { numbers.len() } else { 0 }],
            bends: vec![0.0; if gradient { modelled * LANES } else { 0 }],
            hidden: vec![0.0; if gradient { hidden.numbers.len() } else { 0 }],
        };
        let mut turns = Turns::default();
        let mut cells = vec![1.0; rows * height];
        let mut own = vec![0.0; if modelled == self.units { 0 } else { rows * modelled }];
        let mut fields = vec![0.0; rows * modelled];
        for panel in panels {
            let panel = self.panels.get(panel);
            for (unit, out) in cells.chunks_exact_mut(rows).take(self.units).enumerate() {
                panel.expand(simd, unit, out);
            }
            match &self.others {
                None => multiply(&mut fields, &cells, numbers, rows, height, false),
                Some(others) => self.fields(simd, others, numbers, &cells, &mut fields),
            }
            if !hidden.numbers.is_empty() {
                hidden.add_fields(simd, rows, &cells, &mut fields, &mut turns);
            }
            let states = if own.is_empty() {
                &cells
            } else {
                for (out, &unit) in own.chunks_exact_mut(rows).zip(&self.trained.biases) {
                    out.copy_from_slice(&cells[unit * rows..(unit + 1) * rows]);
                }
                &own
            };
            sums.value += respond(simd, panel.shares, states, &mut fields, gradient, &mut sums.bends);
            if gradient {
                if !hidden.numbers.is_empty() {
                    hidden.add_moments(simd, rows, &cells, &fields, &turns, &mut sums.hidden);
                }
                let moments = &mut sums.moments;
                match &self.others {
                    None => add_transposed_times(moments, &cells, &fields, height, rows),
                    Some(others) => self.moments(simd, others, &cells, &fields, moments),
                }
            }
        }
        sums
    }

    #[inline(always)]
    fn fields<S: Simd>(&self, simd: S, others: &[usize], numbers: &[f64], cells: &[f64], fields: &mut [f64]) {
        let rows = self.panels.rows;
        for (range, field) in self.layout.units.iter().zip(fields.chunks_exact_mut(rows)) {
            for row in (0..rows).step_by(LANES) {
                let mut x = f64x8::splat(simd, 0.0);
                for place in range.clone() {
                    let number = f64x8::splat(simd, numbers[place]);
                    x = lane(simd, cells, others[place] * rows + row).mul_add(number, x);
                }
                x.store_slice(&mut field[row..row + LANES]);
            }
        }
    }

    #[inline(always)]
    fn moments<S: Simd>(&self, simd: S, others: &[usize], cells: &[f64], residuals: &[f64], out: &mut [f64]) {
        let rows = self.panels.rows;
        for (range, residuals) in self.layout.units.iter().zip(residuals.chunks_exact(rows)) {
            for place in range.clone() {
                let other = others[place] * rows;
                out[place] += product(simd, &cells[other..other + rows], residuals);
            }
        }
    }
}

impl Objective for PseudoGain {
    fn value_and_gradient(&self, parameters: &[f64], gradient: &mut [f64]) -> Result<f64> {
        self.check_length(gradient)?;
        let found = self.evaluate(parameters)?;
        gradient.copy_from_slice(&found.gradient);
        Ok(found.value)
    }

    fn value(&self, parameters: &[f64]) -> Result<f64> {
        self.check_length(parameters)?;
        Ok(self.sums(parameters, &HiddenUnits::NONE, false).value - self.penalty(parameters))
    }

    fn precondition(&self, gradient: &mut [f64]) {
        self.conditioning.divide(gradient, &self.information, |_| true);
    }
}
