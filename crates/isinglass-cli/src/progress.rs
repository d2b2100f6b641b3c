//! A progress bar with the time left, where work takes more than a moment and standard error is a
//! terminal.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use isinglass::progress::{Progress, current};

use crate::options::Common;

/// Work that takes less has no bar.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often the bar is drawn.
const EVERY: Duration = Duration::from_millis(200);

/// The bar that is drawn, so that notes are printed above it.
static DRAWN: Mutex<Option<ProgressBar>> = Mutex::new(None);

fn drawn() -> std::sync::MutexGuard<'static, Option<ProgressBar>> {
    DRAWN.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Prints while no bar is drawn.
pub(crate) fn suspended<T>(print: impl FnOnce() -> T) -> T {
    match drawn().as_ref() {
        Some(bar) => bar.suspend(print),
        None => print(),
    }
}

/// Watches the work of the process until it is dropped.
pub(crate) struct Watch(Option<(Sender<()>, JoinHandle<()>)>);

impl Watch {
    pub(crate) fn start(common: &Common) -> Self {
        if common.quiet || !std::io::stderr().is_terminal() {
            return Self(None);
        }
        let (end, ended) = channel();
        let watch = move || {
            let mut shown = Shown::default();
            while ended.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
                shown.show(current());
            }
            shown.show(None);
        };
        // Without a thread there is no bar.
        let watching = std::thread::Builder::new().name("progress".into()).spawn(watch);
        Self(watching.ok().map(|thread| (end, thread)))
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some((end, thread)) = self.0.take() {
            drop(end);
            // The thread draws and nothing else.
            let _ = thread.join();
        }
    }
}

/// The task that is shown, and since when it runs.
#[derive(Default)]
struct Shown {
    task: Option<(u64, Instant)>,
}

impl Shown {
    fn show(&mut self, progress: Option<Progress>) {
        let is_same = progress.map(|progress| progress.number) == self.task.map(|(number, _)| number);
        if !is_same {
            if let Some(bar) = drawn().take() {
                bar.finish_and_clear();
            }
            self.task = progress.map(|progress| (progress.number, Instant::now()));
        }
        let (Some(progress), Some((_, since))) = (progress, self.task) else { return };
        let gone = since.elapsed();
        if gone < PATIENCE {
            return;
        }
        let mut drawn = drawn();
        let bar = drawn.get_or_insert_with(bar);
        bar.set_message(text(progress, gone));
        bar.tick();
    }
}

fn bar() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    bar.set_style(ProgressStyle::default_spinner());
    bar
}

/// The share that is done, and the time that the rest will take at the same speed.
fn text(progress: Progress, gone: Duration) -> String {
    let elapsed = isinglass::progress::duration(gone.as_secs_f64());
    match progress.share() {
        Some(share) if share > 0.0 => {
            let left = gone.as_secs_f64() * (1.0 - share) / share;
            format!("{:.0} %, {elapsed} gone, {} left", 100.0 * share, isinglass::progress::duration(left))
        }
        Some(_) => format!("0 %, {elapsed} gone"),
        None => format!("iteration {}, {elapsed} gone", progress.done),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_is_in_proportion() {
        let at = |done, total| text(Progress { number: 1, total, done }, Duration::from_secs(30));
        assert_eq!(at(25, Some(100)), "25 %, 30 s gone, 90 s left");
        assert_eq!(at(0, Some(100)), "0 %, 30 s gone");
        assert_eq!(at(7, None), "iteration 7, 30 s gone");
    }
}
