//! The pseudo-likelihood of sampled states, in centred coordinates: its gradient and its curvature.
//!
//! With `p_i = u_i + Σ_j u_ij x_j` the field of unit i is `h_i = p_i / σ_i`, and
//!
//! ```text
//! g_ij = ⟨y_i x_j + y_j x_i⟩,   g_i = ⟨y_i⟩,          y_i = (s_i − tanh h_i) / σ_i
//! (H v)_ij = ⟨z_i x_j + z_j x_i⟩,   (H v)_i = ⟨z_i⟩,   z_i = (1 − tanh² h_i) p_i(v) / σ_i²
//! ```
//!
//! At the machine that the states are drawn from, g is 0 on average.

use rayon::prelude::*;

use super::conjugate::{self, Limits};
use super::coordinates::Coordinates;
use super::curvature::{Centred, dot};
use crate::numeric::dense::{add_transposed_times, multiply};
use crate::{Graph, Machine, cancel};

/// Parts of a sum over blocks, which are added in order.
const PARTS: usize = 16;

/// When a solution ends.
const LIMITS: Limits = Limits { iterations: 40, residual: 0.03 };

/// What is added to the diagonal of the curvature, as a share of it: units that others determine
/// bend nothing.
const RIDGE: f64 = 1e-3;

/// A machine's parameters in centred coordinates.
pub(super) struct Centre<'a> {
    coordinates: &'a Coordinates,
    parameters: Vec<f64>,
}

impl<'a> Centre<'a> {
    pub(super) fn of(machine: &Machine, coordinates: &'a Coordinates) -> Self {
        let Coordinates { means, deviations } = coordinates;
        let temperature = machine.temperature();
        let mut fields: Vec<f64> = machine.biases().to_vec();
        let mut parameters = Vec::with_capacity(machine.weights().len() + fields.len());
        for (&(a, b), weight) in machine.graph().edges().iter().zip(machine.weights()) {
            fields[a] += weight * means[b];
            fields[b] += weight * means[a];
            parameters.push(weight * deviations[a] * deviations[b] / temperature);
        }
        parameters.extend(fields.iter().zip(deviations).map(|(field, d)| field * d / temperature));
        Self { coordinates, parameters }
    }
}

/// From a block, its `p_i` and its number to `q_i`.
type Change<'a> = dyn Fn(&[f64], &mut [f64], usize) + Sync + 'a;

/// States with the `(1 − tanh² h_i) / σ_i²` of their units.
pub(super) struct Bent<'a> {
    states: &'a Centred<'a>,
    bends: Vec<Vec<f64>>,
    /// About the diagonal of the curvature.
    diagonal: Vec<f64>,
}

