//! The experiments of the sources at small sizes: numbers, checks and texts.

#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

use std::sync::atomic::{AtomicUsize, Ordering};

use isinglass::{Error, Table};
use isinglass_lab::reproduce::{Report, Settings, Verdict, experiment, experiments};
use isinglass_lab::{NoProgress, Progress};

fn quick(name: &str, seed: u64) -> Report {
    let settings = Settings { quick: true, seed, digits: None, progress: &NoProgress };
    experiment(name).unwrap().run(&settings).unwrap()
}

fn column(report: &Report, name: &str) -> Vec<f64> {
    report.outcome.column(name).unwrap_or_else(|| panic!("no column {name}")).to_vec()
}

fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len() as f64
}

/// Counts how often the change from one number to the next reverses its sign.
fn reversals(numbers: &[f64]) -> usize {
    let steps: Vec<f64> = numbers.windows(2).map(|pair| pair[1] - pair[0]).collect();
    steps.windows(2).filter(|pair| pair[0] * pair[1] < 0.0).count()
}

/// Checks what every experiment must return: a rectangular table, a valid figure of moderate size,
/// and short texts with a verdict.
#[track_caller]
fn assert_complete(report: &Report) {
    let name = report.experiment.name;
    let csv = report.outcome.to_csv();
    let mut lines = csv.lines();
    let cells = lines.next().unwrap().split(',').count();
    assert_eq!(cells, report.outcome.columns.len());
    assert!(csv.lines().count() > 2 && lines.all(|line| line.split(',').count() == cells), "{name}");
    let svg = &report.outcome.figure;
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{name}");
    assert!(svg.len() < 250_000, "{name}: the figure has {} bytes", svg.len());
    // NaN and infinite coordinates are clamped to the ends of the integers.
    assert!(
        !svg.contains("2147483647") && !svg.contains("-2147483648"),
        "{name}: a coordinate is not finite"
    );
    let text = report.to_markdown();
    for part in ["## Claim", "## Checks", "**Verdict: ", "## Method", &format!("({name}.svg)")] {
        assert!(text.contains(part), "{name}: {part}");
    }
    let checks = &report.outcome.checks;
    assert!(!checks.is_empty() && !text.contains("NaN"), "{name}\n{text}");

    // Texts are short, and every check is a line of the table.
    let words = |text: &str| text.split_whitespace().count();
    let claim = report.experiment.claim;
    assert!(claim.matches(". ").count() < 2 && words(claim) <= 60, "{name}: the claim is too long");
    let remarks = &report.outcome.remarks;
    assert!(words(remarks) <= 65 && !remarks.contains('\n'), "{name}: {} words of remarks", words(remarks));
    for check in checks {
        assert!((3..=14).contains(&words(&check.claim)), "{name}: {check:?}");
        assert!((2..=42).contains(&words(&check.measured)), "{name}: {check:?}");
        let phrases = [&check.claim, &check.measured];
        assert!(
            phrases.iter().all(|phrase| !phrase.ends_with('.') && !phrase.contains('\n')),
            "{name}: {check:?}"
        );
    }
    let table = text.split("## Checks").nth(1).unwrap().split("**Verdict").next().unwrap();
    let bars = |line: &str| line.replace("\\|", "").matches('|').count();
    let lines: Vec<usize> = table.lines().filter(|line| line.starts_with('|')).map(bars).collect();
    assert_eq!(lines, vec![4; checks.len() + 2], "{name}\n{table}");
}

