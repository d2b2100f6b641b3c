//! Pictures as SVG, drawn with one palette and one set of type sizes.
//!
//! [`canvas`] is the only file that knows which crate writes SVG. [`sheet`] puts parts (a [`chart`], [`pictures`], [`network`] drawings, a [`ring`] of units) in rows under a title and one
//! legend, so that no legend ever covers data; [`axis`] finds ranges and ticks. [`dots`] is a figure by itself.

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

/// Colours that remain apart in print and for colour-blind readers (Okabe & Ito 2008): blue, vermilion, green, purple, orange, sky.
pub(crate) const PALETTE: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
];

/// Text and axes.
pub(crate) const INK: RGBColor = RGBColor(45, 45, 45);

/// Guides behind the data.
pub(crate) const GUIDE: RGBColor = RGBColor(222, 222, 222);
