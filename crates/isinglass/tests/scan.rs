//! Thermodynamics over temperature: exact engines against sums over states and closed forms,
//! tempering against exact engines.

#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use common::close;
use isinglass::engine::{Curves, Scan, ScanRequest, Scanner};
use isinglass::topology::{self, Lattice, Neighbours, Numbers};
use isinglass::{
    Budget, Decimate, Eliminate, Enumerate, Error, Evidence, Guarantee, Machine, Sampler, Spin, Temper,
};

fn request(temperatures: &[f64]) -> ScanRequest {
    ScanRequest::new(temperatures).unwrap()
}

fn none(machine: &Machine) -> Evidence {
    Evidence::none(machine.unit_count())
}

fn numbers(text: &str) -> Numbers {
    text.parse().unwrap()
}

/// Every state in a plain loop.
fn plain(machine: &Machine, evidence: &Evidence, t: f64) -> [f64; 6] {
    let n = machine.unit_count();
    let states: Vec<(f64, f64)> = (0..1usize << n)
        .map(|bits| (0..n).map(|k| if bits >> k & 1 == 1 { 1 } else { -1 }).collect::<Vec<i8>>())
        .filter(|state| state.iter().zip(evidence.cells()).all(|(s, known)| *known == 0 || s == known))
        .map(|state| (machine.energy(&state), state.iter().map(|&s| f64::from(s)).sum()))
        .collect();
    let z: f64 = states.iter().map(|(e, _)| (-e / t).exp()).sum();
    let mean =
        |f: &dyn Fn(f64, f64) -> f64| states.iter().map(|&(e, m)| (-e / t).exp() / z * f(e, m)).sum::<f64>();
    let (u, m) = (mean(&|e, _| e), mean(&|_, m| m));
    let spread = mean(&|e, _| (e - u).powi(2));
    let fluctuation = mean(&|_, x| (x - m).powi(2));
    [z.ln(), u, spread / (t * t), m, fluctuation / t, z.ln() + u / t]
}

fn all_close(scan: &Scan, at: usize, expected: [f64; 6], tolerance: f64) {
    for ((name, values), expected) in Curves::NAMES.iter().zip(scan.values.all()).zip(expected) {
        let size = expected.abs().max(1.0);
        assert!((values[at] - expected).abs() < tolerance * size, "{name}: {} {expected}", values[at]);
    }
}

#[test]
fn exact_engines_agree_with_a_plain_loop() {
    for seed in 0..6 {
        let units = [1, 2, 5, 9, 12, 13][seed as usize];
        let machine = topology::sherrington_kirkpatrick(units, 1.5, seed).unwrap();
        let machine = machine.with_biases_drawn(&numbers("normal:0,0.5"), seed).unwrap();
        let machine = machine.with_offset(0.7).unwrap().with_temperature(1.3).unwrap();
        let mut evidence = none(&machine);
        if seed % 2 == 1 {
            evidence.clamp(units / 2, Spin::Down);
        }
        let temperatures = [0.2, 0.9, 1.3, 4.0];
        let request = request(&temperatures);
        let scanners: [&dyn Scanner; 2] = [&Enumerate::default(), &Eliminate::default()];
        for engine in scanners {
            let scan = engine.scan(&machine, &evidence, &request).unwrap();
            assert_eq!((scan.guarantee, scan.errors.is_none()), (Guarantee::Exact, true));
            for (at, &t) in temperatures.iter().enumerate() {
                all_close(&scan, at, plain(&machine, &evidence, t), 1e-10);
            }
        }
    }
}

#[test]
fn chains_and_independent_units_have_closed_forms() {
    // An open chain without fields: Z = 2 (2 cosh J/T)^(n−1).
    let (n, j) = (200, 0.8);
    let chain = topology::chain(n).with_parameters(vec![j; n - 1], vec![0.0; n]).unwrap();
    let scan = Decimate::default().scan(&chain, &none(&chain), &request(&[0.3, 1.0, 3.0])).unwrap();
    let bonds = (n - 1) as f64;
    for (at, &t) in scan.temperatures.iter().enumerate() {
        let k: f64 = j / t;
        let log_z = 2f64.ln() + bonds * (2.0 * k.cosh()).ln();
        close(scan.values.log_z[at], log_z, 1e-9, "log Z");
        close(scan.values.energy[at], -bonds * j * k.tanh(), 1e-9, "energy");
        close(scan.values.heat_capacity[at], bonds * (k / k.cosh()).powi(2), 1e-9, "heat capacity");
        // χT = Σ_ij tanh^|i−j|.
        let sum: f64 = (1..n).map(|d| 2.0 * (n - d) as f64 * k.tanh().powi(d as i32)).sum();
        close(scan.values.susceptibility[at], (n as f64 + sum) / t, 1e-7, "susceptibility");
    }
    // Units in fields, without couplings: known to tempering too.
    let apart = topology::chain(3).with_parameters(vec![0.0; 2], vec![0.5, -1.0, 2.0]).unwrap();
    let scan = Temper::new().scan(&apart, &none(&apart), &request(&[0.7, 2.0]).overlap(true)).unwrap();
    assert_eq!(scan.guarantee, Guarantee::Exact);
    for (at, &t) in scan.temperatures.iter().enumerate() {
        all_close(&scan, at, plain(&apart, &none(&apart), t), 1e-12);
    }
}

