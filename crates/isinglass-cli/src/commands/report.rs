//! `isinglass report`: a page about a machine, and about a table seen through it.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args as ClapArgs;
use isinglass::engine::Open;
use isinglass::likelihood::{Phases, TwoPhase};
use isinglass::network::Study;
use isinglass::{Engine, Evidence, Machine, Table};
use isinglass_files::Output;
use isinglass_lab::report::{Origin, Report, Settings, Shape, parse_history};
use isinglass_plan::EngineSettings;
use serde_json::{Value, json};

use super::infer::PairChoice;
use crate::engine_options::{EngineName, EngineOptions, Task};
use crate::options::{AtTemperature, Columns, Common, Usage, at_least, keep_inputs};
use crate::report;

#[derive(ClapArgs)]
#[command(
    after_help = "Example (the first command writes the files):\n  isinglass demo\n  isinglass report isinglass-demo/votes.json isinglass-demo/votes.csv -o votes.html"
)]
pub(crate) struct Args {
    /// The model file (.json, .uai, .npz)
    model: PathBuf,
    /// A table (.csv, .tsv, .npy, each also .gz) to compare the machine with: a header names the
    /// units
    table: Option<PathBuf>,
    /// Take a column as row weights
    #[arg(long, value_name = "COLUMN", requires = "table")]
    weights: Option<String>,
    /// Leave columns out
    #[arg(long, value_name = "COLUMN,…", requires = "table")]
    drop: Option<String>,
    /// The page to write (.html)
    #[arg(short, long, value_name = "FILE.html")]
    output: PathBuf,
    /// The title of the page [default: the name of the model file]
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Show the iterations of a fit, as `fit --history` writes them
    #[arg(long, value_name = "FILE.csv")]
    history: Option<PathBuf>,
    #[command(flatten)]
    look: Look,
    #[command(flatten)]
    at: AtTemperature,
    #[command(flatten)]
    engine: EngineOptions,
}

/// What the page is to show.
#[derive(ClapArgs)]
struct Look {
    /// The visible units are the pixels of a picture, row after row, such as 8x8 [default: from
    /// their names, such as p07 or r0c7]
    #[arg(long, value_name = "RxC")]
    shape: Option<Shape>,
    /// Which modelled pair moments to compare with the table's [default: all of up to 500 units,
    /// otherwise edges]
    #[arg(long, value_name = "WHICH")]
    pairs: Option<PairChoice>,
    /// How many surprising rows to show
    #[arg(long, value_name = "N", default_value_t = 12, value_parser = at_least::<1>)]
    rows: usize,
}

pub(crate) fn run(args: &Args, common: &Common) -> anyhow::Result<()> {
    check_ending(&args.output)?;
    let engine = args.engine.settings(common.seed);
    engine.check().map_err(Usage::from)?;
    let inputs = [Some(&args.model), args.table.as_ref(), args.history.as_ref()];
    let inputs: Vec<&Path> = inputs.into_iter().flatten().map(PathBuf::as_path).collect();
    keep_inputs(&args.output, &inputs)?;
    let machine = args.at.read(&args.model, args.engine.choice.budget)?;
    let table = args.table.as_ref().map(|path| {
        let columns =
            Columns { weights: args.weights.clone(), drop: args.drop.clone(), ..Columns::default() };
        columns.read_for(path, Some(&args.model), args.engine.choice.budget)
    });
    let table = table.transpose()?;
    let history = match &args.history {
        Some(path) => read_history(path).with_context(|| path.display().to_string())?,
        None => Vec::new(),
    };
    let output = Output::create(&args.output)?;
    let model = file_name(&args.model);
    let origin = Origin {
        title: args.title.clone().unwrap_or_else(|| model.clone()),
        model,
        table: args.table.as_deref().map(file_name),
        fit: None,
        history,
        study: study(&engine, &machine, table.as_ref(), common)?,
    };
    let settings = Settings {
        shape: args.look.shape,
        pairs: args.look.pairs.map(Into::into),
        rows: args.look.rows,
        ..settings(&engine)
    };
    let engines = Engines { rows: None, settings: engine };
    let document = write(&machine, table.as_ref(), origin, &settings, &engines, output, common)?;
    if common.json {
        return common.print_json(&document);
    }
    report::text(&format!("wrote {}\n", args.output.display()))
}

