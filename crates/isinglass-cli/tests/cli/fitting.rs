//! `fit`, and the way from a table of one's own to a scored machine.

use crate::Room;
use crate::learners::number;

const TABLE: &str = "rain,sprinkler,wet,n
yes,no,1,30
yes,yes,1,5
no,yes,1,12
no,yes,0,3
no,no,0,40
yes,no,0,2
no,no,1,4
no,,1,2
";

#[test]
fn from_a_table_to_a_scored_machine_in_three_commands() {
    let room = Room::new();
    room.write("t.csv", TABLE);
    let fit = room.json("fit t.csv --weights n -o m.json --history h.csv");
    assert_eq!(fit["model"], "m.json");
    assert_eq!(fit["learner"], "likelihood");
    assert_eq!(fit["engine"], "decimate");
    assert_eq!(fit["converged"], true);
    let objective = fit["objective"].as_array().unwrap();
    assert_eq!(objective.len() as u64, fit["iterations"].as_u64().unwrap() + 1);
    assert!(fit["seconds"].as_f64().unwrap() >= 0.0);
    let score = room.json("score m.json t.csv --weights n");
    let (found, expected) = (&score["log_likelihood"], &fit["log_likelihood"]);
    assert!((found.as_f64().unwrap() - expected.as_f64().unwrap()).abs() < 1e-12);
    let rain = room.json("query m.json --ask rain --given wet=+1");
    assert!(rain["table"][1]["p"].as_f64().unwrap() > 0.6);
    let history = room.read("h.csv");
    assert!(history.starts_with("iteration,objective,gradient_norm\n0,"));
    assert_eq!(history.lines().count(), objective.len() + 1);
}

#[test]
fn factorized_is_the_baseline() {
    let room = Room::new();
    room.write("t.csv", TABLE);
    let alone = room.json("fit t.csv --weights n --learner factorized -o alone.json");
    let coupled = room.json("fit t.csv --weights n -o coupled.json");
    assert_eq!(alone["engine"], serde_json::Value::Null);
    assert!(alone["log_likelihood"].as_f64().unwrap() < coupled["log_likelihood"].as_f64().unwrap());
}

#[test]
fn closed_form_comes_near_the_best_and_says_what_it_did() {
    let room = Room::new();
    room.write("t.csv", TABLE);
    let fit = room.json("fit t.csv --weights n --learner closed-form -o m.json --history h.csv");
    assert_eq!((&fit["learner"], &fit["engine"]), (&"closed-form".into(), &serde_json::Value::Null));
    // The couplings are an approximation; their likelihood, and the check of their moments, are exact.
    assert_eq!((&fit["guarantee"], &fit["singular"]), (&"exact".into(), &"none".into()));
    assert_eq!((&fit["converged"], &fit["iterations"]), (&true.into(), &0.into()));
    let score = room.json("score m.json t.csv --weights n");
    assert!((number(&fit["log_likelihood"]) - number(&score["log_likelihood"])).abs() < 1e-9);
    assert!(number(&fit["log_likelihood"]) > number(&fit["independent_log_likelihood"]));
    assert!(["reproduces", "deviates"].contains(&fit["check"]["verdict"].as_str().unwrap()));
    assert_eq!(room.read("h.csv"), "iteration,objective,gradient_norm\n0,0,0\n");
    let score = |learner: &str| {
        let fit = room.json(&format!("fit t.csv --weights n {learner} -o m.json"));
        assert_eq!(fit["converged"], true, "{learner}");
        room.json("score m.json t.csv --weights n")["log_likelihood"].as_f64().unwrap()
    };
    let (alone, best) = (score("--learner factorized"), score("--learner likelihood"));
    for options in ["", "--no-self-coupling", "--visible-links tree", "--singular lm"] {
        let found = score(&format!("--learner closed-form {options}"));
        assert!(alone < found && found <= best, "{options}: {alone} {found} {best}");
    }
    assert!(
        room.ok("fit t.csv --weights n --learner closed-form -o m.json")
            .contains("learner closed-form: converged")
    );
}

