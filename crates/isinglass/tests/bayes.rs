//! Learner `bayes` against sums over all graphs, and against its own prior.

#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

use isinglass::learn::{Bayes, Checkpoint, Inclusion, Learner, NoObserver, Observer, Posterior, Slab, Step};
use isinglass::numeric::streams::{Purpose, stream};
use isinglass::prelude::*;
use isinglass::{Enumerate, Error, Result, topology};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_distr::{ChiSquared, Distribution, StandardNormal};
use std::ops::ControlFlow;

/// Which likelihood a reference uses.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Pseudo,
    Exact,
}

/// The posterior of machines with some of all pairs as couplings, by plain loops.
struct Reference<'a> {
    kind: Kind,
    units: usize,
    /// Rows and their weights; a cell of 0 is missing, and summed out.
    rows: Vec<(&'a [i8], f64)>,
    scale: f64,
}

fn pairs(units: usize) -> Vec<(usize, usize)> {
    (0..units).flat_map(|a| (a + 1..units).map(move |b| (a, b))).collect()
}

fn state(units: usize, number: usize) -> Vec<i8> {
    (0..units).map(|unit| if number >> unit & 1 == 1 { 1 } else { -1 }).collect()
}

impl Reference<'_> {
    fn exponent(&self, edges: &[(usize, usize)], x: &[f64], s: &[i8]) -> f64 {
        let of = |(k, &(a, b)): (usize, &(usize, usize))| x[self.units + k] * f64::from(s[a] * s[b]);
        let biases: f64 = (0..self.units).map(|unit| x[unit] * f64::from(s[unit])).sum();
        biases + edges.iter().enumerate().map(of).sum::<f64>()
    }

    /// The logarithm of likelihood times prior: biases, then the couplings of the edges.
    fn log_density(&self, edges: &[(usize, usize)], x: &[f64]) -> f64 {
        let n = self.units;
        let mut sum = 0.0;
        for bias in &x[..n] {
            sum -= (std::f64::consts::PI * bias.cosh()).ln();
        }
        for w in &x[n..] {
            sum -= (std::f64::consts::PI * self.scale * (1.0 + (w / self.scale).powi(2))).ln();
        }
        match self.kind {
            Kind::Pseudo => {
                for (row, weight) in &self.rows {
                    for unit in 0..n {
                        let mut field = x[unit];
                        for (k, &(a, b)) in edges.iter().enumerate() {
                            if a == unit {
                                field += x[n + k] * f64::from(row[b]);
                            } else if b == unit {
                                field += x[n + k] * f64::from(row[a]);
                            }
                        }
                        sum -= weight * (-2.0 * f64::from(row[unit]) * field).exp().ln_1p();
                    }
                }
            }
            Kind::Exact => {
                let all: Vec<Vec<i8>> = (0..1 << n).map(|number| state(n, number)).collect();
                let terms: Vec<f64> = all.iter().map(|s| self.exponent(edges, x, s).exp()).collect();
                let log_z = terms.iter().sum::<f64>().ln();
                for (row, weight) in &self.rows {
                    let fits = |s: &[i8]| row.iter().zip(s).all(|(&cell, &s)| cell == 0 || cell == s);
                    let own: f64 =
                        all.iter().zip(&terms).filter(|(s, _)| fits(s)).map(|(_, term)| term).sum();
                    sum += weight * (own.ln() - log_z);
                }
            }
        }
        sum
    }

    /// The logarithm of the integral over all parameters, and the mean of each, by importance
    /// sampling from Student's distribution at the mode.
    fn integral(&self, edges: &[(usize, usize)], random: &mut ChaCha8Rng, draws: usize) -> (f64, Vec<f64>) {
        let size = self.units + edges.len();
        let f = |x: &[f64]| self.log_density(edges, x);
        let mut mode = vec![0.0; size];
        let mut factor = Vec::new();
        for _ in 0..30 {
            let (gradient, hessian) = derivatives(&f, &mode);
            factor = cholesky(&hessian, size);
            let step = solve(&factor, &gradient);
            let largest = step.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
            let share = if largest > 1.0 { 1.0 / largest } else { 1.0 };
            mode.iter_mut().zip(&step).for_each(|(x, step)| *x += share * step);
            if largest < 1e-5 {
                break;
            }
        }
        // Student's distribution with so many degrees of freedom.
        let freedom = 6.0;
        let log_determinant: f64 = (0..size).map(|k| factor[k * size + k].ln()).sum();
        let gamma = |half: f64| ln_gamma(half);
        let d = size as f64;
        let constant = gamma(0.5 * (freedom + d))
            - gamma(0.5 * freedom)
            - 0.5 * d * (freedom * std::f64::consts::PI).ln()
            + log_determinant;
        let (mut logs, mut points) = (Vec::new(), Vec::new());
        for _ in 0..draws {
            let normal: Vec<f64> = (0..size).map(|_| StandardNormal.sample(random)).collect();
            let mut direction = normal.clone();
            // Lᵀ x = z.
            for k in (0..size).rev() {
                for j in k + 1..size {
                    direction[k] -= factor[j * size + k] * direction[j];
                }
                direction[k] /= factor[k * size + k];
            }
            let chi: f64 = ChiSquared::new(freedom).unwrap().sample(random);
            let stretch = (freedom / chi).sqrt();
            let x: Vec<f64> = mode.iter().zip(&direction).map(|(m, d)| m + stretch * d).collect();
            let square: f64 = normal.iter().map(|z| z * z).sum::<f64>() * stretch * stretch;
            let density = constant - 0.5 * (freedom + d) * (square / freedom).ln_1p();
            logs.push(f(&x) - density);
            points.push(x);
        }
        let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let shares: Vec<f64> = logs.iter().map(|log| (log - top).exp()).collect();
        let whole: f64 = shares.iter().sum();
        let mean = |k: usize| points.iter().zip(&shares).map(|(x, share)| x[k] * share).sum::<f64>() / whole;
        (top + (whole / draws as f64).ln(), (0..size).map(mean).collect())
    }

    /// Inclusion probabilities and means of couplings, by the sum over all graphs.
    fn sums(&self, inclusion: impl Fn(usize) -> f64, draws: usize) -> (Vec<f64>, Vec<f64>) {
        let pairs = pairs(self.units);
        let mut found = Vec::new();
        for graph in 0..1usize << pairs.len() {
            let edges: Vec<(usize, usize)> =
                (0..pairs.len()).filter(|k| graph >> k & 1 == 1).map(|k| pairs[k]).collect();
            let mut random = stream(5, Purpose::Draws, graph as u64);
            let (log, means) = self.integral(&edges, &mut random, draws);
            found.push((graph, log + inclusion(edges.len()), means));
        }
        let top = found.iter().map(|x| x.1).fold(f64::NEG_INFINITY, f64::max);
        let whole: f64 = found.iter().map(|x| (x.1 - top).exp()).sum();
        let (mut included, mut means) = (vec![0.0; pairs.len()], vec![0.0; pairs.len()]);
        for (graph, log, values) in found {
            let share = (log - top).exp() / whole;
            let edges = (0..pairs.len()).filter(|k| graph >> k & 1 == 1);
            for (place, k) in edges.enumerate() {
                included[k] += share;
                means[k] += share * values[self.units + place];
            }
        }
        (included, means)
    }
}

