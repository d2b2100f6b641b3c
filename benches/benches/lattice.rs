//! Denoising: one picture of four million pixels with each engine, and 500 small ones.
#![allow(missing_docs, reason = "the macros of the framework make public items")]

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use isinglass::topology::Neighbours;
use isinglass_benches::blobs;
use isinglass_lab::lattice::{Denoiser, Lattice, Method, flip_pixels};

const SIDE: usize = 2048;
const SWEEPS: usize = 10;

fn large(c: &mut Criterion) {
    let noisy = flip_pixels(&blobs(SIDE, SIDE, 1), 0.1, 1).expect("a share below 1");
    let mut group = c.benchmark_group("lattice");
    group.sample_size(10);
    group.throughput(Throughput::Elements((SIDE * SIDE * SWEEPS) as u64));
    for (neighbours, coupling, word) in [(Neighbours::Four, 0.7, "4"), (Neighbours::Eight, 0.25, "8")] {
        let lattice =
            Lattice::new(SIDE, SIDE, coupling, 1.1).expect("finite couplings").with_neighbours(neighbours);
        for method in Method::ALL {
            let settings =
                Denoiser { method, iterations: SWEEPS, tolerance: 0.0, burn_in: 0, ..Denoiser::default() };
            let name = format!("2048 × 2048, {word} neighbours, {SWEEPS} sweeps, updates");
            group.bench_function(BenchmarkId::new(name, method), |b| {
                b.iter(|| settings.denoise(&lattice, &noisy));
            });
        }
    }
    group.finish();
}

fn many(c: &mut Criterion) {
    let images: Vec<Vec<i8>> = (0..500).map(|k| blobs(28, 28, k)).collect();
    let lattice = Lattice::new(28, 28, 0.7, 1.1).expect("finite couplings");
    let mut group = c.benchmark_group("lattice");
    group.throughput(Throughput::Elements(500 * 784 * SWEEPS as u64));
    for method in Method::ALL {
        let settings =
            Denoiser { method, iterations: SWEEPS, tolerance: 0.0, burn_in: 0, ..Denoiser::default() };
        let name = format!("500 of 28 × 28, {SWEEPS} sweeps, updates");
        group.bench_function(BenchmarkId::new(name, method), |b| {
            b.iter(|| settings.denoise_many(&lattice, &images));
        });
    }
    group.finish();
}

criterion_group!(benches, large, many);
criterion_main!(benches);
