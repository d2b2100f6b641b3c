//! `isinglass fit`: learn a machine from a table.

use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::Context;
use clap::{Args as ClapArgs, ValueEnum};
use isinglass::learn::{Factorized, Fit, Learner, Likelihood, OptimizerSettings, most_free};
use isinglass::{Error, Machine, Table};
use isinglass_files::{Output, model_format, read_model, write_model};
use serde_json::json;

use self::start::Structure;
use crate::engines::Task;
use crate::options::{Common, EngineOptions, TableArgs, Usage, keep_inputs};
use crate::report;

mod progress;
mod start;

/// Learn a machine from a table
#[derive(ClapArgs)]
#[command(
    after_help = "Examples (the first command writes the table):\n  isinglass demo\n  isinglass fit isinglass-demo/votes.csv --l2 0.003 -o votes.json\n  isinglass fit isinglass-demo/votes.csv --visible-links none --hidden 3 --l2 0.01 -o rbm.json"
)]
pub(crate) struct Args {
    #[command(flatten)]
    table: TableArgs,
    /// The model file to write (.json, .uai, .npz)
    #[arg(short, long, value_name = "MODEL")]
    output: PathBuf,
    #[command(flatten)]
    structure: Structure,
    /// Start from, and take the structure of, a machine that exists
    #[arg(long, value_name = "MODEL", conflicts_with_all = ["visible_links", "hidden", "hidden_links", "inputs"])]
    init: Option<PathBuf>,
    /// How to learn
    #[arg(long, value_name = "LEARNER", default_value = "auto")]
    learner: LearnerName,
    /// likelihood: how to follow the gradient
    #[arg(long, value_name = "OPTIMIZER", default_value = "lbfgs")]
    optimizer: OptimizerName,
    /// likelihood: penalise couplings with X/2 times the sum of their squares
    #[arg(long, value_name = "X", default_value = "0", value_parser = non_negative, allow_hyphen_values = true)]
    l2: f64,
    /// likelihood: iterations at most
    #[arg(long, value_name = "N", default_value_t = 1000)]
    iterations: usize,
    /// likelihood: converged when no component of the gradient is larger
    #[arg(long, value_name = "X", default_value = "5e-7", value_parser = non_negative, allow_hyphen_values = true)]
    tolerance: f64,
    /// Write objective and gradient norm of every iteration to a CSV file
    #[arg(long, value_name = "FILE.csv")]
    history: Option<PathBuf>,
    #[command(flatten)]
    engine: EngineOptions,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum LearnerName {
    /// likelihood
    Auto,
    /// Maximum likelihood with the expectations of --engine
    Likelihood,
    /// Independent units, in closed form
    Factorized,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OptimizerName {
    /// Limited-memory BFGS
    Lbfgs,
}

/// A finite number of at least 0.
fn non_negative(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok();
    number
        .filter(|x| x.is_finite() && *x >= 0.0)
        .ok_or_else(|| "expected a finite number of at least 0".into())
}

pub(crate) fn run(args: &Args, common: &Common) -> anyhow::Result<()> {
    let began = Instant::now();
    model_format(&args.output)?;
    let table = args.table.read()?;
    let start = match &args.init {
        Some(path) => read_model(path)?,
        None => args.structure.start(
            &table,
            args.learner == LearnerName::Factorized,
            args.engine.budget,
            common.seed,
        )?,
    };
    let mut inputs = vec![args.table.table.as_path()];
    keep_inputs(&args.output, &inputs)?;
    if let Some(history) = &args.history {
        if *history == args.output {
            return Err(Usage("--history and --output name the same file".into()).into());
        }
        inputs.extend([args.output.as_path()].into_iter().chain(args.init.as_deref()));
        keep_inputs(history, &inputs)?;
    }
    // Outputs are reserved before the work, so that a place that cannot be written to is known now.
    let output = Output::create(&args.output)?;
    let history = args.history.as_deref().map(Output::create).transpose()?;

    let (learner, engine, fit) = args.fit(&start, &table, common)?;
    if let Some(mut history) = history {
        let mut text = String::from("iteration,objective,gradient_norm\n");
        for step in &fit.history {
            text += &format!("{},{},{}\n", step.iteration, step.objective, step.gradient_norm);
        }
        history.write_all(text.as_bytes()).map_err(|error| history.error(&error))?;
        history.commit()?;
    }
    for note in write_model(&fit.machine, output)?.iter().chain(&fit.notes) {
        common.note(&format!("note: {note}"));
    }
    if !fit.converged {
        common.note(&format!("warning: not converged: {}", fit.stopped));
    }
    let seconds = began.elapsed().as_secs_f64();
    if common.json {
        let objective: Vec<f64> = fit.history.iter().map(|step| step.objective).collect();
        return report::json(&json!({
            "model": args.output,
            "learner": learner,
            "engine": engine,
            "guarantee": fit.guarantee.word(),
            "rows": table.rows(),
            "iterations": fit.iterations(),
            "converged": fit.converged,
            "stopped": fit.stopped,
            "objective": objective,
            "log_likelihood": fit.log_likelihood,
            "seconds": seconds,
        }));
    }
    report::text(&plain(args, &table, &fit, (learner, engine), seconds))
}

fn plain(
    args: &Args,
    table: &Table,
    fit: &Fit,
    (learner, engine): (&str, Option<&str>),
    seconds: f64,
) -> String {
    let machine = &fit.machine;
    let gradient = fit.history.last().map_or(0.0, |step| step.gradient_norm);
    let likelihood = fit
        .log_likelihood
        .map_or_else(String::new, |x| format!("log-likelihood per row: {x:.6} ({})\n", fit.guarantee));
    format!(
        "{} rows ({} distinct, {} cells missing), {} units, {} couplings\n\
         learner {learner}{}: {}, {} iterations, gradient {gradient:.1e}, {seconds:.2} s\n\
         {likelihood}wrote {}\n",
        table.rows(),
        table.distinct_rows(),
        table.missing_cells(),
        machine.units(),
        machine.graph().edges().len(),
        engine.map_or_else(String::new, |engine| format!(" with engine {engine}")),
        if fit.converged { "converged" } else { "NOT converged" },
        fit.iterations(),
        args.output.display()
    )
}

impl Args {
    /// Learner, engine and result.
    fn fit(
        &self,
        start: &Machine,
        table: &Table,
        common: &Common,
    ) -> anyhow::Result<(&'static str, Option<&'static str>, Fit)> {
        if self.learner == LearnerName::Factorized {
            if self.l2 != 0.0 {
                let problem = "--l2 penalises couplings, and the factorized learner has none";
                return Err(Usage(problem.into()).into());
            }
            if self.structure.hidden > 0 {
                let problem = "the factorized learner has no use for --hidden units";
                return Err(Usage(problem.into()).into());
            }
            let fit = Factorized.fit(start, table, &mut isinglass::learn::NoObserver)?;
            return Ok((Factorized.name(), None, fit));
        }
        let OptimizerName::Lbfgs = self.optimizer;
        let (clamped, free) =
            most_free(start, table).with_context(|| self.table.table.display().to_string())?;
        let engine = self.engine.choose(clamped.max(free), Task::Exact, common);
        let learner = Likelihood::new(&*engine)
            .l2(self.l2)
            .optimizer(OptimizerSettings { iterations: self.iterations, tolerance: self.tolerance });
        let mut progress = progress::Progress::start(self.iterations, common)?;
        let fit = learner.fit(start, table, &mut progress);
        progress.finish();
        let fit = fit.map_err(|error| match error {
            Error::OverBudget { .. } => anyhow::anyhow!(
                "{error}\nhint: give more --budget, fewer units or fewer missing cells; --learner factorized fits any size"
            ),
            other => other.into(),
        })?;
        Ok((learner.name(), Some(engine.name()), fit))
    }
}
