//! `isinglass fit`: learn a machine from a table.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args as ClapArgs;
use isinglass::Table;
use isinglass::engine::Guarantee;
use isinglass::learn::{Check, Validated};
use isinglass_files::{
    Output, model_format, read_model_within, write_model_with, write_network, write_numbers,
};
use isinglass_lab::report::FitSummary;
use isinglass_plan::{Asked, FitSettings, Fitted, Growth, LearnerName, Missing, Penalty, Size};
use serde_json::json;

use self::bootstrap::BootstrapOptions;
use self::checkpoint::CheckpointOptions;
use self::structure::Structure;
use self::study::StudyOptions;
use self::time::TimeOptions;
use crate::engine_options::{EngineChoice, EngineName, engines_for};
use crate::options::{Common, Spreadsheets, TableArgs, at_least, keep_apart, keep_inputs};
use crate::report::{self, count};
use crate::signals;

mod bootstrap;
mod by_learner;
mod checkpoint;
mod components;
mod moderated;
mod page;
mod posterior;
mod progress;
pub(super) mod structure;
mod study;
mod time;

#[derive(ClapArgs)]
#[command(
    mut_arg("engine", |engine| engine.value_parser(engines_for(Asked::Likelihood))),
    after_help = "Examples (the first command writes the table):\n  isinglass demo\n  isinglass fit isinglass-demo/votes.csv --l2 0.003 -o votes.json\n  isinglass fit isinglass-demo/votes.csv --visible-links none --hidden 3 --l2 0.01 -o rbm.json\n  isinglass fit isinglass-demo/votes.csv --visible-links tree --optimizer cg -o tree.json\n  isinglass fit isinglass-demo/votes.csv --learner closed-form -o quick.json\n  isinglass fit isinglass-demo/votes.csv --l2 auto -o chosen.json\n  isinglass fit isinglass-demo/votes.csv --learner pl-em --hidden 2 -o drawn.json\n  isinglass complete votes.json isinglass-demo/votes.csv -o whole.csv\n  isinglass fit whole.csv --l1 ebic --network network.csv --bootstrap 50 -o sparse.json\n  isinglass fit whole.csv --learner bayes --network posterior.csv -o bayes.json\n  isinglass fit whole.csv --learner contrastive-divergence --hidden 4 --checkpoint cd.ck -o cd.json"
)]
pub(crate) struct Args {
    #[command(flatten)]
    table: TableArgs,
    /// The model file to write (.json, .uai, .npz)
    #[arg(short, long, value_name = "MODEL")]
    output: PathBuf,
    /// Missing cells: em (as the learner does: summed out, drawn, or refused), drop (their rows are left
    /// out), impute:N (each is filled by N draws from a machine of all rows; --bootstrap then gives
    /// intervals by Rubin's rules)
    #[arg(long, value_name = "WAY", default_value = "em")]
    missing: Missing,
    #[command(flatten)]
    structure: Structure,
    /// Start from, and take the structure of, a machine that exists; with --hidden, hidden units are
    /// added to it where it misses what the table shows
    #[arg(long, value_name = "MODEL", conflicts_with_all = ["visible_links", "hidden_links", "inputs"])]
    init: Option<PathBuf>,
    /// How to learn
    #[arg(long, value_name = "LEARNER", default_value = "auto")]
    learner: LearnerName,
    /// likelihood and pl-em with hidden units: fits from N random starts, of which the best is kept
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = at_least::<1>)]
    restarts: usize,
    /// Write objective and gradient norm of every iteration to a CSV file
    #[arg(long, value_name = "FILE.csv")]
    history: Option<PathBuf>,
    /// likelihood with --engine mixture: write weight and means of each component after every
    /// iteration to a CSV file
    #[arg(long, value_name = "FILE.csv")]
    component_history: Option<PathBuf>,
    /// Write a page about the machine that was found: scores, learning curve, couplings, network,
    /// moments, surprising rows
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    #[command(flatten)]
    settings: FitSettings,
    /// Write the couplings that are not 0 to a CSV file, the strongest first: from, to, weight (of
    /// units that are −1 or +1; a regression on 0 and 1 has 4 times that), sign
    #[arg(long, value_name = "FILE.csv", help_heading = "Network")]
    network: Option<PathBuf>,
    #[command(flatten)]
    spreadsheets: Spreadsheets,
    /// Choose the penalty by the rows of another table with the same columns, in place of some of
    /// TABLE's; --weights and --drop hold for it, too [default penalty: the better of
    /// --l2 auto and --l1 auto]
    #[arg(long, value_name = "FILE", help_heading = "Learner settings")]
    validate: Option<PathBuf>,
    /// Do not compare draws from the machine with the table after a fit that is not exact
    #[arg(long)]
    no_check: bool,
    /// Exit with 0 also where a signal ended the fit; without it the exit code is 130 (INT), 143
    /// (TERM) or 129 (HUP). The best machine so far is written either way
    #[arg(long)]
    ok_if_interrupted: bool,
    #[command(flatten)]
    bootstrap: BootstrapOptions,
    #[command(flatten)]
    study: StudyOptions,
    /// Let couplings and biases depend linearly on columns of numbers, such as age,sex, by
    /// pseudo-likelihood; `network --at age=30` shows the network for some values. With --network:
    /// standard errors and 95 % intervals
    #[arg(long, value_name = "COLUMN,…", help_heading = "Network")]
    moderate: Option<String>,
    #[command(flatten)]
    time: TimeOptions,
    #[command(flatten)]
    checkpoint: CheckpointOptions,
    #[command(flatten)]
    engine: EngineChoice,
    /// likelihood: the engine with the table's cells clamped, where hidden units or missing cells
    /// are left [default: that of --engine; mean-field with mixture]
    #[arg(long, value_name = "ENGINE", help_heading = "Engine", value_parser = engines_for(Asked::Likelihood))]
    clamped_engine: Option<EngineName>,
}