#[test]
fn closed_form_with_fewer_rows_than_columns() {
    let room = Room::new();
    room.write("t.csv", "a,b,c,d,e\n1,0,0,1,1\n0,1,0,1,1\n1,0,1,0,1\n0,1,1,0,1\n");
    for (options, expected) in
        [("", "lm"), ("--singular lm", "lm"), ("--singular shrink", "shrink"), ("--no-self-coupling", "none")]
    {
        let output = room.run(&format!("fit t.csv --learner closed-form {options} -o m.json --json"));
        let notes = String::from_utf8(output.stderr).unwrap();
        let fit: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((&fit["singular"], &fit["converged"]), (&expected.into(), &true.into()), "{options}");
        assert!(notes.contains("1 column with one value only") && notes.contains("(e)"), "{notes}");
        assert_eq!(notes.contains("are singular: "), expected != "none", "{notes}");
    }
    let (_, message) =
        room.fails("fit t.csv --learner closed-form --visible-links chain --singular lm -o m.json");
    assert!(message.contains("shrinkage can do it"), "{message}");
}

#[test]
fn closed_form_refuses_what_is_not_for_it() {
    let room = Room::new();
    room.write("t.csv", TABLE);
    for (options, expected) in [
        ("--learner closed-form --hidden 1", "--hidden belongs to --learner likelihood, pl-em"),
        ("--learner closed-form --l2 0.1", "--l2 belongs to --learner likelihood"),
        ("--learner closed-form --restarts 2", "closed-form does not accept it"),
        ("--learner closed-form --samples 9", "--samples belongs to --learner bayes, pl-em"),
        ("--learner closed-form --optimizer cg", "--optimizer belongs to --learner likelihood"),
        ("--learner closed-form --no-self-coupling --singular lm", "always have a solution"),
        ("--singular lm", "--singular belongs to --learner closed-form"),
        ("--learner factorized --no-self-coupling", "--no-self-coupling belongs to --learner closed-form"),
    ] {
        let (code, message) = room.fails(&format!("fit t.csv --weights n {options} -o m.json"));
        assert!(code == 2 && message.contains(expected), "{options}: {code} {message}");
    }
    let (code, message) = room.fails("fit t.csv --weights n --learner closed-form --inputs rain -o m.json");
    assert!(
        code == 1 && message.contains("closed-form cannot learn visible units given input units"),
        "{message}"
    );
    room.ok("fit t.csv --weights n --hidden 1 --l2 0.1 -o hidden.json");
    let (_, message) = room.fails("fit t.csv --weights n --learner closed-form --init hidden.json -o m.json");
    assert!(message.contains("closed-form cannot learn hidden units"), "{message}");
    let (_, message) = room.fails("fit t.csv --weights n --learner closed-form --budget 900 -o m.json");
    assert!(message.contains("hint: give more --budget"), "{message}");
}

#[test]
fn structure_follows_the_options() {
    let room = Room::new();
    room.write("t.csv", TABLE).write("edges.csv", "rain,wet\nsprinkler,wet\n");
    let shape = |line: &str| {
        room.ok(&format!("fit t.csv --weights n --l2 0.1 -o m.json {line}"));
        let info = room.json("info m.json");
        (info["edges"].as_u64().unwrap(), info["roles"].clone())
    };
    assert_eq!(shape("").0, 3);
    assert_eq!(shape("--visible-links none").0, 0);
    assert_eq!(shape("--visible-links chain").0, 2);
    assert_eq!(shape("--visible-links tree").0, 2);
    assert_eq!(shape("--visible-links tree --inputs rain").0, 3, "a tree of two, both joined with the input");
    assert_eq!(shape("--visible-links tree --inputs rain,sprinkler").0, 2);
    assert_eq!(shape("--visible-links tree --hidden 1").0, 5);
    assert_eq!(shape("--visible-links edges:edges.csv").0, 2);
    assert_eq!(shape("--visible-links grid:1x3").0, 2);
    assert_eq!(shape("--visible-links none --hidden 2 --hidden-links full").0, 7);
    let (edges, roles) = shape("--inputs rain,sprinkler");
    assert_eq!(edges, 2, "inputs are not joined with each other");
    assert_eq!(roles, serde_json::json!({"visible": 1, "hidden": 0, "input": 2}));
    assert_eq!(shape("--drop sprinkler").0, 1);
}

