//! Ctrl-C and its kin: a fit ends after its iteration, everything else at once and without
//! leftovers. The exit code names the signal.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

/// The signal that has come; 0 for none.
static SIGNAL: AtomicI32 = AtomicI32::new(0);

/// Whether work was cut short because of it.
static HEEDED: AtomicBool = AtomicBool::new(false);

/// Confirms the signal to the user, as soon as there is something to wait for.
static ANSWER: OnceLock<Box<dyn Fn() + Send + Sync>> = OnceLock::new();

/// Takes over SIGINT, SIGTERM and SIGHUP; SIGHUP not where it is ignored, as under `nohup`.
#[cfg(unix)]
pub(crate) fn install() -> anyhow::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

    let taken = if is_ignored(SIGHUP) { vec![SIGINT, SIGTERM] } else { vec![SIGINT, SIGTERM, SIGHUP] };
    let mut signals = signal_hook::iterator::Signals::new(taken)?;
    std::thread::Builder::new().name("signals".into()).spawn(move || signals.forever().for_each(receive))?;
    Ok(())
}

/// Takes over Ctrl-C and its kin.
#[cfg(not(unix))]
pub(crate) fn install() -> anyhow::Result<()> {
    /// The number of SIGINT.
    const INTERRUPT: i32 = 2;
    ctrlc::set_handler(|| receive(INTERRUPT))?;
    Ok(())
}

/// Whether the program was started with a signal ignored; unknown is no.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// Answers a signal: the first one where something waits for it, otherwise by ending the program.
fn receive(signal: i32) {
    let is_first = SIGNAL.compare_exchange(0, signal, Ordering::SeqCst, Ordering::SeqCst).is_ok();
    if let (true, Some(answer)) = (is_first, ANSWER.get()) {
        answer();
        return;
    }
    isinglass_files::discard_unfinished();
    std::process::exit(i32::from(exit_code(signal)));
}

/// The exit code of a program that a signal ended: 130, 143 or 129.
fn exit_code(signal: i32) -> u8 {
    u8::try_from(128 + signal).unwrap_or(u8::MAX)
}

/// From here on, the first signal makes [`requested`] true and is answered; a second one ends the
/// program all the same.
pub(crate) fn on_first_signal(answer: impl Fn() + Send + Sync + 'static) {
    // There is one wait in the life of the program; a second would be answered by the first.
    let _ = ANSWER.set(Box::new(answer));
}

/// Whether a signal has come.
pub(crate) fn requested() -> bool {
    SIGNAL.load(Ordering::SeqCst) != 0
}

/// Whether a signal has come, for work that ends early if so: the program then exits with the
/// signal's code.
pub(crate) fn heed() -> bool {
    let is_requested = requested();
    if is_requested {
        HEEDED.store(true, Ordering::SeqCst);
    }
    is_requested
}

/// Lets the program exit with 0 although work was cut short.
pub(crate) fn forgive() {
    HEEDED.store(false, Ordering::SeqCst);
}

/// A signal that cut work short.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Interruption(i32);

impl Interruption {
    /// The one of this process, if there was one.
    pub(crate) fn of_this_process() -> Option<Self> {
        HEEDED.load(Ordering::SeqCst).then(|| Self(SIGNAL.load(Ordering::SeqCst)))
    }

    /// 130, 143 or 129.
    pub(crate) fn exit_code(self) -> u8 {
        exit_code(self.0)
    }

    /// The name of the signal.
    pub(crate) fn name(self) -> &'static str {
        match self.0 {
            1 => "SIGHUP",
            2 => "SIGINT",
            15 => "SIGTERM",
            _ => "a signal",
        }
    }
}
