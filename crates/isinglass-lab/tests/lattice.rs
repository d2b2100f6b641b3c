//! Inference on lattices: against enumeration, decimation and plain loops, by symmetry, and on any
//! number of threads.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

use isinglass::topology::Neighbours;
use isinglass::{Budget, Decimate, Engine, Enumerate, Error, Evidence, Guarantee, Pairs};
use isinglass_lab::lattice::{Denoised, Denoiser, Lattice, Method, flip_pixels, log_odds_of_flips};
use proptest::prelude::*;

#[track_caller]
fn close(found: f64, expected: f64, tolerance: f64, what: &str) {
    let scale = expected.abs().max(1.0);
    assert!((found - expected).abs() <= tolerance * scale, "{what}: found {found}, expected {expected}");
}

/// Returns the neighbours of a pixel.
fn around(lattice: &Lattice, pixel: usize) -> Vec<usize> {
    let (row, column) = ((pixel / lattice.columns()) as isize, (pixel % lattice.columns()) as isize);
    let mut found = Vec::new();
    for (down, right) in [(-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)] {
        if down != 0 && right != 0 && lattice.neighbours() == Neighbours::Four {
            continue;
        }
        let (r, c) = (row + down, column + right);
        if r >= 0 && c >= 0 && r < lattice.rows() as isize && c < lattice.columns() as isize {
            found.push(r as usize * lattice.columns() + c as usize);
        }
    }
    found
}

fn field(lattice: &Lattice, observed: &[i8], means: &[f64], pixel: usize) -> f64 {
    let sum: f64 = around(lattice, pixel).iter().map(|&other| means[other]).sum();
    lattice.coupling() * sum + lattice.data() * f64::from(observed[pixel])
}

/// Returns the free energy by its definition.
fn free_energy(lattice: &Lattice, observed: &[i8], means: &[f64]) -> f64 {
    let part = |p: f64| if p > 0.0 { p * p.ln() } else { 0.0 };
    let mut sum = 0.0;
    for (pixel, &m) in means.iter().enumerate() {
        sum += part(f64::midpoint(1.0, m)) + part(f64::midpoint(1.0, -m));
        sum -= lattice.data() * m * f64::from(observed[pixel]);
        for other in around(lattice, pixel) {
            sum -= 0.5 * lattice.coupling() * m * means[other];
        }
    }
    sum
}

/// Returns the order of updates in the library: one plane after the other.
fn by_planes(lattice: &Lattice) -> Vec<usize> {
    let mut order = Vec::new();
    for (row_parity, column_parity) in [(0, 0), (1, 1), (0, 1), (1, 0)] {
        for row in (row_parity..lattice.rows()).step_by(2) {
            for column in (column_parity..lattice.columns()).step_by(2) {
                order.push(row * lattice.columns() + column);
            }
        }
    }
    order
}

/// Updates all messages in parallel until they converge. Returns the means.
fn plain_bethe(lattice: &Lattice, observed: &[i8]) -> Vec<f64> {
    let ln_cosh = |x: f64| x.abs() + (-2.0 * x.abs()).exp().ln_1p();
    let n = observed.len();
    let neighbours: Vec<Vec<usize>> = (0..n).map(|pixel| around(lattice, pixel)).collect();
    let mut messages = vec![vec![0.0; n]; n];
    for _ in 0..100_000 {
        let old = messages.clone();
        let mut change = 0f64;
        for from in 0..n {
            for &to in &neighbours[from] {
                let others = neighbours[from].iter().filter(|&&k| k != to);
                let h =
                    lattice.data() * f64::from(observed[from]) + others.map(|&k| old[k][from]).sum::<f64>();
                let new = 0.5 * (ln_cosh(h + lattice.coupling()) - ln_cosh(h - lattice.coupling()));
                change = change.max((new - old[from][to]).abs());
                messages[from][to] = 0.5 * (old[from][to] + new);
            }
        }
        if change < 1e-14 {
            break;
        }
    }
    let total = |pixel: usize| {
        lattice.data() * f64::from(observed[pixel])
            + neighbours[pixel].iter().map(|&k| messages[k][pixel]).sum::<f64>()
    };
    (0..n).map(|pixel| total(pixel).tanh()).collect()
}