pub(crate) fn run(args: &Args, common: &Common) -> anyhow::Result<()> {
    let began = Instant::now();
    args.check(common.json)?;
    model_format(&args.output)?;
    args.report.as_deref().map(super::report::check_ending).transpose()?;
    let outputs = args.outputs();
    keep_apart(outputs.iter().copied())?;
    let mut inputs = vec![args.table.table.as_path()];
    inputs.extend(args.validate.as_deref());
    inputs.extend(args.structure.file());
    keep_inputs(&args.output, &inputs)?;
    // A machine that exists may be replaced by the better one, but by nothing else.
    inputs.extend(args.init.as_deref());
    outputs[1..].iter().try_for_each(|(_, path)| keep_inputs(path, &inputs))?;
    if let Some(columns) = &args.moderate {
        return args.run_moderated(columns, common);
    }
    let encodings = args.encodings()?;
    let given = match args.time.table(&args.table, args.engine.budget, common)? {
        Some(table) => table,
        None => args.read(&args.table.table, &encodings)?,
    };
    let start = match &args.init {
        _ if args.time.lag.is_some() => {
            args.time.machine(&given, &args.structure.of(&given)?, args.engine.budget)?
        }
        Some(path) => args.with_hidden(read_model_within(path, args.engine.budget)?, &given, common.seed)?,
        None => {
            let without_edges = args.learner == LearnerName::Factorized;
            args.structure.of(&given)?.machine(&given, without_edges, args.engine.budget)?
        }
    };
    let validate = args.validation(&start, &encodings)?;
    let _lock = args.checkpoint.prepare(outputs.iter().map(|(_, path)| *path), common)?;
    // Outputs are reserved before the work, so that a place that cannot be written to is known now.
    let output = Output::create(&args.output)?;
    let reserve = |path: &Option<PathBuf>| path.as_deref().map(Output::create).transpose();
    let (history, component_history) = (reserve(&args.history)?, reserve(&args.component_history)?);
    let (network, page) = (reserve(&args.network)?, reserve(&args.report)?);
    let measures = args.study.reserve()?;

    let filled = args.filled(&start, &given, common)?;
    let table = filled.as_ref().map_or(&given, |filled| &filled.table);
    let versions = filled.as_ref().map_or(&[][..], |filled| &filled.versions);
    let (mut fitted, components, intervals, study) = args.fit((&start, table, versions), validate, common)?;
    if args.time.factorises() && fitted.fit.log_likelihood.is_none() && fitted.engine.is_none() {
        // Given the past, units are independent: their conditionals multiply to the likelihood.
        (fitted.fit.log_likelihood, fitted.fit.guarantee) =
            (fitted.fit.pseudo_log_likelihood, Guarantee::Exact);
    }
    let Fitted { fit, restart_objectives: objectives, .. } = &fitted;
    let steps = fit.history.iter();
    let steps = steps.map(|step| [step.iteration as f64, step.objective, step.gradient_norm]);
    write_history(history, ["iteration", "objective", "gradient_norm"], steps)?;
    let units = args.spreadsheets.names(fit.machine.names());
    let header = ["iteration", "component", "weight"].into_iter().chain(units.iter().map(String::as_str));
    write_history(component_history, header, components)?;
    if let Some(mut output) = network {
        let found = study.as_ref().and_then(|study| study.bootstrap.as_ref());
        let mut measures = found.map(bootstrap::measures).unwrap_or_default();
        measures.extend(fitted.posterior.iter().flat_map(|found| posterior::measures(found, &fit.machine)));
        let measures: Vec<(&str, &[f64])> = measures.iter().map(|(name, all)| (*name, &all[..])).collect();
        let written = write_network(&fit.machine, &units, &measures, &mut output);
        written.map_err(|error| output.error(&error))?;
        output.commit()?;
    }
    if let Some(study) = &study {
        measures.write(&fit.machine, study, common)?;
    }
    let not_kept = write_model_with(&fit.machine, &encodings, output)?;
    common.not_kept(&not_kept);
    common.diagnose(fit.notes.iter().cloned());
    common.diagnose(fitted.warnings());
    let interruption = signals::Interruption::of_this_process();
    if let Some(signal) = interruption {
        args.warn_of_interruption(signal, common);
    }
    let seconds = began.elapsed().as_secs_f64();
    if let Some(page) = page {
        let story = FitSummary::of(fit, fitted.learner, fitted.engine, fitted.clamped_engine)
            .with_check(fitted.checked.check.as_ref(), fitted.checked.independent)
            .with_settings(args.settings(common.seed).described(&fitted));
        args.write_report(fit, table, (story, study.clone()), page, common)?;
    }
    if common.json {
        let objective: Vec<f64> = fit.history.iter().map(|step| step.objective).collect();
        let mut document = json!({
            "model": args.output,
            "learner": fitted.learner,
            "engine": fitted.engine,
            "clamped_engine": fitted.clamped_engine,
            "guarantee": fit.guarantee.word(),
            "rows": if versions.is_empty() { table } else { &given }.row_count(),
            "iterations": fit.iterations(),
            "converged": fit.converged,
            "stopped": fit.stopped.to_string(),
            "objective": objective,
            "kept": fit.kept,
            "log_likelihood": fit.log_likelihood,
            "log_likelihood_error": fitted.log_likelihood_error(),
            "independent_log_likelihood": fitted.checked.independent,
            "check": fitted.checked.check.as_ref().map(check_document),
            "pseudo_log_likelihood": fit.pseudo_log_likelihood,
            "restarts": objectives.len(),
            "best_restart": fitted.best_restart(),
            "restart_objectives": objectives,
            "interrupted": interruption.map(signals::Interruption::name),
            "seconds": seconds,
        });
        if let Some(penalty) = &fitted.penalty {
            document[penalty.setting] = json!(penalty.chosen.penalty);
            document["path"] = path_document(penalty);
        }
        if let Some(growth) = &fitted.growth {
            document["hidden"] = growth_document(growth);
        }
        if !fitted.validation.is_empty() {
            document["validation"] = validation_document(&fitted.validation);
        }
        if let Some(path) = &args.report {
            document["report"] = json!(path);
        }
        if let Some(remedy) = fitted.remedy {
            document["singular"] = remedy.word().into();
        }
        if let Some(found) = &fitted.posterior {
            document["posterior"] = posterior::document(found, &fit.machine);
        }
        if let Some(study) = &study {
            if let Some(found) = &study.bootstrap {
                document["bootstrap"] = args.bootstrap.document(&fit.machine, found);
            }
            if let Some(found) = &study.stability {
                document["stability"] = bootstrap::stability_document(found);
            }
            document["centrality"] = super::measures::document(&fit.machine, study);
        }
        common.print_json(&document)?;
        return intervals.done();
    }
    let restarts = if objectives.len() > 1 {
        let worst = objectives.iter().copied().fold(f64::INFINITY, f64::min);
        let highest = objectives[fitted.best_restart()];
        format!("best of {} starts: objectives from {worst:.6} to {highest:.6}\n", objectives.len())
    } else {
        String::new()
    };
    let mut head = plain(if versions.is_empty() { table } else { &given }, &fitted, seconds);
    head.extend(fitted.posterior.as_ref().map(posterior::summary));
    let page = args.report.as_ref().map_or_else(String::new, |path| format!(" and {}", path.display()));
    let stable = study.as_ref().and_then(|study| study.stability.as_ref());
    let stable = stable.map(bootstrap::stability_line).unwrap_or_default();
    report::text(&format!("{head}{restarts}{stable}wrote {}{page}\n", args.output.display()))?;
    intervals.done()
}

