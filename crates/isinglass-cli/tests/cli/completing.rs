//! What `complete` writes: the same table, its gaps filled.

use crate::Room;

/// a –1– b –(−1)– c, and h –0.5– a hidden; d is an input that pulls c.
const MODEL: &str = r#"{"format": "isinglass/1", "temperature": 1.0,
 "units": [{"name": "a", "role": "visible", "bias": 0.2}, {"name": "b", "role": "visible", "bias": 0.0}, {"name": "c", "role": "visible", "bias": 0.0},
           {"name": "h", "role": "hidden", "bias": 0.1}, {"name": "d", "role": "input", "bias": 0.0}],
 "edges": [[0, 1, 1.0], [0, 3, 0.5], [1, 2, -1.0], [2, 4, 0.4]]}"#;

/// P(+1) of a unit given some others, by a sum over all states; units in the order a b c h d.
fn probability(unit: usize, given: &[(usize, f64)]) -> f64 {
    let spin = |number: usize, unit: usize| -> f64 { if number >> unit & 1 == 1 { 1.0 } else { -1.0 } };
    let (mut up, mut all) = (0.0, 0.0);
    for number in 0..32 {
        let [a, b, c, h, d] = [0, 1, 2, 3, 4].map(|unit| spin(number, unit));
        let weight = (0.2 * a + 0.1 * h + a * b + 0.5 * a * h - b * c + 0.4 * c * d).exp();
        if given.iter().all(|&(unit, s)| spin(number, unit) == s) {
            all += weight;
            up += if spin(number, unit) > 0.0 { weight } else { 0.0 };
        }
    }
    up / all
}

fn cells(text: &str, separator: char) -> Vec<Vec<String>> {
    text.lines().map(|line| line.split(separator).map(str::to_owned).collect()).collect()
}

#[test]
fn names_can_be_written_for_spreadsheets() {
    let room = Room::new();
    room.write("t.csv", "=a,+b,@c,note,d\n1,0,1,=cmd(),1\n0,0,1,-1.5,0\n1,1,0,x,\n0,1,1,@y,1\n");
    room.ok("fit t.csv --drop note --l2 0.1 -o m.json --network n.csv --spreadsheet-safe");
    assert!(room.read("n.csv").lines().skip(1).all(|line| !line.starts_with(['=', '+', '@'])));
    room.ok("complete m.json t.csv --drop note -o safe.csv --spreadsheet-safe");
    let safe = room.read("safe.csv");
    assert!(safe.starts_with("'=a,'+b,'@c,note,d\n1,0,1,'=cmd(),1\n0,0,1,-1.5,0\n"), "{safe}");
    assert!(room.ok("sample m.json -n 1 --spreadsheet-safe").starts_with("'=a,'+b,'@c,d\n"));
    room.ok("complete m.json t.csv --drop note -o plain.csv");
    assert!(room.read("plain.csv").starts_with("=a,+b,@c,note,d\n1,0,1,=cmd(),1\n"));
}

#[test]
fn gaps_are_filled_in_the_words_of_their_columns() {
    let room = Room::new();
    let table = "id,b,a,n,c,d\nk1,yes,?,2.50,TRUE,1\nk2,,0,1,,0\nk1,no,1,0,FALSE,1\nk4,,1,1,,\n";
    room.write("m.json", MODEL).write("t.csv", table);
    let mut answer = room.json("complete m.json t.csv --drop id --weights n -o all.csv");
    let notes = answer.as_object_mut().unwrap().remove("notes").unwrap();
    assert_eq!(notes[1]["code"], "filled-inputs");
    assert_eq!(
        answer,
        serde_json::json!({"output": "all.csv", "rows": 4, "filled": 6, "added": [], "engine": "decimate",
            "guarantee": "exact", "converged": true, "mixing": null, "iteration": null, "warnings": []})
    );
    let (input, found) = (cells(table, ','), cells(&room.read("all.csv"), ','));
    let words = |unit: usize, given: &[(usize, f64)], words: [&str; 2]| {
        words[usize::from(probability(unit, given) >= 0.5)].to_owned()
    };
    let mut expected = input.clone();
    expected[1][2] = words(0, &[(1, 1.0), (2, 1.0), (4, 1.0)], ["0", "1"]);
    let second = [(0, -1.0), (4, -1.0)];
    expected[2][1] = words(1, &second, ["no", "yes"]);
    expected[2][4] = words(2, &second, ["FALSE", "TRUE"]);
    expected[4][1] = words(1, &[(0, 1.0)], ["no", "yes"]);
    expected[4][4] = words(2, &[(0, 1.0)], ["FALSE", "TRUE"]);
    expected[4][5] = words(4, &[(0, 1.0)], ["0", "1"]);
    assert_eq!(found, expected);
    let report = room.ok("complete m.json t.csv --drop id --weights n -o all.csv");
    assert_eq!(report, "4 rows, 6 cells filled\nengine decimate: exact\nwrote all.csv\n");
}

