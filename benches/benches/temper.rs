//! What tempering costs: updates per second of ladders, beside those of plain chains.
#![allow(missing_docs, reason = "the macros of the framework make public items")]

use criterion::{Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use isinglass::engine::{Moves, Temperatures};
use isinglass::{Engine, Evidence, Gibbs, Machine, Pairs, Sampler, Temper, topology};

/// Ladders of a run: two for each replica.
const LADDERS: usize = 4;
const LEVELS: usize = 32;
const SWEEPS: usize = 32 * 1024;
/// Sweeps of plain chains from one kept state to the next: so many that their record costs nothing, and so few that
/// more states are kept than the 200 which the engine judges, and would make, in any case.
const THIN: usize = 128;

/// As many chains and as many sweeps: with swaps, sums and kept states, and without. All levels but the
/// hottest are at the machine's temperature, so that chains flip as often: densely coupled ones, which
/// follow flips, take longer where it is hot.
fn temper(c: &mut Criterion) {
    let nearly_one: Vec<f64> = (1..LEVELS - 1).map(|level| 1.0 + 1e-6 * level as f64).collect();
    let tempered = Temper::new()
        .replicas(LADDERS / 2)
        .temperatures(Some(Temperatures::of(&nearly_one).expect("fewer than 128, above 0")))
        .sweeps(Some(SWEEPS))
        .burn_in(0)
        .moves(Moves::Single);
    let plain = Gibbs::new().chains(LADDERS * LEVELS).burn_in(0).thin(THIN);
    let mut group = c.benchmark_group("temper");
    group.sample_size(10).sampling_mode(SamplingMode::Flat);
    let mut bench = |name: &str, machine: &Machine| {
        let none = Evidence::none(machine.unit_count());
        let chains = LADDERS * LEVELS;
        group.throughput(Throughput::Elements((machine.unit_count() * chains * SWEEPS) as u64));
        group.bench_function(format!("{name}, ladders"), |b| {
            b.iter(|| tempered.expectations(machine, &none, Pairs::None));
        });
        group.bench_function(format!("{name}, plain chains"), |b| {
            b.iter(|| plain.draw(machine, &none, chains * SWEEPS / THIN, 1));
        });
    };
    bench("32×32 lattice", &isinglass_benches::lattice(32));
    bench("200 units dense", &topology::sherrington_kirkpatrick(200, 1.0, 1).expect("1 is finite"));
    group.finish();
}

criterion_group!(benches, temper);
criterion_main!(benches);
