//! From a user's request to the engine or learner that does it.
//!
//! Front ends give requests as [`EngineSettings`] and [`FitSettings`], by the names of settings;
//! this crate checks that settings go together, chooses among engines and learners, and reports
//! choices, hints and warnings as data ([`Message`](isinglass::message::Message)). Nothing here
//! reads or prints.
//!
//! # Example
//! ```
//! use isinglass::message::{Message, Style};
//! use isinglass::prelude::*;
//! use isinglass_plan::{EngineName, EngineSettings, Task};
//! use serde::de::value::{Error, U64Deserializer};
//!
//! let machine = topology::chain(50);
//! let engine = EngineSettings::default().choose(&machine, &Evidence::none(50), Task::Answer, &|_| ())?;
//! assert_eq!(engine.name(), "decimate");
//!
//! // Settings that the engine does not accept are refused.
//! let mut settings = EngineSettings::for_engine(EngineName::MeanField);
//! settings.set("components", || U64Deserializer::<Error>::new(3))?;
//! let error = settings.check().unwrap_err();
//! assert_eq!(error.text(Style::Flags), "--components belongs to --engine mixture");
//! assert_eq!(error.text(Style::Keywords), "components belongs to engine mixture");
//! # Ok::<(), isinglass_plan::Error>(())
//! ```

mod choose;
mod compare;
mod comparison;
mod diagnostic;
mod engine;
mod fit;
mod groups;
mod message;
mod missing;
mod names;
#[cfg(feature = "clap")]
mod options;
#[cfg(feature = "clap")]
mod reference;
mod scan;
mod tables;

pub use choose::{Task, sampler};
pub use compare::{CompareRequest, Comparison};
pub use diagnostic::{Diagnose, Diagnostic};
pub use engine::EngineSettings;
pub use fit::{
    Checked, Diverged, FitSettings, Fitted, Growth, Hidden, Limits, Penalty, Plan, Size, Structure,
    VisibleLinks,
};
pub use groups::{EngineGroup, LearnerGroup};
pub use message::{Error, Hint, LONG, Note, Result, Usage, Warning};
pub use missing::{Filled, Missing};
pub use names::{Asked, EngineName, LearnerName};
#[cfg(feature = "clap")]
pub use options::CompareOptions;
#[cfg(feature = "clap")]
pub use reference::{python_parameters, reference};
pub use tables::Scored;

/// A number of things, such as `1 unit` or `2 units`.
pub fn count<N: Copy + std::fmt::Display + PartialEq + From<u8>>(number: N, thing: &str) -> String {
    let s = if number == N::from(1) { "" } else { "s" };
    format!("{number} {thing}{s}")
}
