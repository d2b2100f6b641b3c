//! A loss of power after any step of an output: what a disk may then hold.
//!
//! The recorded steps of real outputs are played to a disk that promises no more than disks do.
//! Bytes that were not synced are there, are not there, or are torn; names of a folder that was not
//! synced are as before or as after any of their changes. After each step, and with each of these
//! disks, the target must be one of the versions that may be there, whole.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::Output;
use crate::disk::{Step, recorder};

/// The bytes of a file: those that are on the disk for sure, and those that were written since.
#[derive(Debug, Clone, Default)]
struct Content {
    synced: Vec<u8>,
    unsynced: Vec<u8>,
}

/// The changes of names in a folder.
#[derive(Debug, Clone)]
enum Change {
    Create(PathBuf, usize),
    Rename(PathBuf, PathBuf, usize),
}

#[derive(Debug, Clone, Default)]
struct Disk {
    contents: Vec<Content>,
    /// Names as the program sees them, and as they are on the disk for sure.
    seen: BTreeMap<PathBuf, usize>,
    synced: BTreeMap<PathBuf, usize>,
    /// Changes since the folder was synced.
    changes: Vec<Change>,
}

impl Disk {
    /// A disk with one file.
    fn with(path: &Path, content: &[u8]) -> Self {
        let names = BTreeMap::from([(path.to_owned(), 0)]);
        let contents = vec![Content { synced: content.to_vec(), unsynced: Vec::new() }];
        Self { contents, seen: names.clone(), synced: names, changes: Vec::new() }
    }

    fn play(&mut self, step: &Step) {
        match step {
            Step::Create(path) => {
                self.contents.push(Content::default());
                let file = self.contents.len() - 1;
                self.seen.insert(path.clone(), file);
                self.changes.push(Change::Create(path.clone(), file));
            }
            Step::Write(path, bytes) => self.contents[self.seen[path]].unsynced.extend_from_slice(bytes),
            Step::Sync(path) => {
                let content = &mut self.contents[self.seen[path]];
                let unsynced = std::mem::take(&mut content.unsynced);
                content.synced.extend(unsynced);
            }
            Step::Rename(from, to) => {
                let file = self.seen.remove(from).unwrap();
                self.seen.insert(to.clone(), file);
                self.changes.push(Change::Rename(from.clone(), to.clone(), file));
            }
            Step::SyncFolder(_) => {
                self.synced = self.seen.clone();
                self.changes.clear();
            }
        }
    }

    /// All contents that the target may have after a loss of power now; `None` where it is missing.
    fn after_loss(&self, target: &Path) -> BTreeSet<Option<Vec<u8>>> {
        let mut found = BTreeSet::new();
        for kept in 0..1usize << self.changes.len() {
            let mut names = self.synced.clone();
            let survivors = self.changes.iter().enumerate().filter(|(k, _)| kept >> k & 1 == 1);
            for (_, change) in survivors {
                match change {
                    Change::Create(path, file) => drop(names.insert(path.clone(), *file)),
                    Change::Rename(from, to, file) => {
                        names.remove(from);
                        names.insert(to.clone(), *file);
                    }
                }
            }
            match names.get(target) {
                None => drop(found.insert(None)),
                Some(&file) => found.extend(self.contents[file].after_loss().into_iter().map(Some)),
            }
        }
        found
    }
}

impl Content {
    /// What may be left: bytes that were not synced may be missing, cut anywhere, or zero.
    fn after_loss(&self) -> Vec<Vec<u8>> {
        let cuts = [0, 1, self.unsynced.len() / 2, self.unsynced.len()];
        let cut = |length: usize| [&self.synced[..], &self.unsynced[..length]].concat();
        let zeros = [self.synced.clone(), vec![0; self.unsynced.len()]].concat();
        let mut all: Vec<Vec<u8>> =
            cuts.into_iter().filter(|&length| length <= self.unsynced.len()).map(cut).collect();
        all.push(zeros);
        all
    }
}

