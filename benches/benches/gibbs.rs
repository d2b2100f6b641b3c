//! Gibbs updates per second, the record of states included.
#![allow(missing_docs, reason = "the macros of the framework make public items")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use isinglass::{Evidence, Gibbs, Machine, Sampler, topology};

fn gibbs(c: &mut Criterion) {
    let engine = Gibbs::new().chains(32).burn_in(0).thin(5);
    let kept = 200;
    let mut group = c.benchmark_group("gibbs");
    group.sample_size(10);
    let mut bench = |name: &str, machine: &Machine| {
        let evidence = Evidence::none(machine.unit_count());
        let updates = machine.unit_count() * engine.chains * engine.thin * kept;
        group.throughput(Throughput::Elements(updates as u64));
        group.bench_function(name, |b| {
            b.iter(|| engine.draw(machine, &evidence, kept * engine.chains, 1));
        });
    };
    bench("64×64 lattice, updates", &isinglass_benches::lattice(64));
    bench("500 units dense, updates", &isinglass_benches::dense(500));
    let glass = topology::sherrington_kirkpatrick(500, 1.0, 1).expect("a strength of 1 is finite");
    bench("500 units SK at β = 1, updates", &glass);
    group.finish();
}

criterion_group!(benches, gibbs);
criterion_main!(benches);
