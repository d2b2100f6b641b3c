//! `isinglass scan`: thermodynamics over temperature.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;
use isinglass::engine::{Curves, Overlap, Scan, ScanRequest};
use isinglass_files::Output;
use isinglass_plan::Asked;
use serde_json::{Value, json};

use super::report::file_name;
use crate::engine_options::{EngineOptions, engines_for};
use crate::options::{Common, ModelWithEvidence, Usage, keep_inputs};
use crate::report;

#[derive(ClapArgs)]
#[command(
    mut_arg("engine", |engine| engine.value_parser(engines_for(Asked::Scan))),
    mut_arg("temperature", |temperature| temperature.hide(true).conflicts_with("temperatures")),
    mut_arg("temperatures", |temperatures| {
        let text = "The temperatures: a range such as 0.5:5:50 (from 0.5 to 5, 50 of them), or a list such as 1,1.5,2";
        temperatures.required(true).value_name("LOW:HIGH:COUNT").help(text).help_heading("Options")
    }),
    after_help = "Example:\n  isinglass make grid --rows 12 --columns 12 --coupling 1 -o lattice.json\n  isinglass scan lattice.json --temperatures 1.5:3.5:21 -o scan.svg"
)]
pub(crate) struct Args {
    #[command(flatten)]
    model: ModelWithEvidence,
    /// Also give the distribution of the overlap (1/n) Σ s_i s'_i of two independent states, and its
    /// Binder ratio
    #[arg(long)]
    overlap: bool,
    /// Write the numbers to a .csv file, or a figure to an .svg file
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    engine: EngineOptions,
}

/// What a file holds, by its ending.
#[derive(Clone, Copy)]
enum Kind {
    Csv,
    Svg,
}

pub(crate) fn run(args: &Args, common: &Common) -> anyhow::Result<()> {
    let kind = args.output.as_deref().map(kind_of).transpose()?;
    if let Some(output) = &args.output {
        keep_inputs(output, &args.model.files())?;
    }
    let mut settings = args.engine.settings(common.seed);
    let request = match settings.take_temperatures().and_then(|given| given.values()) {
        Some(temperatures) => ScanRequest::new(&temperatures),
        None => Err(isinglass::Error::setting("temperatures", "expected LOW:HIGH:COUNT such as 0.5:5:50")),
    };
    let request = request.map_err(|error| report::failed(error.into()))?.overlap(args.overlap);
    settings.check().map_err(Usage::from)?;
    let (machine, evidence) = args.model.read(args.engine.choice.budget)?;
    let output = args.output.as_deref().map(Output::create).transpose()?;
    let found = settings.scan(&machine, &evidence, &request, &|note| common.choice(&note));
    let (engine, scan) = found.map_err(report::advised)?;
    report::warn_unless_converged(common, engine, scan.guarantee, &scan.diagnostics);
    if let (Some(mut output), Some(kind)) = (output, kind) {
        let text = match kind {
            Kind::Csv => csv(&scan),
            Kind::Svg => isinglass_lab::scan::figure(&file_name(&args.model.model), &scan),
        };
        output.write_all(text.as_bytes()).map_err(|error| output.error(&error))?;
        output.commit()?;
    }
    if common.json {
        let mut document = document(engine, &scan);
        if let Some(path) = &args.output {
            document["output"] = json!(path);
        }
        return common.print_json(&document);
    }
    report::text(&plain(engine, &scan))
}

fn kind_of(output: &Path) -> Result<Kind, Usage> {
    let ending = output.extension().unwrap_or_default();
    if ending.eq_ignore_ascii_case("csv") {
        Ok(Kind::Csv)
    } else if ending.eq_ignore_ascii_case("svg") {
        Ok(Kind::Svg)
    } else {
        Err(Usage(format!("{}: a scan is written to a .csv or .svg file", output.display())))
    }
}