impl Args {
    /// All outputs with their options, `--output` first.
    fn outputs(&self) -> Vec<(&'static str, &Path)> {
        let others = [
            ("--history", &self.history),
            ("--component-history", &self.component_history),
            ("--network", &self.network),
            ("--centrality", &self.study.centrality),
            ("--differences", &self.study.differences),
            ("--stability", &self.study.stability),
            ("--checkpoint", &self.checkpoint.checkpoint),
            ("--report", &self.report),
        ];
        let others = others.into_iter().filter_map(|(option, path)| Some((option, path.as_deref()?)));
        [("--output", self.output.as_path())].into_iter().chain(others).collect()
    }

    /// Says that a signal ended the fit, and what the exit code will be.
    fn warn_of_interruption(&self, signal: signals::Interruption, common: &Common) {
        if self.ok_if_interrupted {
            signals::forgive();
        }
        let name = signal.name();
        let exit = if self.ok_if_interrupted { 0 } else { signal.exit_code() };
        let advice = if self.checkpoint.checkpoint.is_some() { "; --resume continues the fit" } else { "" };
        let text =
            format!("{name} ended the fit: the best machine so far is written (exit code {exit}){advice}");
        common.warning("interrupted", text, json!({ "signal": name, "exit_code": exit }));
    }
}

