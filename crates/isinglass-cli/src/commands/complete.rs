//! `isinglass complete`: fill the missing cells of a table.

use std::path::PathBuf;

use anyhow::Context;
use clap::Args as ClapArgs;
use isinglass::complete::{Completed, open};
use isinglass::{Machine, Table};
use isinglass_files::{CellForm, Output, table_format, write_sheet};
use serde_json::json;

use crate::engine_options::EngineOptions;
use crate::options::{AtTemperature, Common, Spreadsheets, TableArgs, Usage, keep_inputs};
use crate::report::{self, count};

#[derive(ClapArgs)]
#[command(
    after_help = "Example (the first command writes the files):\n  isinglass demo\n  isinglass complete isinglass-demo/votes.json isinglass-demo/votes.csv -o all.csv\n  isinglass complete isinglass-demo/votes.json isinglass-demo/votes.csv --probabilities -o p.csv"
)]
pub(crate) struct Args {
    /// The model file (.json, .uai, .npz)
    model: PathBuf,
    #[command(flatten)]
    table: TableArgs,
    /// The table to write (.csv, .tsv, .npy)
    #[arg(short, long, value_name = "TABLE")]
    output: PathBuf,
    /// Write the probability of +1 instead of a value; 0 or 1 where the cell was there
    #[arg(long)]
    probabilities: bool,
    #[command(flatten)]
    spreadsheets: Spreadsheets,
    #[command(flatten)]
    at: AtTemperature,
    #[command(flatten)]
    engine: EngineOptions,
}

pub(crate) fn run(args: &Args, common: &Common) -> anyhow::Result<()> {
    table_format(&args.output)?;
    keep_inputs(&args.output, &[&args.model, &args.table.table])?;
    let machine = args.at.read(&args.model, args.engine.choice.budget)?;
    let sheet = args.table.read_sheet(&args.model, args.engine.choice.budget)?;
    let sheet = if args.spreadsheets.spreadsheet_safe { sheet.for_spreadsheets() } else { sheet };
    let table = &sheet.table;
    let output = Output::create(&args.output)?;
    let (engine, found) = args.complete(&machine, table, common)?;
    if let Some(name) = found.added().iter().find(|name| sheet.copied().any(|copied| copied == name.as_str()))
    {
        let problem = format!(
            "column '{name}' is left out, but is a unit of the machine that would be added; rename or keep it"
        );
        return Err(Usage(problem).into());
    }
    common.diagnose(found.notes.iter().cloned());
    report::warn_unless_converged(common, engine.unwrap_or("complete"), found.guarantee, &found.diagnostics);
    let form = if args.probabilities { CellForm::Numbers } else { CellForm::Words };
    let row = |row: usize, cells: &mut Vec<f64>| {
        let distinct = table.distinct_of()[row] as usize;
        if args.probabilities {
            cells.extend(found.probabilities(distinct));
        } else {
            cells.extend(found.state(distinct).map(|spin| f64::from(spin.value())));
        }
    };
    write_sheet(&sheet, found.added(), form, row, output)?;
    if common.json {
        return common.print_json(&json!({
            "output": args.output,
            "rows": table.row_count(),
            "filled": found.filled(),
            "added": found.added(),
            "engine": engine,
            "guarantee": found.guarantee.word(),
            "converged": found.diagnostics.converged,
            "mixing": report::mixing(&found.diagnostics),
            "iteration": report::iteration(&found.diagnostics),
        }));
    }
    let by = engine
        .map_or_else(String::new, |engine| report::provenance(engine, found.guarantee, &found.diagnostics));
    let done = format!(
        "{}, {} filled\n{by}wrote {}\n",
        count(table.row_count(), "row"),
        count(found.filled(), "cell"),
        args.output.display()
    );
    if args.output.is_file() {
        return report::text(&done);
    }
    // The table itself may have gone to standard output.
    common.line(done.trim_end());
    Ok(())
}

impl Args {
    /// The means of the missing cells, and the engine that gave them; without missing cells there
    /// is none.
    fn complete<'a>(
        &self,
        machine: &Machine,
        table: &'a Table,
        common: &Common,
    ) -> anyhow::Result<(Option<&'static str>, Completed<'a>)> {
        let place = || self.table.table.display().to_string();
        let open = open(machine, table).with_context(place)?;
        let settings = self.engine.settings(common.seed);
        let found = settings.complete(machine, table, open.as_ref(), &|note| common.choice(&note));
        found.map_err(report::advised)
    }
}
