//! Reading keeps to the budget, and to the memory that there is.

use std::fmt::Write as _;
use std::process::Command;
use std::time::Instant;

use crate::Room;

/// A header of so many columns, and one row of ones.
fn wide(columns: usize) -> String {
    let mut text = String::with_capacity(11 * columns);
    for k in 0..columns {
        let _ = write!(text, "{}c{k}", if k == 0 { "" } else { "," });
    }
    text.push('\n');
    text.push_str(&"1,".repeat(columns - 1));
    text + "1\n"
}

#[test]
fn tables_and_models_beyond_the_budget_are_refused_with_place_and_figure() {
    let room = Room::new();
    room.write("rows.csv", format!("a,b\n{}", "1,0\n".repeat(400_000)));
    room.write("line.csv", "a".repeat(2_000_000));
    room.write("wide.csv", wide(20_000));
    room.ok("make full -n 400 -o m.json");
    room.ok("convert m.json m.uai");
    room.ok("convert m.json m.npz");
    for (line, words) in [
        ("fit rows.csv -o x.json", "rows.csv: row 26"),
        ("fit line.csv -o x.json", "line.csv: line 1: a line has more than"),
        ("fit wide.csv -o x.json", "wide.csv: header: 20000 columns take"),
        ("info m.json", "m.json: "),
        ("info m.uai", "m.uai: "),
        ("convert m.npz x.json", "m.npz: array 'weights'"),
    ] {
        let (code, message) = room.fails(&format!("{line} --budget 1MiB"));
        assert_eq!(code, 1, "{line}: {message}");
        assert!(message.contains(words) && message.contains("budget"), "{line}: {message}");
        assert!(message.contains("hint: give more --budget"), "{line}: {message}");
        assert!(!room.path().join("x.json").exists(), "{line}");
    }
    room.ok("info m.npz");
    // A budget for work does not forbid to read a small file.
    room.ok("make chain -n 3 -o small.json");
    room.ok("convert small.json small.uai --budget 1");
}

#[test]
fn columns_of_one_word_are_read_in_linear_time() {
    let room = Room::new();
    room.write("wide.csv", wide(300_000));
    let began = Instant::now();
    room.ok("fit wide.csv --learner factorized -o m.json");
    // The quadratic way took over a minute on an idle machine.
    assert!(began.elapsed().as_secs() < 50, "{:?}", began.elapsed());
}

#[cfg(target_os = "linux")]
#[test]
fn a_lack_of_memory_while_reading_is_an_error() {
    let room = Room::new();
    room.write("wide.csv", wide(3_000_000));
    room.write("rows.csv", format!("a,b\n{}", "1,0\n".repeat(20_000_000)));
    let program = assert_cmd::cargo::cargo_bin("isinglass");
    for (kibibytes, name, words) in
        [(700_000, "wide.csv", "3000000 columns take"), (150_000, "rows.csv", "there is no memory for more")]
    {
        let program = program.display();
        let line = format!(
            "ulimit -v {kibibytes}; exec '{program}' fit {name} --budget 20GiB --threads 1 -o m.json"
        );
        let output = Command::new("sh").args(["-c", &line]).current_dir(room.path()).output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{message}");
        assert!(message.contains(&format!("{name}: ")) && message.contains(words), "{message}");
        // The budget is large enough: more of it would not help.
        assert!(message.contains("there is no memory for") && !message.contains("hint"), "{message}");
    }
}
