//! The pseudo-likelihood of a table as a function of the trained parameters, with its gradient.

use std::ops::Range;

use fearless_simd::{Level, Simd, dispatch, f64x8, prelude::*};
use rayon::prelude::*;

use super::panels::Panels;
use super::responses::{lane, product, respond};
use crate::learn::trained::Trained;
use crate::numeric::dense::{add_transposed_times, multiply};
use crate::numeric::lanes::LANES;
use crate::optimize::Objective;
use crate::{Budget, Error, Machine, Result, Table};

/// Products of matrices are taken if at least one pair of units in so many is joined: they need more steps than the edges do, but are
/// quicker at each.
const DENSE: usize = 16;

/// Pieces of work at most: each has sums of its own.
const PIECES: usize = 16;

/// Multiplications of a piece at least: below, threads cost more than they give.
const PIECE: usize = 1 << 19;

/// The average over rows, with their weights, of the pseudo-log-likelihood of visible units given all others, and its gradient:
///
/// ```text
/// L = Σ_r w_r Σ_i −ln(1 + e^(−2 s_ri h_ri / T)) / Σ_r w_r  −  λ/2 Σ w_ij²        h_ri = θ_i + Σ_j w_ij s_rj
/// ∂L/∂w_ij = ⟨s_i (s_j − tanh(h_j/T))⟩ / T + ⟨s_j (s_i − tanh(h_i/T))⟩ / T − λ w_ij
/// ```
///
/// (Besag 1975.) The own conditionals of input units do not count. Trainable are all weights but those between input units, then all biases but those of input units.
///
/// # Complexity
/// For r distinct rows 4 r n² multiplications as two products of matrices if one pair of units in sixteen or more is joined, otherwise 4 r for each edge.
/// *Memory*: a byte a cell twice, and up to sixteen n × n matrices, or sixteen numbers an edge.
///
/// # Example
/// ```
/// use isinglass::{Budget, Machine, Table, topology};
/// use isinglass::learn::{Objective, PseudoGain};
/// let table = Table::from_rows(["a", "b"], [[1, 1], [-1, 1], [-1, -1]])?;
/// let start = Machine::from_graph(topology::full(2)).with_names(["a", "b"])?;
/// let gain = PseudoGain::new(&start, &table, 0.0, Budget::default())?;
/// let mut gradient = [0.0; 3];
/// let value = gain.value_and_gradient(&[0.0, 0.0, 0.0], &mut gradient)?;
/// assert!((value + 2.0 * 2f64.ln()).abs() < 1e-15);
/// assert!((gradient[0] - 2.0 / 3.0).abs() < 1e-15, "⟨s_a s_b⟩, once for each of the two");
/// # Ok::<(), isinglass::Error>(())
/// ```
pub struct PseudoGain {
    trained: Trained,
    panels: Panels,
    l2: f64,
    temperature: f64,
    units: usize,
    ends: Vec<(usize, usize)>,
    form: Form,
    level: Level,
}

/// How fields are summed up.
enum Form {
    /// By products of matrices. For each unit its place among those that are modelled.
    Products { place: Vec<Option<usize>> },
    /// Along the edges: for each unit that is modelled which slots are its own, and for each slot the neighbour and the number of the edge among those trained.
    Edges { slots: Vec<Range<usize>>, around: Vec<(usize, usize)> },
}

/// What pieces of work sum up.
struct Sums {
    value: f64,
    /// By products: ⟨s_j (s_i − tanh)⟩ for each modelled i a column of all j, last that of unit 0, which is +1 always. By edges: for each slot, then for each bias.
    moments: Vec<f64>,
}

impl PseudoGain {
    /// Prepare a table for a machine's structure, names, roles and temperature.
    ///
    /// # Errors
    /// A table that does not fit the machine or whose rows have no weight, hidden units, missing cells, more memory than the budget has.
    pub fn new(start: &Machine, table: &Table, l2: f64, budget: Budget) -> Result<Self> {
        let (units, edges) = (start.units(), start.graph().edges());
        let is_dense = units > 1 && edges.len() >= units * (units - 1) / 2 / DENSE;
        Self::check(start, table, is_dense, budget)?;
        let trained = Trained::of(start);
        let ends = trained.edges.iter().map(|&edge| edges[edge]).collect();
        let form = if is_dense { Form::products(&trained, units) } else { Form::edges(&trained, start) };
        Ok(Self {
            panels: Panels::new(super::NAME, start, table)?,
            l2,
            temperature: start.temperature(),
            units,
            ends,
            form,
            trained,
            level: Level::new(),
        })
    }

