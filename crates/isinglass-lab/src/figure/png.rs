//! Figures as PNG, for whoever cannot show SVG.

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::Database;
use resvg::usvg::{Options, Tree};

/// Pixels of the PNG for one of the figure: sharp on screens of double density.
const SCALE: f32 = 2.0;

/// Which family to take for a plain sans-serif, the first that the system has.
const FAMILIES: [&str; 6] = ["Helvetica", "Arial", "Liberation Sans", "DejaVu Sans", "Noto Sans", "Segoe UI"];

/// An SVG text as the bytes of a PNG file, at twice its size, with the fonts of the system.
///
/// # Errors
/// What is wrong with the text, in words; or that there is no font.
pub fn to_png(svg: &str) -> Result<Vec<u8>, String> {
    let mut options = Options::default();
    let fonts = options.fontdb_mut();
    fonts.load_system_fonts();
    let family = sans_serif(fonts)
        .ok_or("found no fonts on this system, and a figure without its words is of little use")?;
    // The database takes Arial unless told, and leaves words out where a system has none.
    fonts.set_sans_serif_family(family);
    let tree = Tree::from_str(svg, &options).map_err(|error| error.to_string())?;
    let size = tree.size().to_int_size();
    let pixels = |length: u32| (length as f32 * SCALE).round() as u32;
    let mut picture = Pixmap::new(pixels(size.width()), pixels(size.height()))
        .ok_or_else(|| format!("{} × {} pixels cannot be drawn", size.width(), size.height()))?;
    resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut picture.as_mut());
    picture.encode_png().map_err(|error| error.to_string())
}

/// A family that is there: one of the usual ones, or else any.
fn sans_serif(fonts: &Database) -> Option<String> {
    let has = |name: &str| fonts.faces().any(|face| face.families.iter().any(|(family, _)| family == name));
    let usual = FAMILIES.into_iter().find(|name| has(name)).map(str::to_owned);
    usual.or_else(|| fonts.faces().find_map(|face| Some(face.families.first()?.0.clone())))
}

#[cfg(test)]
mod tests {
    use resvg::tiny_skia::Pixmap;

    use super::to_png;

    #[test]
    fn words_are_drawn() {
        let svg = r#"<svg width="60" height="20" xmlns="http://www.w3.org/2000/svg"><text x="4" y="15" font-family="sans-serif" font-size="14">units</text></svg>"#;
        // A system without fonts is told so, which is as good.
        let Ok(png) = to_png(svg) else { return };
        let picture = Pixmap::decode_png(&png).expect("it was just written");
        assert_eq!((picture.width(), picture.height()), (120, 40));
        assert!(picture.pixels().iter().filter(|pixel| pixel.alpha() > 128).count() > 100);
    }
}
