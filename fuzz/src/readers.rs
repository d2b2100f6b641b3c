//! The readers of tables, models, pictures and checkpoints.

use std::fmt::Display;
use std::io::{Cursor, Write as _};
use std::path::Path;

use flate2::{Compression, Crc, write::GzEncoder};
use isinglass::learn::Checkpoint;
use isinglass::{Budget, Machine};
use isinglass_files::{
    CellForm, Output, TableOptions, Values, read_checkpoint, read_edges, read_evidence, read_model_within,
    read_picture, read_sheet, read_table, write_model, write_picture, write_sheet, write_table,
};
use zip::write::{SimpleFileOptions, ZipWriter};

use crate::{Desk, Target};

/// Small, so that files which unpack to a lot are refused soon.
const BUDGET: Budget = Budget(4 << 20);

const CELLS: &[&str] =
    &["1", "-1", "0", "true", "no", "NA", "?", "\"", "\"\"", ",", "\n", "\r\n", "\u{feff}", "#", "+", " "];

pub(crate) const CSV: Target =
    Target { name: "csv", run: |desk, bytes| table(desk, "t.csv", bytes), words: CELLS };

/// Bytes within a valid `.gz`, so that checksums do not hide what comes after unpacking.
pub(crate) const CSV_GZ: Target = Target {
    name: "csv-gz",
    run: |desk, bytes| {
        table(desk, "t.csv.gz", bytes);
        table(desk, "t.tsv.gz", &gzip(bytes));
    },
    words: CELLS,
};

/// A table that is written again as it was.
pub(crate) const SHEET: Target = Target { name: "sheet", run: sheet, words: CELLS };

pub(crate) const NPY: Target = Target {
    name: "npy",
    run: |desk, bytes| {
        table(desk, "t.npy", bytes);
        table(desk, "t.npy.gz", &gzip(bytes));
    },
    words: ARRAY,
};

const ARRAY: &[&str] = &[
    "\u{0}\u{1}",
    "|i1",
    "<i8",
    ">f4",
    "<f8",
    "|b1",
    "<U3",
    "|O",
    "True",
    "False",
    "(3, 2)",
    "(9999999999, 2)",
    "(0,)",
    "()",
    "'descr'",
    "'fortran_order'",
    "'shape'",
];

pub(crate) const JSON: Target = Target {
    name: "json",
    run: |desk, bytes| model(desk, "m.json", bytes),
    words: &[
        "\"units\"",
        "\"edges\"",
        "\"bias\"",
        "\"role\"",
        "\"hidden\"",
        "\"input\"",
        "\"offset\"",
        "\"temperature\"",
        "[0, 1, 0.5]",
        "1e999",
        "-0",
        "1e-320",
        "null",
        "[",
        "{",
        "}",
        "]",
        "\\u0000",
        "\\ud800",
        "isinglass/1",
    ],
};

pub(crate) const UAI: Target = Target {
    name: "uai",
    run: |desk, bytes| {
        model(desk, "m.uai", bytes);
        model(desk, "m.uai.gz", &gzip(bytes));
    },
    words: &[
        "MARKOV",
        "BAYES",
        "2",
        "1",
        "0",
        "4",
        "0.5",
        "1e308",
        "1e-308",
        "inf",
        "nan",
        "-1",
        "4294967296",
    ],
};

pub(crate) const EVID: Target = Target {
    name: "evid",
    run: |desk, bytes| {
        let machine = isinglass::topology::chain(5);
        if let Some(evidence) = named(&desk.put("m.evid", bytes), |path| read_evidence(path, &machine)) {
            assert_eq!(evidence.cells().len(), 5);
        }
    },
    words: &["0", "1", "2", "4", "5", "18446744073709551616", "-1", "\n"],
};

pub(crate) const NPZ: Target =
    Target { name: "npz", run: |desk, bytes| model(desk, "m.npz", bytes), words: &["PK"] };

/// Bytes as each of the arrays of a valid archive.
pub(crate) const NPZ_ARRAY: Target = Target {
    name: "npz-array",
    run: |desk, bytes| {
        let (first, rest) = bytes.split_first().unwrap_or((&0, &[]));
        let (weights, bias) = (npy("<f8", "(2, 2)", &[0; 32]), npy("<f8", "(2,)", &[0; 16]));
        let names = npy("<U1", "(2,)", &[97, 0, 0, 0, 98, 0, 0, 0]);
        let mut arrays = [("weights.npy", weights), ("bias.npy", bias), ("names.npy", names)];
        arrays[usize::from(*first) % 3].1 = rest.to_vec();
        model(desk, "m.npz", &archive(&arrays));
    },
    words: ARRAY,
};

