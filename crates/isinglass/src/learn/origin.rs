//! What a checkpoint belongs to: the start, the table, the learner and its settings.

use std::cell::OnceCell;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::Checkpoint;
use crate::{Error, Machine, Result, Role, Table};

/// What a fit is made from: its checkpoints are refused elsewhere.
///
/// Limits are no part of it: a fit may be resumed with more iterations, a smaller tolerance or a
/// larger budget.
#[derive(Clone)]
pub(super) struct Origin<'a> {
    learner: &'static str,
    start: &'a Machine,
    table: &'a Table,
    /// By name, in words.
    settings: Vec<(&'static str, String)>,
    /// A table may be large: it is read when the first state is taken.
    print: OnceCell<Print>,
}

/// The origin in short.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
struct Print {
    structure: u64,
    numbers: u64,
    table: u64,
    settings: Vec<(String, String)>,
}

impl<'a> Origin<'a> {
    /// *Arguments*: the name of the learner; the start; the table; every setting on which the bits
    /// of a fit depend, by name.
    pub(super) fn new(
        learner: &'static str,
        start: &'a Machine,
        table: &'a Table,
        settings: impl IntoIterator<Item = (&'static str, String)>,
    ) -> Self {
        Self { learner, start, table, settings: settings.into_iter().collect(), print: OnceCell::new() }
    }

    /// A state of a fit from here.
    pub(super) fn state(&self, kept: &impl Serialize) -> Result<Checkpoint> {
        Checkpoint::of(self.learner, &(self.print(), kept))
    }

    /// What was kept in a state.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a state of another learner, start or table, or of other settings: it
    /// says which.
    pub(super) fn read<T: DeserializeOwned>(&self, state: &Checkpoint) -> Result<T> {
        // Before what the learner kept is read: another one's could be anything.
        let print: Print = state.head(self.learner)?;
        if let Some(difference) = self.print().difference(&print) {
            return Err(Error::checkpoint(difference));
        }
        let (_, kept): (Print, T) = state.read(self.learner)?;
        Ok(kept)
    }

    /// What was kept in a state of a fit by the same learner of a machine with the same structure,
    /// whatever its numbers, table and settings were.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a state of another learner or structure.
    pub(super) fn read_of_structure<T: DeserializeOwned>(&self, state: &Checkpoint) -> Result<T> {
        let print: Print = state.head(self.learner)?;
        let own = self.print();
        let likened = Print { structure: print.structure, ..own.clone() };
        if let Some(difference) = own.difference(&likened) {
            return Err(Error::checkpoint(difference));
        }
        let (_, kept): (Print, T) = state.read(self.learner)?;
        Ok(kept)
    }

    fn print(&self) -> &Print {
        self.print.get_or_init(|| Print {
            structure: structure(self.start),
            numbers: numbers(self.start),
            table: cells(self.table),
            settings: self.settings.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect(),
        })
    }
}

impl Print {
    /// In what another one differs, in words.
    fn difference(&self, other: &Self) -> Option<String> {
        if self.table != other.table {
            return Some("it is of a fit to another table".into());
        }
        if self.structure != other.structure {
            return Some(
                "it is of a machine with other units, couplings, roles or another temperature".into(),
            );
        }
        for (name, value) in &self.settings {
            match other.settings.iter().find(|(known, _)| known == name) {
                Some((_, old)) if old == value => {}
                Some((_, old)) => {
                    return Some(format!("it is of a fit with {name} {old}, and this one has {value}"));
                }
                None => return Some(format!("it is of a fit without {name}, and this one has {value}")),
            }
        }
        if self.settings.len() != other.settings.len() {
            return Some("it is of a fit with other settings".into());
        }
        (self.numbers != other.numbers).then(|| "it is of a fit that began with other numbers".into())
    }
}

/// Here alone, so that no state goes without its origin.
impl Checkpoint {
    /// The state of a learner.
    fn of(learner: &'static str, state: &impl Serialize) -> Result<Self> {
        let bytes = postcard::to_stdvec(state).map_err(|error| broken(learner, &error))?;
        Ok(Self { learner: learner.to_owned(), bytes })
    }

    /// The learner's state.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a state of another learner, or one that was damaged.
    fn read<T: DeserializeOwned>(&self, learner: &'static str) -> Result<T> {
        self.check(learner)?;
        match postcard::take_from_bytes(&self.bytes) {
            Ok((kept, [])) => Ok(kept),
            Ok(_) => Err(broken(learner, &postcard::Error::DeserializeBadEncoding)),
            Err(error) => Err(broken(learner, &error)),
        }
    }

    /// The first part of the learner's state.
    ///
    /// # Errors
    /// As for [`read`](Self::read).
    fn head<T: DeserializeOwned>(&self, learner: &'static str) -> Result<T> {
        self.check(learner)?;
        postcard::take_from_bytes(&self.bytes).map(|(head, _)| head).map_err(|error| broken(learner, &error))
    }

