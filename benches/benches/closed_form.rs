//! Learning in closed form: 1,000 units from 20,000 rows, and fewer rows than units.
#![allow(missing_docs, reason = "the macros of the framework make public items")]

use std::time::Duration;

use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use isinglass::learn::{ClosedForm, Learner, Singular};
use isinglass::{Machine, Table, topology};
use isinglass_benches::rows;

fn fit(learner: &ClosedForm, start: &Machine, table: &Table) -> Machine {
    learner.fit(start, table).expect("any table has an answer").machine
}

fn start(table: &Table) -> Machine {
    let names = table.columns().iter().cloned();
    topology::full(table.columns().len()).with_names(names).expect("columns have distinct names")
}

fn closed_form(c: &mut Criterion) {
    let mut group = c.benchmark_group("closed form");
    group
        .sample_size(10)
        .sampling_mode(SamplingMode::Flat)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(5));
    let table = rows(1000, 20_000);
    let machine = start(&table);
    group.throughput(Throughput::Elements(20_000 * 1000));
    group.bench_function(BenchmarkId::new("formula, 20000 rows, units", 1000), |b| {
        b.iter(|| fit(&ClosedForm::default(), &machine, &table));
    });
    let table = rows(200, 150);
    let machine = start(&table);
    group.throughput(Throughput::Elements(150 * 200));
    let ways = [
        ("least squares", ClosedForm::new().singular(Singular::LevenbergMarquardt)),
        ("shrinkage", ClosedForm::new().singular(Singular::Shrinkage)),
        ("the better", ClosedForm::default()),
        ("no self-couplings", ClosedForm::new().no_self_coupling(true)),
    ];
    for (name, learner) in ways {
        group.bench_function(BenchmarkId::new(format!("{name}, 150 rows, units"), 200), |b| {
            b.iter(|| fit(&learner, &machine, &table));
        });
    }
    group.finish();
}

criterion_group!(benches, closed_form);
criterion_main!(benches);
