//! What `infer`, `query`, `map`, `sample`, `info`, `score` and `convert` answer.

use crate::Room;

/// a –0.5– b –(−1)– c with biases 0.1, 0, 0.3, at temperature 2.
const MODEL: &str = r#"{"format": "isinglass/1", "temperature": 2.0,
 "units": [{"name": "a", "role": "visible", "bias": 0.1}, {"name": "b", "role": "visible", "bias": 0.0}, {"name": "c", "role": "hidden", "bias": 0.3}],
 "edges": [[0, 1, 0.5], [1, 2, -1.0]]}"#;

/// Log-weights of the eight states, in counting order.
fn log_weights() -> Vec<([f64; 3], f64)> {
    let spin = |bit: bool| if bit { 1.0 } else { -1.0 };
    (0..8)
        .map(|k: u8| {
            let [a, b, c] = [spin(k & 4 > 0), spin(k & 2 > 0), spin(k & 1 > 0)];
            ([a, b, c], (0.1 * a + 0.3 * c + 0.5 * a * b - b * c) / 2.0)
        })
        .collect()
}

fn close(found: &serde_json::Value, expected: f64) {
    let found = found.as_f64().unwrap();
    assert!((found - expected).abs() < 1e-12, "found {found}, expected {expected}");
}

#[test]
fn infer_gives_log_z_means_and_correlations() {
    let room = Room::new();
    room.write("m.json", MODEL);
    let answer = room.json("infer m.json");
    let states = log_weights();
    let z: f64 = states.iter().map(|(_, w)| w.exp()).sum();
    let mean = |f: &dyn Fn(&[f64; 3]) -> f64| states.iter().map(|(s, w)| w.exp() * f(s)).sum::<f64>() / z;
    assert_eq!(answer["engine"], "decimate");
    assert_eq!(answer["guarantee"], "exact");
    assert_eq!(answer["converged"], true);
    close(&answer["log_z"], z.ln());
    for (k, name) in ["a", "b", "c"].iter().enumerate() {
        close(&answer["means"][name], mean(&|s| s[k]));
    }
    let order: Vec<&String> = answer["means"].as_object().unwrap().keys().collect();
    assert_eq!(order, ["a", "b", "c"]);
    let pairs = answer["correlations"].as_array().unwrap();
    assert_eq!(pairs.len(), 2);
    assert_eq!((pairs[1][0].as_str(), pairs[1][1].as_str()), (Some("b"), Some("c")));
    close(&pairs[1][2], mean(&|s| s[1] * s[2]));
    assert_eq!(room.json("infer m.json --pairs all")["correlations"].as_array().unwrap().len(), 3);
    assert_eq!(room.json("infer m.json --pairs none")["correlations"].as_array().unwrap().len(), 0);
}

#[test]
fn clamped_units_keep_their_value_and_their_energy() {
    let room = Room::new();
    room.write("m.json", MODEL);
    let answer = room.json("infer m.json --given a=-1,c=+1");
    let z: f64 = log_weights().iter().filter(|(s, _)| s[0] < 0.0 && s[2] > 0.0).map(|(_, w)| w.exp()).sum();
    close(&answer["log_z"], z.ln());
    close(&answer["means"]["a"], -1.0);
    close(&answer["means"]["c"], 1.0);
    let with_words = room.json("infer m.json --given a=0,c=1 --values 01");
    assert_eq!(answer, with_words);
}

#[test]
fn query_lists_states_in_counting_order() {
    let room = Room::new();
    room.write("m.json", MODEL);
    let answer = room.json("query m.json --ask c,a --given b=1");
    assert_eq!(answer["ask"], serde_json::json!(["c", "a"]));
    assert_eq!(answer["given"], serde_json::json!({"b": 1}));
    let states: Vec<_> = answer["table"].as_array().unwrap().iter().map(|row| row["state"].clone()).collect();
    assert_eq!(states, [[-1, -1], [-1, 1], [1, -1], [1, 1]].map(|s| serde_json::json!(s)));
    let given: Vec<_> = log_weights().into_iter().filter(|(s, _)| s[1] > 0.0).collect();
    let z: f64 = given.iter().map(|(_, w)| w.exp()).sum();
    for row in answer["table"].as_array().unwrap() {
        let [c, a] = [0, 1].map(|k| row["state"][k].as_f64().unwrap());
        let weight: f64 = given.iter().filter(|(s, _)| s[2] == c && s[0] == a).map(|(_, w)| w.exp()).sum();
        close(&row["p"], weight / z);
    }
}