/// Generates lattices of up to some rows and columns, with couplings of either sign, and
/// observations, some of them missing.
fn pictures(rows: usize, columns: usize, strongest: f64) -> impl Strategy<Value = (Lattice, Vec<i8>)> {
    (1..=rows, 1..=columns, -strongest..strongest, -2.0..2.0f64, any::<bool>()).prop_flat_map(
        |(rows, columns, coupling, data, eight)| {
            let neighbours = if eight { Neighbours::Eight } else { Neighbours::Four };
            let lattice = Lattice::new(rows, columns, coupling, data).unwrap().with_neighbours(neighbours);
            let pixel = prop_oneof![4 => Just(1i8), 4 => Just(-1i8), 1 => Just(0i8)];
            (Just(lattice), proptest::collection::vec(pixel, rows * columns))
        },
    )
}

fn solve(method: Method, lattice: &Lattice, observed: &[i8]) -> Denoised {
    let settings = Denoiser { method, iterations: 20_000, tolerance: 1e-12, ..Denoiser::default() };
    settings.denoise(lattice, observed).unwrap()
}

#[track_caller]
fn same_means(found: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), expected.len());
    for (pixel, (&a, &b)) in found.iter().zip(expected).enumerate() {
        close(a, b, tolerance, &format!("{what}, pixel {pixel}"));
    }
}

