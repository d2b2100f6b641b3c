//! The bound as a function of the split of the parameters among subgraphs.
//!
//! Subgraph k has the share `ρ_k` and parameters `θ_k` for its edges and units, with
//! `Σ_k ρ_k θ_k = θ`; the bound is `B = Σ_k ρ_k ln Z_k(θ_k)`. The variables `x_k` are
//! unconstrained: their violation of the constraint is distributed over the subgraphs that hold the
//! parameter,
//!
//! ```text
//! θ_k = x_k + (θ − Σ_l ρ_l x_l) / Σ_l ρ_l        over subgraphs l with the parameter
//! ```
//!
//! so that `∂B/∂x_k = ρ_k (μ_k − μ)` with `μ_k` the moments in subgraph k and μ their average. A
//! tenth of the shares is equal, the rest proportional to `exp(a_k)`; `∂B/∂ρ_k = ln Z_k − μ·θ_k`,
//! which is the entropy of subgraph k where the moments agree (Wainwright, Jaakkola & Willsky
//! 2005). In `ρ_k` and `ρ_k θ_k` together the bound is convex.
//!
//! The last member may be a Gaussian (`gaussian`), whose own variables come last.

use std::ops::Range;

use rayon::prelude::*;

use super::descent::MEMORY;
use super::gaussian::{Gaussian, Running};
use super::subgraphs::Grown;
use crate::engine::exact::{Compiled, Run};
use crate::{Error, Graph, Result};

/// From this cost of an evaluation on, in nanoseconds, several threads are used.
const PARALLEL: f64 = 200_000.0;

/// The cost of a sum of two terms, forward and backward, in about nanoseconds.
const SUM_COST: f64 = 60.0;

/// The part of the shares that is equal: no subgraph vanishes, with edges that it alone holds.
const EQUAL: f64 = 0.1;

/// The same beside a Gaussian, which holds all edges; and its share at the start, in that of all
/// subgraphs together: where it is any good, it is much better.
const EQUAL_BESIDE: f64 = 1e-6;
const GAUSSIAN: f64 = 9.0;

/// The least variance of a moment in the preconditioner,
const LEAST_VARIANCE: f64 = 0.1;

/// and the least varying part of a share, relative to an equal one.
const LEAST_CURVATURE: f64 = 1e-3;

/// A part of the split.
pub(super) struct Member {
    kind: Kind,
    /// Its range of the variables: its edges, then all units if any has a bias.
    numbers: Range<usize>,
    edges: usize,
}

enum Kind {
    /// A subgraph.
    Network(Box<Compiled>),
    Gaussian(Gaussian),
}