#[test]
fn map_finds_the_state_of_least_energy() {
    let room = Room::new();
    room.write("m.json", MODEL);
    let answer = room.json("map m.json");
    let best = log_weights().into_iter().max_by(|x, y| x.1.total_cmp(&y.1)).unwrap();
    close(&answer["energy"], -2.0 * best.1);
    for (k, name) in ["a", "b", "c"].iter().enumerate() {
        close(&answer["state"][name], best.0[k]);
    }
    assert_eq!(answer["guarantee"], "exact");
}

/// The energy is that of the file: −energy/T is the logarithm of the product of a UAI file's factors.
#[test]
fn the_energy_of_a_state_includes_the_constant_of_the_file() {
    let room = Room::new();
    // Two variables, P(x0) ∝ 2, 5; P(x0, x1) ∝ 3, 1; 0.5, 7. The largest product is 5 · 7.
    room.write("m.uai", "MARKOV\n2\n2 2\n2\n1 0\n2 0 1\n2 2 5\n4 3 1 0.5 7\n");
    for engine in ["auto", "enumerate", "max-product"] {
        let answer = room.json(&format!("map m.uai --engine {engine}"));
        assert_eq!(answer["state"], serde_json::json!({"x0": 1, "x1": 1}));
        close(&answer["energy"], -35f64.ln());
    }
    close(&room.json("map m.uai --given x0=-1")["energy"], -6f64.ln());
    let text = room.ok("map m.uai --quiet");
    assert!(text.contains(&format!("energy = {:.10}", -35f64.ln())), "{text}");

    // At temperature T, −energy/T is the log-weight: a machine of temperature 2 with offset 3.
    room.write("warm.json", MODEL.replace("\"temperature\": 2.0", "\"temperature\": 2.0, \"offset\": 3.0"));
    let best = log_weights().into_iter().map(|(_, w)| w).fold(f64::NEG_INFINITY, f64::max);
    close(&room.json("map warm.json")["energy"], -2.0 * (best + 3.0));
}

/// Every command that reads a machine reads it at another temperature alike: energies stay.
#[test]
fn any_command_takes_the_machine_at_another_temperature() {
    let room = Room::new();
    let with_offset = MODEL.replace("\"temperature\": 2.0", "\"temperature\": 2.0, \"offset\": 3.0");
    room.write("m.json", &with_offset).write("t.csv", "a,b\n1,-1\n1,\n");
    // The same energies at 0.5: the log-weights of the file, 2 / 0.5 times as large.
    let z: f64 = log_weights().iter().map(|(_, w)| (4.0 * (w + 3.0)).exp()).sum();
    close(&room.json("infer m.json --temperature 0.5")["log_z"], z.ln());
    let cold = with_offset.replace("2.0", "0.5").replace("3.0", "12.0");
    room.write("cold.json", &cold);
    for line in ["infer", "query --ask a,c", "map", "sample -n 20", "score", "complete -o out.csv", "info"] {
        let (command, rest) = line.split_once(' ').unwrap_or((line, ""));
        let table = if matches!(command, "score" | "complete") { "t.csv" } else { "" };
        let found = room.json(&format!("{command} m.json {table} {rest} --temperature 0.5"));
        assert_eq!(found, room.json(&format!("{command} cold.json {table} {rest}")), "{command}");
    }
    assert_eq!(room.json("map m.json --temperature 0.5")["energy"], room.json("map m.json")["energy"]);
    assert_eq!(room.json("info m.json --temperature 0.5")["temperature"], 0.5);
    room.ok("convert m.json moved.json --temperature 0.5");
    room.ok("convert cold.json again.json");
    assert_eq!(room.read("moved.json"), room.read("again.json"));
    for (value, problem) in [
        ("0", "expected a finite number above 0"),
        ("-1", "expected a finite number above 0"),
        ("inf", "expected a finite number above 0"),
        ("warm", "expected a finite number above 0"),
    ] {
        let (code, message) = room.fails(&format!("infer m.json --temperature {value}"));
        assert!(code == 2 && message.contains("--temperature <T>") && message.contains(problem), "{message}");
    }
    let (code, message) = room.fails("infer m.json --temperature 1e-308");
    assert!(code == 1 && message.contains("--temperature: offset at temperature"), "{message}");
}

