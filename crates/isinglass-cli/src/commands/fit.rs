//! `isinglass fit`: learn a machine from a table.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::Context;
use clap::{Args as ClapArgs, ValueEnum};
use isinglass::learn::{
    Factorized, Fit, Learner, Likelihood, NoObserver, Observer, Phases, Remedy, Restarted, Restarts,
    most_free,
};
use isinglass::{Machine, Table};
use isinglass_files::{Output, model_format, read_model, write_model, write_numbers};
use serde_json::json;

use self::closed_form::ClosedFormOptions;
use self::optimizer::OptimizerOptions;
use self::structure::Structure;
use crate::engine_options::{EngineName, EngineOptions};
use crate::engines::Task;
use crate::options::{Common, TableArgs, Usage, at_least, keep_inputs};
use crate::report::{self, count};

mod closed_form;
mod components;
mod optimizer;
mod progress;
mod structure;

/// Learn a machine from a table
#[derive(ClapArgs)]
#[command(
    after_help = "Examples (the first command writes the table):\n  isinglass demo\n  isinglass fit isinglass-demo/votes.csv --l2 0.003 -o votes.json\n  isinglass fit isinglass-demo/votes.csv --visible-links none --hidden 3 --l2 0.01 -o rbm.json\n  isinglass fit isinglass-demo/votes.csv --visible-links tree --optimizer cg -o tree.json\n  isinglass fit isinglass-demo/votes.csv --learner closed-form -o quick.json"
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
    /// likelihood: penalise couplings with X/2 times the sum of their squares
    #[arg(long, value_name = "X", default_value = "0", value_parser = non_negative, allow_hyphen_values = true)]
    l2: f64,
    #[command(flatten)]
    optimizer: OptimizerOptions,
    #[command(flatten)]
    closed_form: ClosedFormOptions,
    /// likelihood with hidden units: fits from N random starts, of which the best is kept
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = at_least::<1>)]
    restarts: usize,
    /// Write objective and gradient norm of every iteration to a CSV file
    #[arg(long, value_name = "FILE.csv")]
    history: Option<PathBuf>,
    /// likelihood with --engine mixture: write weight and means of each component after every iteration to a CSV file
    #[arg(long, value_name = "FILE.csv")]
    component_history: Option<PathBuf>,
    #[command(flatten)]
    engine: EngineOptions,
    /// likelihood: the engine with the table's cells clamped, where hidden units or missing cells are left [default: that of --engine; mean-field with mixture]
    #[arg(long, value_name = "ENGINE", help_heading = "Engine")]
    clamped_engine: Option<EngineName>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum LearnerName {
    /// likelihood
    Auto,
    /// Maximum likelihood with the expectations of --engine
    Likelihood,
    /// From means and covariances by linear response, for any number of columns; no hidden units, no inputs
    ClosedForm,
    /// Independent units, in closed form
    Factorized,
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
    args.check()?;
    model_format(&args.output)?;
    let table = args.table.read()?;
    let start = match &args.init {
        Some(path) => read_model(path)?,
        None => {
            args.structure.machine(&table, args.learner == LearnerName::Factorized, args.engine.budget)?
        }
    };
    let mut inputs = vec![args.table.table.as_path()];
    keep_inputs(&args.output, &inputs)?;
    let histories = [("--history", &args.history), ("--component-history", &args.component_history)];
    let mut outputs = vec![("--output", args.output.as_path())];
    inputs.extend(args.init.as_deref());
    for (option, path) in histories.into_iter().filter_map(|(option, path)| Some((option, path.as_deref()?)))
    {
        if let Some((other, _)) = outputs.iter().find(|(_, taken)| *taken == path) {
            return Err(Usage(format!("{option} and {other} name the same file")).into());
        }
        keep_inputs(path, &inputs)?;
        outputs.push((option, path));
    }
    // Outputs are reserved before the work, so that a place that cannot be written to is known now.
    let output = Output::create(&args.output)?;
    let [history, component_history] = histories.map(|(_, path)| path.as_deref().map(Output::create));
    let (history, component_history) = (history.transpose()?, component_history.transpose()?);

    let Done { learner, engine, clamped_engine, restarted, remedy, components } =
        args.fit(&start, &table, common)?;
    let Restarted { fit, objectives, best } = &restarted;
    let steps = fit.history.iter();
    let steps = steps.map(|step| [step.iteration as f64, step.objective, step.gradient_norm]);
    write_history(history, ["iteration", "objective", "gradient_norm"], steps)?;
    let units = fit.machine.names().iter().map(String::as_str);
    let header = ["iteration", "component", "weight"].into_iter().chain(units);
    write_history(component_history, header, components)?;
    for note in write_model(&fit.machine, output)?.iter().chain(&fit.notes) {
        common.note(&format!("note: {note}"));
    }
    if !fit.converged {
        common.note(&format!("warning: not converged: {}", fit.stopped));
    }
    report::warn_unless_converged(common, engine.unwrap_or(learner), fit.guarantee, &fit.diagnostics);
    let seconds = began.elapsed().as_secs_f64();
    if common.json {
        let objective: Vec<f64> = fit.history.iter().map(|step| step.objective).collect();
        let mut document = json!({
            "model": args.output,
            "learner": learner,
            "engine": engine,
            "clamped_engine": clamped_engine,
            "guarantee": fit.guarantee.word(),
            "rows": table.rows(),
            "iterations": fit.iterations(),
            "converged": fit.converged,
            "stopped": fit.stopped,
            "objective": objective,
            "kept": fit.kept,
            "log_likelihood": fit.log_likelihood,
            "pseudo_log_likelihood": fit.pseudo_log_likelihood,
            "restarts": objectives.len(),
            "best_restart": best,
            "restart_objectives": objectives,
            "seconds": seconds,
        });
        if let Some(remedy) = remedy {
            document["singular"] = remedy.word().into();
        }
        return report::json(&document);
    }
    let restarts = if objectives.len() > 1 {
        let worst = objectives.iter().copied().fold(f64::INFINITY, f64::min);
        let highest = objectives[*best];
        format!("best of {} starts: objectives from {worst:.6} to {highest:.6}\n", objectives.len())
    } else {
        String::new()
    };
    let head = plain(&table, fit, learner, engine, seconds);
    report::text(&format!("{head}{restarts}wrote {}\n", args.output.display()))
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

fn plain(table: &Table, fit: &Fit, learner: &str, engine: Option<&str>, seconds: f64) -> String {
    let machine = &fit.machine;
    let gradient = fit.best().map_or(0.0, |step| step.gradient_norm);
    let likelihood = fit
        .log_likelihood
        .map_or_else(String::new, |x| format!("log-likelihood per row: {x:.6} ({})\n", fit.guarantee));
    format!(
        "{} ({} distinct, {} missing), {}, {}\n\
         learner {learner}{}: {}, {}, gradient {gradient:.1e}, {seconds:.2} s\n\
         {likelihood}",
        count(table.rows(), "row"),
        table.distinct_rows(),
        count(table.missing_cells(), "cell"),
        count(machine.units(), "unit"),
        count(machine.graph().edges().len(), "coupling"),
        engine.map_or_else(String::new, |engine| format!(" with engine {engine}")),
        if fit.converged { "converged" } else { "NOT converged" },
        count(fit.iterations(), "iteration"),
    )
}

/// What a fit gave, and by what.
struct Done {
    learner: &'static str,
    engine: Option<&'static str>,
    /// The engine of the clamped phase, where there is one.
    clamped_engine: Option<&'static str>,
    restarted: Restarted,
    /// What was done about singular covariances, by a learner that needs their inverse.
    remedy: Option<Remedy>,
    /// What `--component-history` is to hold.
    components: Vec<Vec<f64>>,
}

impl Done {
    /// By a learner that has one answer, and needs no engine.
    fn at_once(learner: &'static str, fit: Fit, remedy: Option<Remedy>) -> Self {
        Self {
            learner,
            engine: None,
            clamped_engine: None,
            restarted: once(fit),
            remedy,
            components: Vec::new(),
        }
    }
}

/// A fit from one start.
fn once(fit: Fit) -> Restarted {
    let objectives = vec![fit.quality()];
    Restarted { fit, objectives, best: 0 }
}

impl Args {
    /// Refuse options that do not go together, before any file is read.
    fn check(&self) -> Result<(), Usage> {
        self.optimizer.settings()?;
        if self.init.is_some() && self.restarts > 1 {
            return Err(Usage("--init gives the one start there is, and --restarts asks for more".into()));
        }
        let learner = match self.learner {
            LearnerName::Auto | LearnerName::Likelihood => {
                self.engine.check_for(&[self.engine.engine, self.clamped_name()])?;
                if self.component_history.is_some() && self.engine.engine != EngineName::Mixture {
                    return Err(Usage("--component-history belongs to --engine mixture".into()));
                }
                return self.closed_form.refuse();
            }
            LearnerName::ClosedForm => "closed-form",
            LearnerName::Factorized => "factorized",
        };
        self.engine.check(EngineName::Auto)?;
        let problem = if self.l2 != 0.0 && self.learner == LearnerName::Factorized {
            "--l2 penalises couplings, and the factorized learner has none".to_owned()
        } else if self.l2 != 0.0 {
            "--l2 belongs to --learner likelihood; the closed-form learner has no penalty (--singular shrink keeps couplings small)"
                .to_owned()
        } else if self.structure.hidden > 0 {
            format!("the {learner} learner has no use for --hidden units")
        } else if self.restarts > 1 {
            format!("the {learner} learner has one answer, and no use for --restarts")
        } else if self.component_history.is_some() {
            "--component-history belongs to --engine mixture".to_owned()
        } else if self.clamped_engine.is_some() {
            "--clamped-engine belongs to --learner likelihood".to_owned()
        } else if self.engine.engine != EngineName::Auto {
            format!("--engine belongs to --learner likelihood; the {learner} learner needs none")
        } else if let Some(option) = self.optimizer.given() {
            format!("{option} belongs to --learner likelihood; the {learner} learner follows no gradient")
        } else if self.learner == LearnerName::ClosedForm {
            return self.closed_form.check();
        } else {
            return self.closed_form.refuse();
        };
        Err(Usage(problem))
    }

    fn fit(&self, start: &Machine, table: &Table, common: &Common) -> anyhow::Result<Done> {
        if self.learner == LearnerName::Factorized {
            let fit = Factorized.fit(start, table, &mut NoObserver)?;
            return Ok(Done::at_once(Factorized.name(), fit, None));
        }
        if self.learner == LearnerName::ClosedForm {
            return self.fit_in_closed_form(start, table, common);
        }
        let (clamped, free) =
            most_free(start, table).with_context(|| self.table.table.display().to_string())?;
        // Whatever a bias is at the start, it is trained: the engine must be able to do with all of them. And what it can do with the input units
        // clamped alone, it can do with more units clamped.
        let trained = start.clone().with_parameters(start.weights().to_vec(), vec![1.0; start.units()])?;
        let advise = |error: anyhow::Error| {
            let advice = "give more --budget, sparser --visible-links, or fewer units or missing cells; or take an approximate engine (--engine bethe, tap, \
                          linear-response), or, without hidden units, --learner closed-form";
            report::with_hint(error, advice)
        };
        let name = self.engine.engine;
        let engine = self.engine.pick(name, (&trained, &free), Task::Exact, common).map_err(advise)?;
        let clamped_engine = match self.clamped_name() {
            name if name == self.engine.engine => None,
            name => {
                let quiet = Common { quiet: true, ..*common };
                Some(self.engine.pick(name, (&trained, &clamped), Task::Exact, &quiet).map_err(advise)?)
            }
        };
        let phases = Phases { clamped: clamped_engine.as_deref().unwrap_or(&*engine), free: &*engine };
        let learner = Likelihood::with_phases(phases).l2(self.l2).optimizer(self.optimizer.settings()?);
        let mut progress = progress::Progress::start(self.optimizer.iterations, common)?;
        let fit = |observer: &mut dyn Observer| {
            if self.init.is_some() {
                learner.fit(start, table, observer).map(once)
            } else {
                let restarts = Restarts { count: self.restarts, seed: common.seed };
                restarts.fit(&learner, start, table, observer)
            }
        };
        let (restarted, components) = if self.component_history.is_some() {
            if free.free_count() < start.units() {
                return Err(Usage("--component-history is for machines without inputs".into()).into());
            }
            let mixture = self.engine.mixture(common.seed);
            let mut record = components::ComponentRecord::new(mixture, &mut progress);
            let restarted = fit(&mut record);
            let best = restarted.as_ref().map_or(0, |restarted| restarted.best);
            (restarted, record.of_start(best))
        } else {
            (fit(&mut progress), Vec::new())
        };
        progress.finish();
        let restarted = restarted.map_err(|error| advise(error.into()))?;
        Ok(Done {
            learner: learner.name(),
            engine: Some(engine.name()),
            clamped_engine: (clamped.free_count() > 0).then(|| phases.clamped.name()),
            restarted,
            remedy: None,
            components,
        })
    }

    /// The engine with the table's cells clamped.
    fn clamped_name(&self) -> EngineName {
        self.clamped_engine.unwrap_or(self.engine.engine.for_rows())
    }

    fn fit_in_closed_form(&self, start: &Machine, table: &Table, common: &Common) -> anyhow::Result<Done> {
        let learner = self.closed_form.learner(self.engine.budget);
        let mut progress = progress::Progress::start(learner.iterations, common)?;
        let found = learner.solve(start, table, &mut progress);
        progress.finish();
        let advise =
            |error| report::with_hint(error, "give more --budget; --learner factorized fits any size");
        let found = found.map_err(advise)?;
        Ok(Done::at_once(learner.name(), found.fit, Some(found.remedy)))
    }
}
