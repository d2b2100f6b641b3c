//! Checkpoints: the state of a fit, in a file that is whole or refused.
//!
//! ```text
//! "isinglass fit\n"   14 bytes
//! version             u32, little-endian
//! length              u64, little-endian: the bytes of the content
//! content             in the format of postcard
//! checksum            u32, little-endian: CRC-32 of all that stands before
//! ```

use std::io::{Read, Write};
use std::path::Path;

use flate2::Crc;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{Fault, Parsed};
use crate::{Error, Output, Result, input};

const MAGIC: &[u8] = b"isinglass fit\n";

/// To be raised whenever what states hold, or how, is changed.
const VERSION: u32 = 1;

/// The bytes before the content.
const HEAD: usize = MAGIC.len() + 4 + 8;

/// Write a checkpoint. Until all of it is written, the file is what it was before.
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
/// assert!(message.ends_with("the checkpoint breaks off before its end"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_checkpoint(content: &impl Serialize, mut output: Output) -> Result<()> {
    let bytes = enclosed(content).map_err(|fault| fault.writing(output.path()))?;
    output.write_all(&bytes).map_err(|error| output.error(&error))?;
    output.commit()
}

/// Read a checkpoint.
///
/// # Errors
/// The file is none, was written by a newer program, breaks off, or was damaged.
pub fn read_checkpoint<T: DeserializeOwned>(path: &Path) -> Result<T> {
    // As it is, whatever its ending: it was not compressed on the way out.
    let mut bytes = Vec::new();
    let read = input::open(path)?.read_to_end(&mut bytes);
    read.map_err(|error| Error::access(path, "cannot be read", &error))?;
    opened(&bytes).map_err(|fault| fault.reading(path))
}

fn enclosed(content: &impl Serialize) -> Parsed<Vec<u8>> {
    let content = postcard::to_stdvec(content)
        .map_err(|error| Fault::new("checkpoint", format!("cannot be written: {error}")))?;
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
    let broken_off = || Fault::whole("the checkpoint breaks off before its end");
    let damaged = || Fault::whole("the checkpoint is damaged: its checksum is wrong");
    if bytes.is_empty() {
        return Err(Fault::whole("is empty, expected a checkpoint"));
    }
    if !bytes.starts_with(&MAGIC[..MAGIC.len().min(bytes.len())]) {
        return Err(Fault::whole("is no checkpoint of isinglass"));
    }
    let (version, rest) =
        bytes.get(MAGIC.len()..).and_then(|rest| rest.split_first_chunk()).ok_or_else(broken_off)?;
    let version = u32::from_le_bytes(*version);
    if version != VERSION {
        let problem = format!(
            "is a checkpoint of version {version}, and this program knows version {VERSION}: go on with the program that wrote it"
        );
        return Err(Fault::whole(problem));
    }
    let (length, rest) = rest.split_first_chunk().ok_or_else(broken_off)?;
    let expected = u64::from_le_bytes(*length).checked_add(4);
    match expected.map(|expected| (rest.len() as u64).cmp(&expected)) {
        Some(std::cmp::Ordering::Equal) => {}
        Some(std::cmp::Ordering::Greater) => return Err(damaged()),
        _ => return Err(broken_off()),
    }
    let (whole, sum) = bytes.split_last_chunk().ok_or_else(broken_off)?;
    if checksum(whole) != u32::from_le_bytes(*sum) {
        return Err(damaged());
    }
    match postcard::take_from_bytes(&whole[HEAD..]) {
        Ok((content, [])) => Ok(content),
        _ => Err(Fault::whole("is a checkpoint of something else")),
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
    fn no_byte_can_be_changed_or_left_out_unnoticed() {
        let content = (7u8, "all of it".to_owned());
        let bytes = enclosed(&content).unwrap();
        assert_eq!(opened::<(u8, String)>(&bytes).unwrap(), content);
        for end in 0..bytes.len() {
            let expected = if end == 0 { "is empty" } else { "breaks off" };
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
    fn other_files_and_newer_checkpoints_are_told_apart() {
        assert_eq!(message(b"a,b\n1,0\n"), "f: is no checkpoint of isinglass");
        let mut newer = enclosed(&(7u8, String::new())).unwrap();
        newer[MAGIC.len()] = 2;
        assert!(message(&newer).contains("is a checkpoint of version 2, and this program knows version 1"));
        let other = enclosed(&vec![1u64 << 60; 3]).unwrap();
        assert_eq!(message(&other), "f: is a checkpoint of something else");
    }
}
