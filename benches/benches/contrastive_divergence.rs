//! Contrastive divergence: a restricted machine on digits, in small and large mini-batches; links
//! within the layers; mean field.
#![allow(missing_docs, reason = "the macros of the framework make public items")]

use std::time::Duration;

use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use isinglass::learn::{ContrastiveDivergence, Learner, MeanFieldCd, start};
use isinglass::topology::{self, Links, Neighbours};
use isinglass::{Machine, Table};
use rayon::ThreadPoolBuilder;

const HIDDEN: usize = 32;
const EPOCHS: usize = 10;

/// The table's columns and hidden units, with the given links within each layer.
fn begin(table: &Table, visible: &Links, hidden: &Links) -> Machine {
    let names = table.columns().iter().cloned().chain((0..HIDDEN).map(|k| format!("h{k}")));
    topology::two_layer(table.columns().len(), visible, HIDDEN, hidden)
        .and_then(|structure| structure.with_names(names))
        .and_then(|structure| start(&structure, table, 0, 0))
        .expect("columns are units")
}

fn contrastive_divergence(c: &mut Criterion) {
    let mut group = c.benchmark_group("contrastive-divergence");
    group
        .sample_size(10)
        .sampling_mode(SamplingMode::Flat)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(3));
    let table = isinglass_lab::data::digits().expect("the data are built in");
    group.throughput(Throughput::Elements((EPOCHS * table.row_count()) as u64));
    let layers = begin(&table, &Links::None, &Links::None);
    let grid = Links::Grid { rows: 8, columns: 8, neighbours: Neighbours::Four };
    let linked = begin(&table, &grid, &Links::Chain);
    let small = ContrastiveDivergence::new().iterations(EPOCHS);
    let large = small.batch(table.row_count());
    let persistent = small.persistent(true);
    let means = MeanFieldCd::new().iterations(EPOCHS);
    let cases: [(&str, &(dyn Learner + Sync), &Machine); 6] = [
        ("layers, batches of 10", &small, &layers),
        ("layers, one batch", &large, &layers),
        ("layers, persistent chains", &persistent, &layers),
        ("links, batches of 10", &small, &linked),
        ("links, one batch", &large, &linked),
        ("mean field", &means, &layers),
    ];
    for (name, learner, machine) in cases {
        for threads in [1, 2] {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build().expect("threads can start");
            group.bench_function(BenchmarkId::new(name, format!("{threads} threads")), |b| {
                b.iter(|| pool.install(|| learner.fit(machine, &table)).expect("rows fit"));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, contrastive_divergence);
criterion_main!(benches);
