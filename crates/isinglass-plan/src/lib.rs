//! From what a user asks for to the engine or learner that does it: names, settings, what goes with what.
//!
//! The command line and the Python package ask in different words and get the same answers, since both say what they want as
//! [`EngineSettings`] and [`FitSettings`], and take from them engines and learners of the core. Where nothing is said, the core's defaults hold. Nothing here reads or prints.
//!
//! # Example
//! ```
//! use isinglass::{Evidence, Machine, Pairs, topology};
//! use isinglass_plan::{EngineName, EngineSettings, Task};
//!
//! let machine = topology::chain(50);
//! let evidence = Evidence::none(50);
//! let settings = EngineSettings::default();
//! let engine = settings.choose(&machine, &evidence, Task::Answer, &|note| assert!(note.contains("exact")))?;
//! assert_eq!(engine.name(), "decimate");
//!
//! // Settings that the engine has no use for are refused.
//! let settings = EngineSettings { components: Some(3), ..EngineSettings::for_engine(EngineName::MeanField) };
//! let error = settings.check().unwrap_err();
//! assert_eq!(error.to_string(), "--components belongs to --engine mixture");
//! assert_eq!(error.in_keywords(), "components belongs to engine mixture");
//! # Ok::<(), isinglass_plan::Error>(())
//! ```

mod choose;
mod engine;
mod error;
mod fit;
mod names;
mod tables;
mod warnings;

pub use choose::{Task, sampler};
pub use engine::EngineSettings;
pub use error::{Error, Result, Usage, in_keywords};
pub use fit::{
    DrawsName, FitSettings, Fitted, L1, LearnerName, MStepName, OptimizerName, Plan, RuleName, SingularName,
    Structure, VisibleLinks,
};
pub use names::{AroundName, Asked, EngineName, Named, ScheduleName};
pub use tables::Scored;
pub use warnings::{advice, impossible, warning};

/// A number of things, such as `1 unit` or `2 units`.
pub fn count<N: Copy + std::fmt::Display + PartialEq + From<u8>>(number: N, thing: &str) -> String {
    let s = if number == N::from(1) { "" } else { "s" };
    format!("{number} {thing}{s}")
}