/// Gradient and minus the Hessian by finite differences.
fn derivatives(f: &dyn Fn(&[f64]) -> f64, x: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let (size, h) = (x.len(), 1e-4);
    let at = |moves: &[(usize, f64)]| {
        let mut there = x.to_vec();
        for &(k, by) in moves {
            there[k] += by;
        }
        f(&there)
    };
    let here = f(x);
    let mut gradient = vec![0.0; size];
    let mut hessian = vec![0.0; size * size];
    for k in 0..size {
        let (up, down) = (at(&[(k, h)]), at(&[(k, -h)]));
        gradient[k] = (up - down) / (2.0 * h);
        hessian[k * size + k] = (2.0 * here - up - down) / (h * h);
        for j in 0..k {
            let cross = at(&[(k, h), (j, h)]) + at(&[(k, -h), (j, -h)])
                - at(&[(k, h), (j, -h)])
                - at(&[(k, -h), (j, h)]);
            hessian[k * size + j] = -cross / (4.0 * h * h);
            hessian[j * size + k] = hessian[k * size + j];
        }
    }
    (gradient, hessian)
}

/// The lower factor, of a matrix made positive where it is not.
fn cholesky(matrix: &[f64], size: usize) -> Vec<f64> {
    let mut lower = vec![0.0; size * size];
    for k in 0..size {
        for j in 0..=k {
            let inner: f64 = (0..j).map(|i| lower[k * size + i] * lower[j * size + i]).sum();
            let rest = matrix[k * size + j] - inner;
            lower[k * size + j] = if j == k { rest.max(1e-2).sqrt() } else { rest / lower[j * size + j] };
        }
    }
    lower
}