#[test]
fn max_product_finds_states_is_exact_on_trees_and_has_nothing_else() {
    let room = Room::new();
    room.ok("make tree --units 30 --coupling normal:0,1 --bias normal:0,1 --seed 5 -o tree.json");
    let exact = room.json("map tree.json --engine decimate --given x3=+1");
    let found = room.json("map tree.json --engine max-product --given x3=+1");
    assert_eq!(found["state"], exact["state"]);
    assert_eq!((&found["guarantee"], &found["converged"]), (&"exact".into(), &true.into()));
    assert_eq!(found["engine"], "max-product");

    room.ok("make full --units 40 --coupling normal:0,1 --bias normal:0,1 --seed 5 -o full.json");
    let (code, message) = room.fails("map full.json --engine eliminate");
    assert!(code == 1 && message.contains("hint:") && message.contains("--engine max-product"), "{message}");
    // Beyond the exact engines the default is tempering, which says how many runs met the state.
    let best = room.json("map full.json --replicas 4");
    assert_eq!(best["engine"], "temper");
    // Four annealed chains for each replica, on two schedules at least.
    assert!(best["runs"].as_u64().unwrap() >= 2 * 4 * 4, "{}", best["runs"]);
    assert!(best["met"].as_u64().unwrap() >= 2 && best["converged"] == true);
    let found = room.json("map full.json --engine max-product --damping 0.3 --max-sweeps 50 --given x0=-1");
    assert_eq!((&found["guarantee"], &found["state"]["x0"]), (&"approximation".into(), &(-1).into()));
    assert!(best["energy"].as_f64().unwrap() <= found["energy"].as_f64().unwrap());
    assert!(room.ok("map full.json --engine max-product").contains("engine max-product: approximation"));

    for (line, problem) in [
        ("infer tree.json --engine max-product", "it is for isinglass map"),
        ("infer tree.json --engine max-product --bracket", "it is for isinglass map"),
        ("query tree.json --ask x0 --engine max-product", "it is for isinglass map"),
        ("map tree.json --engine max-product --starts 3", "--starts belongs to"),
        ("map tree.json --damping 0.3", "--damping belongs to"),
        ("map tree.json --engine max-product --damping 1", "below 1"),
    ] {
        let (code, message) = room.fails(line);
        assert!(code == 2 && message.contains(problem), "{line}: {message}");
    }
}

#[test]
fn sample_draws_exactly_where_it_can_and_says_so() {
    let room = Room::new();
    room.write("m.json", MODEL);
    let output = room.run("sample m.json -n 5 --values 01 --given b=1");
    assert!(String::from_utf8(output.stderr).unwrap().contains("exact"));
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "a,b,c");
    assert_eq!(lines.len(), 6);
    assert!(lines[1..].iter().all(|line| line.split(',').nth(1) == Some("1")));
    room.ok("sample m.json -n 100 -o draws.tsv");
    assert!(room.read("draws.tsv").starts_with("a\tb\tc\n"));
    let gibbs = room.json("sample m.json -n 100 --engine gibbs");
    assert_eq!(gibbs["guarantee"], "approximation");
    assert_eq!(gibbs["states"].as_array().unwrap().len(), 100);
}

#[test]
fn gibbs_answers_with_standard_errors() {
    let room = Room::new();
    room.write("m.json", MODEL);
    let exact = room.json("infer m.json");
    let answer = room.json("infer m.json --engine gibbs --samples 2000 --burn-in 100 --thin 2 --chains 8");
    assert_eq!(answer["guarantee"], "estimate");
    assert_eq!(answer["log_z"], serde_json::Value::Null);
    assert_eq!(answer["mixing"]["chains"], 8);
    assert_eq!(answer["mixing"]["samples"], 2000);
    for name in ["a", "b", "c"] {
        let [found, truth, error] =
            [&answer["means"], &exact["means"], &answer["means_error"]].map(|x| x[name].as_f64().unwrap());
        assert!((found - truth).abs() < 5.0 * error, "{name}: {found} ± {error}, exactly {truth}");
    }
}

