//! The covariance of the statistics over sampled states, and steps that solve for it.
//!
//! The Fisher information of a machine is the covariance C of its statistics. States of the chains
//! estimate it; products `C v` cost two passes over the states and never form the matrix, so that
//! conjugate gradients solve `(C + D) u = g` for tens of thousands of couplings.

use std::ops::Range;

use rayon::prelude::*;

use super::conjugate::{self, Limits};
use super::coordinates::Coordinates;
use crate::numeric::dense::{add_transposed_times, multiply};
use crate::numeric::stable::shares;
use crate::{Graph, cancel};

/// States of a block.
const ROWS: usize = 256;

/// Above this share of all pairs, products of dense matrices are faster than walks along the edges.
const DENSE: f64 = 0.15;

/// When a solution ends.
const LIMITS: Limits = Limits { iterations: 25, residual: 0.1 };

/// Centred states, in blocks.
pub(super) struct Centred<'a> {
    pub(super) graph: &'a Graph,
    /// Each block unit by unit.
    pub(super) blocks: Vec<Vec<f64>>,
    pub(super) count: usize,
    /// The edges whose statistics count, in order; those of others are left out of sums.
    active: Vec<usize>,
    pub(super) is_dense: bool,
}

/// Averages of the statistics.
pub(super) struct Averages {
    /// Of each team.
    pub(super) parts: Vec<Vec<f64>>,
    /// Over all teams.
    pub(super) mean: Vec<f64>,
    /// Squared standard errors, from the spread of the teams.
    pub(super) variance: Vec<f64>,
}

impl<'a> Centred<'a> {
    /// The states of some teams, at most `most` of each, evenly.
    pub(super) fn new(graph: &'a Graph, coordinates: &Coordinates, teams: &[Vec<bool>], most: usize) -> Self {
        let units = graph.unit_count();
        let values: Vec<[f64; 2]> = (0..units).map(|unit| coordinates.values(unit)).collect();
        let pieces: Vec<(usize, Range<usize>, usize)> = teams
            .iter()
            .enumerate()
            .flat_map(|(k, states)| {
                let all = states.len() / units.max(1);
                let kept = all.min(most);
                (0..kept).step_by(ROWS).map(move |start| (k, start..kept.min(start + ROWS), kept))
            })
            .collect();
        let blocks: Vec<Vec<f64>> = pieces
            .par_iter()
            .map(|(team, rows, kept)| {
                let states = &teams[*team];
                let all = states.len() / units.max(1);
                let mut block = Vec::with_capacity(rows.len() * units);
                for (unit, values) in values.iter().enumerate() {
                    let column = &states[unit * all..(unit + 1) * all];
                    block.extend(rows.clone().map(|row| values[usize::from(!column[row * all / kept])]));
                }
                block
            })
            .collect();
        let count = blocks.iter().map(|block| block.len() / units.max(1)).sum();
        let active = (0..graph.edges().len()).collect();
        let mut all = Self { graph, blocks, count, active, is_dense: false };
        all.choose();
        all
    }

    /// Only some statistics: those of all units, and of the edges that are free.
    pub(super) fn among(mut self, is_free: &[bool]) -> Self {
        self.active.retain(|&edge| is_free[edge]);
        self.choose();
        self
    }

    /// Chooses between products of matrices and walks along the edges.
    fn choose(&mut self) {
        let units = self.graph.unit_count();
        let all_pairs = (units * units.saturating_sub(1) / 2) as f64;
        self.is_dense = self.active.len() as f64 > DENSE * all_pairs;
    }

    /// The bytes of some states.
    pub(super) fn bytes(units: usize, states: usize) -> u128 {
        // The states as bits and as numbers, and a block of products on each of a few threads.
        10 * units as u128 * states as u128 + 64 * (units * (units + ROWS)) as u128
    }

    /// `C v`: the covariance of the statistics times a vector.
    pub(super) fn covariance_times(&self, v: &[f64]) -> Vec<f64> {
        cancel::point();
        let matrix = self.is_dense.then(|| self.matrix_of(v));
        let products: Vec<Vec<f64>> =
            self.blocks.par_iter().map(|block| self.values(block, v, matrix.as_deref())).collect();
        let mean = products.iter().flatten().sum::<f64>() / self.count as f64;
        let factors: Vec<Vec<f64>> =
            products.into_iter().map(|part| part.into_iter().map(|q| q - mean).collect()).collect();
        let mut sums = self.weighted_sums(&factors);
        for sum in &mut sums {
            *sum /= self.count as f64;
        }
        sums
    }

    /// Symmetric with half of each coupling's entry of a vector on either side.
    pub(super) fn matrix_of(&self, v: &[f64]) -> Vec<f64> {
        let units = self.graph.unit_count();
        let mut matrix = vec![0.0; units * units];
        for (&(a, b), x) in self.graph.edges().iter().zip(v) {
            matrix[a * units + b] = 0.5 * x;
            matrix[b * units + a] = 0.5 * x;
        }
        matrix
    }

