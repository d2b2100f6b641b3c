//! The second part of the tour: handwritten digits.

use std::fmt::{Display, Write as _};

use isinglass_lab::Progress;
use isinglass_lab::data::{DIGITS_CSV, digits};
use isinglass_lab::digits::{Study, study};
use serde_json::{Map, Value, json};

use super::files::{Content, Entry};
use super::{Stop, accuracies, accuracy};

pub(super) const ENTRIES: [Entry; 6] = [
    Entry { name: "digits.csv", what: "the table: which digit, and 8×8 pixels" },
    Entry { name: "digits-covered.csv", what: "the digits held out, the lower half of each left empty" },
    Entry { name: "digits.json", what: "the machine" },
    Entry { name: "digits-completed.svg", what: "half-covered digits, completed" },
    Entry { name: "digits-samples.svg", what: "digits drawn from the machine, beside real ones" },
    Entry { name: "digits.html", what: "the page about the machine" },
];

pub(super) fn visit(seed: u64, progress: &dyn Progress) -> anyhow::Result<Stop> {
    let study = study(&digits()?, seed, progress)?;
    let contents = vec![
        Content::Text(DIGITS_CSV.to_owned()),
        Content::Text(study.covered_csv()),
        Content::Model(Box::new(study.fit.machine.clone())),
        Content::Picture(study.completed_picture()),
        Content::Picture(study.samples_picture()),
        Content::Text(study.page(seed)?.to_html()),
    ];
    Ok(Stop { story: story(&study), document: document(&study), contents })
}

pub(super) fn next(folder: &impl Display) -> Vec<String> {
    vec![
        format!(
            "isinglass complete {folder}/digits.json {folder}/digits-covered.csv -o {folder}/digits-filled.csv"
        ),
        format!("isinglass sample {folder}/digits.json -n 10 -o {folder}/digits-drawn.csv"),
        format!(
            "isinglass fit {folder}/digits.csv --drop digit --visible-links none --hidden 32 --learner contrastive-divergence -o layers.json"
        ),
    ]
}

fn document(study: &Study) -> Map<String, Value> {
    let completions: Map<String, Value> = study
        .completions
        .iter()
        .map(|found| {
            let document = json!({
                "machine": accuracy(&found.machine),
                "nearest": accuracy(&found.nearest),
                "majority": accuracy(&found.majority),
                "guarantee": found.guarantee.word(),
            });
            (found.covered.word().to_owned(), document)
        })
        .collect();
    let digits = json!({
        "trained": study.trained.row_count(),
        "held_out": study.held_out.row_count(),
        "units": study.fit.machine.unit_count(),
        "hidden": study.hidden_units(),
        "iterations": study.fit.iterations(),
        "converged": study.fit.converged,
        "guarantee": study.fit.guarantee.word(),
        "log_likelihood": study.fit.log_likelihood,
        "log_likelihood_held_out": study.score.log_likelihood,
        "completed": completions,
        "drawn": study.drawn.len(),
        "drawn_guarantee": study.drawn_guarantee.word(),
    });
    Map::from_iter([("digits".to_owned(), digits)])
}

fn story(study: &Study) -> String {
    let number = |x: Option<f64>| x.map_or_else(|| "–".to_owned(), |x| format!("{x:.2}"));
    let (trained, held_out) = (study.trained.row_count(), study.held_out.row_count());
    let fit = &study.fit;
    let mut out = format!(
        "DIGITS. {} handwritten digits of 8×8 pixels: {trained} to learn from, {held_out} held out.\n\
         A restricted machine, every pixel coupled to each of {} hidden units, fitted by maximum likelihood\n\
         with gradients by elimination ({}; {} after {} iterations).\n\
         Log-likelihood a digit {}, of those held out {}.\n",
        trained + held_out,
        study.hidden_units(),
        fit.guarantee,
        if fit.converged { "converged" } else { "stopped, not converged," },
        fit.iterations(),
        number(fit.log_likelihood),
        number(study.score.log_likelihood)
    );
    for found in &study.completions {
        // Writing to a string cannot fail.
        let _ = write!(
            out,
            "\nThe {} half of each digit held out covered, and completed from the other ({} probabilities):\n\n",
            found.covered.word(),
            found.guarantee
        );
        let guesses = [
            ("the machine", &found.machine),
            ("the nearest digit learned from", &found.nearest),
            ("each pixel's most frequent value", &found.majority),
        ];
        out += &accuracies(&guesses);
    }
    let _ = write!(
        out,
        "\n{} digits drawn from the machine ({}: independent draws of its own distribution, no chain).\n",
        study.drawn.len(),
        study.drawn_guarantee
    );
    out
}
