//! Machines as JSON, format `isinglass/1`: everything is kept, to the last bit.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::io::{self, Write};

use isinglass::machine::{Moderated, Moderator};
use isinglass::{Machine, Role, Unit};
use serde::de::{Unexpected, Visitor};
use serde::{Deserialize, Deserializer};

use crate::error::{Fault, Hint, Parsed, Place, Quoted};
use crate::input::without_mark;
use crate::{Encoding, Encodings};

/// The one format that is known.
const FORMAT: &str = "isinglass/1";

/// What can be wrong with a machine in JSON.
#[derive(Debug, thiserror::Error)]
pub(crate) enum JsonProblem {
    #[error("is empty, expected a machine in JSON")]
    Empty,
    /// A message of the JSON reader.
    #[error("{0}")]
    Syntax(String),
    #[error("has an encoding, and there is no unit of that name")]
    EncodedStranger,
    #[error("the name is empty")]
    NoName,
    #[error("the name {name} is already that of units[{first}], expected another")]
    RepeatedName { name: Quoted, first: usize },
    #[error("found position {found}, and there are {units} units, counted from 0")]
    Position { found: usize, units: usize },
    #[error("joins unit {0} to itself, expected two units")]
    SelfEdge(usize),
    #[error("found the positions {0}, {1}, expected the smaller first: {1}, {0}")]
    Unordered(usize, usize),
    #[error("found the positions {a}, {b} again, expected each pair once (see edges[{first}])")]
    RepeatedEdge { a: usize, b: usize, first: usize },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a machine: an object with format, temperature, units and edges")]
struct File {
    #[serde(rename = "format", deserialize_with = "known_format")]
    _format: (),
    temperature: Number,
    #[serde(default)]
    offset: Number,
    #[serde(default)]
    encoding: BTreeMap<String, FileEncoding>,
    units: Vec<FileUnit>,
    edges: Vec<FileEdge>,
    #[serde(default)]
    moderators: Vec<FileModerator>,
}

/// How couplings, in the order of `edges`, and biases change with a covariate.
#[derive(Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a moderator: an object with name, mean, deviation, biases and weights"
)]
struct FileModerator {
    name: String,
    mean: Number,
    deviation: Number,
    biases: Vec<Number>,
    weights: Vec<Number>,
}

/// How a column of raw tables becomes −1 and +1.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum FileEncoding {
    Above(Number),
    Words([String; 2]),
}

/// The encodings of a file; all else is passed over.
#[derive(Deserialize)]
struct Encoded {
    #[serde(default)]
    encoding: BTreeMap<String, FileEncoding>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a unit: an object with name, role and bias")]
struct FileUnit {
    name: String,
    #[serde(default)]
    role: FileRole,
    #[serde(default)]
    bias: Number,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "lowercase")]
enum FileRole {
    #[default]
    Visible,
    Hidden,
    Input,
}

#[derive(Deserialize)]
#[serde(expecting = "an edge: two positions in `units` and a weight, such as [0, 1, 0.25]")]
struct FileEdge(Position, Position, Number);

/// A finite number, named so where something else is found.
#[derive(Clone, Copy, Default)]
struct Number(f64);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Expected;
        impl Visitor<'_> for Expected {
            type Value = Number;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a finite number")
            }

            fn visit_f64<E>(self, number: f64) -> Result<Number, E> {
                Ok(Number(number))
            }

            fn visit_u64<E>(self, number: u64) -> Result<Number, E> {
                Ok(Number(number as f64))
            }

            fn visit_i64<E>(self, number: i64) -> Result<Number, E> {
                Ok(Number(number as f64))
            }
        }
        from.deserialize_f64(Expected)
    }
}

/// A position in `units`, named so where something else is found.
#[derive(Clone, Copy)]
struct Position(usize);

impl<'de> Deserialize<'de> for Position {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Expected;
        impl Visitor<'_> for Expected {
            type Value = Position;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a position in `units`, counted from 0")
            }

            fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Position, E> {
                usize::try_from(number)
                    .map(Position)
                    .map_err(|_| E::invalid_value(Unexpected::Unsigned(number), &self))
            }

            fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<Position, E> {
                u64::try_from(number)
                    .map_err(|_| E::invalid_value(Unexpected::Signed(number), &self))
                    .and_then(|number| self.visit_u64(number))
            }
        }
        from.deserialize_u64(Expected)
    }
}

