//! What a signal or a poor result means to programs: exit codes, notes and warnings in JSON.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::Room;

/// Eighty rows of six columns, the first two alike.
fn table() -> String {
    let mut text = String::from("a,b,c,d,e,f\n");
    let mut state = 7u64;
    for _ in 0..80 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let bits = state >> 40;
        let alike = if (bits >> 10).is_multiple_of(8) { !bits } else { bits } & 1;
        let rest: Vec<String> = (1..5).map(|k| (bits >> k & 1).to_string()).collect();
        text += &format!("{},{alike},{}\n", bits & 1, rest.join(","));
    }
    text
}

fn room() -> Room {
    let room = Room::new();
    room.write("t.csv", table());
    room
}

fn codes(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|found| found["code"].as_str().unwrap()).collect()
}

/// Runs a fit without an end until its checkpoint is there, and sends signals.
fn signalled(room: &Room, line: &str, signals: &[&str]) -> Output {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("isinglass"));
    command.current_dir(room.path()).args(line.split_whitespace());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let began = Instant::now();
    while !Path::new(&room.path().join("c.ck")).exists() {
        assert!(child.try_wait().unwrap().is_none(), "the fit ended before the signal");
        assert!(began.elapsed() < Duration::from_secs(120), "no checkpoint after two minutes");
        std::thread::sleep(Duration::from_millis(2));
    }
    let kills: Vec<String> = signals.iter().map(|signal| format!("kill -{signal} {}", child.id())).collect();
    assert!(Command::new("sh").args(["-c", &kills.join(" && ")]).status().unwrap().success());
    child.wait_with_output().unwrap()
}

const ENDLESS: &str =
    "fit t.csv -o m.json --learner contrastive-divergence --iterations 100000000 --checkpoint c.ck --every 1";

#[test]
fn the_exit_code_of_a_fit_names_the_signal_that_ended_it() {
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let room = room();
        let output = signalled(&room, &format!("{ENDLESS} --json --quiet"), &[signal]);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{message}");
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(document["interrupted"], format!("SIG{signal}"));
        assert!(codes(&document["warnings"]).contains(&"interrupted"), "{document}");
        assert!(message.contains(&format!("warning: SIG{signal} ended the fit")), "{message}");
        room.ok("info m.json");
    }
    let room = room();
    let output = signalled(&room, &format!("{ENDLESS} --json --ok-if-interrupted"), &["TERM"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    room.ok("info m.json");
    assert!(room.json("fit t.csv -o n.json")["interrupted"].is_null());
}

#[test]
fn a_second_signal_ends_a_fit_at_once_and_writes_nothing() {
    let room = Room::new();
    room.ok("make sk -n 21 --bias normal:0,0.5 -o sk.json");
    room.ok("sample sk.json -n 400 -o rows.csv");
    // An iteration goes through four million states.
    let line = "fit rows.csv --hidden 1 --tolerance 0 -o m.json --checkpoint c.ck --every 1";
    let output = signalled(&room, line, &["INT", "TERM"]);
    assert_eq!(output.status.code(), Some(143), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(!room.path().join("m.json").exists());
    assert_eq!(room.files(), ["c.ck", "rows.csv", "sk.json"]);
}

#[test]
fn a_signal_during_the_check_leaves_the_machine_and_no_check() {
    let room = Room::new();
    room.ok("make sk -n 150 --bias normal:0,0.5 -o sk.json");
    room.ok("sample sk.json --engine gibbs --samples 3000 -n 3000 -o rows.csv");
    // The fit is one step; the check draws for many times as long.
    let line = "fit rows.csv --learner closed-form -o m.json --checkpoint c.ck --json";
    let output = signalled(&room, line, &["INT"]);
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{message}");
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(document["check"].is_null() && codes(&document["notes"]).contains(&"not-checked"), "{document}");
    assert!(codes(&document["warnings"]).contains(&"interrupted"), "{document}");
    room.ok("info m.json");
}

#[test]
fn a_signal_during_the_choice_of_a_penalty_ends_the_program() {
    let room = Room::new();
    room.ok("make sk -n 120 --bias normal:0,0.5 -o sk.json");
    room.ok("sample sk.json --engine gibbs --samples 6000 -n 6000 -o rows.csv");
    let line = "fit rows.csv --learner pseudo-likelihood --l2 auto -o m.json";
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("isinglass"));
    command.current_dir(room.path()).args(line.split_whitespace());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Outputs are reserved just before.
    let began = Instant::now();
    while room.files().len() < 3 {
        assert!(began.elapsed() < Duration::from_secs(120), "no output is reserved");
        std::thread::sleep(Duration::from_millis(2));
    }
    std::thread::sleep(Duration::from_millis(300));
    let kill = format!("kill -INT {}", child.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(room.files(), ["rows.csv", "sk.json"]);
}

#[test]
fn everything_that_is_reported_is_in_the_document() {
    let room = room();
    room.ok("make grid --rows 4 --columns 4 --coupling 1.5 -o g.json");
    for line in [
        "infer g.json --engine mean-field --max-sweeps 1 --given r0c0=1",
        "fit t.csv -o m.json --iterations 2",
        "fit t.csv -o m.uai",
        "fit t.csv -o m.json --learner contrastive-divergence --hidden 1 --iterations 3",
        "convert g.json g.uai",
        "score m.json t.csv",
        "map g.json",
        "query g.json --ask r0c0",
        "sample g.json -n 3",
        "scan g.json --temperatures 1,2",
        "info g.json",
        "make chain --units 3 -o c.uai",
    ] {
        let output = room.run(&format!("{line} --json"));
        let printed = String::from_utf8_lossy(&output.stderr);
        let document: Value =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{line}: {printed}"));
        let lists = [&document["notes"], &document["warnings"]];
        let all: Vec<&Value> = lists.iter().flat_map(|list| list.as_array().unwrap()).collect();
        for found in &all {
            let message = found["message"].as_str().unwrap();
            assert!(printed.contains(message), "{line}: '{message}' was not printed: {printed}");
            assert!(found["data"].is_object() && found["code"].is_string(), "{line}: {found}");
        }
        let told = printed.lines().filter(|line| !line.starts_with("wrote ") && !line.starts_with("hint: "));
        assert_eq!(told.count(), all.len(), "{line}: {printed}\n{document}");
        // Warnings are printed whatever is silenced.
        let quiet = room.run(&format!("{line} --quiet"));
        let printed = String::from_utf8_lossy(&quiet.stderr);
        assert_eq!(
            printed.lines().count(),
            document["warnings"].as_array().unwrap().len(),
            "{line}: {printed}"
        );
        assert!(printed.lines().all(|line| line.starts_with("warning: ")), "{line}: {printed}");
    }
    let warned = room.json("infer g.json --engine mean-field --max-sweeps 1 --given r0c0=1");
    assert_eq!(codes(&warned["warnings"]), ["no-fixed-point"]);
    assert_eq!(warned["warnings"][0]["data"]["sweeps"], 1);
}

#[test]
fn a_fit_that_diverges_blames_the_rate() {
    let room = room();
    for options in [
        "--optimizer momentum --rate 1e9",
        "--learner contrastive-divergence --rate 1e9 --iterations 5",
        "--engine mean-field --optimizer momentum --rate 1e9",
    ] {
        let output = room.run(&format!("fit t.csv -o m.json --quiet --json {options}"));
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(message.contains("rate"), "{options}: {message}");
        assert!(!message.contains("the data hardly bound"), "{options}: {message}");
    }
}