/// The JSON document; errors are 0 where the answer is exact, and null where they are unknown.
fn document(engine: &str, scan: &Scan) -> Value {
    let mut document = json!({
        "engine": engine,
        "guarantee": scan.guarantee.word(),
        "converged": scan.diagnostics.converged,
        "temperatures": scan.temperatures,
    });
    let none = vec![0.0; scan.temperatures.len()];
    let mut errors = json!({});
    for (place, name) in Curves::NAMES.into_iter().enumerate() {
        document[name] = json!(scan.values.all()[place]);
        errors[name] = json!(scan.known_errors(place).as_ref().unwrap_or(&none));
    }
    document["errors"] = errors;
    document["mixing"] = report::mixing(&scan.diagnostics);
    if let Some(overlaps) = &scan.overlaps {
        let one = |overlap: &Overlap| {
            json!({
                "temperature": overlap.temperature,
                "q": overlap.q,
                "p": overlap.p,
                "p_error": scan.diagnostics.known_errors(&overlap.p_error),
                "binder": overlap.binder,
                "binder_error": scan.diagnostics.known_error(overlap.binder_error),
            })
        };
        document["overlap"] = overlaps.iter().map(one).collect();
    }
    document
}

/// A row for each temperature, each quantity with its standard error, which is empty where it is unknown.
fn csv(scan: &Scan) -> String {
    let mut names = vec!["temperature".to_owned()];
    let mut columns = vec![scan.temperatures.clone()];
    let none = vec![0.0; scan.temperatures.len()];
    for (place, name) in Curves::NAMES.into_iter().enumerate() {
        names.extend([name.to_owned(), format!("{name}_error")]);
        columns.push(scan.values.all()[place].to_vec());
        columns.push(scan.known_errors(place).unwrap_or_else(|| none.clone()));
    }
    if let Some(overlaps) = &scan.overlaps {
        names.extend(["binder".to_owned(), "binder_error".to_owned()]);
        columns.push(overlaps.iter().map(|overlap| overlap.binder).collect());
        let error = |overlap: &Overlap| scan.diagnostics.known_error(overlap.binder_error);
        columns.push(overlaps.iter().map(error).collect());
    }
    let mut out = names.join(",") + "\n";
    for row in 0..scan.temperatures.len() {
        let cell = |x: f64| if x.is_nan() { String::new() } else { x.to_string() };
        let cells: Vec<String> = columns.iter().map(|column| cell(column[row])).collect();
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{}", cells.join(","));
    }
    out
}

fn plain(engine: &str, scan: &Scan) -> String {
    let titles = ["log Z", "energy", "heat capacity", "magnetisation", "susceptibility", "entropy"];
    let errors: Vec<Option<Vec<f64>>> = (0..titles.len()).map(|place| scan.known_errors(place)).collect();
    let cell = |place: usize, row: usize| {
        let value = scan.values.all()[place][row];
        match &errors[place] {
            Some(errors) => format!("{value:.4} ± {}", report::standard_error(errors[row], 4)),
            None => format!("{value:.6}"),
        }
    };
    let mut header = vec!["T"];
    header.extend(titles);
    header.extend(scan.overlaps.as_ref().map(|_| "Binder ratio"));
    let row = |row: usize| {
        let mut cells = vec![format!("{:.4}", scan.temperatures[row])];
        cells.extend((0..titles.len()).map(|place| cell(place, row)));
        let binder = |overlaps: &Vec<Overlap>| {
            let error = scan.diagnostics.known_error(overlaps[row].binder_error);
            format!("{:.4} ± {}", overlaps[row].binder, report::standard_error(error, 4))
        };
        cells.extend(scan.overlaps.as_ref().map(binder));
        cells
    };
    let rows: Vec<Vec<String>> = (0..scan.temperatures.len()).map(row).collect();
    let head = report::provenance(engine, scan.guarantee, &scan.diagnostics);
    format!("{head}\n{}", report::columns(&header, &rows))
}