/// Whether messages contract, so that belief propagation has at most one fixed point (Mooij and
/// Kappen 2007). Otherwise another order of updates may find another one.
fn has_one_fixed_point(lattice: &Lattice) -> bool {
    let neighbours = if lattice.neighbours() == Neighbours::Eight { 8.0 } else { 4.0 };
    (neighbours - 1.0) * lattice.coupling().abs().tanh() < 1.0
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Each sweep agrees with a plain loop in the same order. The free energy agrees with its
    /// definition and never rises.
    #[test]
    fn mean_field_sweeps_are_those_of_a_plain_loop((lattice, observed) in pictures(9, 40, 1.5), sweeps in 1..6usize) {
        let settings = Denoiser { iterations: sweeps, tolerance: 0.0, ..Denoiser::default() };
        let found = settings.denoise(&lattice, &observed).unwrap();
        let mut means: Vec<f64> = observed.iter().map(|&x| (lattice.data() * f64::from(x)).tanh()).collect();
        let mut before = free_energy(&lattice, &observed, &means);
        let order = by_planes(&lattice);
        for energy in &found.free_energy {
            for &pixel in &order {
                means[pixel] = field(&lattice, &observed, &means, pixel).tanh();
            }
            close(*energy, free_energy(&lattice, &observed, &means), 1e-12, "free energy");
            prop_assert!(*energy <= before + 1e-12 * before.abs().max(1.0), "{energy} after {before}");
            before = *energy;
        }
        same_means(&found.means, &means, 1e-12, "mean field");
        let residual = (0..means.len()).map(|k| (field(&lattice, &observed, &means, k).tanh() - means[k]).abs());
        close(found.residual, residual.fold(0.0, f64::max), 1e-12, "residual");
        prop_assert_eq!(found.sweeps, found.free_energy.len());
        prop_assert_eq!(found.converged, found.residual == 0.0);
    }

    /// In any order from any start it agrees with a plain loop. The free energy never rises and
    /// bounds log Z.
    #[test]
    fn sweeps_in_a_given_order((lattice, observed) in pictures(4, 4, 1.5), seed in any::<u64>(), sweeps in 1..4usize) {
        let n = observed.len();
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by_key(|&k| (k as u64 + 1).wrapping_mul(seed | 1).rotate_left(17) % 1009);
        let start: Vec<f64> = (0..n).map(|k| ((k as u64 ^ seed) % 11) as f64 / 10.0).collect();
        let pairs: Vec<_> = order.iter().map(|&k| (k / lattice.columns(), k % lattice.columns())).collect();
        let found = lattice.mean_field_in_order(&observed, &start, &pairs, sweeps).unwrap();
        let machine = lattice.machine(&observed).unwrap();
        let log_z = Enumerate::default().expectations(&machine, &Evidence::none(n), Pairs::None).unwrap().log_z.unwrap();
        let mut pi = start.clone();
        let mut before = lattice.free_energy(&observed, &start).unwrap().total();
        prop_assert!(-before <= log_z + 1e-10);
        prop_assert_eq!(found.len(), sweeps);
        for sweep in found {
            for &pixel in &order {
                let others = around(&lattice, pixel).into_iter();
                let p = others.map(|other| lattice.coupling() * (2.0 * pi[other] - 1.0)).sum::<f64>()
                    + lattice.data() * f64::from(observed[pixel]);
                pi[pixel] = p.exp() / (p.exp() + (-p).exp());
            }
            same_means(&sweep.probabilities, &pi, 1e-13, "probability");
            let means: Vec<f64> = pi.iter().map(|p| 2.0 * p - 1.0).collect();
            let energy = sweep.free_energy.total();
            close(energy, free_energy(&lattice, &observed, &means), 1e-12, "free energy");
            prop_assert!(energy <= before + 1e-12 * before.abs().max(1.0), "{energy} after {before}");
            prop_assert!(-energy <= log_z + 1e-10, "a bound above log Z: {} and {log_z}", -energy);
            before = energy;
        }
    }

    /// Fixed points satisfy their equations, and the bound holds.
    #[test]
    fn fixed_points_satisfy_their_equations((lattice, observed) in pictures(4, 4, 0.3)) {
        let n = observed.len();
        let found = solve(Method::MeanField, &lattice, &observed);
        prop_assert!(found.converged && found.residual <= 1e-12);
        for pixel in 0..n {
            close(found.means[pixel], field(&lattice, &observed, &found.means, pixel).tanh(), 1e-8, "mean field");
        }
        let machine = lattice.machine(&observed).unwrap();
        let exact = Enumerate::default().expectations(&machine, &Evidence::none(n), Pairs::None).unwrap();
        prop_assert!(-found.free_energy.last().unwrap() <= exact.log_z.unwrap() + 1e-10);
        let found = solve(Method::Bethe, &lattice, &observed);
        prop_assert!(found.converged && found.residual <= 1e-12);
        if has_one_fixed_point(&lattice) {
            same_means(&found.means, &plain_bethe(&lattice, &observed), 1e-8, "bethe");
        }
    }

    /// Rows of several vectors with partial ends agree with the plain loop.
    #[test]
    fn bethe_on_wide_pictures((lattice, observed) in pictures(3, 37, 0.25), damping in 0.0..0.8f64) {
        let settings = Denoiser { method: Method::Bethe, iterations: 9_000, tolerance: 1e-12, damping, ..Denoiser::default() };
        let found = settings.denoise(&lattice, &observed).unwrap();
        prop_assert!(found.converged);
        if has_one_fixed_point(&lattice) {
            same_means(&found.means, &plain_bethe(&lattice, &observed), 1e-8, "bethe");
        }
    }

    /// A single row or column is a tree: messages are exact at any coupling.
    #[test]
    fn bethe_is_exact_on_a_row((lattice, observed) in pictures(1, 60, 4.0), upright in any::<bool>()) {
        let n = observed.len();
        let (rows, columns) = if upright { (n, 1) } else { (1, n) };
        let turned = Lattice::new(rows, columns, lattice.coupling(), lattice.data()).unwrap();
        let machine = turned.machine(&observed).unwrap();
        let exact = Decimate::default().expectations(&machine, &Evidence::none(n), Pairs::None).unwrap();
        let found = solve(Method::Bethe, &turned, &observed);
        prop_assert!(found.converged);
        same_means(&found.means, &exact.means, 1e-10, "row");
    }

    /// Flipping all observations flips all means.
    #[test]
    fn flipped_pictures_have_flipped_answers((lattice, observed) in pictures(7, 20, 0.4)) {
        let flipped: Vec<i8> = observed.iter().map(|x| -x).collect();
        for method in [Method::MeanField, Method::Bethe] {
            let settings = Denoiser { method, iterations: 30, ..Denoiser::default() };
            let one = settings.denoise(&lattice, &observed).unwrap();
            let other = settings.denoise(&lattice, &flipped).unwrap();
            let turned: Vec<f64> = other.means.iter().map(|m| -m).collect();
            same_means(&one.means, &turned, 1e-12, method.word());
        }
    }

    /// The answer for a transposed or mirrored picture is transposed or mirrored.
    #[test]
    fn turned_pictures_have_turned_answers((lattice, observed) in pictures(6, 21, 0.2)) {
        let (rows, columns) = (lattice.rows(), lattice.columns());
        let upright = Lattice::new(columns, rows, lattice.coupling(), lattice.data()).unwrap()
            .with_neighbours(lattice.neighbours());
        let turn = |k: usize| (k % rows) * columns + k / rows;
        let mirror = |k: usize| k / columns * columns + columns - 1 - k % columns;
        let taken = |place: &dyn Fn(usize) -> usize| (0..observed.len()).map(|k| observed[place(k)]).collect::<Vec<i8>>();
        for method in [Method::MeanField, Method::Bethe] {
            let plain = solve(method, &lattice, &observed).means;
            let turned = solve(method, &upright, &taken(&turn)).means;
            let mirrored = solve(method, &lattice, &taken(&mirror)).means;
            let expected = |place: &dyn Fn(usize) -> usize| (0..plain.len()).map(|k| plain[place(k)]).collect::<Vec<f64>>();
            same_means(&turned, &expected(&turn), 1e-9, "turned");
            same_means(&mirrored, &expected(&mirror), 1e-9, "mirrored");
        }
    }
}