fn known_format<'de, D: Deserializer<'de>>(from: D) -> Result<(), D::Error> {
    let found = String::deserialize(from)?;
    if found == FORMAT {
        return Ok(());
    }
    let found = Quoted::from(&found[..]);
    Err(serde::de::Error::custom(format!("found the format {found}, expected '{FORMAT}'")))
}

/// Reads a machine from the text of a file; of one with covariates that at their means.
pub(super) fn read(text: &[u8]) -> Parsed<Machine> {
    read_moderated(text).map(|found| found.base().clone())
}

/// Reads a machine from the text of a file, and how it changes with covariates.
pub(super) fn read_moderated(text: &[u8]) -> Parsed<Moderated> {
    let text = without_mark(text);
    if text.trim_ascii().is_empty() {
        return Err(JsonProblem::Empty.into());
    }
    let parse = || serde_json::from_slice::<File>(text).map_err(|error| syntax(&error));
    let file = parse()?;
    check_edges(&file.edges, file.units.len())?;
    let is_unit = |name: &String| file.units.iter().any(|unit| unit.name == *name);
    if let Some(name) = file.encoding.keys().find(|name| !is_unit(name)) {
        let place = Place::Column(Quoted::from(&name[..]));
        return Err(Fault::at(place, JsonProblem::EncodedStranger));
    }
    // A machine checks names itself; only where one is refused, the file is read again for the
    // place.
    built(file).or_else(|fault| check_units(&parse()?.units).and(Err(fault)))
}

/// Reads how columns are encoded from the text of a file.
pub(super) fn encodings(text: &[u8]) -> Parsed<Encodings> {
    let file: Encoded = serde_json::from_slice(without_mark(text)).map_err(|error| syntax(&error))?;
    let mut found = Encodings::default();
    for (column, encoding) in file.encoding {
        found.set(
            column,
            match encoding {
                FileEncoding::Above(Number(above)) => Encoding::Above(above),
                FileEncoding::Words(words) => Encoding::Words(words),
            },
        );
    }
    Ok(found)
}

fn built(file: File) -> Parsed<Moderated> {
    // Moderators follow the order of the file's edges, which need not be that of the machine's.
    let mut order: Vec<usize> = (0..file.edges.len()).collect();
    order.sort_by_key(|&k| (file.edges[k].0.0, file.edges[k].1.0));
    let moderators = file.moderators.into_iter().map(|moderator| {
        let all = |numbers: &[Number]| numbers.iter().map(|number| number.0).collect::<Vec<f64>>();
        let weights = all(&moderator.weights);
        let is_whole = weights.len() == order.len();
        let weights = if is_whole { order.iter().map(|&k| weights[k]).collect() } else { weights };
        let biases = all(&moderator.biases);
        let (mean, deviation) = (moderator.mean.0, moderator.deviation.0);
        Moderator { name: moderator.name, mean, deviation, weights, biases }
    });
    let moderators: Vec<Moderator> = moderators.collect();
    let units = file.units.into_iter().map(|unit| Unit {
        name: unit.name,
        role: match unit.role {
            FileRole::Visible => Role::Visible,
            FileRole::Hidden => Role::Hidden,
            FileRole::Input => Role::Input,
        },
        bias: unit.bias.0,
    });
    let edges = file.edges.into_iter().map(|FileEdge(a, b, weight)| (a.0, b.0, weight.0));
    let machine = Machine::new(units.collect(), edges)?;
    let machine = machine.with_temperature(file.temperature.0)?.with_offset(file.offset.0)?;
    Ok(Moderated::new(machine, moderators)?)
}

fn check_units(units: &[FileUnit]) -> Parsed<()> {
    let mut first = HashMap::with_capacity(units.len());
    for (k, unit) in units.iter().enumerate() {
        let place = Place::Entry("units", k);
        if unit.name.is_empty() {
            return Err(Fault::at(place, JsonProblem::NoName));
        }
        if let Some(first) = first.insert(&unit.name, k) {
            let name = Quoted::from(&unit.name[..]);
            return Err(Fault::at(place, JsonProblem::RepeatedName { name, first }));
        }
    }
    Ok(())
}

