//! The first part of the tour: votes.

use std::fmt::{Display, Write as _};

use isinglass_lab::Progress;
use isinglass_lab::data::{HOUSE_VOTES_CSV, house_votes};
use isinglass_lab::votes::{PARTY, Study, study};
use serde_json::{Map, Value, json};

use super::files::{Content, Entry};
use super::{Stop, accuracies, accuracy};
use crate::report;

pub(super) const ENTRIES: [Entry; 5] = [
    Entry { name: "votes.csv", what: "the table: members, their party and 16 votes" },
    Entry { name: "votes.json", what: "the machine" },
    Entry { name: "votes.svg", what: "what one vote says about party" },
    Entry { name: "votes-network.svg", what: "who votes with whom" },
    Entry { name: "votes.html", what: "the page about the machine: open it in a browser" },
];

/// Couplings printed.
const SHOWN: usize = 8;

pub(super) fn visit(seed: u64, progress: &dyn Progress) -> anyhow::Result<Stop> {
    let table = house_votes()?;
    let study = study(&table, seed, progress)?;
    let page = study.page(&table, seed)?.to_html();
    let contents = vec![
        Content::Text(HOUSE_VOTES_CSV.to_owned()),
        Content::Model(Box::new(study.fit.machine.clone())),
        Content::Picture(study.picture()),
        Content::Picture(study.network()),
        Content::Text(page),
    ];
    let (rows, missing) = (table.row_count(), table.missing_count());
    Ok(Stop { story: story(&study, rows, missing), document: document(&study, rows, missing), contents })
}

pub(super) fn next(folder: &impl Display) -> Vec<String> {
    vec![
        format!("isinglass query {folder}/votes.json --ask {PARTY} --given crime=-1,education_spending=+1"),
        format!("isinglass complete {folder}/votes.json {folder}/votes.csv -o {folder}/votes-filled.csv"),
        format!(
            "isinglass fit {folder}/votes.csv --visible-links none --hidden 3 --l2 0.01 -o rbm.json --report rbm.html"
        ),
    ]
}

fn document(study: &Study, rows: usize, missing: usize) -> Map<String, Value> {
    let votes: Vec<_> = study
        .votes
        .iter()
        .map(|vote| json!({"vote": vote.name, "p_given_yes": vote.given_yes, "p_given_no": vote.given_no}))
        .collect();
    let (party, filled) = (&study.held_out, &study.imputation);
    let fields = [
        ("rows", json!(rows)),
        ("missing_cells", json!(missing)),
        ("log_likelihood", json!(study.score.log_likelihood)),
        ("log_likelihood_factorized", json!(study.baseline.log_likelihood)),
        ("completion", json!(study.score.completion)),
        ("completion_factorized", json!(study.baseline.completion)),
        ("converged", json!(study.fit.converged)),
        ("guarantee", json!(study.fit.guarantee.word())),
        ("votes", json!(votes)),
        (
            "party",
            json!({
                "folds": party.folds,
                "machine": accuracy(&party.machine),
                "single_vote": accuracy(&party.single_vote),
                "majority": accuracy(&party.majority),
                "converged": party.converged,
            }),
        ),
        (
            "imputation",
            json!({
                "machine": accuracy(&filled.machine),
                "majority": accuracy(&filled.majority),
                "guarantee": filled.guarantee.word(),
                "converged": filled.converged,
            }),
        ),
    ];
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn story(study: &Study, rows: usize, missing: usize) -> String {
    let number = |x: Option<f64>| x.map_or_else(|| "–".to_owned(), |x| format!("{x:.3}"));
    let mut out = format!(
        "VOTES. How the US House voted in 1984: {rows} members, 16 votes and their party, {missing} cells missing.\n\
         A machine with a coupling between every two of them, fitted by maximum likelihood\nwith a small penalty on couplings ({}; {} iterations{}):\n\n",
        study.fit.guarantee,
        study.fit.iterations(),
        if study.fit.converged { "" } else { ", NOT converged" }
    );
    let scores = [("units alone", &study.baseline), ("all pairs coupled", &study.score)];
    let scores: Vec<Vec<String>> = scores
        .iter()
        .map(|(name, score)| vec![(*name).to_owned(), number(score.log_likelihood), number(score.completion)])
        .collect();
    out += &report::columns(&["machine", "log-likelihood a row", "completion Q a cell"], &scores);

    let party = &study.held_out;
    // Writing to a string cannot fail.
    let _ = write!(
        out,
        "\nThe party of members that the machine has not seen, from their votes\n({}-fold cross-validation{}):\n\n",
        party.folds,
        if party.converged { "" } else { ", fits NOT converged" }
    );
    let guesses = [
        ("the machine", &party.machine),
        ("the best single vote", &party.single_vote),
        ("the larger party", &party.majority),
    ];
    out += &accuracies(&guesses);

    let filled = &study.imputation;
    let _ = write!(
        out,
        "\nOne known cell in ten hidden, {} in all, and filled in by a machine fitted to the rest\n({} probabilities{}):\n\n",
        filled.machine.total,
        filled.guarantee,
        if filled.converged { "" } else { ", fit NOT converged" }
    );
    let guesses = [("the machine", &filled.machine), ("units alone", &filled.majority)];
    out += &accuracies(&guesses);

    let _ = write!(out, "\nWhat one vote says about party, P({PARTY} | vote):\n\n");
    let votes: Vec<Vec<String>> = study
        .votes
        .iter()
        .take(SHOWN)
        .map(|vote| {
            vec![vote.name.clone(), format!("{:.3}", vote.given_yes), format!("{:.3}", vote.given_no)]
        })
        .collect();
    out += &report::columns(&["vote", "yes", "no"], &votes);

    let _ = write!(out, "\nThe strongest couplings, all else held fixed:\n\n");
    let couplings: Vec<Vec<String>> = study
        .couplings
        .iter()
        .take(SHOWN)
        .map(|(a, b, w)| vec![format!("{a} {b}"), format!("{w:+.3}")])
        .collect();
    out += &report::columns(&["pair", "coupling"], &couplings);
    out
}
