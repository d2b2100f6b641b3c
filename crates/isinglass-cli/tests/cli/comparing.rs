//! What `compare` answers, writes and refuses.

use crate::Room;

/// Rows of two columns that agree so many times in forty, with a label.
fn rows(label: &str, agree: usize) -> String {
    let row = |k: usize| {
        let first = k % 2;
        let second = if k < agree { first } else { 1 - first };
        format!("{label}{first},{second}\n")
    };
    (0..40).map(row).collect()
}

#[test]
fn files_and_labels_give_the_same_answer_on_any_number_of_threads() {
    let room = Room::new();
    room.write("calm.csv", format!("a,b\n{}", rows("", 22)))
        .write("wild.csv", format!("a,b\n{}", rows("", 36)));
    room.write("all.csv", format!("arm,a,b\n{}{},1,1\n", rows("wild,", 36), rows("calm,", 22)));
    let line = "compare calm.csv wild.csv --permutations 199 --bootstrap 50 --csv d.csv --figure d.svg";
    let mut by_files = room.json(&format!("{line} --threads 1"));
    let mut by_label = room.json("compare all.csv --by arm --permutations 199 --bootstrap 50 --threads 3");
    assert_eq!(by_label["notes"][0]["code"], "unlabelled-rows");
    for document in [&mut by_files, &mut by_label] {
        document.as_object_mut().unwrap().retain(|key, _| key != "seconds" && key != "notes");
    }
    assert_eq!(by_files, by_label);
    let edge = &by_files["edges"][0];
    assert_eq!((edge["a"].as_str(), edge["b"].as_str()), (Some("a"), Some("b")));
    // 22 of 40 rows agree, and 36: couplings are half the logarithm of 22/18 and of 36/4.
    let expected = 0.5 * (9.0 * 18.0 / 22.0f64).ln();
    assert!((edge["difference"].as_f64().unwrap() - expected).abs() < 1e-4, "{edge}");
    assert!((by_files["structure"]["difference"].as_f64().unwrap() - expected).abs() < 1e-4);
    for test in [edge, &by_files["strength"], &by_files["structure"]] {
        assert!(test["p"].as_f64().unwrap() <= 0.01, "{test}");
    }
    let low = edge["low"].as_f64().unwrap();
    assert!(low > 0.0 && low < expected && edge["high"].as_f64().unwrap() > expected);
    assert_eq!(edge["p"], edge["p_holm"], "there is one coupling");
    assert_eq!(by_files["biases"].as_array().unwrap().len(), 2);
    assert_eq!(by_files["groups"][1]["rows"], 40);
    let csv = room.read("d.csv");
    assert!(
        csv.starts_with("first,second,kind,a,b,value_first,value_second,difference,low,high,p,p_holm,p_bh\n")
    );
    assert!(csv.contains("\ncalm,wild,coupling,a,b,") && csv.lines().count() == 6, "{csv}");
    assert!(room.read("d.svg").contains("a – b"));
    let joint = room.json("compare calm.csv wild.csv --permutations 19 --joint");
    assert_eq!(joint["edges"][0]["joint"]["differs"], true);
    assert_eq!(joint["biases"][0]["joint"]["differs"], false);
    let text = room.ok("compare calm.csv wild.csv --permutations 19 --names x,y --joint");
    assert!(text.contains("joint fit: 1 of 1 couplings and 0 of 2 biases differ"), "{text}");
    assert!(text.contains("y − x") && text.contains("a – b"), "{text}");
}

#[test]
fn gaps_are_summed_out_dropped_or_filled() {
    let room = Room::new();
    room.write("a.csv", format!("a,b\n{},1\n1,NA\n", rows("", 25)));
    room.write("b.csv", format!("a,b\n{}", rows("", 30)));
    let rows_of = |missing: &str| {
        let found = room.json(&format!("compare a.csv b.csv --permutations 19 --missing {missing}"));
        (found["groups"][0]["rows"].as_u64().unwrap(), found["dropped_rows"].as_u64().unwrap())
    };
    assert_eq!((rows_of("em"), rows_of("drop"), rows_of("impute:3")), ((42, 0), (40, 2), (42, 0)));
    let (code, error) = room.fails("compare a.csv b.csv --permutations 19 --l1 ebic");
    assert!(code == 1 && error.contains("missing cells"), "{error}");
    room.ok("compare a.csv b.csv --permutations 19 --l1 ebic --missing impute:2");
}

#[test]
fn what_cannot_be_compared_is_refused_with_its_place() {
    let room = Room::new();
    room.write("a.csv", "a,b\n1,0\n0,1\n").write("c.csv", "a,c\n1,0\n0,1\n");
    let refused = |line: &str| room.fails(line);
    assert_eq!(
        refused("compare a.csv"),
        (2, "error: found one table, expected two or more, or --by COLUMN\n".into())
    );
    let (code, error) = refused("compare a.csv --by party");
    assert!(code == 1 && error.contains("a.csv: header: there is no column 'party'"), "{error}");
    let (_, error) = refused("compare a.csv c.csv");
    assert!(error.contains("group 'a': has no column 'c', which group 'c' has"), "{error}");
    let (code, error) = refused("compare a.csv a.csv --names x");
    assert!(code == 2 && error.contains("--names has 1 name, for 2 tables"), "{error}");
    let (code, error) = refused("compare a.csv a.csv --names x,y --permutations 0");
    assert!(code != 0 && error.contains("--permutations"), "{error}");
    let (code, error) = refused("compare a.csv a.csv --names x,y --missing impute");
    assert!(code == 2 && error.contains("impute:N"), "{error}");
    let (code, error) = refused("compare a.csv a.csv --names x,y --csv a.csv");
    assert!(code == 2 && error.contains("would replace"), "{error}");
    room.write("d.csv", "a,b\n1,1\n0,1\n0,0\n");
    let (_, error) = refused("compare d.csv --by b --drop b");
    assert!(error.contains("column 'b'") && error.contains("labels"), "{error}");
}