#[test]
fn experiments_have_the_documented_names() {
    let promised = [
        "kappen-1",
        "kappen-2",
        "kappen-3",
        "kappen-4",
        "kappen-5",
        "kappen-6",
        "yasuda-2",
        "yasuda-3",
        "yasuda-4",
        "yasuda-5",
        "yasuda-6",
        "yasuda-7",
        "lawrence-1",
        "lawrence-2",
        "lawrence-3",
        "lawrence-5",
        "lawrence-6",
        "ruger-3",
        "ruger-scaling",
        "lecture-denoise",
    ];
    let names: Vec<&str> = experiments().map(|experiment| experiment.name).collect();
    assert!(promised.iter().all(|name| names.contains(name)), "{names:?}");
    let mut different = names.clone();
    different.sort_unstable();
    different.dedup();
    assert_eq!(different.len(), names.len());
    let error = experiment("kapen-3").unwrap_err().to_string();
    assert!(error.contains("did you mean 'kappen-3'"), "{error}");
}

#[test]
fn naive_mean_field_does_not_converge() {
    for seed in [0, 3, 9] {
        let report = quick("kappen-1", seed);
        assert_complete(&report);
        let (exact, field) = (column(&report, "k_exact"), column(&report, "k_mf_median"));
        let half = exact.len() / 2;
        assert!(exact.last().unwrap() < &0.001 && exact.last().unwrap() < &exact[half], "seed {seed}");
        // The steps of mean field do not become shorter.
        let weights = column(&report, "w_mf");
        let thresholds = column(&report, "theta1_mf");
        let moved =
            |k: usize| (weights[k + 1] - weights[k]).abs() + (thresholds[k + 1] - thresholds[k]).abs();
        assert!((half..thresholds.len() - 1).map(moved).sum::<f64>() > 1.0, "seed {seed}");
        let high = field[half..].iter().copied().fold(0.0, f64::max);
        assert!(high > 10.0 * exact[half], "seed {seed}: K of mean field is at most {high}");
        assert_eq!(report.outcome.verdict(), Verdict::Holds, "seed {seed}");
    }
}

/// Returns which of an experiment's checks hold.
fn verdicts(report: &Report) -> Vec<bool> {
    report.outcome.checks.iter().map(|check| check.holds).collect()
}

#[test]
fn linear_response_is_far_better_than_independent_units() {
    for seed in [0, 3, 8] {
        let report = quick("kappen-2", seed);
        assert_complete(&report);
        let [exact, mf, lr0, lr] =
            ["exact", "mf", "lr0", "lr"].map(|name| column(&report, &format!("{name}_median")));
        assert!([&exact, &mf, &lr0, &lr].iter().all(|k| k[0] < 1e-3), "all methods learn one pattern");
        let share = (mean(&lr) - mean(&exact)) / (mean(&mf) - mean(&exact));
        assert!((0.0..0.4).contains(&share), "linear response loses {share} of what independent units lose");
        let (exact, mf) = (column(&report, "exact"), column(&report, "mf"));
        assert!(
            exact.iter().zip(&mf).all(|(exact, mf)| *exact <= mf + 1e-6),
            "no machine is better than the optimum"
        );
        // Uniform random probabilities are ln 2 − ½ from constant ones, and thresholds and pair
        // weights span 21 of 63 directions.
        let all = exact[exact.len() - 1];
        assert!((0.08..0.19).contains(&all), "seed {seed}: {all}");
        // Two checks fail for every seed: K = 0 for all patterns, and equations without a solution.
        let expected = [true, true, false, true, true, true, true, false];
        assert_eq!(verdicts(&report), expected, "seed {seed}: {:#?}", report.outcome.checks);
    }

    let report = quick("kappen-3", 0);
    assert_complete(&report);
    assert!(report.outcome.to_csv().starts_with("n,lr,lr_variance,mf,mf_variance\n"));
    let (lr, mf) = (mean(&column(&report, "lr")), mean(&column(&report, "mf")));
    // With many sets the ratio is between 0.05 and 0.13; four sets per size vary more.
    assert!((0.02..0.25).contains(&(lr / mf)), "K_lr − K_ex is {lr}, K_mf − K_ex {mf}");
    assert!(column(&report, "lr").iter().all(|above| *above > -1e-6));
    // With enough sets it does become worse, by a small share of what independent units do.
    assert_eq!(verdicts(&report), [true, true, false], "{:#?}", report.outcome.checks);
}

