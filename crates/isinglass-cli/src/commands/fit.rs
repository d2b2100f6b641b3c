//! `isinglass fit`: learn a machine from a table.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::Context;
use clap::Args as ClapArgs;
use isinglass::engine::Guarantee;
use isinglass::engine::auto::{self, Choice};
use isinglass::learn::{
    Factorized, Fit, InformationGain, Learner, Likelihood, NoObserver, Observer, OptimizerSettings, Phases,
    PseudoLikelihood, Remedy, Restarted, Restarts, most_free,
};
use isinglass::{Budget, Engine, Evidence, Machine, Role, Table};
use isinglass_files::{Output, model_format, read_model, write_model, write_network, write_numbers};
use serde_json::json;

use self::closed_form::ClosedFormOptions;
use self::contrastive::ContrastiveOptions;
use self::draws::DrawsOptions;
use self::learner::LearnerName;
use self::optimizer::OptimizerOptions;
use self::sparse::SparseOptions;
use self::structure::Structure;
use crate::engine_options::{EngineName, EngineOptions};
use crate::engines::Task;
use crate::options::{Common, TableArgs, Usage, at_least, keep_inputs};
use crate::report::{self, count};

mod closed_form;
mod components;
mod contrastive;
mod draws;
mod learner;
mod optimizer;
mod progress;
mod sparse;
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
    /// Penalise couplings with X/2 times the sum of their squares
    #[arg(long, value_name = "X", default_value = "0", value_parser = non_negative, allow_hyphen_values = true)]
    l2: f64,
    #[command(flatten)]
    optimizer: OptimizerOptions,
    #[command(flatten)]
    sparse: SparseOptions,
    #[command(flatten)]
    draws: DrawsOptions,
    #[command(flatten)]
    contrastive: ContrastiveOptions,
    #[command(flatten)]
    closed_form: ClosedFormOptions,
    /// With hidden units: fits from N random starts, of which the best is kept
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = at_least::<1>)]
    restarts: usize,
    /// Write objective and gradient norm of every iteration to a CSV file
    #[arg(long, value_name = "FILE.csv")]
    history: Option<PathBuf>,
    /// likelihood with --engine mixture: write weight and means of each component after every iteration to a CSV file
    #[arg(long, value_name = "FILE.csv")]
    component_history: Option<PathBuf>,
    /// Write the couplings that are not 0 to a CSV file, the strongest first
    #[arg(long, value_name = "FILE.csv")]
    network: Option<PathBuf>,
    #[command(flatten)]
    engine: EngineOptions,
    /// likelihood: the engine with the table's cells clamped, where hidden units or missing cells are left [default: that of --engine; mean-field with mixture]
    #[arg(long, value_name = "ENGINE", help_heading = "Engine")]
    clamped_engine: Option<EngineName>,
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
    let others = [
        ("--history", &args.history),
        ("--component-history", &args.component_history),
        ("--network", &args.network),
    ];
    let mut outputs = vec![("--output", args.output.as_path())];
    inputs.extend(args.init.as_deref());
    for (option, path) in others.into_iter().filter_map(|(option, path)| Some((option, path.as_deref()?))) {
        if let Some((other, _)) = outputs.iter().find(|(_, taken)| *taken == path) {
            return Err(Usage(format!("{option} and {other} name the same file")).into());
        }
        keep_inputs(path, &inputs)?;
        outputs.push((option, path));
    }
    // Outputs are reserved before the work, so that a place that cannot be written to is known now.
    let output = Output::create(&args.output)?;
    let reserve = |path: &Option<PathBuf>| path.as_deref().map(Output::create).transpose();
    let (history, component_history) = (reserve(&args.history)?, reserve(&args.component_history)?);
    let network = reserve(&args.network)?;

    let Done { learner, engine, clamped_engine, restarted, remedy, components } =
        args.fit(&start, &table, common)?;
    let Restarted { fit, objectives, best } = &restarted;
    let steps = fit.history.iter();
    let steps = steps.map(|step| [step.iteration as f64, step.objective, step.gradient_norm]);
    write_history(history, ["iteration", "objective", "gradient_norm"], steps)?;
    let units = fit.machine.names().iter().map(String::as_str);
    let header = ["iteration", "component", "weight"].into_iter().chain(units);
    write_history(component_history, header, components)?;
    if let Some(mut output) = network {
        write_network(&fit.machine, &[], &mut output).map_err(|error| output.error(&error))?;
        output.commit()?;
    }
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
    let pseudo = fit
        .pseudo_log_likelihood
        .filter(|_| fit.log_likelihood.is_none() || fit.guarantee != Guarantee::Exact);
    let pseudo = pseudo.map_or_else(String::new, |x| format!("pseudo-log-likelihood per row: {x:.6}\n"));
    format!(
        "{} ({} distinct, {} missing), {}, {}\n\
         learner {learner}{}: {}, {}, gradient {gradient:.1e}, {seconds:.2} s\n\
         {likelihood}{pseudo}",
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
    /// By a learner that needs no engine.
    fn of(learner: &'static str, restarted: Restarted) -> Self {
        Self { learner, engine: None, clamped_engine: None, restarted, remedy: None, components: Vec::new() }
    }

    /// By a learner that has one answer.
    fn at_once(learner: &'static str, fit: Fit, remedy: Option<Remedy>) -> Self {
        Self { remedy, ..Self::of(learner, once(fit)) }
    }
}