/// A member in use.
enum Working<'a> {
    Network(Box<Run<'a>>),
    Gaussian(Running<'a>),
}

/// The subgraphs, and the parameter that each of their variables is a part of.
pub(super) struct Split {
    members: Vec<Member>,
    /// The parameter of each variable: an edge, or after all edges a unit.
    parameter: Vec<u32>,
    parameters: usize,
    cost: f64,
    /// The part of the shares that is equal.
    equal: f64,
}

impl Split {
    /// Compiles the subgraphs of a graph.
    ///
    /// *Arguments*: whether each unit may have a bias; the largest treewidth.
    pub(super) fn new(graph: &Graph, biased: &[bool], width: usize, chosen: &[Grown]) -> Result<Self> {
        let all_edges = graph.edges().len();
        let units = if biased.contains(&true) { graph.unit_count() } else { 0 };
        let mut cost = 0.0;
        let mut parameter = Vec::new();
        let mut members = Vec::with_capacity(chosen.len());
        for grown in chosen {
            let start = parameter.len();
            parameter.extend(grown.edges.iter().map(|&edge| edge as u32));
            parameter.extend(all_edges as u32..(all_edges + units) as u32);
            let network = grown.compiled(graph, biased, width)?;
            cost += network.work() * SUM_COST;
            let kind = Kind::Network(Box::new(network));
            members.push(Member { kind, numbers: start..parameter.len(), edges: grown.edges.len() });
        }
        Ok(Self { members, parameter, parameters: all_edges + units, cost, equal: EQUAL })
    }

    /// With a Gaussian as the last member.
    #[must_use]
    pub(super) fn with_gaussian(mut self, graph: &Graph) -> Self {
        let kind = Kind::Gaussian(Gaussian::new(graph, self.has_fields()));
        self.equal = EQUAL_BESIDE;
        let start = self.parameter.len();
        self.parameter.extend(0..self.parameters as u32);
        self.members.push(Member { kind, numbers: start..self.parameter.len(), edges: graph.edges().len() });
        self
    }

    /// The number of variables of the Gaussian alone.
    fn own_variables(&self) -> usize {
        self.members.iter().map(Member::own_variables).sum()
    }

    pub(super) fn subgraphs(&self) -> usize {
        self.members.len()
    }

    /// Returns whether units have variables: some unit has a bias.
    pub(super) fn has_fields(&self) -> bool {
        self.members.iter().any(|member| member.numbers.len() > member.edges)
    }

    /// Returns the bytes of networks and search for some number of subgraphs of a width.
    pub(super) fn bytes(units: usize, edges: usize, width: usize, subgraphs: usize) -> u128 {
        /// Vectors of all variables: curvature pairs, points with their slopes, parts and moments.
        const VECTORS: u128 = 2 * MEMORY as u128 + 12;
        let numbers = (edges.min(units * width) + units) as u128;
        let parameters = (units + edges) as u128;
        subgraphs as u128 * (Compiled::most_bytes(units, width) + (8 * VECTORS + 4) * numbers)
            + 8 * 6 * parameters
    }
}

impl Member {
    fn own_variables(&self) -> usize {
        match &self.kind {
            Kind::Network(_) => 0,
            Kind::Gaussian(gaussian) => gaussian.variables(),
        }
    }

    fn work(&self) -> Working<'_> {
        match &self.kind {
            Kind::Network(network) => Working::Network(Box::new(network.run())),
            Kind::Gaussian(gaussian) => Working::Gaussian(gaussian.run()),
        }
    }
}

impl Grown {
    /// Compiles the network of the subgraph.
    pub(super) fn compiled(&self, graph: &Graph, biased: &[bool], width: usize) -> Result<Compiled> {
        let pairs = self.edges.iter().map(|&edge| graph.edges()[edge]).collect();
        let subgraph = Graph::from_sorted(graph.unit_count(), pairs)?;
        let network = Compiled::new(&subgraph, biased, &self.order, width);
        network.ok_or_else(|| Error::Numerical {
            method: super::Trw::NAME,
            problem: format!("a subgraph is wider than {width}"),
        })
    }
}

/// The bound of a row as a function of the split; reused for several rows.
pub(super) struct Bound<'a> {
    split: &'a Split,
    /// Weights of the edges and fields on the units, divided by T.
    parameters: Vec<f64>,
    members: Vec<Working<'a>>,
    /// The variables of the Gaussian alone, and the derivatives by them.
    own: Vec<f64>,
    own_slopes: Vec<f64>,
    /// Whether the Gaussian's bound is to hold in spite of rounding.
    is_rigorous: bool,
    /// What was wrong with the Gaussian, if anything.
    failure: Option<Error>,
    /// The share of each subgraph, and its varying part.
    shares: Vec<f64>,
    moved: Vec<f64>,
    log_z: Vec<f64>,
    /// `θ_k` of all subgraphs, and their moments.
    parts: Vec<f64>,
    moments: Vec<f64>,
    /// Sums over subgraphs for each parameter: of shares, of parts, of moments.
    cover: Vec<f64>,
    sums: Vec<f64>,
    means: Vec<f64>,
    /// The spread of the subgraphs' entropies at the start.
    spread: f64,
}

/// The bound of a split and its moments.
pub(super) struct Bounded {
    pub(super) value: f64,
    /// The average moment of each parameter: edges, then units.
    pub(super) moments: Vec<f64>,
    pub(super) shares: Vec<f64>,
    /// The parameters of all subgraphs: the edges of each, then all units.
    pub(super) parts: Vec<f64>,
}

