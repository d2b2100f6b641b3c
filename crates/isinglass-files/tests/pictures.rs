//! Pictures: what is light and what is dark in each format, and files that are not pictures.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};

use image::{DynamicImage, GrayImage, ImageBuffer, ImageFormat, Luma, LumaA, Rgb, RgbImage, Rgba, RgbaImage};
use isinglass::Budget;
use isinglass_files::{Output, Picture, read_picture, write_picture};
use tempfile::TempDir;

const FORMATS: [(&str, ImageFormat); 4] = [
    ("p.png", ImageFormat::Png),
    ("p.pgm", ImageFormat::Pnm),
    ("p.bmp", ImageFormat::Bmp),
    ("p.jpg", ImageFormat::Jpeg),
];

fn bytes(picture: &DynamicImage, format: ImageFormat) -> Vec<u8> {
    let mut content = Cursor::new(Vec::new());
    picture.write_to(&mut content, format).unwrap();
    content.into_inner()
}

/// 24 × 16 pixels, black with a white block: squares of eight survive a JPEG unchanged.
fn block() -> (DynamicImage, Vec<i8>) {
    let light = |x: u32, y: u32| (8..16).contains(&x) && y < 8;
    let picture = GrayImage::from_fn(24, 16, |x, y| Luma([if light(x, y) { 255 } else { 0 }]));
    let pixels = (0..384).map(|k| if light(k % 24, k / 24) { 1 } else { -1 }).collect();
    (picture.into(), pixels)
}

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn put(&self, name: &str, content: &[u8]) -> PathBuf {
        let path = self.0.path().join(name);
        let _ = fs::remove_file(&path);
        fs::write(&path, content).unwrap();
        path
    }

    fn read(&self, name: &str, content: &[u8], threshold: u8) -> Result<Picture, String> {
        read_picture(&self.put(name, content), threshold, Budget::default())
            .map_err(|error| error.to_string())
    }
}

#[test]
fn every_format_gives_the_same_pixels() {
    let (picture, pixels) = block();
    let folder = Folder::new();
    for (name, format) in FORMATS {
        let found = folder.read(name, &bytes(&picture, format), 128).unwrap();
        assert_eq!((found.rows, found.columns, &found.pixels), (16, 24, &pixels), "{name}");
        assert_eq!(found.toned, 0, "{name}");
    }
    let upper = folder.read("P.PNG", &bytes(&picture, ImageFormat::Png), 128).unwrap();
    assert_eq!(upper.pixels, pixels);
    // Plain text PNM, of one bit and of sixteen: in the first, 1 is black.
    let bits = folder.read("p.pbm", b"P1\n3 1\n1 0 1\n", 128).unwrap();
    assert_eq!((bits.pixels, bits.toned), (vec![-1, 1, -1], 0));
    let deep = folder.read("p.pgm", b"P2\n4 1\n65535\n0 32000 33000 65535\n", 128).unwrap();
    assert_eq!((deep.pixels, deep.toned), (vec![-1, -1, 1, 1], 2));
}

#[test]
fn greys_colours_and_transparency_are_divided_at_the_threshold() {
    let folder = Folder::new();
    let grey = GrayImage::from_raw(5, 1, vec![0, 100, 127, 128, 255]).unwrap();
    let content = bytes(&grey.into(), ImageFormat::Png);
    let found = |threshold| folder.read("p.png", &content, threshold).unwrap();
    assert_eq!((found(128).pixels, found(128).toned), (vec![-1, -1, -1, 1, 1], 3));
    assert_eq!(found(100).pixels, [-1, 1, 1, 1, 1]);
    assert_eq!(found(255).pixels, [-1, -1, -1, -1, 1]);
    assert_eq!(found(0).pixels, [1; 5]);

    // Green is light, red and blue are dark: 0.7152, 0.2126 and 0.0722 of white.
    let colours = [[255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 255], [0, 0, 0]];
    let picture = RgbImage::from_fn(5, 1, |x, _| Rgb(colours[x as usize]));
    for format in [ImageFormat::Png, ImageFormat::Bmp] {
        let name = if format == ImageFormat::Png { "c.png" } else { "c.bmp" };
        let found = folder.read(name, &bytes(&picture.clone().into(), format), 128).unwrap();
        assert_eq!((found.pixels, found.toned), (vec![-1, 1, -1, 1, -1], 3), "{name}");
    }

    // Black that is fully, half and not transparent, on white: white, 127 or 128, black.
    let alphas = [0, 127, 128, 255];
    let picture = RgbaImage::from_fn(4, 1, |x, _| Rgba([0, 0, 0, alphas[x as usize]]));
    let found = folder.read("a.png", &bytes(&picture.into(), ImageFormat::Png), 128).unwrap();
    assert_eq!((found.pixels, found.toned), (vec![1, 1, -1, -1], 2));
    let picture = ImageBuffer::<LumaA<u8>, _>::from_fn(2, 1, |x, _| LumaA([0, [0, 255][x as usize]]));
    let found =
        folder.read("a.png", &bytes(&DynamicImage::ImageLumaA8(picture), ImageFormat::Png), 128).unwrap();
    assert_eq!((found.pixels, found.toned), (vec![1, -1], 0));
}

