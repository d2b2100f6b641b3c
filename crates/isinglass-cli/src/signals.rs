//! Ctrl-C and its kin: a fit ends after its iteration, everything else at once and without
//! leftovers.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// Confirms the signal to the user, as soon as there is something to wait for.
static ANSWER: OnceLock<Box<dyn Fn() + Send + Sync>> = OnceLock::new();

/// The exit code of a program that a signal ended.
const INTERRUPTED: i32 = 130;

/// Take over SIGINT, SIGTERM and SIGHUP.
pub(crate) fn install() -> anyhow::Result<()> {
    ctrlc::set_handler(|| {
        let first = !REQUESTED.swap(true, Ordering::SeqCst);
        if let (true, Some(answer)) = (first, ANSWER.get()) {
            answer();
            return;
        }
        isinglass_files::discard_unfinished();
        std::process::exit(INTERRUPTED);
    })?;
    Ok(())
}

/// From here on, the first signal makes [`requested`] true and is answered; a second one ends the
/// program all the same.
pub(crate) fn on_first_signal(answer: impl Fn() + Send + Sync + 'static) {
    // There is one wait in the life of the program; a second would be answered by the first.
    let _ = ANSWER.set(Box::new(answer));
}

/// Whether a signal has come.
pub(crate) fn requested() -> bool {
    REQUESTED.load(Ordering::SeqCst)
}
