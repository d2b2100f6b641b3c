//! `isinglass score`: how good a machine is on a table.

use std::path::PathBuf;

use anyhow::Context;
use clap::Args as ClapArgs;
use isinglass::Guarantee;
use isinglass::bracket::LikelihoodBracket;
use serde_json::json;

use crate::engine_options::EngineOptions;
use crate::options::{AtTemperature, Common, TableArgs};
use crate::report::{self, count};

#[derive(ClapArgs)]
#[command(
    after_help = "Example (the first command writes the files):\n  isinglass demo\n  isinglass score isinglass-demo/votes.json isinglass-demo/votes.csv"
)]
pub(crate) struct Args {
    /// The model file (.json, .uai, .npz)
    model: PathBuf,
    #[command(flatten)]
    table: TableArgs,
    /// Give the log-likelihood between two rigorous bounds: the best that there are, or that of
    /// --engine on its side
    #[arg(long)]
    bracket: bool,
    #[command(flatten)]
    at: AtTemperature,
    #[command(flatten)]
    engine: EngineOptions,
}

pub(crate) fn run(args: &Args, common: &Common) -> anyhow::Result<()> {
    let machine = args.at.read(&args.model, args.engine.choice.budget)?;
    let table = args.table.read_for(&args.model, args.engine.choice.budget)?;
    table.evidence_for(&machine).with_context(|| args.table.table.display().to_string())?;
    let settings = args.engine.settings(common.seed);
    let scored = settings.score((&machine, &table), args.bracket, &|note| common.choice(&note));
    let scored = scored.map_err(report::advised)?;
    let (engine, clamped_engine, warnings) = (scored.engine(), scored.clamped_engine(), scored.warnings());
    let found = scored.score;
    if found.log_likelihood.is_none() && found.pseudo_log_likelihood.is_none() {
        let notes: Vec<String> = found.notes.iter().map(ToString::to_string).collect();
        anyhow::bail!("no score is available\n{}", notes.join("\n"));
    }
    common.diagnose(found.notes.iter().cloned());
    common.diagnose(warnings);
    if common.json {
        let mut document = json!({
            "rows": found.rows,
            "log_likelihood": found.log_likelihood,
            "log_likelihood_guarantee": found.log_likelihood.map(|_| found.log_likelihood_guarantee.word()),
            "log_likelihood_error": found.log_likelihood_error,
            "independent_log_likelihood": found.independent_log_likelihood,
            "tree_log_likelihood": found.tree_log_likelihood,
            "kullback": found.kullback,
            "pseudo_log_likelihood": found.pseudo_log_likelihood,
            "completion": found.completion,
            "engine": engine,
            "clamped_engine": clamped_engine,
            "guarantee": found.guarantee.word(),
            "converged": found.diagnostics.converged,
            "kullback_guarantee": found.kullback.map(|_| found.kullback_guarantee.word()),
        });
        if let Some(LikelihoodBracket { lower, upper, diagnostics, .. }) = found.bracket {
            document["bracket"] = json!({
                "lower": lower,
                "upper": upper,
                "width": upper - lower,
                "converged": diagnostics.converged,
            });
        }
        return common.print_json(&document);
    }
    let number = |x: Option<f64>| x.map_or_else(|| "–".to_owned(), |x| report::standard_error(x, 6));
    let kullback = match (found.kullback, found.kullback_guarantee) {
        (None, _) | (_, Guarantee::Exact) => "Kullback divergence K".to_owned(),
        (Some(_), guarantee) => format!("Kullback divergence K ({guarantee})"),
    };
    let mut rows = vec![
        ("log-likelihood per row", found.log_likelihood),
        ("  independent units, rates of these rows", Some(found.independent_log_likelihood)),
        (&kullback, found.kullback),
        ("pseudo-log-likelihood per row", found.pseudo_log_likelihood),
        ("completion Q per cell (less is better)", found.completion),
    ];
    if found.tree_log_likelihood.is_some() {
        rows.insert(2, ("  Chow–Liu tree of these rows", found.tree_log_likelihood));
    }
    if let Some(error) = found.log_likelihood_error {
        rows.insert(1, ("  its standard error", Some(error)));
    }
    if let Some(bracket) = found.bracket {
        rows[0] = ("log-likelihood per row, at least", Some(bracket.lower));
        rows.insert(1, ("log-likelihood per row, at most", Some(bracket.upper)));
    }
    let in_bits = |x: Option<f64>| x.map(|nats| nats / std::f64::consts::LN_2);
    let rows: Vec<Vec<String>> =
        rows.iter().map(|(name, x)| vec![(*name).to_owned(), number(*x), number(in_bits(*x))]).collect();
    // A bracket has no one engine for the rows either.
    let rows_by = clamped_engine.filter(|clamped| !args.bracket && engine != Some(*clamped));
    let rows_by = rows_by.map_or_else(String::new, |clamped| format!(", {clamped} for the rows"));
    report::text(&format!(
        "{}{}\n\n{}",
        engine.map_or_else(String::new, |engine| format!("engine {engine}{rows_by}: ")),
        found.guarantee,
        report::columns(&[&count(found.rows, "row"), "nats", "bits"], &rows)
    ))
}
