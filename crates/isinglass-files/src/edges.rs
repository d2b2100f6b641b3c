//! Lists of edges: two names a line, and a weight where there is a third column.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use isinglass::{Graph, Machine, Unit};

use crate::error::{Fault, Parsed, quoted};
use crate::input::{bytes, without_mark};
use crate::network::HEADER;
use crate::{Error, Result};

/// Pairs of unit names, with weights or without.
#[derive(Debug, Clone, PartialEq)]
pub struct EdgeList {
    path: PathBuf,
    /// The lines on which the edges stand.
    lines: Vec<u64>,
    /// The pairs, in the file's order.
    pub pairs: Vec<(String, String)>,
    /// A weight for each pair, if the file has a third column.
    pub weights: Option<Vec<f64>>,
}

/// Read a CSV file (also `.gz`) of edges: `name,name` or `name,name,weight` on each line, no header; lines that begin with `#` are comments. A first line
/// that begins with `from,to,weight` is a header, as [`write_network`](crate::write_network) writes it, and what follows the weight is passed over.
///
/// # Errors
/// A line with another number of cells, an empty name, a weight that is no finite number; with the line.
///
/// # Example
/// ```
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("edges.csv");
/// std::fs::write(&path, "# who meets whom\nann,bob,0.5\nbob,cem,-1\n")?;
/// let machine = isinglass_files::read_edges(&path)?.machine()?;
/// assert_eq!(machine.names(), ["ann", "bob", "cem"]);
/// assert_eq!(machine.weights(), [0.5, -1.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_edges(path: &Path) -> Result<EdgeList> {
    let content = bytes(path)?;
    parse(path, without_mark(&content)).map_err(|fault| fault.reading(path))
}

fn parse(path: &Path, content: &[u8]) -> Parsed<EdgeList> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .comment(Some(b'#'))
        .trim(csv::Trim::All)
        .from_reader(content);
    let mut list = EdgeList { path: path.to_owned(), lines: Vec::new(), pairs: Vec::new(), weights: None };
    let mut weights = Vec::new();
    let mut width = None;
    let mut is_network = false;
    let (mut counted, mut passed) = (0, 0);
    let newlines = |text: &[u8]| text.split(|&byte| byte == b'\n').count() as u64 - 1;
    let mut record = csv::ByteRecord::new();
    loop {
        let more = reader.read_byte_record(&mut record);
        if !more.map_err(|error| Fault::whole(error.to_string()))? {
            break;
        }
        // The reader counts a record from the comments and blank lines before it; the line where it ends is the line that is meant.
        let read = &content[counted..reader.position().byte() as usize];
        let text = read.trim_ascii_end();
        let line = passed + 1 + newlines(text);
        passed += newlines(read);
        counted += read.len();
        let place = format!("line {line}");
        if width.is_none()
            && HEADER.iter().enumerate().all(|(k, word)| record.get(k) == Some(word.as_bytes()))
        {
            width = Some(record.len());
            is_network = true;
            continue;
        }
        let width = *width.get_or_insert(record.len());
        let is_known = is_network || (2..=3).contains(&width);
        if width != record.len() || !is_known {
            let expected = if is_network {
                format!("{width} as in the header")
            } else if is_known && !list.pairs.is_empty() {
                format!("{width} as on the lines before")
            } else {
                "two names, or two names and a weight".into()
            };
            let s = if record.len() == 1 { "" } else { "s" };
            return Err(Fault::new(place, format!("found {} cell{s}, expected {expected}", record.len())));
        }
        let name = |cell: &[u8]| match str::from_utf8(cell) {
            Ok("") => Err(Fault::new(place.clone(), "a name is empty")),
            Ok(name) => Ok(name.to_owned()),
            Err(_) => {
                Err(Fault::new(place.clone(), format!("found {}, expected text in UTF-8", quoted(cell))))
            }
        };
        list.pairs.push((name(&record[0])?, name(&record[1])?));
        list.lines.push(line);
        if let Some(cell) = record.get(2) {
            let number = str::from_utf8(cell).ok().and_then(|text| text.parse::<f64>().ok());
            let Some(number) = number.filter(|number| number.is_finite()) else {
                let problem = format!("found the weight {}, expected a finite number", quoted(cell));
                return Err(Fault::new(place, problem).with_hint(
                    "a list of edges has no header but from,to,weight; begin another with # to keep it",
                ));
            };
            weights.push(number);
        }
    }
    if list.pairs.is_empty() {
        return Err(Fault::whole("has no edges, expected two names on each line"));
    }
    list.weights = (!weights.is_empty()).then_some(weights);
    Ok(list)
}

impl EdgeList {
    /// The machine of these edges; units in the order in which they are first named, weights 0 where the file has none.
    ///
    /// # Errors
    /// A unit joined to itself or a pair that stands twice, with the line.
    pub fn machine(&self) -> Result<Machine> {
        let mut names: Vec<String> = Vec::new();
        let mut known = std::collections::HashSet::new();
        for name in self.pairs.iter().flat_map(|(a, b)| [a, b]) {
            if known.insert(name) {
                names.push(name.clone());
            }
        }
        let weight = |k: usize| self.weights.as_ref().map_or(0.0, |weights| weights[k]);
        let edges = self.positions_in(&names)?.into_iter().enumerate().map(|(k, (a, b))| (a, b, weight(k)));
        let units = names.iter().map(|name| Unit::new(name, 0.0)).collect();
        Machine::new(units, edges).map_err(|error| Fault::from(error).reading(&self.path))
    }

    /// The graph of these edges over units that are known.
    ///
    /// # Errors
    /// A name that is not among them, a unit joined to itself or a pair that stands twice, with the line.
    pub fn graph_over(&self, names: &[String]) -> Result<Graph> {
        let edges = self.positions_in(names)?;
        Graph::new(names.len(), edges).map_err(|error| Fault::from(error).reading(&self.path))
    }

    /// The positions of each pair; no pair twice, no unit joined to itself.
    fn positions_in(&self, names: &[String]) -> Result<Vec<(usize, usize)>> {
        let positions: HashMap<&str, usize> = names.iter().map(String::as_str).zip(0..).collect();
        let mut seen: HashMap<(usize, usize), u64> = HashMap::new();
        let fail = |line: u64, problem: String| -> Error {
            Fault::new(format!("line {line}"), problem).reading(&self.path)
        };
        let mut edges = Vec::with_capacity(self.pairs.len());
        for ((a, b), &line) in self.pairs.iter().zip(&self.lines) {
            let find = |name: &String| {
                positions.get(name.as_str()).copied().ok_or_else(|| {
                    let near = isinglass::machine::nearest(name, names);
                    let hint = near.map_or_else(String::new, |near| format!(" (did you mean '{near}'?)"));
                    fail(line, format!("there is no unit named {}{hint}", quoted(name.as_bytes())))
                })
            };
            let (a, b) = (find(a)?, find(b)?);
            if a == b {
                return Err(fail(line, "an edge cannot join a unit to itself".into()));
            }
            if let Some(first) = seen.insert((a.min(b), a.max(b)), line) {
                return Err(fail(
                    line,
                    format!("the same pair as on line {first}; each pair may stand once"),
                ));
            }
            edges.push((a, b));
        }
        Ok(edges)
    }
}