#[test]
fn completion_orders_methods_as_the_divergence_does() {
    let report = quick("kappen-4", 0);
    assert_complete(&report);
    let [k_lr, q_lr, k_mf, q_mf] = ["k_lr", "q_lr", "k_mf", "q_mf"].map(|name| column(&report, name));
    // The gains in Q follow those in K: a line explains most of their variance.
    let gains: Vec<(f64, f64)> =
        (0..k_lr.len()).map(|set| (k_mf[set] - k_lr[set], q_mf[set] - q_lr[set])).collect();
    let (x, y) = gains.iter().copied().unzip::<f64, f64, Vec<_>, Vec<_>>();
    let products =
        |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(p, q)| (p - mean(a)) * (q - mean(b))).sum::<f64>();
    let explained = products(&x, &y).powi(2) / (products(&x, &x) * products(&y, &y));
    assert!(explained > 0.7, "{explained}");
    assert_eq!(report.outcome.verdict(), Verdict::Holds);

    let report = quick("kappen-5", 0);
    assert_complete(&report);
    assert!(report.outcome.to_csv().starts_with("n,q_lr,q_mf,q_exact\n"));
    let [n, q_lr, q_mf, q_exact] = ["n", "q_lr", "q_mf", "q_exact"].map(|name| column(&report, name));
    assert_eq!((n.len(), n[26]), (27, 100.0));
    for k in (0..27).filter(|&k| q_exact[k].is_finite()) {
        assert!(q_lr[k] < q_mf[k] + 1e-9, "n = {}", n[k]);
    }
    assert!((0..27).filter(|&k| n[k] >= 20.0).all(|k| q_lr[k] < 0.7 * q_mf[k]), "{q_lr:?} {q_mf:?}");
    assert!((q_mf[26] - 2f64.ln()).abs() < 0.01);
    assert_eq!(report.outcome.verdict(), Verdict::Holds);
}

#[test]
fn two_units_match_the_appendix() {
    let report = quick("kappen-6", 0);
    assert_complete(&report);
    let [m, a, w, lr] = ["m", "a", "w_exact", "w_lr"].map(|name| column(&report, name));
    let [theta, theta_lr] = ["theta_exact", "theta_lr"].map(|name| column(&report, name));
    for k in 0..m.len() {
        let (m, a) = (m[k], a[k]);
        let factor = (1.0 - m * m - 4.0 * a) / (8.0 * a * (1.0 - m * m - 2.0 * a));
        let own = factor * (4.0 * a / (1.0 - m * m) - 1.0);
        assert!((lr[k] - factor).abs() < 1e-9 * factor.abs().max(1.0), "weight by linear response");
        assert!((theta_lr[k] - (m.atanh() - (factor + own) * m)).abs() < 1e-9 * factor.abs().max(1.0));
        // The exact machine has the correlation 1 − 4a and the mean m.
        let weights = [2.0 * theta[k] + w[k], -w[k], -w[k], w[k] - 2.0 * theta[k]].map(f64::exp);
        let z: f64 = weights.iter().sum();
        assert!(((weights[0] - weights[3]) / z - m).abs() < 1e-12);
        assert!(((weights[0] + weights[3] - 2.0 * weights[1]) / z - (1.0 - 4.0 * a)).abs() < 1e-12);
    }
    // K of linear response tends to ½ as a → 0, where the source claims that it vanishes.
    assert!((0.45..0.5).contains(&column(&report, "k_lr")[0]), "{}", column(&report, "k_lr")[0]);
    // Printed weight; small and large weights, thresholds; then probabilities and K, for w to +∞
    // and to −∞.
    let expected = [false, true, true, true, false, false, false, false];
    assert_eq!(verdicts(&report), expected, "{:#?}", report.outcome.checks);
}