/// Energy of the infinite periodic square lattice (Onsager 1944).
fn onsager(k: f64) -> f64 {
    let x = 2.0 * (2.0 * k).sinh() / (2.0 * k).cosh().powi(2);
    let steps = 20_000;
    let term = |i: usize| {
        let phi = std::f64::consts::FRAC_PI_2 * (i as f64 + 0.5) / steps as f64;
        1.0 / (1.0 - (x * phi.sin()).powi(2)).sqrt()
    };
    let elliptic = std::f64::consts::FRAC_PI_2 / steps as f64 * (0..steps).map(term).sum::<f64>();
    let slope = 2.0 * (2.0 * k).tanh().powi(2) - 1.0;
    -(1.0 + 2.0 / std::f64::consts::PI * slope * elliptic) / (2.0 * k).tanh()
}

/// A periodic lattice of 24 × 24 units: away from the critical point it is nearly infinite, at it the
/// heat capacity has its peak.
#[test]
fn a_tempered_lattice_has_onsagers_energy() {
    let side = 24;
    let lattice = topology::lattice(&Lattice::grid(side, side).periodic(true)).unwrap();
    let edges = lattice.graph().edges().len();
    let lattice = lattice.with_parameters(vec![1.0; edges], vec![0.0; side * side]).unwrap();
    let temperatures: Vec<f64> = (0..21).map(|k| 1.75 + 0.1 * f64::from(k)).collect();
    let scan = Temper::new().sweeps(Some(4096)).burn_in(2048);
    let scan = scan.scan(&lattice, &none(&lattice), &request(&temperatures)).unwrap();
    let errors = scan.errors.as_ref().unwrap();
    let units = (side * side) as f64;
    for (at, &t) in temperatures.iter().enumerate() {
        if (t - 2.269).abs() > 0.5 {
            let (found, error) = (scan.values.energy[at] / units, errors.energy[at] / units);
            assert!((found - onsager(1.0 / t)).abs() < 5.0 * error + 1e-4, "{t}: {found} ± {error}");
            assert!(error < 0.01, "{t}: {error}");
        }
    }
    let peak = (0..temperatures.len())
        .max_by(|&a, &b| scan.values.heat_capacity[a].total_cmp(&scan.values.heat_capacity[b]))
        .unwrap();
    assert!((temperatures[peak] - 2.269).abs() < 0.11, "{}", temperatures[peak]);
}

/// Two errors cover the exact quantities as often as they should, at temperatures of every kind.
#[test]
fn errors_of_tempering_cover_the_truth() {
    let temperatures: Vec<f64> = (1..=8).map(|k| 0.45 * f64::from(k)).collect();
    let request = request(&temperatures);
    let mut scores: Vec<Vec<f64>> = vec![Vec::new(); 6];
    for seed in 0..24 {
        let machine = if seed % 2 == 0 {
            topology::sherrington_kirkpatrick(18, 1.0, seed).unwrap()
        } else {
            let lattice = topology::grid(4, 5, Neighbours::Four);
            lattice.with_numbers(&numbers("normal:0,1"), &numbers("0"), seed).unwrap()
        };
        let machine = machine.with_biases_drawn(&numbers("normal:0,0.3"), seed).unwrap();
        let mut evidence = none(&machine);
        evidence.clamp(3, Spin::Up);
        let truth = Enumerate::default().scan(&machine, &evidence, &request).unwrap();
        let found = Temper::new().seed(seed).sweeps(Some(2048)).burn_in(1024);
        let found = found.scan(&machine, &evidence, &request).unwrap();
        assert!(found.diagnostics.converged, "seed {seed}: {:?}", found.diagnostics);
        let errors = found.errors.as_ref().unwrap();
        let all = found.values.all().into_iter().zip(truth.values.all()).zip(errors.all());
        for (((values, truth), errors), scores) in all.zip(&mut scores) {
            let three = values.iter().zip(truth).zip(errors);
            scores.extend(three.map(|((found, truth), error)| (found - truth) / error));
        }
    }
    for (name, scores) in Curves::NAMES.iter().zip(&scores) {
        let within =
            |limit: f64| scores.iter().filter(|z| z.abs() <= limit).count() as f64 / scores.len() as f64;
        println!(
            "{name}: {:.3} within one, {:.3} within two, {:.3} within three",
            within(1.0),
            within(2.0),
            within(3.0)
        );
        // Neighbouring temperatures share their states: 192 scores are about 60 independent ones.
        assert!((0.88..=1.0).contains(&within(2.0)), "{name}: {}", within(2.0));
        assert!((0.5..0.86).contains(&within(1.0)), "{name}: {}", within(1.0));
    }
}

