//! Mean field, TAP and linear response, and the share of matrix products in their time.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use isinglass::engine::{Around, VariationalSettings};
use isinglass::topology::{self, Neighbours, Numbers};
use isinglass::{Ask, Batch, Engine, Evidence, LinearResponse, Machine, MeanField, Pairs, Tap};
use rayon::prelude::*;

const UNITS: usize = 200;
const CLAMPED: usize = 40;
const ROWS: usize = 10_000;

/// Sweeps of the comparison with products: about as many as a search of this machine needs.
const SWEEPS: usize = 20;

fn dense() -> Machine {
    let numbers = Numbers::Normal { mean: 0.0, deviation: 0.25 / (UNITS as f64).sqrt() };
    topology::full(UNITS).with_numbers(&numbers, &numbers, 1).expect("numbers fit")
}

fn clamped_rows() -> Batch {
    let cell = |k: usize| {
        if k % UNITS >= CLAMPED {
            0
        } else if k.wrapping_mul(0x9e37_79b9) >> 13 & 1 == 0 {
            1
        } else {
            -1
        }
    };
    let cells: Vec<i8> = (0..ROWS * UNITS).map(cell).collect();
    Batch::new(UNITS, &cells, &vec![1.0; ROWS]).expect("rows fit")
}

fn batches(c: &mut Criterion) {
    let (machine, batch) = (dense(), clamped_rows());
    let mut group = c.benchmark_group("variational/10000 rows, 200 units dense, 40 clamped");
    group.throughput(Throughput::Elements(ROWS as u64)).sample_size(10);
    // A tolerance that no search reaches: every row runs all sweeps.
    let fixed = VariationalSettings::default().tolerance(1e-300).max_sweeps(SWEEPS);
    group.bench_function("mean field, 20 sweeps", |b| {
        b.iter(|| MeanField::from(fixed).batch(&machine, &batch, Ask::default()).expect("it runs"));
    });
    let free = UNITS - CLAMPED;
    let couplings = Mat::from_fn(free, free, |a, b| (a * b % 7) as f64);
    let panels: Vec<Mat<f64>> = (0..ROWS)
        .step_by(96)
        .map(|start| Mat::from_fn(96.min(ROWS - start), free, |a, b| (a + b) as f64))
        .collect();
    group.bench_function("its matrix products, 20 and one", |b| {
        b.iter(|| {
            panels.par_iter().for_each(|panel| {
                let mut out = Mat::<f64>::zeros(panel.nrows(), free);
                for _ in 0..=SWEEPS {
                    matmul(&mut out, Accum::Replace, panel, &couplings, 1.0, Par::Seq);
                }
            });
        });
    });
    let statistics = Ask { statistics: true, means: false };
    group.bench_function("mean field to 1e-10", |b| {
        b.iter(|| MeanField::default().batch(&machine, &batch, statistics).expect("it runs"));
    });
    group.bench_function("tap to 1e-10", |b| {
        b.iter(|| Tap::default().batch(&machine, &batch, statistics).expect("it runs"));
    });
    group.finish();
}

fn single(c: &mut Criterion) {
    let mut group = c.benchmark_group("variational/single");
    group.sample_size(10);
    let numbers = Numbers::Normal { mean: 0.0, deviation: 0.5 / 1000f64.sqrt() };
    let thousand = topology::full(1000).with_numbers(&numbers, &numbers, 1).expect("numbers fit");
    let nothing = Evidence::none(1000);
    for around in [Around::MeanField, Around::Tap] {
        let engine = LinearResponse::new().around(around);
        group.bench_function(format!("linear response, 1000 units dense, around {around:?}"), |b| {
            b.iter(|| engine.expectations(&thousand, &nothing, Pairs::All).expect("it runs"));
        });
    }
    let numbers = Numbers::Uniform { low: -0.4, high: 0.4 };
    let lattice = topology::grid(100, 100, Neighbours::Four).with_numbers(&numbers, &numbers, 1);
    let lattice = lattice.expect("numbers fit");
    group.bench_function("linear response, 100x100 lattice, edges", |b| {
        b.iter(|| {
            LinearResponse::default()
                .expectations(&lattice, &Evidence::none(10_000), Pairs::Edges)
                .expect("it runs")
        });
    });
    let large = topology::grid(1000, 1000, Neighbours::Four).with_numbers(&numbers, &numbers, 1);
    let large = large.expect("numbers fit");
    group.bench_function("mean field, 1000x1000 lattice", |b| {
        b.iter(|| {
            MeanField::default()
                .expectations(&large, &Evidence::none(1_000_000), Pairs::Edges)
                .expect("it runs")
        });
    });
    group.finish();
}

criterion_group!(benches, batches, single);
criterion_main!(benches);
