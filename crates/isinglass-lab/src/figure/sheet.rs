//! A figure: rows of parts under a title and one common legend.

use plotters::style::RGBColor;

use super::canvas::{self, Anchor, Canvas, Point, Rect, Stroke, Type};
use super::chart::Marker;

/// Something that can be drawn into a rectangle.
pub(crate) trait Part {
    fn draw(&self, canvas: &Canvas<'_>, place: Rect);

    /// Returns the entries of the legend.
    fn keys(&self) -> Vec<Key> {
        Vec::new()
    }
}

/// An entry of the legend: the style of a series, and its name.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Key {
    pub(crate) name: String,
    pub(crate) colour: RGBColor,
    pub(crate) line: Option<Stroke>,
    pub(crate) marker: Option<Marker>,
}

/// A figure.
#[derive(Default)]
pub(crate) struct Sheet {
    title: String,
    rows: Vec<(f64, Vec<Box<dyn Part>>)>,
    width: Option<f64>,
}

/// The default width of a figure in pixels.
const WIDTH: f64 = 760.0;
const EDGE: f64 = 18.0;
const GAP: f64 = 14.0;
const TITLE_HEIGHT: f64 = 34.0;
const KEY_HEIGHT: f64 = 24.0;
/// The width of the swatch before a name in the legend, and of the space after the name.
const SWATCH: f64 = 30.0;
const AFTER_NAME: f64 = 22.0;
const TITLE: Type = Type::new(16.0, Anchor::Left).bold();
const NAME: Type = Type::new(13.0, Anchor::Left);

impl Sheet {
    pub(crate) fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }

    /// Sets another width than the default.
    pub(crate) fn wide(self, width: f64) -> Self {
        Self { width: Some(width), ..self }
    }

    /// Adds a row of parts of equal width.
    pub(crate) fn row(mut self, height: f64, parts: impl IntoIterator<Item = Box<dyn Part>>) -> Self {
        self.rows.push((height, parts.into_iter().collect()));
        self
    }

    /// Returns the figure as SVG.
    pub(crate) fn to_svg(&self) -> String {
        let width = self.width.unwrap_or(WIDTH);
        let keys = self.keys();
        let lines = lines_of(&keys, width - 2.0 * EDGE);
        let head = EDGE + TITLE_HEIGHT + KEY_HEIGHT * lines.len() as f64;
        let body: f64 = self.rows.iter().map(|(height, _)| height + GAP).sum();
        canvas::paint(width as u32, (head + body) as u32, |canvas| {
            canvas.text(&self.title, (EDGE, EDGE + 0.3 * TITLE_HEIGHT), TITLE);
            for (k, line) in lines.iter().enumerate() {
                let mut x = EDGE;
                let y = EDGE + TITLE_HEIGHT + KEY_HEIGHT * (k as f64 + 0.2);
                for key in *line {
                    draw_key(canvas, key, (x, y));
                    x += width_of(key);
                }
            }
            let mut top = head;
            for (height, parts) in &self.rows {
                let count = parts.len().max(1) as f64;
                let each = (width - 2.0 * EDGE - GAP * (count - 1.0)) / count;
                for (k, part) in parts.iter().enumerate() {
                    let left = EDGE + k as f64 * (each + GAP);
                    part.draw(canvas, Rect { left, top, width: each, height: *height });
                }
                top += height + GAP;
            }
        })
    }

    /// Returns the keys of all parts, each name once.
    fn keys(&self) -> Vec<Key> {
        let mut keys: Vec<Key> = Vec::new();
        for key in self.rows.iter().flat_map(|(_, parts)| parts).flat_map(|part| part.keys()) {
            if keys.iter().all(|known| known.name != key.name) {
                keys.push(key);
            }
        }
        keys
    }
}

fn width_of(key: &Key) -> f64 {
    SWATCH + NAME.width_of(&key.name) + AFTER_NAME
}

/// Breaks the keys into lines that fit a width.
fn lines_of(keys: &[Key], width: f64) -> Vec<&[Key]> {
    let mut lines = Vec::new();
    let mut rest = keys;
    while !rest.is_empty() {
        let mut used = 0.0;
        let fitting = rest.iter().take_while(|key| {
            used += width_of(key);
            used - AFTER_NAME <= width
        });
        let (line, after) = rest.split_at(fitting.count().max(1));
        lines.push(line);
        rest = after;
    }
    lines
}

fn draw_key(canvas: &Canvas<'_>, key: &Key, (x, y): Point) {
    let end = x + SWATCH - 8.0;
    if let Some(stroke) = key.line {
        canvas.line(&[(x, y), (end, y)], 2.0, stroke, key.colour);
    }
    if let Some(marker) = key.marker {
        marker.draw(canvas, (0.5 * (x + end), y), key.colour);
    }
    canvas.text(&key.name, (x + SWATCH, y), NAME);
}
