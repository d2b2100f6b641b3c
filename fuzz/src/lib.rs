//! What fuzzing runs: every reader of files, on bytes that nobody meant.
//!
//! A [`Target`] takes bytes, makes a file of them, reads it, and checks what must hold whatever the
//! bytes are: no panic, an error that names the file, and that what was read is the same after it
//! was written and read again. Targets are run in two ways:
//!
//! - `isinglass-fuzz` (this package's program) changes the files of the corpus at random. It needs
//!   nothing but this project's own build, and is part of the checks.
//! - `guided/` gives the same targets to libFuzzer, which looks for bytes that reach new code.
//!
//! `corpus/TARGET/` holds small files to begin with, `found/TARGET/` those that once failed; both
//! are read again in every run.

mod changes;
mod plain;
mod readers;

use std::path::PathBuf;

pub use changes::change;
pub use plain::{Found, Report, run};

/// A reader, and what must hold for it.
#[derive(Clone, Copy)]
pub struct Target {
    /// The name of its folders.
    pub name: &'static str,
    /// Reads the bytes; a panic is a finding.
    pub run: fn(&Desk, &[u8]),
    /// Words of its format, to be put into files.
    pub words: &'static [&'static str],
}

/// All targets.
pub const TARGETS: &[Target] = &[
    readers::CSV,
    readers::CSV_GZ,
    readers::SHEET,
    readers::NPY,
    readers::JSON,
    readers::UAI,
    readers::EVID,
    readers::NPZ,
    readers::NPZ_ARRAY,
    readers::EDGES,
    readers::PNG,
    readers::PNM,
    readers::BMP,
    readers::JPEG,
    readers::CHECKPOINT,
];

/// The target of a name.
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}

/// A folder for the files of one thread.
#[derive(Debug)]
pub struct Desk {
    folder: PathBuf,
}

impl Desk {
    /// A desk in a folder, which must exist.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// A place on the desk.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Puts bytes into a file.
    fn put(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, bytes).expect("the desk can be written to");
        path
    }
}

/// A folder for desks, in memory where the system has such a place.
///
/// # Errors
/// It cannot be made.
pub fn room() -> std::io::Result<tempfile::TempDir> {
    let in_memory = std::path::Path::new("/dev/shm");
    if in_memory.is_dir() { tempfile::tempdir_in(in_memory) } else { tempfile::tempdir() }
}

/// The folder of this package, where corpus and found cases are.
pub fn home() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}
