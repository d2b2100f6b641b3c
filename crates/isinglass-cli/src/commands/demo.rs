//! `isinglass demo`: the tour on data built into the program.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args as ClapArgs;
use isinglass::learn::NoObserver;
use isinglass_files::{Output, write_model};
use isinglass_lab::data::{HOUSE_VOTES_CSV, house_votes};
use isinglass_lab::votes::{PARTY, Study, study};
use serde_json::json;

use crate::options::Common;
use crate::report;

/// Take the tour on built-in data: fit, score, ask, and write a picture
#[derive(ClapArgs)]
#[command(after_help = "Example:\n  isinglass demo")]
pub(crate) struct Args {
    /// The folder for tables, models and pictures
    #[arg(short, long, value_name = "DIR", default_value = "isinglass-demo")]
    output: PathBuf,
}

/// Couplings printed.
const SHOWN: usize = 8;

pub(crate) fn run(args: &Args, common: &Common) -> anyhow::Result<()> {
    let folder = &args.output;
    fs::create_dir_all(folder).with_context(|| format!("{}: cannot be made", folder.display()))?;
    let outputs = ["votes.csv", "votes.json", "votes.svg"].map(|name| folder.join(name));
    let [csv, model, picture] = &outputs;

    let (csv, model, picture) = (Output::create(csv)?, Output::create(model)?, Output::create(picture)?);

    let table = house_votes()?;
    let study = study(&table, &mut NoObserver)?;
    write_whole(csv, HOUSE_VOTES_CSV)?;
    write_model(&study.fit.machine, model)?;
    write_whole(picture, &study.picture())?;

    if common.json {
        let votes: Vec<_> = study
            .votes
            .iter()
            .map(
                |vote| json!({"vote": vote.name, "p_given_yes": vote.given_yes, "p_given_no": vote.given_no}),
            )
            .collect();
        return report::json(&json!({
            "rows": table.rows(),
            "missing_cells": table.missing_cells(),
            "log_likelihood": study.score.log_likelihood,
            "log_likelihood_factorized": study.baseline.log_likelihood,
            "completion": study.score.completion,
            "completion_factorized": study.baseline.completion,
            "converged": study.fit.converged,
            "guarantee": study.fit.guarantee.word(),
            "votes": votes,
            "files": outputs,
        }));
    }
    report::text(&story(&study, folder, table.rows(), table.missing_cells()))
}

fn write_whole(mut output: Output, text: &str) -> anyhow::Result<()> {
    output.write_all(text.as_bytes()).map_err(|error| output.error(&error))?;
    output.commit()?;
    Ok(())
}

fn story(study: &Study, folder: &Path, rows: usize, missing: usize) -> String {
    let mut out = String::new();
    let number = |x: Option<f64>| x.map_or_else(|| "–".to_owned(), |x| format!("{x:.3}"));
    // Writing to a string cannot fail.
    let _ = write!(
        out,
        "How the US House voted in 1984: {rows} members, 16 votes and their party, {missing} cells missing.\n\
         A machine with a coupling between every two of them, fitted by maximum likelihood\nwith a small penalty on couplings ({}; {} iterations):\n\n",
        study.fit.guarantee,
        study.fit.iterations()
    );
    let scores = [("units alone", &study.baseline), ("all pairs coupled", &study.score)];
    let scores: Vec<Vec<String>> = scores
        .iter()
        .map(|(name, score)| vec![(*name).to_owned(), number(score.log_likelihood), number(score.completion)])
        .collect();
    out += &report::columns(&["machine", "log-likelihood a row", "completion Q a cell"], &scores);

    let _ = write!(out, "\nWhat one vote says about party, P({PARTY} | vote):\n\n");
    let votes: Vec<Vec<String>> = study
        .votes
        .iter()
        .map(|vote| {
            vec![vote.name.clone(), format!("{:.3}", vote.given_yes), format!("{:.3}", vote.given_no)]
        })
        .collect();
    out += &report::columns(&["vote", "yes", "no"], &votes);

    let _ = write!(out, "\nThe strongest couplings, all else held fixed:\n\n");
    let couplings: Vec<Vec<String>> = study.couplings[..SHOWN]
        .iter()
        .map(|(a, b, w)| vec![format!("{a} {b}"), format!("{w:+.3}")])
        .collect();
    out += &report::columns(&["pair", "coupling"], &couplings);

    let folder = folder.display();
    let _ = write!(
        out,
        "\nIn {folder}: votes.csv (the table), votes.json (the machine), votes.svg (the picture).\nTry:\n  \
         isinglass query {folder}/votes.json --ask {PARTY} --given crime=-1,education_spending=+1\n  \
         isinglass fit {folder}/votes.csv --visible-links none --hidden 3 --l2 0.01 -o rbm.json\n"
    );
    out
}