/// Four pixels, J = ½, D = 1, worked out by hand: `p = 1`, then `1 + ½ · 0.761594`, …
#[test]
fn two_by_two_number_by_number() {
    let lattice = Lattice::new(2, 2, 0.5, 1.0).unwrap();
    let observed = [1, 1, 1, -1];
    let sweeps = lattice.mean_field_in_order(&observed, &[0.5; 4], &lattice.rows_in_order(), 2).unwrap();
    let first = [0.880_797_077_978, 0.940_564_814_172, 0.940_564_814_172, 0.440_843_183_913];
    let second = [0.977_296_239_694, 0.944_605_069_777, 0.944_605_069_777, 0.444_830_608_884];
    same_means(&sweeps[0].probabilities, &first, 1e-12, "first sweep");
    same_means(&sweeps[1].probabilities, &second, 1e-12, "second sweep");
    close(sweeps[0].free_energy.log_q, -1.502_286_716_542, 1e-12, "E_Q[log Q]");
    close(sweeps[0].free_energy.couplings, 0.566_813_528_841, 1e-12, "couplings");
    close(sweeps[0].free_energy.data, 2.642_167_044_818, 1e-12, "data");
    close(sweeps[0].free_energy.total(), -4.711_267_290_201, 1e-12, "first free energy");
    close(sweeps[1].free_energy.total(), -4.817_708_471_513, 1e-12, "second free energy");
    close(sweeps[0].change, first[1] - 0.5, 1e-12, "change");
    close(lattice.free_energy(&observed, &[0.5; 4]).unwrap().total(), -4.0 * 2f64.ln(), 1e-14, "start");
    close(
        lattice.free_energy(&observed, &[1.0, 1.0, 1.0, 0.0]).unwrap().total(),
        -4.0,
        1e-14,
        "a certain state",
    );
}

/// Nine pixels from the middle outwards, one observation missing; J = 0.8, D = ½. The first is
/// `p = 0.8 (0.8+0.8+0+0.8) − 0.5 = 1.42`.
#[test]
fn three_by_three_number_by_number() {
    let lattice = Lattice::new(3, 3, 0.8, 0.5).unwrap();
    let observed = [1, 1, -1, 1, -1, 0, 1, 1, 1];
    let start = observed.map(|x| 0.5 + 0.4 * f64::from(x));
    let order = [(1, 1), (0, 0), (2, 2), (0, 2), (2, 0), (0, 1), (1, 0), (1, 2), (2, 1)];
    let sweeps = lattice.mean_field_in_order(&observed, &start, &order, 2).unwrap();
    let first = [
        0.972_347_577_677,
        0.984_593_182_612,
        0.569_546_223_939,
        0.995_706_638_903,
        0.944_799_462_217,
        0.950_214_725_848,
        0.972_347_577_677,
        0.994_716_836_676,
        0.907_207_046_883,
    ];
    let second = [
        0.984_279_733_964,
        0.995_260_565_855,
        0.879_889_619_219,
        0.996_607_244_476,
        0.994_295_280_603,
        0.987_146_021_903,
        0.984_773_211_909,
        0.996_587_161_070,
        0.982_429_047_287,
    ];
    same_means(&sweeps[0].probabilities, &first, 1e-12, "first sweep");
    same_means(&sweeps[1].probabilities, &second, 1e-12, "second sweep");
    close(sweeps[0].free_energy.total(), -11.268_017_995_369, 1e-12, "first free energy");
    close(sweeps[1].free_energy.total(), -11.776_125_599_619, 1e-12, "second free energy");
}

