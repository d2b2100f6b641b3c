//! The studies of `isinglass demo`: their results, compared with plain loops, on any number of
//! threads.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

use std::sync::OnceLock;

use isinglass::{Guarantee, Machine};
use isinglass_lab::digits::{self, Half};
use isinglass_lab::{NoProgress, data, votes};

fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

fn digits_on(threads: usize) -> digits::Study {
    let table = data::digits().unwrap();
    on_threads(threads, || digits::study(&table, 0, &NoProgress).unwrap())
}

/// The study takes some seconds, so the tests share it.
fn digits_study() -> &'static digits::Study {
    static STUDY: OnceLock<digits::Study> = OnceLock::new();
    STUDY.get_or_init(|| digits_on(2))
}

#[test]
fn votes_predict_the_party_of_held_out_members_and_hidden_cells() {
    let table = data::house_votes().unwrap();
    let study = votes::study(&table, 0, &NoProgress).unwrap();
    let party = &study.held_out;
    assert!(party.converged && party.machine.total == table.row_count());
    // 267 of 435 members are Democrats; a single vote predicts about 95 % correctly.
    assert_eq!(party.majority.correct, 267);
    assert!(party.machine.share() > 0.95, "{}", party.machine.share());
    assert!(party.machine.share() > party.majority.share() + 0.3);
    assert!(party.machine.correct > party.single_vote.correct);

    let filled = &study.imputation;
    assert!(filled.converged && filled.guarantee == Guarantee::Exact);
    // About a tenth of the 435 × 17 − 392 known cells.
    assert!((600..800).contains(&filled.machine.total), "{}", filled.machine.total);
    assert!(filled.machine.share() > filled.majority.share() + 0.2);
    assert!((0.005..0.03).contains(&filled.machine.error));

    // Another seed hides other cells and changes nothing else.
    let other = votes::study(&table, 1, &NoProgress).unwrap();
    assert_ne!(other.imputation.machine.total, filled.machine.total);
    assert_eq!(other.network(), study.network());
    assert_eq!(other.held_out.machine, study.held_out.machine);
}

#[test]
fn the_pages_and_pictures_of_votes_are_the_same_on_any_number_of_threads() {
    let table = data::house_votes().unwrap();
    let texts = |threads: usize| {
        on_threads(threads, || {
            let study = votes::study(&table, 3, &NoProgress).unwrap();
            let predictions = format!("{:?} {:?}", study.held_out, study.imputation);
            [study.picture(), study.network(), study.page(&table, 3).unwrap().to_html(), predictions]
        })
    };
    let found = texts(1);
    assert_eq!(found, texts(2));
    assert!(found[1].contains("is a Democrat") && found[1].contains("El Salvador aid"));
    assert!(found[2].starts_with("<!doctype html>"));
}

#[test]
fn covered_halves_are_completed_better_than_by_the_baselines() {
    let study = digits_study();
    assert_eq!((study.trained.row_count(), study.held_out.row_count()), (1497, 300));
    assert!(!study.fit.converged, "the fit is stopped before it converges");
    assert_eq!(study.fit.guarantee, Guarantee::Exact);
    for found in &study.completions {
        assert_eq!((found.machine.total, found.guarantee), (300 * 32, Guarantee::Exact));
        let [machine, nearest, majority] =
            [&found.machine, &found.nearest, &found.majority].map(isinglass_lab::Accuracy::share);
        assert!(machine > majority + 0.05, "{:?}: {machine} and {majority}", found.covered);
        assert!(machine > nearest, "{:?}: {machine} and {nearest}", found.covered);
        assert!(found.probabilities.iter().flatten().all(|p| (0.0..=1.0).contains(p)));
    }
    let drawn = &study.drawn;
    assert!(drawn.iter().all(|cells| cells.len() == 64 && cells.iter().all(|cell| cell.abs() == 1)));
    assert_eq!(study.drawn_guarantee, Guarantee::Exact);
}

