//! Mixtures on a machine for digits: 64 visible units in a grid with eight neighbours, 10 hidden
//! ones joined to all and to each other.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use isinglass::engine::Annealing;
use isinglass::topology::{Neighbours, Numbers};
use isinglass::{Ask, Batch, Engine, Evidence, Graph, Machine, MeanField, Mixture, Pairs};

const VISIBLE: usize = 64;
const UNITS: usize = VISIBLE + 10;
const ROWS: usize = 7000;

fn digits() -> Machine {
    let grid = Graph::grid(8, 8, Neighbours::Eight);
    let hidden = (VISIBLE..UNITS).flat_map(|unit| (0..unit).map(move |other| (other, unit)));
    let graph = Graph::new(UNITS, grid.edges().iter().copied().chain(hidden)).expect("each edge comes once");
    let numbers = Numbers::Signs(0.3);
    Machine::from_graph(graph).with_numbers(&numbers, &numbers, 1).expect("constants are finite")
}

/// Evidence that clamps the visible units, as a picture does.
fn pictures(rows: usize) -> Batch {
    let cell = |k: usize| {
        if k % UNITS >= VISIBLE {
            0
        } else if k.wrapping_mul(0x9e37_79b9) >> 13 & 1 == 0 {
            1
        } else {
            -1
        }
    };
    let cells: Vec<i8> = (0..rows * UNITS).map(cell).collect();
    Batch::new(UNITS, &cells, &vec![1.0; rows]).expect("rows fit")
}

const ANNEALING: Annealing = Annealing { from: 100.0, steps: 7 };

fn annealed(components: usize) -> Mixture {
    Mixture::new().components(components).anneal(Some(ANNEALING))
}

/// As precise as the mixtures.
fn annealed_field() -> MeanField {
    MeanField::new().anneal(Some(ANNEALING)).tolerance(Mixture::new().tolerance)
}

fn free(c: &mut Criterion) {
    let machine = digits();
    let mut group = c.benchmark_group("mixture/free phase of 74 units, annealed");
    group.sample_size(10);
    for components in [1, 2, 5, 10, 20] {
        let engine = annealed(components);
        group.bench_function(BenchmarkId::from_parameter(components), |b| {
            b.iter(|| engine.expectations(&machine, &Evidence::none(UNITS), Pairs::Edges).expect("it runs"));
        });
    }
    group.finish();
}

fn clamped(c: &mut Criterion) {
    let (machine, batch) = (digits(), pictures(ROWS));
    let statistics = Ask { statistics: true, means: false };
    let mut group = c.benchmark_group("mixture/clamped phase of 64 of 74 units");
    group.throughput(Throughput::Elements(ROWS as u64)).sample_size(10);
    group.bench_function("mean field, annealed, 7000 rows", |b| {
        b.iter(|| annealed_field().batch(&machine, &batch, statistics).expect("it runs"));
    });
    // A tolerance that no search reaches: every row runs all sweeps.
    let fixed = Mixture::new().tolerance(1e-300).max_sweeps(30);
    for rows in [ROWS / 2, ROWS] {
        let batch = pictures(rows);
        group.throughput(Throughput::Elements(rows as u64));
        for components in [5, 10] {
            let engine = fixed.components(components);
            group.bench_function(format!("{components} components, 30 sweeps, {rows} rows"), |b| {
                b.iter(|| engine.batch(&machine, &batch, statistics).expect("it runs"));
            });
        }
    }
    group.finish();
}

fn iteration(c: &mut Criterion) {
    let (machine, batch) = (digits(), pictures(ROWS));
    let mut group = c.benchmark_group("mixture/both phases of one step of learning");
    group.sample_size(10);
    group.bench_function("7000 rows by mean field, free by 10 components", |b| {
        b.iter(|| {
            let clamped = annealed_field();
            let rows = clamped.batch(&machine, &batch, Ask { statistics: true, means: false });
            let engine = annealed(10);
            let free = engine.expectations(&machine, &Evidence::none(UNITS), Pairs::Edges);
            (rows.expect("it runs"), free.expect("it runs"))
        });
    });
    group.finish();
}

criterion_group!(benches, free, clamped, iteration);
criterion_main!(benches);
