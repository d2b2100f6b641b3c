//! Every kind of bad file has a message that names the place, and none causes a panic.

// A test may fail by panicking.
#![allow(clippy::unwrap_used)]

mod common;

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use common::{fixture, small_machine};
use isinglass::message::{Message, Style};
use isinglass::{Graph, Machine};
use isinglass_files::{
    Output, TableOptions, Values, read_evidence, read_model, read_table, write_model, write_table,
};
use proptest::prelude::*;

/// Reads a file in the format of its ending, and returns the message if it is refused.
fn read(path: &Path) -> Result<(), String> {
    let name = path.to_string_lossy();
    let message = |error: isinglass_files::Error| error.to_string();
    if name.ends_with(".evid") {
        let machine = Machine::from_graph(Graph::new(3, []).unwrap());
        read_evidence(path, &machine).map(drop).map_err(message)
    } else if [".json", ".uai", ".npz", ".json.gz", ".uai.gz"].iter().any(|ending| name.ends_with(ending)) {
        read_model(path).map(drop).map_err(message)
    } else {
        let options = TableOptions {
            weights: name.contains("weighted").then(|| "w".into()),
            drop: vec![],
            ..Default::default()
        };
        read_table(path, &options).map(drop).map_err(message)
    }
}

/// Writes a new file; to overwrite one would wait for the disk.
fn put(path: &Path, bytes: &[u8]) {
    let _ = fs::remove_file(path);
    fs::write(path, bytes).unwrap();
}

/// Checks that each file is refused with a message that contains all the given words.
fn refused(cases: &[(&str, &[u8], &[&str])]) {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes, words) in cases {
        let path = folder.path().join(name);
        put(&path, bytes);
        let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(200)]).into_owned();
        let message = read(&path).expect_err(&shown);
        assert!(message.starts_with(&format!("{}: ", path.display())), "{message}");
        let (first, rest) = message.split_once('\n').unwrap_or((&message, "hint: "));
        assert!(rest.starts_with("hint: ") && !rest.contains('\n'), "{message}");
        assert!(!first.ends_with('.'), "{message}");
        for word in *words {
            assert!(message.contains(word), "{shown:?}\n{message}\nlacks {word:?}");
        }
    }
}

#[test]
fn tables() {
    refused(&[
        ("t.csv", b"", &["is empty, expected a header"]),
        ("t.csv", b"\n\n  \n", &["is empty, expected a header"]),
        ("t.csv", b"a,b\n", &["has a header but no rows"]),
        ("t.csv", b"a,b", &["has a header but no rows"]),
        ("t.csv", b"a,b,a\n1,0,1\n", &["header, column 3: 'a' is also the name of column 1"]),
        ("t.csv", b"\"\",a\n1,0\n", &["header, column 1: has no name", "row.names = FALSE"]),
        ("t.csv", b"a,,b\n1,0,1\n", &["header, column 2: has no name"]),
        ("t.csv", b"a,b,\n1,0,\n", &["header, column 3: has no name"]),
        ("t.csv", b"a,\xff\xfe\n1,0\n", &["header, column 2", "UTF-8"]),
        ("t.csv", b"a,b\n1,0\n1\n", &["row 2 (line 3): found 1 cell, expected 2"]),
        ("t.csv", b"a,b\n1,0\n1,0,1\n", &["row 2 (line 3): found 3 cells, expected 2"]),
        ("t.csv", b"a,b\n1,x,1\n", &["row 1 (line 2): found 3 cells, expected 2"]),
        ("t.csv", b"a,b\n1,0\n\n1,1\n", &["line 3: is blank"]),
        ("t.csv", b"a\n1\n \n1\n", &["line 3: is blank", "hint: write a row of missing cells as NA"]),
        ("t.csv", b"a,b\n1,2\n", &["row 1 (line 2), column 'b': found '2', expected 1/-1, 0/1"]),
        (
            "t.csv",
            b"a,b\n1,1.0\n",
            &["found '1.0'", "hint: the table was probably written with float columns"],
        ),
        ("t.csv", b"a,b\n1,-1.0\n", &["float columns"]),
        ("t.csv", b"a,b\n0,0.0\n", &["float columns"]),
        ("t.csv", b"a;b\n1;0\n", &["column 'a;b': found '1;0'", "hint: cells seem to be separated by ';'"]),
        ("t.csv", b"a\n1\n-1\n0\n", &["row 3 (line 4), column 'a': found '0'", "1/-1", "one kind of word"]),
        ("t.csv", b"a\ny\nno\n", &["row 2 (line 3), column 'a': found 'no'", "y/n"]),
        ("t.csv", b"a,b\n1,\"0\n1,0\n", &["line 2: a quotation mark opens here and is never closed"]),
        ("t.csv", b"a,b\n1,\"0\"1\n", &["row 1 (line 2): found '1' after a closing quotation mark"]),
        ("t.csv", b"a,b\n1,0\"\"\n", &["quotation marks only around a whole cell"]),
        ("t.csv", b"a\n\xff\n", &["row 1 (line 2), column 'a': found '\u{fffd}'"]),
        ("t.csv", b"a\n1\0\n", &["found '1\\u{0}'"]),
        ("t.csv", b"a\n\0\n", &["found '\\u{0}'"]),
        ("t.csv", b"a\nx\"\n", &["line 2: a quotation mark opens here"]),
        ("t.tsv", b"a\tb\n1,0\n", &["found 1 cell, expected 2"]),
        ("weighted.csv", b"a,w\n1,-1\n", &["row 1 (line 2), column 'w': found '-1', expected a weight"]),
        ("weighted.csv", b"a,w\n1,inf\n", &["found 'inf', expected a weight: a finite number of at least 0"]),
        ("weighted.csv", b"a,w\n1,nan\n", &["found 'nan', expected a weight"]),
        ("weighted.csv", b"a,w\n1,\n", &["found '', expected a weight"]),
        ("weighted.csv", b"a,v\n1,1\n", &["there is no column 'w'"]),
        ("t.csv.gz", b"a,b\n1,0\n", &["cannot be decompressed"]),
        ("t.csv.gz", b"", &["t.csv.gz: "]),
        ("t.csv.gz", b"\x1f\x8b\x08\0\0\0\0\0\0\x03", &["cannot be decompressed: the file is truncated"]),
        ("t.txt", b"a,b\n1,0\n", &["not the ending of a table", ".csv, .tsv, .npy"]),
        ("t", b"a,b\n1,0\n", &["not the ending of a table"]),
        ("t.parquet", b"PAR1", &["t.parquet: ", "arquet"]),
    ]);
}

