//! Options that mean the same in every command.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use anyhow::Context;
use clap::{Args, ValueEnum};
use isinglass::{Budget, Evidence, Machine, Spin};
use isinglass_files::{TableOptions, Values, read_evidence, read_model};

/// The command line was wrong in a way that only the job could find out: exit code 2.
#[derive(Debug)]
pub(crate) struct Usage(pub(crate) String);

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// Options of every command.
#[derive(Args)]
pub(crate) struct Common {
    /// Print one JSON document on standard output, and nothing else there
    #[arg(long, global = true, help_heading = "General")]
    pub(crate) json: bool,
    /// Seed of everything random: the same seed gives the same result on any number of threads
    #[arg(long, global = true, help_heading = "General", value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Threads to use [default: all cores]
    #[arg(long, global = true, help_heading = "General", value_name = "N")]
    pub(crate) threads: Option<NonZeroUsize>,
    /// Print no notes and no progress on standard error
    #[arg(long, global = true, help_heading = "General")]
    pub(crate) quiet: bool,
}

impl Common {
    /// Tell the user something that is not the result.
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet {
            crate::report::note(text);
        }
    }
}

/// How the words for −1 and +1 are written.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ValueWords {
    /// -1 and +1
    #[value(name = "pm1")]
    PlusMinus,
    /// 0 and 1
    #[value(name = "01")]
    ZeroOne,
}

impl From<ValueWords> for Values {
    fn from(words: ValueWords) -> Self {
        match words {
            ValueWords::PlusMinus => Self::PlusMinus,
            ValueWords::ZeroOne => Self::ZeroOne,
        }
    }
}

/// A machine, and what is known of its units.
#[derive(Args)]
pub(crate) struct ModelWithEvidence {
    /// The model file (.json, .uai, .npz)
    pub(crate) model: PathBuf,
    /// Clamp units: names and values, such as `a=+1,b=-1`
    #[arg(long, value_name = "UNIT=VALUE,…", value_delimiter = ',', allow_hyphen_values = true)]
    pub(crate) given: Vec<String>,
    /// The words for values in `--given`, and in tables that are written
    #[arg(long, value_name = "WORDS", default_value = "pm1")]
    pub(crate) values: ValueWords,
    /// Clamp units as a UAI evidence file says
    #[arg(long, value_name = "FILE.evid")]
    pub(crate) evidence: Option<PathBuf>,
}

impl ModelWithEvidence {
    /// Read the machine and the evidence.
    pub(crate) fn read(&self) -> anyhow::Result<(Machine, Evidence)> {
        // Words are checked before files: a wrong command line is wrong whatever the files hold.
        let given: Vec<(&str, Spin)> =
            self.given.iter().map(|item| self.clamp(item)).collect::<Result<_, _>>()?;
        let machine = read_model(&self.model)?;
        let mut evidence = match &self.evidence {
            Some(path) => read_evidence(path, &machine)?,
            None => Evidence::none(machine.units()),
        };
        for (name, spin) in given {
            let unit = machine.position(name).context("--given")?;
            if evidence.get(unit).is_some_and(|known| known != spin) {
                return Err(Usage(format!("--given: unit '{name}' is clamped to both values")).into());
            }
            evidence.clamp(unit, spin);
        }
        Ok((machine, evidence))
    }

    fn clamp<'a>(&self, item: &'a str) -> Result<(&'a str, Spin), Usage> {
        let words = match self.values {
            ValueWords::PlusMinus => ["-1", "+1"],
            ValueWords::ZeroOne => ["0", "1"],
        };
        // A name may hold an equals sign itself; the value is behind the last.
        let Some((name, value)) = item.rsplit_once('=') else {
            return Err(Usage(format!(
                "--given: found '{item}', expected UNIT=VALUE such as a={}",
                words[1]
            )));
        };
        let spin = match (value.trim(), self.values) {
            ("-1", ValueWords::PlusMinus) | ("0", ValueWords::ZeroOne) => Spin::Down,
            ("1" | "+1", ValueWords::PlusMinus) | ("1", ValueWords::ZeroOne) => Spin::Up,
            (other, _) => {
                let hint = if matches!(other, "0" | "-1") {
                    "\nhint: --values 01 reads 0 and 1, --values pm1 (the default) reads -1 and +1"
                } else {
                    ""
                };
                return Err(Usage(format!(
                    "--given: unit '{name}' has the value '{other}', expected {} or {}{hint}",
                    words[0], words[1]
                )));
            }
        };
        Ok((name.trim(), spin))
    }
}

/// Engines that users can name.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum EngineName {
    /// An exact engine if its cost is within the budget, otherwise sampling; says which
    Auto,
    /// Every state of the free units: exact
    Enumerate,
    /// Gibbs sampling: estimates with standard errors
    Gibbs,
}

/// Which engine, and how much it may take.
#[derive(Args)]
pub(crate) struct EngineOptions {
    /// The engine that computes expectations
    #[arg(long, value_name = "ENGINE", default_value = "auto", help_heading = "Engine")]
    pub(crate) engine: EngineName,
    /// Memory that an engine may count on, such as 512MiB or 6GiB
    #[arg(long, value_name = "SIZE", default_value = "1GiB", help_heading = "Engine")]
    pub(crate) budget: Budget,
    /// gibbs: kept states of each chain
    #[arg(long, value_name = "N", default_value_t = 1000, help_heading = "Engine")]
    pub(crate) samples: usize,
    /// gibbs: sweeps before the first kept state
    #[arg(long, value_name = "N", default_value_t = 1000, help_heading = "Engine")]
    pub(crate) burn_in: usize,
    /// gibbs: sweeps from one kept state to the next
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Engine")]
    pub(crate) thin: usize,
    /// gibbs: chains
    #[arg(long, value_name = "N", default_value_t = 32, help_heading = "Engine")]
    pub(crate) chains: usize,
}

/// How to read a table.
#[derive(Args)]
pub(crate) struct TableArgs {
    /// The table (.csv, .tsv, .npy, each also .gz): a header names the units
    pub(crate) table: PathBuf,
    /// Take a column as row weights
    #[arg(long, value_name = "COLUMN")]
    pub(crate) weights: Option<String>,
    /// Leave columns out
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',')]
    pub(crate) drop: Vec<String>,
}

impl TableArgs {
    pub(crate) fn read(&self) -> anyhow::Result<isinglass::Table> {
        let options = TableOptions { weights: self.weights.clone(), drop: self.drop.clone() };
        Ok(isinglass_files::read_table(&self.table, &options)?)
    }
}
