//! Machines as JSON, format `isinglass/1`: everything is kept, bit for bit.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};

use isinglass::{Machine, Role, Unit};
use serde::{Deserialize, Deserializer};

use crate::error::{Fault, Parsed, one_line, quoted};
use crate::input::without_mark;

/// The one format that is known.
const FORMAT: &str = "isinglass/1";

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a machine: an object with format, temperature, units and edges")]
struct File {
    #[serde(rename = "format", deserialize_with = "known_format")]
    _format: (),
    temperature: f64,
    #[serde(default)]
    offset: f64,
    units: Vec<FileUnit>,
    edges: Vec<FileEdge>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a unit: an object with name, role and bias")]
struct FileUnit {
    name: String,
    #[serde(default)]
    role: FileRole,
    #[serde(default)]
    bias: f64,
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
struct FileEdge(usize, usize, f64);

fn known_format<'de, D: Deserializer<'de>>(from: D) -> Result<(), D::Error> {
    let found = String::deserialize(from)?;
    if found == FORMAT {
        return Ok(());
    }
    let found = quoted(found.as_bytes());
    Err(serde::de::Error::custom(format!("found the format {found}, expected '{FORMAT}'")))
}

/// Read a machine from the text of a file.
pub(super) fn read(text: &[u8]) -> Parsed<Machine> {
    let text = without_mark(text);
    if text.trim_ascii().is_empty() {
        return Err(Fault::whole("is empty, expected a machine in JSON"));
    }
    let parse = || serde_json::from_slice::<File>(text).map_err(|error| syntax(&error));
    let file = parse()?;
    check_edges(&file.edges, file.units.len())?;
    // A machine checks names itself; only where one is refused, the file is looked at again for the place.
    built(file).or_else(|fault| check_units(&parse()?.units).and(Err(fault)))
}

fn built(file: File) -> Parsed<Machine> {
    let units = file.units.into_iter().map(|unit| Unit {
        name: unit.name,
        role: match unit.role {
            FileRole::Visible => Role::Visible,
            FileRole::Hidden => Role::Hidden,
            FileRole::Input => Role::Input,
        },
        bias: unit.bias,
    });
    let edges = file.edges.into_iter().map(|FileEdge(a, b, weight)| (a, b, weight));
    let machine =
        Machine::new(units.collect(), edges)?.with_temperature(file.temperature)?.with_offset(file.offset)?;
    Ok(machine)
}

fn check_units(units: &[FileUnit]) -> Parsed<()> {
    let mut first = HashMap::with_capacity(units.len());
    for (k, unit) in units.iter().enumerate() {
        if unit.name.is_empty() {
            return Err(Fault::new(format!("units[{k}]"), "the name is empty"));
        }
        if let Some(other) = first.insert(&unit.name, k) {
            let name = quoted(unit.name.as_bytes());
            let problem = format!("the name {name} is already that of units[{other}], expected another");
            return Err(Fault::new(format!("units[{k}]"), problem));
        }
    }
    Ok(())
}

fn check_edges(edges: &[FileEdge], units: usize) -> Parsed<()> {
    // Edges in rising order, as they are written, cannot repeat.
    let pair = |edge: &FileEdge| (edge.0, edge.1);
    let is_rising = edges.windows(2).all(|both| pair(&both[0]) < pair(&both[1]));
    let mut seen = HashSet::with_capacity(if is_rising { 0 } else { edges.len() });
    for (k, &FileEdge(a, b, _)) in edges.iter().enumerate() {
        let problem = if a.max(b) >= units {
            format!("found position {}, and there are {units} units, counted from 0", a.max(b))
        } else if a == b {
            format!("joins unit {a} to itself, expected two units")
        } else if a > b {
            format!("found the positions {a}, {b}, expected the smaller first: {b}, {a}")
        } else if !is_rising && !seen.insert((a, b)) {
            let other = edges.iter().position(|edge| (edge.0, edge.1) == (a, b)).unwrap_or(k);
            format!(
                "found the positions {a}, {b} again, expected each pair once (it stands in edges[{other}])"
            )
        } else {
            continue;
        };
        return Err(Fault::new(format!("edges[{k}]"), problem));
    }
    Ok(())
}

/// What the JSON reader has to say, in this project's words.
fn syntax(error: &serde_json::Error) -> Fault {
    let (line, column) = (error.line(), error.column());
    let message = error.to_string();
    let message = message.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&message);
    let problem = match message.split_once(", expected ") {
        Some((found, "f64")) => format!("{found}, expected a finite number"),
        Some((found, "usize")) => {
            format!("{found}, expected a position in `units`, counted from 0")
        }
        _ => message.to_owned(),
    };
    let place = format!("line {line}, column {column}");
    let fault = Fault::new(place, one_line(&problem));
    if error.is_eof() {
        return fault.with_hint("the file may be truncated");
    }
    fault
}

/// Write a machine, one unit and one edge a line.
pub(super) fn write(machine: &Machine, output: &mut impl Write) -> io::Result<()> {
    // `{:?}` writes the shortest decimal number that is read back as the same f64.
    write!(output, "{{\"format\": \"{FORMAT}\", \"temperature\": {:?},", machine.temperature())?;
    // Kept apart from 0.0 by its sign too, so that reading gives the same bits.
    if machine.offset().to_bits() != 0 {
        write!(output, " \"offset\": {:?},", machine.offset())?;
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
    writeln!(output, "{}]}}", if machine.weights().is_empty() { "" } else { "\n " })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_look_as_documented() {
        let units = vec![Unit { role: Role::Hidden, ..Unit::new("a\"", 0.1) }, Unit::new("b", -2.0)];
        let machine = Machine::new(units, [(0, 1, 1e-300)]).unwrap().with_offset(3.5).unwrap();
        let mut text = Vec::new();
        write(&machine, &mut text).unwrap();
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
    fn role_bias_and_offset_may_be_left_out() {
        let text = r#"{"format":"isinglass/1","temperature":2,"units":[{"name":"a"}],"edges":[]}"#;
        let machine = read(text.as_bytes()).unwrap();
        assert_eq!((machine.roles()[0], machine.biases()[0], machine.offset()), (Role::Visible, 0.0, 0.0));
        assert_eq!(machine.temperature(), 2.0);
    }
}
