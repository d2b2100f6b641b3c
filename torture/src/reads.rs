//! Fuzzed files, read as `cargo xtask fuzz` does.

use anyhow::bail;
use isinglass_fuzz::{TARGETS, run as fuzz};

use crate::trial::Trial;

pub(crate) fn run(trial: &mut Trial) -> anyhow::Result<()> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    let time = trial.left() / TARGETS.len() as u32;
    for target in TARGETS {
        let report = fuzz(target, time, trial.seed, threads)?;
        trial.add("changed files that were read", report.changed);
        trial.add("files of the corpus", report.corpus as u64);
        if let Some(found) = report.found {
            bail!("{}: {}", found.file.display(), found.what);
        }
    }
    Ok(())
}
