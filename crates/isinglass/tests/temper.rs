//! The engine `temper`: calibrated errors, honest diagnostics, ground states.

#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use common::{brute_force, close, given};
use isinglass::engine::{Meetings, ModeFinder, Moves, Temperatures};
use isinglass::topology::{self, Lattice, Neighbours, Numbers};
use isinglass::{
    Ask, Batch, Budget, Eliminate, Engine, Enumerate, Error, Evidence, Expectations, Guarantee, Machine,
    Pairs, Sampler, Spin, Temper,
};

fn engine(seed: u64) -> Temper {
    Temper::new().seed(seed)
}

/// Short runs, for what does not depend on their length.
fn hasty(seed: u64) -> Temper {
    engine(seed).sweeps(Some(1024)).burn_in(512)
}

fn numbers(text: &str) -> Numbers {
    text.parse().unwrap()
}

/// Sparse and dense machines of 16 to 25 units, weak to strong.
fn machine(seed: u64) -> Machine {
    let units = 16 + (seed % 10) as usize;
    let strength = [0.3, 0.7, 1.0, 1.5, 2.0, 3.0][seed as usize % 6];
    let biases = numbers("normal:0,0.3");
    if seed.is_multiple_of(2) {
        let glass = topology::sherrington_kirkpatrick(units, strength, seed).unwrap();
        glass.with_biases_drawn(&biases, seed).unwrap()
    } else {
        let lattice = topology::grid(4, units / 4, Neighbours::Four);
        lattice.with_numbers(&numbers(&format!("normal:0,{strength}")), &biases, seed).unwrap()
    }
}

/// How far means and edge moments, and log Z, are from the truth, in standard errors.
fn scores(found: &Expectations, truth: &Expectations) -> (Vec<f64>, f64) {
    let errors = found.errors.as_ref().unwrap();
    let score = |(found, truth): (&f64, &f64), error: &f64| (found - truth) / error;
    let means = found.means.iter().zip(&truth.means).zip(&errors.means);
    let pairs = found.correlations.values.iter().zip(&truth.correlations.values).zip(&errors.correlations);
    let all = means.chain(pairs).map(|(two, error)| score(two, error)).collect();
    (all, (found.log_z.unwrap() - truth.log_z.unwrap()) / errors.log_z.unwrap())
}

/// The error bars cover: 4 % more or less are four standard errors of the shares counted here, since
/// scores of one machine go together.
#[test]
fn errors_cover_the_truth() {
    let (mut all, mut log_z) = (Vec::new(), Vec::new());
    for seed in 0..36 {
        let machine = machine(seed);
        let none = Evidence::none(machine.unit_count());
        let truth = Enumerate::default().expectations(&machine, &none, Pairs::Edges).unwrap();
        let found = engine(seed).sweeps(Some(4096)).expectations(&machine, &none, Pairs::Edges).unwrap();
        assert_eq!(found.guarantee, Guarantee::Estimate);
        let (scores, score) = scores(&found, &truth);
        let worst = scores.iter().fold(score.abs(), |worst, z| worst.max(z.abs()));
        assert!(!found.diagnostics.converged || worst < 5.0, "seed {seed}: {worst} errors, called converged");
        all.extend(scores);
        log_z.push(score);
    }
    let within =
        |limit: f64, all: &[f64]| all.iter().filter(|z| z.abs() <= limit).count() as f64 / all.len() as f64;
    assert!((0.92..0.985).contains(&within(2.0, &all)), "{} of {} within two", within(2.0, &all), all.len());
    assert!(within(3.0, &log_z) >= 0.97, "log Z: {log_z:?}");
    assert!((0.45..0.9).contains(&within(1.0, &log_z)), "log Z: {log_z:?}");
}