fn check_edges(edges: &[FileEdge], units: usize) -> Parsed<()> {
    // Edges in rising order, as they are written, cannot repeat.
    let pair = |edge: &FileEdge| (edge.0.0, edge.1.0);
    let is_rising = edges.windows(2).all(|both| pair(&both[0]) < pair(&both[1]));
    let mut seen = HashSet::with_capacity(if is_rising { 0 } else { edges.len() });
    for (k, edge) in edges.iter().enumerate() {
        let (a, b) = pair(edge);
        let problem = if a.max(b) >= units {
            JsonProblem::Position { found: a.max(b), units }
        } else if a == b {
            JsonProblem::SelfEdge(a)
        } else if a > b {
            JsonProblem::Unordered(a, b)
        } else if !is_rising && !seen.insert((a, b)) {
            let first = edges.iter().position(|edge| pair(edge) == (a, b)).unwrap_or(k);
            JsonProblem::RepeatedEdge { a, b, first }
        } else {
            continue;
        };
        return Err(Fault::at(Place::Entry("edges", k), problem));
    }
    Ok(())
}

/// The problem that the JSON reader found, and its place.
fn syntax(error: &serde_json::Error) -> Fault {
    let (line, column) = (error.line(), error.column());
    // The reader's message ends with the place, which comes first here.
    let message = error.to_string();
    let problem = message.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&message);
    let fault = Fault::at(Place::Character { line, column }, JsonProblem::Syntax(problem.to_owned()));
    if error.is_eof() { fault.with_hint(Hint::Truncated) } else { fault }
}

/// Writes a machine, one unit or edge on each line.
pub(super) fn write(machine: &Machine, encodings: &Encodings, output: &mut impl Write) -> io::Result<()> {
    write_with(machine, encodings, &[], output)
}

