//! Inference and learning in general Boltzmann machines.
//!
//! A Boltzmann machine is a pairwise model over units that take the values −1 and +1:
//!
//! ```text
//! -E(s) = Σ_{i<j} w_ij s_i s_j + Σ_i θ_i s_i        P(s) = exp(-E(s)/T) / Z
//! ```
//!
//! Data flows one way through this crate:
//!
//! ```text
//! Table ──► Learner ⇄ Engine ──► Machine ──► Engine ──► answer
//! ```
//!
//! * [`Graph`] is structure, [`Machine`] is a graph with numbers, names and roles.
//! * [`Evidence`] says which units are clamped, and to what.
//! * An [`Engine`] turns a machine and evidence into [`Expectations`]: log Z, means and pair
//!   moments, with a [`Guarantee`] that says what kind of answer it is.
//! * A [`Table`] holds binary data: distinct rows with weights and missing cells.
//! * [`learn`] fits machines to tables, [`score`] says how good a machine is, [`complete`] fills
//!   the gaps of a table.
//!
//! # From a table to a machine to an answer
//!
//! ```
//! use isinglass::{Engine, Enumerate, Evidence, Pairs, Spin, Table, topology};
//! use isinglass::learn::{Learner, Likelihood};
//!
//! // Rain and a wet street go together; the sprinkler is independent of the rain.
//! let table = Table::from_rows(
//!     ["rain", "sprinkler", "wet"],
//!     [[1, -1, 1], [1, 1, 1], [-1, 1, 1], [-1, -1, -1], [-1, -1, -1], [1, -1, 1], [-1, 1, -1]],
//! )?;
//! let start = topology::full(3).with_names(["rain", "sprinkler", "wet"])?;
//! let engine = Enumerate::default();
//! let learner = Likelihood::new(&engine).l2(0.01);
//! let fit = learner.fit(&start, &table)?;
//! assert!(fit.converged);
//!
//! let mut evidence = Evidence::none(3);
//! evidence.clamp(fit.machine.position("wet")?, Spin::Up);
//! let answer = engine.expectations(&fit.machine, &evidence, Pairs::None)?;
//! assert!(answer.means[0] > 0.0, "a wet street speaks for rain");
//! assert_eq!(answer.guarantee, isinglass::Guarantee::Exact);
//! # Ok::<(), isinglass::Error>(())
//! ```

pub mod bracket;
mod budget;
pub mod cancel;
pub mod complete;
pub mod engine;
mod error;
pub mod graph;
pub mod learn;
pub mod likelihood;
pub mod machine;
pub mod message;
pub mod network;
mod note;
pub mod numeric;
mod optimize;
pub mod prelude;
pub mod progress;
pub mod score;
pub mod search;
pub mod settings;
pub mod table;

pub use budget::{Budget, ParseBudgetError, Work};
pub use cancel::CancelToken;
pub use engine::{
    Ais, Ask, BatchExpectations, Bethe, Cumulants, Decimate, Diagnostics, Eliminate, Engine, Enumerate,
    Expectations, Gibbs, Guarantee, JointTable, LinearResponse, LogDet, MeanField, Mixture, PairMoments,
    Pairs, Sampler, Statistics, Structured, Tap, Temper, Trw,
};
pub use error::{Error, Result};
pub use graph::Graph;
pub use machine::{Evidence, Machine, Role, Spin, Unit, topology};
pub use note::{ChainsReason, Note};
/// The numbers that characteristic functions take.
pub use num_complex::Complex64;
pub use table::{Batch, Table};

/// The README's example is tested like any other.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