#[test]
fn a_fit_can_start_from_a_machine() {
    let room = Room::new();
    room.write("t.csv", TABLE);
    let output = room.run("fit t.csv --weights n --iterations 2 -o early.json --json");
    assert!(String::from_utf8(output.stderr).unwrap().contains("not converged: reached the limit of 2"));
    let early: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(early["converged"], false);
    let late = room.json("fit t.csv --weights n --init early.json -o late.json");
    assert_eq!(late["converged"], true);
    let first = late["objective"][0].as_f64().unwrap();
    let last = early["objective"].as_array().unwrap().last().unwrap().as_f64().unwrap();
    assert!((first - last).abs() < 1e-12);
}

#[test]
fn conditional_models_leave_the_inputs_alone() {
    let room = Room::new();
    room.write("t.csv", TABLE);
    room.ok("fit t.csv --weights n --inputs rain,sprinkler -o m.json");
    let model: serde_json::Value = serde_json::from_str(&room.read("m.json")).unwrap();
    for unit in model["units"].as_array().unwrap() {
        assert_eq!(unit["role"] == "input", unit["bias"] == 0.0, "{unit}");
    }
}

#[test]
fn too_large_a_fit_is_refused_with_figure_and_advice() {
    let room = Room::new();
    room.ok("make chain -n 30 -o chain.json");
    room.ok("sample chain.json -n 10 --engine gibbs -o draws.csv");
    let (code, message) = room.fails("fit draws.csv --learner likelihood -o m.json");
    assert_eq!(code, 1);
    assert!(message.contains("4 GiB") && message.contains("hint:"), "{message}");
    assert!(!room.files().contains(&"m.json".to_owned()));
}

#[test]
fn wide_tables_with_sparse_links_and_factorized_fits_take_no_room_for_all_pairs() {
    let room = Room::new();
    let names: Vec<String> = (0..3000).map(|k| format!("c{k}")).collect();
    let row = |bit: &str| vec![bit; 3000].join(",");
    room.write("wide.csv", format!("{}\n{}\n{}\n", names.join(","), row("0"), row("1")));
    room.ok("fit wide.csv --learner factorized --budget 16MiB -o m.json");
    let chain = room.json("fit wide.csv --visible-links chain --l2 0.01 --budget 16MiB -o c.json");
    assert_eq!((&chain["engine"], &chain["converged"]), (&"decimate".into(), &true.into()));
    let (_, message) = room.fails("fit wide.csv --budget 16MiB -o c.json");
    assert!(message.contains("3000 columns"), "{message}");
}

#[test]
fn what_the_data_cannot_bound_is_said() {
    let room = Room::new();
    room.write("t.csv", "a,b,c\n1,1,\n1,0,\n1,1,\n");
    let output = room.run("fit t.csv -o m.json");
    let note = String::from_utf8(output.stderr).unwrap();
    assert!(note.contains("1 column with one value only") && note.contains("(a)"), "{note}");
    assert!(note.contains("1 column without values") && note.contains("(c)"), "{note}");
}

#[test]
fn every_optimizer_comes_to_the_same_end_and_writes_its_history() {
    let room = Room::new();
    room.write("t.csv", TABLE);
    let expected = room.json("fit t.csv --weights n --l2 0.01 -o m.json")["log_likelihood"].as_f64().unwrap();
    for options in [
        "--optimizer cg",
        "--optimizer momentum",
        "--optimizer momentum --rate 0.3 --momentum 0.5",
        "--optimizer adaptive",
        "--optimizer adaptive --rate 10",
    ] {
        let line =
            format!("fit t.csv --weights n --l2 0.01 --iterations 5000 -o m.json --history h.csv {options}");
        let fit = room.json(&line);
        assert_eq!(fit["converged"], true, "{options}: {}", fit["stopped"]);
        assert!((fit["log_likelihood"].as_f64().unwrap() - expected).abs() < 1e-6, "{options}");
        let history = room.read("h.csv");
        let last = history.lines().last().unwrap();
        assert_eq!(history.lines().count() as u64, fit["iterations"].as_u64().unwrap() + 2, "{options}");
        assert!(last.rsplit(',').next().unwrap().parse::<f64>().unwrap() <= 5e-7, "{options}: {last}");
    }
}

