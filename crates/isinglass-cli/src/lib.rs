//! The command `isinglass`: parse the command line, call the libraries, print. The binary and the
//! Python package call [`main`].
//!
//! `options` and `engine_options` define what commands share, `lazy` defines options when they are
//! needed, `report` prints, `progress` shows how long it takes, and each command has a file under `commands`. Everything that computes is
//! in the libraries.

mod commands;
mod engine_options;
mod lazy;
mod options;
mod progress;
mod report;
mod signals;

use std::ffi::OsString;

use clap::{CommandFactory, Parser, Subcommand};

use crate::lazy::Lazy;
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
    /// Take the tour on built-in data: fit, score, ask, complete and draw, with pictures and pages
    Demo(Lazy<commands::demo::Args>),
    /// Learn a machine from a table
    Fit(Lazy<commands::fit::Args>),
    /// Compute log Z, means and correlations of a machine, free or with units clamped
    Infer(Lazy<commands::infer::Args>),
    /// Give the probabilities of every joint state of the asked units
    Query(Lazy<commands::query::Args>),
    /// Find the most probable state, free or with units clamped
    Map(Lazy<commands::map::Args>),
    /// Draw states from a machine: exact independent draws where an exact engine is within the budget
    Sample(Lazy<commands::sample::Args>),
    /// Fill the missing cells of a table with their more probable values, given the rest of their row
    ///
    /// The table comes back as it was, with its gaps filled: the same rows and columns in the same
    /// words. Columns that are dropped or hold weights are copied; units without a column get one at
    /// the end. Where both values are equally probable, +1 is written.
    Complete(Lazy<commands::complete::Args>),
    /// Clean a black-and-white picture by inference on a lattice machine
    ///
    /// Each pixel of the clean picture is a hidden unit, coupled with its neighbours and with the pixel
    /// that was seen. White or light is +1, black or dark -1; pictures with greys or colours are
    /// divided at --threshold.
    Denoise(Lazy<commands::denoise::Args>),
    /// Compute energy, heat capacity, magnetisation, susceptibility, entropy and log Z over temperature
    ///
    /// All are totals, not per unit: U = <E>, C = Var(E)/T², M = <sum of all units>, χ = Var(sum of all
    /// units)/T, S = log Z + U/T. Exact engines give them without error; tempering gives all
    /// temperatures from one run, with standard errors.
    Scan(Lazy<commands::scan::Args>),
    /// Score a machine on a table: log-likelihood, Kullback divergence, pseudo-log-likelihood,
    /// completion quality
    Score(Lazy<commands::score::Args>),
    /// Compare groups of rows: do their couplings and biases differ?
    ///
    /// A permutation test: labels are exchanged among rows, and everything is fitted again. Tested are
    /// the strength (the sum of absolute couplings), the structure (the largest difference of a
    /// coupling), and each coupling and bias. A difference is that of the second group less the first.
    Compare(Lazy<commands::compare::Args>),
    /// Write a page about a machine and how it fits a table: scores, couplings, network, moments,
    /// surprising rows, pictures
    ///
    /// The page is one file that opens from disk and needs no network.
    Report(Lazy<commands::report::Args>),
    /// Draw the network of a machine, alone or beside others, or write it for other programs
    ///
    /// Lines are couplings, wider for stronger ones: given all others, two units tend to agree where
    /// their coupling is positive (blue, solid) and to differ where it is negative (orange, dashed). The
    /// same seed gives the same picture.
    Network(Lazy<commands::network::Args>),
    /// Tell a machine's size, structure, and which engines can run on it at what cost
    Info(Lazy<commands::info::Args>),
    /// Build a machine with given or random weights
    ///
    /// Units of lattices are named by row, column and layer: r0c0, r0c1, …. Couplings and biases are
    /// numbers or drawn at random by --seed: `0.5`, `normal:MEAN,SD`, `uniform:LOW,HIGH`, `signs:X` (plus
    /// or minus X).
    Make(Lazy<commands::make::Args>),
    /// Convert a model file to another format, by file ending (.json, .uai, .npz)
    Convert(Lazy<commands::convert::Args>),
    /// Rerun an experiment of a source: its numbers, a figure, and whether its claim holds
    ///
    /// Each experiment writes NAME.csv (the numbers), NAME.svg (the figure) and NAME.md (the claim, a
    /// table of checks, the verdict, the method).
    Reproduce(Lazy<commands::reproduce::Args>),
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
    let done = prepare(common).and_then(|()| watched(&cli.command, common));
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
    let mut command = Cli::command();
    // Those of a subcommand are defined when it is built.
    command.build();
    command
}

/// Threads, signals, and whether to wait for the disk.
fn prepare(common: &Common) -> anyhow::Result<()> {
    isinglass_files::sync_outputs(!common.no_sync);
    if let Some(threads) = common.threads {
        rayon::ThreadPoolBuilder::new().num_threads(threads.into()).build_global()?;
    }
    signals::install()
}

/// Runs a command with a progress bar; some have their own.
fn watched(command: &Command, common: &Common) -> anyhow::Result<()> {
    let has_own = matches!(command, Command::Demo(_) | Command::Fit(_) | Command::Reproduce(_));
    let _watch = (!has_own).then(|| progress::Watch::start(common));
    run(command, common)
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