/// Two valleys and chains that stay in theirs: errors are unknown, but for the unit that is given.
#[test]
fn errors_of_chains_that_do_not_mix_are_unknown() {
    let room = Room::new();
    room.ok("make full --units 30 --coupling 1 -o m.json");
    let frozen = [
        "infer m.json --engine gibbs --samples 64 --burn-in 10",
        "infer m.json --engine temper --levels 2 --sweeps 64 --burn-in 0",
    ];
    for command in frozen {
        let answer = room.json(&format!("{command} --given x3=+1"));
        let free = room.json(command);
        assert_eq!(free["converged"], false, "{command}");
        let errors = free["means_error"].as_object().unwrap();
        assert!(
            errors.len() == 30 && errors.values().all(serde_json::Value::is_null),
            "{command}: {errors:?}"
        );
        assert!(free["log_z_error"].is_null() && free["correlations_error"][0][2].is_null());
        assert_eq!(answer["means_error"]["x3"], 0.0);
        assert!(room.ok(command).contains("unknown"), "{command}");
        let table = room.json(&format!("{} --ask x0,x1", command.replace("infer", "query")));
        assert!(table["table"][0]["p_error"].is_null(), "{table}");
    }
}

#[test]
fn info_tells_size_structure_and_engines() {
    let room = Room::new();
    room.write("m.json", MODEL);
    let answer = room.json("info m.json");
    assert_eq!(answer["units"], 3);
    assert_eq!(answer["edges"], 2);
    assert_eq!(answer["roles"], serde_json::json!({"visible": 2, "hidden": 1, "input": 0}));
    assert_eq!(answer["components"], 1);
    assert_eq!(answer["decimatable"], true);
    assert_eq!(answer["treewidth"], serde_json::json!({"lower": 1, "upper": 1}));
    let names: Vec<&str> =
        answer["engines"].as_array().unwrap().iter().map(|engine| engine["name"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            "decimate",
            "eliminate",
            "enumerate",
            "mean-field",
            "mixture",
            "structured",
            "trw",
            "logdet",
            "tap",
            "linear-response",
            "bethe",
            "temper",
            "gibbs",
            "ais"
        ]
    );
    assert_eq!(answer["decimation_order"].as_array().unwrap().len(), 3);
    room.ok("make full -n 6 -o k6.json");
    let dense = room.json("info k6.json");
    assert_eq!(
        (&dense["decimatable"], &dense["decimation_order"]),
        (&false.into(), &serde_json::Value::Null)
    );
    // With biases everywhere, a lattice of three rows is too wide by the bias unit alone.
    room.ok("make grid --rows 3 --columns 20 --bias 0.1 -o biased.json");
    room.ok("make grid --rows 3 --columns 20 -o plain.json");
    assert_eq!(room.json("info biased.json")["decimatable"], false);
    let plain = room.json("info plain.json");
    assert_eq!(plain["decimatable"], true);
    assert_eq!(plain["treewidth"], serde_json::json!({"lower": 3, "upper": 3}));
}

#[test]
fn auto_turns_to_sampling_beyond_the_budget_and_says_why() {
    let room = Room::new();
    room.ok("make full -n 40 --coupling 0.02 --bias 0.3 -o clique.json");
    let output = room.run("infer clique.json --json --burn-in 200 --samples 200");
    let note = String::from_utf8(output.stderr).unwrap();
    assert!(note.contains("gibbs") && note.contains("4 TiB"), "{note}");
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["engine"], "gibbs");
    assert_eq!(answer["guarantee"], "estimate");
}