#[test]
fn a_rate_that_is_too_large_is_said() {
    let room = Room::new();
    room.write("t.csv", TABLE);
    let line =
        "fit t.csv --weights n --l2 5 --optimizer momentum --rate 1 --iterations 9999 -o m.json --json";
    let output = room.run(line);
    assert!(output.status.success());
    let fit: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(fit["converged"], false);
    let warning = String::from_utf8(output.stderr).unwrap();
    assert!(warning.contains("not converged: diverged") && warning.contains("a rate below 1"), "{warning}");
    room.ok("info m.json");
}

#[test]
fn restarts_keep_the_best_start() {
    let room = Room::new();
    room.write("t.csv", "a,b,c\n1,1,1\n1,0,0\n0,1,0\n0,0,1\n");
    let line = "fit t.csv --hidden 1 --l2 0.003 --seed 1";
    let one = room.json(&format!("{line} -o one.json"));
    assert_eq!((&one["restarts"], &one["best_restart"]), (&1.into(), &0.into()));
    let five = room.json(&format!("{line} --restarts 5 --threads 1 -o five.json"));
    let objectives: Vec<f64> =
        five["restart_objectives"].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
    assert_eq!((&five["restarts"], objectives.len()), (&5.into(), 5));
    assert_eq!(one["restart_objectives"][0], five["restart_objectives"][0]);
    let best = five["best_restart"].as_u64().unwrap() as usize;
    assert!(objectives.iter().all(|x| *x <= objectives[best]));
    assert_eq!(five["objective"].as_array().unwrap().last().unwrap().as_f64(), Some(objectives[best]));
    let again = room.json(&format!("{line} --restarts 5 --threads 2 -o again.json"));
    assert_eq!(five["objective"], again["objective"]);
    assert_eq!(room.read("five.json"), room.read("again.json"));
    assert!(room.ok(&format!("{line} --restarts 5 -o x.json")).contains("best of 5 starts: objectives from"));
    let output = room.run("fit t.csv --l2 0.1 --restarts 5 -o x.json");
    let note = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && note.contains("1 start in place of 5"), "{note}");
}

/// Two columns that are copies but for a few rows belong together, wherever they stand.
#[test]
fn trees_join_what_belongs_together() {
    let room = Room::new();
    let mut table = String::from("a,b,c,d\n");
    for k in 0..64u32 {
        let (a, b) = (k & 1, k >> 1 & 1);
        let (c, d) = (if k < 4 { 1 - a } else { a }, if k < 2 { 1 - b } else { b });
        table += &format!("{a},{b},{c},{d}\n");
    }
    room.write("t.csv", table);
    let fit = room.json("fit t.csv --visible-links tree --threads 1 -o m.json");
    assert_eq!(fit["converged"], true);
    let model: serde_json::Value = serde_json::from_str(&room.read("m.json")).unwrap();
    let edges: Vec<(u64, u64)> = model["edges"]
        .as_array()
        .unwrap()
        .iter()
        .map(|edge| (edge[0].as_u64().unwrap(), edge[1].as_u64().unwrap()))
        .collect();
    assert!(edges.len() == 3 && edges.contains(&(0, 2)) && edges.contains(&(1, 3)), "{edges:?}");
    room.json("fit t.csv --visible-links tree --threads 2 -o n.json");
    assert_eq!(room.read("m.json"), room.read("n.json"));
}

/// A fit that takes its time, interrupted.
#[test]
fn a_signal_ends_a_fit_with_what_it_has_and_leaves_nothing_behind() {
    let room = Room::new();
    room.ok("make sk -n 21 --bias normal:0,0.5 -o sk.json");
    room.ok("sample sk.json -n 400 -o rows.csv");
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let program = assert_cmd::cargo::cargo_bin("isinglass");
        let line = "fit rows.csv --hidden 1 --tolerance 0 --iterations 1000000 --json -o m.json";
        let child = std::process::Command::new(program)
            .args(line.split(' '))
            .current_dir(room.path())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        std::thread::sleep(std::time::Duration::from_millis(1500));
        let kill = format!("kill -{signal} {}", child.id());
        assert!(std::process::Command::new("sh").args(["-c", &kill]).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{signal}: {}", String::from_utf8_lossy(&output.stderr));
        let note = String::from_utf8_lossy(&output.stderr);
        assert!(note.contains("stopping after this iteration"), "{signal}: {note}");
        let fit: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((&fit["converged"], &fit["stopped"]), (&false.into(), &"stopped on request".into()));
        assert_eq!(room.files(), ["m.json", "rows.csv", "sk.json"]);
        room.ok("info m.json");
    }
}

