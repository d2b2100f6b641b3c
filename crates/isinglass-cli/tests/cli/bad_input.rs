//! Bad input: exit code 1 or 2, a message that names the place, no panic, nothing half-written.

use std::fmt::Write as _;

use crate::Room;

const GOOD: &str = r#"{"format":"isinglass/1","temperature":1.0,"units":[{"name":"a","role":"visible","bias":0.0},{"name":"b","role":"visible","bias":0.0}],"edges":[[0,1,0.5]]}"#;

/// The command fails with the code, and its message holds every word.
#[track_caller]
fn refused(room: &Room, line: &str, code: i32, words: &[&str]) {
    let before = room.files();
    let (found, message) = room.fails(line);
    assert_eq!(found, code, "isinglass {line}\n{message}");
    for word in words {
        assert!(message.contains(word), "isinglass {line}: no '{word}' in\n{message}");
    }
    assert_eq!(before, room.files(), "isinglass {line}: left files behind");
}

#[test]
fn one_bad_cell_deep_in_a_table_is_found() {
    let room = Room::new();
    let mut table = String::from("a,b\n");
    for row in 1..=100_000 {
        let cell = if row == 71_204 { "maybe" } else { "1" };
        writeln!(table, "0,{cell}").unwrap();
    }
    room.write("t.csv", table).write("m.json", GOOD);
    refused(&room, "fit t.csv -o out.json", 1, &["t.csv", "row 71204", "line 71205", "column 'b'", "maybe"]);
    refused(&room, "score m.json t.csv", 1, &["row 71204", "'b'"]);
}

#[test]
fn broken_models_are_refused_with_their_place() {
    let room = Room::new();
    let broken = [
        (GOOD.replace("0.5", "NaN"), vec!["line 1"]),
        (GOOD.replace("0.5", "1e999"), vec!["line 1"]),
        (GOOD.replace("[[0,1,0.5]]", "[[0,1,0.5],[0,1,0.2]]"), vec!["edges[1]"]),
        (GOOD.replace("[[0,1,0.5]]", "[[0,2,0.5]]"), vec!["edges[0]", "2"]),
        (GOOD.replace("[[0,1,0.5]]", "[[1,1,0.5]]"), vec!["edges[0]"]),
        (GOOD.replace("\"b\"", "\"a\""), vec!["units[1]", "'a'"]),
        (GOOD.replace("\"temperature\":1.0", "\"temperature\":0"), vec!["temperature"]),
        (GOOD.replace("isinglass/1", "other/7"), vec!["format"]),
        (GOOD[..60].to_owned(), vec!["line 1"]),
        (String::new(), vec!["empty"]),
        (format!("{GOOD} tail"), vec!["line 1"]),
    ];
    for (content, words) in broken {
        room.write("bad.json", &content);
        let mut all = vec!["bad.json"];
        all.extend(words);
        for command in ["infer bad.json", "map bad.json", "info bad.json", "convert bad.json out.uai"] {
            refused(&room, command, 1, &all);
        }
    }
}

#[test]
fn files_that_are_no_files_are_refused() {
    let room = Room::new();
    std::fs::create_dir(room.path().join("folder.json")).unwrap();
    std::fs::create_dir(room.path().join("folder.csv")).unwrap();
    room.write("m.json", GOOD)
        .write("t.csv", "a,b\n0,1\n")
        .write("empty.csv", "")
        .write("header.csv", "a,b\n");
    refused(&room, "infer folder.json", 1, &["folder.json", "directory"]);
    refused(&room, "fit folder.csv -o out.json", 1, &["folder.csv", "directory"]);
    refused(&room, "fit empty.csv -o out.json", 1, &["empty.csv", "empty"]);
    refused(&room, "fit header.csv -o out.json", 1, &["header.csv", "no rows"]);
    room.write("cells.csv", "1,0,0\n0,1,1\n1,1,0\n");
    refused(
        &room,
        "fit cells.csv -o out.json",
        1,
        &["cells.csv", "header, column 3", "hint", "row of cells"],
    );
    refused(&room, "infer absent.json", 1, &["absent.json", "no such file"]);
    refused(&room, "infer m.xyz", 1, &["m.xyz", ".json"]);
    refused(&room, "fit t.csv -o folder.json", 1, &["folder.json", "directory"]);
    refused(&room, "fit t.csv -o absent/out.json", 1, &["absent"]);
    refused(&room, "fit t.csv -o out.json --history absent/h.csv", 1, &["absent"]);
    refused(&room, "sample m.json -n 5 -o absent/out.csv", 1, &["absent"]);
    refused(&room, "make chain -n 5 -o out.txt", 1, &["out.txt", ".json"]);
}

