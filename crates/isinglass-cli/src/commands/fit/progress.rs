//! Progress of a fit on standard error, and stopping it with Ctrl-C.

use std::io::IsTerminal;
use std::ops::ControlFlow;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use isinglass::learn::{Observer, Step};
use isinglass::{CancelToken, Machine};

use crate::options::Common;
use crate::report;
use crate::signals;

/// What is printed at once when the first signal comes: an iteration may be long.
const STOPPING: &str = "stopping after this iteration, with the best machine so far; press Ctrl-C again to stop at once and write nothing";

/// Shows each iteration where standard error is a terminal; breaks off after the iteration in which
/// Ctrl-C came. Before the first there is nothing to be written, and Ctrl-C ends the program.
pub(super) struct Progress {
    bar: ProgressBar,
    is_quiet: bool,
    /// Cancelled by the first signal; none once the signal is waited for.
    token: Option<CancelToken>,
}

impl Progress {
    pub(super) fn start(iterations: usize, token: CancelToken, common: &Common) -> anyhow::Result<Self> {
        let shown = !common.quiet && std::io::stderr().is_terminal();
        let target = if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(iterations as u64), target);
        bar.set_style(ProgressStyle::with_template(
            "{spinner} {prefix}iteration {pos} of at most {len}  {msg}",
        )?);
        Ok(Self { bar, is_quiet: common.quiet, token: Some(token) })
    }

    /// From now on a signal ends the fit and not the program.
    fn wait_for_signals(&mut self) {
        let Some(token) = self.token.take() else { return };
        let (bar, is_quiet) = (self.bar.clone(), self.is_quiet);
        signals::on_first_signal(move || {
            token.cancel();
            if !is_quiet {
                bar.suspend(|| report::note(STOPPING));
            }
        });
    }

    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Observer for Progress {
    fn step(&mut self, step: &Step, _machine: &Machine) -> isinglass::Result<ControlFlow<()>> {
        self.wait_for_signals();
        self.bar.set_position(step.iteration as u64);
        self.bar.set_message(format!("objective {:.6}  gradient {:.1e}", step.objective, step.gradient_norm));
        let stop = signals::heed();
        Ok(if stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }

    fn restart(&mut self, restart: usize, count: usize) {
        self.wait_for_signals();
        if count > 1 {
            self.bar.set_prefix(format!("restart {} of {count}: ", restart + 1));
        }
    }
}