#[test]
fn what_is_written_is_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.png");
    let pixels: Vec<i8> = (0..35).map(|k| if k % 3 == 0 { 1 } else { -1 }).collect();
    write_picture(5, 7, &pixels, Output::create(&path).unwrap()).unwrap();
    let found = read_picture(&path, 128, Budget::default()).unwrap();
    assert_eq!(found, Picture { rows: 5, columns: 7, pixels: pixels.clone(), toned: 0 });
    let stored = image::open(&path).unwrap();
    assert_eq!(stored.color(), image::ColorType::L8);

    let refuse = |name: &str, rows: usize, pixels: &[i8]| {
        let path = folder.path().join(name);
        let message = write_picture(rows, 7, pixels, Output::create(&path).unwrap()).unwrap_err().to_string();
        assert!(!path.exists());
        message
    };
    assert!(refuse("out.jpg", 5, &pixels).contains(".png"));
    assert!(refuse("new.png", 4, &pixels).contains("found 35 pixels, expected 4 × 7"));
}

/// Checks that a refusal is one line that names the file, and perhaps a hint.
#[track_caller]
fn check_message(path: &Path, message: &str) {
    assert!(message.starts_with(&format!("{}: ", path.display())), "{message}");
    let (first, rest) = message.split_once('\n').unwrap_or((message, "hint: "));
    assert!(rest.starts_with("hint: ") && !rest.contains('\n') && !first.ends_with('.'), "{message}");
}

#[test]
fn truncated_files_are_refused_or_complete() {
    let (picture, pixels) = block();
    let folder = Folder::new();
    for (name, format) in FORMATS {
        let content = bytes(&picture, format);
        for end in 0..content.len() {
            match folder.read(name, &content[..end], 128) {
                // What follows the last pixel may be missing.
                Ok(found) => {
                    // The marker of the end is no pixel, but a JPEG without it may lack anything.
                    assert_ne!(format, ImageFormat::Jpeg, "{end} of {}", content.len());
                    assert_eq!(found.pixels, pixels, "{name}: {end} of {}", content.len());
                    assert!(end + 16 >= content.len(), "{name}: {end} of {}", content.len());
                }
                Err(message) => check_message(&folder.0.path().join(name), &message),
            }
        }
    }
}

#[test]
fn changed_bytes_cause_no_panic() {
    let colours = |x: u32, y: u32| Rgb([(7 * x) as u8, (x * y) as u8, (31 * y) as u8]);
    let picture: DynamicImage = RgbImage::from_fn(19, 17, colours).into();
    let folder = Folder::new();
    for (name, format) in FORMATS {
        let content = bytes(&picture, format);
        for at in 0..content.len() {
            for change in [0x01, 0x80, 0xff] {
                // Uncompressed pixels may be any byte.
                if at > 200 && format != ImageFormat::Jpeg && (at + change) % 7 != 0 {
                    continue;
                }
                let mut broken = content.clone();
                broken[at] ^= change as u8;
                match read_picture(&folder.put(name, &broken), 128, Budget(16 << 20)) {
                    Ok(found) => assert_eq!(found.pixels.len(), found.rows * found.columns),
                    Err(error) => check_message(&folder.0.path().join(name), &error.to_string()),
                }
            }
        }
    }
}

#[test]
fn files_that_are_not_pictures_are_refused_with_a_reason() {
    let folder = Folder::new();
    let png = bytes(&block().0, ImageFormat::Png);
    let refused = |name: &str, content: &[u8], words: &[&str]| {
        let message = folder.read(name, content, 128).unwrap_err();
        check_message(&folder.0.path().join(name), &message);
        for word in words {
            assert!(message.contains(word), "{message}\nlacks {word}");
        }
    };
    refused("t.csv", b"a,b\n1,0\n", &[".png", ".jpg"]);
    refused("t.png.gz", &png, &[".png"]);
    refused("t", &png, &[".png"]);
    refused("t.png", b"", &["empty"]);
    refused("t.png", b"a,b\n1,0\n", &["PNG"]);
    refused("t.jpg", &png, &["JPEG", "hint", "Png"]);
    refused("t.bmp", &png, &["BMP", "hint"]);
    refused("t.pgm", b"P5 0 4 255\n", &["t.pgm"]);
    // A header can claim anything: memory is estimated before it is allocated.
    refused("t.pgm", b"P5 99999 99999 255\n0", &["99999 × 99999", "needs", "budget"]);
    let mut vast = png.clone();
    vast[16..24].copy_from_slice(&[0, 1, 0, 0, 0, 1, 0, 0]);
    refused("t.png", &vast, &["t.png"]);
    let path = folder.put("small.png", &png);
    let message = read_picture(&path, 128, Budget(1000)).unwrap_err().to_string();
    assert!(message.contains("16 × 24 pixels needs") && message.contains("1000 bytes"), "{message}");
    let message = read_picture(&path, 128, Budget(10)).unwrap_err().to_string();
    assert!(message.contains("larger than the budget"), "{message}");
    fs::create_dir(folder.0.path().join("folder.png")).unwrap();
    let message =
        read_picture(&folder.0.path().join("folder.png"), 128, Budget::default()).unwrap_err().to_string();
    assert!(message.contains("directory"), "{message}");
    let message = read_picture(Path::new("absent.png"), 128, Budget::default()).unwrap_err().to_string();
    assert!(message.contains("no such file"), "{message}");
}