/// A lattice on which plain chains stick: off by 0.4 in a mean on average.
#[test]
fn strong_couplings_are_sampled() {
    let lattice = topology::grid(12, 12, Neighbours::Four)
        .with_numbers(&Numbers::Signs(2.0), &numbers("normal:0,0.4"), 3)
        .unwrap();
    let none = Evidence::none(144);
    let truth = Eliminate::default().expectations(&lattice, &none, Pairs::Edges).unwrap();
    let found = engine(0).expectations(&lattice, &none, Pairs::Edges).unwrap();
    assert!(found.diagnostics.converged, "{:?}", found.diagnostics);
    let (all, log_z) = scores(&found, &truth);
    let far = all.iter().filter(|z| z.abs() > 4.0).count();
    assert!(far * 100 <= all.len(), "{far} of {} beyond four errors", all.len());
    let errors = found.errors.unwrap();
    assert!(log_z.abs() < 4.0 && errors.log_z.unwrap() < 0.1);
    // Two thousand effective samples of a unit leave a standard error of 0.022; a few units that
    // always change together are off by twice that in one run of ten.
    assert!(errors.means.iter().all(|error| *error < 0.03), "{:?}", errors.means);
    for (found, truth) in found.means.iter().zip(&truth.means) {
        assert!((found - truth).abs() < 0.08, "{found} {truth}");
    }
    let mixing = found.diagnostics.mixing.unwrap();
    assert!(mixing.round_trips.unwrap() > 100);
    // Equal swap rates are what the ladder is tuned for.
    let lowest = mixing.swap_rates.iter().copied().fold(1.0, f64::min);
    let highest = mixing.swap_rates.iter().copied().fold(0.0, f64::max);
    assert!(lowest > 0.4 && highest < lowest + 0.25, "{:?}", mixing.swap_rates);
}

/// Two kernels, one distribution: 150 dense units follow flips, 20 do not; both agree with what is
/// known.
#[test]
fn dense_machines_follow_flips_to_the_same_distribution() {
    // A ferromagnet of equal couplings: Σ over the number of units that are up.
    let (units, coupling, bias) = (320, 0.8 / 320.0, 0.05);
    let edges = units * (units - 1) / 2;
    let machine = topology::full(units).with_parameters(vec![coupling; edges], vec![bias; units]).unwrap();
    let mut log_choose = 0.0;
    let (mut z, mut magnetisation) = (0.0, 0.0);
    for up in 0..=units {
        let sum = 2.0 * up as f64 - units as f64;
        let weight = (log_choose + 0.5 * coupling * (sum * sum - units as f64) + bias * sum - 220.0f64).exp();
        z += weight;
        magnetisation += weight * sum / units as f64;
        log_choose += ((units - up) as f64 / (up + 1) as f64).ln();
    }
    let found = engine(1).expectations(&machine, &Evidence::none(units), Pairs::None).unwrap();
    let errors = found.errors.unwrap();
    assert!((found.log_z.unwrap() - z.ln() - 220.0).abs() < 4.0 * errors.log_z.unwrap());
    let mean = found.means.iter().sum::<f64>() / units as f64;
    let error = errors.means.iter().sum::<f64>() / units as f64;
    assert!((mean - magnetisation / z).abs() < 4.0 * error, "{mean} {} ± {error}", magnetisation / z);
}

#[test]
fn evidence_offset_temperature_and_given_ladders() {
    let machine = topology::sherrington_kirkpatrick(9, 1.5, 4).unwrap().with_temperature(1.3).unwrap();
    let machine = machine.with_biases_drawn(&numbers("normal:0,0.5"), 1).unwrap().with_offset(-3.0).unwrap();
    let evidence = given(9, 2, Spin::Down);
    let truth = brute_force(&machine, &evidence);
    let ladder = Temperatures::of(&[1.3, 2.0, 3.0, 5.0, 9.0]).unwrap();
    for engine in [engine(2).sweeps(Some(4096)), engine(3).sweeps(Some(4096)).temperatures(Some(ladder))] {
        let found = engine.expectations(&machine, &evidence, Pairs::All).unwrap();
        let errors = found.errors.as_ref().unwrap();
        assert!((found.log_z.unwrap() - truth.log_z).abs() < 4.0 * errors.log_z.unwrap());
        assert_eq!((found.means[2], errors.means[2]), (-1.0, 0.0));
        for unit in 0..9 {
            let (mean, truth, error) = (found.means[unit], truth.means[unit], errors.means[unit]);
            assert!((mean - truth).abs() <= 4.0 * error + 1e-12, "{mean} {truth} ± {error}");
            let pair = found.correlations.get(machine.graph(), 2, (unit + 3) % 9).unwrap_or(0.0);
            let known = if (unit + 3) % 9 == 2 { 0.0 } else { -found.means[(unit + 3) % 9] };
            close(pair, known, 1e-12, "a pair with a clamped unit");
        }
        let joint = engine.joint(&machine, &evidence, &[0, 5]).unwrap();
        let exact = Enumerate::default().joint(&machine, &evidence, &[0, 5]).unwrap();
        close(joint.probabilities.iter().sum(), 1.0, 1e-12, "sum of probabilities");
        for ((p, q), error) in joint.probabilities.iter().zip(&exact.probabilities).zip(joint.errors.unwrap())
        {
            assert!((p - q).abs() < 4.0 * error, "{p} {q} ± {error}");
        }
    }
    let refused =
        engine(0).levels(Some(8)).temperatures(Some(ladder)).expectations(&machine, &evidence, Pairs::None);
    assert!(matches!(refused, Err(Error::Setting { .. })), "{refused:?}");
}

