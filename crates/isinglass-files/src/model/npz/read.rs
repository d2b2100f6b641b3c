//! Reading a machine from NumPy arrays.

use std::fs::File;
use std::io::{BufReader, Read};

use isinglass::machine::nearest;
use isinglass::{Machine, Role, Unit};
use zip::ZipArchive;
use zip::result::ZipError;

use super::ARRAYS;
use crate::error::{Fault, Parsed, one_line, quoted};
use crate::npy::Array;

type Archive = ZipArchive<BufReader<File>>;

/// Read a machine from a file.
pub(in crate::model) fn read(file: File) -> Parsed<Machine> {
    let mut archive = Archive::new(BufReader::new(file)).map_err(|error| broken(&error))?;
    check_names(&archive)?;
    let biases = array(&mut archive, "bias", |bias| vector(bias, "bias"))?
        .ok_or_else(|| Fault::new("array 'bias'", "is missing, expected one number for each unit"))?;
    let n = biases.len();
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
        .ok_or_else(|| Fault::new("array 'weights'", "is missing, expected a matrix of units by units"))?;
    let units = names.into_iter().zip(biases).map(|(name, bias)| Unit::new(name, bias)).collect();
    let machine = Machine::new(units, edges)?.with_temperature(temperature)?.with_offset(offset)?;
    match roles {
        Some(roles) => Ok(machine.with_roles(roles)?),
        None => Ok(machine),
    }
}

fn broken(error: &ZipError) -> Fault {
    let problem = format!("is no readable NPZ archive: {}", one_line(&error.to_string()));
    Fault::whole(problem).with_hint("write it with np.savez, and check that it is not truncated")
}

/// Refuse arrays that are not known: a misspelt one would otherwise be overlooked.
fn check_names(archive: &Archive) -> Parsed<()> {
    let known = ARRAYS.map(str::to_owned);
    for entry in archive.file_names_raw() {
        let name = entry.strip_suffix(b".npy").unwrap_or(entry);
        if !ARRAYS.iter().any(|known| known.as_bytes() == name) {
            let near = nearest(&String::from_utf8_lossy(name), &known)
                .map_or_else(String::new, |near| format!(" (did you mean '{near}'?)"));
            let problem = format!("is not known{near}, expected some of {}", ARRAYS.join(", "));
            return Err(Fault::new(format!("array {}", quoted(name)), problem));
        }
    }
    Ok(())
}

