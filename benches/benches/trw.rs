//! The upper bound from subgraphs: a grid, and fully connected machines.
#![allow(missing_docs, reason = "the macros of the framework make public items")]

use std::time::Duration;

use criterion::{Criterion, SamplingMode, criterion_group, criterion_main};
use isinglass::topology::{self, Neighbours, Numbers};
use isinglass::{Engine, Evidence, Graph, Machine, Pairs, Trw};

fn trw(c: &mut Criterion) {
    let mut group = c.benchmark_group("trw");
    group
        .sample_size(10)
        .sampling_mode(SamplingMode::Flat)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(4));
    let machines = [
        ("grid 30×30, uniform on ±1", uniform(Graph::grid(30, 30, Neighbours::Four), 1.0)),
        (
            "80 units all joined, normal of variance 1/80",
            topology::sherrington_kirkpatrick(80, 1.0, 1).expect("a finite scale"),
        ),
        ("80 units all joined, uniform on ±0.3", uniform(Graph::full(80), 0.3)),
    ];
    for (name, machine) in &machines {
        for width in [1, 3] {
            let engine = Trw::new().width(width);
            group.bench_function(format!("{name}, width {width}"), |b| {
                b.iter(|| {
                    let nothing = Evidence::none(machine.unit_count());
                    engine
                        .expectations(machine, &nothing, Pairs::Edges)
                        .expect("the machine is within the budget")
                });
            });
        }
    }
    group.finish();
}

fn uniform(graph: Graph, size: f64) -> Machine {
    let numbers = Numbers::Uniform { low: -size, high: size };
    Machine::from_graph(graph).with_numbers(&numbers, &numbers, 1).expect("bounded numbers are finite")
}

criterion_group!(benches, trw);
criterion_main!(benches);
