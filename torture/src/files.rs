//! The files of a folder: what was there, what changed, and whether each is whole.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, bail, ensure};
use isinglass::Budget;
use isinglass::learn::Checkpoint;
use isinglass_files::{TableOptions, read_checkpoint, read_model, read_picture, read_table};

/// Names and contents of all files of a folder and its folders; devices are left out, which may
/// have no end.
pub(crate) fn contents(folder: &Path) -> anyhow::Result<BTreeMap<String, Vec<u8>>> {
    let mut found = BTreeMap::new();
    collect(folder, "", &mut found)?;
    Ok(found)
}

fn collect(folder: &Path, before: &str, found: &mut BTreeMap<String, Vec<u8>>) -> anyhow::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{before}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), &format!("{name}/"), found)?;
        } else if entry.path().is_file() {
            found.insert(name, std::fs::read(entry.path())?);
        }
    }
    Ok(())
}

/// Checks that no temporary file and no lock is left.
pub(crate) fn nothing_left(files: &BTreeMap<String, Vec<u8>>) -> anyhow::Result<()> {
    match files.keys().find(|name| name.contains(".isinglass-")) {
        Some(name) => bail!("{name} was left behind"),
        None => Ok(()),
    }
}

/// Checks that a file which was written is whole, by its ending.
pub(crate) fn is_whole(path: &Path) -> anyhow::Result<()> {
    let place = || path.display().to_string();
    let bytes = std::fs::read(path).with_context(place)?;
    // A history, a network or a checkpoint may have any name.
    if ["iteration,", "from,to,weight"].iter().any(|head| bytes.starts_with(head.as_bytes())) {
        ensure!(bytes.ends_with(b"\n"), "{}: cut", place());
        return Ok(());
    }
    if bytes.starts_with(b"isinglass fit\n") {
        read_checkpoint::<(Checkpoint, Option<Vec<Vec<Vec<f64>>>>)>(path)?;
        return Ok(());
    }
    let ending = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    match ending.as_str() {
        "json" | "uai" | "npz" => drop(read_model(path)?),
        "npy" => drop(read_table(path, &TableOptions::default())),
        "csv" | "tsv" | "svg" | "md" => {
            ensure!(bytes.last() == Some(&b'\n') || bytes.ends_with(b"</svg>"), "{}: cut", place());
        }
        "png" => drop(read_picture(path, 128, Budget::default())?),
        "html" | "htm" => ensure!(bytes.trim_ascii_end().ends_with(b"</html>"), "{}: cut", place()),
        // A checkpoint by another name, or something that a device would take.
        _ => ensure!(!bytes.is_empty(), "{}: empty", place()),
    }
    Ok(())
}