impl Centred<'_> {
    /// g: the gradient of the average pseudo-log-likelihood of the states.
    pub(super) fn slopes(&self, centre: &Centre<'_>) -> Vec<f64> {
        let Coordinates { means, deviations } = centre.coordinates;
        self.gathered(&centre.parameters, &|block, pulls, _| {
            let rows = pulls.len() / means.len().max(1);
            let units = block.chunks_exact(rows).zip(pulls.chunks_exact_mut(rows));
            for ((states, pulls), (mean, deviation)) in units.zip(means.iter().zip(deviations)) {
                for (x, pull) in states.iter().zip(pulls) {
                    *pull = (mean + deviation * x - (*pull / deviation).tanh()) / deviation;
                }
            }
        })
    }

    /// The states with their curvature.
    pub(super) fn bent(&self, centre: &Centre<'_>) -> Bent<'_> {
        let matrix = self.is_dense.then(|| self.matrix_of(&centre.parameters));
        let deviations = &centre.coordinates.deviations;
        let bends = self.blocks.par_iter().map(|block| {
            let mut pulls = self.pulls(block, &centre.parameters, matrix.as_deref());
            let rows = pulls.len() / deviations.len().max(1);
            for (pulls, deviation) in pulls.chunks_exact_mut(rows).zip(deviations) {
                for pull in pulls {
                    let tanh = (*pull / deviation).tanh();
                    *pull = (1.0 - tanh * tanh) / (deviation * deviation);
                }
            }
            pulls
        });
        let bends: Vec<Vec<f64>> = bends.collect();
        let units = deviations.len();
        let mut of_unit = vec![0.0; units];
        for block in &bends {
            let rows = block.len() / units.max(1);
            for (sum, bends) in of_unit.iter_mut().zip(block.chunks_exact(rows)) {
                *sum += bends.iter().sum::<f64>() / self.count as f64;
            }
        }
        let pairs = self.graph.edges().iter().map(|&(a, b)| of_unit[a] + of_unit[b]);
        let diagonal = pairs.chain(of_unit.iter().copied()).collect();
        Bent { states: self, bends, diagonal }
    }

    /// `p_i` of each state of a block, unit by unit.
    fn pulls(&self, block: &[f64], v: &[f64], matrix: Option<&[f64]>) -> Vec<f64> {
        let units = self.graph.unit_count();
        let rows = block.len() / units.max(1);
        let (pairs, singles) = v.split_at(self.graph.edges().len());
        let mut pulls = vec![0.0; block.len()];
        if let Some(matrix) = matrix {
            // It has half of each coupling on either side.
            multiply(&mut pulls, block, matrix, rows, units, false);
            for (pulls, single) in pulls.chunks_exact_mut(rows).zip(singles) {
                for pull in pulls {
                    *pull = 2.0 * *pull + single;
                }
            }
        } else {
            for (pulls, single) in pulls.chunks_exact_mut(rows).zip(singles) {
                pulls.fill(*single);
            }
            for (&(a, b), v) in self.graph.edges().iter().zip(pairs) {
                for (unit, other) in [(a, b), (b, a)] {
                    let states = &block[other * rows..(other + 1) * rows];
                    let pulls = &mut pulls[unit * rows..(unit + 1) * rows];
                    pulls.iter_mut().zip(states).for_each(|(pull, x)| *pull += v * x);
                }
            }
        }
        pulls
    }

    /// Averages of `q_i x_j + q_j x_i` over edges, then of `q_i`; `change` makes q of a block, its p
    /// and its number.
    fn gathered(&self, v: &[f64], change: &Change<'_>) -> Vec<f64> {
        cancel::point();
        let units = self.graph.unit_count();
        let matrix = self.is_dense.then(|| self.matrix_of(v));
        let each = self.blocks.len().div_ceil(PARTS).max(1);
        let parts: Vec<Vec<f64>> = self
            .blocks
            .par_chunks(each)
            .enumerate()
            .map(|(part, blocks)| {
                let mut sums = Sums::new(self.graph, self.is_dense);
                for (k, block) in blocks.iter().enumerate() {
                    let mut pulls = self.pulls(block, v, matrix.as_deref());
                    change(block, &mut pulls, part * each + k);
                    sums.add(block, &pulls, units);
                }
                sums.finish()
            })
            .collect();
        let mut total = vec![0.0; self.graph.edges().len() + units];
        for part in parts {
            total.iter_mut().zip(part).for_each(|(total, x)| *total += x / self.count as f64);
        }
        total
    }
}

/// Sums over states, of dense graphs as a matrix.
struct Sums<'a> {
    graph: &'a Graph,
    matrix: Vec<f64>,
    pairs: Vec<f64>,
    singles: Vec<f64>,
}

impl<'a> Sums<'a> {
    fn new(graph: &'a Graph, is_dense: bool) -> Self {
        let units = graph.unit_count();
        let matrix = if is_dense { vec![0.0; units * units] } else { Vec::new() };
        Self { graph, matrix, pairs: vec![0.0; graph.edges().len()], singles: vec![0.0; units] }
    }

    fn add(&mut self, block: &[f64], factors: &[f64], units: usize) {
        let rows = block.len() / units.max(1);
        for (single, factors) in self.singles.iter_mut().zip(factors.chunks_exact(rows)) {
            *single += factors.iter().sum::<f64>();
        }
        if !self.matrix.is_empty() {
            add_transposed_times(&mut self.matrix, block, factors, units, rows);
            return;
        }
        let of = |unit: usize| unit * rows..(unit + 1) * rows;
        for (pair, &(a, b)) in self.pairs.iter_mut().zip(self.graph.edges()) {
            *pair += dot(&factors[of(a)], &block[of(b)]) + dot(&factors[of(b)], &block[of(a)]);
        }
    }

    fn finish(self) -> Vec<f64> {
        let Self { graph, matrix, mut pairs, singles } = self;
        let units = graph.unit_count();
        if !matrix.is_empty() {
            for (pair, &(a, b)) in pairs.iter_mut().zip(graph.edges()) {
                *pair = matrix[a * units + b] + matrix[b * units + a];
            }
        }
        pairs.extend(singles);
        pairs
    }
}

