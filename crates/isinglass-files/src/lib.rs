//! Tables, model files and pictures: the files around a Boltzmann machine.
//!
//! The ending of a file name chooses the format; `.gz` after an ending of text or NPY is
//! decompressed on reading.
//!
//! | what | read | written |
//! |---|---|---|
//! | tables | [`read_table`]: `.csv`, `.tsv`, `.npy`, and `.parquet` with the feature `parquet` | [`write_table`]; as it was, with other cells, [`write_sheet`]: `.csv`, `.tsv`, `.npy` |
//! | models | [`read_model`]: `.json`, `.uai`, `.npz` | [`write_model`] |
//! | evidence | [`read_evidence`]: `.evid` | |
//! | couplings | [`read_edges`]: two names on each line, and a weight | [`write_network`] |
//! | states of fits | [`read_checkpoint`] | [`write_checkpoint`] |
//! | pictures | [`read_picture`]: `.png`, `.pgm` and other `.pnm`, `.bmp`, `.jpg` | [`write_picture`]: `.png` |
//!
//! Every error names the file, the place in it, what was found there and what is expected; no file,
//! however broken, causes a panic. Files are written through an [`Output`], which leaves the target
//! as it was until everything has been written.
//!
//! # From a table to a model file
//!
//! ```
//! use isinglass::{Machine, topology};
//! use isinglass_files::{Output, TableOptions, parse_csv, read_model, write_model};
//!
//! let text = b"rain,wet\nyes,1\nno,0\nNA,1\n";
//! let table = parse_csv(text, "weather.csv", b',', &TableOptions::default())?;
//! assert_eq!(table.columns(), ["rain", "wet"]);
//! assert_eq!(table.row(2), [0, 1]);
//!
//! let machine = topology::full(2).with_names(["rain", "wet"])?;
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("weather.json");
//! write_model(&machine, Output::create(&path)?)?;
//! assert_eq!(read_model(&path)?, machine);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod checkpoint;
mod disk;
mod edges;
mod error;
mod identity;
mod input;
mod lock;
mod measures;
mod model;
mod network;
mod npy;
mod output;
mod picture;
#[cfg(test)]
mod power_loss;
mod table;
mod unfinished;

pub use checkpoint::{read_checkpoint, write_checkpoint};
pub use disk::create_folder;
pub use edges::{EdgeList, read_edges};
pub use error::{AccessFailure, Attempt, Endings, Error, Fault, Result};
pub use identity::FileIdentity;
pub use lock::Lock;
pub use measures::write_measures;
pub use model::{
    ModelFormat, ModelNote, model_format, read_encodings, read_evidence, read_model, read_model_within,
    read_moderated_within, write_model, write_model_with, write_moderated,
};
pub use network::write_network;
pub use output::{Output, sync_outputs};
pub use picture::{Picture, check_picture_output, read_picture, write_picture};
pub use table::{
    CellForm, Encoding, Encodings, LabelledTables, Sheet, TableFormat, TableOptions, Threshold, Values,
    medians, parse_csv, read_groups, read_sheet, read_table, read_thresholds, spreadsheet_safe, table_format,
    write_numbers, write_sheet, write_table,
};
pub use unfinished::{discard_abandoned, discard_unfinished};
