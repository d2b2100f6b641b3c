//! Belief propagation: large machines one by one, and many clamped rows of a small one.
#![allow(missing_docs, reason = "the macros of the framework make public items")]

use std::cell::LazyCell;
use std::time::Duration;

use criterion::{Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use isinglass::topology::{self, Links, Neighbours, Numbers};
use isinglass::{Ask, Batch, Bethe, Engine, Evidence, Graph, Machine, Pairs};
use isinglass_benches::decimatable;

fn bethe(c: &mut Criterion) {
    let mut group = c.benchmark_group("bethe");
    group
        .sample_size(10)
        .sampling_mode(SamplingMode::Flat)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(2));
    let engine = Bethe::default();
    let solve = |machine: &Machine| {
        let answer = engine.expectations(machine, &Evidence::none(machine.unit_count()), Pairs::Edges);
        let answer = answer.expect("the machine is within the budget");
        assert!(answer.diagnostics.converged);
        answer
    };

    let units = 1_000_000;
    group.throughput(Throughput::Elements(units as u64));
    let chain = LazyCell::new(|| decimatable(Graph::chain(units), true));
    group.bench_function("chain with biases, a million units", |b| b.iter(|| solve(&chain)));
    let tree = LazyCell::new(|| decimatable(Graph::tree(units, 2), true));
    group.bench_function("tree with biases, a million units", |b| b.iter(|| solve(&tree)));
    let grid = LazyCell::new(|| {
        let biases = Numbers::Uniform { low: -0.5, high: 0.5 };
        topology::grid(1000, 1000, Neighbours::Four)
            .with_numbers(&Numbers::Constant(0.3), &biases, 1)
            .expect("bounded numbers are finite")
    });
    group.bench_function("grid 1000×1000, couplings 0.3, random biases", |b| b.iter(|| solve(&grid)));

    let rows = 10_000;
    group.throughput(Throughput::Elements(rows as u64));
    let machine = joined_layers();
    for (threads, name) in [(1, "one thread"), (0, "all threads")] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads can start");
        let batch = clamped_rows(rows);
        group.bench_function(format!("10000 rows, 64 visible and 16 hidden units, {name}"), |b| {
            pool.install(|| {
                b.iter(|| {
                    let ask = Ask { statistics: true, means: false };
                    let answer = engine.batch(&machine, &batch, ask).expect("a small machine");
                    assert!(answer.diagnostics.converged);
                    answer
                });
            });
        });
    }
    group.finish();
}

const VISIBLE: usize = 64;
const HIDDEN: usize = 16;

/// All pairs of units joined, at a strength at which messages converge.
fn joined_layers() -> Machine {
    let numbers = Numbers::Normal { mean: 0.0, deviation: 0.1 };
    topology::two_layer(VISIBLE, &Links::Full, HIDDEN, &Links::Full)
        .and_then(|machine| machine.with_numbers(&numbers, &numbers, 1))
        .expect("normal numbers are finite")
}

/// Visible units clamped to a pattern of bits, hidden ones free.
fn clamped_rows(rows: usize) -> Batch {
    let mut cells = Vec::with_capacity(rows * (VISIBLE + HIDDEN));
    for row in 0..rows as u64 {
        let bits = (row + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        cells.extend((0..VISIBLE).map(|k| if bits >> k & 1 == 1 { 1 } else { -1 }));
        cells.extend([0; HIDDEN]);
    }
    Batch::new(VISIBLE + HIDDEN, &cells, &vec![1.0; rows]).expect("cells are −1, +1 and 0")
}

criterion_group!(benches, bethe);
criterion_main!(benches);