impl Bent<'_> {
    /// `H v`.
    fn times(&self, v: &[f64]) -> Vec<f64> {
        let mut product = self.states.gathered(v, &|_, pulls, number| {
            pulls.iter_mut().zip(&self.bends[number]).for_each(|(pull, bend)| *pull *= bend);
        });
        for ((product, v), diagonal) in product.iter_mut().zip(v).zip(&self.diagonal) {
            *product += RIDGE * diagonal * v;
        }
        product
    }

    /// `H⁻¹ g`, by conjugate gradients.
    pub(super) fn solve(&self, right: &[f64]) -> Vec<f64> {
        let scaled = |residual: &[f64]| {
            residual.iter().zip(&self.diagonal).map(|(r, d)| r / d.max(f64::MIN_POSITIVE)).collect()
        };
        let times = |direction: &[f64]| {
            let product = self.times(direction);
            let curvature = dot(direction, &product);
            (product, curvature)
        };
        conjugate::solve(right, &LIMITS, scaled, times)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::stable::log_cosh;
    use crate::topology::{self, Neighbours, Numbers};

    /// The gradient against differences of the pseudo-likelihood by a plain loop, and the curvature
    /// against differences of the gradient, on dense and sparse graphs.
    #[test]
    fn slopes_and_curvatures_are_derivatives_of_the_pseudo_likelihood() {
        let normal = |deviation| Numbers::Normal { mean: 0.0, deviation };
        for machine in [topology::full(6), topology::grid(4, 4, Neighbours::Four)] {
            let machine = machine.with_numbers(&normal(0.4), &normal(0.3), 2).unwrap();
            let machine = machine.with_temperature(1.5).unwrap();
            let graph = machine.graph();
            let units = graph.unit_count();
            let rows = 300;
            let means: Vec<f64> = (0..units).map(|k| 0.8 * (k as f64).sin()).collect();
            let coordinates = Coordinates::of(&means);
            let states: Vec<bool> = (0..units * rows).map(|k| (k * k * 7919 + k / 5) % 11 < 5).collect();
            let teams = [states];
            let all = Centred::new(graph, &coordinates, &teams, rows);
            let size = graph.edges().len() + units;
            let value = |step: &[f64]| -> f64 {
                let (mut weights, mut biases) = (machine.weights().to_vec(), machine.biases().to_vec());
                let scaled: Vec<f64> = step.iter().map(|x| x * machine.temperature()).collect();
                coordinates.add(graph, &scaled, &mut weights, &mut biases);
                let spin = |unit: usize, row: usize| if teams[0][unit * rows + row] { 1.0 } else { -1.0 };
                let mut sum = 0.0;
                for row in 0..rows {
                    for (unit, bias) in biases.iter().enumerate() {
                        let around =
                            graph.neighbours(unit).map(|(other, edge)| weights[edge] * spin(other, row));
                        let field = (bias + around.sum::<f64>()) / machine.temperature();
                        sum += spin(unit, row) * field - log_cosh(field);
                    }
                }
                sum / rows as f64
            };
            let centre = Centre::of(&machine, &coordinates);
            let slopes = all.slopes(&centre);
            let vector: Vec<f64> = (0..size).map(|k| (k as f64).cos()).collect();
            let moved = |length: f64| {
                let parameters = centre.parameters.iter().zip(&vector).map(|(x, v)| x + length * v).collect();
                all.slopes(&Centre { coordinates: &coordinates, parameters })
            };
            for (k, slope) in slopes.iter().enumerate() {
                let along = |length: f64| {
                    let mut step = vec![0.0; size];
                    step[k] = length;
                    value(&step)
                };
                let expected = (along(1e-4) - along(-1e-4)) / 2e-4;
                assert!((slope - expected).abs() < 1e-7, "{slope} {expected}");
            }
            let bent = all.bent(&centre);
            let product = bent.times(&vector);
            for (k, (up, down)) in moved(1e-4).iter().zip(moved(-1e-4)).enumerate() {
                let expected = (down - up) / 2e-4 + RIDGE * bent.diagonal[k] * vector[k];
                assert!((product[k] - expected).abs() < 1e-6, "{} {expected}", product[k]);
            }
            let solution = bent.solve(&slopes);
            let left: Vec<f64> = bent.times(&solution).iter().zip(&slopes).map(|(a, b)| a - b).collect();
            assert!(dot(&left, &left) < 0.01 * dot(&slopes, &slopes));
        }
    }
}
