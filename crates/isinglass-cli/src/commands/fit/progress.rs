//! Progress of a fit on standard error, and stopping it with Ctrl-C.

use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use isinglass::Machine;
use isinglass::learn::{Observer, Step};

use crate::options::Common;

/// Shows each iteration where standard error is a terminal; breaks off after the iteration in which Ctrl-C came.
pub(super) struct Progress {
    bar: ProgressBar,
    interrupted: Arc<AtomicBool>,
}

impl Progress {
    pub(super) fn start(iterations: usize, common: &Common) -> anyhow::Result<Self> {
        let interrupted = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&interrupted);
        ctrlc::set_handler(move || {
            if flag.swap(true, Ordering::Relaxed) {
                // Asked twice: do not wait for the iteration.
                std::process::exit(130);
            }
        })?;
        let shown = !common.quiet && std::io::stderr().is_terminal();
        let target = if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(iterations as u64), target);
        bar.set_style(ProgressStyle::with_template("{spinner} iteration {pos} of at most {len}  {msg}")?);
        Ok(Self { bar, interrupted })
    }

    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Observer for Progress {
    fn step(&mut self, step: &Step, _machine: &Machine) -> ControlFlow<()> {
        self.bar.set_position(step.iteration as u64);
        self.bar.set_message(format!("objective {:.6}  gradient {:.1e}", step.objective, step.gradient_norm));
        if self.interrupted.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}