/// The most units whose shortest paths are looked for: beyond, a dense network takes seconds.
pub(super) const STUDIED_UNITS: usize = 500;

/// Centralities and predictability.
fn study(
    engine: &EngineSettings,
    machine: &Machine,
    table: Option<&Table>,
    common: &Common,
) -> anyhow::Result<Option<Study>> {
    if machine.unit_count() <= STUDIED_UNITS {
        return Ok(Some(engine.study(machine, table)?));
    }
    let text = format!(
        "more than {STUDIED_UNITS} units: centralities are left out (see isinglass network --centrality)"
    );
    common.note("unavailable", text, json!({ "what": ["centrality"] }));
    Ok(None)
}

/// What a page shows by default.
pub(super) fn settings(engine: &EngineSettings) -> Settings {
    Settings { seed: engine.seed(), budget: engine.budget(), ..Settings::default() }
}

/// Computes with the chosen engines, writes the page, and returns what was computed as JSON.
pub(super) fn write(
    machine: &Machine,
    table: Option<&Table>,
    origin: Origin,
    settings: &Settings,
    engines: &Engines,
    mut output: Output,
    common: &Common,
) -> anyhow::Result<Value> {
    let place = origin.table.clone();
    let chosen = engines.choose(machine, table, common);
    let (clamped, free) = match place {
        Some(place) => chosen.context(place)?,
        None => chosen?,
    };
    let phases = Phases { clamped: &*clamped, free: &*free };
    let page = Report::new(machine, table, phases, origin, settings)?;
    for note in page.notes() {
        common.note("unavailable", note, json!({}));
    }
    if !page.converged() {
        common.warning("not-converged", "an engine did not converge; the page says where", json!({}));
    }
    let text = page.to_html();
    output.write_all(text.as_bytes()).map_err(|error| output.error(&error))?;
    let mut document = page.summary();
    document["report"] = output.path().display().to_string().into();
    document["bytes"] = text.len().into();
    output.commit()?;
    Ok(document)
}

/// Which engines to use.
pub(super) struct Engines {
    pub(super) settings: EngineSettings,
    /// The engine for the rows of the table, if one was named.
    pub(super) rows: Option<EngineName>,
}

impl Engines {
    /// For the rows of the table, and for the machine as a whole.
    fn choose(
        &self,
        machine: &Machine,
        table: Option<&Table>,
        common: &Common,
    ) -> anyhow::Result<(Box<dyn Engine>, Box<dyn Engine>)> {
        let (clamped, free) = match table {
            Some(table) => TwoPhase::new(machine, table)?.open()?,
            None => {
                let nothing = Open::alike(Evidence::none(machine.unit_count()));
                (nothing.clone(), nothing)
            }
        };
        // Few units are free where the table's cells are known: an exact engine may serve there even where it cannot serve the whole.
        let pick = |name, open, note| {
            self.settings.pick_for_rows(name, (machine, open), Task::Answer, note).map_err(report::failed)
        };
        let of_rows = match self.rows {
            Some(rows) => pick(rows, &clamped, &|_| ())?,
            None => self.settings.pick_clamped((machine, &clamped), Task::Answer).map_err(report::failed)?,
        };
        let of_all = pick(self.settings.engine, &free, &|note| common.choice(&note))?;
        Ok((of_rows, of_all))
    }
}

fn read_history(path: &Path) -> anyhow::Result<Vec<isinglass::learn::Step>> {
    let text = fs::read_to_string(path)?;
    Ok(parse_history(&text)?)
}

/// The last part of a path, as the page shows it.
pub(super) fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// Browsers go by the ending of a file on disk.
pub(super) fn check_ending(output: &Path) -> Result<(), Usage> {
    // A device takes anything; what is wrong with a folder is said when it is to be written.
    let no_file = output.exists() && !output.is_file();
    let is_page = output
        .extension()
        .is_some_and(|end| end.eq_ignore_ascii_case("html") || end.eq_ignore_ascii_case("htm"));
    if no_file || is_page {
        return Ok(());
    }
    Err(Usage(format!("{}: a report is written to a .html file", output.display())))
}