/// Memory within which a likelihood that was not asked for is computed all the same: it takes some hundredths of a second.
const AT_HAND: Budget = Budget(16 << 20);

/// The machine as training may make it: whatever a bias is at the start, an engine must be able to do with all of them.
fn with_all_biases(machine: &Machine) -> isinglass::Result<Machine> {
    machine.clone().with_parameters(machine.weights().to_vec(), vec![1.0; machine.units()])
}

/// A fit from one start.
fn once(fit: Fit) -> Restarted {
    let objectives = vec![fit.quality()];
    Restarted { fit, objectives, best: 0 }
}

impl Args {
    fn fit(&self, start: &Machine, table: &Table, common: &Common) -> anyhow::Result<Done> {
        match self.settled(start, table, common)? {
            LearnerName::Factorized => {
                let fit = Factorized.fit(start, table, &mut NoObserver)?;
                Ok(Done::at_once(Factorized.name(), fit, None))
            }
            LearnerName::ClosedForm => self.fit_in_closed_form(start, table, common),
            LearnerName::PseudoLikelihood => self.fit_by_pseudo_likelihood(start, table, common),
            LearnerName::PlEm => {
                let learner = self.pl_em(common);
                self.fit_without_engine(&learner, learner.iterations, (start, table), common)
            }
            LearnerName::ContrastiveDivergence => {
                let learner = self.contrastive_divergence(common);
                self.fit_without_engine(&learner, learner.epochs, (start, table), common)
            }
            LearnerName::MeanFieldCd => {
                let learner = self.mean_field_cd();
                self.fit_without_engine(&learner, learner.iterations, (start, table), common)
            }
            _ => self.fit_by_likelihood(start, table, common),
        }
    }