/// Versions of a file, of several sizes around that of the buffer.
fn versions() -> Vec<Vec<u8>> {
    let sizes = [1usize << 10, 300_000, 1, 131_072];
    (1..).zip(sizes).map(|(version, size)| vec![version; size]).collect()
}

/// Writes versions of a file one after the other, and returns the steps of each.
fn record(target: &Path, sync: bool) -> Vec<Vec<Step>> {
    recorder::taken();
    let write = |version: &Vec<u8>| {
        let mut output = Output::create(target).unwrap();
        if !sync {
            output = output.without_sync();
        }
        version.chunks(50_000).for_each(|piece| output.write_all(piece).unwrap());
        output.commit().unwrap();
        recorder::taken()
    };
    versions().iter().skip(1).map(write).collect()
}

/// The places where something else than a version that may be there can be found.
fn violations(target: &Path, outputs: &[Vec<Step>]) -> Vec<String> {
    let versions = versions();
    let mut disk = Disk::with(target, &versions[0]);
    let mut found = Vec::new();
    let mut look = |disk: &Disk, allowed: &[&Vec<u8>], place: String| {
        let is_allowed =
            |content: &Option<Vec<u8>>| content.as_ref().is_some_and(|content| allowed.contains(&content));
        if !disk.after_loss(target).iter().all(is_allowed) {
            found.push(place);
        }
    };
    for (k, steps) in outputs.iter().enumerate() {
        let (old, new) = (&versions[k], &versions[k + 1]);
        for (at, step) in steps.iter().enumerate() {
            disk.play(step);
            look(&disk, &[old, new], format!("output {k}, step {at}"));
        }
        // The program has been told that the output is there.
        look(&disk, &[new], format!("output {k}, done"));
    }
    found
}

#[test]
fn after_a_loss_of_power_the_old_or_the_new_file_is_there_as_a_whole() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("fit.ckpt");
    std::fs::write(&target, &versions()[0]).unwrap();
    let outputs = record(&target, true);
    let kinds = |steps: &[Step]| {
        let writes = steps.iter().filter(|step| matches!(step, Step::Write(..))).count();
        (steps.len(), writes)
    };
    // Created, synced, renamed, the folder synced.
    assert!(outputs.iter().all(|steps| kinds(steps).0 == kinds(steps).1 + 4), "{outputs:?}");
    assert_eq!(violations(&target, &outputs), Vec::<String>::new());
}

#[test]
fn the_simulation_notices_every_sync_that_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("fit.ckpt");
    std::fs::write(&target, &versions()[0]).unwrap();
    assert!(violations(&target, &record(&target, false)).len() >= 3);
    std::fs::write(&target, &versions()[0]).unwrap();
    let outputs = record(&target, true);
    let without = |is_out: fn(&Step) -> bool| -> Vec<Vec<Step>> {
        outputs.iter().map(|steps| steps.iter().filter(|step| !is_out(step)).cloned().collect()).collect()
    };
    // Torn files where the content was not synced, old ones where the name was not.
    let no_files = violations(&target, &without(|step| matches!(step, Step::Sync(_))));
    assert!(no_files.iter().any(|place| place.contains("step")), "{no_files:?}");
    let no_folders = violations(&target, &without(|step| matches!(step, Step::SyncFolder(_))));
    assert!(no_folders.iter().any(|place| place.contains("done")), "{no_folders:?}");
    // A sync that comes after the rename is too late.
    let late: Vec<Vec<Step>> = outputs
        .iter()
        .map(|steps| {
            let mut steps = steps.clone();
            let sync = steps.iter().position(|step| matches!(step, Step::Sync(_))).unwrap();
            steps.swap(sync, sync + 1);
            if let (Step::Rename(_, to), Step::Sync(at)) = (steps[sync].clone(), &mut steps[sync + 1]) {
                *at = to;
            }
            steps
        })
        .collect();
    assert!(!violations(&target, &late).is_empty());
}