fn solve(lower: &[f64], right: &[f64]) -> Vec<f64> {
    let size = right.len();
    let mut x = right.to_vec();
    for k in 0..size {
        for j in 0..k {
            x[k] -= lower[k * size + j] * x[j];
        }
        x[k] /= lower[k * size + k];
    }
    for k in (0..size).rev() {
        for j in k + 1..size {
            x[k] -= lower[j * size + k] * x[j];
        }
        x[k] /= lower[k * size + k];
    }
    x
}

/// ln Γ for whole and half numbers.
fn ln_gamma(x: f64) -> f64 {
    if x > 1.0 {
        return (x - 1.0).ln() + ln_gamma(x - 1.0);
    }
    if x == 1.0 { 0.0 } else { 0.5 * std::f64::consts::PI.ln() }
}

/// Rows of a machine with some strong, some weak and some absent couplings.
fn rows_of(units: usize, rows: usize, seed: u64) -> (Machine, Table) {
    let mut random = stream(seed, Purpose::Weights, 0);
    let machine = topology::full(units);
    let strength = |_| if random.random::<f64>() < 0.5 { 0.0 } else { 0.5 * (random.random::<f64>() - 0.3) };
    let weights: Vec<f64> = (0..machine.weights().len()).map(strength).collect();
    let biases = (0..units).map(|unit| 0.3 - 0.15 * unit as f64).collect();
    let truth = machine.with_parameters(weights, biases).unwrap();
    let drawn = Enumerate::default().draw(&truth, &Evidence::none(units), rows, seed).unwrap();
    let table = Table::from_rows(truth.names(), drawn.cells.chunks(units)).unwrap();
    (truth, table)
}

fn distinct(table: &Table) -> Vec<(&[i8], f64)> {
    (0..table.distinct_count()).map(|row| (table.row(row), table.weight(row))).collect()
}

fn compare(found: &Posterior, inclusion: &[f64], means: &[f64], tolerance: f64) {
    assert!(found.fit.converged, "{}", found.fit.stopped);
    for (found, (inclusion, mean)) in found.couplings.iter().zip(inclusion.iter().zip(means)) {
        let pair = found.units;
        let off = found.inclusion - inclusion;
        assert!(off.abs() < tolerance, "{pair:?}: included with {} instead of {inclusion}", found.inclusion);
        let off = found.weight.mean - mean;
        assert!(off.abs() < tolerance, "{pair:?}: mean {} instead of {mean}", found.weight.mean);
    }
}

#[test]
fn inclusion_probabilities_are_those_of_the_sum_over_all_1024_graphs() {
    let (truth, table) = rows_of(5, 150, 3);
    let reference = Reference { kind: Kind::Pseudo, units: 5, rows: distinct(&table), scale: 0.625 };
    let (inclusion, means) = reference.sums(|_| 0.0, 400);
    assert!(inclusion.iter().any(|p| *p > 0.9) && inclusion.iter().any(|p| *p < 0.3), "{inclusion:?}");
    let found = Bayes::new().samples(10_000).run(&truth, &table, None, &mut NoObserver).unwrap();
    compare(&found, &inclusion, &means, 0.01);
}

#[test]
fn an_exact_engine_gives_the_posterior_of_the_likelihood() {
    let (truth, table) = rows_of(4, 80, 8);
    let reference = Reference { kind: Kind::Exact, units: 4, rows: distinct(&table), scale: 0.625 };
    // Every number of couplings is equally probable, and so is every graph with that number.
    let graphs = [1.0f64, 6.0, 15.0, 20.0, 15.0, 6.0, 1.0];
    let (inclusion, means) = reference.sums(|edges| -graphs[edges].ln(), 2000);
    let engine = Enumerate::default();
    let learner = Bayes::new().with_engine(&engine).samples(10_000).inclusion(Inclusion::Uniform);
    let found = learner.run(&truth, &table, None, &mut NoObserver).unwrap();
    compare(&found, &inclusion, &means, 0.012);
    assert_eq!(found.engine, Some("enumerate"));
}