/// Most units are free where the four inputs `p` are missing, and they can be decimated; where the
/// three inputs `d` are missing, fewer are free, and they cannot.
#[test]
fn rows_that_miss_different_inputs_have_an_engine_for_all_of_them() {
    let room = Room::new();
    let outputs = 0..4;
    let pendants = outputs.clone().map(|k| format!("p{k},y{k}\n"));
    let dense = (0..3).flat_map(|d| (0..4).map(move |y| format!("d{d},y{y}\n")));
    room.write("links.csv", pendants.chain(dense).collect::<String>());
    let row = |k: usize| -> String {
        let cell = |column: usize| match (k % 4, column) {
            (1, 4..8) | (2, 8..11) => "",
            _ if (k * k + 3 * k * column + column) % 7 < 3 => "1",
            _ => "0",
        };
        (0..11).map(cell).collect::<Vec<_>>().join(",") + "\n"
    };
    let rows: String = (0..40).map(row).collect();
    room.write("t.csv", format!("y0,y1,y2,y3,p0,p1,p2,p3,d0,d1,d2\n{rows}"));
    let fit = "fit t.csv --visible-links edges:links.csv --inputs p0,p1,p2,p3,d0,d1,d2 --l2 0.1 -o m.json";
    let fit = room.json(fit);
    assert_eq!((&fit["guarantee"], &fit["converged"]), (&"exact".into(), &true.into()));
    let by_states = room.json("score m.json t.csv --engine enumerate");
    for score in [room.json("score m.json t.csv"), room.json("score m.json t.csv --engine eliminate"), fit] {
        let (found, expected) = (&score["log_likelihood"], &by_states["log_likelihood"]);
        assert!((found.as_f64().unwrap() - expected.as_f64().unwrap()).abs() < 1e-12);
    }
    let page = room.run("report m.json t.csv -o r.html");
    let messages = String::from_utf8(page.stderr).unwrap();
    assert!(page.status.success() && !messages.contains("surprising rows unavailable"), "{messages}");
}

/// Rows of weakly correlated columns; with `copies`, the first once more.
fn rows(count: u32, columns: usize, copies: bool) -> String {
    let names: Vec<String> = (0..columns).map(|k| format!("c{k}")).collect();
    let mut text = names.join(",") + if copies { ",copy" } else { "" } + "\n";
    let mut state = 12345u32;
    for _ in 0..count {
        let mut draw = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state >> 16
        };
        let common = draw() % 2;
        let cells = (0..columns).map(|_| if draw() % 10 < 3 { common } else { draw() % 2 });
        let mut cells: Vec<String> = cells.map(|cell| cell.to_string()).collect();
        if copies {
            cells.push(cells[0].clone());
        }
        text += &(cells.join(",") + "\n");
    }
    text
}