    fn check(start: &Machine, table: &Table, is_dense: bool, budget: Budget) -> Result<()> {
        let n = start.units() as u128;
        let cells = table.distinct_rows() as u128 * n;
        let sums = if is_dense { n * (n + 1) } else { 2 * start.graph().edges().len() as u128 + n };
        let needed = 2 * cells + 8 * (PIECES as u128 + 2) * sums;
        budget.check(super::NAME, needed, || format!("{cells} cells, with {PIECES} times {sums} sums,"))
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
        Error::check_length("parameters", numbers.len(), self.ends.len() + self.trained.biases.len())
    }

    /// The number of trained couplings, which come before the biases.
    pub(super) fn couplings(&self) -> usize {
        self.ends.len()
    }

    /// The average pseudo-log-likelihood of a row, without the penalty.
    pub(super) fn average(&self, parameters: &[f64]) -> f64 {
        self.sums(parameters, false).value
    }

    fn penalty(&self, parameters: &[f64]) -> f64 {
        0.5 * self.l2 * parameters[..self.ends.len()].iter().map(|w| w * w).sum::<f64>()
    }

    fn sums(&self, parameters: &[f64], gradient: bool) -> Sums {
        let modelled = self.trained.biases.len();
        let scaled: Vec<f64> = parameters.iter().map(|x| x / self.temperature).collect();
        let (couplings, of_row) = match &self.form {
            Form::Products { place } => {
                let couplings = self.coupling_matrix(place, &scaled);
                let steps = 2 * couplings.len();
                (couplings, steps)
            }
            Form::Edges { around, .. } => (Vec::new(), 2 * around.len()),
        };
        // Cut by the work alone, and added up in order: the same sums on any number of threads.
        let work = self.panels.count() * self.panels.rows() * (of_row + 16 * modelled);
        let pieces = (work / PIECE).clamp(1, PIECES).min(self.panels.count());
        let bound = |piece: usize| piece * self.panels.count() / pieces;
        let of_piece = |piece: usize| {
            let panels = bound(piece)..bound(piece + 1);
            dispatch!(self.level, simd => match &self.form {
                Form::Products { .. } => self.by_products(simd, panels, &couplings, gradient),
                Form::Edges { slots, around } => self.by_edges(simd, panels, slots, around, &scaled, gradient),
            })
        };
        let parts: Vec<Sums> = (0..pieces).into_par_iter().map(of_piece).collect();
        let mut parts = parts.into_iter();
        // There is at least one panel, and so at least one piece.
        let first = parts.next().expect("there is a piece");
        parts.fold(first, |mut sums, part| {
            sums.value += part.value;
            sums.moments.iter_mut().zip(part.moments).for_each(|(sum, x)| *sum += x);
            sums
        })
    }

    /// For each modelled unit a column of its couplings with all units, last its bias.
    fn coupling_matrix(&self, place: &[Option<usize>], scaled: &[f64]) -> Vec<f64> {
        let height = self.units + 1;
        let mut couplings = vec![0.0; height * self.trained.biases.len()];
        let (weights, biases) = scaled.split_at(self.ends.len());
        for (&(a, b), &weight) in self.ends.iter().zip(weights) {
            for (unit, other) in [(a, b), (b, a)] {
                if let Some(column) = place[unit] {
                    couplings[column * height + other] = weight;
                }
            }
        }
        for (column, &bias) in biases.iter().enumerate() {
            couplings[column * height + self.units] = bias;
        }
        couplings
    }

    #[inline(always)]
    fn by_products<S: Simd>(&self, simd: S, panels: Range<usize>, couplings: &[f64], gradient: bool) -> Sums {
        let (rows, height) = (self.panels.rows(), self.units + 1);
        let modelled = self.trained.biases.len();
        let mut sums = Sums { value: 0.0, moments: vec![0.0; if gradient { couplings.len() } else { 0 }] };
        let mut cells = vec![1.0; rows * height];
        let mut own = vec![0.0; if modelled == self.units { 0 } else { rows * modelled }];
        let mut fields = vec![0.0; rows * modelled];
        for panel in panels {
            let panel = self.panels.get(panel);
            for (unit, out) in cells.chunks_exact_mut(rows).take(self.units).enumerate() {
                panel.expand(simd, unit, out);
            }
            multiply(&mut fields, &cells, couplings, rows, height, false);
            let states = if own.is_empty() {
                &cells
            } else {
                for (out, &unit) in own.chunks_exact_mut(rows).zip(&self.trained.biases) {
                    out.copy_from_slice(&cells[unit * rows..(unit + 1) * rows]);
                }
                &own
            };
            sums.value += respond(simd, panel.shares, states, &mut fields, gradient);
            if gradient {
                add_transposed_times(&mut sums.moments, &cells, &fields, height, rows);
            }
        }
        sums
    }

