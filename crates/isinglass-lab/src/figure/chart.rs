//! Charts: lines, points with error bars, histograms and squares between two axes.

use plotters::style::RGBColor;

use super::axis::{Axis, Ruler, Tick};
use super::canvas::{Anchor, Canvas, Point, Rect, Stroke, Type};
use super::sheet::{Key, Part};
use super::{GUIDE, INK};

/// The marker of a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Marker {
    Disc,
    Ring,
    Plus,
    Square,
}

impl Marker {
    pub(crate) fn draw(self, canvas: &Canvas<'_>, (x, y): Point, colour: RGBColor) {
        match self {
            Self::Disc => canvas.disc((x, y), 3.6, colour),
            Self::Ring => canvas.ring((x, y), 3.4, 1.5, colour),
            Self::Plus => {
                canvas.line(&[(x - 4.2, y), (x + 4.2, y)], 1.6, Stroke::Solid, colour);
                canvas.line(&[(x, y - 4.2), (x, y + 4.2)], 1.6, Stroke::Solid, colour);
            }
            Self::Square => {
                canvas.rectangle(Rect { left: x - 3.2, top: y - 3.2, width: 6.4, height: 6.4 }, colour);
            }
        }
    }
}

/// A series of points.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Series {
    /// The name in the legend; an empty name has no entry.
    name: String,
    colour: RGBColor,
    points: Vec<Point>,
    /// Half the length of each point's error bar; empty for none.
    errors: Vec<f64>,
    line: Option<Stroke>,
    width: f64,
    marker: Option<Marker>,
}

impl Series {
    /// Points connected by a line.
    pub(crate) fn line(name: impl Into<String>, colour: RGBColor, points: Vec<Point>) -> Self {
        let line = Some(Stroke::Solid);
        Self { name: name.into(), colour, points, errors: Vec::new(), line, width: 2.0, marker: None }
    }

    /// Points without a line.
    pub(crate) fn scatter(
        name: impl Into<String>,
        colour: RGBColor,
        marker: Marker,
        points: Vec<Point>,
    ) -> Self {
        Self { line: None, marker: Some(marker), ..Self::line(name, colour, points) }
    }

    pub(crate) fn marked(self, marker: Marker) -> Self {
        Self { marker: Some(marker), ..self }
    }

    pub(crate) fn stroke(self, stroke: Stroke) -> Self {
        Self { line: Some(stroke), ..self }
    }

    pub(crate) fn thin(self) -> Self {
        Self { width: 1.3, ..self }
    }

    pub(crate) fn with_errors(self, errors: Vec<f64>) -> Self {
        Self { errors, ..self }
    }
}

/// Bars of a histogram: n + 1 edges, n heights.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Bars {
    pub(crate) colour: RGBColor,
    pub(crate) edges: Vec<f64>,
    pub(crate) heights: Vec<f64>,
}

/// A square whose area is the size of a number, filled if it is positive (a Hinton diagram).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Square {
    /// Position on the horizontal axis.
    pub(crate) at: f64,
    /// Distance above the frame's lower edge, in pixels.
    pub(crate) above: f64,
    /// The number, from −1 to 1.
    pub(crate) value: f64,
    /// The side of the square for ±1, in pixels.
    pub(crate) side: f64,
}

/// A chart.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Chart {
    pub(crate) title: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) series: Vec<Series>,
    pub(crate) bars: Vec<Bars>,
    pub(crate) squares: Vec<Square>,
    /// Reference heights, and their labels.
    pub(crate) levels: Vec<(f64, String)>,
}

/// Space around the frame, for tick labels and axis labels.
const LEFT: f64 = 70.0;
const BOTTOM: f64 = 46.0;
const TOP_WITH_TITLE: f64 = 26.0;
const TOP: f64 = 8.0;
const RIGHT: f64 = 10.0;
/// The smallest distance between two labels.
const TICKS_ACROSS: f64 = 78.0;
const TICKS_UPWARDS: f64 = 44.0;
/// At least so many on low charts.
const LEAST_UPWARDS: usize = 3;

