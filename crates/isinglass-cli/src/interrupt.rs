//! Ctrl-C and its kin: a fit ends after its iteration, everything else at once and without leftovers.

use std::sync::atomic::{AtomicBool, Ordering};

static REQUESTED: AtomicBool = AtomicBool::new(false);
static WAITING: AtomicBool = AtomicBool::new(false);

/// The exit code of a program that a signal ended.
const INTERRUPTED: i32 = 130;

/// Take over SIGINT, SIGTERM and SIGHUP.
pub(crate) fn install() -> anyhow::Result<()> {
    ctrlc::set_handler(|| {
        let first = !REQUESTED.swap(true, Ordering::SeqCst);
        if first && WAITING.load(Ordering::SeqCst) {
            return;
        }
        isinglass_files::discard_unfinished();
        std::process::exit(INTERRUPTED);
    })?;
    Ok(())
}

/// From here on, the first signal only makes [`requested`] true.
pub(crate) fn wait_for_me() {
    WAITING.store(true, Ordering::SeqCst);
}

/// Whether a signal has come.
pub(crate) fn requested() -> bool {
    REQUESTED.load(Ordering::SeqCst)
}