#[test]
fn errors_fall_with_the_number_of_components() {
    let report = quick("lawrence-1", 0);
    assert_complete(&report);
    assert!(report.outcome.to_csv().starts_with("components,sum_of_squares,"));
    let squares = column(&report, "sum_of_squares");
    assert_eq!(column(&report, "components"), (1..=10).map(f64::from).collect::<Vec<_>>());
    let shares: Vec<f64> = squares.iter().map(|sum| sum / squares[0]).collect();
    assert!(shares[1] < 0.7 && shares[4] < 0.3 && shares[9] < 0.1, "{squares:?}");
    assert!(column(&report, "gap").windows(2).all(|pair| pair[1] <= pair[0] + 1e-9));
    // Every error is in one bin: 12 machines with 55 expectations.
    let bins = report.outcome.columns.iter().filter(|column| column.name.starts_with("errors_"));
    assert_eq!(bins.map(|bin| bin.values[0]).sum::<f64>(), 12.0 * 55.0);
}

#[test]
fn mean_field_learning_oscillates_and_a_mixture_does_not() {
    let report = quick("lawrence-2", 0);
    assert_complete(&report);
    let biases = |name: &str| column(&report, &format!("bias1_{name}"));
    let [exact, field, mixture] = ["exact", "mean_field", "mixture"].map(|name| reversals(&biases(name)));
    assert!(field > 20 && mixture <= exact + 2, "{field} {mixture} {exact}");
    let (k_exact, k_mixture) = (column(&report, "k_exact"), column(&report, "k_mixture"));
    let apart = k_exact.iter().zip(&k_mixture).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(apart < 0.02, "K of the mixture is {apart} from that of exact learning");
    assert_eq!(report.outcome.verdict(), Verdict::Holds);

    let report = quick("lawrence-3", 0);
    assert_complete(&report);
    let jumps = column(&report, "m1").windows(2).filter(|pair| pair[0] * pair[1] < 0.0).count();
    assert!(jumps >= 4, "{jumps} jumps between the modes");
}

#[test]
fn digits_are_learned_with_both_methods_and_can_be_given() {
    let report = quick("lawrence-5", 0);
    assert_complete(&report);
    let starts = ["", "_start_2", "_start_3", "_start_4"];
    let costs = |name: &str| starts.map(|start| column(&report, &format!("{name}{start}")));
    let (field, mixture) = (costs("mean_field"), costs("mixture"));
    for cost in field.iter().chain(&mixture) {
        assert!(cost.len() == 31 && cost[30] > cost[0] + 5.0, "learning makes progress: {cost:?}");
    }
    // The sum of all decreases of a cost.
    let falls = |cost: &Vec<f64>| cost.windows(2).map(|pair| (pair[0] - pair[1]).max(0.0)).sum::<f64>();
    let (of_field, of_mixture) = (mean(&field.each_ref().map(falls)), mean(&mixture.each_ref().map(falls)));
    assert!(of_field > 1.2 * of_mixture, "{of_field} {of_mixture}");

    let report = quick("lawrence-6", 0);
    assert_complete(&report);
    let (component, weight) = (column(&report, "component"), column(&report, "weight"));
    assert_eq!(component.iter().filter(|c| **c == 0.0).count(), 20, "mean field, step by step");
    for step in column(&report, "step") {
        let here = column(&report, "step").into_iter().zip(component.iter().zip(&weight));
        let sum: f64 = here.filter(|(at, (c, _))| *at == step && **c > 0.0).map(|(_, (_, w))| w).sum();
        assert!((0.9..1.0 + 1e-9).contains(&sum), "active components have most of the weight: {sum}");
    }

    let narrow = Table::from_rows(["a", "b"], [[1, -1]]).unwrap();
    let settings = Settings { quick: true, seed: 0, digits: Some(&narrow), progress: &NoProgress };
    let error = experiment("lawrence-5").unwrap().run(&settings).unwrap_err();
    assert!(matches!(error, Error::Invalid { .. }) && error.to_string().contains("64"), "{error}");
}

