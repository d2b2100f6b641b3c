//! `isinglass convert`: between model formats, by file ending.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use isinglass::Budget;
use isinglass_files::{Output, model_format, read_encodings, write_model_with};
use serde_json::json;

use crate::options::{AtTemperature, Common};

#[derive(ClapArgs)]
#[command(
    after_help = "Example:\n  isinglass make chain --units 5 -o chain.json\n  isinglass convert chain.json chain.uai"
)]
pub(crate) struct Args {
    /// The file to read
    input: PathBuf,
    /// The file to write
    output: PathBuf,
    /// Memory that reading the file may take, such as 512MiB or 6GiB
    #[arg(long, value_name = "SIZE", default_value = "1GiB")]
    budget: Budget,
    #[command(flatten)]
    at: AtTemperature,
}

pub(crate) fn run(args: &Args, common: &Common) -> anyhow::Result<()> {
    model_format(&args.output)?;
    let machine = args.at.read(&args.input, args.budget)?;
    let notes = write_model_with(
        &machine,
        &read_encodings(&args.input, args.budget)?,
        Output::create(&args.output)?,
    )?;
    common.not_kept(&notes);
    if common.json {
        common.print_json(&json!({
            "model": args.output,
            "units": machine.unit_count(),
            "edges": machine.graph().edges().len(),
        }))?;
    }
    Ok(())
}