/// An array of the archive as `convert` reads it, or `None` if there is no such array.
fn array<T>(
    archive: &mut Archive,
    name: &str,
    convert: impl FnOnce(&Array<'_>) -> Parsed<T>,
) -> Parsed<Option<T>> {
    let place = format!("array '{name}'");
    let mut bytes = Vec::new();
    match archive.by_name(&format!("{name}.npy")) {
        Ok(mut entry) => entry.read_to_end(&mut bytes).map_err(|error| {
            let problem = format!("cannot be unpacked: {}", one_line(&error.to_string()));
            Fault::new(place.as_str(), problem)
        })?,
        Err(ZipError::FileNotFound) => return Ok(None),
        Err(error) => return Err(broken(&error).inside(&place)),
    };
    let converted = Array::parse(&bytes).and_then(|array| convert(&array));
    converted.map(Some).map_err(|fault| fault.inside(&place))
}

/// A finite number of an array.
fn finite(array: &Array<'_>, k: usize, place: impl Fn() -> String) -> Parsed<f64> {
    let number = array.number(k);
    if number.is_finite() {
        Ok(number)
    } else {
        Err(Fault::new(place(), format!("found {number}, expected a finite number")))
    }
}

fn is_numeric(array: &Array<'_>) -> Parsed<()> {
    if array.is_text() {
        return Err(Fault::whole("found text, expected numbers"));
    }
    Ok(())
}

fn has_shape(array: &Array<'_>, expected: &[usize]) -> Parsed<()> {
    if array.shape() != expected {
        return Err(Fault::whole(format!("found the shape {:?}, expected {expected:?}", array.shape())));
    }
    Ok(())
}

fn vector(array: &Array<'_>, what: &str) -> Parsed<Vec<f64>> {
    is_numeric(array)?;
    if array.shape().len() != 1 {
        return Err(Fault::whole(format!("found the shape {:?}, expected one dimension", array.shape())));
    }
    (0..array.len()).map(|k| finite(array, k, || format!("{what}[{k}]"))).collect()
}

fn single(array: &Array<'_>) -> Parsed<f64> {
    is_numeric(array)?;
    if array.len() != 1 {
        return Err(Fault::whole(format!("found {} numbers, expected one", array.len())));
    }
    Ok(array.number(0))
}

fn texts(array: &Array<'_>, n: usize) -> Parsed<Vec<String>> {
    if !array.is_text() {
        let fault = Fault::whole("found numbers, expected text");
        return Err(fault.with_hint("write text with np.array(names, dtype=str)"));
    }
    has_shape(array, &[n])?;
    (0..n).map(|k| array.text(k)).collect()
}

fn role(k: usize, word: &str) -> Parsed<Role> {
    let expected = "expected visible, hidden or input";
    let fault =
        || Fault::new(format!("element {k}"), format!("found {}, {expected}", quoted(word.as_bytes())));
    word.parse().map_err(|_| fault())
}

/// The listed edges, smaller position first.
fn pairs(array: &Array<'_>, n: usize) -> Parsed<Vec<(usize, usize)>> {
    is_numeric(array)?;
    let &[count, 2] = array.shape() else {
        return Err(Fault::whole(format!("found the shape {:?}, expected (edges, 2)", array.shape())));
    };
    let position = |k: usize, column: usize| {
        let number = array.number(array.at(k, column));
        if number >= 0.0 && number < n as f64 && number.fract() == 0.0 {
            return Ok(number as usize);
        }
        let problem = format!("found {number}, expected a position among the {n} units, counted from 0");
        Err(Fault::new(format!("edges[{k}, {column}]"), problem))
    };
    let mut edges = Vec::with_capacity(count);
    for k in 0..count {
        let (a, b) = (position(k, 0)?, position(k, 1)?);
        if a == b {
            let problem = format!("joins unit {a} to itself, expected two units");
            return Err(Fault::new(format!("edges[{k}]"), problem));
        }
        edges.push((a.min(b), a.max(b)));
    }
    Ok(edges)
}

/// The weighted edges of a matrix: those listed, or else those that are not zero.
fn joined(
    array: &Array<'_>,
    n: usize,
    listed: Option<&[(usize, usize)]>,
) -> Parsed<Vec<(usize, usize, f64)>> {
    is_numeric(array)?;
    has_shape(array, &[n, n])?;
    let at = |i: usize, j: usize| finite(array, array.at(i, j), || format!("weights[{i}, {j}]"));
    let mut edges = Vec::new();
    let mut joined = 0;
    for i in 0..n {
        let own = at(i, i)?;
        if own != 0.0 {
            let problem = format!("found {own}, expected 0: a unit is not joined to itself");
            return Err(Fault::new(format!("weights[{i}, {i}]"), problem));
        }
        for j in i + 1..n {
            let (weight, mirrored) = (at(i, j)?, at(j, i)?);
            if weight != mirrored {
                let problem = format!(
                    "found {weight}, but weights[{j}, {i}] is {mirrored}: expected a symmetric matrix"
                );
                return Err(Fault::new(format!("weights[{i}, {j}]"), problem));
            }
            if weight != 0.0 {
                joined += 1;
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
    if covered < joined {
        let problem = format!(
            "{joined} weights are not zero, and {covered} of them stand in 'edges'; expected all of them there"
        );
        return Err(Fault::whole(problem));
    }
    Ok(edges)
}
