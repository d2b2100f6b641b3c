//! What is compared: couplings and biases of machines on one structure, their differences for each
//! pair of groups, and the largest of all pairs.

use super::corrections::{benjamini_hochberg, holm};
use super::{Differences, Tested};
use crate::learn::bootstrap::numbers_of;
use crate::learn::trained::Trained;
use crate::{Machine, Result};

/// The trained numbers of a structure, and the pairs of groups.
pub(super) struct Measures {
    /// The structure with the numbers of the fit to all rows.
    begin: Machine,
    trained: Trained,
    pairs: Vec<(usize, usize)>,
}

impl Measures {
    pub(super) fn new(structure: &Machine, pooled: &Machine, groups: usize) -> Result<Self> {
        let mut numbers = numbers_of(pooled, structure)?;
        let biases = numbers.split_off(structure.weights().len());
        let begin = structure.clone().with_parameters(numbers, biases)?;
        let pairs = (0..groups).flat_map(|a| (a + 1..groups).map(move |b| (a, b))).collect();
        Ok(Self { trained: Trained::of(structure), begin, pairs })
    }

    /// Where all fits start.
    pub(super) fn begin(&self) -> &Machine {
        &self.begin
    }

    pub(super) fn couplings(&self) -> Vec<(usize, usize)> {
        self.trained.ends().collect()
    }

    pub(super) fn units(&self) -> Vec<usize> {
        self.trained.biases.clone()
    }

    /// Couplings, then biases; hidden units have the signs of the fit to all rows.
    pub(super) fn numbers_of(&self, machine: &Machine) -> Result<Vec<f64>> {
        let all = numbers_of(machine, &self.begin)?;
        let (weights, biases) = all.split_at(self.begin.weights().len());
        let couplings = self.trained.edges.iter().map(|&edge| weights[edge]);
        Ok(couplings.chain(self.trained.biases.iter().map(|&unit| biases[unit])).collect())
    }

    /// The sum of absolute couplings.
    pub(super) fn strength(&self, numbers: &[f64]) -> f64 {
        numbers[..self.trained.edges.len()].iter().map(|w| w.abs()).sum()
    }

    /// For each pair the difference of strengths, then of each number.
    pub(super) fn differences(&self, numbers: &[Vec<f64>]) -> Vec<f64> {
        let mut all = Vec::with_capacity(self.pairs.len() * self.width());
        for &(a, b) in &self.pairs {
            all.push(self.strength(&numbers[b]) - self.strength(&numbers[a]));
            all.extend(numbers[b].iter().zip(&numbers[a]).map(|(y, x)| y - x));
        }
        all
    }

    fn width(&self) -> usize {
        1 + self.trained.edges.len() + self.trained.biases.len()
    }

    /// The absolute differences of each pair, with the structure's in the second place; before them
    /// the largest of all pairs.
    pub(super) fn sizes(&self, differences: &[f64]) -> Vec<f64> {
        let width = self.width() + 1;
        let mut all = vec![0.0; width];
        for pair in differences.chunks(self.width()) {
            let couplings = &pair[1..=self.trained.edges.len()];
            let structure = couplings.iter().fold(0.0, |most: f64, d| most.max(d.abs()));
            all.extend([pair[0].abs(), structure]);
            all.extend(pair[1..].iter().map(|d| d.abs()));
        }
        let (largest, each) = all.split_at_mut(width);
        for pair in each.chunks(width) {
            largest.iter_mut().zip(pair).for_each(|(most, size)| *most = most.max(*size));
        }
        all
    }

    /// The tests of the largest differences of all pairs, and those of each pair.
    pub(super) fn tested(
        &self,
        differences: &[f64],
        p: &[f64],
        intervals: &[(f64, f64)],
    ) -> (Differences, Vec<Differences>) {
        let width = self.width();
        let pairs = self.pairs.iter().enumerate().map(|(k, &pair)| {
            let range = k * width..(k + 1) * width;
            let own = &p[(k + 1) * (width + 1)..(k + 2) * (width + 1)];
            let intervals = intervals.get(range.clone()).unwrap_or_default();
            let place = |_| (pair, 0);
            self.of(&[&differences[range]], own, &[intervals], &place)
        });
        let pairs: Vec<Differences> = pairs.collect();
        let all: Vec<&[f64]> = differences.chunks(width).collect();
        let all_intervals: Vec<&[(f64, f64)]> =
            if intervals.is_empty() { vec![&[]; all.len()] } else { intervals.chunks(width).collect() };
        let largest = |k: usize| {
            let size = |pair: &usize| all[*pair][k].abs();
            // The first of equals.
            let most = (0..all.len()).rev().max_by(|a, b| size(a).total_cmp(&size(b))).unwrap_or(0);
            (self.pairs[most], most)
        };
        (self.of(&all, &p[..=width], &all_intervals, &largest), pairs)
    }

    /// The tests of some pairs of groups: of each difference the one at the place given.
    fn of(
        &self,
        differences: &[&[f64]],
        p: &[f64],
        intervals: &[&[(f64, f64)]],
        place: &dyn Fn(usize) -> ((usize, usize), usize),
    ) -> Differences {
        let test = |k: usize, p: f64| {
            let (pair, at) = place(k);
            let interval = intervals[at].get(k).copied();
            Tested { difference: differences[at][k], pair, p, p_holm: p, p_bh: p, interval }
        };
        let couplings = self.trained.edges.len();
        let corrected = |from: usize, to: usize| {
            // Places of p are one further, behind the structure's.
            let p = &p[from + 1..=to];
            let (holm, bh) = (holm(p), benjamini_hochberg(p));
            (from..to)
                .map(|k| Tested { p_holm: holm[k - from], p_bh: bh[k - from], ..test(k, p[k - from]) })
                .collect::<Vec<_>>()
        };
        let edges = corrected(1, 1 + couplings);
        let largest = edges.iter().rev().max_by(|a, b| a.difference.abs().total_cmp(&b.difference.abs()));
        let (pair, difference) = largest.map_or((place(0).0, 0.0), |edge| (edge.pair, edge.difference.abs()));
        let structure = Tested { difference, pair, p: p[1], p_holm: p[1], p_bh: p[1], interval: None };
        Differences {
            strength: test(0, p[0]),
            structure,
            couplings: edges,
            biases: corrected(1 + couplings, self.width()),
        }
    }
}
