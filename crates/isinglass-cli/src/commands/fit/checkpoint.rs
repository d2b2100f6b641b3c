//! Checkpoints of a fit in a file, and resuming from them.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use isinglass::learn::{Checkpoint, Observer, Step};
use isinglass::{CancelToken, Machine};
use isinglass_files::{Lock, Output, discard_abandoned, read_checkpoint, write_checkpoint};
use isinglass_plan::Limits;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::components::ComponentRecord;
use super::progress::Progress;
use crate::options::{Common, at_least};
use crate::report;
use crate::signals;

/// Without --every, from the end of one writing to the next: much longer than writing takes, and
/// little to lose.
const PAUSE: Duration = Duration::from_secs(5);

/// Where checkpoints are written, and how often.
#[derive(Args)]
#[command(next_help_heading = "Checkpoints")]
pub(super) struct CheckpointOptions {
    /// Write checkpoints of the fit to a file while it runs; the file stays when the fit has ended,
    /// and no other fit may use it meanwhile
    #[arg(long, value_name = "FILE")]
    pub(super) checkpoint: Option<PathBuf>,
    /// Write the checkpoint after every N iterations [default: every 5 seconds]; the fit is the
    /// same, however often
    #[arg(long, value_name = "N", requires = "checkpoint", value_parser = at_least::<1>)]
    every: Option<usize>,
    /// Resume from the checkpoint, if there is one: model and history will be as if the fit had
    /// never stopped. --iterations, --restarts and --budget may be larger and --tolerance smaller;
    /// everything else must be as it was
    #[arg(long, requires = "checkpoint")]
    resume: bool,
}

/// What a checkpoint file holds.
#[derive(Serialize, Deserialize)]
struct Content<S, C> {
    state: S,
    /// Of `--component-history`.
    components: Option<C>,
}

/// Watches a fit: progress and signals, the record of components, the checkpoint.
pub(super) struct Watch<'a> {
    common: &'a Common,
    settings: Limits,
    progress: Progress,
    components: Option<ComponentRecord>,
    options: &'a CheckpointOptions,
    /// When the checkpoint was last written.
    written: Option<Instant>,
    /// Whether the fit is resumed from a checkpoint, and has not reported it.
    is_resumed: bool,
    /// Why the checkpoint could not be written, if so.
    failure: Option<String>,
}

impl CheckpointOptions {
    /// Watches a fit with these settings; a signal cancels the token.
    pub(super) fn watch<'a>(
        &'a self,
        settings: Limits,
        components: Option<ComponentRecord>,
        token: CancelToken,
        common: &'a Common,
    ) -> anyhow::Result<Watch<'a>> {
        let progress = Progress::start(settings.iterations, token, common)?;
        Ok(Watch {
            common,
            settings,
            progress,
            components,
            options: self,
            written: None,
            is_resumed: false,
            failure: None,
        })
    }

    /// Locks the checkpoint, checks that it can be written, and removes what runs that were killed
    /// have left beside the outputs.
    pub(super) fn prepare<'p>(
        &self,
        outputs: impl IntoIterator<Item = &'p Path>,
        common: &Common,
    ) -> anyhow::Result<Option<Lock>> {
        let Some(path) = &self.checkpoint else { return Ok(None) };
        drop(Output::create(path)?);
        let lock = Lock::take(path)?;
        if lock.is_none() && (path.is_file() || !path.exists()) {
            let text = format!("{}: files cannot be locked there; no other fit must use it", path.display());
            common.warning("not-locked", text, json!({ "path": path }));
        }
        outputs.into_iter().for_each(discard_abandoned);
        Ok(lock)
    }
}