#[test]
fn held_out_rows_choose_the_penalty_and_the_path_is_in_the_result() {
    let room = Room::new();
    room.write("t.csv", rows(120, 8, false));
    room.write("v.csv", rows(300, 8, false));
    for (setting, options) in [
        ("l2", "--l2 auto"),
        ("l2", "--l2 auto --validate v.csv"),
        ("l1", "--l1 auto --learner likelihood"),
        ("l2", "--l2 auto --learner pseudo-likelihood"),
        ("l1", "--l1 auto"),
        ("l1", "--l1 auto --validate v.csv"),
        ("l2", "--l2 auto --hidden 1 --visible-links none"),
    ] {
        let fit = room.json(&format!("fit t.csv {options} -o m.json"));
        let path = fit["path"].as_array().unwrap();
        let best = path.iter().max_by(|a, b| number(&a["held_out"]).total_cmp(&number(&b["held_out"])));
        assert_eq!(fit[setting], best.unwrap()[setting], "{options}");
        assert!(path.len() >= 3 && path.iter().all(|tried| number(&tried["error"]) > 0.0), "{options}");
        assert_eq!(fit["converged"], true, "{options}");
        // The machine is that of all rows with the penalty.
        let chosen = number(&fit[setting]);
        let hidden =
            options.split_once("--hidden").map_or(String::new(), |(_, rest)| format!("--hidden{rest}"));
        let learner =
            options.split_once("--learner").map_or(String::new(), |(_, name)| format!("--learner{name}"));
        room.json(&format!("fit t.csv --{setting} {chosen} {learner} {hidden} -o given.json"));
        assert_eq!(room.read("m.json"), room.read("given.json"), "{options}");
    }
    assert!(room.json("fit t.csv -o m.json").get("path").is_none(), "exact fits are as they were");
    // Rows to validate with choose the better of both.
    let best = |options: &str| {
        let fit = room.json(&format!("fit t.csv {options} --validate v.csv --learner likelihood -o m.json"));
        let path = fit["path"].as_array().unwrap().iter().map(|tried| number(&tried["held_out"]));
        path.fold(f64::NEG_INFINITY, f64::max)
    };
    assert_eq!(best(""), best("--l2 auto").max(best("--l1 auto")));
}

#[test]
fn a_copied_column_is_named_and_kept_finite_by_default() {
    let room = Room::new();
    room.write("t.csv", rows(600, 22, true));
    // Too little for exact engines.
    let run = |options: &str| {
        let output = room.run(&format!("fit t.csv --budget 24MiB --no-check {options} -o m.json"));
        assert!(output.status.success());
        let model: serde_json::Value = serde_json::from_str(&room.read("m.json")).unwrap();
        let edges = model["edges"].as_array().unwrap();
        let largest = edges.iter().map(|edge| number(&edge[2]).abs()).fold(0.0, f64::max);
        (String::from_utf8(output.stderr).unwrap(), largest)
    };
    let (notes, largest) = run("");
    let expected =
        "columns 'c0', 'copy' are determined by others, so that couplings have no finite optimum; --l";
    assert!(notes.contains(expected) && notes.contains(" 0 fits without a penalty"), "{notes}");
    assert!(largest < 8.0, "{largest}");
    let two = room.read("m.json");
    run("--threads 1");
    assert_eq!(room.read("m.json"), two, "the same on any number of threads");
    let (notes, unbounded) = run("--l2 0");
    assert!(!notes.contains("auto") && unbounded > 8.0, "{notes} {unbounded}");
    room.write("t.csv", rows(600, 22, false));
    let (notes, _) = run("");
    assert!(!notes.contains("auto"), "{notes}");
}

#[test]
fn bad_rows_to_validate_with_are_refused() {
    let room = Room::new();
    room.write("t.csv", rows(50, 3, false));
    room.write("other.csv", "c0,c1,d\n1,0,1\n");
    room.write("short.csv", "c0,c1\n1,0\n");
    room.write("order.csv", "c2,c0,c1\n1,0,1\n0,0,1\n");
    room.write("gaps.csv", "c0,c1,c2\n1,,1\n");
    let refused = |options: &str, words: &str| {
        let (_, message) = room.fails(&format!("fit t.csv {options} -o m.json"));
        assert!(message.contains(words), "{options}: {message}");
    };
    refused("--validate other.csv", "other.csv: column 'd'");
    refused("--validate short.csv", "short.csv: unit 'c2'");
    refused("--validate none.csv", "none.csv");
    refused("--validate gaps.csv --l1 auto", "missing cells");
    refused("--validate order.csv --l2 0.1", "--validate gives rows that choose a penalty");
    refused("--validate order.csv --learner factorized", "--validate belongs to");
    refused("--l2 auto --learner pl-em", "--l2");
    refused("--l2 auto --l1 auto", "--l2");
    refused("--l1 ebic --learner likelihood", "--l1");
    refused("--l2 some", "or auto");
    assert_eq!(room.json("fit t.csv --validate order.csv -o m.json")["converged"], true);
}
