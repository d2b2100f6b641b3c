//! Log Z, means and all pair moments of fully connected machines by enumeration.
#![allow(missing_docs, reason = "the macros of the framework make public items")]

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use isinglass::{Engine, Enumerate, Evidence, Pairs};

fn enumerate(c: &mut Criterion) {
    let mut group = c.benchmark_group("enumerate");
    group.sample_size(20);
    for units in [16, 20, 24] {
        let machine = isinglass_benches::full(units);
        let evidence = Evidence::none(units);
        group.throughput(Throughput::Elements(1 << units));
        group.bench_function(BenchmarkId::new("full, all moments, states", units), |b| {
            b.iter(|| Enumerate::default().expectations(&machine, &evidence, Pairs::All));
        });
    }
    group.finish();
}

criterion_group!(benches, enumerate);
criterion_main!(benches);
