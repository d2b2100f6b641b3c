//! Fits as users ask for them: which learner, with what; which structure; and making the fit.
//!
//! [`FitSettings`] is the wish, [`FitSettings::plan`] settles which learner it comes to for a start and a table, and [`Plan::fit`] makes the fit.

mod check;
mod names;
mod plan;
mod settings;
mod structure;

pub use names::{DrawsName, LearnerName, MStepName, OptimizerName, RuleName, SingularName};
pub use plan::{Fitted, Plan};
pub use settings::{FitSettings, L1};
pub use structure::{Structure, VisibleLinks};