    #[inline(always)]
    fn by_edges<S: Simd>(
        &self,
        simd: S,
        panels: Range<usize>,
        slots: &[Range<usize>],
        around: &[(usize, usize)],
        scaled: &[f64],
        gradient: bool,
    ) -> Sums {
        let rows = self.panels.rows();
        let (weights, biases) = scaled.split_at(self.ends.len());
        let count = if gradient { around.len() + biases.len() } else { 0 };
        let mut sums = Sums { value: 0.0, moments: vec![0.0; count] };
        let ones = vec![1.0; rows];
        let mut cells = vec![0.0; rows * self.units];
        let mut own = vec![0.0; rows * biases.len()];
        let mut fields = vec![0.0; rows * biases.len()];
        for panel in panels {
            let panel = self.panels.get(panel);
            for (unit, out) in cells.chunks_exact_mut(rows).enumerate() {
                panel.expand(simd, unit, out);
            }
            for (k, &unit) in self.trained.biases.iter().enumerate() {
                let place = k * rows..(k + 1) * rows;
                own[place.clone()].copy_from_slice(&cells[unit * rows..(unit + 1) * rows]);
                let field = &mut fields[place];
                for row in (0..rows).step_by(LANES) {
                    let mut x = f64x8::splat(simd, biases[k]);
                    for &(other, edge) in &around[slots[k].clone()] {
                        x = lane(simd, &cells, other * rows + row)
                            .mul_add(f64x8::splat(simd, weights[edge]), x);
                    }
                    x.store_slice(&mut field[row..row + LANES]);
                }
            }
            sums.value += respond(simd, panel.shares, &own, &mut fields, gradient);
            if gradient {
                let (of_slots, of_biases) = sums.moments.split_at_mut(around.len());
                for (k, residuals) in fields.chunks_exact(rows).enumerate() {
                    for slot in slots[k].clone() {
                        let other = around[slot].0;
                        of_slots[slot] += product(simd, &cells[other * rows..(other + 1) * rows], residuals);
                    }
                    of_biases[k] += product(simd, &ones, residuals);
                }
            }
        }
        sums
    }
}

impl Form {
    fn products(trained: &Trained, units: usize) -> Self {
        let mut place = vec![None; units];
        for (k, &unit) in trained.biases.iter().enumerate() {
            place[unit] = Some(k);
        }
        Self::Products { place }
    }

    fn edges(trained: &Trained, start: &Machine) -> Self {
        let graph = start.graph();
        let mut number = vec![0; graph.edges().len()];
        for (k, &edge) in trained.edges.iter().enumerate() {
            number[edge] = k;
        }
        let mut around = Vec::new();
        let mut slots = Vec::with_capacity(trained.biases.len());
        for &unit in &trained.biases {
            let first = around.len();
            around.extend(graph.neighbours(unit).map(|(other, edge)| (other, number[edge])));
            slots.push(first..around.len());
        }
        Self::Edges { slots, around }
    }
}

impl Objective for PseudoGain {
    fn value_and_gradient(&self, parameters: &[f64], gradient: &mut [f64]) -> Result<f64> {
        self.check_length(parameters)?;
        self.check_length(gradient)?;
        let sums = self.sums(parameters, true);
        let (of_edges, of_biases) = gradient.split_at_mut(self.ends.len());
        match &self.form {
            Form::Products { place } => {
                let height = self.units + 1;
                for (slot, &(a, b)) in of_edges.iter_mut().zip(&self.ends) {
                    let from = |unit: usize, other: usize| {
                        place[unit].map_or(0.0, |column| sums.moments[column * height + other])
                    };
                    *slot = from(a, b) + from(b, a);
                }
                for (column, slot) in of_biases.iter_mut().enumerate() {
                    *slot = sums.moments[column * height + self.units];
                }
            }
            Form::Edges { around, .. } => {
                let (of_slots, biases) = sums.moments.split_at(around.len());
                of_edges.fill(0.0);
                for (&(_, edge), moment) in around.iter().zip(of_slots) {
                    of_edges[edge] += moment;
                }
                of_biases.copy_from_slice(biases);
            }
        }
        for slot in gradient.iter_mut() {
            *slot /= self.temperature;
        }
        for (slot, weight) in gradient.iter_mut().zip(&parameters[..self.ends.len()]) {
            *slot -= self.l2 * weight;
        }
        Ok(sums.value - self.penalty(parameters))
    }

    fn value(&self, parameters: &[f64]) -> Result<f64> {
        self.check_length(parameters)?;
        Ok(self.average(parameters) - self.penalty(parameters))
    }
}