#[test]
fn an_existing_output_survives_a_failure() {
    let room = Room::new();
    room.write("bad.csv", "a,b\n0,1\n0,x\n").write("out.json", GOOD);
    refused(&room, "fit bad.csv -o out.json", 1, &["row 2"]);
    assert_eq!(room.read("out.json"), GOOD);
}

#[test]
fn lists_of_edges_are_refused_with_their_line() {
    let room = Room::new();
    room.write("t.csv", "ann,bob,cem\n0,1,1\n1,1,0\n");
    let bad = [
        ("ann,bob\nbob\n", "line 2", "found 1 cell, expected 2 as on the lines before"),
        ("ann,bob,cem,dan\n", "line 1", "two names, or two names and a weight"),
        ("ann,bob\n\n# note\nbob,ann\n", "line 4", "the same pair as on line 1"),
        ("ann,ann\n", "line 1", "itself"),
        ("name,name,weight\nann,bob,1\n", "line 1", "found the weight 'weight'"),
        ("from,to,weight,sign\nann,bob,1\n", "line 2", "found 3 cells, expected 4 as in the header"),
        ("ann,bob,inf\n", "line 1", "finite"),
        ("ann,\n", "line 1", "empty"),
        ("# nothing\n", "e.csv", "no edges"),
    ];
    for (content, place, problem) in bad {
        room.write("e.csv", content);
        refused(&room, "make edges --edges e.csv -o out.json", 1, &["e.csv", place, problem]);
    }
    room.write("e.csv", "ann,bobb\n");
    refused(
        &room,
        "fit t.csv --visible-links edges:e.csv -o out.json",
        1,
        &["line 1", "'bobb'", "did you mean 'bob'"],
    );
}

#[test]
fn no_output_replaces_an_input() {
    let room = Room::new();
    room.write("m.json", GOOD).write("t.csv", "a,b\n0,1\n1,1\n");
    std::os::unix::fs::symlink("t.csv", room.path().join("link.csv")).unwrap();
    refused(&room, "sample m.json -n 5 -o m.json", 2, &["m.json"]);
    refused(&room, "sample m.json -n 5 -o s.npy", 2, &["s.npy", ".csv"]);
    refused(&room, "fit t.csv -o o.json --history t.csv", 2, &["t.csv", "replace the input"]);
    refused(&room, "fit t.csv -o o.json --history link.csv", 2, &["replace the input"]);
    assert_eq!((room.read("m.json"), room.read("t.csv")), (GOOD.into(), "a,b\n0,1\n1,1\n".into()));
    // Going on with a machine under its own name is what --init is for.
    room.ok("fit t.csv --l2 0.1 --init m.json -o m.json");
}

#[test]
fn tables_and_machines_that_do_not_fit_are_refused() {
    let room = Room::new();
    room.write("m.json", GOOD).write("other.csv", "a,c\n0,1\n").write("short.csv", "a\n1\n");
    room.write("n.csv", "a,b,n\n0,1,x\n").write("w.csv", "a,b,n\n0,1,-3\n");
    refused(&room, "score m.json other.csv", 1, &["other.csv", "column 'c'"]);
    refused(&room, "score m.json short.csv", 1, &["unit 'b'"]);
    refused(&room, "score m.json n.csv --weights n", 1, &["row 1", "'n'"]);
    refused(&room, "score m.json w.csv --weights n", 1, &["row 1", "'n'", "-3"]);
    room.write("zero.csv", "a,b,n\n0,1,0\n1,1,0\n");
    refused(&room, "fit zero.csv --weights n -o out.json", 1, &["zero.csv", "'n'", "all weights are 0"]);
    refused(&room, "score m.json n.csv --drop zzz", 1, &["zzz"]);
    refused(&room, "fit other.csv --inputs d -o out.json", 1, &["'d'"]);
    refused(&room, "fit other.csv --visible-links grid:3x3 -o out.json", 1, &["3 × 3", "2 units"]);
}

