//! A machine's couplings as a list for people and network software.

use std::io::{self, Write};

use isinglass::Machine;

use crate::table::{end_line, push_text};

/// The header that every such file begins with; more columns may follow.
pub(crate) const HEADER: [&str; 3] = ["from", "to", "weight"];

/// Writes the couplings that are not 0 as CSV, the strongest first.
///
/// Units have the names that are given, which are those of the machine or what a reader needs in
/// their place. The columns are `from,to,weight,sign`, and one for each further measure, which has a number for
/// every edge of the machine.
/// [`read_edges`](crate::read_edges) reads the file again.
///
/// # Example
/// ```
/// use isinglass::{Machine, Unit};
/// let units = ["ann", "bob", "cem"].map(|name| Unit::new(name, 0.0));
/// let machine = Machine::new(units.into(), [(0, 1, 0.25), (0, 2, 0.0), (1, 2, -0.5)])?;
/// let mut bytes = Vec::new();
/// isinglass_files::write_network(&machine, machine.names(), &[("lower", &[0.125, 0.0, -0.75])], &mut bytes)?;
/// assert_eq!(
///     String::from_utf8(bytes)?,
///     "from,to,weight,sign,lower\nbob,cem,-0.5,negative,-0.75\nann,bob,0.25,positive,0.125\n"
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The output cannot be written to.
pub fn write_network(
    machine: &Machine,
    names: &[String],
    measures: &[(&str, &[f64])],
    output: &mut (impl Write + ?Sized),
) -> io::Result<()> {
    let mut line = Vec::new();
    for name in HEADER.into_iter().chain(["sign"]).chain(measures.iter().map(|(name, _)| *name)) {
        push_text(&mut line, name.as_bytes(), b',');
        line.push(b',');
    }
    end_line(&mut line);
    output.write_all(&line)?;
    let weights = machine.weights();
    let mut order: Vec<usize> = (0..weights.len()).filter(|&edge| weights[edge] != 0.0).collect();
    order.sort_by(|&a, &b| weights[b].abs().total_cmp(&weights[a].abs()));
    for edge in order {
        line.clear();
        let (a, b) = machine.graph().edges()[edge];
        for unit in [a, b] {
            push_text(&mut line, names[unit].as_bytes(), b',');
            line.push(b',');
        }
        let weight = weights[edge];
        write!(line, "{weight},{},", if weight > 0.0 { "positive" } else { "negative" })?;
        for (_, numbers) in measures {
            write!(line, "{},", numbers[edge])?;
        }
        end_line(&mut line);
        output.write_all(&line)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use isinglass::Unit;

    use super::*;
    use crate::read_edges;

    #[test]
    fn a_network_is_read_again_whatever_its_units_are_called() {
        let names = ["#1", "from", "a, b", "say \"no\"", "x y"];
        let units = names.map(|name| Unit::new(name, 0.0));
        let edges = [(0, 1, 1.0 / 3.0), (1, 2, -2.0), (2, 3, 1e-300), (3, 4, 0.25), (0, 4, 7.5)];
        let machine = Machine::new(units.into(), edges).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("network.csv");
        let mut bytes = Vec::new();
        write_network(
            &machine,
            machine.names(),
            &[("upper", &[0.0, f64::INFINITY, 1.0, 2.0, 3.0])],
            &mut bytes,
        )
        .unwrap();
        std::fs::write(&path, bytes).unwrap();
        let list = read_edges(&path).unwrap();
        let position = |name: &String| names.iter().position(|other| other == name).unwrap();
        let weights = list.weights.clone().unwrap();
        let read = list.pairs.iter().zip(&weights).map(|((a, b), &w)| (position(a), position(b), w));
        let mut read: Vec<_> = read.collect();
        assert!(weights.windows(2).all(|pair| pair[0].abs() >= pair[1].abs()));
        read.sort_by_key(|&(a, b, _)| (a, b));
        let mut expected = edges.to_vec();
        expected.sort_by_key(|&(a, b, _)| (a, b));
        assert_eq!(read, expected);
    }
}