    /// `Σ v_ij x_i x_j + Σ v_i x_i` of each state of a block.
    fn values(&self, block: &[f64], v: &[f64], matrix: Option<&[f64]>) -> Vec<f64> {
        let units = self.graph.unit_count();
        let rows = block.len() / units.max(1);
        let (pairs, singles) = v.split_at(self.graph.edges().len());
        let mut out = vec![0.0; rows];
        let column = |unit: usize| &block[unit * rows..(unit + 1) * rows];
        if let Some(matrix) = matrix {
            let mut product = vec![0.0; block.len()];
            multiply(&mut product, block, matrix, rows, units, false);
            for unit in 0..units {
                let pulls = &product[unit * rows..(unit + 1) * rows];
                for (out, (x, pull)) in out.iter_mut().zip(column(unit).iter().zip(pulls)) {
                    *out += x * (pull + singles[unit]);
                }
            }
        } else {
            for (unit, v) in singles.iter().enumerate() {
                out.iter_mut().zip(column(unit)).for_each(|(out, x)| *out += v * x);
            }
            for &edge in &self.active {
                let ((a, b), v) = (self.graph.edges()[edge], pairs[edge]);
                let both = column(a).iter().zip(column(b));
                out.iter_mut().zip(both).for_each(|(out, (x, y))| *out += v * x * y);
            }
        }
        out
    }

    /// `Σ f x_i x_j` over edges and `Σ f x_i` over units, with a factor for each state.
    fn weighted_sums(&self, factors: &[Vec<f64>]) -> Vec<f64> {
        let mut total = vec![0.0; self.graph.edges().len() + self.graph.unit_count()];
        // In order, a few blocks at a time, so that the sum is the same on any number of threads.
        let parts: Vec<Vec<f64>> = self
            .blocks
            .par_chunks(self.blocks.len().div_ceil(16).max(1))
            .zip(factors.par_chunks(self.blocks.len().div_ceil(16).max(1)))
            .map(|(blocks, factors)| self.sums_of(blocks, factors))
            .collect();
        for part in parts {
            total.iter_mut().zip(part).for_each(|(total, part)| *total += part);
        }
        total
    }

    fn sums_of(&self, blocks: &[Vec<f64>], factors: &[Vec<f64>]) -> Vec<f64> {
        let units = self.graph.unit_count();
        let edges = self.graph.edges();
        let mut singles = vec![0.0; units];
        let mut pairs = vec![0.0; edges.len()];
        let mut matrix = if self.is_dense { vec![0.0; units * units] } else { Vec::new() };
        let mut weighted = Vec::new();
        for (block, factors) in blocks.iter().zip(factors) {
            let rows = factors.len();
            weighted.clear();
            weighted.extend(block.iter().zip(factors.iter().cycle()).map(|(x, f)| f * x));
            for (unit, single) in singles.iter_mut().enumerate() {
                *single += weighted[unit * rows..(unit + 1) * rows].iter().sum::<f64>();
            }
            if self.is_dense {
                add_transposed_times(&mut matrix, block, &weighted, units, rows);
            } else {
                for &edge in &self.active {
                    let (a, b) = edges[edge];
                    let first = &weighted[a * rows..(a + 1) * rows];
                    let second = &block[b * rows..(b + 1) * rows];
                    pairs[edge] += dot(first, second);
                }
            }
        }
        if self.is_dense {
            for &edge in &self.active {
                let (a, b) = edges[edge];
                pairs[edge] = matrix[a * units + b];
            }
        }
        pairs.extend(singles);
        pairs
    }

    /// Averages of the statistics.
    fn means(&self) -> Vec<f64> {
        let units = self.graph.unit_count().max(1);
        let ones: Vec<Vec<f64>> = self.blocks.iter().map(|block| vec![1.0; block.len() / units]).collect();
        let mut means = self.weighted_sums(&ones);
        for mean in &mut means {
            *mean /= self.count as f64;
        }
        means
    }

    /// The largest share, up to 1, of a step after which the states still stand for the machine:
    /// weights `exp(share · q)`, with q the change of −E of a state, have an effective number of
    /// `least` of the states, and the divergence from the machine before is at most `longest`.
    ///
    /// The curvature alone knows nothing of the tails: a step for rare events is long where it is
    /// linear and ruinous where it is exponential.
    pub(super) fn share(&self, step: &[f64], least: f64, longest: f64) -> f64 {
        let matrix = self.is_dense.then(|| self.matrix_of(step));
        let values: Vec<Vec<f64>> =
            self.blocks.par_iter().map(|block| self.values(block, step, matrix.as_deref())).collect();
        let values: Vec<f64> = values.into_iter().flatten().collect();
        let is_near = |share: f64| {
            let scaled: Vec<f64> = values.iter().map(|q| share * q).collect();
            let (log_sum, weights) = shares(&scaled);
            let effective = 1.0 / weights.iter().map(|w| w * w).sum::<f64>();
            let mean = weights.iter().zip(&scaled).map(|(w, q)| w * q).sum::<f64>();
            let divergence = mean - (log_sum - (self.count as f64).ln());
            effective >= least * self.count as f64 && divergence <= longest
        };
        if is_near(1.0) {
            return 1.0;
        }
        let (mut near, mut far) = (0.0, 1.0);
        for _ in 0..20 {
            let middle = f64::midpoint(near, far);
            if is_near(middle) { near = middle } else { far = middle }
        }
        near
    }