#[test]
fn probabilities_have_all_their_digits() {
    let room = Room::new();
    room.write("m.json", MODEL).write("t.tsv", "a\tb\tc\td\n1\t\t0\t1\n\t\t\t0\n");
    room.ok("complete m.json t.tsv --probabilities -o p.tsv");
    let found = cells(&room.read("p.tsv"), '\t');
    let number = |row: usize, column: usize| found[row][column].parse::<f64>().unwrap();
    let close = |x: f64, y: f64| assert!((x - y).abs() < 1e-12, "found {x}, expected {y}");
    assert_eq!([&found[1][0], &found[1][2], &found[1][3], &found[2][3]], ["1", "0", "1", "0"]);
    close(number(1, 1), probability(1, &[(0, 1.0), (2, -1.0), (4, 1.0)]));
    for (column, unit) in [(0, 0), (1, 1), (2, 2)] {
        close(number(2, column), probability(unit, &[(4, -1.0)]));
    }
    for engine in ["enumerate", "eliminate"] {
        room.ok(&format!("complete m.json t.tsv --probabilities --engine {engine} -o other.tsv"));
        let other = cells(&room.read("other.tsv"), '\t');
        close(other[2][0].parse().unwrap(), number(2, 0));
    }
}

#[test]
fn units_without_a_column_get_one() {
    let room = Room::new();
    room.write("m.json", MODEL).write("t.csv", "d,a\ny,n\nn,y\n");
    let output = room.run("complete m.json t.csv -o all.csv --json");
    let note = String::from_utf8(output.stderr).unwrap();
    assert!(
        note.contains("2 columns added at the end, for units that the table has no column for (b, c)"),
        "{note}"
    );
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&answer["filled"], &answer["added"]), (&4.into(), &serde_json::json!(["b", "c"])));
    let text = room.read("all.csv");
    assert_eq!(text.lines().next(), Some("d,a,b,c"));
    assert!(
        text.lines().skip(1).all(|line| line.split(',').all(|cell| cell == "y" || cell == "n")),
        "{text}"
    );
}

#[test]
fn a_table_without_gaps_is_copied() {
    let room = Room::new();
    let table = "a,b,c,d\n1,0,1,1\n0,0,1,0\n";
    room.write("m.json", MODEL).write("t.csv", table);
    let answer = room.json("complete m.json t.csv -o all.csv");
    assert_eq!((&answer["engine"], &answer["filled"]), (&serde_json::Value::Null, &0.into()));
    assert_eq!((&answer["guarantee"], &answer["converged"]), (&"exact".into(), &true.into()));
    assert_eq!(room.read("all.csv"), table);
    assert_eq!(room.ok("complete m.json t.csv -o all.csv"), "2 rows, 0 cells filled\nwrote all.csv\n");
}

#[test]
fn matrices_are_read_and_written() {
    let room = Room::new();
    room.ok("make chain -n 3 --coupling 2 -o chain.json");
    room.write("t.csv", "x0,x1,x2\n1,0,\n,1,1\n");
    room.ok("complete chain.json t.csv -o all.npy");
    room.ok("complete chain.json all.npy -o again.csv");
    assert_eq!(room.read("again.csv"), "x0,x1,x2\n1,0,0\n1,1,1\n");
    room.ok("complete chain.json t.csv --probabilities -o chances.npy");
    // 128 bytes of head, then six numbers; the third is missing and follows x1.
    let bytes = std::fs::read(room.path().join("chances.npy")).unwrap();
    let numbers: Vec<f64> =
        bytes[bytes.len() - 48..].chunks(8).map(|x| f64::from_le_bytes(x.try_into().unwrap())).collect();
    assert!((numbers[2] - 1.0 / (1.0 + 4f64.exp())).abs() < 1e-12, "{numbers:?}");
    assert_eq!((numbers[0], numbers[1]), (1.0, 0.0));
}