#[test]
fn rows_of_a_batch_and_draws() {
    let machine = topology::sherrington_kirkpatrick(8, 1.0, 7).unwrap();
    let rows = Batch::new(8, &[1, 0, 0, 0, 0, 0, 0, 0, 0, -1, 1, 0, 0, 0, 0, 0], &[1.0, 2.0]).unwrap();
    let found = hasty(5).batch(&machine, &rows, Ask { statistics: true, means: true }).unwrap();
    let errors = found.log_z_errors.unwrap();
    for (row, evidence) in [given(8, 0, Spin::Up), {
        let mut evidence = given(8, 1, Spin::Down);
        evidence.clamp(2, Spin::Up);
        evidence
    }]
    .iter()
    .enumerate()
    {
        let truth = brute_force(&machine, evidence);
        assert!((found.log_z.as_ref().unwrap()[row] - truth.log_z).abs() < 4.0 * errors[row]);
    }
    assert_eq!(found.statistics.unwrap().weight, 3.0);
    let draws = hasty(0).draw(&machine, &given(8, 3, Spin::Up), 5000, 9).unwrap();
    assert_eq!((draws.units, draws.cells.len(), draws.guarantee), (8, 40_000, Guarantee::Approximation));
    let truth = brute_force(&machine, &given(8, 3, Spin::Up));
    for unit in 0..8 {
        let mean = draws.cells.iter().skip(unit).step_by(8).map(|&s| f64::from(s)).sum::<f64>() / 5000.0;
        assert!((mean - truth.means[unit]).abs() < 0.1, "{mean} {}", truth.means[unit]);
    }
}

#[test]
fn a_seed_fixes_the_bits_on_any_number_of_threads() {
    for machine in [machine(3), topology::sherrington_kirkpatrick(300, 1.0, 1).unwrap()] {
        let none = Evidence::none(machine.unit_count());
        let run = |threads: usize, seed: u64| {
            let engine = engine(seed).sweeps(Some(128)).burn_in(96).replicas(3);
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| engine.expectations(&machine, &none, Pairs::Edges).unwrap())
        };
        assert_eq!(run(1, 4), run(3, 4));
        assert_ne!(run(1, 4).means, run(1, 5).means);
        let mode = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| engine(2).sweeps(Some(600)).mode(&machine, &none).unwrap())
        };
        assert_eq!(mode(1), mode(2));
    }
    let machine = machine(3);
    let forests = |threads: usize| {
        let engine = engine(4).moves(Moves::Tree).sweeps(Some(128)).burn_in(96);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            engine.expectations(&machine, &Evidence::none(machine.unit_count()), Pairs::Edges).unwrap()
        })
    };
    assert_eq!(forests(1), forests(2));
}

#[test]
fn units_without_couplings_are_exact_and_too_little_memory_is_refused() {
    let apart = topology::full(3).with_parameters(vec![0.0; 3], vec![0.3, -1.0, 0.0]).unwrap();
    let found = hasty(0).expectations(&apart, &Evidence::none(3), Pairs::All).unwrap();
    let truth = brute_force(&apart, &Evidence::none(3));
    assert_eq!(found.guarantee, Guarantee::Exact);
    close(found.log_z.unwrap(), truth.log_z, 1e-6, "log Z");
    close(found.means[1], truth.means[1], 1e-12, "a mean");
    let refused =
        engine(0).budget(Budget(1 << 16)).expectations(&machine(0), &Evidence::none(16), Pairs::None);
    assert!(matches!(refused, Err(Error::OverBudget { .. })), "{refused:?}");
}

/// Chains that never travel are not called converged.
#[test]
fn without_round_trips_nothing_is_converged() {
    // Two states 400 T deep, and a ladder of two levels.
    let magnet = topology::full(30).with_parameters(vec![1.0; 435], vec![0.0; 30]).unwrap();
    let found = hasty(0).levels(Some(2)).expectations(&magnet, &Evidence::none(30), Pairs::None).unwrap();
    assert!(!found.diagnostics.converged);
    assert_eq!(found.diagnostics.mixing.unwrap().round_trips, Some(0));
}

