//! Machines as NumPy arrays in a zip archive: `weights` (n×n), `bias`, `names`, and more.
//!
//! | array | shape | holds |
//! |---|---|---|
//! | `weights` | n×n | symmetric, zero diagonal |
//! | `bias` | n | θ |
//! | `names` | n | text; without it, `x0`, `x1`, … |
//! | `roles` | n | text; without it, all units are visible |
//! | `temperature`, `offset` | one number | 1 and 0 without them |
//! | `edges` | k×2 | positions; without it, the edges are the nonzero weights |

mod read;
mod write;

pub(super) use read::read;
pub(super) use write::write;

use std::io;

use isinglass::Budget;
use zip::result::ZipError;

use crate::error::{Near, Quoted};

/// The arrays that are known.
const ARRAYS: [&str; 7] = ["weights", "bias", "names", "roles", "temperature", "offset", "edges"];

/// What can be wrong with a machine in an NPZ archive, or with one that is written as such.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NpzProblem {
    #[error("is not a readable NPZ archive: {0}")]
    Unreadable(ZipError),
    #[error("cannot be unpacked: {0}")]
    Packed(io::Error),
    #[error("has more than {} unpacked, and the budget is {budget}", Budget::bytes(u128::from(*.read)))]
    Unpacked { read: u64, budget: Budget },
    #[error("there is no memory for more than {} of it", Budget::bytes(u128::from(*.read)))]
    NoMemory { read: u64 },
    #[error("is unknown{0}, expected some of {known}", known = ARRAYS.join(", "))]
    UnknownArray(Near),
    #[error("is missing, expected one number for each unit")]
    NoBias,
    #[error("is missing, expected a matrix of units by units")]
    NoWeights,
    #[error("found text, expected numbers")]
    Text,
    #[error("found numbers, expected text")]
    Numbers,
    #[error("found {0} numbers, expected one")]
    NotSingle(usize),
    #[error("found the shape {found:?}, expected {expected:?}")]
    Shape { found: Vec<usize>, expected: Vec<usize> },
    #[error("found the shape {0:?}, expected one dimension")]
    NotVector(Vec<usize>),
    #[error("found the shape {0:?}, expected (edges, 2)")]
    NotPairs(Vec<usize>),
    #[error("found {0}, expected a finite number")]
    NotFinite(f64),
    #[error("found {0}, expected visible, hidden or input")]
    Role(Quoted),
    #[error("found {found}, expected a position among the {units} units, counted from 0")]
    Position { found: f64, units: usize },
    #[error("joins unit {0} to itself, expected two units")]
    SelfEdge(usize),
    #[error("found {0}, expected 0: a unit is not joined to itself")]
    Diagonal(f64),
    #[error("found {weight}, but weights[{j}, {i}] is {mirrored}: expected a symmetric matrix")]
    Asymmetric { i: usize, j: usize, weight: f64, mirrored: f64 },
    #[error(
        "{nonzero} weights are not zero, and {listed} of them are in 'edges'; expected all of them there"
    )]
    MissingEdges { nonzero: usize, listed: usize },
    #[error(
        "{units} units make a dense matrix of {}, more than the {} that are written",
        Budget::bytes(*.bytes),
        Budget::bytes(write::LARGEST)
    )]
    TooLarge { units: usize, bytes: u128 },
    #[error("the name {0} ends in a zero character, which NumPy cuts off")]
    ZeroInName(Quoted),
}
