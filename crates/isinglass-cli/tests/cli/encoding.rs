//! Tables that are not binary as they stand: thresholds and words, in the model file and after it.

use crate::Room;

/// Forty people; age and illness go together.
fn people() -> String {
    let row = |k: usize| {
        let (age, sex) = (20 + k, if k.is_multiple_of(3) { "f" } else { "m" });
        let ill = if (k > 20) == k.is_multiple_of(7) { "no" } else { "yes" };
        format!("p{k},{age}.5,{sex},{ill}\n")
    };
    format!("id,age,sex,ill\n{}p40,NA,,?\n", (0..40).map(row).collect::<String>())
}

#[test]
fn a_model_reads_raw_tables_as_its_fit_did() {
    let room = Room::new();
    room.write("raw.csv", people());
    let binary = people().lines().skip(1).fold("age,sex,ill\n".to_owned(), |text, line| {
        let cells: Vec<&str> = line.split(',').collect();
        let age = cells[1].parse::<f64>().map_or("", |age| if age > 40.0 { "1" } else { "0" });
        let sex = match cells[2] {
            "f" => "0",
            "m" => "1",
            _ => "",
        };
        text + &format!("{age},{sex},{}\n", cells[3])
    });
    room.write("binary.csv", binary);
    let raw = room.json("fit raw.csv --drop id --threshold age>40 --words sex=f/m --l2 0.01 -o raw.json");
    let plain = room.json("fit binary.csv --l2 0.01 -o plain.json");
    assert_eq!(raw["log_likelihood"], plain["log_likelihood"]);
    assert!(room.read("raw.json").contains(r#""age": {"above": 40.0}"#));
    let scores =
        ["score raw.json raw.csv --drop id", "score plain.json binary.csv"].map(|line| room.json(line));
    assert_eq!(scores[0], scores[1]);
    room.ok("complete raw.json raw.csv --drop id -o whole.csv");
    let (before, after) = (people(), room.read("whole.csv"));
    let rows = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(rows(&before)[..41], rows(&after)[..41], "what is there stays as it was");
    let last = &rows(&after)[41];
    let cells: Vec<&str> = last.split(',').collect();
    assert!(["<=40", ">40"].contains(&cells[1]) && ["f", "m"].contains(&cells[2]), "{last}");
    // The machine keeps it through other formats of its own kind.
    room.ok("convert raw.json again.json");
    assert_eq!(room.read("again.json"), room.read("raw.json"));
    let (_, notes) = (room.ok("convert raw.json raw.uai"), room.json("convert raw.json raw.npz"));
    assert_eq!(notes["notes"][0]["code"], "encodings-not-kept");
}

#[test]
fn medians_and_files_of_thresholds() {
    let room = Room::new();
    room.write("raw.csv", people()).write("t.csv", "column,threshold\nage,40\n");
    room.ok("fit raw.csv --drop id,sex --binarize median --l2 0.01 -o m.json");
    assert!(
        room.read("m.json").contains(r#""encoding": {"age": {"above": 40.0}}"#),
        "the median of 20.5 to 59.5"
    );
    room.ok("fit raw.csv --drop id,sex --binarize t.csv --l2 0.01 -o t.json");
    assert_eq!(room.read("m.json"), room.read("t.json"));
    let found = room.json("compare raw.csv --by sex --drop id --binarize median --permutations 19 --l2 0.01");
    assert_eq!(found["groups"].as_array().unwrap().len(), 2);
}

#[test]
fn what_cannot_be_read_names_row_and_column() {
    let room = Room::new();
    room.write("raw.csv", people())
        .write("one.csv", "a,b\n3,1\n3,0\n")
        .write("t.csv", "column,threshold\nage\n");
    let fails = |line: &str| room.fails(&format!("{line} -o m.json"));
    let (code, error) = fails("fit raw.csv --drop id --threshold age>40");
    assert!(code == 1 && error.contains("raw.csv: row 1 (line 2), column 'sex': found 'f'"), "{error}");
    let (_, error) = fails("fit raw.csv --drop id,sex,age --threshold ill>1");
    assert!(error.contains("column 'ill': found 'yes', expected a number, which is +1 above 1"), "{error}");
    let (_, error) = fails("fit raw.csv --drop id --threshold age>40 --words sex=w/m");
    assert!(
        error.contains("row 1 (line 2), column 'sex': found 'f', expected 'w' for -1, 'm' for +1"),
        "{error}"
    );
    let (_, error) = fails("fit raw.csv --drop id --threshold aged>40");
    assert!(error.contains("header: there is no column 'aged'"), "{error}");
    let (_, error) = fails("fit one.csv --binarize median");
    assert!(error.contains("column 'a': holds one number only") && error.contains("hint: "), "{error}");
    let (_, error) = fails("fit raw.csv --drop id,sex --binarize t.csv");
    assert!(error.contains("t.csv: line 2: found 'age'"), "{error}");
    let (code, error) = fails("fit raw.csv --threshold age");
    assert!(code == 2 && error.contains("COLUMN>NUMBER"), "{error}");
    let (code, error) = fails("fit raw.csv --words age=1");
    assert!(code == 2 && error.contains("COLUMN=LOW/HIGH"), "{error}");
    assert_eq!(room.files().iter().filter(|name| name.contains("m.json")).count(), 0);
}