/// The check of a fit in JSON.
fn check_document(check: &Check) -> serde_json::Value {
    json!({
        "largest": check.largest,
        "rms": check.rms,
        "noise": check.noise,
        "verdict": check.verdict.word(),
        "converged": check.converged,
    })
}

/// The penalties that were tried in JSON, the strongest first.
fn path_document(penalty: &Penalty) -> serde_json::Value {
    let tried = penalty.chosen.path.iter().map(
        |tried| json!({ penalty.setting: tried.penalty, "held_out": tried.held_out, "error": tried.error }),
    );
    tried.collect()
}

/// The numbers of hidden units that were tried in JSON, in order.
fn growth_document(growth: &Growth) -> serde_json::Value {
    let size = |size: &Size| {
        json!({
            "hidden": size.hidden,
            "l2": size.l2,
            "l1": size.l1,
            "held_out": size.held_out,
            "error": size.error,
            "rise": size.rise.map(|(rise, _)| rise),
            "rise_error": size.rise.map(|(_, error)| error),
            "guarantee": size.guarantee.word(),
        })
    };
    let path: Vec<serde_json::Value> = growth.path.iter().map(size).collect();
    json!({ "chosen": growth.hidden, "l2": growth.l2, "l1": growth.l1, "held_out_rows": growth.rows, "path": path })
}

/// The log-likelihood of rows to validate with, in JSON.
fn validation_document(seen: &[Validated]) -> serde_json::Value {
    seen.iter().map(|seen| json!({ "iteration": seen.iteration, "held_out": seen.held_out })).collect()
}

/// Write a table of numbers, if there is a place for it.
fn write_history<'a, R: AsRef<[f64]>>(
    output: Option<Output>,
    header: impl IntoIterator<Item = &'a str>,
    rows: impl IntoIterator<Item = R>,
) -> anyhow::Result<()> {
    let Some(mut output) = output else { return Ok(()) };
    write_numbers(header, rows, &mut output).map_err(|error| output.error(&error))?;
    Ok(output.commit()?)
}

fn plain(table: &Table, fitted: &Fitted, seconds: f64) -> String {
    let Fitted { learner, engine, fit, .. } = fitted;
    let machine = &fit.machine;
    let stopped = fit.stopped.to_string();
    let ended = match (fit.converged, fitted.is_complete) {
        (true, _) => "converged",
        (false, true) => &stopped,
        (false, false) => "NOT converged",
    };
    let gradient = fit.best().map_or(0.0, |step| step.gradient_norm);
    let independent = fitted.checked.independent;
    let error = fitted.log_likelihood_error().map_or_else(String::new, |error| format!(" ± {error:.6}"));
    let likelihood = fit.log_likelihood.map_or_else(String::new, |x| {
        format!(
            "log-likelihood per row: {x:.6}{error} ({}); independent units: {independent:.6}\n",
            fit.guarantee
        )
    });
    let check = fitted.checked.check.as_ref().map_or_else(String::new, |check| {
        format!(
            "check: {}, moments of draws are off by {:.1} standard errors on average, {:.1} at most\n",
            check.verdict, check.rms, check.largest
        )
    });
    let pseudo = fit
        .pseudo_log_likelihood
        .filter(|_| fit.log_likelihood.is_none() || fit.guarantee != Guarantee::Exact);
    let pseudo = pseudo.map_or_else(String::new, |x| format!("pseudo-log-likelihood per row: {x:.6}\n"));
    format!(
        "{} ({} distinct, {} missing), {}, {}\n\
         learner {learner}{}: {ended}, {}, gradient {gradient:.1e}, {seconds:.2} s\n\
         {likelihood}{pseudo}{check}",
        count(table.row_count(), "row"),
        table.distinct_count(),
        count(table.missing_count(), "cell"),
        count(machine.unit_count(), "unit"),
        count(machine.graph().edges().len(), "coupling"),
        engine.map_or_else(String::new, |engine| format!(" with engine {engine}")),
        count(fit.iterations(), "iteration"),
    )
}