#[test]
fn few_draws_for_many_rows_beat_many_draws_for_few() {
    let report = quick("yasuda-2", 0);
    assert_complete(&report);
    let (few, many) = (column(&report, "m100"), column(&report, "m1000"));
    assert!(few[7] < 1.25 * few[19] && many[7] < 1.25 * many[19], "{few:?} {many:?}");
    assert!(few[0] > 1.5 * few[19] && many[0] > 1.5 * many[19], "one draw is not enough: {few:?} {many:?}");
    assert!(few[19] > 2.0 * many[1] && mean(&few) > 5.0 * mean(&many), "{few:?} {many:?}");
}

#[test]
fn learning_with_hidden_units_hardly_depends_on_the_number_of_draws() {
    let report = quick("yasuda-3", 0);
    assert_complete(&report);
    let likelihood = column(&report, "log_likelihood");
    assert_eq!(likelihood.len(), 51, "every tenth of 500 steps");
    let (first, hundred, last) = (likelihood[0], likelihood[10], likelihood[50]);
    assert!(hundred > first + 0.1 && last > hundred, "{likelihood:?}");
    assert!(last - hundred < 0.2 * (last - first), "most is gained early: {likelihood:?}");
    let change = column(&report, "change");
    assert!(mean(&change[30..]) < 0.6 * change[1], "{change:?}");

    let report = quick("yasuda-4", 0);
    assert_complete(&report);
    for name in ["by_k", "by_lambda"] {
        let ends = column(&report, name);
        assert!(ends.iter().all(|end| (end - mean(&ends)).abs() < 0.01), "{name}: {ends:?}");
    }

    let report = quick("yasuda-5", 0);
    assert_complete(&report);
    assert!(mean(&column(&report, "k9")[100..]) < 0.85 * mean(&column(&report, "k3")[100..]));
}

#[test]
fn pseudo_likelihood_em_beats_mean_field_cd() {
    let report = quick("yasuda-6", 0);
    assert_complete(&report);
    assert!(report.outcome.to_csv().starts_with("j,pl_em,mean_field_cd,"));
    let (draws, means) = (column(&report, "pl_em"), column(&report, "mean_field_cd"));
    let above = draws.iter().zip(&means).filter(|(draws, means)| draws > means).count();
    assert!(above >= draws.len() - 1, "{draws:?} {means:?}");
}

#[test]
fn time_grows_with_the_number_of_hidden_units() {
    let report = quick("yasuda-7", 0);
    assert_complete(&report);
    assert!(report.outcome.to_csv().starts_with("hidden,seconds\n"));
    let seconds = column(&report, "seconds");
    // Twenty times the hidden units have about four times the couplings. By how much slower they are
    // is for benchmarks: a busy machine makes any of these times longer.
    assert_eq!(column(&report, "hidden"), [1.0, 3.0, 5.0, 8.0, 11.0, 14.0, 17.0, 20.0]);
    assert!(seconds[0] > 0.0 && seconds[7] > seconds[0], "{seconds:?}");
}

#[test]
fn decimation_is_exact_and_linear_in_the_units() {
    let report = quick("ruger-3", 0);
    assert_complete(&report);
    assert_eq!(report.outcome.verdict(), Verdict::Holds);
    assert_eq!(column(&report, "unit"), [1.0, 2.0, 3.0, 4.0, 5.0]);

    let report = quick("ruger-scaling", 0);
    assert_complete(&report);
    assert!(report.outcome.to_csv().starts_with("units,seconds,"));
    let (units, seconds) = (column(&report, "units"), column(&report, "seconds"));
    // A hundred times the units in less than a thousand times the time, under load: not quadratic.
    let last = units.len() - 1;
    assert!(seconds[last] / seconds[0] < 10.0 * units[last] / units[0], "{seconds:?}");
    let error = column(&report, "gibbs_error");
    assert!(error.iter().all(|error| (1e-3..0.1).contains(error)));
    // A third of the sweeps is burn-in; the others become (error/0.001)² as many.
    let (taken, extrapolated) = (column(&report, "gibbs_seconds"), column(&report, "gibbs_seconds_asked"));
    for k in 0..units.len() {
        let expected = taken[k] * (1.0 + 2.0 * (error[k] / 1e-3).powi(2)) / 3.0;
        assert!((extrapolated[k] - expected).abs() < 1e-9 * expected && extrapolated[k] > seconds[k]);
    }
}

