//! Max-product: large machines one by one, and many clamped rows of a small one.
#![allow(missing_docs, reason = "the macros of the framework make public items")]

use std::cell::LazyCell;
use std::time::Duration;

use criterion::{Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use isinglass::engine::ModeFinder;
use isinglass::search::MaxProduct;
use isinglass::topology::{self, Links, Neighbours, Numbers};
use isinglass::{Batch, Evidence, Graph, Guarantee, Machine};
use isinglass_benches::decimatable;

const VISIBLE: usize = 20;
const HIDDEN: usize = 10;

fn max_product(c: &mut Criterion) {
    let mut group = c.benchmark_group("max_product");
    group
        .sample_size(10)
        .sampling_mode(SamplingMode::Flat)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(2));
    let finder = MaxProduct::default();
    let solve = |machine: &Machine| {
        finder.mode(machine, &Evidence::none(machine.unit_count())).expect("the machine is within the budget")
    };

    let units = 100_000;
    group.throughput(Throughput::Elements(units as u64));
    let tree = LazyCell::new(|| decimatable(Graph::tree(units, 2), true));
    group.bench_function("tree with biases, 100000 units", |b| b.iter(|| solve(&tree)));

    let side = 300;
    group.throughput(Throughput::Elements((side * side) as u64));
    let grid = LazyCell::new(|| {
        let numbers = Numbers::Normal { mean: 0.0, deviation: 1.0 };
        topology::grid(side, side, Neighbours::Four)
            .with_numbers(&numbers, &numbers, 1)
            .expect("normal numbers are finite")
    });
    group.bench_function("spin glass 300×300 with biases", |b| b.iter(|| solve(&grid)));

    let rows = 10_000;
    group.throughput(Throughput::Elements(rows as u64));
    let machine = hidden_chain();
    let batch = clamped_rows(rows);
    for (threads, name) in [(1, "one thread"), (0, "all threads")] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads can start");
        group.bench_function(format!("10000 rows, hidden chain of 10 over 20 visible units, {name}"), |b| {
            pool.install(|| {
                b.iter(|| {
                    let states = finder.rows(&machine, &batch).expect("a small machine");
                    assert_eq!(states.guarantee, Guarantee::Exact);
                    states
                });
            });
        });
    }
    group.finish();
}

fn hidden_chain() -> Machine {
    let numbers = Numbers::Normal { mean: 0.0, deviation: 0.5 };
    topology::two_layer(VISIBLE, &Links::Full, HIDDEN, &Links::Chain)
        .and_then(|machine| machine.with_numbers(&numbers, &numbers, 1))
        .expect("normal numbers are finite")
}

/// Visible units clamped to a pattern of bits, hidden ones free.
fn clamped_rows(rows: usize) -> Batch {
    let mut cells = Vec::with_capacity(rows * (VISIBLE + HIDDEN));
    for row in 0..rows as u64 {
        let bits = (row + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
        cells.extend((0..VISIBLE).map(|k| if bits >> k & 1 == 1 { 1 } else { -1 }));
        cells.extend([0; HIDDEN]);
    }
    Batch::new(VISIBLE + HIDDEN, &cells, &vec![1.0; rows]).expect("cells are −1, +1 and 0")
}

criterion_group!(benches, max_product);
criterion_main!(benches);