impl Watch<'_> {
    /// Runs a fit or resumes it: the closure gets the checkpoint, and the observer.
    ///
    /// *Returns*: what the closure gave, and the record of components for each start.
    pub(super) fn run<T>(
        mut self,
        fit: impl FnOnce(Option<&Checkpoint>, &mut dyn Observer) -> isinglass_plan::Result<T>,
    ) -> anyhow::Result<(T, Vec<Vec<Vec<f64>>>)> {
        let state = self.resume()?;
        let found = fit(state.as_ref(), &mut self);
        self.progress.finish();
        let components = self.components.map(ComponentRecord::into_starts).unwrap_or_default();
        match found {
            Err(isinglass_plan::Error::Core(isinglass::Error::Checkpoint { problem })) if state.is_some() => {
                let path = self.options.checkpoint.as_deref().unwrap_or(Path::new(""));
                let hint = "to start again, remove it or name another file";
                Err(anyhow::anyhow!(
                    "{}: this checkpoint cannot be resumed here: {problem}\nhint: {hint}",
                    path.display()
                ))
            }
            found => Ok((found.map_err(report::failed)?, components)),
        }
    }

    /// The checkpoint to resume from.
    fn resume(&mut self) -> anyhow::Result<Option<Checkpoint>> {
        let Some(path) = &self.options.checkpoint else { return Ok(None) };
        if !path.exists() {
            if self.options.resume {
                let text = "there is no checkpoint yet; the fit starts from the beginning";
                let text = format!("{}: {text}", path.display());
                self.common.note("no-checkpoint", text, json!({ "path": path }));
            }
            return Ok(None);
        }
        if !self.options.resume {
            anyhow::bail!(
                "{}: there is a checkpoint already\nhint: --resume continues from it; to start again, remove it or name another file",
                path.display()
            );
        }
        let Content { state, components } = read_checkpoint::<Content<Checkpoint, _>>(path)?;
        match (&mut self.components, components) {
            (Some(record), Some(known)) => record.resume(known),
            (None, _) => {}
            (Some(_), None) => anyhow::bail!(
                "{}: this checkpoint has no record of components\nhint: --component-history is to be given from the start",
                path.display()
            ),
        }
        self.is_resumed = true;
        Ok(Some(state))
    }

    /// Warns of a checkpoint that could not be written, once for each reason.
    fn warn_of(&mut self, path: &Path, step: &Step, error: &isinglass_files::Error) {
        let why = error.to_string();
        if self.failure.as_ref() != Some(&why) {
            let text = format!("the checkpoint could not be written: {why}");
            let data = json!({ "path": path, "iteration": step.iteration, "why": why });
            self.common.warning("checkpoint-failed", text, data);
            self.failure = Some(why);
        }
    }

    /// Whether a checkpoint is due after a step.
    fn is_due(&self, step: &Step) -> bool {
        let Some(written) = self.written else { return true };
        let ends = step.gradient_norm <= self.settings.tolerance
            || step.iteration >= self.settings.iterations
            || signals::requested();
        ends || match self.options.every {
            Some(every) => step.iteration.is_multiple_of(every),
            None => written.elapsed() >= PAUSE,
        }
    }
}

impl Observer for Watch<'_> {
    fn step(&mut self, step: &Step, machine: &Machine) -> isinglass::Result<ControlFlow<()>> {
        if let Some(record) = &mut self.components {
            record.note(step, machine)?;
        }
        if std::mem::take(&mut self.is_resumed) {
            let text = format!("resumed at iteration {} from the checkpoint", step.iteration);
            self.common.note("resumed", text, json!({ "iteration": step.iteration }));
        }
        self.progress.step(step, machine)
    }

    fn checkpoint(
        &mut self,
        step: &Step,
        take: &dyn Fn() -> isinglass::Result<Checkpoint>,
    ) -> isinglass::Result<()> {
        let Some(path) = &self.options.checkpoint else { return Ok(()) };
        if !self.is_due(step) {
            return Ok(());
        }
        let components = self.components.as_ref().map(ComponentRecord::starts);
        let content = Content { state: take()?, components };
        let result = Output::create(path).and_then(|output| write_checkpoint(&content, output));
        match result {
            // A place that cannot be written to is an error at once; a disk that fills up later does not end a long fit.
            Err(error) if self.written.is_none() => {
                return Err(isinglass::Error::invalid("checkpoint", error.to_string()));
            }
            Err(error) => self.warn_of(path, step, &error),
            Ok(()) => {}
        }
        self.written = Some(Instant::now());
        Ok(())
    }

    fn restart(&mut self, restart: usize, count: usize) {
        if let Some(record) = &mut self.components {
            record.begin(restart);
        }
        self.progress.restart(restart, count);
    }
}
