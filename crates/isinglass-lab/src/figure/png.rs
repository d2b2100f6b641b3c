//! Figures as PNG.

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::Database;
use resvg::usvg::{Options, Tree};

/// PNG pixels per unit of the figure: sharp on high-density screens.
const SCALE: f32 = 2.0;

/// Sans-serif font families, the preferred first.
const FAMILIES: [&str; 6] = ["Helvetica", "Arial", "Liberation Sans", "DejaVu Sans", "Noto Sans", "Segoe UI"];

/// Renders an SVG as a PNG at twice its size, with the system's fonts.
///
/// # Errors
/// An invalid SVG, or a system without fonts; as a message.
pub fn to_png(svg: &str) -> Result<Vec<u8>, String> {
    let mut options = Options::default();
    let fonts = options.fontdb_mut();
    fonts.load_system_fonts();
    let family = sans_serif(fonts)
        .ok_or("found no fonts on this system, which are needed for the labels of a figure")?;
    // The database defaults to Arial, and drops text on systems without it.
    fonts.set_sans_serif_family(family);
    let tree = Tree::from_str(svg, &options).map_err(|error| error.to_string())?;
    let size = tree.size().to_int_size();
    let pixels = |length: u32| (length as f32 * SCALE).round() as u32;
    let mut picture = Pixmap::new(pixels(size.width()), pixels(size.height()))
        .ok_or_else(|| format!("cannot draw {} × {} pixels", size.width(), size.height()))?;
    resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut picture.as_mut());
    picture.encode_png().map_err(|error| error.to_string())
}

/// Returns an installed family: a preferred one, or else any.
fn sans_serif(fonts: &Database) -> Option<String> {
    let has = |name: &str| fonts.faces().any(|face| face.families.iter().any(|(family, _)| family == name));
    let preferred = FAMILIES.into_iter().find(|name| has(name)).map(str::to_owned);
    preferred.or_else(|| fonts.faces().find_map(|face| Some(face.families.first()?.0.clone())))
}

#[cfg(test)]
mod tests {
    use resvg::tiny_skia::Pixmap;

    use super::to_png;

    #[test]
    fn text_is_drawn() {
        let svg = r#"<svg width="60" height="20" xmlns="http://www.w3.org/2000/svg"><text x="4" y="15" font-family="sans-serif" font-size="14">units</text></svg>"#;
        // Without fonts, an error is the right answer.
        let Ok(png) = to_png(svg) else { return };
        let picture = Pixmap::decode_png(&png).expect("it was just written");
        assert_eq!((picture.width(), picture.height()), (120, 40));
        assert!(picture.pixels().iter().filter(|pixel| pixel.alpha() > 128).count() > 100);
    }
}
