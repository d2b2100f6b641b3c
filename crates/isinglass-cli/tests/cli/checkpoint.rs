//! Fits that are killed and resumed end as if nothing had happened.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::Room;

/// A table of seven columns with gaps, as if drawn from something.
fn table() -> String {
    let mut text = String::from("a,b,c,d,e,f,g\n");
    let mut state = 12345u64;
    for _ in 0..80 {
        let cells: Vec<&str> = (0..7)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                match state >> 33 & 15 {
                    0 => "",
                    1..=8 => "1",
                    _ => "0",
                }
            })
            .collect();
        text += &(cells.join(",") + "\n");
    }
    text
}

fn room() -> Room {
    let room = Room::new();
    room.write("t.csv", table());
    room
}

/// Start the program, wait until its checkpoint has been replaced some times, and send a signal.
fn interrupted(room: &Room, line: &str, signal: &str) -> std::process::Output {
    let program = assert_cmd::cargo::cargo_bin("isinglass");
    let mut command = Command::new(program);
    command.current_dir(room.path()).args(line.split_whitespace());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for_changes(&room.path().join("fit.ckpt"), &mut child, 4);
    let kill = format!("kill -{signal} {}", child.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    child.wait_with_output().unwrap()
}

fn wait_for_changes(path: &Path, child: &mut Child, times: usize) {
    let began = Instant::now();
    let mut seen: Vec<Vec<u8>> = Vec::new();
    while seen.len() < times {
        assert!(child.try_wait().unwrap().is_none(), "the fit ended before it could be interrupted");
        assert!(began.elapsed() < Duration::from_secs(120), "no checkpoint after two minutes");
        if let Ok(bytes) = std::fs::read(path)
            && seen.last() != Some(&bytes)
        {
            seen.push(bytes);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Options of fits that take some thousand iterations, all small.
const FITS: [&str; 3] = [
    "--hidden 2 --visible-links none --optimizer momentum --rate 0.01 --iterations 4000 --tolerance 0",
    "--hidden 2 --restarts 3 --optimizer adaptive --iterations 1500 --tolerance 0 --seed 4",
    "--engine mean-field --optimizer momentum --rate 0.003 --iterations 4000 --tolerance 0",
];

#[test]
fn a_fit_that_is_killed_ends_as_one_that_is_not() {
    for (options, signals) in FITS.into_iter().zip([&["KILL", "INT"][..], &["KILL", "KILL"], &["INT"]]) {
        let room = room();
        let fit = format!("fit t.csv {options}");
        let whole = room.json(&format!("{fit} -o whole.json --history whole.csv"));
        let with = format!("{fit} -o m.json --history h.csv --checkpoint fit.ckpt --every 1 --no-sync");
        for signal in signals {
            let output = interrupted(&room, &format!("{with} --resume"), signal);
            let note = String::from_utf8_lossy(&output.stderr).into_owned();
            let killed = *signal == "KILL";
            assert_eq!(output.status.code(), (!killed).then_some(130), "{signal}: {note}");
            assert_eq!(room.files().contains(&"m.json".to_owned()), !killed, "{note}");
        }
        let resumed = room.json(&format!("{with} --resume"));
        assert_eq!(room.read("m.json"), room.read("whole.json"), "{options}");
        assert_eq!(room.read("h.csv"), room.read("whole.csv"), "{options}");
        for key in [
            "iterations",
            "objective",
            "kept",
            "stopped",
            "converged",
            "restart_objectives",
            "log_likelihood",
        ] {
            assert_eq!(resumed[key], whole[key], "{options}: {key}");
        }
        let expected = ["fit.ckpt", "h.csv", "m.json", "t.csv", "whole.csv", "whole.json"];
        assert_eq!(room.files(), expected, "what the killed runs left is gone");
        // A fit that has ended is there at once, and again the same.
        let kept = std::fs::read(room.path().join("fit.ckpt")).unwrap();
        room.ok(&format!("{with} --resume"));
        assert_eq!(room.read("m.json"), room.read("whole.json"));
        assert_eq!(std::fs::read(room.path().join("fit.ckpt")).unwrap(), kept);
    }
}

#[test]
fn every_learner_and_start_goes_on_to_the_same_model() {
    let room = room();
    room.write("four.csv", "a,b,c,d,e\n1,0,1,1,1\n0,0,1,1,0\n1,1,0,0,1\n0,1,0,1,0\n");
    room.ok("make sk -n 3 --seed 1 -o init.json");
    room.write("named.csv", "x0,x1,x2\n1,0,1\n0,0,1\n1,1,0\n1,1,1\n");
    for fit in [
        "fit t.csv --learner factorized",
        "fit t.csv --learner closed-form",
        "fit four.csv --learner closed-form --singular lm",
        "fit named.csv --init init.json",
        "fit t.csv --optimizer cg --engine bethe --iterations 20",
        "fit t.csv --engine linear-response --iterations 20",
        "fit four.csv --learner pseudo-likelihood --l2 0.1",
        "fit four.csv --l1 ebic",
        "fit t.csv --learner pl-em --hidden 1 --iterations 20",
        "fit t.csv --learner contrastive-divergence --persistent --hidden 1 --epochs 9",
        "fit t.csv --learner mean-field-cd --hidden 1 --iterations 20",
    ] {
        room.ok(&format!("{fit} -o whole.json --history whole.csv"));
        // Nothing may depend on how often the checkpoint is written.
        for every in ["", "--every 1", "--every 7"] {
            let line = format!("{fit} -o m.json --history h.csv --checkpoint c.ckpt {every}");
            let first = room.run(&format!("{line} --resume"));
            assert!(
                String::from_utf8_lossy(&first.stderr).contains("note: c.ckpt: there is no checkpoint yet")
            );
            room.ok(&format!("{line} --resume"));
            assert_eq!(room.read("m.json"), room.read("whole.json"), "{line}");
            assert_eq!(room.read("h.csv"), room.read("whole.csv"), "{line}");
            let kept = std::fs::read(room.path().join("c.ckpt")).unwrap();
            let (code, message) = room.fails(&line);
            assert!(code == 1 && message.contains("c.ckpt: there is a checkpoint already"), "{message}");
            assert_eq!(std::fs::read(room.path().join("c.ckpt")).unwrap(), kept);
            assert_eq!(room.read("m.json"), room.read("whole.json"), "{line}");
            std::fs::remove_file(room.path().join("c.ckpt")).unwrap();
        }
    }
}

#[test]
fn a_fit_goes_on_with_more_iterations_and_restarts() {
    let room = room();
    let fit = "fit t.csv --hidden 1 --l2 0.01 --seed 2";
    room.ok(&format!("{fit} --restarts 3 --iterations 60 -o whole.json --history whole.csv"));
    room.ok(&format!("{fit} --iterations 60 --restarts 1 -o m.json --checkpoint c.ckpt"));
    room.ok(&format!(
        "{fit} --restarts 3 --iterations 60 -o m.json --history h.csv --checkpoint c.ckpt --resume"
    ));
    assert_eq!(room.read("m.json"), room.read("whole.json"));
    assert_eq!(room.read("h.csv"), room.read("whole.csv"));
    room.ok(&format!("{fit} --iterations 60 -o whole.json --history whole.csv"));
    room.ok(&format!("{fit} --iterations 5 -o m.json --checkpoint d.ckpt"));
    room.ok(&format!("{fit} --iterations 60 -o m.json --history h.csv --checkpoint d.ckpt --resume"));
    assert_eq!(room.read("m.json"), room.read("whole.json"));
    assert_eq!(room.read("h.csv"), room.read("whole.csv"));
}

#[test]
fn the_record_of_components_goes_on_too() {
    let room = room();
    let fit = "fit t.csv --engine mixture --components 2 --hidden 1 --restarts 2 --visible-links chain";
    room.ok(&format!("{fit} --iterations 8 -o whole.json --component-history whole.csv"));
    room.ok(&format!(
        "{fit} --iterations 8 -o m.json --component-history h.csv --checkpoint c.ckpt --every 3"
    ));
    assert_eq!(room.read("h.csv"), room.read("whole.csv"));
    room.ok(&format!(
        "{fit} --iterations 8 -o m.json --component-history h.csv --checkpoint c.ckpt --resume"
    ));
    assert_eq!(room.read("h.csv"), room.read("whole.csv"));
    assert_eq!(room.read("m.json"), room.read("whole.json"));
    room.ok(&format!("{fit} --iterations 8 -o m.json --checkpoint d.ckpt"));
    let (code, message) = room.fails(&format!(
        "{fit} --iterations 8 -o m.json --component-history h.csv --checkpoint d.ckpt --resume"
    ));
    assert!(
        code == 1 && message.contains("d.ckpt: this checkpoint has no record of components"),
        "{message}"
    );
}

#[test]
fn checkpoints_of_other_fits_and_other_files_are_refused() {
    let room = room();
    let fit = "fit t.csv --iterations 20 -o m.json --checkpoint c.ckpt";
    room.ok(&format!("{fit} --l2 0.1"));
    let model = room.read("m.json");
    let refused = |line: &str, words: &str| {
        let (code, message) = room.fails(&format!("{line} --resume"));
        assert!(code == 1 && message.contains("c.ckpt: ") && message.contains(words), "{line}: {message}");
        assert_eq!(room.read("m.json"), model, "{line}: the model is as it was");
    };
    refused(fit, "it is of a fit with l2 0.1, and this one has 0.0");
    refused(&format!("{fit} --l2 0.1 --optimizer cg"), "optimizer Lbfgs");
    refused(&format!("{fit} --l2 0.1 --engine mean-field"), "this one has mean-field");
    refused(&format!("{fit} --l2 0.1 --seed 3"), "seed 0, and this one has 3");
    refused(&format!("{fit} --l2 0.1 --visible-links chain"), "couplings");
    refused(
        "fit t.csv --iterations 2 --l2 0.1 -o m.json --checkpoint c.ckpt",
        "beyond the limit of 2 iterations",
    );
    refused("fit t.csv --learner closed-form -o m.json --checkpoint c.ckpt", "the learner restarts");
    room.write("t.csv", table().replacen('1', "0", 1));
    refused(&format!("{fit} --l2 0.1"), "it is of a fit to another table\nhint: to start again");
    room.write("t.csv", table());

    let path = room.path().join("c.ckpt");
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, &whole[..whole.len() - 1]).unwrap();
    refused(&format!("{fit} --l2 0.1"), "the checkpoint is truncated");
    let mut damaged = whole.clone();
    damaged[whole.len() / 2] ^= 1;
    std::fs::write(&path, damaged).unwrap();
    refused(&format!("{fit} --l2 0.1"), "is damaged");
    std::fs::write(&path, "a,b\n1,0\n").unwrap();
    refused(&format!("{fit} --l2 0.1"), "is not a checkpoint of isinglass");
    std::fs::write(&path, "").unwrap();
    refused(&format!("{fit} --l2 0.1"), "is empty");
    std::fs::write(&path, whole).unwrap();
    room.ok(&format!("{fit} --l2 0.1 --resume"));
    assert_eq!(room.read("m.json"), model);
}

#[test]
fn a_checkpoint_in_use_is_refused_with_the_process() {
    let room = room();
    let fit =
        "fit t.csv --learner contrastive-divergence --iterations 100000000 --every 50 --checkpoint fit.ckpt";
    let mut first = Command::new(assert_cmd::cargo::cargo_bin("isinglass"));
    first.current_dir(room.path()).args(format!("{fit} -o m.json").split_whitespace());
    let mut first = first.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for_changes(&room.path().join("fit.ckpt"), &mut first, 2);
    std::fs::create_dir(room.path().join("d")).unwrap();
    for path in ["fit.ckpt", "./fit.ckpt", "d/../fit.ckpt"] {
        for resume in ["", "--resume"] {
            let line = format!("fit t.csv -o n.json --checkpoint {path} {resume}");
            let (code, message) = room.fails(&line);
            let words =
                format!("fit.ckpt: is in use by process {}\nhint: wait until it has ended", first.id());
            assert!(code == 1 && message.contains(&words), "{line}: {message}");
        }
    }
    assert!(!room.path().join("n.json").exists());
    // A killed process holds no lock, and an interrupted one leaves no trace of it.
    first.kill().unwrap();
    first.wait().unwrap();
    let output = interrupted(&room, &format!("{fit} -o m.json --resume"), "INT");
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(room.files(), ["d", "fit.ckpt", "m.json", "t.csv"]);
}

#[test]
fn options_that_make_no_sense_are_refused_before_any_work() {
    let room = room();
    for (options, words) in [
        ("--resume", "--checkpoint"),
        ("--every 3", "--checkpoint"),
        ("--checkpoint c.ckpt --every 0", "at least 1"),
        ("--checkpoint m.json", "--checkpoint and --output name the same file"),
        ("--checkpoint t.csv", "would replace the input"),
        ("--checkpoint h.csv --history h.csv", "--checkpoint and --history name the same file"),
    ] {
        let (code, message) = room.fails(&format!("fit t.csv -o m.json {options}"));
        assert!(code == 2 && message.contains(words), "{options}: {message}");
    }
    let (code, message) = room.fails("fit t.csv -o m.json --checkpoint no/such/c.ckpt");
    assert!(code == 1 && message.contains("there is no directory"), "{message}");
    assert_eq!(room.files(), ["t.csv"]);
}