#[test]
fn make_builds_every_kind() {
    let room = Room::new();
    room.write("edges.csv", "ann,bob,0.5\nbob,cem,-2\n");
    let kinds = [
        ("chain -n 5", 5, 4),
        ("tree -n 7 --branching 3", 7, 6),
        ("grid --rows 3 --cols 4", 12, 17),
        ("grid8 --rows 3 --columns 3", 9, 20),
        ("chain -n 5 --periodic", 5, 5),
        ("grid --rows 3 --columns 4 --periodic", 12, 24),
        ("grid8 --rows 3 --columns 4 --periodic", 12, 48),
        ("triangular --rows 3 --columns 4", 12, 8 + 9 + 6),
        ("triangular --rows 3 --columns 4 --periodic", 12, 36),
        ("grid3 --rows 2 --columns 3 --layers 4", 24, 12 + 16 + 18),
        ("grid3 --rows 3 --columns 3 --layers 3 --periodic", 27, 81),
        ("regular -n 10 --degree 3", 10, 15),
        ("full -n 5", 5, 10),
        ("rbm --visible 3 --hidden 2", 5, 6),
        ("two-layer --visible 4 --visible-links grid:2x2 --hidden 3 --hidden-links full", 7, 4 + 3 + 12),
        ("SK -n 6", 6, 15),
        ("edges --edges edges.csv", 3, 2),
    ];
    for (line, units, edges) in kinds {
        let made = room.json(&format!("make {line} -o m.json --seed 3"));
        assert_eq!((made["units"].as_u64(), made["edges"].as_u64()), (Some(units), Some(edges)), "{line}");
        assert_eq!(room.json("info m.json")["units"], units, "{line}");
    }
    room.ok("make grid3 --rows 2 --columns 2 --layers 2 -o cube.json");
    let names: Vec<String> =
        room.json("infer cube.json")["means"].as_object().unwrap().keys().cloned().collect();
    assert_eq!(names[..3], ["r0c0l0", "r0c0l1", "r0c1l0"]);
    assert_eq!(room.read("cube.json"), {
        room.ok("make grid3 --rows 2 --columns 2 --layers 2 -o again.json --threads 1");
        room.read("again.json")
    });
    let numbers = room.json("infer m.json");
    assert!((numbers["correlations"][1][2].as_f64().unwrap() - (-2f64).tanh()).abs() < 1e-12);
}

#[test]
fn convert_keeps_log_z_in_every_format() {
    let room = Room::new();
    room.write("m.json", MODEL);
    let log_z = room.json("infer m.json")["log_z"].as_f64().unwrap();
    room.ok("convert m.json m.uai");
    room.ok("convert m.uai back.json");
    room.ok("convert back.json m.npz");
    for file in ["m.uai", "back.json", "m.npz"] {
        close(&room.json(&format!("infer {file}"))["log_z"], log_z);
    }
    room.write("m.uai.evid", "1 0 1\n");
    let clamped = room.json("infer m.uai --evidence m.uai.evid");
    close(&clamped["log_z"], room.json("infer m.json --given a=1")["log_z"].as_f64().unwrap());
}

#[test]
fn score_sums_out_missing_and_hidden_units() {
    let room = Room::new();
    room.write("m.json", MODEL).write("t.csv", "b,a\n1,-1\n,1\n1,-1\n");
    let answer = room.json("score m.json t.csv");
    assert_eq!(answer["rows"], 3);
    let states = log_weights();
    let z: f64 = states.iter().map(|(_, w)| w.exp()).sum();
    let p = |keep: &dyn Fn(&[f64; 3]) -> bool| -> f64 {
        states.iter().filter(|(s, _)| keep(s)).map(|(_, w)| w.exp()).sum::<f64>() / z
    };
    let both = p(&|s| s[0] < 0.0 && s[1] > 0.0);
    let one = p(&|s| s[0] > 0.0);
    close(&answer["log_likelihood"], (2.0 * both.ln() + one.ln()) / 3.0);
    let pseudo = 2.0 * ((both / p(&|s| s[1] > 0.0)).ln() + (both / p(&|s| s[0] < 0.0)).ln()) + one.ln();
    close(&answer["pseudo_log_likelihood"], pseudo / 3.0);
    close(&answer["completion"], -pseudo / 5.0);
    assert_eq!(answer["guarantee"], "exact");
}

#[test]
fn what_is_unavailable_is_null_with_a_note() {
    let room = Room::new();
    room.ok("make full -n 50 --coupling 0.02 -o clique.json");
    room.ok("sample clique.json -n 64 --sweeps 256 -o draws.csv");
    // Beyond the exact engines the likelihood is an estimate with its error.
    let answer = room.json("score clique.json draws.csv");
    let (value, error) = (&answer["log_likelihood"], &answer["log_likelihood_error"]);
    assert!(value.as_f64().unwrap() < -30.0 && (1e-5..0.1).contains(&error.as_f64().unwrap()));
    assert_eq!(
        (&answer["engine"], &answer["log_likelihood_guarantee"]),
        (&"temper".into(), &"estimate".into())
    );
    assert!(answer["pseudo_log_likelihood"].as_f64().unwrap() < 0.0);
    // What needs no engine comes out whatever the engine; the note says which have what is missing.
    let output = room.run("score clique.json draws.csv --json --engine gibbs");
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    for field in ["pseudo_log_likelihood", "completion"] {
        assert_eq!(found[field], answer[field]);
    }
    assert_eq!(
        (&found["log_likelihood"], &found["kullback"], &found["kullback_guarantee"]),
        (&serde_json::Value::Null, &serde_json::Value::Null, &serde_json::Value::Null)
    );
    let note = String::from_utf8(output.stderr).unwrap();
    assert!(
        note.contains("gibbs cannot compute a likelihood: it has no log Z; all engines but gibbs have it"),
        "{note}"
    );
}

