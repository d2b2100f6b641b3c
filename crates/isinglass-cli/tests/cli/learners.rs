//! `fit` by learners that need no partition sum, and the network that it writes.

use crate::Room;

/// Rows of a known machine of some units.
fn room_with_draws(make: &str, rows: usize) -> Room {
    let room = Room::new();
    room.ok(&format!("make {make} --seed 3 -o true.json"));
    room.ok(&format!("sample true.json -n {rows} -o t.csv"));
    room
}

pub(crate) fn number(value: &serde_json::Value) -> f64 {
    value.as_f64().unwrap()
}

#[test]
fn pseudo_likelihood_comes_near_the_likelihood_and_tells_both() {
    let room = room_with_draws("full -n 8 --coupling uniform:-0.4,0.4", 3000);
    let best = room.json("fit t.csv -o best.json");
    let fit = room.json("fit t.csv --learner pseudo-likelihood -o m.json");
    assert_eq!((fit["learner"].as_str(), fit["engine"].is_null()), (Some("pseudo-likelihood"), true));
    assert_eq!((fit["converged"].as_bool(), fit["guarantee"].as_str()), (Some(true), Some("exact")));
    let lost = number(&best["log_likelihood"]) - number(&fit["log_likelihood"]);
    assert!((0.0..1e-3).contains(&lost), "{lost}");
    let score = room.json("score m.json t.csv");
    for field in ["log_likelihood", "pseudo_log_likelihood"] {
        assert!((number(&score[field]) - number(&fit[field])).abs() < 1e-9, "{field}");
    }
    assert!(room.ok("fit t.csv --learner pseudo-likelihood -o m.json").contains("converged, "));
}

#[test]
fn penalties_leave_out_couplings_and_the_network_lists_the_others() {
    let room = room_with_draws("chain -n 8 --coupling 0.6", 3000);
    room.ok("fit t.csv --l1 ebic -o sparse.json --network e.csv --bootstrap 20 --level 0.9");
    let network = room.read("e.csv");
    let mut lines = network.lines();
    assert_eq!(lines.next(), Some("from,to,weight,sign,lower,upper,not_zero,same_sign"));
    let cells: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    assert_eq!(cells.len(), 7, "{network}");
    for row in &cells {
        let numbers: Vec<f64> = [2, 4, 5, 6].iter().map(|&k| row[k].parse().unwrap()).collect();
        assert!(row[3] == "positive" && numbers[1] < numbers[0] && numbers[0] < numbers[2], "{row:?}");
        assert!(numbers[3] > 0.99, "{row:?}");
    }
    room.ok("fit t.csv --l1 1.5 -o empty.json --network none.csv");
    assert_eq!(room.read("none.csv"), "from,to,weight,sign\n");
    room.ok("fit t.csv --visible-links edges:e.csv -o again.json");
    let refit = room.json("info again.json");
    assert_eq!(refit["edges"], 7);
    for threads in [1, 2] {
        room.ok(&format!(
            "fit t.csv --learner pseudo-likelihood --bootstrap 9 --threads {threads} --network n{threads}.csv -o n.json"
        ));
    }
    assert_eq!(room.read("n1.csv"), room.read("n2.csv"));
}

#[test]
fn hidden_units_and_gaps_are_drawn() {
    let room = room_with_draws("chain -n 6 --coupling 0.8", 400);
    let cells = room.read("t.csv");
    let gap = |(row, line): (usize, &str)| {
        let mut cells: Vec<&str> = line.split(',').collect();
        if row > 0 {
            cells[row % 6] = "";
        }
        cells.join(",") + "\n"
    };
    room.write("gaps.csv", cells.lines().enumerate().map(gap).collect::<String>());
    let full = number(&room.json("fit t.csv -o m.json")["log_likelihood"]);
    let fit = room.json("fit gaps.csv --learner pseudo-likelihood -o m.json");
    assert_eq!((fit["learner"].as_str(), fit["converged"].as_bool()), (Some("pl-em"), Some(true)));
    let filled = number(&room.json("score m.json t.csv")["log_likelihood"]);
    assert!(filled < full && filled > full - 0.1, "{filled} {full}");
    let (_, message) = room.fails("fit gaps.csv --l1 ebic -o m.json");
    assert!(message.contains("missing cells"), "{message}");
    // One penalty for all columns does not need complete rows.
    let sparse = room.json("fit gaps.csv --l1 0.05 -o m.json");
    assert_eq!((sparse["learner"].as_str(), sparse["converged"].as_bool()), (Some("likelihood"), Some(true)));
    let (_, message) =
        room.fails("fit t.csv --learner pseudo-likelihood --optimizer cg --hidden 1 -o m.json");
    assert!(message.contains("pseudo-likelihood cannot learn hidden units"), "{message}");

    let coins = -6.0 * 2f64.ln();
    for options in ["pl-em", "pl-em --draws gibbs --sweeps 3 --samples 2 --m-step gradient --rate 0.05"] {
        let line = format!("fit gaps.csv --learner {options} --visible-links none --hidden 2 -o m.json");
        let fit = room.json(&line);
        assert!(number(&fit["log_likelihood"]) > 0.7 * coins, "{options}: {}", fit["log_likelihood"]);
    }
}

