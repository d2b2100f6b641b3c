//! Files of the tour: reserved before anything is computed, written whole.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context;
use isinglass::Machine;
use isinglass_files::{Output, write_model};
#[cfg(feature = "png")]
use isinglass_lab::to_png;

/// A file of the tour.
pub(super) struct Entry {
    pub(super) name: &'static str,
    pub(super) what: &'static str,
}

/// What a file is to hold.
pub(super) enum Content {
    Text(String),
    Model(Box<Machine>),
    /// An SVG, which is also written as PNG where that is built in.
    Picture(String),
}

/// A file that can be written.
pub(super) struct Reserved {
    output: Output,
    /// Beside a picture, where PNG is built in.
    png: Option<Output>,
}

/// The files of an entry: itself, and beside a picture its twin, where PNG is built in.
pub(super) fn paths(folder: &Path, entry: &Entry) -> Vec<PathBuf> {
    let path = folder.join(entry.name);
    let is_picture = path.extension().is_some_and(|ending| ending == "svg");
    let twin = (cfg!(feature = "png") && is_picture).then(|| path.with_extension("png"));
    [path].into_iter().chain(twin).collect()
}

impl Reserved {
    pub(super) fn new(folder: &Path, entry: &Entry) -> anyhow::Result<Self> {
        let paths = paths(folder, entry);
        let png = paths.get(1).map(|twin| Output::create(twin)).transpose()?;
        Ok(Self { output: Output::create(&paths[0])?, png })
    }

    /// Write, and say where.
    pub(super) fn write(self, content: Content) -> anyhow::Result<Vec<PathBuf>> {
        let mut paths = vec![self.output.path().to_owned()];
        match content {
            Content::Model(machine) => {
                write_model(&machine, self.output)?;
            }
            Content::Text(text) => write_bytes(self.output, text.as_bytes())?,
            Content::Picture(svg) => {
                write_bytes(self.output, svg.as_bytes())?;
                if let Some(png) = self.png {
                    let path = png.path().to_owned();
                    let bytes = to_png(&svg).map_err(anyhow::Error::msg);
                    write_bytes(png, &bytes.with_context(|| path.display().to_string())?)?;
                    paths.push(path);
                }
            }
        }
        Ok(paths)
    }
}

#[cfg(not(feature = "png"))]
fn to_png(_svg: &str) -> Result<Vec<u8>, &'static str> {
    Err("this program was built without PNG")
}

fn write_bytes(mut output: Output, bytes: &[u8]) -> anyhow::Result<()> {
    output.write_all(bytes).map_err(|error| output.error(&error))?;
    output.commit()?;
    Ok(())
}
