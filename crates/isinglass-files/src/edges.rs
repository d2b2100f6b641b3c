//! Lists of edges: two names on each line, and a weight where there is a third column.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};

use isinglass::{Budget, Graph, Machine, Unit};

use crate::Result;
use crate::error::{Fault, Hint, Near, Parsed, Place, Quoted};
use crate::input::{bytes, without_mark};
use crate::network::HEADER;

/// What can be wrong with a list of edges.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EdgeProblem {
    #[error("has no edges, expected two names on each line")]
    Empty,
    #[error(transparent)]
    Unreadable(csv::Error),
    #[error("found {found} cell{}, expected {expected}", if *.found == 1 { "" } else { "s" })]
    Width { found: usize, expected: Width },
    #[error("a name is empty")]
    NoName,
    #[error("found {0}, expected text in UTF-8")]
    NotUtf8(Quoted),
    #[error("found the weight {0}, expected a finite number")]
    Weight(Quoted),
    #[error("there is no unit named {0}{1}")]
    UnknownUnit(Quoted, Near),
    #[error("an edge cannot join a unit to itself")]
    SelfEdge,
    #[error("the same pair as on line {0}, expected each pair once")]
    Repeated(u64),
}

/// How many cells a line of edges has.
#[derive(Debug)]
pub(crate) enum Width {
    Any,
    AsBefore(usize),
    AsHeader(usize),
}

impl fmt::Display for Width {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("two names, or two names and a weight"),
            Self::AsBefore(width) => write!(f, "{width} as on the lines before"),
            Self::AsHeader(width) => write!(f, "{width} as in the header"),
        }
    }
}

/// Pairs of unit names, with weights or without.
#[derive(Debug, Clone, PartialEq)]
pub struct EdgeList {
    path: PathBuf,
    /// The line of each edge.
    lines: Vec<u64>,
    /// The pairs, in the file's order.
    pub pairs: Vec<(String, String)>,
    /// A weight for each pair, if the file has a third column.
    pub weights: Option<Vec<f64>>,
}

/// Reads a CSV file (also `.gz`) of edges.
///
/// Each line is `name,name` or `name,name,weight`, without a header; lines that begin with `#` are
/// comments. A first line that begins with `from,to,weight` is a header, as
/// [`write_network`](crate::write_network) writes it, and columns after the weight are ignored.
///
/// # Errors
/// A line with another number of cells, an empty name, a weight that is not a finite number; with
/// the line.
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
    let content = bytes(path, Budget::default())?;
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
        if !more.map_err(EdgeProblem::Unreadable)? {
            break;
        }
        // The reader counts a record from the comments and blank lines before it; users look for
        // the line where it ends.
        let read = &content[counted..reader.position().byte() as usize];
        let text = read.trim_ascii_end();
        let line = passed + 1 + newlines(text);
        passed += newlines(read);
        counted += read.len();
        let place = || Place::Line(line);
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
                Width::AsHeader(width)
            } else if is_known && !list.pairs.is_empty() {
                Width::AsBefore(width)
            } else {
                Width::Any
            };
            return Err(Fault::at(place(), EdgeProblem::Width { found: record.len(), expected }));
        }
        let name = |cell: &[u8]| match str::from_utf8(cell) {
            Ok("") => Err(Fault::at(place(), EdgeProblem::NoName)),
            Ok(name) => Ok(name.to_owned()),
            Err(_) => Err(Fault::at(place(), EdgeProblem::NotUtf8(Quoted::new(cell)))),
        };
        list.pairs.push((name(&record[0])?, name(&record[1])?));
        list.lines.push(line);
        if let Some(cell) = record.get(2) {
            let number = str::from_utf8(cell).ok().and_then(|text| text.parse::<f64>().ok());
            let Some(number) = number.filter(|number| number.is_finite()) else {
                let fault = Fault::at(place(), EdgeProblem::Weight(Quoted::new(cell)));
                return Err(fault.with_hint(Hint::EdgeHeader));
            };
            weights.push(number);
        }
    }
    if list.pairs.is_empty() {
        return Err(EdgeProblem::Empty.into());
    }
    list.weights = (!weights.is_empty()).then_some(weights);
    Ok(list)
}

impl EdgeList {
    /// Builds the machine of these edges: units in the order in which they are first named, weights
    /// 0 where the file has none.
    ///
    /// # Errors
    /// A unit joined to itself or a repeated pair, with the line.
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

    /// Builds the graph of these edges over the given units.
    ///
    /// # Errors
    /// A name that is not among them, a unit joined to itself or a repeated pair, with the line.
    pub fn graph_over(&self, names: &[String]) -> Result<Graph> {
        let edges = self.positions_in(names)?;
        Graph::new(names.len(), edges).map_err(|error| Fault::from(error).reading(&self.path))
    }

    /// The positions of each pair, checked for repeated pairs and self-edges.
    fn positions_in(&self, names: &[String]) -> Result<Vec<(usize, usize)>> {
        let positions: HashMap<&str, usize> = names.iter().map(String::as_str).zip(0..).collect();
        let mut seen: HashMap<(usize, usize), u64> = HashMap::new();
        let fail =
            |line: u64, problem: EdgeProblem| Fault::at(Place::Line(line), problem).reading(&self.path);
        let mut edges = Vec::with_capacity(self.pairs.len());
        for ((a, b), &line) in self.pairs.iter().zip(&self.lines) {
            let find = |name: &String| {
                positions.get(name.as_str()).copied().ok_or_else(|| {
                    fail(line, EdgeProblem::UnknownUnit(Quoted::from(&name[..]), Near::to(name, names)))
                })
            };
            let (a, b) = (find(a)?, find(b)?);
            if a == b {
                return Err(fail(line, EdgeProblem::SelfEdge));
            }
            if let Some(first) = seen.insert((a.min(b), a.max(b)), line) {
                return Err(fail(line, EdgeProblem::Repeated(first)));
            }
            edges.push((a, b));
        }
        Ok(edges)
    }
}
