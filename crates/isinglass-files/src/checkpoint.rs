//! Checkpoints: the state of a fit in a file, checked as a whole.
//!
//! ```text
//! "isinglass fit\n"   14 bytes
//! version             u32, little-endian
//! length              u64, little-endian: the bytes of the content
//! content             in the format of postcard
//! checksum            u32, little-endian: CRC-32 of everything before it
//! ```

use std::io::{Read, Write};
use std::path::Path;

use flate2::Crc;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{Attempt, Fault, Hint, Parsed, Place};
use crate::{Error, Output, Result, input};

const MAGIC: &[u8] = b"isinglass fit\n";

/// To be raised whenever what states hold, or how, is changed.
const VERSION: u32 = 1;

/// The bytes before the content.
const HEAD: usize = MAGIC.len() + 4 + 8;

/// What can be wrong with a checkpoint.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CheckpointProblem {
    #[error("cannot be written: {0}")]
    Unserializable(postcard::Error),
    #[error("is empty, expected a checkpoint")]
    Empty,
    #[error("is not a checkpoint of isinglass")]
    NotACheckpoint,
    #[error("is a checkpoint of version {0}, expected version {VERSION}")]
    Version(u32),
    #[error("the checkpoint is truncated")]
    Truncated,
    #[error("the checkpoint is damaged: its checksum is wrong")]
    Damaged,
    #[error("is a checkpoint of something else")]
    OtherContent,
}

/// Writes a checkpoint. Until all of it is written, the file stays as it was.
///
/// # Errors
/// The file cannot be written.
///
/// # Example
/// ```
/// use isinglass_files::{Output, read_checkpoint, write_checkpoint};
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("fit.ckpt");
/// write_checkpoint(&(7u8, vec![0.1, -0.0]), Output::create(&path)?)?;
/// assert_eq!(read_checkpoint::<(u8, Vec<f64>)>(&path)?, (7, vec![0.1, 0.0]));
/// std::fs::write(&path, &std::fs::read(&path)?[..20])?;
/// let message = read_checkpoint::<(u8, Vec<f64>)>(&path).unwrap_err().to_string();
/// assert!(message.ends_with("the checkpoint is truncated"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_checkpoint(content: &impl Serialize, mut output: Output) -> Result<()> {
    let bytes = enclosed(content).map_err(|fault| fault.writing(output.path()))?;
    output.write_all(&bytes).map_err(|error| output.error(&error))?;
    output.commit()
}

/// Reads a checkpoint.
///
/// # Errors
/// The file is not a checkpoint, was written by another version, is truncated or damaged.
pub fn read_checkpoint<T: DeserializeOwned>(path: &Path) -> Result<T> {
    // Never decompressed, whatever its ending: it was not compressed when it was written.
    let mut bytes = Vec::new();
    let read = input::open(path)?.read_to_end(&mut bytes);
    read.map_err(|error| Error::access(path, Attempt::Read, &error))?;
    opened(&bytes).map_err(|fault| fault.reading(path))
}

fn enclosed(content: &impl Serialize) -> Parsed<Vec<u8>> {
    let content = postcard::to_stdvec(content)
        .map_err(|error| Fault::at(Place::Checkpoint, CheckpointProblem::Unserializable(error)))?;
    let mut bytes = Vec::with_capacity(HEAD + content.len() + 4);
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&VERSION.to_le_bytes());
    bytes.extend_from_slice(&(content.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&content);
    let sum = checksum(&bytes);
    bytes.extend_from_slice(&sum.to_le_bytes());
    Ok(bytes)
}

fn opened<T: DeserializeOwned>(bytes: &[u8]) -> Parsed<T> {
    let truncated = || Fault::from(CheckpointProblem::Truncated);
    let damaged = || Fault::from(CheckpointProblem::Damaged);
    if bytes.is_empty() {
        return Err(CheckpointProblem::Empty.into());
    }
    if !bytes.starts_with(&MAGIC[..MAGIC.len().min(bytes.len())]) {
        return Err(CheckpointProblem::NotACheckpoint.into());
    }
    let (version, rest) =
        bytes.get(MAGIC.len()..).and_then(|rest| rest.split_first_chunk()).ok_or_else(truncated)?;
    let version = u32::from_le_bytes(*version);
    if version != VERSION {
        return Err(Fault::from(CheckpointProblem::Version(version)).with_hint(Hint::OtherProgram));
    }
    let (length, rest) = rest.split_first_chunk().ok_or_else(truncated)?;
    let expected = u64::from_le_bytes(*length).checked_add(4);
    match expected.map(|expected| (rest.len() as u64).cmp(&expected)) {
        Some(std::cmp::Ordering::Equal) => {}
        Some(std::cmp::Ordering::Greater) => return Err(damaged()),
        _ => return Err(truncated()),
    }
    let (whole, sum) = bytes.split_last_chunk().ok_or_else(truncated)?;
    if checksum(whole) != u32::from_le_bytes(*sum) {
        return Err(damaged());
    }
    match postcard::take_from_bytes(&whole[HEAD..]) {
        Ok((content, [])) => Ok(content),
        _ => Err(CheckpointProblem::OtherContent.into()),
    }
}

fn checksum(bytes: &[u8]) -> u32 {
    let mut sum = Crc::new();
    sum.update(bytes);
    sum.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(bytes: &[u8]) -> String {
        opened::<(u8, String)>(bytes).unwrap_err().reading(Path::new("f")).to_string()
    }

    #[test]
    fn changed_or_missing_bytes_are_noticed() {
        let content = (7u8, "all of it".to_owned());
        let bytes = enclosed(&content).unwrap();
        assert_eq!(opened::<(u8, String)>(&bytes).unwrap(), content);
        for end in 0..bytes.len() {
            let expected = if end == 0 { "is empty" } else { "is truncated" };
            assert!(message(&bytes[..end]).contains(expected), "{end}: {}", message(&bytes[..end]));
        }
        for place in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[place] ^= 0x10;
            message(&changed);
        }
        let mut longer = bytes.clone();
        longer.push(0);
        assert_eq!(message(&longer), "f: the checkpoint is damaged: its checksum is wrong");
    }

    #[test]
    fn other_files_and_newer_checkpoints_are_distinguished() {
        assert_eq!(message(b"a,b\n1,0\n"), "f: is not a checkpoint of isinglass");
        let mut newer = enclosed(&(7u8, String::new())).unwrap();
        newer[MAGIC.len()] = 2;
        assert_eq!(
            message(&newer),
            "f: is a checkpoint of version 2, expected version 1\n\
             hint: resume with the version of the program that wrote it"
        );
        let other = enclosed(&vec![1u64 << 60; 3]).unwrap();
        assert_eq!(message(&other), "f: is a checkpoint of something else");
    }
}
