//! Names and roles of units, and the lookup of units by name.

use std::hash::BuildHasher;

use hashbrown::DefaultHashBuilder;
use hashbrown::hash_table::{Entry, HashTable};

use super::Role;
use crate::{Error, Result};

/// Names and roles of the units, shared between machines.
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

/// Positions by name, without a second copy of the names.
#[derive(Debug, Clone, Default)]
struct Positions {
    table: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl Positions {
    fn get(&self, names: &[String], name: &str) -> Option<usize> {
        let hash = self.hasher.hash_one(name);
        self.table.find(hash, |&at| names[at as usize] == name).map(|&at| at as usize)
    }

    /// Fails with the two positions of a repeated name.
    fn of(names: &[String]) -> std::result::Result<Self, (usize, usize)> {
        let (mut table, hasher) = (HashTable::with_capacity(names.len()), DefaultHashBuilder::default());
        for (position, own) in names.iter().enumerate() {
            let hash = |at: &u32| hasher.hash_one(&names[*at as usize]);
            match table.entry(hasher.hash_one(own), |&at| &names[at as usize] == own, hash) {
                Entry::Occupied(known) => return Err((*known.get() as usize, position)),
                Entry::Vacant(entry) => _ = entry.insert(position as u32),
            }
        }
        Ok(Self { table, hasher })
    }
}
