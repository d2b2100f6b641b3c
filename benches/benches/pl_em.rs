//! Pseudo-likelihood EM: the cost of an iteration by number of hidden units, draws and rows.
#![allow(missing_docs, reason = "the macros of the framework make public items")]

use std::time::Duration;

use criterion::{BenchmarkId, Criterion, SamplingMode, criterion_group, criterion_main};
use isinglass::learn::{Drawing, Learner, PseudoLikelihoodEm, start};
use isinglass::{Machine, Role, Table, Unit};
use isinglass_benches::spins;

/// Iterations of each measurement; the start costs one more E-step.
const ITERATIONS: usize = 5;

/// The machine of Yasuda, Tannai & Tanaka 2012, figure 1: visible units fully connected, hidden
/// ones in a chain, all pairs across joined.
fn two_layers(table: &Table, hidden: usize) -> Machine {
    let visible = table.columns().len();
    let named = table.columns().iter().map(|name| Unit::new(name, 0.0));
    let others = (0..hidden).map(|k| {
        let mut unit = Unit::new(format!("hidden {k}"), 0.0);
        unit.role = Role::Hidden;
        unit
    });
    let count = visible + hidden;
    let pairs = (0..count).flat_map(|a| (a + 1..count).map(move |b| (a, b, 0.0)));
    let edges = pairs.filter(|&(a, b, _)| a < visible || b == a + 1);
    let machine = Machine::new(named.chain(others).collect(), edges);
    machine.and_then(|machine| start(&machine, table, 0, 0)).expect("columns are units")
}

fn pl_em(c: &mut Criterion) {
    let mut group = c.benchmark_group("pl-em, 5 iterations");
    group
        .sample_size(10)
        .sampling_mode(SamplingMode::Flat)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(3));
    let hidden = [2, 5, 10, 20, 40].map(|hidden| ("hidden", hidden, (hidden, 3, 1000)));
    let draws = [1, 2, 4, 8, 16].map(|draws| ("draws", draws, (3, draws, 1000)));
    let rows = [100, 1000, 10_000, 100_000].map(|rows| ("rows", rows, (3, 3, rows)));
    for (what, number, (hidden, draws, rows)) in hidden.into_iter().chain(draws).chain(rows) {
        let table = spins(17, rows, 0.1);
        let machine = two_layers(&table, hidden);
        for (name, drawing) in [("exact", Drawing::Exact), ("gibbs", Drawing::Gibbs)] {
            let iterations = ITERATIONS;
            let learner =
                PseudoLikelihoodEm::new().draws(drawing).samples(draws).iterations(iterations).tolerance(0.0);
            group.bench_function(BenchmarkId::new(format!("{name}, {what}"), number), |b| {
                b.iter(|| learner.fit(&machine, &table).expect("the table fits"));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, pl_em);
criterion_main!(benches);