/// Means of many short chains are within five standard errors of the exact ones.
#[test]
fn gibbs_agrees_with_enumeration() {
    for (neighbours, coupling) in
        [(Neighbours::Four, 0.35), (Neighbours::Eight, 0.2), (Neighbours::Four, -0.5)]
    {
        let lattice = Lattice::new(3, 5, coupling, 0.4).unwrap().with_neighbours(neighbours);
        let observed = [1, -1, 1, 1, 0, -1, -1, 1, -1, 1, 1, 0, -1, -1, 1];
        let machine = lattice.machine(&observed).unwrap();
        let exact = Enumerate::default().expectations(&machine, &Evidence::none(15), Pairs::None).unwrap();
        let settings = Denoiser { method: Method::Gibbs, iterations: 200, seed: 11, ..Denoiser::default() };
        let copies = 600;
        let answers = settings.denoise_many(&lattice, &vec![observed; copies]).unwrap();
        for pixel in 0..15 {
            let mean = answers.iter().map(|a| a.means[pixel]).sum::<f64>() / copies as f64;
            let square = answers.iter().map(|a| (a.means[pixel] - mean).powi(2)).sum::<f64>();
            let error = (square / (copies * (copies - 1)) as f64).sqrt();
            assert!(error < 0.01, "{error}");
            let off = (mean - exact.means[pixel]).abs();
            assert!(
                off <= 5.0 * error,
                "{neighbours:?}, pixel {pixel}: {mean}, not {}: off by {off}, error {error}",
                exact.means[pixel]
            );
        }
        // The standard error that a chain reports is that of its means.
        let reported = (answers.iter().map(|a| a.residual.powi(2)).sum::<f64>() / copies as f64).sqrt();
        let real =
            answers.iter().flat_map(|a| a.means.iter().zip(&exact.means)).map(|(a, b)| (a - b).powi(2));
        let real = (real.sum::<f64>() / (15 * copies) as f64).sqrt();
        assert!((0.85..1.15).contains(&(reported / real)), "reported {reported}, real {real}");
        assert!(answers.iter().filter(|a| a.converged).count() > copies * 9 / 10);
    }
}

#[test]
fn a_chain_that_has_not_converged_reports_it() {
    // From noise, with strong couplings and weak observations, domains keep growing.
    let lattice = Lattice::new(200, 200, 1.0, 0.001).unwrap();
    let noise = flip_pixels(&vec![1; 40_000], 0.5, 1).unwrap();
    let settings = Denoiser { method: Method::Gibbs, burn_in: 0, iterations: 20, ..Denoiser::default() };
    assert!(!settings.denoise(&lattice, &noise).unwrap().converged);
    for method in [Method::MeanField, Method::Bethe] {
        let answer =
            Denoiser { method, iterations: 3, ..Denoiser::default() }.denoise(&lattice, &noise).unwrap();
        assert!(!answer.converged && answer.residual > 1e-4 && answer.sweeps == 3, "{method}");
    }
}

/// The picture is large enough for several bands, and its sides are odd.
#[test]
fn the_same_bytes_on_any_number_of_threads() {
    let (rows, columns) = (331, 257);
    let clean: Vec<i8> = (0..rows * columns)
        .map(|k| if (k / columns / 40 + k % columns / 30) % 2 == 0 { 1 } else { -1 })
        .collect();
    let noisy = flip_pixels(&clean, 0.1, 5).unwrap();
    for neighbours in [Neighbours::Four, Neighbours::Eight] {
        let lattice = Lattice::new(rows, columns, 0.5, 1.0).unwrap().with_neighbours(neighbours);
        for method in Method::ALL {
            let settings = Denoiser { method, iterations: 12, seed: 3, ..Denoiser::default() };
            let on = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| {
                    let one = settings.denoise(&lattice, &noisy).unwrap();
                    (settings.denoise_many(&lattice, &[&noisy, &clean, &noisy]).unwrap(), one)
                })
            };
            let (many, one) = on(1);
            assert_eq!((many.clone(), one.clone()), on(2), "{method}");
            assert_eq!((many.clone(), one.clone()), on(3), "{method}");
            assert_eq!(many[0], one, "{method}");
            let differ = many[2] != one;
            assert_eq!(differ, method == Method::Gibbs, "{method}: separate streams");
            assert_eq!(one.guarantee, method.guarantee());
            let wrong = |picture: &[i8]| picture.iter().zip(&clean).filter(|(a, b)| a != b).count();
            assert!(wrong(&one.decisions()) < wrong(&noisy) / 2, "{method}");
        }
    }
}