pub(crate) const EDGES: Target = Target {
    name: "edges",
    run: |desk, bytes| {
        let Some(list) = named(&desk.put("e.csv", bytes), read_edges) else { return };
        let names = list.pairs.iter().flat_map(|(a, b)| [a.clone(), b.clone()]);
        let mut names: Vec<String> = names.collect();
        names.sort();
        names.dedup();
        if let (Ok(graph), Ok(machine)) = (list.graph_over(&names), list.machine()) {
            assert_eq!((graph.edges().len(), machine.unit_count()), (list.pairs.len(), names.len()));
        }
    },
    words: &["from,to,weight", ",", "\n", "\"", "#", "1e999", "0.5", "a", "b"],
};

pub(crate) const PNG: Target = Target {
    name: "png",
    run: |desk, bytes| picture(desk, "p.png", bytes),
    words: &["IHDR", "IDAT", "PLTE", "tRNS", "IEND"],
};
pub(crate) const PNM: Target = Target {
    name: "pnm",
    run: |desk, bytes| picture(desk, "p.pgm", bytes),
    words: &["P1", "P2", "P3", "P4", "P5", "P6", "P7", "255", "65535", "#", "ENDHDR", "WIDTH", "\n"],
};
pub(crate) const BMP: Target =
    Target { name: "bmp", run: |desk, bytes| picture(desk, "p.bmp", bytes), words: &["BM"] };
pub(crate) const JPEG: Target =
    Target { name: "jpeg", run: |desk, bytes| picture(desk, "p.jpg", bytes), words: &["JFIF", "Exif"] };

/// What a checkpoint file holds: the state of a fit, and the record of components.
pub(crate) type Content = (Checkpoint, Option<Vec<Vec<Vec<f64>>>>);

/// Bytes as a checkpoint file, and as the content of a valid one.
pub(crate) const CHECKPOINT: Target = Target {
    name: "checkpoint",
    run: |desk, bytes| {
        named(&desk.put("c.ckpt", bytes), read_checkpoint::<Content>);
        if let Some(content) = named(&desk.put("d.ckpt", &sealed(bytes)), read_checkpoint::<Content>) {
            let path = desk.path("e.ckpt");
            isinglass_files::write_checkpoint(&content, output(&path)).expect("it can be written");
            let again: Content = read_checkpoint(&path).expect("it can be read again");
            // Not equal where a number is not a number; so the bytes are compared.
            let bytes = |content| postcard::to_stdvec(content).expect("it was serialised");
            assert_eq!(bytes(&again), bytes(&content));
        }
    },
    words: &["isinglass fit\n", "likelihood", "contrastive-divergence"],
};

/// A content with the head and the checksum of a checkpoint.
pub(crate) fn sealed(content: &[u8]) -> Vec<u8> {
    let mut bytes = b"isinglass fit\n".to_vec();
    bytes.extend(1u32.to_le_bytes());
    bytes.extend((content.len() as u64).to_le_bytes());
    bytes.extend(content);
    let mut sum = Crc::new();
    sum.update(&bytes);
    bytes.extend(sum.sum().to_le_bytes());
    bytes
}

/// Reads a file; an error must name it first, and have at most one line more, a hint.
fn named<T, E: Display>(path: &Path, read: impl FnOnce(&Path) -> Result<T, E>) -> Option<T> {
    match read(path) {
        Ok(found) => Some(found),
        Err(error) => {
            let message = error.to_string();
            assert!(message.starts_with(&format!("{}: ", path.display())), "{message}");
            let mut lines = message.lines().skip(1);
            assert!(lines.next().is_none_or(|line| line.starts_with("hint: ")), "{message}");
            assert!(lines.next().is_none(), "{message}");
            None
        }
    }
}

fn output(path: &Path) -> Output {
    Output::create(path).expect("the desk can be written to").without_sync()
}

fn options() -> TableOptions {
    TableOptions { budget: BUDGET, ..TableOptions::default() }
}

