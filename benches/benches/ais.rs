//! log Z by annealed importance sampling with default settings: the time, and in the name the
//! standard error of the result.
#![allow(missing_docs, reason = "the macros of the framework make public items")]

use criterion::{Criterion, SamplingMode, criterion_group, criterion_main};
use isinglass::topology::{self, Numbers};
use isinglass::{Ais, Engine, Evidence, Machine, Pairs};

fn glass(units: usize) -> Machine {
    topology::sherrington_kirkpatrick(units, 1.0, 1).expect("a strength of 1 is finite")
}

/// Sizes as in Salakhutdinov & Murray 2008, with small random weights.
fn restricted() -> Machine {
    let weights = Numbers::Normal { mean: 0.0, deviation: 0.01 };
    let biases = Numbers::Uniform { low: -1.0, high: 0.0 };
    let machine = topology::rbm(784, 500).expect("the layers have names of their own");
    machine.with_numbers(&weights, &biases, 1).expect("normal numbers are finite")
}

fn ais(c: &mut Criterion) {
    let engine = Ais::default();
    let mut group = c.benchmark_group("ais");
    group.sample_size(10).sampling_mode(SamplingMode::Flat);
    let mut bench = |name: &str, machine: &Machine| {
        let evidence = Evidence::none(machine.unit_count());
        let run = || engine.expectations(machine, &evidence, Pairs::None);
        let errors = run().expect("the machine is within the budget").errors;
        let error = errors.and_then(|errors| errors.log_z).unwrap_or(0.0);
        group.bench_function(format!("{name}, log Z ± {error:.4}"), |b| b.iter(run));
    };
    bench("20 units dense", &glass(20));
    bench("80 units dense", &glass(80));
    bench("30×30 lattice", &isinglass_benches::lattice(30));
    bench("784×500 restricted", &restricted());
    group.finish();
}

criterion_group!(benches, ais);
criterion_main!(benches);
