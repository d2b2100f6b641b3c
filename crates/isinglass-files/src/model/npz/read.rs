//! Reading a machine from NumPy arrays.

use std::fs::File;
use std::io::BufReader;

use isinglass::{Budget, Machine, Role, Unit};
use zip::ZipArchive;
use zip::result::ZipError;

use super::{ARRAYS, NpzProblem};
use crate::error::{Fault, Hint, Near, Parsed, Place, Quoted};
use crate::input::{self, Unread};
use crate::npy::Array;

type Archive = ZipArchive<BufReader<File>>;

/// An archive, and the memory that is left for what it unpacks to.
struct Unpacked {
    archive: Archive,
    left: u64,
    budget: Budget,
}

/// Reads a machine from a file.
pub(in crate::model) fn read(file: File, budget: Budget) -> Parsed<Machine> {
    let archive = Archive::new(BufReader::new(file)).map_err(unreadable)?;
    check_names(&archive)?;
    let mut archive = Unpacked { archive, left: budget.0, budget };
    let bias = array(&mut archive, "bias", vector)?
        .ok_or_else(|| Fault::at(array_place("bias"), NpzProblem::NoBias))?;
    let n = bias.len();
    let names = array(&mut archive, "names", |names| texts(names, n))?
        .unwrap_or_else(|| (0..n).map(|k| format!("x{k}")).collect());
    let roles = array(&mut archive, "roles", |roles| {
        let words = texts(roles, n)?.into_iter().enumerate();
        words.map(|(k, word)| role(k, &word)).collect::<Parsed<Vec<_>>>()
    })?;
    let temperature = array(&mut archive, "temperature", single)?.unwrap_or(1.0);
    let offset = array(&mut archive, "offset", single)?.unwrap_or(0.0);
    let listed = array(&mut archive, "edges", |edges| pairs(edges, n))?;
    let edges = array(&mut archive, "weights", |weights| joined(weights, n, listed.as_deref()))?
        .ok_or_else(|| Fault::at(array_place("weights"), NpzProblem::NoWeights))?;
    let units = names.into_iter().zip(bias).map(|(name, bias)| Unit::new(name, bias)).collect();
    let machine = Machine::new(units, edges)?.with_temperature(temperature)?.with_offset(offset)?;
    match roles {
        Some(roles) => Ok(machine.with_roles(roles)?),
        None => Ok(machine),
    }
}

fn unreadable(error: ZipError) -> Fault {
    Fault::from(NpzProblem::Unreadable(error)).with_hint(Hint::Savez)
}

fn array_place(name: &str) -> Place {
    Place::Array(Quoted::from(name))
}

/// Refuses unknown arrays: a misspelt one would otherwise be overlooked.
fn check_names(archive: &Archive) -> Parsed<()> {
    for entry in archive.file_names_raw() {
        let name = entry.strip_suffix(b".npy").unwrap_or(entry);
        if !ARRAYS.iter().any(|known| known.as_bytes() == name) {
            let near = Near::to(&String::from_utf8_lossy(name), &ARRAYS.map(str::to_owned));
            return Err(Fault::at(Place::Array(Quoted::new(name)), NpzProblem::UnknownArray(near)));
        }
    }
    Ok(())
}