#[test]
fn score_has_simpler_models_beside_the_machine() {
    let room = Room::new();
    room.write("m.json", MODEL).write("t.csv", "a,b\n1,1\n0,0\n").write("gaps.csv", "a,b\n1,1\n0,\n0,0\n");
    let answer = room.json("score m.json t.csv");
    close(&answer["independent_log_likelihood"], -2.0 * 2f64.ln());
    close(&answer["tree_log_likelihood"], -(2f64.ln()));
    let text = room.ok("score m.json t.csv");
    assert!(text.contains("Chow–Liu tree") && text.contains("bits") && text.contains("-2.000000"), "{text}");
    let answer = room.json("score m.json gaps.csv");
    assert!(answer["independent_log_likelihood"].as_f64().unwrap() < 0.0);
    assert_eq!(answer["tree_log_likelihood"], serde_json::Value::Null);
    assert!(!room.ok("score m.json gaps.csv").contains("Chow–Liu"));
}

#[test]
fn score_tells_the_distance_to_the_table() {
    let room = Room::new();
    room.write("m.json", MODEL).write("t.csv", "a,b,n\n1,0,3\n1,1,1\n");
    let answer = room.json("score m.json t.csv --weights n");
    let states = log_weights();
    let z: f64 = states.iter().map(|(_, w)| w.exp()).sum();
    let p = |a: f64, b: f64| {
        states.iter().filter(|(s, _)| s[0] == a && s[1] == b).map(|(_, w)| w.exp()).sum::<f64>() / z
    };
    close(&answer["kullback"], 0.75 * (0.75 / p(1.0, -1.0)).ln() + 0.25 * (0.25 / p(1.0, 1.0)).ln());
    assert_eq!(answer["kullback_guarantee"], "exact");
    assert!(room.ok("score m.json t.csv --weights n").contains("Kullback divergence K  "));
    room.write("gaps.csv", "a,b\n1,\n1,1\n");
    let output = room.run("score m.json gaps.csv --json");
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["kullback"], serde_json::Value::Null);
    assert!(answer["log_likelihood"].as_f64().unwrap() < 0.0);
    let note = String::from_utf8(output.stderr).unwrap();
    assert!(
        note.contains("kullback is unavailable") && note.contains("1 distinct row with missing cells"),
        "{note}"
    );
}

#[test]
fn counts_agree_with_their_words() {
    let room = Room::new();
    room.write("t.csv", "a\n1\n").write("two.csv", "a,b\n1,1\n0,\n");
    let note = |line: &str| String::from_utf8(room.run(line).stderr).unwrap();
    assert!(note("make chain -n 1 -o one.json").contains("1 unit, 0 edges"));
    assert!(note("make chain -n 2 -o pair.json").contains("2 units, 1 edge\n"));
    assert!(room.ok("info pair.json").starts_with("2 units (2 visible), 1 edge, 1 component, "));
    let fit = room.ok("fit two.csv --l2 0.1 -o fit.json");
    assert!(fit.starts_with("2 rows (2 distinct, 1 cell missing), 2 units, 1 coupling\n"), "{fit}");
    let fit = room.ok("fit t.csv --learner factorized -o fit.json");
    assert!(fit.starts_with("1 row (1 distinct, 0 cells missing), 1 unit, 0 couplings\n"), "{fit}");
    assert!(room.ok("score fit.json t.csv").contains("\n1 row  "));
}

#[test]
fn names_may_hold_commas_and_equals_signs() {
    let room = Room::new();
    room.write("m.json", MODEL.replace("\"name\": \"a\"", "\"name\": \"p,q=r\""));
    let answer = room.json(r"query m.json --ask p\,q=r --given b=1");
    assert_eq!(answer["ask"], serde_json::json!(["p,q=r"]));
    let answer = room.json(r"infer m.json --given p\,q=r=-1,b=1");
    assert_eq!(answer["means"]["p,q=r"], -1.0);
}

