//! `isinglass reproduce`: reruns the experiments of the sources.

use std::io::{IsTerminal, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

#[cfg(feature = "png")]
use anyhow::Context;
use clap::Args as ClapArgs;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use isinglass_files::{Output, create_folder};
use isinglass_lab::Progress;
use isinglass_lab::data::read_digits;
use isinglass_lab::reproduce::{Check, Experiment, Report, Settings, experiment, experiments};
use serde_json::{Value, json};

use crate::options::{Common, Usage, keep_files_apart, keep_inputs};
use crate::report::{self, count};

#[derive(ClapArgs)]
#[command(
    after_help = "Examples:\n  isinglass reproduce --list\n  isinglass reproduce kappen-3 --quick -o figures\n\nSizes are those of the source, except for lawrence-5 and lawrence-6: the built-in digits are fewer than the source's and from another collection; --data gives others. `all` takes some minutes; --quick shows the shape of each result in seconds."
)]
pub(crate) struct Args {
    /// The experiment, or `all`; --list lists them
    #[arg(required_unless_present = "list", conflicts_with = "list")]
    name: Option<String>,
    /// The folder for tables, figures and texts
    #[arg(short, long, value_name = "DIR", required_unless_present = "list", conflicts_with = "list")]
    output: Option<PathBuf>,
    /// Use smaller sizes, which show the shape in seconds
    #[arg(long)]
    quick: bool,
    /// List all experiments
    #[arg(long)]
    list: bool,
    /// Pictures of 8×8 pixels for lawrence-5 and lawrence-6: a table of 64 columns; a column named
    /// `label` or `digit` is left out [default: the built-in digits]
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,
}

pub(crate) fn run(args: &Args, common: &Common) -> anyhow::Result<()> {
    let (Some(name), Some(folder)) = (&args.name, &args.output) else {
        return list(common);
    };
    let chosen: Vec<&'static Experiment> = if name == "all" {
        experiments().collect()
    } else {
        vec![experiment(name).map_err(|error| Usage(error.to_string()))?]
    };
    let digits = args.data.as_deref().map(read_digits).transpose()?;
    create_folder(folder)?;
    let paths: Vec<PathBuf> =
        chosen.iter().flat_map(|experiment| Files::paths(folder, experiment.name)).collect();
    keep_files_apart(&paths)?;
    let inputs: Vec<&Path> = args.data.iter().map(PathBuf::as_path).collect();
    paths.iter().try_for_each(|path| keep_inputs(path, &inputs))?;
    let mut documents = Vec::new();
    for (k, experiment) in chosen.iter().enumerate() {
        let files = Files::reserve(folder, experiment.name)?;
        let bar = Bar::start(experiment.name, (k + 1, chosen.len()), common)?;
        let settings =
            Settings { quick: args.quick, seed: common.seed, digits: digits.as_ref(), progress: &bar };
        let began = Instant::now();
        let report = experiment.run(&settings)?;
        let seconds = began.elapsed().as_secs_f64();
        bar.finish();
        let paths = files.write(&report)?;
        if common.json {
            documents.push(document(&report, seconds, &paths));
        } else {
            report::text(&summary(&report, seconds))?;
        }
    }
    if common.json {
        return common
            .print_json(&json!({"quick": args.quick, "seed": common.seed, "experiments": documents}));
    }
    common.line(&format!("wrote {} to {}", count(chosen.len(), "experiment"), folder.display()));
    Ok(())
}

fn list(common: &Common) -> anyhow::Result<()> {
    if common.json {
        let all: Vec<Value> = experiments()
            .map(|experiment| {
                json!({
                    "name": experiment.name,
                    "title": experiment.title,
                    "source": experiment.source,
                    "claim": experiment.claim,
                })
            })
            .collect();
        return common.print_json(&json!({ "experiments": all }));
    }
    let rows: Vec<Vec<String>> = experiments()
        .map(|experiment| vec![experiment.name.to_owned(), experiment.title.to_owned()])
        .collect();
    report::text(&report::columns(&["experiment", "what it shows"], &rows))
}

