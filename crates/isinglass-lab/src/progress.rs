//! Progress reports of long work.

/// Receives the progress of an experiment or study. Parts may finish on several threads.
pub trait Progress: Sync {
    /// Announces the number of parts, all of about equal length.
    fn expect(&self, parts: usize);

    /// Reports that one more part is done.
    fn done(&self);
}

/// Ignores progress.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoProgress;

impl Progress for NoProgress {
    fn expect(&self, _parts: usize) {}

    fn done(&self) {}
}