/// Missing cells are drawn: the posterior is that of the likelihood with the cells summed out.
#[test]
fn missing_cells_are_summed_out() {
    let (truth, whole) = rows_of(3, 60, 1);
    let mut table = Table::new(whole.columns().iter().cloned()).unwrap();
    let mut random = stream(2, Purpose::Draws, 0);
    for &row in whole.distinct_of() {
        let hide = |&cell: &i8| if random.random::<f64>() < 0.3 { 0 } else { cell };
        table.push(&whole.row(row as usize).iter().map(hide).collect::<Vec<_>>(), 1.0).unwrap();
    }
    assert!(table.missing_count() > 30);
    let reference = Reference { kind: Kind::Exact, units: 3, rows: distinct(&table), scale: 0.625 };
    let (inclusion, means) = reference.sums(|_| 0.0, 5000);
    let engine = Enumerate::default();
    let learner = Bayes::new().with_engine(&engine).samples(20_000);
    let found = learner.run(&truth, &table, None, &mut NoObserver).unwrap();
    compare(&found, &inclusion, &means, 0.012);
}

/// Machines drawn from the prior, and rows from them: intervals must cover, and of couplings that
/// are included with probability p a share p must be there (Cook, Gelman and Rubin 2006).
#[test]
fn posteriors_of_machines_from_the_prior_are_calibrated() {
    const MACHINES: u64 = 150;
    let engine = Enumerate::default();
    let learner = Bayes::new().with_engine(&engine).slab(Slab::Normal).scale(0.5).samples(500).burn_in(100);
    let (mut covered, mut there, mut expected, mut variance, mut count) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for number in 0..MACHINES {
        let mut random = stream(77, Purpose::Weights, number);
        let draw = |_| {
            let z: f64 = StandardNormal.sample(&mut random);
            if random.random::<f64>() < 0.5 { 0.5 * z } else { 0.0 }
        };
        let weights: Vec<f64> = (0..6).map(draw).collect();
        // Of the hyperbolic secant the distribution function is (2/π) arctan e^x.
        let biases: Vec<f64> =
            (0..4).map(|_| (std::f64::consts::FRAC_PI_2 * random.random::<f64>()).tan().ln()).collect();
        let truth = topology::full(4).with_parameters(weights, biases).unwrap();
        let drawn = engine.draw(&truth, &Evidence::none(4), 60, number).unwrap();
        let table = Table::from_rows(truth.names(), drawn.cells.chunks(4)).unwrap();
        let found = learner.seed(number).run(&truth, &table, None, &mut NoObserver).unwrap();
        for (found, &w) in found.couplings.iter().zip(truth.weights()) {
            covered += f64::from(u8::from(found.weight.low <= w && w <= found.weight.high));
            there += f64::from(u8::from(w != 0.0));
            expected += found.inclusion;
            variance += found.inclusion * (1.0 - found.inclusion);
            count += 1.0;
        }
    }
    // Intervals with 0 in them cover more than 95 %, as 0 has a probability of its own.
    assert!(covered / count > 0.94, "{} of {count}", covered / count);
    let off: f64 = (there - expected) / f64::sqrt(variance);
    assert!(off.abs() < 3.5, "{there} of {count} couplings are there, {expected:.1} were expected");
}

#[test]
fn couplings_follow_relabelled_and_flipped_units() {
    let (truth, table) = rows_of(4, 200, 5);
    // Unit 0 mirrored, units in reverse order.
    let mut other = Table::new(table.columns().iter().rev().cloned()).unwrap();
    for row in 0..table.distinct_count() {
        let cells: Vec<i8> =
            table.row(row).iter().enumerate().map(|(k, &s)| if k == 0 { -s } else { s }).rev().collect();
        other.push(&cells, table.weight(row)).unwrap();
    }
    let learner = Bayes::new().samples(6000);
    let mirrored = topology::full(4).with_names(truth.names().iter().rev().cloned()).unwrap();
    let here = learner.run(&truth, &table, None, &mut NoObserver).unwrap();
    let there = learner.seed(1).run(&mirrored, &other, None, &mut NoObserver).unwrap();
    for found in &here.couplings {
        let (a, b) = found.units;
        let other = there.couplings.iter().find(|x| x.units == (3 - b, 3 - a)).unwrap();
        let sign = if a == 0 { -1.0 } else { 1.0 };
        assert!((found.inclusion - other.inclusion).abs() < 0.03);
        assert!((found.weight.mean - sign * other.weight.mean).abs() < 0.02);
    }
}

/// Keeps the checkpoint after some sweeps, and may stop there.
struct Keeper {
    at: usize,
    stops: bool,
    kept: Option<Checkpoint>,
}