#[test]
fn contrastive_learners_raise_the_likelihood() {
    let room = room_with_draws("chain -n 6 --coupling 0.8", 400);
    let coins = -6.0 * 2f64.ln();
    let lines = [
        "contrastive-divergence --epochs 60 --visible-links none --hidden 3",
        "contrastive-divergence --epochs 60 --persistent --chains 20 --steps 2 --batch 20",
        "mean-field-cd --hidden 1 --iterations 200",
    ];
    for options in lines {
        let fit = room.json(&format!("fit t.csv --learner {options} -o m.json"));
        assert!(number(&fit["log_likelihood"]) > 0.8 * coins, "{options}: {}", fit["log_likelihood"]);
    }
    let output = room.run("fit t.csv --learner contrastive-divergence --epochs 3 -o m.json");
    let (text, notes) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(text.contains("made all 3 epochs") && !notes.contains("warning"), "{text}{notes}");
}

#[test]
fn auto_turns_to_what_can_be_done_and_says_so() {
    let room = Room::new();
    room.ok("make full -n 40 --coupling uniform:-0.1,0.1 -o true.json");
    room.ok("sample true.json -n 200 --engine gibbs -o t.csv");
    let cases = [
        ("", "likelihood with engine temper"),
        ("--inputs x0", "pseudo-likelihood"),
        ("--hidden 1 --iterations 5 --no-check", "pl-em"),
    ];
    for (options, learner) in cases {
        let output = room.run(&format!("fit t.csv {options} --json -o m.json"));
        let note = String::from_utf8(output.stderr).unwrap();
        assert!(
            note.contains(&format!("learner: {learner}, since no exact engine is within the budget")),
            "{note}"
        );
        let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(document["learner"].as_str(), learner.split(' ').next());
        let is_sampled = document["engine"] == "temper";
        assert_eq!(is_sampled, options.is_empty());
        // Input units have another distribution in each row, and --no-check compares nothing.
        assert_eq!(document["log_likelihood"].is_null(), !is_sampled);
        assert_eq!(document["check"].is_null(), !is_sampled);
        if is_sampled {
            assert_eq!(document["check"]["verdict"], "reproduces");
            assert!(number(&document["log_likelihood_error"]) < 0.05);
            assert!(number(&document["log_likelihood"]) > number(&document["independent_log_likelihood"]));
        }
    }
    let (code, message) = room.fails("fit t.csv --optimizer cg --hidden 1 -o m.json");
    assert!(code == 2 && message.contains("pl-em does not accept it"), "{message}");
}

#[test]
fn options_say_whose_they_are() {
    let room = room_with_draws("chain -n 3 --coupling 0.5", 20);
    for (options, expected) in [
        ("--learner pl-em --l1 0.1", "--l1 belongs to --learner likelihood, pseudo-likelihood"),
        ("--learner pseudo-likelihood --l1 -1", "--l1"),
        ("--l1 0.1 --gamma 1", "--gamma belongs to --l1 ebic"),
        ("--l1 ebic --rule xor", "--rule"),
        ("--learner pl-em --draws exact --sweeps 3", "--sweeps belongs to --draws gibbs"),
        ("--learner pl-em --samples 0", "--samples"),
        ("--learner pl-em --engine mean-field", "--engine belongs to --learner likelihood"),
        ("--learner pl-em --optimizer cg", "--optimizer belongs to --learner likelihood, pseudo-likelihood"),
        ("--learner contrastive-divergence --tolerance 1", "--tolerance belongs to"),
        ("--learner mean-field-cd --persistent", "--persistent belongs to --learner contrastive-divergence"),
        ("--learner contrastive-divergence --batch 0", "--batch"),
        ("--bootstrap 10", "--network"),
        ("--network e.csv --bootstrap 10 --level 1", "--level"),
    ] {
        let (code, message) = room.fails(&format!("fit t.csv {options} -o m.json"));
        assert!(code == 2 && message.contains(expected), "{options}: {code} {message}");
    }
}