/// Writes a machine and how it changes with covariates.
pub(super) fn write_with(
    machine: &Machine,
    encodings: &Encodings,
    moderators: &[Moderator],
    output: &mut impl Write,
) -> io::Result<()> {
    // `{:?}` writes the shortest decimal number that is read back as the same f64.
    write!(output, "{{\"format\": \"{FORMAT}\", \"temperature\": {:?},", machine.temperature())?;
    // −0.0 is written too, so that reading gives the same bits.
    if machine.offset().to_bits() != 0 {
        write!(output, " \"offset\": {:?},", machine.offset())?;
    }
    if !encodings.is_empty() {
        write!(output, "\n \"encoding\": {{")?;
        for (k, (column, encoding)) in encodings.iter().enumerate() {
            write!(output, "{}", if k == 0 { "" } else { ", " })?;
            serde_json::to_writer(&mut *output, column)?;
            match encoding {
                Encoding::Above(above) => write!(output, ": {{\"above\": {above:?}}}")?,
                Encoding::Words(words) => {
                    write!(output, ": {{\"words\": ")?;
                    serde_json::to_writer(&mut *output, words)?;
                    write!(output, "}}")?;
                }
            }
        }
        write!(output, "}},")?;
    }
    write!(output, "\n \"units\": [")?;
    for unit in 0..machine.unit_count() {
        write!(output, "{}  {{\"name\": ", if unit == 0 { "\n" } else { ",\n" })?;
        serde_json::to_writer(&mut *output, machine.name(unit))?;
        write!(
            output,
            ", \"role\": \"{}\", \"bias\": {:?}}}",
            machine.roles()[unit],
            machine.biases()[unit]
        )?;
    }
    write!(output, "{}],\n \"edges\": [", if machine.unit_count() == 0 { "" } else { "\n " })?;
    for (k, (&(a, b), weight)) in machine.graph().edges().iter().zip(machine.weights()).enumerate() {
        write!(output, "{}  [{a}, {b}, {weight:?}]", if k == 0 { "\n" } else { ",\n" })?;
    }
    write!(output, "{}]", if machine.weights().is_empty() { "" } else { "\n " })?;
    for (k, moderator) in moderators.iter().enumerate() {
        write!(output, "{}  {{\"name\": ", if k == 0 { ",\n \"moderators\": [\n" } else { ",\n" })?;
        serde_json::to_writer(&mut *output, &moderator.name)?;
        write!(
            output,
            ", \"mean\": {:?}, \"deviation\": {:?},\n   \"biases\": {:?},\n   \"weights\": {:?}}}",
            moderator.mean, moderator.deviation, moderator.biases, moderator.weights
        )?;
    }
    writeln!(output, "{}}}", if moderators.is_empty() { "" } else { "\n ]" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_as_documented() {
        let units = vec![Unit { role: Role::Hidden, ..Unit::new("a\"", 0.1) }, Unit::new("b", -2.0)];
        let machine = Machine::new(units, [(0, 1, 1e-300)]).unwrap().with_offset(3.5).unwrap();
        let mut text = Vec::new();
        write(&machine, &Encodings::default(), &mut text).unwrap();
        let expected = r#"{"format": "isinglass/1", "temperature": 1.0, "offset": 3.5,
 "units": [
  {"name": "a\"", "role": "hidden", "bias": 0.1},
  {"name": "b", "role": "visible", "bias": -2.0}
 ],
 "edges": [
  [0, 1, 1e-300]
 ]}
"#;
        assert_eq!(String::from_utf8(text.clone()).unwrap(), expected);
        assert_eq!(read(&text).unwrap(), machine);
    }

    #[test]
    fn moderators_follow_the_edges_of_the_file() {
        let text = r#"{"format":"isinglass/1","temperature":1,"units":[{"name":"a"},{"name":"b"},{"name":"c"}],
            "edges":[[1,2,0.5],[0,1,0.25]],
            "moderators":[{"name":"age","mean":40,"deviation":10,"biases":[0,0.5,0],"weights":[0.1,0.2]}]}"#;
        let found = read_moderated(text.as_bytes()).unwrap();
        let old = found.at(&[("age", 50.0)]).unwrap();
        assert_eq!((old.weights(), old.biases()), (&[0.45, 0.6][..], &[0.0, 0.5, 0.0][..]));
        assert_eq!(read(text.as_bytes()).unwrap().weights(), [0.25, 0.5]);
        let mut again = Vec::new();
        write_with(found.base(), &Encodings::default(), found.moderators(), &mut again).unwrap();
        assert_eq!(read_moderated(&again).unwrap(), found);
        let short = text.replace("[0.1,0.2]", "[0.1]");
        assert!(read_moderated(short.as_bytes()).is_err());
    }

    #[test]
    fn encodings_are_kept_and_strangers_refused() {
        let machine = Machine::new(vec![Unit::new("a", 0.0), Unit::new("b\"", 0.0)], []).unwrap();
        let mut encodings = Encodings::default();
        encodings.set("b\"", Encoding::Words(["f".into(), "m,\"".into()]));
        encodings.set("a", Encoding::Above(-2.5));
        let mut text = Vec::new();
        write(&machine, &encodings, &mut text).unwrap();
        assert_eq!(read(&text).unwrap(), machine);
        let found = super::encodings(&text).unwrap();
        assert!(encodings.iter().all(|(column, encoding)| found.get(column) == Some(encoding)));
        let text =
            r#"{"format":"isinglass/1","temperature":1,"encoding":{"c":{"above":1}},"units":[],"edges":[]}"#;
        let fault = read(text.as_bytes()).unwrap_err();
        assert_eq!(fault.to_string(), "column 'c': has an encoding, and there is no unit of that name");
    }

    #[test]
    fn role_bias_and_offset_may_be_left_out() {
        let text = r#"{"format":"isinglass/1","temperature":2,"units":[{"name":"a"}],"edges":[]}"#;
        let machine = read(text.as_bytes()).unwrap();
        assert_eq!((machine.roles()[0], machine.biases()[0], machine.offset()), (Role::Visible, 0.0, 0.0));
        assert_eq!(machine.temperature(), 2.0);
    }
}