#[test]
fn wrong_command_lines_exit_with_two() {
    let room = Room::new();
    room.write("m.json", GOOD).write("t.csv", "a,b\n0,1\n");
    let wrong = [
        "",
        "frobnicate",
        "infer",
        "infer m.json --engine magic",
        "infer m.json --budget lots",
        "infer m.json --threads 0",
        "infer m.json --given a",
        "infer m.json --given a=2",
        "infer m.json --given a=0",
        "infer m.json --given a=1,a=-1",
        "infer m.json --threads 100000",
        "infer m.json --engine gibbs --samples 1",
        "infer m.json --engine gibbs --chains 0",
        "infer m.json --engine gibbs --thin 0",
        "query m.json",
        "sample m.json",
        "sample m.json -n -3",
        "make chain -o c.json",
        "make chain -n 5 --coupling strong -o c.json",
        "make ring -n 5 -o c.json",
        "make chain -n 0 -o c.json",
        "make chain -n 5 --rows 4 -o c.json",
        "make tree -n 5 --branching 0 -o c.json",
        "make chain -n 5 --temperature 0 -o c.json",
        "make chain -n 5 --temperature -1 -o c.json",
        "make chain -n 5 --coupling uniform:-1e308,1e308 -o c.json",
        "fit t.csv -o o.json --history o.json",
        "fit t.csv -o o.json --learner factorized --hidden 2",
        "fit t.csv -o o.json --visible-links edges:",
        "fit t.csv",
        "fit t.csv -o o.json --l2 -1",
        "fit t.csv -o o.json --l2 0.1 --learner factorized",
        "fit t.csv -o o.json --visible-links ring",
        "fit t.csv -o o.json --init m.json --hidden-links full",
        "fit t.csv -o o.json --init m.json --hidden 2,2",
        "fit t.csv -o o.json --hidden 2,0",
        "fit t.csv -o o.json --hidden some",
        "fit t.csv -o o.json --hidden auto --restarts 2",
        "fit t.csv -o o.json --hidden auto --learner pl-em",
        "fit t.csv -o o.json --hidden auto --engine tap",
        "fit t.csv -o o.json --hidden auto --checkpoint c.ck",
        "fit t.csv -o o.json --hidden auto --bootstrap 5",
        "fit t.csv -o o.json --optimizer newton",
        "fit t.csv -o o.json --optimizer adaptive --rate 0",
        "fit t.csv -o o.json --optimizer adaptive --rate -1",
        "fit t.csv -o o.json --optimizer momentum --rate nan",
        "fit t.csv -o o.json --optimizer momentum --momentum 1",
        "fit t.csv -o o.json --optimizer momentum --momentum -0.5",
        "fit t.csv -o o.json --tolerance nan",
        "fit t.csv -o o.json --restarts 0",
        "fit t.csv -o o.json --visible-links tree:2",
    ];
    for line in wrong {
        refused(&room, line, 2, &[]);
    }
}

#[test]
fn options_of_another_optimizer_or_learner_say_whose_they_are() {
    let room = Room::new();
    room.write("m.json", GOOD).write("t.csv", "a,b\n0,1\n");
    let wrong: [(&str, &[&str]); 8] = [
        ("--rate 0.1", &["--rate belongs to --optimizer momentum and adaptive"]),
        ("--optimizer cg --rate 0.1", &["--rate belongs to --optimizer momentum and adaptive"]),
        ("--momentum 0.5", &["--momentum belongs to --optimizer momentum"]),
        ("--optimizer adaptive --momentum 0.5", &["--momentum belongs to --optimizer momentum"]),
        ("--init m.json --restarts 2", &["--init", "--restarts"]),
        ("--learner factorized --restarts 2", &["factorized", "--restarts"]),
        ("--learner factorized --optimizer cg", &["--optimizer belongs to --learner likelihood"]),
        ("--learner factorized --optimizer adaptive --rate 1", &["belongs to --learner likelihood"]),
    ];
    for (options, words) in wrong {
        refused(&room, &format!("fit t.csv -o o.json {options}"), 2, words);
    }
}

