//! Grids of pictures, with names above and beside them.

use plotters::style::RGBColor;

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
    /// The title, above everything.
    pub(crate) title: String,
    /// The side of a pixel; integers look best.
    pub(crate) scale: f64,
    /// The pictures, row by row.
    pub(crate) rows: Vec<Vec<Picture>>,
    /// Names above the columns.
    pub(crate) above: Vec<String>,
    /// Names to the left of the rows.
    pub(crate) beside: Vec<String>,
    /// The space between pictures.
    pub(crate) gap: f64,
    /// A column with extra space before it.
    pub(crate) apart: Option<usize>,
    /// Tinted areas, in some rows.
    pub(crate) tints: Vec<Tint>,
}

/// An area of all pictures of a row whose white pixels are tinted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tint {
    pub(crate) row: usize,
    /// First row and column.
    pub(crate) corner: (usize, usize),
    /// Number of rows and columns.
    pub(crate) size: (usize, usize),
    pub(crate) colour: RGBColor,
}

const NAME_HEIGHT: f64 = 22.0;
const NAME_WIDTH: f64 = 34.0;
const TITLE_HEIGHT: f64 = 26.0;
const TITLE: Type = Type::new(13.0, Anchor::Left).bold();
/// The space between a name and its row.
const AFTER_NAME: f64 = 8.0;
const APART: f64 = 14.0;
const NAME: Type = Type::new(12.0, Anchor::Middle);

impl Pictures {
    pub(crate) fn boxed(self) -> Box<dyn Part> {
        Box::new(self)
    }

    /// Returns the size of one picture.
    fn size(&self) -> (f64, f64) {
        let first = self.rows.iter().flatten().next();
        first.map_or((0.0, 0.0), |picture| {
            let rows = picture.darkness.len() / picture.columns.max(1);
            (self.scale * picture.columns as f64, self.scale * rows as f64)
        })
    }

    fn name_width(&self) -> f64 {
        let widths = self.beside.iter().map(|name| NAME.width_of(name) + AFTER_NAME);
        widths.fold(if self.beside.is_empty() { 0.0 } else { NAME_WIDTH }, f64::max)
    }

    fn left_of(&self, column: usize) -> f64 {
        let names = self.name_width();
        let apart = if self.apart.is_some_and(|first| column >= first) { APART } else { 0.0 };
        names + apart + column as f64 * (self.size().0 + self.gap)
    }

    fn top_of(&self, row: usize) -> f64 {
        let title = if self.title.is_empty() { 0.0 } else { TITLE_HEIGHT };
        let names = if self.above.is_empty() { 0.0 } else { NAME_HEIGHT };
        title + names + row as f64 * (self.size().1 + self.gap)
    }

    /// Returns the height of the whole grid.
    pub(crate) fn height(&self) -> f64 {
        self.top_of(self.rows.len())
    }
}

impl Part for Pictures {
    fn draw(&self, canvas: &Canvas<'_>, place: Rect) {
        let (width, height) = self.size();
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let used = self.left_of(columns) - self.gap;
        // Centred, on whole pixels.
        let left = (place.left + 0.5 * (place.width - used)).round();
        if !self.title.is_empty() {
            canvas.text(&self.title, (left, place.top + 0.4 * TITLE_HEIGHT), TITLE);
        }
        let above = place.top + self.top_of(0) - 0.6 * NAME_HEIGHT;
        for (column, name) in self.above.iter().enumerate() {
            let x = left + self.left_of(column) + 0.5 * width;
            canvas.text(name, (x, above), NAME);
        }
        for (row, name) in self.beside.iter().enumerate() {
            let y = place.top + self.top_of(row) + 0.5 * height;
            canvas.text(
                name,
                (left + self.name_width() - AFTER_NAME, y),
                Type { anchor: Anchor::Right, ..NAME },
            );
        }
        for (row, pictures) in self.rows.iter().enumerate() {
            for (column, picture) in pictures.iter().enumerate() {
                let corner = (left + self.left_of(column), (place.top + self.top_of(row)).round());
                let frame = Rect { left: corner.0, top: corner.1, width, height };
                for tint in self.tints.iter().filter(|tint| tint.row == row) {
                    let side = |pixels: usize| self.scale * pixels as f64;
                    let tinted = Rect {
                        left: corner.0 + side(tint.corner.1),
                        top: corner.1 + side(tint.corner.0),
                        width: side(tint.size.1),
                        height: side(tint.size.0),
                    };
                    canvas.rectangle(tinted, tint.colour);
                }
                canvas.frame(frame, 1.0, GUIDE);
                canvas.picture(corner, self.scale, picture.columns, &picture.darkness);
            }
        }
    }
}
