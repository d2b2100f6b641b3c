//! Networks alone, without a report: as a figure, and as GraphML and DOT for other programs.
//!
//! [`Layout`] says where units are; several networks can share one. [`figure()`] draws networks side
//! by side with one scale of widths.

mod dot;
mod figure;
mod graphml;
mod labels;
pub(crate) mod layout;
mod net;
mod placing;

pub use dot::dot;
pub use figure::{Drawn, figure};
pub use graphml::graphml;
pub use net::Net;
pub use placing::{Layout, Places};