#[test]
fn decisions_and_probabilities() {
    let lattice = Lattice::new(1, 3, 0.0, log_odds_of_flips(0.2).unwrap()).unwrap();
    let answer = Denoiser::default().denoise(&lattice, &[1, 0, -1]).unwrap();
    assert_eq!(answer.decisions(), [1, 1, -1], "an undecided pixel is +1, as in the lecture");
    same_means(&answer.probabilities(), &[0.8, 0.5, 0.2], 1e-14, "without couplings");
    assert_eq!((answer.guarantee, answer.converged), (Guarantee::LowerBound, true));
    assert!(Denoiser::default().denoise_many(&lattice, &[] as &[[i8; 3]]).unwrap().is_empty());
}

#[test]
fn invalid_input_is_refused_with_its_place() {
    let message = |result: Result<_, Error>| match result {
        Ok(()) => panic!("accepted"),
        Err(error) => error.to_string(),
    };
    let lattice = Lattice::new(2, 3, 0.5, 1.0).unwrap();
    for (rows, columns, coupling, data, words) in [
        (0, 3, 0.5, 1.0, "rows: found 0"),
        (2, 0, 0.5, 1.0, "columns: found 0"),
        (2, 3, f64::NAN, 1.0, "coupling: found NaN"),
        (2, 3, 0.5, f64::INFINITY, "data: found inf"),
        (2, 3, -100.5, 1.0, "coupling: found -100.5"),
    ] {
        let found = message(Lattice::new(rows, columns, coupling, data).map(drop));
        assert!(found.contains(words), "{found}");
    }
    let plain = Denoiser::default();
    let gibbs = Denoiser { method: Method::Gibbs, ..plain };
    for (settings, words) in [
        (Denoiser { iterations: 0, ..plain }, "iterations: found 0, expected from 1"),
        (Denoiser { iterations: 3, ..gibbs }, "iterations: found 3, expected from 4"),
        (Denoiser { tolerance: -1.0, ..plain }, "tolerance: found -1"),
        (Denoiser { tolerance: f64::NAN, ..plain }, "tolerance: found NaN"),
        (Denoiser { damping: 1.0, ..plain }, "damping: found 1"),
        (Denoiser { budget: Budget(100), ..plain }, "mean-field: a picture of 2 × 3 pixels needs"),
    ] {
        let found = message(settings.denoise(&lattice, &[1; 6]).map(drop));
        assert!(found.contains(words), "{found}");
    }
    let found = message(plain.denoise(&lattice, &[1; 5]).map(drop));
    assert!(found.contains("found 5, expected 6"), "{found}");
    let found = message(plain.denoise(&lattice, &[1, 1, 1, 1, 2, 1]).map(drop));
    assert!(found.contains("row 1, column 1: found 2"), "{found}");
    let found = message(plain.denoise_many(&lattice, &[[1; 6], [1, 1, 7, 1, 1, 1]]).map(drop));
    assert!(found.contains("picture 1: pixel in row 0, column 2: found 7"), "{found}");
    let endless = Lattice::new(usize::MAX, usize::MAX, 0.5, 1.0).unwrap();
    for method in Method::ALL {
        let found = message(Denoiser { method, ..plain }.denoise(&endless, &[]).map(drop));
        assert!(found.contains("needs") && found.contains("budget"), "{found}");
    }

    let rows = lattice.rows_in_order();
    let order = |observed: &[i8], start: &[f64], order: &[(usize, usize)]| {
        message(lattice.mean_field_in_order(observed, start, order, 1).map(drop))
    };
    let mut twice = rows.clone();
    twice[4] = (0, 0);
    let mut outside = rows.clone();
    outside[2] = (2, 0);
    assert!(order(&[1; 6], &[0.5; 6], &twice).contains("order, place 4: found (0, 0) again"));
    assert!(order(&[1; 6], &[0.5; 6], &outside).contains("order, place 2: found (2, 0)"));
    assert!(order(&[1; 6], &[0.5; 6], &rows[1..]).contains("found 5, expected 6"));
    assert!(order(&[1; 6], &[0.5; 5], &rows).contains("found 5, expected 6"));
    assert!(
        order(&[1; 6], &[0.5, 0.5, 1.5, 0.5, 0.5, 0.5], &rows)
            .contains("row 0, column 2: found the probability 1.5")
    );
    assert!(flip_pixels(&[1], 1.5, 0).is_err() && flip_pixels(&[1], f64::NAN, 0).is_err());
    assert!(log_odds_of_flips(0.0).is_err() && log_odds_of_flips(1.0).is_err());
    assert_eq!(flip_pixels(&[1, -1, 0], 1.0, 0).unwrap(), [-1, 1, 0]);
}
