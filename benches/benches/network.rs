//! The adjoint network: log Z and all edge moments of large decimatable machines and of grids, and
//! a gradient with missing cells.
//!
//! A first call searches for an order, compiles and evaluates; a repeated call reuses the network.
#![allow(missing_docs, reason = "the macros of the framework make public items")]

use std::cell::LazyCell;
use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{
    BatchSize, BenchmarkGroup, BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group,
    criterion_main,
};
use isinglass::learn::{InformationGain, Objective};
use isinglass::likelihood::Phases;
use isinglass::{
    Ask, Batch, Decimate, Eliminate, Engine, Evidence, Graph, Machine, Pairs, Statistics, Table,
};
use isinglass_benches::{decimatable, glass, hidden_chain, partial_three_tree};

/// Single evaluations take from milliseconds to seconds: few samples, each of few runs.
fn group<'a>(c: &'a mut Criterion, name: &str) -> BenchmarkGroup<'a, WallTime> {
    let mut group = c.benchmark_group(name);
    group
        .sample_size(10)
        .sampling_mode(SamplingMode::Flat)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(2));
    group
}

/// Measures an engine that has compiled nothing yet, and one that has. The machine is built on
/// first use, as a filter may leave it out.
fn first_and_repeated<E: Engine + Default>(
    group: &mut BenchmarkGroup<'_, WallTime>,
    name: &str,
    size: impl std::fmt::Display,
    machine: impl FnOnce() -> Machine,
) {
    let machine = LazyCell::new(machine);
    let solve = |engine: &E| {
        let evidence = Evidence::none(machine.unit_count());
        engine.expectations(&machine, &evidence, Pairs::Edges).expect("the machine is within reach")
    };
    group.bench_function(BenchmarkId::new(format!("{name}, first call"), &size), |b| {
        b.iter_batched_ref(E::default, |engine| solve(engine), BatchSize::PerIteration);
    });
    let engine = E::default();
    group.bench_function(BenchmarkId::new(format!("{name}, repeated"), &size), |b| b.iter(|| solve(&engine)));
}

fn large(c: &mut Criterion) {
    let mut group = group(c, "network");
    for units in [250_000, 1_000_000] {
        group.throughput(Throughput::Elements(units as u64));
        first_and_repeated::<Decimate>(&mut group, "chain with biases, units", units, || {
            decimatable(Graph::chain(units), true)
        });
        first_and_repeated::<Decimate>(&mut group, "tree with biases, units", units, || {
            decimatable(Graph::tree(units, 2), true)
        });
        // With biases, unit 0 would be a fourth neighbour.
        first_and_repeated::<Decimate>(&mut group, "partial 3-tree without biases, units", units, || {
            decimatable(partial_three_tree(units), false)
        });
    }
    group.finish();
}

fn grids(c: &mut Criterion) {
    let mut group = group(c, "network");
    for side in [10, 15, 20] {
        first_and_repeated::<Eliminate>(&mut group, "grid", format!("{side}×{side}"), || glass(side));
    }
    group.finish();
}

/// Measures the gradient of the likelihood of the house votes with their missing cells: all rows as
/// one batch, and each as a batch of its own.
fn votes(c: &mut Criterion) {
    let table = isinglass_lab::data::house_votes().expect("the built-in table is readable");
    let machine = hidden_chain(&table);
    let everywhere: Vec<usize> = (0..machine.unit_count()).collect();
    assert!(machine.graph().decimation_order(&everywhere).is_some(), "the machine is decimatable");
    let engine = Decimate::default();
    let phases = Phases::both(&engine);
    let gain = InformationGain::new(phases, &machine, &table, 0.0).expect("the table fits the machine");
    let parameters = gain.parameters_of(&machine);
    let mut gradient = vec![0.0; parameters.len()];
    let rows = OneByOne::new(&machine, &table);

    gain.value_and_gradient(&parameters, &mut gradient).expect("the machine is decimatable");
    let difference = gradient.iter().zip(rows.gradient(&engine, &machine)).map(|(a, b)| (a - b).abs());
    assert!(difference.fold(0.0, f64::max) < 1e-12, "both ways give the same gradient");

    let mut group = group(c, "network");
    group.throughput(Throughput::Elements(table.distinct_count() as u64));
    for (threads, name) in [(1, "one thread"), (0, "all threads")] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads can start");
        group.bench_function(BenchmarkId::new("votes gradient in one batch, distinct rows", name), |b| {
            pool.install(|| b.iter(|| gain.value_and_gradient(&parameters, &mut gradient)));
        });
        group.bench_function(BenchmarkId::new("votes gradient one by one, distinct rows", name), |b| {
            pool.install(|| b.iter(|| rows.gradient(&engine, &machine)));
        });
    }
    group.finish();
}

/// Each distinct row as a batch, and one with nothing clamped.
struct OneByOne {
    rows: Vec<Batch>,
    free: Batch,
}

impl OneByOne {
    fn new(machine: &Machine, table: &Table) -> Self {
        let units = machine.unit_count();
        let batch = |cells: &[i8], weight| Batch::new(units, cells, &[weight]).expect("cells of a table");
        let all = table.evidence_for(machine).expect("the table fits the machine");
        let rows = all.weights().iter().enumerate().map(|(row, &weight)| batch(all.row(row), weight));
        Self { rows: rows.collect(), free: batch(&vec![0; units], table.total_weight()) }
    }

    /// Clamped minus free, as in the likelihood.
    fn gradient(&self, engine: &Decimate, machine: &Machine) -> Vec<f64> {
        let statistics = |batch: &Batch| {
            let answer = engine.batch(machine, batch, Ask { statistics: true, means: false });
            answer.expect("the machine is decimatable").statistics.expect("statistics were requested")
        };
        let mut clamped = Statistics::zero(machine.graph());
        for row in &self.rows {
            clamped.merge(&statistics(row)).expect("sums of one graph");
        }
        let free = statistics(&self.free);
        let pairs = clamped.edges.iter().zip(&free.edges).chain(clamped.means.iter().zip(&free.means));
        pairs.map(|(clamped, free)| (clamped - free) / self.free.weights()[0]).collect()
    }
}

criterion_group!(benches, large, grids, votes);
criterion_main!(benches);