fn table(desk: &Desk, name: &str, bytes: &[u8]) {
    let path = desk.put(name, bytes);
    let Some(table) = named(&path, |path| read_table(path, &options())) else { return };
    let mut again = Vec::new();
    let rows = || (0..table.row_count()).map(|row| table.row(table.distinct_of()[row] as usize));
    write_table(table.columns(), rows(), Values::ZeroOne, &mut again, b',')
        .expect("memory can be written to");
    let again = desk.put("again.csv", &again);
    let again = read_table(&again, &TableOptions { budget: Budget(64 << 20), ..options() });
    let again = again.expect("what was written can be read");
    assert_eq!(table.columns(), again.columns());
    let cells = |table: &isinglass::Table| -> Vec<Vec<i8>> {
        (0..table.row_count()).map(|row| table.row(table.distinct_of()[row] as usize).to_vec()).collect()
    };
    assert_eq!(cells(&table), cells(&again));
}

fn sheet(desk: &Desk, bytes: &[u8]) {
    let path = desk.put("s.csv", bytes);
    let Some(sheet) = named(&path, |path| read_sheet(path, &options())) else { return };
    let table = &sheet.table;
    let filled = |row: usize, cells: &mut Vec<f64>| {
        let row = table.row(table.distinct_of()[row] as usize);
        cells.extend(row.iter().map(|&cell| if cell == 0 { 1.0 } else { f64::from(cell) }));
    };
    let again = desk.path("again.csv");
    write_sheet(&sheet, &[], CellForm::Words, filled, output(&again)).expect("the sheet can be written");
    let again = read_table(&again, &TableOptions { budget: Budget(64 << 20), ..options() });
    let again = again.expect("what was written can be read");
    assert_eq!((table.columns(), table.row_count()), (again.columns(), again.row_count()));
    for row in 0..table.row_count() {
        let (old, new) = (table.distinct_of()[row] as usize, again.distinct_of()[row] as usize);
        let expected: Vec<i8> = table.row(old).iter().map(|&cell| if cell == 0 { 1 } else { cell }).collect();
        assert_eq!(again.row(new), expected);
    }
}

fn model(desk: &Desk, name: &str, bytes: &[u8]) {
    let path = desk.put(name, bytes);
    let Some(machine) = named(&path, |path| read_model_within(path, BUDGET)) else { return };
    let again = |name: &str| -> Option<Machine> {
        let path = desk.path(name);
        // Formats that cannot hold a machine say so; what they do write can be read.
        named(&path, |path| write_model(&machine, output(path)))?;
        Some(read_model_within(&path, Budget(64 << 20)).expect("what was written can be read"))
    };
    assert_eq!(again("again.json").as_ref(), Some(&machine));
    if let Some(read) = again("again.npz") {
        // A dense matrix has no edges of weight 0.
        let edges = |machine: &Machine| machine.weights().iter().filter(|weight| **weight != 0.0).count();
        assert_eq!(
            (read.names(), read.biases(), edges(&read)),
            (machine.names(), machine.biases(), edges(&machine))
        );
    }
    if let Some(read) = again("again.uai") {
        assert_eq!(read.graph().edges(), machine.graph().edges());
        let temperature = machine.temperature();
        for (found, given) in read.weights().iter().zip(machine.weights()) {
            let given = given / temperature;
            assert!((found - given).abs() <= 1e-9 * (1.0 + given.abs()), "{found} {given}");
        }
    }
}

fn picture(desk: &Desk, name: &str, bytes: &[u8]) {
    let path = desk.put(name, bytes);
    let Some(picture) = named(&path, |path| read_picture(path, 128, BUDGET)) else { return };
    assert_eq!(picture.pixels.len(), picture.rows * picture.columns);
    let again = desk.path("again.png");
    let written = write_picture(picture.rows, picture.columns, &picture.pixels, output(&again));
    written.expect("a picture can be written");
    let read = read_picture(&again, 128, Budget(64 << 20)).expect("what was written can be read");
    assert_eq!((read.rows, read.columns, read.toned), (picture.rows, picture.columns, 0));
    assert_eq!(read.pixels, picture.pixels);
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("memory can be written to");
    encoder.finish().expect("memory can be written to")
}

fn npy(kind: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

fn archive(arrays: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in arrays {
        let done = zip.start_file(*name, SimpleFileOptions::default());
        done.expect("memory can be written to");
        zip.write_all(bytes).expect("memory can be written to");
    }
    zip.finish().expect("memory can be written to").into_inner()
}
