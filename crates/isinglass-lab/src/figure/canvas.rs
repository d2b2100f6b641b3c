//! Drawing primitives in fractional pixels. Charts and drawings use the
//! SVG crate only through this module.

use std::cell::RefCell;
use std::fmt::Write as _;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// The crate draws at integer coordinates; ten per pixel keep curves smooth.
const SUBPIXELS: f64 = 10.0;

/// The crate divides font sizes by this.
const FONT_SCALE: f64 = 1.24;

/// Shades of grey in pictures, without white.
const SHADES: usize = 12;

/// A position on the sheet.
pub(crate) type Point = (f64, f64);

/// A rectangle on the sheet.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rect {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

impl Rect {
    pub(crate) fn right(&self) -> f64 {
        self.left + self.width
    }

    pub(crate) fn bottom(&self) -> f64 {
        self.top + self.height
    }

    pub(crate) fn middle(&self) -> Point {
        (self.left + 0.5 * self.width, self.top + 0.5 * self.height)
    }
}

/// The point of a text that is placed at a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Left,
    Middle,
    Right,
}

/// The style of a text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Type {
    pub(crate) size: f64,
    pub(crate) bold: bool,
    pub(crate) anchor: Anchor,
    /// Whether it is rotated to run upwards.
    pub(crate) upwards: bool,
    pub(crate) colour: RGBColor,
}

impl Type {
    pub(crate) const fn new(size: f64, anchor: Anchor) -> Self {
        Self { size, bold: false, anchor, upwards: false, colour: super::INK }
    }

    pub(crate) const fn bold(self) -> Self {
        Self { bold: true, ..self }
    }

    pub(crate) const fn upwards(self) -> Self {
        Self { upwards: true, ..self }
    }

    pub(crate) const fn coloured(self, colour: RGBColor) -> Self {
        Self { colour, ..self }
    }

    /// Estimates the width of a text. Fonts differ; this is an upper estimate.
    pub(crate) fn width_of(&self, text: &str) -> f64 {
        0.56 * self.size * text.chars().count() as f64
    }
}

/// The dash pattern of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Stroke {
    #[default]
    Solid,
    Dashed,
    Dotted,
}

/// A sheet that is being drawn.
pub(crate) struct Canvas<'a> {
    area: DrawingArea<SVGBackend<'a>, Shift>,
    /// Pictures, which the crate would write as one element per pixel.
    pixels: RefCell<String>,
}

/// Draws on a white sheet of some size. Returns the text of an SVG file.
pub(crate) fn paint(width: u32, height: u32, draw: impl FnOnce(&Canvas<'_>)) -> String {
    let scaled = |x: u32| x * SUBPIXELS as u32;
    let mut svg = String::new();
    let pixels = {
        let area = SVGBackend::with_string(&mut svg, (scaled(width), scaled(height))).into_drawing_area();
        let canvas = Canvas { area, pixels: RefCell::new(String::new()) };
        infallible(canvas.area.fill(&WHITE));
        draw(&canvas);
        infallible(canvas.area.present());
        canvas.pixels.into_inner()
    };
    // The crate's own header has ten times the size.
    let drawn = svg.split_once('>').map_or("", |(_, rest)| rest).replace(" opacity=\"1\"", "");
    let drawn = drawn.trim().trim_end_matches("</svg>").trim_end();
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {} {}\">\n{drawn}\n{pixels}</svg>\n",
        scaled(width),
        scaled(height)
    )
}

/// Drawing into a string cannot fail: there is no device behind it.
fn infallible<T, E: std::error::Error + Send + Sync>(drawn: Result<T, DrawingAreaErrorKind<E>>) -> T {
    drawn.expect("an SVG in memory takes every element")
}

fn scaled((x, y): Point) -> (i32, i32) {
    ((SUBPIXELS * x).round() as i32, (SUBPIXELS * y).round() as i32)
}

/// Converts a width to the crate's units, at least 1.
fn pen(width: f64) -> u32 {
    (SUBPIXELS * width).round().max(1.0) as u32
}

/// Cuts a line into dashes.
fn dashes(points: &[Point], dash: f64, gap: f64) -> Vec<Vec<Point>> {
    let mut pieces: Vec<Vec<Point>> = Vec::new();
    // The remaining length of the current dash or gap.
    let (mut on, mut left) = (false, 0.0);
    for pair in points.windows(2) {
        let ((x, y), (to_x, to_y)) = (pair[0], pair[1]);
        let length = (to_x - x).hypot(to_y - y);
        let mut done = 0.0;
        while done < length {
            let at = |along: f64| (x + (to_x - x) * along / length, y + (to_y - y) * along / length);
            if left <= 0.0 {
                on = !on;
                left = if on { dash } else { gap };
                if on {
                    pieces.push(vec![at(done)]);
                }
            }
            let step = left.min(length - done);
            done += step;
            left -= step;
            if let (true, Some(piece)) = (on, pieces.last_mut()) {
                piece.push(at(done));
            }
        }
    }
    pieces
}