    fn check(&self, learner: &'static str) -> Result<()> {
        if self.learner == learner {
            return Ok(());
        }
        let problem = format!("found the state of the learner {}, expected one of {learner}", self.learner);
        Err(Error::checkpoint(problem))
    }
}

fn broken(learner: &str, error: &postcard::Error) -> Error {
    Error::checkpoint(format!("it is not one of the learner {learner}: {error}"))
}

fn structure(machine: &Machine) -> u64 {
    let mut hash = Hash::new();
    hash.number(machine.unit_count() as u64);
    for &(a, b) in machine.graph().edges() {
        hash.number(a as u64);
        hash.number(b as u64);
    }
    for (name, role) in machine.names().iter().zip(machine.roles()) {
        hash.bytes(name.as_bytes());
        hash.number(match role {
            Role::Visible => 0,
            Role::Hidden => 1,
            Role::Input => 2,
        });
    }
    hash.number(machine.temperature().to_bits());
    hash.0
}

fn numbers(machine: &Machine) -> u64 {
    let mut hash = Hash::new();
    let all = machine.weights().iter().chain(machine.biases());
    all.for_each(|number| hash.number(number.to_bits()));
    hash.number(machine.offset().to_bits());
    hash.0
}

fn cells(table: &Table) -> u64 {
    let mut hash = Hash::new();
    table.columns().iter().for_each(|column| hash.bytes(column.as_bytes()));
    for row in 0..table.distinct_count() {
        // Two bits a cell.
        for cells in table.row(row).chunks(32) {
            hash.number(cells.iter().fold(0, |word, &cell| word << 2 | u64::from(cell.cast_unsigned() & 3)));
        }
        hash.number(table.weight(row).to_bits());
    }
    hash.0
}

/// A hash that is the same in every version of the program and on every machine: after FNV-1a, by
/// words of 64 bits, whose high bits are folded into the low ones.
struct Hash(u64);

impl Hash {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn number(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(0x0000_0100_0000_01b3);
        self.0 ^= self.0 >> 32;
    }

    /// With their number, so that what is put in one after another cannot be cut in another way.
    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        for &byte in bytes {
            self.number(u64::from(byte));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology;

    fn machine() -> Machine {
        topology::chain(3).with_names(["a", "b", "c"]).unwrap()
    }

    fn table() -> Table {
        Table::from_rows(["a", "b", "c"], [[1, 1, -1], [1, 0, 1]]).unwrap()
    }

    #[test]
    fn a_state_goes_on_from_its_own_origin_only_and_the_error_says_in_what_others_differ() {
        let (start, rows) = (machine(), table());
        let settings = || [("l2", format!("{:?}", 0.5))];
        let state = Origin::new("likelihood", &start, &rows, settings()).state(&7u8).unwrap();
        let read = |learner, start: &Machine, rows: &Table, settings: Vec<(&'static str, String)>| {
            Origin::new(learner, start, rows, settings).read::<u8>(&state).map_err(|error| error.to_string())
        };
        assert_eq!(read("likelihood", &machine(), &table(), settings().into()), Ok(7));
        let refused = |found: Result<u8, String>, words: &str| {
            let message = found.unwrap_err();
            assert!(message.contains(words), "{message}");
        };
        refused(read("factorized", &start, &rows, settings().into()), "the learner likelihood");
        let other = Table::from_rows(["a", "b", "c"], [[1, 1, -1], [1, -1, 1]]).unwrap();
        refused(read("likelihood", &start, &other, settings().into()), "another table");
        let mut heavier = table();
        heavier.push(&[1, 1, -1], 0.5).unwrap();
        refused(read("likelihood", &start, &heavier, settings().into()), "another table");
        let cooler = machine().with_temperature(0.5).unwrap();
        refused(read("likelihood", &cooler, &rows, settings().into()), "temperature");
        let ring = topology::full(3).with_names(["a", "b", "c"]).unwrap();
        refused(read("likelihood", &ring, &rows, settings().into()), "couplings");
        let moved = machine().with_parameters(vec![0.0; 2], vec![0.0, 1e-300, 0.0]).unwrap();
        refused(read("likelihood", &moved, &rows, settings().into()), "other numbers");
        refused(
            read("likelihood", &start, &rows, vec![("l2", "0.25".into())]),
            "l2 0.5, and this one has 0.25",
        );
        refused(read("likelihood", &start, &rows, vec![]), "other settings");
        let engine = vec![("l2", "0.5".into()), ("engine", "gibbs".into())];
        refused(read("likelihood", &start, &rows, engine), "without engine");
    }

    #[test]
    fn a_state_gives_back_every_bit_and_to_its_learner_alone() {
        let numbers = vec![0.1, -0.0, f64::INFINITY, f64::MIN_POSITIVE, 1.0 / 3.0];
        let state = Checkpoint::of("likelihood", &(7usize, numbers.clone())).unwrap();
        let (count, read): (usize, Vec<f64>) = state.read("likelihood").unwrap();
        assert_eq!(count, 7);
        assert!(read.iter().zip(&numbers).all(|(a, b)| a.to_bits() == b.to_bits()));
        let other = state.read::<(usize, Vec<f64>)>("factorized").unwrap_err().to_string();
        assert!(other.contains("likelihood") && other.contains("factorized"), "{other}");
        assert!(state.read::<Vec<Vec<f64>>>("likelihood").is_err());
    }

    #[test]
    fn the_hash_is_the_same_for_ever() {
        let mut hash = Hash::new();
        hash.bytes(b"isinglass");
        hash.number(1.5f64.to_bits());
        assert_eq!(hash.0, 10_121_113_306_212_545_504);
    }
}