    fn fit_by_likelihood(&self, start: &Machine, table: &Table, common: &Common) -> anyhow::Result<Done> {
        let (clamped, free) =
            most_free(start, table).with_context(|| self.table.table.display().to_string())?;
        // What the engine can do with the input units clamped alone, it can do with more units clamped.
        let trained = with_all_biases(start)?;
        let advise = |error: anyhow::Error| {
            let advice = "give more --budget, sparser --visible-links, or fewer units or missing cells; or take an approximate engine (--engine bethe, tap, \
                          linear-response) or a learner that needs none (--learner pl-em or, without hidden units, pseudo-likelihood and closed-form)";
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
        let settings = self.optimizer.settings(OptimizerSettings::default());
        let learner = Likelihood::with_phases(phases).l2(self.l2).optimizer(settings);
        let mut progress = progress::Progress::start(settings.iterations, common)?;
        let fit = |observer: &mut dyn Observer| self.from_starts(&learner, (start, table), common, observer);
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

    /// The learner that `auto` stands for here, or that a table with gaps asks for; what was taken and why goes to standard error.
    fn settled(&self, start: &Machine, table: &Table, common: &Common) -> anyhow::Result<LearnerName> {
        let in_place = || self.table.table.display().to_string();
        let (clamped, free) = most_free(start, table).with_context(in_place)?;
        let is_open = clamped.free_count() > 0;
        let learner = match self.learner {
            LearnerName::Auto if self.sparse.is_asked() => LearnerName::PseudoLikelihood,
            LearnerName::Auto if self.engine.engine != EngineName::Auto => LearnerName::Likelihood,
            LearnerName::Auto => match auto::choose(&with_all_biases(start)?, &free, self.engine.budget)? {
                Choice::Exact { .. } => LearnerName::Likelihood,
                Choice::Sampling { refusal, .. } => {
                    let other = if is_open { LearnerName::PlEm } else { LearnerName::PseudoLikelihood };
                    common.note(&format!(
                        "learner: {}, since the likelihood is out of reach ({refusal})",
                        other.word()
                    ));
                    other
                }
            },
            LearnerName::PseudoLikelihood if clamped.free_count() > 0 && !self.sparse.is_asked() => {
                self.turn_to_draws(start, common)
            }
            named => named,
        };
        Ok(learner)
    }

    /// Pseudo-likelihood of rows with gaps is what pl-em learns by; hidden units have to be asked for.
    fn turn_to_draws(&self, start: &Machine, common: &Common) -> LearnerName {
        if start.with_role(Role::Hidden).next().is_some() {
            return LearnerName::PseudoLikelihood;
        }
        common.note("learner: pl-em, since the table has missing cells");
        LearnerName::PlEm
    }

    /// Fit from one start, or from several of which the best is kept.
    fn from_starts(
        &self,
        learner: &dyn Learner,
        (start, table): (&Machine, &Table),
        common: &Common,
        observer: &mut dyn Observer,
    ) -> isinglass::Result<Restarted> {
        if self.init.is_some() {
            return learner.fit(start, table, observer).map(once);
        }
        Restarts { count: self.restarts, seed: common.seed }.fit(learner, start, table, observer)
    }

    fn fit_by_pseudo_likelihood(
        &self,
        start: &Machine,
        table: &Table,
        common: &Common,
    ) -> anyhow::Result<Done> {
        let budget = self.engine.budget;
        let settings = self.optimizer.settings(PseudoLikelihood::default().settings);
        let plain = PseudoLikelihood { l2: self.l2, l1: self.sparse.weight(), settings, budget };
        match self.sparse.paths(budget) {
            Some(paths) => self.fit_without_engine(&paths, start.units(), (start, table), common),
            None => self.fit_without_engine(&plain, settings.iterations, (start, table), common),
        }
    }

    /// By a learner that needs no engine and may take so many iterations.
    fn fit_without_engine(
        &self,
        learner: &dyn Learner,
        iterations: usize,
        (start, table): (&Machine, &Table),
        common: &Common,
    ) -> anyhow::Result<Done> {
        let mut progress = progress::Progress::start(iterations, common)?;
        let found = self.from_starts(learner, (start, table), common, &mut progress);
        progress.finish();
        let mut restarted = found.map_err(|error| report::with_hint(error, "give more --budget"))?;
        self.add_likelihood(&mut restarted.fit, table)?;
        Ok(Done::of(learner.name(), restarted))
    }

    /// Where a learner has no use for the likelihood but it takes next to nothing to compute, the user has: it is exact or absent.
    fn add_likelihood(&self, fit: &mut Fit, table: &Table) -> anyhow::Result<()> {
        let machine = &fit.machine;
        let (clamped, free) = most_free(machine, table)?;
        let budget = self.engine.budget.min(AT_HAND);
        let exact = |evidence: &Evidence| -> isinglass::Result<Option<Box<dyn Engine>>> {
            Ok(match auto::choose(&with_all_biases(machine)?, evidence, budget)? {
                Choice::Exact { engine, .. } => Some(engine),
                Choice::Sampling { .. } => None,
            })
        };
        let (Some(free), Some(clamped)) = (exact(&free)?, exact(&clamped)?) else { return Ok(()) };
        let phases = Phases { clamped: &*clamped, free: &*free };
        let evaluation = InformationGain::new(phases, machine, table, 0.0)?.evaluate(machine)?;
        (fit.log_likelihood, fit.guarantee) = (Some(evaluation.gain), evaluation.guarantee);
        Ok(())
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