impl<'a> Bound<'a> {
    pub(super) fn new(split: &'a Split) -> Self {
        let numbers = || vec![0.0; split.parameter.len()];
        let sums = || vec![0.0; split.parameters];
        Self {
            split,
            parameters: Vec::new(),
            members: split.members.iter().map(Member::work).collect(),
            own: vec![0.0; split.own_variables()],
            own_slopes: vec![0.0; split.own_variables()],
            is_rigorous: false,
            failure: None,
            shares: vec![0.0; split.subgraphs()],
            moved: vec![0.0; split.subgraphs()],
            log_z: vec![0.0; split.subgraphs()],
            parts: numbers(),
            moments: numbers(),
            cover: sums(),
            sums: sums(),
            means: sums(),
            spread: 0.0,
        }
    }

    /// Sets the weights of all edges and the fields on all units, if any has a bias.
    pub(super) fn load(&mut self, weights: &[f64], fields: impl Iterator<Item = f64>) {
        self.parameters.clear();
        self.parameters.extend_from_slice(weights);
        self.parameters.extend(fields);
        self.parameters.truncate(self.split.parameters);
    }

    /// Returns the initial split: equal shares of everything.
    ///
    /// # Errors
    /// Couplings without eigenvalues.
    pub(super) fn start(&mut self) -> Result<Vec<f64>> {
        self.spread = 0.0;
        let mut start = vec![0.0; self.split.parameter.len() + self.split.subgraphs()];
        for member in &mut self.members {
            if let Working::Gaussian(running) = member {
                if let Some(logit) = start.last_mut() {
                    *logit = (GAUSSIAN * (self.split.subgraphs() - 1) as f64).ln();
                }
                start.extend(running.start(&self.parameters)?);
            }
        }
        Ok(start)
    }

    /// Computes the bound of a split, with moments; rounding is accounted for.
    ///
    /// # Errors
    /// Couplings without eigenvalues.
    pub(super) fn at(&mut self, x: &[f64]) -> Result<Bounded> {
        self.is_rigorous = true;
        let value = self.evaluate(x);
        self.is_rigorous = false;
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        let Self { means, shares, parts, .. } = self;
        // Before its optimum a Gaussian's moments may be beyond ±1; others are by rounding.
        let moments = means.iter().map(|mean| mean.clamp(-1.0, 1.0)).collect();
        Ok(Bounded { value, moments, shares: shares.clone(), parts: parts.clone() })
    }

    /// Returns the bound times the number K of subgraphs and computes its slopes: differences of
    /// moments where shares are equal.
    pub(super) fn value_and_slopes(&mut self, x: &[f64], slopes: &mut [f64]) -> f64 {
        let value = self.evaluate(x);
        let split = self.split;
        let count = split.subgraphs() as f64;
        let (by_numbers, rest) = slopes.split_at_mut(split.parameter.len());
        let (by_shares, by_own) = rest.split_at_mut(split.subgraphs());
        let mut average = 0.0;
        for (k, (member, share)) in split.members.iter().zip(&self.shares).enumerate() {
            let numbers = member.numbers.clone();
            let slopes = by_numbers[numbers.clone()].iter_mut().zip(&split.parameter[numbers.clone()]);
            let own = self.moments[numbers.clone()].iter().zip(&self.parts[numbers]);
            let mut entropy = self.log_z[k];
            for ((slope, &p), (moment, part)) in slopes.zip(own) {
                let mean = self.means[p as usize];
                *slope = count * share * (moment - mean);
                entropy -= mean * part;
            }
            by_shares[k] = entropy;
            average += self.moved[k] * entropy / (1.0 - split.equal);
        }
        if self.spread == 0.0 {
            let apart = by_shares.iter().map(|entropy| (entropy - average).abs());
            self.spread = apart.fold(1.0, f64::max);
        }
        for (slope, moved) in by_shares.iter_mut().zip(&self.moved) {
            *slope = count * moved * (*slope - average);
        }
        // The Gaussian is the last member.
        let share = self.shares.last().copied().unwrap_or(0.0);
        for (slope, own) in by_own.iter_mut().zip(&self.own_slopes) {
            *slope = count * share * own;
        }
        count * value
    }

