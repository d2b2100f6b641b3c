//! Figures as PNG, for whoever cannot show SVG.

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree};

/// Pixels of the PNG for one of the figure: sharp on screens of double density.
const SCALE: f32 = 2.0;

/// An SVG text as the bytes of a PNG file, at twice its size, with the fonts of the system.
///
/// # Errors
/// What is wrong with the text, in words; or that there is no font.
pub fn to_png(svg: &str) -> Result<Vec<u8>, String> {
    let mut options = Options::default();
    options.fontdb_mut().load_system_fonts();
    if options.fontdb.is_empty() {
        return Err("found no fonts on this system, and a figure without its words is of little use".into());
    }
    let tree = Tree::from_str(svg, &options).map_err(|error| error.to_string())?;
    let size = tree.size().to_int_size();
    let pixels = |length: u32| (length as f32 * SCALE).round() as u32;
    let mut picture = Pixmap::new(pixels(size.width()), pixels(size.height()))
        .ok_or_else(|| format!("{} × {} pixels cannot be drawn", size.width(), size.height()))?;
    resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut picture.as_mut());
    picture.encode_png().map_err(|error| error.to_string())
}
