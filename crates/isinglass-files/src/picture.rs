//! Black-and-white pictures: read from PNG, PNM, BMP and JPEG, written as PNG.

use std::fmt;
use std::fs;
use std::io::{self, Cursor, Read};
use std::path::Path;

use image::codecs::png::PngEncoder;
use image::{
    DynamicImage, ExtendedColorType, ImageDecoder, ImageEncoder, ImageError, ImageFormat, ImageReader, Limits,
};
use isinglass::Budget;

use crate::error::{Endings, Fault, Hint, Parsed, Place};
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
    /// The number of pixels that were neither pure black nor pure white in the file.
    pub toned: usize,
}

/// What can be wrong with a picture.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PictureProblem {
    #[error("is empty, expected a picture")]
    Empty,
    #[error("is larger than the budget of {0}")]
    FileTooLarge(Budget),
    #[error("cannot be read as {0}: the file is truncated")]
    Truncated(&'static str),
    #[error("cannot be read as {0}: {1}")]
    Undecodable(&'static str, Reason),
    #[error("has {width} × {height} pixels, expected at least one")]
    NoPixels { width: u32, height: u32 },
    #[error("found {found} pixels, expected {rows} × {columns}")]
    Count { found: usize, rows: usize, columns: usize },
    #[error("{rows} × {columns} pixels are more than the format holds")]
    TooManyPixels { rows: usize, columns: usize },
    #[error("{0}")]
    Unencodable(Reason),
}

/// The reason of a codec in its own words, without the full stop.
#[derive(Debug)]
pub(crate) struct Reason(String);

impl From<ImageError> for Reason {
    fn from(error: ImageError) -> Self {
        Self(error.to_string().trim_end_matches(['.', '\n']).to_owned())
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
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

/// Copies of the decoded picture that may be in memory at a time: the decoder's own, the result,
/// and a turned one.
const COPIES: u128 = 3;

/// Bytes of a pixel while a decoded picture becomes black and white: four channels of sixteen bits,
/// and the sign.
const PIXEL_BYTES: u128 = 9;

/// Reads a picture (`.png`, `.pgm`, `.pbm`, `.ppm`, `.pnm`, `.bmp`, `.jpg`, `.jpeg`) as black and
/// white.
///
/// A pixel is +1 (light) if its luma, by the weights of Rec. 709 (0.2126 R + 0.7152 G + 0.0722 B)
/// on a scale from 0 to 255, is at least the threshold. Transparent pixels are laid on white.
///
/// # Errors
/// A file that cannot be read, another ending, content that is not in the format of the ending or
/// is truncated, a picture too large for the budget.
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
        return Err(Error::ending(path, Endings::Picture));
    };
    let content = bounded_bytes(path, budget)?;
    decode(&content, format, name, threshold, budget).map_err(|fault| fault.reading(path))
}

/// Checks that pictures can be written to a path.
///
/// # Errors
/// An ending other than `.png`; a device accepts any.
pub fn check_picture_output(path: &Path) -> Result<()> {
    let device = fs::metadata(path).is_ok_and(|found| !found.is_file());
    let ending = Ending::of(path);
    if device || (ending.word == "png" && !ending.gzip) {
        return Ok(());
    }
    Err(Error::ending(path, Endings::WrittenPicture))
}

/// Writes pixels row by row as a PNG file of 8-bit grey.
///
/// +1 is white (255), −1 black (0), and 0, a missing pixel, grey (128).
///
/// # Errors
/// Another number of pixels than rows times columns; a failed write.
pub fn write_picture(rows: usize, columns: usize, pixels: &[i8], mut output: Output) -> Result<()> {
    check_picture_output(output.path())?;
    let fault = |problem| Fault::at(Place::Picture, problem).writing(output.path());
    if rows.checked_mul(columns) != Some(pixels.len()) {
        return Err(fault(PictureProblem::Count { found: pixels.len(), rows, columns }));
    }
    let (Ok(height), Ok(width)) = (u32::try_from(rows), u32::try_from(columns)) else {
        return Err(fault(PictureProblem::TooManyPixels { rows, columns }));
    };
    let grey: Vec<u8> = pixels.iter().map(|x| [0, 128, 255][(x.signum() + 1) as usize]).collect();
    let written = PngEncoder::new(&mut output).write_image(&grey, width, height, ExtendedColorType::L8);
    match written {
        Ok(()) => output.commit(),
        Err(ImageError::IoError(error)) => Err(output.error(&error)),
        Err(other) => {
            Err(Fault::at(Place::Picture, PictureProblem::Unencodable(other.into())).writing(output.path()))
        }
    }
}

/// The content of a file that is no larger than the budget.
fn bounded_bytes(path: &Path, budget: Budget) -> Result<Vec<u8>> {
    let mut content = Vec::new();
    let limit = budget.0.saturating_add(1);
    open(path)?.take(limit).read_to_end(&mut content).map_err(|error| unreadable(path, &error))?;
    if content.len() as u64 == limit {
        return Err(Fault::from(PictureProblem::FileTooLarge(budget)).reading(path));
    }
    if content.is_empty() {
        return Err(Fault::from(PictureProblem::Empty).reading(path));
    }
    Ok(content)
}

fn decode(
    content: &[u8],
    format: ImageFormat,
    name: &'static str,
    threshold: u8,
    budget: Budget,
) -> Parsed<Picture> {
    let broken = |error: ImageError| {
        let problem = match error {
            ImageError::IoError(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                PictureProblem::Truncated(name)
            }
            error => PictureProblem::Undecodable(name, error.into()),
        };
        match image::guess_format(content) {
            Ok(found) if found != format => Fault::from(problem).with_hint(Hint::OtherPicture(found)),
            _ => problem.into(),
        }
    };
    if format == ImageFormat::Jpeg && !jpeg_is_whole(content) {
        // The decoder would fill what is missing with grey.
        return Err(PictureProblem::Truncated(name).into());
    }
    let mut reader = ImageReader::with_format(Cursor::new(content), format);
    let mut limits = Limits::default();
    limits.max_alloc = Some(budget.0);
    reader.limits(limits);
    let mut decoder = reader.into_decoder().map_err(broken)?;
    let (width, height) = decoder.dimensions();
    if width == 0 || height == 0 {
        return Err(PictureProblem::NoPixels { width, height }.into());
    }
    let pixels = u128::from(width) * u128::from(height);
    let needed = content.len() as u128 + COPIES * u128::from(decoder.total_bytes()) + PIXEL_BYTES * pixels;
    budget.check("the picture", needed, || format!("{height} × {width} pixels"))?;
    // Cameras leave it to the viewer to turn the picture.
    let orientation = decoder.orientation().map_err(broken)?;
    let mut picture = DynamicImage::from_decoder(decoder).map_err(broken)?;
    picture.apply_orientation(orientation);
    Ok(black_and_white(&picture, threshold))
}

/// Whether the end marker follows the start of the last scan; neither can occur within a scan. What
/// is not JPEG at all is left to the decoder to refuse.
fn jpeg_is_whole(content: &[u8]) -> bool {
    let last = |mark: u8| content.windows(2).rposition(|pair| pair == [0xff, mark]);
    match last(0xda) {
        Some(scan) => last(0xd9).is_some_and(|end| end > scan),
        None => true,
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
        // Sixteen bits per channel, and whatever else decoders may come to support.
        other => other.to_rgba16().pixels().for_each(|pixel| {
            let [red, green, blue, alpha] = pixel.0;
            tones.add::<65_535>([red, green, blue], alpha);
        }),
    }
    Picture { rows, columns, pixels: tones.pixels, toned: tones.toned }
}

/// Pixels while they become black and white.
struct Tones {
    threshold: u64,
    pixels: Vec<i8>,
    toned: usize,
}

impl Tones {
    /// Adds a pixel with channels from 0 to `MOST`, laid on white where it is transparent.
    #[inline]
    fn add<const MOST: u64>(&mut self, colour: [impl Into<u64>; 3], alpha: impl Into<u64>) {
        let alpha = alpha.into();
        let [red, green, blue] = colour.map(|x| (x.into() * alpha + MOST * (MOST - alpha) + MOST / 2) / MOST);
        let luma = 2126 * red + 7152 * green + 722 * blue;
        self.toned += usize::from(luma != 0 && luma != 10_000 * MOST);
        self.pixels.push(if 255 * luma >= self.threshold * 10_000 * MOST { 1 } else { -1 });
    }
}