impl Observer for Keeper {
    fn step(&mut self, step: &Step, _: &Machine) -> Result<ControlFlow<()>> {
        let is_there = self.stops && step.iteration >= self.at;
        Ok(if is_there { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }

    fn checkpoint(&mut self, step: &Step, take: &dyn Fn() -> Result<Checkpoint>) -> Result<()> {
        if step.iteration == self.at {
            self.kept = Some(take()?);
        }
        Ok(())
    }
}

#[test]
fn a_resumed_posterior_has_the_same_bits_on_any_number_of_threads() {
    let (truth, whole) = rows_of(4, 40, 2);
    let mut table = whole.clone();
    table.push(&[1, 0, -1, 1], 2.0).unwrap();
    for table in [&whole, &table] {
        let learner = Bayes::new().samples(60).burn_in(30);
        for at in [20, 70] {
            let mut keeper = Keeper { at, stops: true, kept: None };
            let stopped = learner.run(&truth, table, None, &mut keeper).unwrap();
            assert!(!stopped.fit.converged);
            let run = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| learner.run(&truth, table, keeper.kept.as_ref(), &mut NoObserver).unwrap())
            };
            let straight = learner.run(&truth, table, None, &mut NoObserver).unwrap();
            assert_eq!(run(1), straight);
            assert_eq!(run(3), straight);
            // More samples continue the same chains.
            let longer =
                learner.samples(80).run(&truth, table, keeper.kept.as_ref(), &mut NoObserver).unwrap();
            assert_eq!(longer, learner.samples(80).run(&truth, table, None, &mut NoObserver).unwrap());
        }
        let other = learner.scale(0.5).run(&truth, table, None, &mut NoObserver).unwrap();
        assert_ne!(other, learner.run(&truth, table, None, &mut NoObserver).unwrap());
    }
}

#[test]
fn temperature_scales_the_machine_and_a_cutoff_thins_it() {
    let (truth, table) = rows_of(4, 100, 4);
    let learner = Bayes::new().samples(400);
    let cool = truth.clone().with_temperature(0.5).unwrap();
    let (one, half) = (learner.fit(&truth, &table).unwrap(), learner.fit(&cool, &table).unwrap());
    for (w, v) in one.machine.weights().iter().zip(half.machine.weights()) {
        assert!((0.5 * w - v).abs() < 1e-12);
    }
    let found = learner.run(&truth, &table, None, &mut NoObserver).unwrap();
    let median = learner.cutoff(0.5).fit(&truth, &table).unwrap().machine;
    let kept: Vec<_> =
        found.couplings.iter().filter(|found| found.inclusion >= 0.5).map(|found| found.units).collect();
    assert_eq!(median.graph().edges(), kept);
    assert!(!kept.is_empty() && kept.len() < 6);
}

#[test]
fn what_it_cannot_do_is_refused() {
    let (truth, table) = rows_of(3, 20, 1);
    let message = |learner: &Bayes<'_>, machine: &Machine, table: &Table| {
        learner.fit(machine, table).unwrap_err().to_string()
    };
    let hidden = topology::rbm(3, 1).unwrap();
    let named = Table::from_rows(["v0", "v1", "v2"], [[1, 1, -1]]).unwrap();
    assert!(message(&Bayes::new(), &hidden, &named).contains("hidden units"));
    let gibbs = isinglass::Gibbs::new();
    assert!(message(&Bayes::new().with_engine(&gibbs), &truth, &table).contains("exact moments"));
    let roles = vec![Role::Input, Role::Visible, Role::Visible];
    let inputs = truth.clone().with_roles(roles).unwrap();
    let engine = Enumerate::default();
    assert!(message(&Bayes::new().with_engine(&engine), &inputs, &table).contains("input units"));
    let mut gaps = table.clone();
    gaps.push(&[0, 1, 1], 1.0).unwrap();
    assert!(
        message(&Bayes::new(), &inputs, &gaps).contains("'x0'"),
        "{}",
        message(&Bayes::new(), &inputs, &gaps)
    );
    assert!(matches!(Bayes::new().scale(0.0).fit(&truth, &table), Err(Error::Setting { .. })));
    assert!(matches!(
        Bayes::new().inclusion(Inclusion::Probability(1.5)).fit(&truth, &table),
        Err(Error::Setting { .. })
    ));
    let small = Bayes::new().budget("1KiB".parse().unwrap()).fit(&truth, &table);
    assert!(matches!(small, Err(Error::OverBudget { .. })));
    assert!(Bayes::new().fit(&inputs, &table).is_ok(), "pseudo-likelihood is conditional on inputs");
}