    /// Estimates the inverse second derivative by each variable, at the last evaluation.
    pub(super) fn inverse_curvatures(&self, scales: &mut [f64]) {
        let split = self.split;
        let count = split.subgraphs() as f64;
        let (by_numbers, rest) = scales.split_at_mut(split.parameter.len());
        let (by_shares, by_own) = rest.split_at_mut(split.subgraphs());
        for (member, &share) in split.members.iter().zip(&self.shares) {
            let numbers = member.numbers.clone();
            for (scale, moment) in by_numbers[numbers.clone()].iter_mut().zip(&self.moments[numbers]) {
                *scale = 1.0 / (count * share * (1.0 - moment * moment).max(LEAST_VARIANCE));
            }
        }
        for (scale, &moved) in by_shares.iter_mut().zip(&self.moved) {
            *scale = 1.0 / ((count * moved).max(LEAST_CURVATURE) * self.spread);
        }
        // Without couplings the second derivative by a multiplier λ is 1/(2 λ²); shapes matter about
        // as much as multipliers of 1.
        let (by_multiplier, by_shape) = by_own.split_at_mut(self.own.len() / 2);
        let share = count * self.shares.last().copied().unwrap_or(1.0);
        for (scale, multiplier) in by_multiplier.iter_mut().zip(&self.own) {
            *scale = 2.0 * multiplier.powi(2).max(LEAST_VARIANCE) / share;
        }
        by_shape.fill(2.0 / share);
    }

    /// Computes the bound of a split.
    fn evaluate(&mut self, x: &[f64]) -> f64 {
        let split = self.split;
        let (x, rest) = x.split_at(split.parameter.len());
        let (logits, own) = rest.split_at(split.subgraphs());
        self.own.copy_from_slice(own);
        self.share(logits);
        self.part(x);
        self.solve();
        self.means.fill(0.0);
        self.sums.fill(0.0);
        for (member, share) in split.members.iter().zip(&self.shares) {
            let numbers = member.numbers.clone();
            let held = split.parameter[numbers.clone()].iter();
            for ((&p, moment), part) in held.zip(&self.moments[numbers.clone()]).zip(&self.parts[numbers]) {
                self.means[p as usize] += share * moment;
                self.sums[p as usize] += share * part;
            }
        }
        for (mean, cover) in self.means.iter_mut().zip(&self.cover) {
            *mean /= cover;
        }
        // A parameter's rounding error changes log Z by no more than itself: the bound includes it.
        let lost: f64 = self.sums.iter().zip(&self.parameters).map(|(sum, whole)| (sum - whole).abs()).sum();
        self.log_z.iter().zip(&self.shares).map(|(log_z, share)| share * log_z).sum::<f64>() + lost
    }

    fn share(&mut self, logits: &[f64]) {
        let top = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        for (share, a) in self.shares.iter_mut().zip(logits) {
            *share = (a - top).exp();
        }
        let total: f64 = self.shares.iter().sum();
        let equal = self.split.equal;
        let least = equal / self.shares.len() as f64;
        for (share, moved) in self.shares.iter_mut().zip(&mut self.moved) {
            *moved = (1.0 - equal) * *share / total;
            *share = least + *moved;
        }
    }

    /// Computes the parameters of each subgraph.
    fn part(&mut self, x: &[f64]) {
        let split = self.split;
        self.cover.fill(0.0);
        self.sums.fill(0.0);
        for (member, share) in split.members.iter().zip(&self.shares) {
            let numbers = member.numbers.clone();
            for (&p, x) in split.parameter[numbers.clone()].iter().zip(&x[numbers]) {
                self.cover[p as usize] += share;
                self.sums[p as usize] += share * x;
            }
        }
        for ((sum, cover), whole) in self.sums.iter_mut().zip(&self.cover).zip(&self.parameters) {
            *sum = (whole - *sum) / cover;
        }
        for ((part, &p), x) in self.parts.iter_mut().zip(&split.parameter).zip(x) {
            *part = self.sums[p as usize] + x;
        }
    }

