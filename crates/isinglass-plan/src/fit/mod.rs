//! Fits: which learner, with what settings; which structure; and the fit itself.
//!
//! [`FitSettings`] is the request, [`FitSettings::plan`] resolves it for a start and a table, and
//! [`Plan::fit`] runs it.

mod check;
mod described;
mod growth;
mod penalty;
mod plan;
mod resampling;
mod settings;
mod structure;

pub use check::Checked;
pub use growth::{Growth, Size};
pub use penalty::Penalty;
pub use plan::{Diverged, Fitted, Limits, Plan};
pub use settings::FitSettings;
pub use structure::{Hidden, Structure, VisibleLinks};
