//! The command `isinglass`: parse the command line, call the libraries, print. The binary and the
//! Python package call [`main`].
//!
//! `options` and `engine_options` define what commands share, `report` prints, and each command has
//! a file under `commands`. Everything that computes is in the libraries.

mod commands;
mod engine_options;
mod options;
mod report;
mod signals;

use std::ffi::OsString;

use clap::{CommandFactory, Parser, Subcommand};

use crate::options::Common;

/// Inference and learning in Boltzmann machines: binary data, and what goes with what.
#[derive(Parser)]
#[command(name = "isinglass", version, max_term_width = 100)]
#[command(
    after_help = "Start with `isinglass demo`; then `isinglass fit TABLE.csv -o MODEL.json` on a table of your own."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    common: Common,
}

#[derive(Subcommand)]
enum Command {
    Demo(commands::demo::Args),
    Fit(Box<commands::fit::Args>),
    Infer(commands::infer::Args),
    Query(commands::query::Args),
    Map(commands::map::Args),
    Sample(commands::sample::Args),
    Complete(commands::complete::Args),
    Denoise(commands::denoise::Args),
    Scan(commands::scan::Args),
    Score(commands::score::Args),
    Compare(Box<commands::compare::Args>),
    Report(Box<commands::report::Args>),
    Network(commands::network::Args),
    Info(commands::info::Args),
    Make(commands::make::Args),
    Convert(commands::convert::Args),
    Reproduce(commands::reproduce::Args),
}

/// Run the program with arguments (the first is its name), and return its exit code: 0 done, 1 the
/// job failed, 2 the command line was wrong; 130, 143 or 129 where SIGINT, SIGTERM or SIGHUP ended
/// the work.
///
/// Standard output and standard error are those of the process. It installs handlers for signals
/// and may set the number of threads, so it is to be called once in the life of a process.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            // Help that cannot be printed is no reason to fail.
            let _ = error.print();
            return u8::try_from(error.exit_code()).unwrap_or(2);
        }
    };
    let common = &cli.common;
    let done = prepare(common).and_then(|()| run(&cli.command, common));
    match done {
        Ok(()) => signals::Interruption::of_this_process().map_or(0, signals::Interruption::exit_code),
        Err(error) if report::is_broken_pipe(&error) => 0,
        Err(error) => {
            report::error(&error);
            if error.is::<options::Usage>() { 2 } else { 1 }
        }
    }
}

/// The definitions of all commands and options, such as for trials of random command lines.
pub fn command() -> clap::Command {
    Cli::command()
}

/// Threads, signals, and whether to wait for the disk.
fn prepare(common: &Common) -> anyhow::Result<()> {
    isinglass_files::sync_outputs(!common.no_sync);
    if let Some(threads) = common.threads {
        rayon::ThreadPoolBuilder::new().num_threads(threads.into()).build_global()?;
    }
    signals::install()
}

fn run(command: &Command, common: &Common) -> anyhow::Result<()> {
    match command {
        Command::Demo(args) => commands::demo::run(args, common),
        Command::Fit(args) => commands::fit::run(args, common),
        Command::Infer(args) => commands::infer::run(args, common),
        Command::Query(args) => commands::query::run(args, common),
        Command::Map(args) => commands::map::run(args, common),
        Command::Sample(args) => commands::sample::run(args, common),
        Command::Complete(args) => commands::complete::run(args, common),
        Command::Denoise(args) => commands::denoise::run(args, common),
        Command::Scan(args) => commands::scan::run(args, common),
        Command::Score(args) => commands::score::run(args, common),
        Command::Compare(args) => commands::compare::run(args, common),
        Command::Report(args) => commands::report::run(args, common),
        Command::Network(args) => commands::network::run(args, common),
        Command::Info(args) => commands::info::run(args, common),
        Command::Make(args) => commands::make::run(args, common),
        Command::Convert(args) => commands::convert::run(args, common),
        Command::Reproduce(args) => commands::reproduce::run(args, common),
    }
}