#[test]
fn auto_takes_what_serves_every_row() {
    let room = Room::new();
    room.ok("make full -n 40 --coupling 0.02 --bias 0.3 -o clique.json");
    room.ok("sample clique.json -n 30 --engine gibbs --values 01 --burn-in 50 -o draws.csv");
    // Three cells of each row are missing, each time others.
    let text = room.read("draws.csv");
    let gaps: Vec<String> = text
        .lines()
        .enumerate()
        .map(|(k, line)| {
            let cell = |(column, cell)| if k > 0 && (column + 7 * k) % 13 == 0 { "" } else { cell };
            line.split(',').enumerate().map(cell).collect::<Vec<_>>().join(",")
        })
        .collect();
    room.write("gaps.csv", gaps.join("\n") + "\n");
    let output = room.run("complete clique.json gaps.csv --json -o all.csv");
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["guarantee"], "exact", "{}", String::from_utf8_lossy(&output.stderr));
    // Nothing exact can sum over all the cells of an empty row.
    let empty = format!("{}\n{}\n", gaps[0], ",".repeat(39));
    room.write("empty.csv", empty);
    let output = room.run("complete clique.json empty.csv --json --burn-in 100 --samples 100 -o all.csv");
    assert!(String::from_utf8(output.stderr).unwrap().contains("engine: gibbs (estimates"));
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&answer["engine"], &answer["guarantee"]), (&"gibbs".into(), &"estimate".into()));
    assert_eq!(answer["mixing"]["samples"], 100);
}

#[test]
fn biases_by_clamped_neighbours_are_foreseen() {
    // A lattice of three rows without biases is decimatable until a row of the table clamps a unit.
    let room = Room::new();
    room.ok("make grid --rows 3 --columns 7 --coupling 0.4 -o grid.json");
    let names: Vec<String> = (0..21).map(|k| format!("r{}c{}", k / 7, k % 7)).collect();
    let row: Vec<&str> = (0..21).map(|k| if k == 10 { "1" } else { "" }).collect();
    room.write("t.csv", format!("{}\n{}\n", names.join(","), row.join(",")));
    let answer = room.json("complete grid.json t.csv -o all.csv");
    assert_eq!((&answer["guarantee"], &answer["filled"]), (&"exact".into(), &20.into()));
    assert!(!room.read("all.csv").contains("-1"));
}

#[test]
fn what_cannot_be_completed_is_refused_and_nothing_is_written() {
    let room = Room::new();
    room.write("m.json", MODEL)
        .write("t.csv", "a,b\n1,\n")
        .write("w.csv", "a,x\n1,\n")
        .write("h.csv", "a,h\n1,\n");
    room.write("id.csv", "id,a\nk1,1\n");
    std::os::unix::fs::symlink("t.csv", room.path().join("link.csv")).unwrap();
    let before = room.files();
    for (line, code, words) in [
        ("complete m.json w.csv -o o.csv", 1, &["w.csv", "column 'x'", "drop the column"][..]),
        ("complete m.json h.csv -o o.csv", 1, &["column 'h'", "hidden"]),
        ("complete m.json t.csv -o t.csv", 2, &["replace the input t.csv"]),
        ("complete m.json t.csv -o link.csv", 2, &["replace the input"]),
        ("complete m.json t.csv -o m.json", 1, &[".csv, .tsv or .npy"]),
        ("complete m.json t.csv -o o.parquet", 1, &["o.parquet", ".csv, .tsv or .npy"]),
        ("complete m.json t.csv -o absent/o.csv", 1, &["absent"]),
        ("complete m.json absent.csv -o o.csv", 1, &["absent.csv", "no such file"]),
        ("complete m.json id.csv --drop id -o o.npy", 1, &["o.npy", "row 1, column 'id'", "'k1'"]),
        ("complete m.json id.csv --drop x -o o.csv", 1, &["'x'"]),
        ("complete m.json t.csv --engine enumerate --budget 100 -o o.csv", 1, &["2^4", "hint:", "temper"]),
        ("complete m.json t.csv --budget 16 -o o.csv", 1, &["3 missing cells", "some of the rows"]),
        ("complete m.json t.csv", 2, &["--output"]),
        ("complete m.json -o o.csv", 2, &[]),
    ] {
        let (found, message) = room.fails(line);
        assert_eq!(found, code, "{line}: {message}");
        for word in words {
            assert!(message.contains(word), "{line}: no '{word}' in\n{message}");
        }
        assert_eq!(before, room.files(), "{line}");
    }
    // Standard output takes the table, and nothing else.
    let output = room.run("complete m.json t.csv -o /dev/stdout");
    assert_eq!(String::from_utf8(output.stdout).unwrap().lines().next(), Some("a,b,c,d"));
}

#[test]
fn a_unit_whose_column_is_left_out_is_not_added_a_second_time() {
    let room = Room::new();
    room.write("m.json", MODEL).write("t.csv", "a,b,c,d\n1,,1,1\n");
    let (code, message) = room.fails("complete m.json t.csv --drop b -o all.csv");
    assert_eq!(code, 2);
    assert!(message.contains("column 'b' is left out, but is a unit of the machine"), "{message}");
    assert_eq!(room.files(), ["m.json", "t.csv"]);
}