#[test]
fn overlaps_of_both_kinds_agree() {
    let glass = topology::grid(4, 4, Neighbours::Four).with_numbers(&Numbers::Signs(1.0), &numbers("0"), 2);
    let glass = glass.unwrap();
    let request = request(&[0.5, 1.0, 3.0]).overlap(true);
    let exact = Enumerate::default().scan(&glass, &none(&glass), &request).unwrap().overlaps.unwrap();
    let found =
        Temper::new().sweeps(Some(4096)).scan(&glass, &none(&glass), &request).unwrap().overlaps.unwrap();
    for (exact, found) in exact.iter().zip(&found) {
        assert_eq!((exact.temperature, &exact.q), (found.temperature, &found.q));
        assert_eq!(exact.q.len(), 17);
        close(exact.p.iter().sum(), 1.0, 1e-9, "sum");
        close(found.p.iter().sum(), 1.0, 1e-6, "sum");
        for k in 0..17 {
            let error = exact.p_error[k].hypot(found.p_error[k]);
            assert!((exact.p[k] - found.p[k]).abs() < 4.5 * error, "{}: {}", exact.temperature, exact.q[k]);
        }
        let error = exact.binder_error.hypot(found.binder_error);
        assert!((exact.binder - found.binder).abs() < 4.0 * error, "{exact:?} {found:?}");
    }
    // Hot, q is nearly normal.
    assert!(exact[2].binder < exact[0].binder);
}

#[test]
fn the_same_seed_gives_the_same_bytes_on_any_number_of_threads() {
    let glass = topology::sherrington_kirkpatrick(20, 1.0, 5).unwrap();
    let request = request(&[0.6, 1.1]).overlap(true);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let temper = Temper::new().sweeps(Some(512)).burn_in(256);
        pool.install(|| {
            let scan = temper.scan(&glass, &none(&glass), &request).unwrap();
            let exact = Enumerate::default().scan(&glass, &none(&glass), &request).unwrap();
            let network = Eliminate::default().scan(&glass, &none(&glass), &request).unwrap();
            (scan, exact, network)
        })
    };
    assert_eq!(on(1), on(3));
}

#[test]
fn what_cannot_be_scanned_is_refused() {
    for (wrong, part) in [
        (&[][..], "found 0, expected 1 to"),
        (&[1.0, 0.0][..], "found 0, expected finite"),
        (&[f64::NAN][..], "found NaN"),
        (&[-1.0][..], "found -1"),
    ] {
        let error = ScanRequest::new(wrong).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
    assert_eq!(request(&[2.0, 1.0, 2.0]).temperatures(), [1.0, 2.0]);
    let glass = topology::sherrington_kirkpatrick(14, 1.0, 0).unwrap();
    let tight = Budget(4096);
    let scanners: [&dyn Scanner; 3] =
        [&Enumerate::new().budget(tight), &Eliminate::new().budget(tight), &Temper::new().budget(tight)];
    for engine in scanners {
        let error = engine.scan(&glass, &none(&glass), &request(&[1.0])).unwrap_err();
        assert!(matches!(error, Error::OverBudget { .. }), "{error}");
    }
    // All units clamped: one state.
    let pair = topology::chain(2).with_parameters(vec![0.5], vec![0.1, 0.2]).unwrap();
    let mut both = none(&pair);
    both.clamp(0, Spin::Up);
    both.clamp(1, Spin::Down);
    for engine in [&Enumerate::default() as &dyn Scanner, &Decimate::default(), &Temper::new()] {
        let scan = engine.scan(&pair, &both, &request(&[0.5]).overlap(true)).unwrap();
        all_close(&scan, 0, [-1.2, 0.6, 0.0, 0.0, 0.0, 0.0], 1e-12);
        assert_eq!(scan.overlaps.unwrap()[0].p, [1.0], "{}", engine.name());
    }
    assert!(Enumerate::default().draw(&pair, &both, 1, 0).is_ok());
}
