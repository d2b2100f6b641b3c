//! Black-and-white pictures: read from PNG, PNM, BMP and JPEG, written as PNG.

use std::fs;
use std::io::{self, Cursor, Read};
use std::path::Path;

use image::codecs::png::PngEncoder;
use image::{
    DynamicImage, ExtendedColorType, ImageDecoder, ImageEncoder, ImageError, ImageFormat, ImageReader, Limits,
};
use isinglass::Budget;

use crate::error::{Fault, Parsed, one_line};
use crate::input::{Ending, open, unreadable};
use crate::{Error, Output, Result};

/// A picture of pixels that are white (+1) or black (−1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// The number of rows.
    pub rows: usize,
    /// The number of columns.
    pub columns: usize,
    /// Row by row: +1 is white or light, −1 black or dark.
    pub pixels: Vec<i8>,
    /// How many pixels were neither pure black nor pure white in the file.
    pub toned: usize,
}

/// What the endings of pictures mean.
const ENDINGS: [(&str, ImageFormat, &str); 8] = [
    ("png", ImageFormat::Png, "PNG"),
    ("pgm", ImageFormat::Pnm, "PNM"),
    ("pbm", ImageFormat::Pnm, "PNM"),
    ("ppm", ImageFormat::Pnm, "PNM"),
    ("pnm", ImageFormat::Pnm, "PNM"),
    ("bmp", ImageFormat::Bmp, "BMP"),
    ("jpg", ImageFormat::Jpeg, "JPEG"),
    ("jpeg", ImageFormat::Jpeg, "JPEG"),
];

/// Copies of the decoded picture that a decoder may hold at a time, its own work and a turned copy included.
const COPIES: u128 = 3;

/// Bytes of a pixel where a decoded picture is told light from dark: four channels of sixteen bits, and the sign.
const PIXEL_BYTES: u128 = 9;

/// Read a picture (`.png`, `.pgm`, `.pbm`, `.ppm`, `.pnm`, `.bmp`, `.jpg`, `.jpeg`) as black and white.
///
/// A pixel is +1 (light) if its luma, by the weights of Rec. 709 (0.2126 R + 0.7152 G + 0.0722 B) on a scale from 0 to 255, is at least the threshold. What is transparent lies on white.
///
/// # Errors
/// A file that cannot be read, another ending, content that is not what the ending says or breaks off, a picture too large for the budget.
///
/// # Example
/// ```
/// use isinglass::Budget;
/// use isinglass_files::{Output, read_picture, write_picture};
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("two.png");
/// write_picture(1, 2, &[1, -1], Output::create(&path)?)?;
/// let picture = read_picture(&path, 128, Budget::default())?;
/// assert_eq!((picture.rows, picture.columns, picture.pixels, picture.toned), (1, 2, vec![1, -1], 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_picture(path: &Path, threshold: u8, budget: Budget) -> Result<Picture> {
    let ending = Ending::of(path);
    let known = ENDINGS.iter().find(|(word, ..)| !ending.gzip && *word == ending.word);
    let Some(&(_, format, name)) = known else {
        return Err(Error::Ending {
            path: path.to_owned(),
            problem:
                "found no ending of a picture, expected .png, .pgm, .pbm, .ppm, .pnm, .bmp, .jpg or .jpeg"
                    .into(),
            hint: None,
        });
    };
    let content = bounded_bytes(path, budget)?;
    decode(&content, format, name, threshold, budget).map_err(|fault| fault.reading(path))
}

/// Check that a path is one to which pictures can be written.
///
/// # Errors
/// An ending other than `.png`; a device takes anything.
pub fn check_picture_output(path: &Path) -> Result<()> {
    let device = fs::metadata(path).is_ok_and(|found| !found.is_file());
    let ending = Ending::of(path);
    if device || (ending.word == "png" && !ending.gzip) {
        return Ok(());
    }
    Err(Error::Ending {
        path: path.to_owned(),
        problem: "pictures are written as PNG, expected the ending .png".into(),
        hint: None,
    })
}

/// Write pixels row by row as a PNG file of 8-bit grey: +1 is white (255), −1 black (0), and 0, a missing pixel, grey (128).
///
/// # Errors
/// Another number of pixels than rows times columns; a failed write.
pub fn write_picture(rows: usize, columns: usize, pixels: &[i8], mut output: Output) -> Result<()> {
    check_picture_output(output.path())?;
    let fault = |problem: String| Fault::new("picture", problem).writing(output.path());
    if rows.checked_mul(columns) != Some(pixels.len()) {
        return Err(fault(format!("found {} pixels, expected {rows} × {columns}", pixels.len())));
    }
    let (Ok(height), Ok(width)) = (u32::try_from(rows), u32::try_from(columns)) else {
        return Err(fault(format!("{rows} × {columns} pixels are more than the format holds")));
    };
    let grey: Vec<u8> = pixels.iter().map(|x| [0, 128, 255][(x.signum() + 1) as usize]).collect();
    let written = PngEncoder::new(&mut output).write_image(&grey, width, height, ExtendedColorType::L8);
    match written {
        Ok(()) => output.commit(),
        Err(ImageError::IoError(error)) => Err(output.error(&error)),
        Err(other) => Err(Fault::new("picture", reason(&other)).writing(output.path())),
    }
}