/// An NPY file of version 1.0.
fn npy(header: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

fn int8(shape: &str, data: &[u8]) -> Vec<u8> {
    npy(&format!("{{'descr': '|i1', 'fortran_order': False, 'shape': {shape}, }}"), data)
}

#[test]
fn numpy_tables() {
    refused(&[
        ("t.npy", b"", &["NPY header: not found: this is not an NPY file"]),
        ("t.npy", b"\x93NUMPY", &["NPY header: the file ends inside it"]),
        ("t.npy", b"\x93NUMPY\x01\x00\xff\x00{", &["the file ends inside it"]),
        ("t.npy", b"\x93NUMPY\x02\x00\xff\xff\xff\xff{", &["the file ends inside it"]),
        ("t.npy", b"\x93NUMPY\x09\x00\x00\x00", &["found version 9.0, expected 1.0, 2.0 or 3.0"]),
        ("t.npy", &int8("(2,)", &[1, 0]), &["shape [2], expected two dimensions"]),
        ("t.npy", &int8("(2, 2)", &[1, 0, 1]), &["shape [2, 2] needs 4 bytes of data, found 3", "truncated"]),
        ("t.npy", &int8("(1, 2)", &[1, 2]), &["row 1, column 'x1': found 2, expected 1 and -1, or 0 and 1"]),
        ("t.npy", &int8("(2, 1)", &[0, 255]), &["row 2, column 'x0': found -1, but the rows above hold 0/1"]),
        ("t.npy", &int8("(2, 1)", &[255, 0]), &["row 2, column 'x0': found 0, but the rows above hold 1/-1"]),
        ("t.npy", &int8("(0, 3)", &[]), &["found 0 rows and 3 columns"]),
        ("t.npy", &int8("(3, 0)", &[]), &["found 3 rows and 0 columns"]),
        ("t.npy", &int8("(9999999999, 9999999999)", &[]), &["more bytes than there can be"]),
        (
            "t.npy",
            &npy("{'descr': '<c16', 'fortran_order': False, 'shape': (0,)}", &[]),
            &["type '<c16'", "float64"],
        ),
        (
            "t.npy",
            &npy("{'descr': '<U1', 'fortran_order': False, 'shape': (1, 1)}", &[0; 4]),
            &["found an array of text"],
        ),
        (
            "t.npy",
            &npy("{'descr': '<U0', 'fortran_order': False, 'shape': (9, 9)}", &[]),
            &["found an array of text"],
        ),
    ]);
}

#[test]
fn json_models() {
    let file = |rest: &str| format!("{{\"format\": \"isinglass/1\", {rest}}}").into_bytes();
    let edges = |edges: &str| {
        let units = r#"[{"name": "a"}, {"name": "b"}, {"name": "c"}]"#;
        file(&format!("\"temperature\": 1, \"units\": {units},\n\"edges\": {edges}"))
    };
    let units = |units: &str| file(&format!("\"temperature\": 1,\n\"units\": {units}, \"edges\": []"));
    let bare = |rest: &str| file(&format!("\"units\": [], \"edges\": [], {rest}"));
    refused(&[
        ("m.json", b"", &["is empty, expected a machine in JSON"]),
        ("m.json", b"  \n", &["is empty"]),
        ("m.json", b"{}", &["line 1, column 2: missing field `format`"]),
        ("m.json", b"[]", &["line 1, column "]),
        ("m.json", b"7", &["expected a machine: an object with format"]),
        (
            "m.json",
            br#"{"format": "isinglass/2", "more": 1}"#,
            &["found the format 'isinglass/2', expected 'isinglass/1'"],
        ),
        ("m.json", br#"{"format": 1}"#, &["line 1, column 12: invalid type: integer `1`"]),
        ("m.json", br#"{"temperature": 1, "units": [], "edges": []}"#, &["missing field `format`"]),
        ("m.json", &file(r#""units": [], "edges": []"#), &["missing field `temperature`"]),
        ("m.json", &bare(r#""temperature": 0"#), &["temperature: found 0, expected a finite number above 0"]),
        ("m.json", &bare(r#""temperature": -1"#), &["temperature: found -1"]),
        ("m.json", &bare(r#""temperature": 1e999"#), &["line 1, column ", "number out of range"]),
        ("m.json", &bare(r#""temperature": NaN"#), &["line 1, column ", "expected value"]),
        ("m.json", &bare(r#""temperature": null"#), &["invalid type: null, expected a finite number"]),
        ("m.json", &bare(r#""temperature": 1, "offset": "x""#), &["expected a finite number"]),
        ("m.json", &bare(r#""temperature": 1, "extra": 2"#), &["unknown field `extra`"]),
        ("m.json", &bare(r#""temperature": 1, "temperature": 2"#), &["duplicate field `temperature`"]),
        ("m.json", &edges("[[0, 3, 1]]"), &["edges[0]: found position 3, and there are 3 units"]),
        ("m.json", &edges("[[0, 1, 1], [2, 2, 1]]"), &["edges[1]: joins unit 2 to itself"]),
        (
            "m.json",
            &edges("[[0, 1, 1], [0, 2, 1], [0, 1, 2]]"),
            &["edges[2]", "each pair once (see edges[0])"],
        ),
        (
            "m.json",
            &edges("[[1, 0, 1]]"),
            &["edges[0]: found the positions 1, 0, expected the smaller first: 0, 1"],
        ),
        ("m.json", &edges("[[-1, 0, 1]]"), &["line 2, column ", "expected a position in `units`"]),
        ("m.json", &edges("[[0, 1.5, 1]]"), &["line 2, column ", "expected a position in `units`"]),
        ("m.json", &edges("[[0, 1]]"), &["line 2, column ", "two positions in `units` and a weight"]),
        ("m.json", &edges("[[0, 1, 1, 1]]"), &["line 2, column "]),
        ("m.json", &edges("[[0, 1, null]]"), &["invalid type: null, expected a finite number"]),
        (
            "m.json",
            &units(r#"[{"name": "a"}, {"name": "a"}]"#),
            &["units[1]: the name 'a' is already that of units[0]"],
        ),
        ("m.json", &units(r#"[{"name": ""}]"#), &["units[0]: the name is empty"]),
        ("m.json", &units(r#"[{"role": "hidden"}]"#), &["line 2, column ", "missing field `name`"]),
        (
            "m.json",
            &units(r#"[{"name": "a", "role": "seen"}]"#),
            &["unknown variant `seen`, expected one of `visible`"],
        ),
        (
            "m.json",
            &units(r#"[{"name": "a", "bais": 1}]"#),
            &["unknown field `bais`, expected one of `name`"],
        ),
        ("m.json", &units(r#"[{"name": "a", "bias": 1e400}]"#), &["line 2, column ", "out of range"]),
        ("m.json", &units("[7]"), &["expected a unit: an object with name, role and bias"]),
        ("m.json", &bare(r#""temperature": 1} x"#), &["line 1, column ", "trailing characters"]),
        ("m.json", br#"{"format": "isinglass/1", "units": [{"na"#, &["line 1, column ", "EOF", "truncated"]),
        ("m.json.gz", b"{}", &["cannot be decompressed"]),
        ("m.json", b"\xff\xfe{\0}\0", &["line 1, column 1"]),
    ]);
}

#[test]
fn uai_models_and_evidence() {
    let two = |rest: &str| format!("MARKOV\n2\n2 2\n{rest}").into_bytes();
    refused(&[
        ("m.uai", b"", &["is empty, expected a MARKOV network"]),
        ("m.uai", b"BAYES\n1\n2\n", &["line 1: found a BAYES network, expected a MARKOV network"]),
        ("m.uai", b"FACTOR", &["line 1: the kind of network: found 'FACTOR', expected MARKOV"]),
        ("m.uai", b"MARKOV", &["line 1: the file ends where the number of variables should be", "truncated"]),
        ("m.uai", b"MARKOV\n-1", &["line 2: the number of variables: found '-1', expected a whole number"]),
        (
            "m.uai",
            b"MARKOV\n99999999999\n2 2",
            &["the file ends where the number of states of variable 2 should be"],
        ),
        (
            "m.uai",
            b"MARKOV\n2\n2 3\n0\n",
            &["line 3: the number of states of variable 1: found '3', expected 2"],
        ),
        ("m.uai", b"MARKOV\n1\n2\n\xff\n", &["line 4: is not text"]),
        (
            "m.uai",
            &two("1\n3 0 1 0\n"),
            &["line 5: the number of variables of factor 0: found '3', expected at most 2"],
        ),
        (
            "m.uai",
            &two("99999999999\n1 0\n"),
            &["line 5: the file ends where the number of variables of factor 1"],
        ),
        ("m.uai", &two("1\n2 1 1\n"), &["line 5: variable 1 of factor 0: found '1', expected another"]),
        (
            "m.uai",
            &two("1\n1 2\n"),
            &["line 5: variable 0 of factor 0: found '2', expected one of the 2 variables"],
        ),
        (
            "m.uai",
            &two("1\n1 0\n4 1 1 1 1"),
            &["line 6: the size of the table of factor 0: found '4', expected 2"],
        ),
        ("m.uai", &two("1\n1 0\n2 1"), &["line 6: the file ends where entry 1 of factor 0 should be"]),
        (
            "m.uai",
            &two("1\n1 0\n2\n1 0"),
            &["line 7: entry 1 of factor 0: found '0', expected a finite number above 0"],
        ),
        ("m.uai", &two("1\n1 0\n2\n-1 1"), &["line 7: entry 0 of factor 0: found '-1'"]),
        ("m.uai", &two("1\n1 0\n2\n1 nan"), &["entry 1 of factor 0: found 'nan'"]),
        ("m.uai", &two("1\n1 0\n2\n1 inf"), &["entry 1 of factor 0: found 'inf'"]),
        ("m.uai", &two("1\n1 0\n2\n1 1e999"), &["entry 1 of factor 0: found '1e999'"]),
        ("m.uai", &two("1\n1 0\n2\n1 x"), &["entry 1 of factor 0: found 'x'"]),
        (
            "m.uai",
            &two("1\n1 0\n2\n1 1\n7"),
            &["line 8: after the last factor: found '7', expected the end of the file"],
        ),
        ("m.evid", b"x", &["line 1: the number of observed variables: found 'x'"]),
        ("m.evid", b"1 3 0", &["observed variable 0 of 1: found '3', expected one of the 3 variables"]),
        ("m.evid", b"1 0 2", &["the state of variable 0: found '2', expected 0 or 1"]),
        ("m.evid", b"2 0 1 0 1", &["observed variable 1 of 2: variable 0 is observed twice"]),
        ("m.evid", b"2 0 1", &["line 1: the file ends where observed variable 1 of 2 should be"]),
        ("m.evid", b"1 0 1 1 1", &["after the last observed variable: found '1'"]),
        ("m.evid", b"2\n1 0 1", &["the number of samples: found '2', expected 1"]),
        ("m.evid", b"\xff", &["line 1: is not text"]),
    ]);
}

#[test]
fn npz_models() {
    let float = |shape: &str, numbers: &[f64]| {
        let data: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
        npy(&format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}"), &data)
    };
    let text = |count: usize, letters: &str| {
        let data: Vec<u8> = letters.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect();
        npy(&format!("{{'descr': '<U1', 'fortran_order': False, 'shape': ({count},), }}"), &data)
    };
    let weights = || ("weights.npy", float("(2, 2)", &[0.0, 1.0, 1.0, 0.0]));
    let bias = || ("bias.npy", float("(2,)", &[0.0, 0.0]));
    let with = |name, array| zip(&[weights(), bias(), (name, array)]);
    let matrix = |numbers: &[f64]| zip(&[bias(), ("weights.npy", float("(2, 2)", numbers))]);
    let whole = zip(&[weights(), bias()]);
    refused(&[
        ("m.npz", b"", &["is not a readable NPZ archive", "hint: "]),
        ("m.npz", b"PK\x03\x04", &["is not a readable NPZ archive"]),
        ("m.npz", &whole[..whole.len() - 30], &["is not a readable NPZ archive"]),
        ("m.npz", &zip(&[weights()]), &["array 'bias': is missing"]),
        ("m.npz", &zip(&[bias()]), &["array 'weights': is missing"]),
        ("m.npz", &with("bais.npy", vec![]), &["array 'bais': is unknown (did you mean 'bias'?)"]),
        ("m.npz", &with("names.npy", vec![]), &["array 'names', NPY header: not found"]),
        ("m.npz", &with("names.npy", text(3, "abc")), &["array 'names': found the shape [3], expected [2]"]),
        ("m.npz", &with("names.npy", text(2, "aa")), &["unit 1 'a'", "already that of unit 0"]),
        ("m.npz", &with("names.npy", text(2, "a\0")), &["unit 1: the name is empty"]),
        (
            "m.npz",
            &with("names.npy", float("(2,)", &[1.0, 2.0])),
            &["found numbers, expected text", "dtype=str"],
        ),
        (
            "m.npz",
            &with("roles.npy", text(2, "vh")),
            &["array 'roles', element 0: found 'v', expected visible"],
        ),
        ("m.npz", &with("temperature.npy", float("()", &[0.0])), &["temperature: found 0"]),
        (
            "m.npz",
            &with("temperature.npy", float("(2,)", &[1.0, 1.0])),
            &["array 'temperature': found 2 numbers"],
        ),
        ("m.npz", &with("offset.npy", float("()", &[f64::NAN])), &["offset: found NaN"]),
        (
            "m.npz",
            &with("edges.npy", float("(1, 3)", &[0.0; 3])),
            &["found the shape [1, 3], expected (edges, 2)"],
        ),
        (
            "m.npz",
            &with("edges.npy", float("(1, 2)", &[0.0, 2.0])),
            &["edges[0, 1]: found 2, expected a position"],
        ),
        ("m.npz", &with("edges.npy", float("(1, 2)", &[0.0, 0.5])), &["edges[0, 1]: found 0.5"]),
        ("m.npz", &with("edges.npy", float("(1, 2)", &[1.0, 1.0])), &["edges[0]: joins unit 1 to itself"]),
        (
            "m.npz",
            &with("edges.npy", float("(0, 2)", &[])),
            &["1 weights are not zero, and 0 of them are in 'edges'"],
        ),
        (
            "m.npz",
            &matrix(&[0.0, 1.0, 2.0, 0.0]),
            &["weights[0, 1]: found 1, but weights[1, 0] is 2", "symmetric"],
        ),
        ("m.npz", &matrix(&[0.0, 1.0, 1.0, 3.0]), &["weights[1, 1]: found 3, expected 0"]),
        ("m.npz", &matrix(&[0.0, f64::NAN, 1.0, 0.0]), &["array 'weights', weights[0, 1]: found NaN"]),
        (
            "m.npz",
            &zip(&[weights(), ("bias.npy", float("(1,)", &[0.0]))]),
            &["found the shape [2, 2], expected [1, 1]"],
        ),
        ("m.npz", &zip(&[weights(), ("bias.npy", float("()", &[0.0]))]), &["expected one dimension"]),
        ("m.npz", &zip(&[weights(), ("bias.npy", float("(1,)", &[f64::INFINITY]))]), &["bias[0]: found inf"]),
        (
            "m.npz",
            &zip(&[weights(), ("bias.npy", text(2, "ab"))]),
            &["array 'bias': found text, expected numbers"],
        ),
    ]);
}

fn zip(entries: &[(&str, Vec<u8>)]) -> Vec<u8> {
    use std::io::Write;
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in entries {
        let options = zip::write::SimpleFileOptions::default();
        archive.start_file(*name, options).unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

#[test]
fn directories_and_missing_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["t.csv", "t.csv.gz", "t.npy", "m.json", "m.uai.gz", "m.npz", "m.evid"] {
        let path = folder.path().join(name);
        assert_eq!(read(&path).unwrap_err(), format!("{}: no such file", path.display()));
        fs::create_dir(&path).unwrap();
        assert_eq!(read(&path).unwrap_err(), format!("{}: is a directory, expected a file", path.display()));
    }
}

/// Names and paths that look like flags are shown unchanged in every style.
#[test]
fn names_and_paths_are_shown_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run --v2/a.csv");
    fs::create_dir(path.parent().unwrap()).unwrap();
    put(&path, b"--pain-left,b\n1,--not-a-value\n");
    let options = |weights: &str, drop: &str| TableOptions {
        weights: (!weights.is_empty()).then(|| weights.into()),
        drop: if drop.is_empty() { vec![] } else { vec![drop.into()] },
        ..Default::default()
    };
    for (options, problem) in [
        (options("", ""), "row 1 (line 2), column 'b': found '--not-a-value', expected 1/-1"),
        (
            options("--pain-right", ""),
            "header: there is no column '--pain-right' (did you mean '--pain-left'?)",
        ),
        (options("--pain-left", "--pain-left"), "column '--pain-left': is to be dropped"),
    ] {
        let error = read_table(&path, &options).unwrap_err();
        for style in [Style::Flags, Style::Keywords] {
            let text = error.text(style);
            assert!(text.starts_with(&format!("{}: {problem}", path.display())), "{text}");
        }
    }
}

/// Good files of every kind, to be damaged.
static GOOD_FILES: LazyLock<Vec<(&str, Vec<u8>)>> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let mut files = Vec::new();
    for name in ["m.json", "m.uai", "m.npz", "m.json.gz"] {
        let path = folder.path().join(name);
        write_model(&small_machine(), Output::create(&path).unwrap()).unwrap();
        files.push((name, fs::read(&path).unwrap()));
    }
    let mut text = Vec::new();
    let columns = ["a", "b \"b\"", "c\nc"].map(str::to_owned);
    let rows = [[1, -1, 1], [0, 1, -1], [-1, 0, 0]];
    write_table(&columns, rows.iter(), Values::PlusMinus, &mut text, b',').unwrap();
    files.push(("t.csv", text));
    files.push(("m.evid", b"1\n2 0 1 2 0\n".to_vec()));
    for name in ["machine.npz", "compressed.npz", "floats.npy", "version2.npy"] {
        files.push((name, fs::read(fixture(name)).unwrap()));
    }
    #[cfg(feature = "parquet")]
    files.push(("table.parquet", fs::read(fixture("table.parquet")).unwrap()));
    files
});

#[test]
fn truncated_files_cause_no_panic() {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in GOOD_FILES.iter() {
        let path = folder.path().join(name);
        for length in 0..bytes.len() {
            put(&path, &bytes[..length]);
            let found = read(&path);
            // These may end in several places; elsewhere a cut is always noticed, except before
            // the line end of JSON.
            let noticed = !["m.uai", "m.evid", "t.csv", "table.parquet"].contains(name);
            if noticed && length + 1 < bytes.len() {
                assert!(found.is_err(), "{name} cut to {length} bytes of {}", bytes.len());
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn changed_bytes_cause_no_panic(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..5),
    ) {
        let folder = tempfile::tempdir().unwrap();
        for (name, mut bytes) in GOOD_FILES.iter().cloned() {
            for (place, byte) in &changes {
                let place = place.index(bytes.len());
                bytes[place] = *byte;
            }
            let path = folder.path().join(name);
            put(&path, &bytes);
            let _ = read(&path);
        }
    }

    #[test]
    fn random_bytes_cause_no_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let folder = tempfile::tempdir().unwrap();
        for name in ["t.csv", "t.csv.gz", "t.npy", "m.json", "m.uai", "m.npz", "m.evid"] {
            let path = folder.path().join(name);
            put(&path, &bytes);
            let _ = read(&path);
        }
    }
}
