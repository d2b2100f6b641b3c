//! Approximate engines on the command line: what they say of themselves, and what they refuse.

use std::process::Output;

use crate::Room;

/// What went to standard output and to standard error.
fn texts(output: &Output) -> (String, String) {
    assert!(output.status.success());
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (text(&output.stdout), text(&output.stderr))
}

#[test]
fn every_answer_says_what_it_is_and_how_it_was_come_by() {
    let room = Room::new();
    room.ok("make grid --rows 4 --columns 4 --coupling uniform:-0.3,0.3 --bias uniform:-0.5,0.5 -o m.json");
    let exact = room.json("infer m.json");
    let truth = exact["log_z"].as_f64().unwrap();
    assert!(exact.get("iteration").is_none());
    for (engine, guarantee, error) in [
        ("mean-field", "lower-bound", 1.0),
        ("tap", "approximation", 0.05),
        ("linear-response", "approximation", 1.0),
        ("linear-response --around tap", "approximation", 0.05),
        ("linear-response --around bethe", "approximation", 0.01),
        ("bethe", "approximation", 0.01),
    ] {
        let found = room.json(&format!("infer m.json --engine {engine}"));
        assert_eq!(found["guarantee"], guarantee, "{engine}");
        assert_eq!(found["converged"], true, "{engine}");
        assert!(found["iteration"]["residual"].as_f64().unwrap() <= 1e-10);
        let log_z = found["log_z"].as_f64().unwrap();
        assert!((log_z - truth).abs() < error, "{engine}: {log_z}, not {truth}");
        assert!(guarantee != "lower-bound" || log_z <= truth, "{engine}");
        assert_eq!(found["correlations"].as_array().unwrap().len(), 24);
    }
    room.ok("make chain --units 6 --coupling 0.7 --bias 0.1 -o chain.json");
    assert_eq!(room.json("infer chain.json --engine bethe")["guarantee"], "exact");
}

#[test]
fn a_search_that_is_cut_short_says_so() {
    let room = Room::new();
    room.ok("make full --units 12 --coupling uniform:-1,1 --bias uniform:-1,1 -o m.json");
    let short = room.run("infer m.json --engine mean-field --max-sweeps 2 --json");
    let (answer, note) = texts(&short);
    assert!(answer.contains("\"converged\":false"));
    assert!(
        note.contains("warning: mean-field: no fixed point was reached in 2 sweeps")
            && note.contains("the bound holds"),
        "{note}"
    );
    let more = room.json("infer m.json --engine mean-field --starts 20 --anneal 60:8");
    let once = room.json("infer m.json --engine mean-field");
    assert!(more["log_z"].as_f64() >= once["log_z"].as_f64());
    let swings = room.json("infer m.json --engine mean-field --schedule parallel");
    assert_eq!(swings["converged"], true);
}

#[test]
fn a_log_z_that_cannot_be_is_refused_with_the_bound_and_what_to_use() {
    let room = Room::new();
    room.ok("make grid --rows 16 --columns 16 --coupling signs:4 --bias normal:0,0.4 --seed 3 -o m.json");
    room.ok("sample m.json -n 3 --engine gibbs --burn-in 10 -o t.csv");
    let lines =
        ["infer m.json", "infer m.json --given r0c0=+1", "query m.json --ask r0c0", "score m.json t.csv"];
    for line in lines {
        let (code, message) = room.fails(&format!("{line} --engine tap"));
        assert_eq!(code, 1, "{line}: {message}");
        assert!(
            message.contains("tap: found log Z = ") && message.contains("but it is at most "),
            "{message}"
        );
        assert!(message.contains("\nhint: use an exact engine"), "{message}");
    }
    let (_, message) = room.fails("infer m.json --engine linear-response --around tap");
    assert!(message.contains("linear-response: found log Z = "), "{message}");
}