/// Columns in a chain; each resample that has only the first few kinds of rows has equal columns.
#[test]
fn an_error_of_the_resamples_leaves_model_and_network() {
    let room = Room::new();
    room.write("t.csv", "a,b,c\n1,1,1\n1,1,1\n-1,-1,-1\n-1,-1,-1\n1,-1,1\n-1,-1,1\n");
    let fit = "fit t.csv --learner closed-form --visible-links chain --singular lm --json -o m.json";
    room.ok(fit);
    let alone = room.read("m.json");
    let output = room.run(&format!("{fit} --network e.csv --bootstrap 200"));
    let notes = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{notes}");
    assert!(
        notes.contains("warning: the resamples failed") && notes.contains("error: --bootstrap: "),
        "{notes}"
    );
    assert_eq!(room.read("m.json"), alone);
    assert!(room.read("e.csv").starts_with("from,to,weight,sign\n"));
    assert!(serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()["bootstrap"].is_null());

    // What can be known before is refused before.
    let (code, message) =
        room.fails("fit t.csv --bootstrap 1000000000 --budget 1MB --network n.csv -o n.json");
    assert!(code == 1 && message.contains("1000000000 resamples"), "{message}");
    assert!(!room.files().contains(&"n.json".to_owned()));
}

#[test]
fn resamples_that_are_stopped_leave_the_network_without_intervals() {
    let room = room_with_draws("chain -n 4 --coupling 0.5", 200);
    let line = "fit t.csv --learner pseudo-likelihood --bootstrap 3000000 --network e.csv -o m.json";
    let child = std::process::Command::new(assert_cmd::cargo::cargo_bin("isinglass"))
        .args(line.split(' '))
        .current_dir(room.path())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(std::time::Duration::from_millis(1500));
    let kill = format!("kill -INT {}", child.id());
    assert!(std::process::Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let notes = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{notes}");
    assert!(notes.contains("the network is written without intervals"), "{notes}");
    assert!(room.read("e.csv").starts_with("from,to,weight,sign\n"));
    room.ok("info m.json");
}

#[test]
fn posteriors_are_written_beside_the_network() {
    let room = room_with_draws("chain -n 5 --coupling 0.6", 400);
    let text = room.ok("fit t.csv --learner bayes --samples 1500 --network p.csv -o m.json");
    assert!(text.contains("of 10 couplings 4 are present"), "{text}");
    let network = room.read("p.csv");
    let mut lines = network.lines();
    let header = "from,to,weight,sign,inclusion,log_bayes_factor,deviation,credible_lower,credible_upper,\
                  r_hat,effective_samples";
    assert_eq!(lines.next(), Some(header));
    let strongest: Vec<&str> = lines.next().unwrap().split(',').collect();
    let number = |k: usize| strongest[k].parse::<f64>().unwrap();
    assert!(number(7) < number(2) && number(2) < number(8) && number(4) > 0.99, "{strongest:?}");
    let fit = room.json("fit t.csv --learner bayes --samples 1500 -o m.json");
    let posterior = &fit["posterior"];
    assert_eq!(
        (fit["engine"].as_str(), posterior["likelihood"].as_str()),
        (Some("enumerate"), Some("exact"))
    );
    assert_eq!(posterior["couplings"].as_array().map(Vec::len), Some(10));
    assert_eq!(posterior["biases"].as_array().map(Vec::len), Some(5));
    let pseudo =
        room.json("fit t.csv --learner bayes --inputs x0 --slab normal --inclusion uniform -o m.json");
    assert_eq!(pseudo["posterior"]["likelihood"], "pseudo");
    let median = room.json("fit t.csv --learner bayes --cutoff 0.5 -o median.json");
    assert_eq!(median["converged"], true);
    assert_eq!(room.json("info median.json")["edges"], 4);
}

#[test]
fn posteriors_refuse_what_they_cannot_sample() {
    let room = room_with_draws("chain -n 4 --coupling 0.6", 50);
    for (options, words) in [
        ("--hidden 2", "--hidden belongs to"),
        ("--engine mean-field", "exact moments"),
        ("--scale 0", "--scale"),
        ("--inclusion 2", "--inclusion"),
        ("--restarts 3", "--restarts"),
    ] {
        let (_, error) = room.fails(&format!("fit t.csv --learner bayes {options} -o m.json"));
        assert!(error.contains(words), "{options}: {error}");
    }
}
