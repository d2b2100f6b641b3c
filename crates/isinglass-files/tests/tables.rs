//! Tables: every dialect is read, what is written is read back, and a column uses one kind of word.

// A test may fail by panicking.
#![allow(clippy::unwrap_used)]

mod common;

use std::io::Write;

use common::{fixture, names};
use flate2::Compression;
use flate2::write::GzEncoder;
use isinglass::Table;
use isinglass_files::{
    CellForm, Output, Sheet, TableOptions, Values, parse_csv, read_sheet, read_table, write_sheet,
    write_table,
};
use proptest::prelude::*;

/// The words of each dialect for +1, −1 and missing.
const DIALECTS: [[&[&str]; 2]; 6] = [
    [&["1", "+1", " 1 ", "\"1\""], &["-1", " -1", "\"-1\""]],
    [&["1", "\"1\"", " \"1\" "], &["0", "0 ", "\"0\""]],
    [&["true", "True", "TRUE", "\"TRUE\""], &["false", "False", "FALSE ", "\"false\""]],
    [&["yes", "Yes", "YES", "\"yes\""], &["no", "No", " NO", "\"no\""]],
    [&["y", "Y", "\"y\""], &["n", "N", " n"]],
    [&["+", " +", "\"+\""], &["-", "- ", "\"-\""]],
];

const MISSING: [&str; 8] = ["", "NA", "nan", "NaN", "?", "na", " ", "\"\""];

fn parse(text: &str) -> Table {
    parse_csv(text.as_bytes(), "t.csv", b',', &TableOptions::default()).unwrap()
}

fn message(text: &str) -> String {
    parse_csv(text.as_bytes(), "t.csv", b',', &TableOptions::default()).unwrap_err().to_string()
}

/// The rows of a table as they were given.
fn rows(table: &Table) -> Vec<Vec<i8>> {
    table.distinct_of().iter().map(|&k| table.row(k as usize).to_vec()).collect()
}

