//! Structured mean field: a lattice, dense machines, and clamped rows of a small one.
#![allow(missing_docs, reason = "the macros of the framework make public items")]

use std::time::Duration;

use criterion::{Criterion, SamplingMode, criterion_group, criterion_main};
use isinglass::topology::{Neighbours, Numbers};
use isinglass::{Ask, Batch, Engine, Evidence, Graph, Machine, Pairs, Structured};
use isinglass_benches::full;

fn machine(graph: Graph, numbers: &Numbers) -> Machine {
    Machine::from_graph(graph).with_numbers(numbers, numbers, 1).expect("these numbers are finite")
}

fn single(c: &mut Criterion) {
    let mut group = c.benchmark_group("structured");
    group
        .sample_size(10)
        .sampling_mode(SamplingMode::Flat)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(3));
    let units = 80;
    let glass = Numbers::Normal { mean: 0.0, deviation: 1.0 / (units as f64).sqrt() };
    let weak = Numbers::Uniform { low: -0.3, high: 0.3 };
    let strong = Numbers::Uniform { low: -1.0, high: 1.0 };
    let machines = [
        ("grid 30×30, uniform on (−1, 1)", machine(Graph::grid(30, 30, Neighbours::Four), &strong)),
        ("80 units dense, uniform on (−0.3, 0.3)", machine(Graph::full(units), &weak)),
        ("80 units dense, normal", machine(Graph::full(units), &glass)),
        ("10 units dense, uniform on (−1, 1)", full(10)),
    ];
    for (name, machine) in &machines {
        for starts in [1, 4] {
            let engine = Structured::new().starts(starts);
            group.bench_function(format!("{name}, {starts} starts"), |b| {
                b.iter(|| {
                    let nothing = Evidence::none(machine.unit_count());
                    let answer = engine.expectations(machine, &nothing, Pairs::Edges).expect("it fits");
                    assert!(answer.diagnostics.converged);
                    answer
                });
            });
        }
    }
    group.finish();
}

fn batch(c: &mut Criterion) {
    let mut group = c.benchmark_group("structured/batch");
    group.sample_size(10).measurement_time(Duration::from_secs(3));
    let (units, rows) = (16, 200);
    let machine = full(units);
    let cell = |k: usize| match k % units {
        0..6 => {
            if (k / units) >> (k % units) & 1 == 1 {
                1
            } else {
                -1
            }
        }
        _ => 0,
    };
    let cells: Vec<i8> = (0..rows * units).map(cell).collect();
    let batch = Batch::new(units, &cells, &vec![1.0; rows]).expect("cells are −1, 0 and 1");
    let ask = Ask { statistics: true, means: false };
    group.bench_function("200 rows, 10 of 16 units free", |b| {
        b.iter(|| Structured::default().batch(&machine, &batch, ask).expect("it fits"));
    });
    group.finish();
}

criterion_group!(benches, single, batch);
criterion_main!(benches);
