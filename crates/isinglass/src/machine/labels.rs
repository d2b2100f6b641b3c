//! Names and roles of units, and the way from a name to its unit.

use std::hash::BuildHasher;

use hashbrown::DefaultHashBuilder;
use hashbrown::hash_table::{Entry, HashTable};

use super::Role;
use crate::{Error, Result};

/// What units are called and what they are for; shared between machines.
#[derive(Debug)]
pub(super) struct Labels {
    pub(super) names: Vec<String>,
    pub(super) roles: Vec<Role>,
    positions: Positions,
}

impl PartialEq for Labels {
    fn eq(&self, other: &Self) -> bool {
        self.names == other.names && self.roles == other.roles
    }
}

impl Labels {
    pub(super) fn new(names: Vec<String>, roles: Vec<Role>) -> Result<Self> {
        if let Some(k) = names.iter().position(String::is_empty) {
            return Err(Error::invalid(format!("unit {k}"), "the name is empty"));
        }
        let positions = Positions::of(&names).map_err(|(first, again)| {
            let problem = format!("the name is already that of unit {first}");
            Error::invalid(format!("unit {again} '{}'", names[again]), problem)
        })?;
        Ok(Self { names, roles, positions })
    }

    /// Visible units named `x0`, `x1`, ….
    pub(super) fn numbered(n: usize) -> Self {
        let names: Vec<String> = (0..n).map(|k| format!("x{k}")).collect();
        // Names with different numbers differ.
        let positions = Positions::of(&names).unwrap_or_default();
        Self { names, roles: vec![Role::Visible; n], positions }
    }

    pub(super) fn with_roles(&self, roles: Vec<Role>) -> Self {
        Self { names: self.names.clone(), roles, positions: self.positions.clone() }
    }

    /// The unit with a name.
    pub(super) fn position(&self, name: &str) -> Option<usize> {
        self.positions.get(&self.names, name)
    }
}

/// The unit with a name, without keeping names a second time.
#[derive(Debug, Clone, Default)]
struct Positions {
    table: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl Positions {
    /// The position of a name, if it is known.
    fn get(&self, names: &[String], name: &str) -> Option<usize> {
        let hash = self.hasher.hash_one(name);
        self.table.find(hash, |&at| names[at as usize] == name).map(|&at| at as usize)
    }

    /// Add the name at a position, unless it is known.
    fn insert(&mut self, names: &[String], position: usize) -> std::result::Result<(), usize> {
        let name = |at: u32| names[at as usize].as_str();
        let own = name(position as u32);
        let hash = |at: &u32| self.hasher.hash_one(name(*at));
        match self.table.entry(self.hasher.hash_one(own), |&at| name(at) == own, hash) {
            Entry::Occupied(known) => Err(*known.get() as usize),
            Entry::Vacant(room) => {
                room.insert(position as u32);
                Ok(())
            }
        }
    }

    fn of(names: &[String]) -> std::result::Result<Self, (usize, usize)> {
        let table = HashTable::with_capacity(names.len());
        let mut positions = Self { table, hasher: DefaultHashBuilder::default() };
        for position in 0..names.len() {
            positions.insert(names, position).map_err(|first| (first, position))?;
        }
        Ok(positions)
    }
}
