//! Pseudo-likelihood of complete rows: the optimum without penalty on one thread and two, with l1,
//! and EBIC paths.
#![allow(missing_docs, reason = "the macros of the framework make public items")]

use std::time::Duration;

use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use isinglass::learn::{EbicPaths, L1, Learner, PseudoLikelihood, start};
use isinglass::{Machine, Table, topology};
use isinglass_benches::spins;
use rayon::ThreadPoolBuilder;

fn fit(learner: &dyn Learner, start: &Machine, table: &Table) -> Machine {
    let fit = learner.fit(start, table).expect("rows are complete");
    assert!(fit.converged, "{}", fit.stopped);
    fit.machine
}

fn pseudo_likelihood(c: &mut Criterion) {
    let mut group = c.benchmark_group("pseudo-likelihood");
    group
        .sample_size(10)
        .sampling_mode(SamplingMode::Flat)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(5));
    // Those of the peer; the default is smaller, and needs about two more iterations.
    let plain = PseudoLikelihood::new().tolerance(1e-7);
    let rough = plain.tolerance(1e-4);
    let lasso = plain.l1(Some(L1::Weight(0.01)));
    let learners: [(&str, &(dyn Learner + Sync)); 4] = [
        ("optimum to 1e-4", &rough),
        ("optimum to 1e-7", &plain),
        ("l1", &lasso),
        ("ebic", &EbicPaths::default()),
    ];
    for (units, rows, strength) in [(20, 5000, 0.3), (100, 20_000, 0.05)] {
        let table = spins(units, rows, strength);
        let names = table.columns().iter().cloned();
        let structure = topology::full(units).with_names(names);
        let begin = structure.and_then(|structure| start(&structure, &table, 0, 0));
        let begin = begin.expect("columns are units");
        group.throughput(Throughput::Elements((units * rows) as u64));
        for (name, learner) in learners {
            for threads in [1, 2] {
                let pool =
                    ThreadPoolBuilder::new().num_threads(threads).build().expect("threads are available");
                let label = format!("{name}, {rows} rows, {threads} threads, units");
                group.bench_function(BenchmarkId::new(label, units), |b| {
                    b.iter(|| pool.install(|| fit(learner, &begin, &table)));
                });
            }
        }
    }
    group.finish();
}

criterion_group!(benches, pseudo_likelihood);
criterion_main!(benches);
