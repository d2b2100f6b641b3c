//! Reading a table of a million rows with 20 cells each.
#![allow(missing_docs, reason = "the macros of the framework make public items")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use isinglass_files::{TableOptions, parse_csv};

const ROWS: u64 = 1_000_000;
const COLUMNS: u64 = 20;

fn csv() -> String {
    let names: Vec<String> = (0..COLUMNS).map(|k| format!("x{k}")).collect();
    let mut text = names.join(",") + "\n";
    // A generator of its own: only the speed of reading matters, not the quality of the bits.
    let mut bits = 0x1234_5678_9abc_def0_u64;
    for _ in 0..ROWS {
        bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        for k in 0..COLUMNS {
            text.push(if bits >> (20 + k) & 1 == 1 { '1' } else { '0' });
            text.push(if k + 1 == COLUMNS { '\n' } else { ',' });
        }
    }
    text
}

fn table(c: &mut Criterion) {
    let text = csv();
    let mut group = c.benchmark_group("table");
    group.sample_size(10);
    group.throughput(Throughput::Elements(ROWS * COLUMNS));
    group.bench_function("CSV of 1 million × 20, cells", |b| {
        b.iter(|| parse_csv(text.as_bytes(), "bench.csv", b',', &TableOptions::default()));
    });
    group.finish();
}

criterion_group!(benches, table);
criterion_main!(benches);