/// The output files of an experiment, reserved before it is run.
struct Files(Vec<Output>);

impl Files {
    /// Numbers, figure, text, and the figure once more where PNG is built in.
    fn paths(folder: &Path, name: &str) -> Vec<PathBuf> {
        let endings = ["csv", "svg", "md"].into_iter().chain(cfg!(feature = "png").then_some("png"));
        endings.map(|ending| folder.join(format!("{name}.{ending}"))).collect()
    }

    fn reserve(folder: &Path, name: &str) -> anyhow::Result<Self> {
        let outputs =
            Self::paths(folder, name).iter().map(|path| Output::create(path)).collect::<Result<_, _>>();
        Ok(Self(outputs?))
    }

    /// Writes all files and returns their paths.
    fn write(self, report: &Report) -> anyhow::Result<Vec<PathBuf>> {
        let outcome = &report.outcome;
        let contents = [
            outcome.to_csv().into_bytes(),
            outcome.figure.clone().into_bytes(),
            report.to_markdown().into_bytes(),
        ];
        #[cfg(feature = "png")]
        let contents = {
            let picture = isinglass_lab::to_png(&outcome.figure).map_err(anyhow::Error::msg);
            let [csv, svg, md] = contents;
            [csv, svg, md, picture.context(report.experiment.name)?]
        };
        let mut paths = Vec::new();
        for (mut output, bytes) in self.0.into_iter().zip(contents) {
            paths.push(output.path().to_owned());
            output.write_all(&bytes).map_err(|error| output.error(&error))?;
            output.commit()?;
        }
        Ok(paths)
    }
}

fn document(report: &Report, seconds: f64, paths: &[PathBuf]) -> Value {
    let outcome = &report.outcome;
    let check = |Check { claim, measured, holds }: &Check| json!({"claim": claim, "measured": measured, "holds": holds, "what": format!("{claim}: {measured}")});
    let checks: Vec<Value> = outcome.checks.iter().map(check).collect();
    json!({
        "name": report.experiment.name,
        "title": report.experiment.title,
        "source": report.experiment.source,
        "claim": report.experiment.claim,
        "set_up": outcome.method,
        "verdict": outcome.verdict().word(),
        "checks": checks,
        "remarks": outcome.remarks,
        "seconds": seconds,
        "files": paths,
    })
}

/// The verdict, and a line for each check.
fn summary(report: &Report, seconds: f64) -> String {
    let outcome = &report.outcome;
    let mut out = format!(
        "{}: {}: {} ({seconds:.1} s)\n",
        report.experiment.name,
        report.experiment.title,
        outcome.verdict()
    );
    for check in &outcome.checks {
        let holds = if check.holds { "holds" } else { "does not hold" };
        out += &format!("  {holds:<13}  {} – {}\n", check.claim, check.measured);
    }
    if !outcome.remarks.is_empty() {
        out += &format!("  {}\n", outcome.remarks);
    }
    out
}

/// A progress bar with the remaining time, if standard error is a terminal.
pub(super) struct Bar(ProgressBar);

impl Bar {
    pub(super) fn start(name: &str, (place, of): (usize, usize), common: &Common) -> anyhow::Result<Self> {
        let shown = !common.quiet && std::io::stderr().is_terminal();
        let target = if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target);
        bar.set_style(ProgressStyle::with_template(
            "{spinner} {prefix} {bar:30} {percent:>3} %  {eta} left",
        )?);
        let place = if of > 1 { format!(" ({place} of {of})") } else { String::new() };
        bar.set_prefix(format!("{name}{place}"));
        bar.enable_steady_tick(Duration::from_millis(200));
        Ok(Self(bar))
    }

    pub(super) fn finish(&self) {
        self.0.finish_and_clear();
    }
}

impl Progress for Bar {
    fn expect(&self, parts: usize) {
        self.0.set_length(parts as u64);
    }

    fn done(&self) {
        self.0.inc(1);
    }
}