const LABEL: Type = Type::new(13.0, Anchor::Middle);
const TICK: Type = Type::new(12.0, Anchor::Middle);
const PANEL_TITLE: Type = Type::new(13.0, Anchor::Left).bold();

impl Chart {
    pub(crate) fn new(x: Axis, y: Axis) -> Self {
        Self { x, y, ..Self::default() }
    }

    pub(crate) fn titled(self, title: impl Into<String>) -> Self {
        Self { title: title.into(), ..self }
    }

    pub(crate) fn with(mut self, series: Series) -> Self {
        self.series.push(series);
        self
    }

    pub(crate) fn with_bars(mut self, bars: Bars) -> Self {
        self.bars.push(bars);
        self
    }

    pub(crate) fn with_squares(mut self, squares: impl IntoIterator<Item = Square>) -> Self {
        self.squares.extend(squares);
        self
    }

    /// Adds a dashed line at a height, with a label at its right end.
    pub(crate) fn level(mut self, height: f64, name: impl Into<String>) -> Self {
        self.levels.push((height, name.into()));
        self
    }

    pub(crate) fn boxed(self) -> Box<dyn Part> {
        Box::new(self)
    }

    fn rulers(&self) -> (Ruler, Ruler) {
        let points = || self.series.iter().flat_map(|series| &series.points);
        let edges = self.bars.iter().flat_map(|bars| bars.edges.iter().copied());
        let heights = self.bars.iter().flat_map(|bars| bars.heights.iter().copied());
        let ends = self.series.iter().flat_map(|series| {
            let bars = series.points.iter().zip(&series.errors);
            bars.flat_map(|(point, error)| [point.1 - error, point.1 + error])
        });
        let levels = self.levels.iter().map(|(height, _)| *height);
        let x = points().map(|point| point.0).chain(edges);
        let y = points().map(|point| point.1).chain(heights).chain(ends).chain(levels);
        (Ruler::new(&self.x, x), Ruler::new(&self.y, y))
    }
}

/// The frame of a chart with its rulers: maps numbers to positions.
struct Frame {
    rect: Rect,
    x: Ruler,
    y: Ruler,
}

impl Frame {
    fn across(&self, number: f64) -> f64 {
        self.rect.left + self.rect.width * self.x.share(number)
    }

    fn up(&self, number: f64) -> f64 {
        self.rect.bottom() - self.rect.height * self.y.share(number)
    }

    fn place(&self, (x, y): Point) -> Point {
        (self.across(x), self.up(y))
    }

    /// Returns whether a position is within the frame, up to rounding.
    fn holds(&self, (x, y): Point) -> bool {
        let inside = |x: f64, low: f64, high: f64| x >= low - 0.5 && x <= high + 0.5;
        inside(x, self.rect.left, self.rect.right()) && inside(y, self.rect.top, self.rect.bottom())
    }
}

impl Part for Chart {
    fn keys(&self) -> Vec<Key> {
        let named = self.series.iter().filter(|series| !series.name.is_empty());
        named
            .map(|series| Key {
                name: series.name.clone(),
                colour: series.colour,
                line: series.line,
                marker: series.marker,
            })
            .collect()
    }

