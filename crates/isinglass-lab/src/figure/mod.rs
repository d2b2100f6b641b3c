//! Figures as SVG, with one palette and one set of type sizes.
//!
//! [`sheet`] arranges parts ([`chart`], [`pictures`], [`network`], [`ring`]) in rows under a title
//! and one legend, so that a legend never covers data; [`axis`] finds ranges and ticks; [`canvas`]
//! draws. [`dots`] is a figure by itself.

pub(crate) mod axis;
pub(crate) mod canvas;
pub(crate) mod chart;
pub(crate) mod dots;
pub(crate) mod network;
pub(crate) mod pictures;
#[cfg(feature = "png")]
mod png;
pub(crate) mod ring;
pub(crate) mod sheet;

use plotters::style::RGBColor;

#[cfg(feature = "png")]
pub use png::to_png;

/// Colours that are distinct in print and for colour-blind readers (Okabe & Ito 2008): blue,
/// vermilion, green, purple, orange, sky blue.
pub(crate) const PALETTE: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
];

/// The colour of text and axes.
pub(crate) const INK: RGBColor = RGBColor(45, 45, 45);

/// The colour of grid lines.
pub(crate) const GUIDE: RGBColor = RGBColor(222, 222, 222);