    /// A step u with `(C + D) u = g` for a diagonal D, by conjugate gradients from 0 until the
    /// residual is small. Edges that do not count have g = 0, and do not move.
    pub(super) fn solve(&self, right: &[f64], diagonal: &[f64]) -> Vec<f64> {
        // Statistics have variance 1, about.
        let scaled = |residual: &[f64]| residual.iter().zip(diagonal).map(|(r, d)| r / (1.0 + d)).collect();
        let times = |direction: &[f64]| {
            let mut product = self.covariance_times(direction);
            let curvature = dot(direction, &product)
                + direction.iter().zip(diagonal).map(|(x, d)| d * x * x).sum::<f64>();
            for ((product, x), d) in product.iter_mut().zip(direction).zip(diagonal) {
                *product += d * x;
            }
            (product, curvature)
        };
        conjugate::solve(right, &LIMITS, scaled, times)
    }
}

impl Averages {
    /// Of the states of some teams.
    pub(super) fn of(graph: &Graph, coordinates: &Coordinates, teams: &[Vec<bool>]) -> Self {
        let parts: Vec<Vec<f64>> = teams
            .iter()
            .map(|states| Centred::new(graph, coordinates, std::slice::from_ref(states), usize::MAX).means())
            .collect();
        let count = parts.len() as f64;
        let size = graph.edges().len() + graph.unit_count();
        let mean: Vec<f64> =
            (0..size).map(|k| parts.iter().map(|part| part[k]).sum::<f64>() / count).collect();
        let variance = (0..size)
            .map(|k| {
                parts.iter().map(|part| (part[k] - mean[k]).powi(2)).sum::<f64>() / (count * (count - 1.0))
            })
            .collect();
        Self { parts, mean, variance }
    }
}

pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::{self, Neighbours};

    /// Products and solutions against the covariance matrix itself, on dense and sparse graphs.
    #[test]
    fn solutions_are_those_of_the_covariance_matrix() {
        for machine in [topology::full(6), topology::grid(4, 4, Neighbours::Four)] {
            let graph = machine.graph();
            let units = graph.unit_count();
            let means: Vec<f64> = (0..units).map(|k| 0.8 * (k as f64).sin()).collect();
            let coordinates = Coordinates::of(&means);
            let state = |team: usize| -> Vec<bool> {
                (0..units * 300).map(|k| (k * k * 7919 + team * 31 + k / 5) % 11 < 5).collect()
            };
            let teams: Vec<Vec<bool>> = (0..3).map(state).collect();
            let centred = Centred::new(graph, &coordinates, &teams, 300);
            let size = graph.edges().len() + units;
            let rows: Vec<Vec<f64>> = (0..900)
                .map(|row| {
                    let x = |unit: usize| {
                        let up = teams[row / 300][unit * 300 + row % 300];
                        (if up { 1.0 } else { -1.0 } - means[unit]) / coordinates.deviations[unit]
                    };
                    graph.edges().iter().map(|&(a, b)| x(a) * x(b)).chain((0..units).map(x)).collect()
                })
                .collect();
            let mean: Vec<f64> =
                (0..size).map(|k| rows.iter().map(|row| row[k]).sum::<f64>() / 900.0).collect();
            let averages = Averages::of(graph, &coordinates, &teams);
            for (a, b) in averages.mean.iter().zip(&mean) {
                assert!((a - b).abs() < 1e-12);
            }
            let covariance = |a: usize, b: usize| {
                rows.iter().map(|row| (row[a] - mean[a]) * (row[b] - mean[b])).sum::<f64>() / 900.0
            };
            let right: Vec<f64> = (0..size).map(|k| (k as f64).sin()).collect();
            let product = centred.covariance_times(&right);
            for k in 0..size {
                let plain: f64 = (0..size).map(|j| covariance(k, j) * right[j]).sum();
                assert!((product[k] - plain).abs() < 1e-10 * (1.0 + plain.abs()), "{} {plain}", product[k]);
            }
            let solution = centred.solve(&right, &vec![0.5; size]);
            let mut distance = 0.0;
            for k in 0..size {
                let times: f64 = (0..size).map(|j| covariance(k, j) * solution[j]).sum();
                distance += (times + 0.5 * solution[k] - right[k]).powi(2);
            }
            assert!(distance < 0.05 * dot(&right, &right), "{distance}");
            let share = centred.share(&solution, 0.5, 0.1);
            let logs: Vec<f64> = rows.iter().map(|row| share * dot(row, &solution)).collect();
            let (_, weights) = shares(&logs);
            let effective = 1.0 / weights.iter().map(|w| w * w).sum::<f64>();
            assert!(share < 1.0 && effective >= 450.0 - 1e-6, "{share} {effective}");
        }
    }
}