/// The content of a file that is no larger than the budget.
fn bounded_bytes(path: &Path, budget: Budget) -> Result<Vec<u8>> {
    let mut content = Vec::new();
    let limit = budget.0.saturating_add(1);
    open(path)?.take(limit).read_to_end(&mut content).map_err(|error| unreadable(path, &error))?;
    if content.len() as u64 == limit {
        return Err(Fault::whole(format!("is larger than the budget of {budget}")).reading(path));
    }
    if content.is_empty() {
        return Err(Fault::whole("is empty, expected a picture").reading(path));
    }
    Ok(content)
}

fn decode(content: &[u8], format: ImageFormat, name: &str, threshold: u8, budget: Budget) -> Parsed<Picture> {
    let broken = |error: &ImageError| {
        let fault = Fault::whole(format!("cannot be read as {name}: {}", reason(error)));
        match image::guess_format(content) {
            Ok(found) if found != format => {
                fault.with_hint(format!("by its first bytes it is another kind of picture, {found:?}"))
            }
            _ => fault,
        }
    };
    if format == ImageFormat::Jpeg && !jpeg_is_whole(content) {
        // The decoder would fill up with grey what is missing.
        return Err(Fault::whole(format!("cannot be read as {name}: {BREAKS_OFF}")));
    }
    let mut reader = ImageReader::with_format(Cursor::new(content), format);
    let mut limits = Limits::default();
    limits.max_alloc = Some(budget.0);
    reader.limits(limits);
    let mut decoder = reader.into_decoder().map_err(|error| broken(&error))?;
    let (width, height) = decoder.dimensions();
    if width == 0 || height == 0 {
        return Err(Fault::whole(format!("has {width} × {height} pixels, expected at least one")));
    }
    let pixels = u128::from(width) * u128::from(height);
    let needed = content.len() as u128 + COPIES * u128::from(decoder.total_bytes()) + PIXEL_BYTES * pixels;
    budget.check("the picture", needed, || format!("{height} × {width} pixels"))?;
    // Cameras leave turning to the viewer.
    let orientation = decoder.orientation().map_err(|error| broken(&error))?;
    let mut picture = DynamicImage::from_decoder(decoder).map_err(|error| broken(&error))?;
    picture.apply_orientation(orientation);
    Ok(black_and_white(&picture, threshold))
}

const BREAKS_OFF: &str = "the file breaks off before its end";

/// Whether the mark of the end stands behind the start of the last scan; within a scan neither can occur. What is no JPEG at all is the decoder's to refuse.
fn jpeg_is_whole(content: &[u8]) -> bool {
    let last = |mark: u8| content.windows(2).rposition(|pair| pair == [0xff, mark]);
    match last(0xda) {
        Some(scan) => last(0xd9).is_some_and(|end| end > scan),
        None => true,
    }
}

/// An error of the decoder on one line.
fn reason(error: &ImageError) -> String {
    match error {
        ImageError::IoError(error) if error.kind() == io::ErrorKind::UnexpectedEof => BREAKS_OFF.into(),
        other => one_line(other.to_string().trim_end_matches(['.', '\n'])),
    }
}

fn black_and_white(picture: &DynamicImage, threshold: u8) -> Picture {
    let (rows, columns) = (picture.height() as usize, picture.width() as usize);
    let mut tones =
        Tones { threshold: u64::from(threshold), pixels: Vec::with_capacity(rows * columns), toned: 0 };
    match picture {
        DynamicImage::ImageLuma8(found) => {
            found.as_raw().iter().for_each(|&x| tones.add::<255>([x; 3], 255u8));
        }
        DynamicImage::ImageLumaA8(found) => {
            found.pixels().for_each(|pixel| tones.add::<255>([pixel.0[0]; 3], pixel.0[1]));
        }
        DynamicImage::ImageRgb8(found) => found.pixels().for_each(|pixel| tones.add::<255>(pixel.0, 255u8)),
        DynamicImage::ImageRgba8(found) => found.pixels().for_each(|pixel| {
            let [red, green, blue, alpha] = pixel.0;
            tones.add::<255>([red, green, blue], alpha);
        }),
        // Sixteen bits a channel, and whatever else a decoder may come to know.
        other => other.to_rgba16().pixels().for_each(|pixel| {
            let [red, green, blue, alpha] = pixel.0;
            tones.add::<65_535>([red, green, blue], alpha);
        }),
    }
    Picture { rows, columns, pixels: tones.pixels, toned: tones.toned }
}

/// Pixels as they are told light from dark.
struct Tones {
    threshold: u64,
    pixels: Vec<i8>,
    toned: usize,
}

impl Tones {
    /// Add a pixel with channels from 0 to `MOST`, laid on white where it is transparent.
    #[inline]
    fn add<const MOST: u64>(&mut self, colour: [impl Into<u64>; 3], alpha: impl Into<u64>) {
        let alpha = alpha.into();
        let [red, green, blue] = colour.map(|x| (x.into() * alpha + MOST * (MOST - alpha) + MOST / 2) / MOST);
        let luma = 2126 * red + 7152 * green + 722 * blue;
        self.toned += usize::from(luma != 0 && luma != 10_000 * MOST);
        self.pixels.push(if 255 * luma >= self.threshold * 10_000 * MOST { 1 } else { -1 });
    }
}
