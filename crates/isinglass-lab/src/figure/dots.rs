//! A dot plot: rows with a label and two probabilities, connected by a line.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::{GUIDE, INK, PALETTE};

/// A dot plot.
pub(crate) struct Dots<'a> {
    pub(crate) title: &'a str,
    pub(crate) axis: &'a str,
    pub(crate) series: [&'a str; 2],
    pub(crate) rows: Vec<Row>,
    /// A reference probability, and its label.
    pub(crate) reference: (f64, &'a str),
}

/// A row: a label, and a probability for each series.
pub(crate) struct Row {
    pub(crate) label: String,
    pub(crate) values: [f64; 2],
}

const WIDTH: i32 = 860;
const ROW: i32 = 26;
const TOP: i32 = 92;
const BOTTOM: i32 = 62;
const LEFT: i32 = 260;
const RIGHT: i32 = 40;

impl Dots<'_> {
    /// Returns the figure as SVG.
    pub(crate) fn to_svg(&self) -> String {
        let height = TOP + ROW * self.rows.len() as i32 + BOTTOM;
        let mut svg = String::new();
        {
            let area = SVGBackend::with_string(&mut svg, (WIDTH as u32, height as u32)).into_drawing_area();
            // Drawing into a string cannot fail: there is no device behind it.
            self.draw(&area, height).expect("an SVG in memory takes every element");
        }
        // End in a newline, as all outputs do.
        svg.trim_start().trim_end().to_owned() + "\n"
    }

    fn draw(
        &self,
        area: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>,
        height: i32,
    ) -> Result<(), DrawingAreaErrorKind<std::io::Error>> {
        let font = |size: i32, colour: &RGBColor| ("sans-serif", size).into_font().color(colour);
        let at = |style: TextStyle<'static>, h: HPos| style.pos(Pos::new(h, VPos::Center));
        let x = |p: f64| LEFT + (f64::from(WIDTH - LEFT - RIGHT) * p).round() as i32;
        let floor = height - BOTTOM;
        area.fill(&WHITE)?;
        area.draw_text(self.title, &at(font(20, &INK), HPos::Left), (24, 30))?;
        for (k, name) in self.series.iter().enumerate() {
            let left = LEFT + 120 * k as i32;
            area.draw(&Circle::new((left + 6, 62), 6, PALETTE[k].filled()))?;
            area.draw_text(name, &at(font(14, &INK), HPos::Left), (left + 20, 62))?;
        }
        for tick in 0..=5 {
            let p = f64::from(tick) / 5.0;
            area.draw(&PathElement::new([(x(p), TOP - 8), (x(p), floor)], GUIDE))?;
            area.draw_text(&format!("{p:.1}"), &at(font(13, &INK), HPos::Center), (x(p), floor + 16))?;
        }
        area.draw_text(self.axis, &at(font(14, &INK), HPos::Center), (x(0.5), floor + 42))?;
        let (reference, name) = self.reference;
        for dash in (TOP - 8..floor).step_by(8) {
            area.draw(&PathElement::new([(x(reference), dash), (x(reference), dash + 4)], INK.mix(0.7)))?;
        }
        area.draw_text(name, &at(font(13, &INK), HPos::Center), (x(reference), TOP - 18))?;
        for (k, row) in self.rows.iter().enumerate() {
            let y = TOP + ROW * k as i32 + ROW / 2;
            area.draw_text(&row.label, &at(font(14, &INK), HPos::Right), (LEFT - 14, y))?;
            let ends = row.values.map(|p| (x(p), y));
            area.draw(&PathElement::new(ends, INK.mix(0.35).stroke_width(2)))?;
            for (end, colour) in ends.into_iter().zip(PALETTE) {
                area.draw(&Circle::new(end, 6, colour.filled()))?;
            }
        }
        area.present()
    }
}