#[test]
fn options_of_other_engines_are_refused() {
    let room = Room::new();
    room.ok("make chain --units 3 -o m.json");
    for (options, problem) in [
        ("--engine mean-field --around tap", "--around belongs to --engine linear-response"),
        ("--anneal 60:8", "--anneal belongs to --engine mixture, linear-response, mean-field, tap, bethe"),
        (
            "--engine enumerate --starts 3",
            "--starts belongs to --engine mixture, structured, linear-response, mean-field",
        ),
        (
            "--engine tap --anneal 60",
            "expected a temperature and a number of steps (1 to 10000) such as 60:8",
        ),
        ("--engine tap --damping 1", "expected a number of at least 0 and below 1"),
    ] {
        let (code, message) = room.fails(&format!("infer m.json {options}"));
        assert_eq!(code, 2);
        assert!(message.contains(problem), "{options}: {message}");
    }
    let (code, message) = room.fails("infer m.json --engine tap --anneal 0.1:3");
    assert_eq!(code, 1);
    assert!(message.contains("anneal: starts at 0.1, expected more than"), "{message}");
    let (code, message) = room.fails("map m.json --engine bethe");
    assert_eq!(code, 1);
    assert!(message.contains("bethe cannot find a most probable state"), "{message}");
}

#[test]
fn tables_are_fitted_scored_and_completed_with_approximate_engines() {
    let room = Room::new();
    room.ok("make full --units 6 --coupling uniform:-0.3,0.3 --bias uniform:-0.3,0.3 -o truth.json");
    room.ok("sample truth.json -n 2000 -o t.csv");
    let exact = room.json("fit t.csv -o exact.json")["log_likelihood"].as_f64().unwrap();
    for engine in ["tap", "bethe", "linear-response", "linear-response --around bethe"] {
        let fit = room.json(&format!("fit t.csv --engine {engine} -o m.json"));
        assert_eq!(fit["converged"], true, "{engine}");
        assert!(fit["pseudo_log_likelihood"].as_f64().is_some());
        let found = room.json("score m.json t.csv")["log_likelihood"].as_f64().unwrap();
        assert!((exact - found).abs() < 0.03, "{engine}: {found}, not {exact}");
    }
    // Kappen & Rodríguez 1997, figure 1.
    room.write("two.csv", "a,b\n1,1\n0,0\n");
    let swinging = room.run(
        "fit two.csv --engine mean-field --optimizer momentum --rate 0.1 --momentum 0.9 --iterations 300 -o two.json --json",
    );
    let (_, note) = texts(&swinging);
    assert!(note.contains("warning: the fit oscillates: "), "{note}");
    assert!(note.contains("warning: not converged"), "{note}");

    let closed = room.json("fit t.csv --learner closed-form -o c.json");
    assert_eq!(closed["singular"], "none");
    let score = room.json("score c.json t.csv --engine bethe");
    assert_eq!(score["guarantee"], "approximation");
    assert!((score["log_likelihood"].as_f64().unwrap() - exact).abs() < 0.05);
    let (code, message) = room.fails("fit t.csv --learner closed-form --engine tap -o c.json");
    assert_eq!(code, 2);
    assert!(message.contains("--engine belongs to --learner likelihood"), "{message}");

    let (code, message) = room.fails("fit t.csv --learner closed-form --max-sweeps 3 -o c.json");
    assert_eq!(code, 2);
    assert!(message.contains("--max-sweeps belongs to --engine mixture, structured, trw"), "{message}");
    // An engine that is stopped short is reported, in fits and in scores.
    let short = room.run("score c.json t.csv --engine mean-field --max-sweeps 1 --json");
    let (answer, note) = texts(&short);
    assert!(
        answer.contains("\"converged\":false") && note.contains("no fixed point was reached in 1 sweep"),
        "{note}"
    );
    let short = room.run("fit t.csv --engine tap --max-sweeps 1 --damping 0.5 -o s.json --json");
    let (answer, note) = texts(&short);
    assert!(
        answer.contains("\"converged\":false") && note.contains("no fixed point was reached in 1 sweep"),
        "{note}"
    );

    room.write("gaps.csv", "x0,x1,x2,x3,x4,x5\n1,,-1,1,,1\n,,,,,\n-1,1,1,,1,-1\n");
    let exact = room.json("complete truth.json gaps.csv -o exact.csv --probabilities");
    assert_eq!(exact["guarantee"], "exact");
    let found = room.json("complete truth.json gaps.csv -o field.csv --probabilities --engine bethe");
    assert_eq!((&found["guarantee"], &found["filled"]), (&"approximation".into(), &exact["filled"]));
    let cells = |name: &str| -> Vec<f64> {
        let text = room.read(name);
        text.lines().skip(1).flat_map(|line| line.split(',').map(|cell| cell.parse().unwrap())).collect()
    };
    for (x, y) in cells("exact.csv").into_iter().zip(cells("field.csv")) {
        assert!((x - y).abs() < 0.01, "{x} {y}");
    }
}