#[test]
fn moves_leave_the_distribution_as_it_is() {
    let lattice = topology::grid(4, 5, Neighbours::Four)
        .with_numbers(&Numbers::Signs(1.0), &numbers("normal:0,0.5"), 2)
        .unwrap();
    let none = Evidence::none(20);
    let truth = Enumerate::default().expectations(&lattice, &none, Pairs::Edges).unwrap();
    for moves in [Moves::Single, Moves::Tree, Moves::Cluster] {
        let found = engine(6).moves(moves).expectations(&lattice, &none, Pairs::Edges).unwrap();
        let (all, log_z) = scores(&found, &truth);
        let worst = all.iter().fold(log_z.abs(), |worst, z| worst.max(z.abs()));
        assert!(worst < 4.5, "{moves}: {worst}");
    }
}

/// Units that turn round together, 2.4 % of the time, against all their fields: a reference which follows
/// states that do not show it would hide it at all levels.
#[test]
fn rare_states_of_clusters_are_found() {
    let lattice = topology::grid(4, 5, Neighbours::Four)
        .with_numbers(&numbers("normal:0,2"), &numbers("normal:0,0.3"), 5001)
        .unwrap();
    let none = Evidence::none(20);
    let truth = Enumerate::default().expectations(&lattice, &none, Pairs::Edges).unwrap();
    for seed in [0, 3, 5001] {
        let found = engine(seed).expectations(&lattice, &none, Pairs::Edges).unwrap();
        let (all, log_z) = scores(&found, &truth);
        let worst = all.iter().fold(log_z.abs(), |worst, z| worst.max(z.abs()));
        assert!(worst < 4.5, "seed {seed}: {worst}");
    }
}

#[test]
fn ground_states_are_found() {
    for seed in 0..4 {
        let lattice = topology::grid(10, 10, Neighbours::Four)
            .with_numbers(&Numbers::Signs(2.0), &numbers("normal:0,0.4"), seed)
            .unwrap();
        let evidence = given(100, 17, Spin::Down);
        let truth = Eliminate::default().mode(&lattice, &evidence).unwrap();
        let found = engine(0).mode(&lattice, &evidence).unwrap();
        close(found.energy, truth.energy, 1e-9, "energy");
        close(lattice.energy(&found.state), found.energy, 1e-9, "energy of the state");
        assert_eq!((found.state[17], found.guarantee), (-1, Guarantee::Approximation));
        let Meetings { met, runs } = found.meetings.unwrap();
        // Half of the ladders, or more of the chains.
        assert!((4..=runs).contains(&met), "met by {met} of {runs}");
        assert!(found.diagnostics.converged);
    }
    // Annealed runs that do not agree are followed by ladders.
    let cube = topology::lattice(&Lattice::grid3(7, 7, 7).periodic(true)).unwrap();
    let lattice = cube.with_numbers(&numbers("normal:0,1"), &numbers("0"), 3).unwrap();
    let found = engine(0).mode(&lattice, &Evidence::none(343)).unwrap();
    assert_eq!(found.meetings.unwrap().runs, 10 * 8 + 8);
    let again = engine(1).mode(&lattice, &Evidence::none(343)).unwrap();
    close(again.energy, found.energy, 1e-9, "energy from another seed");
    // Sweeps are a limit: schedules of 32 and 160, and no ladders.
    let found = engine(0).sweeps(Some(192)).mode(&lattice, &Evidence::none(343)).unwrap();
    assert_eq!(found.meetings.unwrap().runs, 2 * 8);
    // Dense machines have four runs of one chain for each replica.
    let glass = topology::sherrington_kirkpatrick(18, 1.0, 3).unwrap();
    let found = engine(0).mode(&glass, &Evidence::none(18)).unwrap();
    let truth = Enumerate::default().mode(&glass, &Evidence::none(18)).unwrap();
    close(found.energy, truth.energy, 1e-9, "energy of a glass");
    assert_eq!(found.meetings.unwrap().runs, 2 * 32);
    // Without frustration every coupling and bias can be at its best, which proves the state.
    let magnet =
        topology::grid(30, 30, Neighbours::Four).with_parameters(vec![0.5; 1740], vec![0.01; 900]).unwrap();
    let found = hasty(0).mode(&magnet, &Evidence::none(900)).unwrap();
    assert_eq!((found.guarantee, found.state), (Guarantee::Exact, vec![1; 900]));
}