impl Canvas<'_> {
    pub(crate) fn line(&self, points: &[Point], width: f64, stroke: Stroke, colour: impl Into<RGBAColor>) {
        let style = ShapeStyle { color: colour.into(), filled: false, stroke_width: pen(width) };
        let draw = |points: &[Point]| {
            let points: Vec<_> = points.iter().copied().map(scaled).collect();
            infallible(self.area.draw(&PathElement::new(points, style)));
        };
        match stroke {
            Stroke::Solid => draw(points),
            Stroke::Dashed => dashes(points, 6.0, 3.5).iter().for_each(|dash| draw(dash)),
            Stroke::Dotted => dashes(points, 1.8, 2.6).iter().for_each(|dash| draw(dash)),
        }
    }

    pub(crate) fn rectangle(&self, rect: Rect, colour: impl Into<RGBAColor>) {
        let corners = [scaled((rect.left, rect.top)), scaled((rect.right(), rect.bottom()))];
        let style = ShapeStyle { color: colour.into(), filled: true, stroke_width: 0 };
        infallible(self.area.draw(&Rectangle::new(corners, style)));
    }

    pub(crate) fn frame(&self, rect: Rect, width: f64, colour: impl Into<RGBAColor>) {
        // The crate's own rectangles always have hairlines.
        let (left, top, right, bottom) = (rect.left, rect.top, rect.right(), rect.bottom());
        let corners = [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)];
        self.line(&corners, width, Stroke::Solid, colour);
    }

    pub(crate) fn disc(&self, middle: Point, radius: f64, colour: impl Into<RGBAColor>) {
        let style = ShapeStyle { color: colour.into(), filled: true, stroke_width: 0 };
        infallible(self.area.draw(&Circle::new(scaled(middle), pen(radius), style)));
    }

    pub(crate) fn ring(&self, middle: Point, radius: f64, width: f64, colour: impl Into<RGBAColor>) {
        let style = ShapeStyle { color: colour.into(), filled: false, stroke_width: pen(width) };
        infallible(self.area.draw(&Circle::new(scaled(middle), pen(radius), style)));
    }

    pub(crate) fn text(&self, text: &str, place: Point, look: Type) {
        let style = if look.bold { FontStyle::Bold } else { FontStyle::Normal };
        let font = FontDesc::new(FontFamily::SansSerif, SUBPIXELS * FONT_SCALE * look.size, style);
        let font = if look.upwards { font.transform(FontTransform::Rotate270) } else { font };
        let across = match look.anchor {
            Anchor::Left => HPos::Left,
            Anchor::Middle => HPos::Center,
            Anchor::Right => HPos::Right,
        };
        let style = font.color(&look.colour).pos(Pos::new(across, VPos::Center));
        infallible(self.area.draw_text(text, &style, scaled(place)));
    }

    /// Draws a picture, row by row, each pixel a square with side `scale`: 0 is white, 1 is black.
    ///
    /// Adjacent pixels of a row with one shade are one stroke, and the strokes of a shade one path.
    pub(crate) fn picture(&self, corner: Point, scale: f64, columns: usize, darkness: &[f64]) {
        let shade = |x: f64| (x.clamp(0.0, 1.0) * SHADES as f64).round() as usize;
        let mut strokes = vec![String::new(); SHADES + 1];
        let mut pens = vec![(0usize, 0usize); SHADES + 1];
        for (row, pixels) in darkness.chunks(columns.max(1)).enumerate() {
            let mut column = 0;
            for run in pixels.chunk_by(|a, b| shade(*a) == shade(*b)) {
                let shade = shade(run[0]);
                let (at_row, at_column) = pens[shade];
                let down = row - at_row;
                let across = column as i64 - at_column as i64;
                // Writing to a string cannot fail.
                let _ = write!(strokes[shade], "m{across} {down}h{}", run.len());
                column += run.len();
                pens[shade] = (row, column);
            }
        }
        let (x, y) = scaled(corner);
        let mut pixels = self.pixels.borrow_mut();
        let _ = writeln!(
            pixels,
            "<g transform=\"translate({x} {y}) scale({}) translate(0 .5)\" fill=\"none\" shape-rendering=\"crispEdges\">",
            SUBPIXELS * scale
        );
        for (shade, strokes) in strokes.iter().enumerate().skip(1).filter(|(_, strokes)| !strokes.is_empty())
        {
            // Opacity instead of grey, so that tints behind the picture remain visible.
            let opacity = shade as f64 / SHADES as f64;
            let _ = writeln!(
                pixels,
                "<path stroke=\"#000\" stroke-opacity=\"{opacity:.3}\" d=\"M0 0{strokes}\"/>"
            );
        }
        pixels.push_str("</g>\n");
    }
}
