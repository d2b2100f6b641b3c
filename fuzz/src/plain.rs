//! Fuzzing without instruments: files of the corpus, changed at random.

use std::fs;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use crate::{Desk, Target, change, home, room};

/// A file that takes longer than this to read is a finding.
const LONGEST: Duration = Duration::from_secs(10);

/// Message and place of the last panic, in whatever thread.
static WORDS: Mutex<String> = Mutex::new(String::new());

fn words() -> MutexGuard<'static, String> {
    WORDS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a run has done.
#[derive(Debug)]
pub struct Report {
    /// Files of corpus and found cases that were read as they are.
    pub corpus: usize,
    /// Changed files that were read.
    pub changed: u64,
    /// What went wrong, if something did.
    pub found: Option<Found>,
}

/// A file that made a reader fail.
#[derive(Debug)]
pub struct Found {
    /// Where the file was put.
    pub file: PathBuf,
    /// What happened.
    pub what: String,
}

/// Reads the files of the corpus and those that once failed, and then changes of them until the
/// time is over or one fails, on some threads. The same seed tries the same changes, as far as time
/// allows.
///
/// # Errors
/// Corpus or desk cannot be read or written.
pub fn run(target: &Target, time: Duration, seed: u64, threads: u64) -> io::Result<Report> {
    let mut files = Vec::new();
    for kind in ["corpus", "found"] {
        files.extend(contents(&home().join(kind).join(target.name))?);
    }
    let corpus = files.len();
    files.push(Vec::new());
    let files = &files;
    let end = Instant::now() + time;
    let (changed, stop) = (&AtomicU64::new(0), &AtomicBool::new(false));
    let found: &Mutex<Option<(Vec<u8>, String)>> = &Mutex::new(None);
    let desk = room()?;
    // A panic is caught and reported with its file: its message is kept, and not printed.
    std::panic::set_hook(Box::new(|panic| *words() = panic.to_string()));
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let folder = desk.path().join(thread.to_string());
            let work = move || -> io::Result<()> {
                fs::create_dir(&folder)?;
                let desk = Desk::new(folder);
                let mut random = ChaCha8Rng::seed_from_u64(seed);
                random.set_stream(thread);
                let mut first = (0..files.len()).skip(thread as usize).step_by(threads as usize);
                while !stop.load(Ordering::Relaxed) {
                    let bytes = match first.next() {
                        Some(file) => files[file].clone(),
                        None if Instant::now() >= end => break,
                        None => {
                            let [one, other] = [(); 2].map(|()| random.random_range(0..files.len()));
                            changed.fetch_add(1, Ordering::Relaxed);
                            change(&mut random, target, &files[one], &files[other])
                        }
                    };
                    if let Some(what) = fails(target, &desk, &bytes) {
                        stop.store(true, Ordering::Relaxed);
                        *found.lock().expect("nobody panics with it") = Some((bytes, what));
                    }
                }
                Ok(())
            };
            scope.spawn(move || work().expect("the desk can be written to"));
        }
    });
    let _ = std::panic::take_hook();
    let found = found.lock().expect("nobody panics with it").take();
    let found = match found {
        Some((bytes, what)) => Some(Found { file: keep(target, &bytes)?, what }),
        None => None,
    };
    Ok(Report { corpus, changed: changed.load(Ordering::Relaxed), found })
}

/// What is wrong with the reading of a file, if anything.
fn fails(target: &Target, desk: &Desk, bytes: &[u8]) -> Option<String> {
    let began = Instant::now();
    let done = catch_unwind(AssertUnwindSafe(|| (target.run)(desk, bytes)));
    if done.is_err() {
        return Some(std::mem::take(&mut *words()));
    }
    let taken = began.elapsed();
    (taken > LONGEST).then(|| format!("took {:.1} s", taken.as_secs_f64()))
}

/// Puts a file among those that once failed.
fn keep(target: &Target, bytes: &[u8]) -> io::Result<PathBuf> {
    let folder = home().join("found").join(target.name);
    fs::create_dir_all(&folder)?;
    let mut sum = flate2::Crc::new();
    sum.update(bytes);
    let path = folder.join(format!("{:08x}", sum.sum()));
    fs::write(&path, bytes)?;
    Ok(path)
}

/// The contents of all files of a folder, in the order of their names; none if it does not exist.
fn contents(folder: &Path) -> io::Result<Vec<Vec<u8>>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut paths = entries.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    paths.into_iter().map(fs::read).collect()
}
