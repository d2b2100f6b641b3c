//! Writing a machine as NumPy arrays.

use std::io::{self, Write};

use isinglass::{Machine, Role};
use zip::write::{SimpleFileOptions, StreamWriter};
use zip::{CompressionMethod, ZipWriter};

use super::NpzProblem;
use crate::error::{Fault, Hint, Parsed, Place, Quoted};
use crate::model::Failure;
use crate::npy::{Head, write_head};

/// An archive that is written from start to end, without seeking.
type Archive<W> = ZipWriter<StreamWriter<W>>;

/// The most bytes of the matrix of weights: for sparse machines, nearly all of them would be zeros.
pub(super) const LARGEST: u128 = 8 << 30;

/// Writes a machine; all of it is kept.
pub(in crate::model) fn write(machine: &Machine, output: &mut impl Write) -> Result<(), Failure> {
    let units = machine.unit_count();
    let bytes = 8 * units as u128 * units as u128;
    if bytes > LARGEST {
        let fault = Fault::at(Place::Weights, NpzProblem::TooLarge { units, bytes });
        return Err(fault.with_hint(Hint::WriteJson).into());
    }
    let names = padded(machine)?;
    let mut archive = ZipWriter::new_stream(output);
    write_arrays(machine, &names, &mut archive)?;
    archive.finish().map_err(io::Error::from)?;
    Ok(())
}

/// The names as characters; refused if NumPy would not give them back.
fn padded(machine: &Machine) -> Parsed<Vec<Vec<char>>> {
    let mut names = Vec::with_capacity(machine.unit_count());
    for (k, name) in machine.names().iter().enumerate() {
        if name.ends_with('\0') {
            let fault = Fault::at(Place::Unit(k), NpzProblem::ZeroInName(Quoted::from(&name[..])));
            return Err(fault.with_hint(Hint::Rename));
        }
        names.push(name.chars().collect());
    }
    Ok(names)
}

fn write_arrays<W: Write>(
    machine: &Machine,
    names: &[Vec<char>],
    archive: &mut Archive<W>,
) -> io::Result<()> {
    let n = machine.unit_count();
    weights(machine, archive)?;
    start(archive, "bias", n as u64 * 8, false)?;
    write_head(archive, Head::Float, &[n])?;
    for bias in machine.biases() {
        archive.write_all(&bias.to_le_bytes())?;
    }
    texts(archive, "names", names)?;
    if machine.roles().iter().any(|&role| role != Role::Visible) {
        let words: Vec<Vec<char>> =
            machine.roles().iter().map(|role| role.word().chars().collect()).collect();
        texts(archive, "roles", &words)?;
    }
    for (name, number) in [("temperature", machine.temperature()), ("offset", machine.offset())] {
        start(archive, name, 8, false)?;
        write_head(archive, Head::Float, &[])?;
        archive.write_all(&number.to_le_bytes())?;
    }
    if machine.weights().contains(&0.0) {
        let edges = machine.graph().edges();
        start(archive, "edges", edges.len() as u64 * 16, true)?;
        write_head(archive, Head::Int, &[edges.len(), 2])?;
        for &(a, b) in edges {
            archive.write_all(&(a as i64).to_le_bytes())?;
            archive.write_all(&(b as i64).to_le_bytes())?;
        }
    }
    Ok(())
}

/// The full symmetric matrix, a row at a time.
fn weights<W: Write>(machine: &Machine, archive: &mut Archive<W>) -> io::Result<()> {
    let n = machine.unit_count();
    // A dense matrix of real weights does not compress; one that is mostly zero does.
    let sparse = machine.weights().len() < n * n / 4;
    start(archive, "weights", (n * n) as u64 * 8, sparse)?;
    write_head(archive, Head::Float, &[n, n])?;
    let mut row = vec![0; n * 8];
    for unit in 0..n {
        row.fill(0);
        for (other, edge) in machine.graph().neighbours(unit) {
            row[other * 8..(other + 1) * 8].copy_from_slice(&machine.weights()[edge].to_le_bytes());
        }
        archive.write_all(&row)?;
    }
    Ok(())
}

fn texts<W: Write>(archive: &mut Archive<W>, name: &str, texts: &[Vec<char>]) -> io::Result<()> {
    let width = texts.iter().map(Vec::len).max().unwrap_or(0).max(1);
    start(archive, name, (texts.len() * width) as u64 * 4, true)?;
    write_head(archive, Head::Text(width), &[texts.len()])?;
    let mut element = vec![0; width * 4];
    for text in texts {
        element.fill(0);
        for (bytes, &c) in element.chunks_exact_mut(4).zip(text) {
            bytes.copy_from_slice(&u32::from(c).to_le_bytes());
        }
        archive.write_all(&element)?;
    }
    Ok(())
}

/// Begins an array of a given size in bytes.
fn start<W: Write>(archive: &mut Archive<W>, name: &str, size: u64, compressed: bool) -> io::Result<()> {
    let method = if compressed { CompressionMethod::Deflated } else { CompressionMethod::Stored };
    let options = SimpleFileOptions::default()
        .compression_method(method)
        // The head of the array counts too, below the limit of 32-bit sizes.
        .large_file(size >= u64::from(u32::MAX) - 1024);
    archive.start_file(format!("{name}.npy"), options).map_err(io::Error::from)
}
