//! A unit of a machine: its name, role and value.

use std::fmt;
use std::str::FromStr;

use crate::{Error, Result};

/// The role of a unit in learning and scoring.
///
/// # Example
/// ```
/// use isinglass::Role;
/// assert_eq!("hidden".parse::<Role>()?, Role::Hidden);
/// assert_eq!(Role::Input.to_string(), "input");
/// # Ok::<(), isinglass::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Role {
    /// Observed, and its distribution is modelled.
    #[default]
    Visible,
    /// Never observed.
    Hidden,
    /// Observed, but its own distribution is not modelled: everything is conditional on it.
    Input,
}

impl Role {
    /// All roles, in the order of lists for users.
    pub const ALL: [Role; 3] = [Role::Visible, Role::Hidden, Role::Input];

    /// The word for the role in files and messages.
    pub fn word(self) -> &'static str {
        match self {
            Self::Visible => "visible",
            Self::Hidden => "hidden",
            Self::Input => "input",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for Role {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|role| role.word() == word).ok_or_else(|| {
            let problem = format!("found '{word}', expected visible, hidden or input");
            Error::invalid("role", problem)
        })
    }
}

/// One unit of a machine: name, role and bias.
///
/// # Example
/// ```
/// use isinglass::{Role, Unit};
/// let unit = Unit { role: Role::Hidden, ..Unit::new("h1", 0.25) };
/// assert_eq!((unit.name.as_str(), unit.bias), ("h1", 0.25));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Unit {
    /// The name, distinct within the machine.
    pub name: String,
    /// The role in learning and scoring.
    pub role: Role,
    /// θ, the weight of the edge to the unit 0 that is always +1.
    pub bias: f64,
}

impl Unit {
    /// A visible unit.
    pub fn new(name: impl Into<String>, bias: f64) -> Self {
        Self { name: name.into(), role: Role::Visible, bias }
    }
}

/// The value of a unit.
///
/// # Example
/// ```
/// use isinglass::Spin;
/// assert_eq!((Spin::Up.value(), -Spin::Up), (1, Spin::Down));
/// assert_eq!((Spin::of(-1), Spin::of(0)), (Some(Spin::Down), None));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Spin {
    /// −1.
    Down,
    /// +1.
    Up,
}

impl Spin {
    /// −1 or +1.
    pub fn value(self) -> i8 {
        match self {
            Self::Down => -1,
            Self::Up => 1,
        }
    }

    /// The spin of a value, if it is −1 or +1.
    pub fn of(value: i8) -> Option<Self> {
        match value {
            -1 => Some(Self::Down),
            1 => Some(Self::Up),
            _ => None,
        }
    }
}

impl std::ops::Neg for Spin {
    type Output = Self;

    fn neg(self) -> Self {
        match self {
            Self::Down => Self::Up,
            Self::Up => Self::Down,
        }
    }
}