    /// Computes log Z and the moments of each member.
    fn solve(&mut self) {
        let Self { split, members, parts, moments, log_z, own, own_slopes, is_rigorous, failure, .. } = self;
        let mut tasks = Vec::with_capacity(members.len());
        let mut rest: &mut [f64] = moments;
        for ((member, working), log_z) in split.members.iter().zip(members).zip(log_z) {
            let moments;
            (moments, rest) = rest.split_at_mut(member.numbers.len());
            let part = &parts[member.numbers.clone()];
            match working {
                Working::Network(run) => {
                    tasks.push((run, part.split_at(member.edges), moments.split_at_mut(member.edges), log_z));
                }
                Working::Gaussian(running) => {
                    let bound = running.solve(part, own, moments).and_then(|bound| {
                        own_slopes.copy_from_slice(&running.slopes);
                        if *is_rigorous { running.rigorous(part, own) } else { Ok(bound) }
                    });
                    // A step that is too long has no value.
                    *log_z = bound.unwrap_or_else(|error| {
                        *failure = Some(error);
                        f64::NAN
                    });
                }
            }
        }
        if split.cost > PARALLEL {
            tasks.into_par_iter().for_each(|(run, part, moments, log_z)| *log_z = run.solve(part, moments));
        } else {
            for (run, part, moments, log_z) in tasks {
                *log_z = run.solve(part, moments);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::subgraphs::choose;
    use super::*;

    #[test]
    fn the_gradient_is_that_of_the_bound() {
        let graph = Graph::full(7);
        let weights: Vec<f64> = (0..21).map(|k| f64::from(k * 13 % 21) / 10.0 - 1.0).collect();
        let fields: Vec<f64> = (0..7).map(|k| 0.3 * f64::from(k) - 0.8).collect();
        for width in 1..=3 {
            let chosen = choose(&graph, width, &weights.iter().map(|w| w.abs()).collect::<Vec<_>>(), 5, 1);
            let split = Split::new(&graph, &[true; 7], width, &chosen).unwrap();
            let split = if width == 2 { split.with_gaussian(&graph) } else { split };
            let mut bound = Bound::new(&split);
            bound.load(&weights, fields.iter().copied());
            let mut x = bound.start().unwrap();
            for (k, x) in x.iter_mut().enumerate() {
                *x += (k as f64 * 0.7).sin() * 0.4;
            }
            let mut gradient = vec![0.0; x.len()];
            bound.value_and_slopes(&x, &mut gradient);
            for k in 0..x.len() {
                let mut at = |step: f64| {
                    let mut moved = x.clone();
                    moved[k] += step;
                    split.subgraphs() as f64 * bound.at(&moved).unwrap().value
                };
                let slope = (at(1e-4) - at(-1e-4)) / 2e-4;
                let close = 1e-7 * slope.abs().max(1.0);
                assert!((slope - gradient[k]).abs() < close, "{width} {k}: {slope} {}", gradient[k]);
            }
        }
    }

    #[test]
    fn the_parts_add_up_to_the_whole() {
        let graph = Graph::full(6);
        let weights: Vec<f64> = (0..15).map(|k| f64::from(k) / 7.0 - 1.0).collect();
        let chosen = choose(&graph, 2, &[1.0; 15], 4, 0);
        let split = Split::new(&graph, &[true; 6], 2, &chosen).unwrap();
        let mut bound = Bound::new(&split);
        bound.load(&weights, [0.5; 6].into_iter());
        let x: Vec<f64> = (0..bound.start().unwrap().len()).map(|k| (k as f64).cos()).collect();
        let Bounded { shares, parts, .. } = bound.at(&x).unwrap();
        let mut sums = [0.0; 21];
        for (member, share) in split.members.iter().zip(shares) {
            for k in member.numbers.clone() {
                sums[split.parameter[k] as usize] += share * parts[k];
            }
        }
        for (sum, whole) in sums.iter().zip(weights.iter().chain(&[0.5; 6])) {
            assert!((sum - whole).abs() < 1e-14);
        }
    }
}