/// Column names and rows of −1, 0 and +1.
fn cells() -> impl Strategy<Value = (Vec<String>, Vec<Vec<i8>>)> {
    names(1..6usize).prop_flat_map(|names| {
        let row = proptest::collection::vec(-1..=1i8, names.len());
        (Just(names), proptest::collection::vec(row, 1..30))
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(
        (names, cells) in cells(),
        values in prop_oneof![Just(Values::PlusMinus), Just(Values::ZeroOne)],
        separator in prop_oneof![Just(b','), Just(b'\t'), Just(b';')],
    ) {
        let mut text = Vec::new();
        write_table(&names, cells.iter(), values, &mut text, separator).unwrap();
        let table = parse_csv(&text, "t", separator, &TableOptions::default()).unwrap();
        prop_assert_eq!(table.columns(), names);
        prop_assert_eq!(rows(&table), cells);
    }

    /// The csv crate splits our text in the same way.
    #[test]
    fn others_read_the_same_header((names, cells) in cells()) {
        let mut text = Vec::new();
        write_table(&names, cells.iter(), Values::PlusMinus, &mut text, b',').unwrap();
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(&text[..]);
        let mut records = reader.records().map(Result::unwrap);
        let header = records.next().unwrap();
        prop_assert_eq!(header.iter().collect::<Vec<_>>(), names);
        for (record, row) in records.zip(&cells) {
            let found: Vec<_> = record.iter().map(str::to_owned).collect();
            let expected: Vec<_> = row.iter().map(|&cell| Values::PlusMinus.word(cell).to_owned()).collect();
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn every_dialect_gives_the_same_cells(
        cells in proptest::collection::vec(proptest::collection::vec((-1..=1i8, 0..100usize), 6), 1..20),
        crlf in any::<bool>(),
        ends in any::<bool>(),
    ) {
        let end = if crlf { "\r\n" } else { "\n" };
        let lines: Vec<String> = cells.iter().map(|row| {
            let words: Vec<&str> = row.iter().zip(DIALECTS).map(|(&(cell, choice), [up, down])| {
                let words = match cell { 1 => up, -1 => down, _ => &MISSING[..] };
                words[choice % words.len()]
            }).collect();
            words.join(",")
        }).collect();
        let text = format!("a,b,c,d,e,f{end}{}{}", lines.join(end), if ends { end } else { "" });
        let expected: Vec<Vec<i8>> = cells.iter().map(|row| row.iter().map(|cell| cell.0).collect()).collect();
        prop_assert_eq!(rows(&parse(&text)), expected);
    }

    #[test]
    fn numpy_tables_are_read_like_text(cells in proptest::collection::vec([-1..=1i8, 0..=1i8, -1..=1i8], 1..20)) {
        // Column 1 is 0/1; in the others 0 is not a value, so it is written as NaN.
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, 3), }}\n", cells.len());
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        for row in &cells {
            for (k, &cell) in row.iter().enumerate() {
                let number = if cell == 0 && k != 1 { f32::NAN } else { f32::from(cell) };
                bytes.extend(number.to_le_bytes());
            }
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.npy");
        std::fs::write(&path, bytes).unwrap();
        let table = read_table(&path, &TableOptions::default()).unwrap();
        let expected: Vec<Vec<i8>> = cells.iter().map(|&[a, b, c]| vec![a, 2 * b - 1, c]).collect();
        prop_assert_eq!(table.columns(), ["x0", "x1", "x2"]);
        prop_assert_eq!(rows(&table), expected);
    }
}

#[test]
fn headers_may_have_marks_quotes_and_spaces() {
    let table = parse("\u{feff}a, b ,\"c, \"\"c\"\"\",\" d\"\r\n1,0,-1,?\r\n\r\n\n");
    assert_eq!(table.columns(), ["a", "b", "c, \"c\"", " d"]);
    assert_eq!(rows(&table), [[1, -1, -1, 0]]);
    let table = parse("\"a\nb\",c\n1,0\n0,1\n");
    assert_eq!(table.columns(), ["a\nb", "c"]);
    assert!(message("\"a\nb\",c\n1,0\n0,x\n").starts_with("t.csv: row 2 (line 4), column 'c': found 'x'"));
}

#[test]
fn one_column_uses_one_kind_of_word() {
    let conflict = |words: &[&str]| {
        message(&format!("a,b\n{}\n", words.iter().map(|w| format!("1,{w}")).collect::<Vec<_>>().join("\n")))
    };
    let text = conflict(&["1", "-1", "0"]);
    assert_eq!(
        text,
        "t.csv: row 3 (line 4), column 'b': found '0', but the rows above hold 1/-1: one column uses one kind of word"
    );
    assert!(
        conflict(&["1", "yes"])
            .contains("row 2 (line 3), column 'b': found 'yes', but the rows above hold 1/-1 or 0/1")
    );
    assert!(
        conflict(&["y", "NA", "no"])
            .contains("row 3 (line 4), column 'b': found 'no', but the rows above hold y/n")
    );
    assert!(conflict(&["0", "+1"]).contains("hold 0/1"));
    assert!(conflict(&["+", "1"]).contains("hold +/-"));
    assert!(conflict(&["true", "y"]).contains("hold true/false"));
    // Columns may differ in their words, and `1` may share a column with `-1` or with `0`.
    assert_eq!(rows(&parse("a,b\n1,1\n-1,0\n")), [[1, 1], [-1, -1]]);
}

#[test]
fn rows_and_lines_are_counted_from_one() {
    let text = format!("a,b\n{}1,maybe\n", "1,0\n".repeat(71203));
    assert_eq!(
        message(&text),
        "t.csv: row 71204 (line 71205), column 'b': found 'maybe', expected 0/1 as in the rows above, \
         or nothing, NA, NaN or ? for a missing cell"
    );
    assert_eq!(
        message("a\nmaybe\n"),
        "t.csv: row 1 (line 2), column 'a': found 'maybe', expected 1/-1, 0/1, true/false, yes/no, y/n or +/-, \
         or nothing, NA, NaN or ? for a missing cell"
    );
}

#[test]
fn weights_and_dropped_columns() {
    let text = b"id,a,n,b\nu1,1,2.5,0\n\"u,2\",1,0,0\nu3,,1e3,1\n";
    let options = TableOptions { weights: Some("n".into()), drop: vec!["id".into()], ..Default::default() };
    let table = parse_csv(text, "t.csv", b',', &options).unwrap();
    assert_eq!(table.columns(), ["a", "b"]);
    assert_eq!((table.row_count(), table.weight(0), table.weight(1)), (3, 2.5, 1000.0));
    let refused = |weights: Option<&str>, drop: &[&str]| {
        let options = TableOptions {
            weights: weights.map(Into::into),
            drop: drop.iter().map(|&name| name.to_owned()).collect(),
            ..Default::default()
        };
        parse_csv(text, "t.csv", b',', &options).unwrap_err().to_string()
    };
    assert_eq!(refused(Some("N1"), &["id"]), "t.csv: header: there is no column 'N1' (did you mean 'n'?)");
    assert_eq!(refused(None, &["zebra"]), "t.csv: header: there is no column 'zebra'");
    assert!(refused(None, &["a", "b", "n", "id"]).contains("no column is left"));
    assert_eq!(
        refused(Some("a"), &["a"]),
        "t.csv: column 'a': is to be dropped and to hold the weights, expected one of the two\n\
         hint: name the column in --drop or in --weights, not in both"
    );
    assert!(refused(Some("id"), &[]).contains("row 1 (line 2), column 'id': found 'u1', expected a weight"));
}

#[test]
fn compressed_tables_are_read_too() {
    let folder = tempfile::tempdir().unwrap();
    let pack = |name: &str, parts: &[&[u8]]| {
        let mut packed = Vec::new();
        for part in parts {
            let mut encoder = GzEncoder::new(&mut packed, Compression::default());
            encoder.write_all(part).unwrap();
            encoder.finish().unwrap();
        }
        let path = folder.path().join(name);
        std::fs::write(&path, packed).unwrap();
        path
    };
    let expected = parse("a,b\n1,0\n,1\n");
    let read = |path: std::path::PathBuf| read_table(&path, &TableOptions::default()).unwrap();
    assert_eq!(read(pack("t.csv.gz", &[b"a,b\n1,0\n,1\n"])), expected);
    assert_eq!(read(pack("t.tsv.GZ", &[b"a\tb\n1\t0\n", b"\t1\n"])), expected);
    let npy = std::fs::read(fixture("truth.npy")).unwrap();
    assert_eq!(rows(&read(pack("t.npy.gz", &[&npy]))), [[1, -1, 1], [-1, -1, 1]]);
}

#[test]
fn numpy_files_are_read() {
    let read = |name: &str| rows(&read_table(&fixture(name), &TableOptions::default()).unwrap());
    assert_eq!(read("truth.npy"), [[1, -1, 1], [-1, -1, 1]]);
    assert_eq!(read("floats.npy"), [[1, -1], [-1, 0], [0, 1]]);
    assert_eq!(read("big_endian.npy"), [[1, -1], [-1, 1]]);
    assert_eq!(read("version2.npy"), [[1, -1]]);
    let options = TableOptions { weights: Some("x1".into()), drop: vec!["x0".into()], ..Default::default() };
    let table = read_table(&fixture("truth.npy"), &options).unwrap();
    assert_eq!((table.columns(), table.weight(0)), (["x2".to_owned()].as_slice(), 0.0));
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_files_are_read() {
    let options = TableOptions { weights: Some("count".into()), drop: vec![], ..Default::default() };
    let table = read_table(&fixture("table.parquet"), &options).unwrap();
    assert_eq!(table.columns(), ["truth", "number", "float", "text"]);
    assert_eq!(rows(&table), [[1, 1, -1, 1], [-1, -1, 1, 0], [0, 0, 0, -1]]);
    assert_eq!(table.weight(0), 2.5);
    let message = read_table(&fixture("table.parquet"), &TableOptions::default()).unwrap_err().to_string();
    assert!(message.ends_with(
        "row 1, column 'count': found 2.5, expected 1 and -1, or 0 and 1, or NaN for a missing cell"
    ));
    let options =
        TableOptions { weights: Some("number".into()), drop: vec!["count".into()], ..Default::default() };
    let message = read_table(&fixture("table.parquet"), &options).unwrap_err().to_string();
    assert!(message.contains("row 2, column 'number': found -1, expected a weight"), "{message}");
}

#[cfg(not(feature = "parquet"))]
#[test]
fn parquet_files_need_their_feature() {
    let message = read_table(&fixture("table.parquet"), &TableOptions::default()).unwrap_err().to_string();
    assert!(message.contains("does not read Parquet") && message.contains("--features parquet"), "{message}");
}

/// Writes a sheet to a file with a name, each missing cell as +1.
fn fill(sheet: &Sheet, added: &[String], form: CellForm, name: &str) -> Result<Vec<u8>, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    let output = Output::create(&path).map_err(|error| error.to_string())?;
    let cells = rows(&sheet.table);
    let number = |cell: &i8| if *cell == 0 { 0.25 } else { f64::from(*cell) };
    let row = |k: usize, to: &mut Vec<f64>| {
        to.extend(cells[k].iter().map(number).chain(added.iter().map(|_| -0.5)));
    };
    write_sheet(sheet, added, form, row, output).map_err(|error| error.to_string())?;
    Ok(std::fs::read(path).unwrap())
}

fn sheet(text: &str, name: &str, options: &TableOptions) -> Sheet {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    read_sheet(&path, options).unwrap()
}

#[test]
fn a_sheet_is_written_as_it_was_except_for_missing_cells() {
    let options = TableOptions {
        weights: Some("n".into()),
        drop: vec!["id".into(), "note".into()],
        ..Default::default()
    };
    let text =
        "id,a,\"b,c\",n,d,e,note\nk1,Yes,-1,1.50,0,?,\"a \"\"quote\"\"\"\nk2,,1,2,NA,,\nk1,No,?,0.25,1,, x\n";
    let sheet = sheet(text, "t.csv", &options);
    let added = ["new".to_owned()];
    let found = String::from_utf8(fill(&sheet, &added, CellForm::Words, "out.csv").unwrap()).unwrap();
    assert_eq!(
        found,
        "id,a,\"b,c\",n,d,e,note,new\nk1,Yes,-1,1.50,0,Yes,\"a \"\"quote\"\"\",No\nk2,Yes,1,2,1,Yes,,No\nk1,No,1,0.25,1,Yes,\" x\",No\n"
    );
    let found = String::from_utf8(fill(&sheet, &[], CellForm::Numbers, "out.tsv").unwrap()).unwrap();
    assert!(found.starts_with("id\ta\tb,c\tn\td\te\tnote\nk1\t1\t-1\t1.50\t-1\t0.25\t"), "{found}");
    let message = fill(&sheet, &[], CellForm::Words, "out.npy").unwrap_err();
    assert!(message.contains("row 1, column 'id': found 'k1', and an .npy file holds numbers"), "{message}");
    for ending in ["out.json", "out", "out.csv.gz"] {
        assert!(
            fill(&sheet, &[], CellForm::Words, ending).unwrap_err().contains(".csv, .tsv or .npy"),
            "{ending}"
        );
    }
}

#[test]
fn sheets_become_matrices_of_numbers() {
    let options = TableOptions { weights: Some("n".into()), drop: Vec::new(), ..Default::default() };
    let weighted = sheet("a,n,b\n0,2.5,n\n,1,y\n", "t.csv", &options);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.npy");
    std::fs::write(&path, fill(&weighted, &[], CellForm::Words, "m.npy").unwrap()).unwrap();
    let options = TableOptions { weights: Some("x1".into()), drop: Vec::new(), ..Default::default() };
    let back = read_sheet(&path, &options).unwrap();
    assert_eq!(rows(&back.table), [[-1, -1], [1, 1]]);
    assert_eq!((back.table.weight(0), back.table.weight(1)), (2.5, 1.0));
    // From numbers to numbers again: integers, as they were.
    let plain = sheet("a,b\n0,\n1,-1\n", "t.csv", &TableOptions::default());
    let bytes = fill(&plain, &[], CellForm::Words, "m.npy").unwrap();
    let whole: Vec<i64> =
        bytes[bytes.len() - 32..].chunks(8).map(|x| i64::from_le_bytes(x.try_into().unwrap())).collect();
    assert_eq!(whole, [0, 1, 1, -1]);
    let bytes = fill(&plain, &[], CellForm::Numbers, "m.npy").unwrap();
    let numbers: Vec<f64> =
        bytes[bytes.len() - 32..].chunks(8).map(|x| f64::from_le_bytes(x.try_into().unwrap())).collect();
    assert_eq!(numbers, [-1.0, 0.25, 1.0, -1.0]);
}