/// Returns P(ink) of the lower pixels given the upper half, by a sum over all states of the hidden
/// units, given which pixels are independent.
fn completed_by_hand(machine: &Machine, picture: &[i8]) -> Vec<f64> {
    let hidden = machine.unit_count() - 64;
    let weight = |pixel: usize, unit: usize| {
        machine.weights()[machine.graph().edge_between(pixel, 64 + unit).unwrap()]
    };
    let weights: Vec<Vec<f64>> =
        (0..64).map(|pixel| (0..hidden).map(|unit| weight(pixel, unit)).collect()).collect();
    let mut terms = Vec::new();
    for state in 0..1usize << hidden {
        let spins: Vec<f64> = (0..hidden).map(|k| if state >> k & 1 == 1 { 1.0 } else { -1.0 }).collect();
        let field = |pixel: usize| {
            machine.biases()[pixel] + weights[pixel].iter().zip(&spins).map(|(w, s)| w * s).sum::<f64>()
        };
        let own: f64 = spins.iter().enumerate().map(|(k, s)| machine.biases()[64 + k] * s).sum();
        let seen: f64 = (0..32).map(|pixel| f64::from(picture[pixel]) * field(pixel)).sum();
        let fields: Vec<f64> = (32..64).map(field).collect();
        let covered: f64 = fields.iter().map(|h| (2.0 * h.cosh()).ln()).sum();
        terms.push((own + seen + covered, fields));
    }
    let largest = terms.iter().map(|term| term.0).fold(f64::NEG_INFINITY, f64::max);
    let (mut total, mut ink) = (0.0, vec![0.0; 32]);
    for (log_weight, fields) in &terms {
        let share = (log_weight - largest).exp();
        total += share;
        for (sum, h) in ink.iter_mut().zip(fields) {
            *sum += share / (1.0 + (-2.0 * h).exp());
        }
    }
    ink.into_iter().map(|sum| sum / total).collect()
}

#[test]
fn completions_match_a_plain_sum_over_hidden_states() {
    let study = digits_study();
    let found = &study.completions[0];
    assert_eq!(found.covered, Half::Lower);
    for row in [0, 17] {
        let picture = study.held_out.row(study.held_out.distinct_of()[row] as usize);
        let expected = completed_by_hand(&study.fit.machine, picture);
        for (pixel, expected) in (32..64).zip(expected) {
            let p = found.probabilities[row][pixel];
            assert!((p - expected).abs() < 1e-9, "row {row}, pixel {pixel}: {p} and {expected}");
        }
        for pixel in 0..32 {
            assert_eq!(found.probabilities[row][pixel], if picture[pixel] > 0 { 1.0 } else { 0.0 });
        }
    }
}

#[test]
fn digits_are_the_same_on_any_number_of_threads() {
    let texts = |study: &digits::Study| {
        let page = study.page(0).unwrap().to_html();
        [study.completed_picture(), study.samples_picture(), study.covered_csv(), page]
    };
    let (one, two) = (digits_on(1), digits_study());
    assert_eq!(one.fit.machine, two.fit.machine);
    assert_eq!(one.drawn, two.drawn);
    assert_eq!(texts(&one), texts(two));
}

#[test]
fn covered_pictures_are_a_table_with_half_the_cells_missing() {
    let study = digits_study();
    let csv = study.covered_csv();
    let options = isinglass_files::TableOptions::default();
    let table = isinglass_files::parse_csv(csv.as_bytes(), "covered.csv", b',', &options).unwrap();
    assert_eq!((table.row_count(), table.missing_count()), (300, 300 * 32));
    assert_eq!(table.columns(), study.held_out.columns());
}

#[test]
fn pictures_of_another_size_are_refused() {
    let narrow = isinglass::Table::from_rows(["a", "b"], [[1, -1]; 9]).unwrap();
    let message = digits::study(&narrow, 0, &NoProgress).err().unwrap().to_string();
    assert!(message.contains("found 9 rows of 2 columns"), "{message}");
}