/// An array of the archive as `convert` reads it, or `None` if there is no such array.
fn array<T>(
    archive: &mut Unpacked,
    name: &str,
    convert: impl FnOnce(&Array<'_>) -> Parsed<T>,
) -> Parsed<Option<T>> {
    let limit = archive.left;
    let unpacked = match archive.archive.by_name(&format!("{name}.npy")) {
        Ok(entry) => input::bounded(entry, limit).map_err(|problem| match problem {
            Unread::Failed(error) => NpzProblem::Packed(error).into(),
            Unread::NoMemory { read } => NpzProblem::NoMemory { read }.into(),
            Unread::TooLarge { read } => {
                let problem = NpzProblem::Unpacked { read, budget: archive.budget };
                Fault::from(problem).with_hint(Hint::Budget)
            }
        }),
        Err(ZipError::FileNotFound) => return Ok(None),
        Err(error) => Err(unreadable(error)),
    };
    let converted = unpacked.and_then(|bytes| {
        // What is made of an array takes about as much, and is checked before it is made.
        archive.left = archive.left.saturating_sub(bytes.len() as u64);
        let array = Array::parse(&bytes)?;
        let held = u128::from(archive.budget.0 - archive.left);
        let needed = held + Machine::bytes(0, nonzero(&array) as u128);
        archive
            .budget
            .check("reading", needed, || "what is made of the arrays".into())
            .map_err(|error| Fault::from(error).with_hint(Hint::Budget))?;
        convert(&array)
    });
    converted.map(Some).map_err(|fault| fault.inside(array_place(name)))
}

/// The numbers of a matrix that are not 0, or the elements of anything else: as many edges or units may
/// come of it, each pair of numbers making one edge.
fn nonzero(array: &Array<'_>) -> usize {
    match array.shape() {
        [_, _] if !array.is_text() => (0..array.len()).filter(|&k| array.number(k) != 0.0).count() / 2,
        _ => array.len() * 2,
    }
}

/// A finite number of an array.
fn finite(array: &Array<'_>, k: usize, place: impl Fn() -> Place) -> Parsed<f64> {
    let number = array.number(k);
    if number.is_finite() { Ok(number) } else { Err(Fault::at(place(), NpzProblem::NotFinite(number))) }
}

fn is_numeric(array: &Array<'_>) -> Parsed<()> {
    if array.is_text() { Err(NpzProblem::Text.into()) } else { Ok(()) }
}

fn has_shape(array: &Array<'_>, expected: &[usize]) -> Parsed<()> {
    if array.shape() != expected {
        let (found, expected) = (array.shape().to_vec(), expected.to_vec());
        return Err(NpzProblem::Shape { found, expected }.into());
    }
    Ok(())
}

fn vector(array: &Array<'_>) -> Parsed<Vec<f64>> {
    is_numeric(array)?;
    if array.shape().len() != 1 {
        return Err(NpzProblem::NotVector(array.shape().to_vec()).into());
    }
    (0..array.len()).map(|k| finite(array, k, || Place::Entry("bias", k))).collect()
}

fn single(array: &Array<'_>) -> Parsed<f64> {
    is_numeric(array)?;
    if array.len() != 1 {
        return Err(NpzProblem::NotSingle(array.len()).into());
    }
    Ok(array.number(0))
}

fn texts(array: &Array<'_>, n: usize) -> Parsed<Vec<String>> {
    if !array.is_text() {
        return Err(Fault::from(NpzProblem::Numbers).with_hint(Hint::TextArray));
    }
    has_shape(array, &[n])?;
    (0..n).map(|k| array.text(k)).collect()
}

fn role(k: usize, word: &str) -> Parsed<Role> {
    word.parse().map_err(|_| Fault::at(Place::Element(k), NpzProblem::Role(Quoted::from(word))))
}

/// The listed edges, smaller position first.
fn pairs(array: &Array<'_>, n: usize) -> Parsed<Vec<(usize, usize)>> {
    is_numeric(array)?;
    let &[count, 2] = array.shape() else {
        return Err(NpzProblem::NotPairs(array.shape().to_vec()).into());
    };
    let position = |k: usize, column: usize| {
        let found = array.number(array.at(k, column));
        if found >= 0.0 && found < n as f64 && found.fract() == 0.0 {
            return Ok(found as usize);
        }
        Err(Fault::at(Place::Cell("edges", k, column), NpzProblem::Position { found, units: n }))
    };
    let mut edges = Vec::with_capacity(count);
    for k in 0..count {
        let (a, b) = (position(k, 0)?, position(k, 1)?);
        if a == b {
            return Err(Fault::at(Place::Entry("edges", k), NpzProblem::SelfEdge(a)));
        }
        edges.push((a.min(b), a.max(b)));
    }
    Ok(edges)
}

/// The weighted edges of a matrix: those listed, or else the nonzero ones.
fn joined(
    array: &Array<'_>,
    n: usize,
    listed: Option<&[(usize, usize)]>,
) -> Parsed<Vec<(usize, usize, f64)>> {
    is_numeric(array)?;
    has_shape(array, &[n, n])?;
    let at = |i: usize, j: usize| finite(array, array.at(i, j), || Place::Cell("weights", i, j));
    let mut edges = Vec::new();
    let mut nonzero = 0;
    for i in 0..n {
        let own = at(i, i)?;
        if own != 0.0 {
            return Err(Fault::at(Place::Cell("weights", i, i), NpzProblem::Diagonal(own)));
        }
        for j in i + 1..n {
            let (weight, mirrored) = (at(i, j)?, at(j, i)?);
            if weight != mirrored {
                let problem = NpzProblem::Asymmetric { i, j, weight, mirrored };
                return Err(Fault::at(Place::Cell("weights", i, j), problem));
            }
            if weight != 0.0 {
                nonzero += 1;
                if listed.is_none() {
                    edges.push((i, j, weight));
                }
            }
        }
    }
    let Some(listed) = listed else {
        return Ok(edges);
    };
    for &(i, j) in listed {
        edges.push((i, j, at(i, j)?));
    }
    let covered = edges.iter().filter(|edge| edge.2 != 0.0).count();
    if covered < nonzero {
        return Err(NpzProblem::MissingEdges { nonzero, listed: covered }.into());
    }
    Ok(edges)
}
