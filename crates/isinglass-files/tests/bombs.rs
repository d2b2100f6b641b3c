//! Small files that unpack to a lot are refused at the budget, with the figure and the right hint.

// A test may fail by panicking.
#![allow(clippy::unwrap_used)]

use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use isinglass::Budget;
use isinglass_files::{TableOptions, read_model_within, read_table};
use zip::write::{SimpleFileOptions, ZipWriter};

const BUDGET: Budget = Budget(4 << 20);

/// What files unpack to: more than the budget, of which nothing is kept in the archive.
const SIZE: usize = 16 << 20;

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A head, and then the same bytes again and again.
fn long(head: &[u8], body: &[u8]) -> Vec<u8> {
    let mut bytes = head.to_vec();
    bytes.extend(body.iter().cycle().take(SIZE));
    bytes
}

/// An NPY file of numbers of one byte.
fn npy(shape: &str, count: usize) -> Vec<u8> {
    let mut header = format!("{{'descr': '|i1', 'fortran_order': False, 'shape': {shape}, }}");
    header.push_str(&" ".repeat(117 - header.len() % 64));
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(header.len()).unwrap().to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.resize(bytes.len() + count, 1);
    bytes
}

fn refused(folder: &Path, name: &str, bytes: &[u8], words: &str) {
    assert!(bytes.len() < 1 << 18, "{name} has {} bytes", bytes.len());
    let path = folder.join(name);
    std::fs::write(&path, bytes).unwrap();
    let is_model = [".json.gz", ".uai.gz", ".npz"].iter().any(|ending| name.ends_with(ending));
    let error = if is_model {
        read_model_within(&path, BUDGET).map(drop)
    } else {
        read_table(&path, &TableOptions { budget: BUDGET, ..Default::default() }).map(drop)
    };
    let message = error.unwrap_err().to_string();
    let (first, hint) = message.split_once('\n').unwrap();
    assert!(first.contains(words) && first.contains("the budget is 4 MiB"), "{name}: {message}");
    assert!(!message.contains("truncated"), "{name}: {message}");
    assert_eq!(hint, "hint: give more --budget if the file is meant to be so large", "{name}");
}

#[test]
fn compressed_files_are_unpacked_within_the_budget() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let gz = |name: &str, content: &[u8], words: &str| refused(folder, name, &packed(content), words);
    gz("rows.csv.gz", &long(b"a,b\n", b"1,0\n"), ": the table takes 4");
    gz("line.csv.gz", &long(b"", b"a"), "line 1: a line has more than ");
    gz("quote.csv.gz", &long(b"a,b\n1,\"", b"\n"), "line 2: a line has more than ");
    gz("wide.csv.gz", &long(b"a", b",a"), "line 1: a line has more than ");
    gz("kept.tsv.gz", &long(b"a\tb\n", b"1\t0\n"), ": the table takes 4");
    gz("m.json.gz", &long(b"{\"format\": \"isinglass/1\"", b" "), "unpacked, it has more than ");
    gz("m.uai.gz", &long(b"MARKOV\n", b"\n"), "unpacked, it has more than ");
    gz("t.npy.gz", &npy(&format!("({}, 2)", SIZE / 2), SIZE), "unpacked, it has more than ");
}

#[test]
fn what_is_made_of_a_file_is_within_the_budget() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let gz = |name: &str, content: &[u8], words: &str| refused(folder, name, &packed(content), words);
    // Three megabytes of text fit into the budget; the hundreds of bytes for each unit do not.
    let units = b"{},".iter().cycle().take(3 << 20).copied();
    let json: Vec<u8> = b"{\"units\": [".iter().copied().chain(units).collect();
    gz("units.json.gz", &json, "reading: a model of 3.0 MiB needs ");
    let numbers = b"2 ".iter().cycle().take(3 << 20).copied();
    let uai: Vec<u8> = b"MARKOV\n".iter().copied().chain(numbers).collect();
    gz("numbers.uai.gz", &uai, "reading: a model of 3.0 MiB needs");
    gz("columns.npy.gz", &npy("(1, 200000)", 200_000), "200000 columns take");
}

#[test]
fn arrays_of_archives_are_unpacked_within_the_budget() {
    let folder = tempfile::tempdir().unwrap();
    let archive = |name: &str, content: &[u8]| {
        let mut zip = ZipWriter::new(std::io::Cursor::new(Vec::new()));
        let options = SimpleFileOptions::default().compression_level(Some(9));
        zip.start_file(name, options).unwrap();
        zip.write_all(content).unwrap();
        zip.finish().unwrap().into_inner()
    };
    let bias = archive("bias.npy", &npy(&format!("({SIZE},)"), SIZE));
    refused(folder.path(), "bias.npz", &bias, "array 'bias': has more than 4 MiB unpacked");
    let wide = archive("bias.npy", &npy(&format!("({},)", 3 << 20), 3 << 20));
    refused(folder.path(), "wide.npz", &wide, "array 'bias': reading: what is made of the arrays needs");
}
