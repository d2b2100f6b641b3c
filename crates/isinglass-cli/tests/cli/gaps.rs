//! What `fit` does with missing cells: sums them out, leaves their rows out, or fills them.

use crate::Room;

/// Three columns that go together; every fifth cell of the last is missing.
fn table() -> String {
    let row = |k: usize| {
        let a = k % 2;
        let b = if k % 5 == 1 { 1 - a } else { a };
        let c = if k % 3 == 1 { 1 - b } else { b };
        let c = if k % 7 == 2 { "NA".to_owned() } else { c.to_string() };
        format!("{a},{b},{c}\n")
    };
    format!("a,b,c\n{}", (0..210).map(row).collect::<String>())
}

#[test]
fn rows_are_dropped_or_cells_filled() {
    let room = Room::new();
    let complete = table()
        .lines()
        .filter(|line| !line.contains("NA"))
        .fold(String::new(), |text, line| text + line + "\n");
    room.write("gaps.csv", table()).write("complete.csv", complete);
    let dropped = room.json("fit gaps.csv --missing drop -o dropped.json");
    let complete = room.json("fit complete.csv -o complete.json");
    assert_eq!(
        (&dropped["log_likelihood"], &dropped["rows"]),
        (&complete["log_likelihood"], &complete["rows"])
    );
    assert!(dropped["notes"].as_array().unwrap().iter().any(|note| note["code"] == "dropped-rows"));
    assert_eq!(room.read("dropped.json"), room.read("complete.json"));

    let line = "fit gaps.csv --missing impute:20 --bootstrap 200 --network";
    let filled = room.json(&format!("{line} filled.csv -o filled.json --threads 1"));
    assert_eq!(filled["rows"], 210);
    assert!(filled["notes"].as_array().unwrap().iter().any(|note| note["code"] == "imputed"));
    room.ok(&format!("{line} again.csv -o again.json --threads 3"));
    assert_eq!(room.read("filled.csv"), room.read("again.csv"));
    // Filled from the machine of all rows, the fit is near to that of all rows.
    room.ok("fit gaps.csv --network summed.csv --bootstrap 200 -o summed.json");
    let edges = |name: &str| {
        let text = room.read(name);
        let rows = text.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
        let mut rows: Vec<Vec<String>> = rows.collect();
        rows.sort();
        rows
    };
    for (filled, summed) in edges("filled.csv").iter().zip(edges("summed.csv")) {
        assert_eq!(filled[..2], summed[..2]);
        let number = |row: &[String], k: usize| row[k].parse::<f64>().unwrap();
        let (width, expected) =
            (number(filled, 5) - number(filled, 4), number(&summed, 5) - number(&summed, 4));
        assert!((number(filled, 2) - number(&summed, 2)).abs() < 0.3 * expected, "{filled:?}, {summed:?}");
        assert!((0.7..1.4).contains(&(width / expected)), "{filled:?}, {summed:?}");
    }
    // A lasso refuses gaps, and takes a filled table.
    let (_, error) = room.fails("fit gaps.csv --l1 ebic -o lasso.json");
    assert!(error.contains("missing cells"), "{error}");
    room.ok("fit gaps.csv --l1 ebic --missing impute:5 -o lasso.json");
    let (code, error) = room.fails("fit gaps.csv --missing impute:0 -o m.json");
    assert!(code == 2 && error.contains("impute:N"), "{error}");
}