#[test]
fn lattices_that_cannot_be_are_refused_by_the_option_that_is_wrong() {
    let room = Room::new();
    let twice = "2 would be joined twice";
    for (line, words) in [
        ("grid --rows 2 --columns 5 --periodic", vec!["--rows: found 2, expected 1 or at least 3", twice]),
        ("chain --units 2 --periodic", vec!["--units: found 2", twice]),
        ("grid3 --rows 3 --columns 3 --layers 2 --periodic", vec!["--layers: found 2", twice]),
        ("grid8 --rows 3 --columns 1 --periodic", vec!["--columns: found 1, expected at least 3"]),
        ("triangular --rows 2 --columns 3 --periodic", vec!["--rows: found 2, expected at least 3"]),
        ("regular --units 5 --degree 3", vec!["--degree: found 3 with 5 units", "to be even"]),
        (
            "regular --units 5 --degree 5",
            vec!["--degree: found 5, expected less than the number of units, 5"],
        ),
        ("regular --units 5", vec!["make regular needs --degree N"]),
        ("grid3 --rows 2 --columns 2", vec!["make grid3 needs --layers N"]),
        ("full --units 5 --periodic", vec!["make full does not accept --periodic"]),
        ("grid --rows 3 --columns 3 --layers 3", vec!["make grid does not accept --layers"]),
        ("chain --units 3 --degree 2", vec!["make chain does not accept --degree"]),
        ("regular --units 5 --degree 0", vec!["--degree <N>", "expected a whole number of at least 1"]),
        (
            "grid3 --rows 2 --columns 2 --layers -1",
            vec!["--layers <N>", "expected a whole number of at least 1"],
        ),
    ] {
        refused(&room, &format!("make {line} -o m.json"), 2, &words);
    }
}

#[test]
fn names_and_requests_that_the_machine_cannot_meet_say_why() {
    let room = Room::new();
    room.write("m.json", GOOD);
    refused(&room, "infer m.json --given aa=1", 1, &["--given", "'aa'", "did you mean 'a'"]);
    room.write("huge.json", GOOD.replace("0.5", "1e308").replace("\"bias\":0.0", "\"bias\":1e308"));
    for line in
        ["infer huge.json", "sample huge.json -n 2", "map huge.json", "infer huge.json --engine gibbs"]
    {
        refused(&room, line, 1, &["divided by the temperature add up to"]);
    }
    refused(&room, "query m.json --ask a,a", 2, &["'a'", "twice"]);
    refused(&room, "query m.json --ask a --given a=1", 2, &["'a'", "both asked for and given"]);
    refused(&room, "map m.json --engine gibbs", 1, &["gibbs", "enumerate"]);
    room.ok("make chain -n 70 -o long.json");
    refused(&room, "infer long.json --engine enumerate", 1, &["2^70", "EiB", "1 GiB"]);
    room.ok("make full -n 70 -o dense.json");
    refused(
        &room,
        "map dense.json --engine eliminate",
        1,
        &["70 free units", "the budget is 1 GiB", "hint:"],
    );
    for line in [
        "make full -n 10000000 -o big.json",
        "make grid --rows 9999999999 --columns 9999999999 -o big.json",
        "make grid3 --rows 9999999 --columns 9999999 --layers 9999999 --periodic -o big.json",
        "make regular --units 99999999 --degree 9999 -o big.json",
        "make rbm --visible 18446744073709551615 --hidden 2 -o big.json",
        "sample m.json -n 1000000000000",
        "sample long.json -n 1000000000000",
        "infer m.json --engine gibbs --chains 18446744073709551615",
    ] {
        refused(&room, line, 1, &["needs", "the budget is 1 GiB"]);
    }
    room.write("t.csv", "a,b\n0,1\n1,1\n");
    refused(&room, "fit t.csv --hidden 1000000000000 -o big.json", 1, &["needs", "the budget is 1 GiB"]);
    refused(&room, "infer long.json --engine gibbs --samples 900000000", 1, &["needs", "budget is 1 GiB"]);
}
