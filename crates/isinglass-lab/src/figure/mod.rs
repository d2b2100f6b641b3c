//! Pictures as SVG, drawn with one palette.

pub(crate) mod dots;

use plotters::style::RGBColor;

/// Blue and orange that remain apart in print and for colour-blind readers (Okabe & Ito 2008).
pub(crate) const PALETTE: [RGBColor; 2] = [RGBColor(0, 114, 178), RGBColor(213, 94, 0)];

/// Text and axes.
pub(crate) const INK: RGBColor = RGBColor(45, 45, 45);

/// Guides behind the data.
pub(crate) const GUIDE: RGBColor = RGBColor(222, 222, 222);
