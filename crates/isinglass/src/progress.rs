//! Progress of long work, for front ends that show it.
//!
//! Work that may take seconds begins a [`Task`] with its amount, counted beforehand, and reports what
//! is done. One task of the process is visible at a time: those that begin while it runs are parts of
//! it, and silent. A front end reads [`current`] every now and then.
//!
//! # Example
//! ```
//! use isinglass::progress::{Task, current};
//! let task = Task::begin(10);
//! task.done(4);
//! assert_eq!(current().unwrap().share(), Some(0.4));
//! drop(task);
//! assert!(current().is_none());
//! ```

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

static IS_RUNNING: AtomicBool = AtomicBool::new(false);
/// Counts the visible tasks, to tell them apart.
static NUMBER: AtomicU64 = AtomicU64::new(0);
static TOTAL: AtomicU64 = AtomicU64::new(0);
static DONE: AtomicU64 = AtomicU64::new(0);

/// Some work of known amount; it ends when this is dropped.
#[derive(Debug)]
pub struct Task {
    is_visible: bool,
}

impl Task {
    /// Begins a task of unknown length, such as a search that ends when it has converged.
    pub fn open_ended() -> Self {
        Self::begin(0)
    }

    /// Begins a task with an amount of work in any unit.
    pub fn begin(total: u64) -> Self {
        let is_visible =
            IS_RUNNING.compare_exchange(false, true, Ordering::AcqRel, Ordering::Relaxed).is_ok();
        if is_visible {
            DONE.store(0, Ordering::Relaxed);
            TOTAL.store(total, Ordering::Relaxed);
            NUMBER.fetch_add(1, Ordering::Release);
        }
        Self { is_visible }
    }

    /// Reports that so much more is done.
    pub fn done(&self, amount: u64) {
        if self.is_visible {
            DONE.fetch_add(amount, Ordering::Relaxed);
        }
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        if self.is_visible {
            IS_RUNNING.store(false, Ordering::Release);
        }
    }
}

/// How far the visible task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Differs from one task to the next.
    pub number: u64,
    /// The amount of work; `None` if it is unknown.
    pub total: Option<u64>,
    /// The part of it that is done.
    pub done: u64,
}

impl Progress {
    /// The share that is done, from 0 to 1, if the amount of work is known.
    pub fn share(self) -> Option<f64> {
        self.total.map(|total| self.done as f64 / total as f64)
    }
}

/// The progress of the visible task, if one is running.
pub fn current() -> Option<Progress> {
    let is_running = IS_RUNNING.load(Ordering::Acquire);
    is_running.then(|| {
        let number = NUMBER.load(Ordering::Acquire);
        let done = DONE.load(Ordering::Relaxed);
        let total = Some(TOTAL.load(Ordering::Relaxed)).filter(|&total| total > 0);
        Progress { number, total, done: total.map_or(done, |total| done.min(total)) }
    })
}

/// A time in words that are no more exact than an estimate: `40 s`, `5 min`, `3 hours`, `2 years`.
pub fn duration(seconds: f64) -> String {
    const STEPS: [(f64, f64, &str); 5] = [
        (120.0, 1.0, "s"),
        (7200.0, 60.0, "min"),
        (172_800.0, 3600.0, "hours"),
        (6.3e7, 86_400.0, "days"),
        (f64::INFINITY, 31_557_600.0, "years"),
    ];
    let step = STEPS.iter().find(|(most, ..)| seconds < *most);
    let (_, unit, word) = step.copied().unwrap_or(STEPS[STEPS.len() - 1]);
    let count = seconds / unit;
    if seconds < 1.0 {
        "less than 1 s".into()
    } else if count < 1e6 {
        format!("{count:.0} {word}")
    } else {
        format!("{count:.0e} {word}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_in_words() {
        let words = [(0.2, "less than 1 s"), (42.4, "42 s"), (300.0, "5 min"), (1e4, "3 hours")];
        for (seconds, expected) in words {
            assert_eq!(duration(seconds), expected);
        }
        assert_eq!(duration(1e6), "12 days");
        assert_eq!(duration(1e9), "32 years");
        assert_eq!(duration(1e30), "3e22 years");
    }
}
