//! Pictures of pixels in rows and columns, with names above and beside them.

use super::GUIDE;
use super::canvas::{Anchor, Canvas, Rect, Type};
use super::sheet::Part;

/// A picture, row by row: 0 is white and 1 is black.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Picture {
    pub(crate) columns: usize,
    pub(crate) darkness: Vec<f64>,
}

/// Pictures of equal size in a grid.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Pictures {
    /// The side of a pixel; whole numbers look best.
    pub(crate) scale: f64,
    /// Row by row.
    pub(crate) rows: Vec<Vec<Picture>>,
    /// Above the columns.
    pub(crate) above: Vec<String>,
    /// To the left of the rows.
    pub(crate) beside: Vec<String>,
    /// Between pictures.
    pub(crate) gap: f64,
    /// A column before which there is some more room.
    pub(crate) apart: Option<usize>,
}

const NAME_HEIGHT: f64 = 22.0;
const NAME_WIDTH: f64 = 34.0;
const APART: f64 = 14.0;
const NAME: Type = Type::new(12.0, Anchor::Middle);

impl Pictures {
    pub(crate) fn boxed(self) -> Box<dyn Part> {
        Box::new(self)
    }

    /// The size of one picture.
    fn size(&self) -> (f64, f64) {
        let first = self.rows.iter().flatten().next();
        first.map_or((0.0, 0.0), |picture| {
            let rows = picture.darkness.len() / picture.columns.max(1);
            (self.scale * picture.columns as f64, self.scale * rows as f64)
        })
    }

    fn left_of(&self, column: usize) -> f64 {
        let room = if self.beside.is_empty() { 0.0 } else { NAME_WIDTH };
        let apart = if self.apart.is_some_and(|first| column >= first) { APART } else { 0.0 };
        room + apart + column as f64 * (self.size().0 + self.gap)
    }

    fn top_of(&self, row: usize) -> f64 {
        let room = if self.above.is_empty() { 0.0 } else { NAME_HEIGHT };
        room + row as f64 * (self.size().1 + self.gap)
    }

    /// The height that all of it takes.
    pub(crate) fn height(&self) -> f64 {
        self.top_of(self.rows.len())
    }
}

impl Part for Pictures {
    fn draw(&self, canvas: &Canvas<'_>, place: Rect) {
        let (width, height) = self.size();
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let used = self.left_of(columns) - self.gap;
        // In the middle, on whole pixels.
        let left = (place.left + 0.5 * (place.width - used)).round();
        for (column, name) in self.above.iter().enumerate() {
            let x = left + self.left_of(column) + 0.5 * width;
            canvas.text(name, (x, place.top + 0.4 * NAME_HEIGHT), NAME);
        }
        for (row, name) in self.beside.iter().enumerate() {
            let y = place.top + self.top_of(row) + 0.5 * height;
            canvas.text(name, (left + NAME_WIDTH - 8.0, y), Type { anchor: Anchor::Right, ..NAME });
        }
        for (row, pictures) in self.rows.iter().enumerate() {
            for (column, picture) in pictures.iter().enumerate() {
                let corner = (left + self.left_of(column), (place.top + self.top_of(row)).round());
                let frame = Rect { left: corner.0, top: corner.1, width, height };
                canvas.frame(frame, 1.0, GUIDE);
                canvas.picture(corner, self.scale, picture.columns, &picture.darkness);
            }
        }
    }
}
