//! `isinglass sample`: draw states.

use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;
use isinglass_files::{Output, write_table};
use isinglass_plan::Asked;
use serde_json::json;

use crate::engine_options::{EngineOptions, Task, engines_for};
use crate::options::{Common, ModelWithEvidence, Spreadsheets, Usage, keep_inputs};
use crate::report;

#[derive(ClapArgs)]
#[command(
    mut_arg("engine", |engine| engine.value_parser(engines_for(Asked::Draws))),
    after_help = "Example:\n  isinglass make chain --units 5 --coupling 0.5 -o chain.json\n  isinglass sample chain.json -n 1000 --seed 7 -o draws.csv"
)]
pub(crate) struct Args {
    #[command(flatten)]
    model: ModelWithEvidence,
    /// How many states to draw
    #[arg(short = 'n', long, value_name = "N", allow_hyphen_values = true)]
    number: usize,
    /// Write the states to a CSV or TSV file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    spreadsheets: Spreadsheets,
    #[command(flatten)]
    engine: EngineOptions,
}

pub(crate) fn run(args: &Args, common: &Common) -> anyhow::Result<()> {
    if let Some(output) = &args.output {
        check_ending(output)?;
        keep_inputs(output, &args.model.files())?;
    }
    let (machine, evidence) = args.model.read(args.engine.choice.budget)?;
    let output = args.output.as_deref().map(Output::create).transpose()?;
    let engine = args
        .engine
        .settings(common.seed)
        .choose(&machine, &evidence, Task::Answer, &|note| common.choice(&note))
        .map_err(report::failed)?;
    let sampler = isinglass_plan::sampler(&*engine).map_err(report::failed)?;
    let draws = sampler.draw(&machine, &evidence, args.number, common.seed).map_err(report::advised)?;
    report::warn_unless_converged(common, sampler.name(), draws.guarantee, &draws.diagnostics);
    let rows = || draws.cells.chunks_exact(draws.units.max(1));
    let (values, names) = (args.model.values.into(), args.spreadsheets.names(machine.names()));
    if let Some(mut output) = output {
        let separator = if has_ending(output.path(), "tsv") { b'\t' } else { b',' };
        write_table(&names, rows(), values, &mut output, separator).map_err(|error| output.error(&error))?;
        output.commit()?;
    }
    if common.json {
        let mut document = json!({
            "engine": sampler.name(),
            "guarantee": draws.guarantee.word(),
            "draws": args.number,
            "units": machine.names(),
            "converged": draws.diagnostics.converged,
            "mixing": report::mixing(&draws.diagnostics),
        });
        match &args.output {
            Some(path) => document["output"] = json!(path),
            None => document["states"] = rows().map(|row| json!(row)).collect(),
        }
        return common.print_json(&document);
    }
    if args.output.is_none() {
        let mut text = Vec::new();
        write_table(&names, rows(), values, &mut text, b',')?;
        report::text(&String::from_utf8_lossy(&text))?;
    }
    Ok(())
}

fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|found| found.eq_ignore_ascii_case(ending))
}

/// Draws are written as text: another ending would lie about what the file holds.
fn check_ending(output: &Path) -> Result<(), Usage> {
    // A device takes anything; what is wrong with a folder is said when it is to be written.
    let no_file = output.exists() && !output.is_file();
    if no_file || has_ending(output, "csv") || has_ending(output, "tsv") {
        return Ok(());
    }
    Err(Usage(format!("{}: draws are written to a .csv or .tsv file", output.display())))
}