#[test]
fn scores_with_missing_inputs_or_a_refused_engine_say_what_they_can() {
    let room = Room::new();
    room.write("t.csv", "a,b,c\n1,0,1\n,1,0\n0,0,\n1,1,1\n");
    room.ok("fit t.csv --inputs a --l2 0.1 -o m.json");
    let score = room.json("score m.json t.csv");
    assert!(score["log_likelihood"].as_f64().unwrap() < 0.0);
    // One unit of state too many for the free phase alone.
    let tight = room.json("score m.json t.csv --engine enumerate --budget 32");
    assert_eq!(tight["log_likelihood"], serde_json::Value::Null);
    close(&tight["pseudo_log_likelihood"], score["pseudo_log_likelihood"].as_f64().unwrap());
    let (code, message) = room.fails("score m.json t.csv --engine enumerate --budget 8");
    assert!(code == 1 && message.contains("no score is available"), "{message}");
}

#[test]
fn auto_says_what_it_took_in_every_command() {
    let room = Room::new();
    room.write("m.json", MODEL).write("t.csv", "a,b\n1,1\n0,1\n1,0\n").write("gaps.csv", "a,b\n1,\n");
    for line in [
        "infer m.json",
        "map m.json",
        "query m.json --ask a",
        "sample m.json -n 2",
        "fit t.csv -o f.json",
        "score m.json t.csv",
        "complete m.json gaps.csv -o all.csv",
    ] {
        let output = room.run(line);
        let note = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success() && note.contains("engine: decimate (exact"), "{line}: {note}");
        assert!(room.run(&format!("{line} --quiet")).stderr.is_empty(), "{line} --quiet");
    }
}

#[test]
fn every_exact_engine_gives_the_same_answer() {
    let room = Room::new();
    // Too wide for decimation, by the biases alone.
    room.ok("make grid --rows 3 --columns 4 --coupling normal:0,1 --bias normal:0,1 --seed 5 -o grid.json");
    let reference = room.json("infer grid.json --engine enumerate --pairs all --cumulants r0c0,r1c1,r2c3");
    let answer = room.json("infer grid.json --engine eliminate --pairs all --cumulants r0c0,r1c1,r2c3");
    assert_eq!(answer["guarantee"], "exact");
    close(&answer["log_z"], reference["log_z"].as_f64().unwrap());
    for list in ["correlations", "cumulants"] {
        let both = answer[list].as_array().unwrap().iter().zip(reference[list].as_array().unwrap());
        for (found, expected) in both {
            let (x, names) = found.as_array().unwrap().split_last().unwrap();
            let (y, expected_names) = expected.as_array().unwrap().split_last().unwrap();
            assert_eq!(names, expected_names);
            close(x, y.as_f64().unwrap());
        }
    }
    assert_eq!(answer["cumulants"].as_array().unwrap().len(), 7);
    let (code, message) = room.fails("infer grid.json --engine decimate");
    assert!(
        code == 1 && message.contains("treewidth 4 or more") && message.contains("eliminate"),
        "{message}"
    );
    let mode = |engine: &str| room.json(&format!("map grid.json --engine {engine}"))["state"].clone();
    assert_eq!(mode("eliminate"), mode("enumerate"));
    let (code, message) = room.fails("infer grid.json --cumulants r0c0,r0c1,r0c2,r0c3,r1c0");
    assert!(code == 2 && message.contains("at most 4"), "{message}");
}

#[test]
fn belief_propagation_is_exact_on_trees_and_says_where_it_is_not() {
    let room = Room::new();
    room.ok(
        "make tree --units 20 --branching 3 --coupling normal:0,1 --bias normal:0,1 --seed 5 -o tree.json",
    );
    let reference = room.json("infer tree.json --engine decimate --pairs all --given x3=+1");
    let answer = room.json("infer tree.json --engine bethe --pairs all --given x3=+1");
    assert_eq!((&answer["engine"], &answer["guarantee"]), (&"bethe".into(), &"exact".into()));
    close(&answer["log_z"], reference["log_z"].as_f64().unwrap());

    room.ok("make full --units 6 --coupling 0.1 --bias 0.2 -o clique.json");
    let answer = room.json("infer clique.json --engine bethe");
    assert_eq!((&answer["guarantee"], &answer["converged"]), (&"approximation".into(), &true.into()));
    let (code, message) = room.fails("map clique.json --engine bethe");
    assert!(code == 1 && message.contains("bethe cannot find a most probable state"), "{message}");
}