    fn draw(&self, canvas: &Canvas<'_>, place: Rect) {
        let top = if self.title.is_empty() { TOP } else { TOP_WITH_TITLE };
        let rect = Rect {
            left: place.left + LEFT,
            top: place.top + top,
            width: place.width - LEFT - RIGHT,
            height: place.height - top - BOTTOM,
        };
        let (x, y) = self.rulers();
        let frame = Frame { rect, x, y };
        draw_ticks(canvas, &frame);
        canvas.text(&self.title, (rect.left, place.top + 10.0), PANEL_TITLE);
        canvas.text(&self.x.label, (rect.middle().0, rect.bottom() + 36.0), LABEL);
        canvas.text(&self.y.label, (place.left + 10.0, rect.middle().1), LABEL.upwards());
        for bars in &self.bars {
            for (edges, &height) in bars.edges.windows(2).zip(&bars.heights) {
                let (left, right) = (frame.across(edges[0]), frame.across(edges[1]));
                let top = frame.up(height).min(rect.bottom());
                let bar = Rect { left, top, width: right - left - 0.6, height: rect.bottom() - top };
                if bar.height > 0.05 {
                    canvas.rectangle(bar, bars.colour);
                }
            }
        }
        for (height, name) in &self.levels {
            let y = frame.up(*height);
            canvas.line(&[(rect.left, y), (rect.right(), y)], 1.0, Stroke::Dashed, INK);
            let look = Type::new(12.0, Anchor::Right);
            canvas.text(name, (rect.right() - 6.0, y - 9.0), look);
        }
        for series in &self.series {
            draw_series(canvas, &frame, series);
        }
        for square in &self.squares {
            draw_square(canvas, &frame, square);
        }
        canvas.frame(rect, 1.0, INK);
    }
}

fn draw_ticks(canvas: &Canvas<'_>, frame: &Frame) {
    let rect = frame.rect;
    let length = |tick: &Tick| if tick.label.is_some() { 5.0 } else { 3.0 };
    for tick in frame.x.ticks((rect.width / TICKS_ACROSS) as usize) {
        let x = frame.across(tick.at);
        canvas.line(&[(x, rect.bottom()), (x, rect.bottom() + length(&tick))], 1.0, Stroke::Solid, INK);
        if let Some(label) = &tick.label {
            canvas.line(&[(x, rect.top), (x, rect.bottom())], 1.0, Stroke::Solid, GUIDE);
            canvas.text(label, (x, rect.bottom() + 15.0), TICK);
        }
    }
    for tick in frame.y.ticks(((rect.height / TICKS_UPWARDS) as usize).max(LEAST_UPWARDS)) {
        let y = frame.up(tick.at);
        canvas.line(&[(rect.left - length(&tick), y), (rect.left, y)], 1.0, Stroke::Solid, INK);
        if let Some(label) = &tick.label {
            canvas.line(&[(rect.left, y), (rect.right(), y)], 1.0, Stroke::Solid, GUIDE);
            canvas.text(label, (rect.left - 9.0, y), Type { anchor: Anchor::Right, ..TICK });
        }
    }
}

fn draw_series(canvas: &Canvas<'_>, frame: &Frame, series: &Series) {
    let colour = series.colour;
    let places: Vec<Point> = series.points.iter().map(|&point| frame.place(point)).collect();
    for (point, &error) in series.points.iter().zip(&series.errors) {
        let x = frame.across(point.0);
        let end = |y: f64| frame.up(y).clamp(frame.rect.top, frame.rect.bottom());
        let (low, high) = (end(point.1 - error), end(point.1 + error));
        canvas.line(&[(x, low), (x, high)], 1.2, Stroke::Solid, colour);
        for y in [low, high] {
            canvas.line(&[(x - 3.5, y), (x + 3.5, y)], 1.2, Stroke::Solid, colour);
        }
    }
    if let Some(stroke) = series.line {
        // A line is interrupted at NaN and outside the frame.
        let shown = |place: &Point| place.0.is_finite() && place.1.is_finite() && frame.holds(*place);
        for run in places.chunk_by(|a, b| shown(a) && shown(b)).filter(|run| run.len() > 1) {
            canvas.line(run, series.width, stroke, colour);
        }
    }
    if let Some(marker) = series.marker {
        for &place in places.iter().filter(|place| frame.holds(**place)) {
            marker.draw(canvas, place, colour);
        }
    }
}

fn draw_square(canvas: &Canvas<'_>, frame: &Frame, square: &Square) {
    let side = square.side * square.value.abs().sqrt();
    let (x, y) = (frame.across(square.at), frame.rect.bottom() - square.above);
    let rect = Rect { left: x - 0.5 * side, top: y - 0.5 * side, width: side, height: side };
    if square.value > 0.0 {
        canvas.rectangle(rect, INK);
    } else {
        canvas.frame(rect, 1.0, INK);
    }
}