#[test]
fn a_noisy_picture_becomes_clean() {
    let report = quick("lecture-denoise", 0);
    assert_complete(&report);
    let (before, after) = (column(&report, "flipped"), column(&report, "mean_field"));
    assert!((before[2] - 10.0).abs() < 0.5 && after[2] < 0.25 * before[2]);
    assert_eq!(report.outcome.verdict(), Verdict::Holds);
    // The lecture claims nothing about pictures, so no check is about wrong pixels.
    let mut phrases = report.outcome.checks.iter().flat_map(|check| [&check.claim, &check.measured]);
    assert!(phrases.all(|phrase| !phrase.contains("wrong") && !phrase.contains("pixel")));
    assert!(!report.experiment.claim.contains("pixel") && report.outcome.remarks.contains("our application"));
}

#[test]
fn texts_name_the_digits_that_were_learned() {
    let text = quick("lawrence-6", 0).to_markdown();
    assert!(text.contains("built-in ones, 1797 pictures") && !text.contains("--data"), "{text}");

    let names = (0..64).map(|k| format!("p{k}"));
    let rows =
        (0..12).map(|row| (0..64).map(|k| if (k + row) % 5 < 2 { 1 } else { -1 }).collect::<Vec<i8>>());
    let given = Table::from_rows(names, rows).unwrap();
    let settings = Settings { quick: true, seed: 2, digits: Some(&given), progress: &NoProgress };
    let text = experiment("lawrence-6").unwrap().run(&settings).unwrap().to_markdown();
    assert!(
        text.contains("12 pictures given with --data") && text.contains("--seed 2 --data FILE`"),
        "{text}"
    );

    // Experiments without digits do not mention them, even if some are given.
    let text = experiment("kappen-6").unwrap().run(&settings).unwrap().to_markdown();
    assert!(!text.contains("digits") && !text.contains("--data"), "{text}");
}

#[test]
fn results_depend_on_the_seed_and_not_on_threads() {
    let on = |threads: usize, name: &'static str| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| quick(name, 3).outcome.to_csv())
    };
    for name in ["kappen-3", "kappen-4", "lawrence-2", "lecture-denoise"] {
        assert_eq!(on(1, name), on(3, name), "{name}");
    }
    assert_ne!(quick("kappen-4", 3).outcome.to_csv(), quick("kappen-4", 4).outcome.to_csv());
}

#[test]
fn progress_reports_every_part() {
    #[derive(Default)]
    struct Counter {
        expected: AtomicUsize,
        done: AtomicUsize,
    }
    impl Progress for Counter {
        fn expect(&self, parts: usize) {
            self.expected.fetch_add(parts, Ordering::Relaxed);
        }
        fn done(&self) {
            self.done.fetch_add(1, Ordering::Relaxed);
        }
    }
    let names = [
        "kappen-1",
        "kappen-2",
        "kappen-3",
        "kappen-4",
        "kappen-5",
        "kappen-6",
        "lawrence-3",
        "ruger-3",
        "ruger-scaling",
        "lecture-denoise",
    ];
    for name in names {
        let counter = Counter::default();
        let settings = Settings { quick: true, seed: 0, digits: None, progress: &counter };
        experiment(name).unwrap().run(&settings).unwrap();
        assert_eq!(counter.done.into_inner(), counter.expected.into_inner(), "{name}");
    }
}
