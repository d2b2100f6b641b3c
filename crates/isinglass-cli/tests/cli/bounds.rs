//! Bounds on log Z and on the likelihood, mixtures and annealed importance sampling on the command
//! line.

use serde_json::Value;

use crate::Room;

fn number(document: &Value, field: &str) -> f64 {
    document[field].as_f64().unwrap_or_else(|| panic!("{field} of {document}"))
}

/// A dense machine with strong couplings, and its exact log Z.
fn glass(room: &Room) -> f64 {
    room.ok("make full --units 10 --coupling uniform:-1,1 --bias uniform:-1,1 --seed 4 -o m.json");
    number(&room.json("infer m.json --engine enumerate"), "log_z")
}

#[test]
fn bounds_are_on_their_side_and_say_so() {
    let room = Room::new();
    let truth = glass(&room);
    let mean_field = number(&room.json("infer m.json --engine mean-field"), "log_z");
    for (engine, guarantee) in [
        ("mixture", "lower-bound"),
        ("mixture --components 8 --anneal 60:8", "lower-bound"),
        ("structured", "lower-bound"),
        ("structured --width 1 --starts 3", "lower-bound"),
        ("trw", "upper-bound"),
        ("trw --width 1", "upper-bound"),
        ("trw --max-sweeps 2", "upper-bound"),
    ] {
        let found = room.json(&format!("infer m.json --engine {engine}"));
        assert_eq!(found["guarantee"], guarantee, "{engine}");
        let log_z = number(&found, "log_z");
        if guarantee == "upper-bound" {
            assert!(log_z >= truth, "{engine}: {log_z} {truth}");
        } else {
            assert!(log_z <= truth && log_z >= mean_field - 1e-9, "{engine}: {mean_field} {log_z} {truth}");
        }
        assert_eq!(found["correlations"].as_array().unwrap().len(), 45);
    }
    assert_eq!(room.json("infer m.json --engine trw --max-sweeps 2")["converged"], false);
}

#[test]
fn a_bracket_holds_log_z() {
    let room = Room::new();
    room.ok("make full --units 18 --coupling uniform:-0.5,0.5 --bias uniform:-1,1 --seed 4 -o m.json");
    let truth = number(&room.json("infer m.json --engine enumerate"), "log_z");
    // Too little memory for exact engines.
    for options in [
        "",
        "--engine mixture",
        "--engine structured",
        "--engine trw",
        "--engine logdet",
        "--engine mean-field --width 2",
    ] {
        let found = room.json(&format!("infer m.json --bracket --budget 1MiB {options}"));
        let bracket = &found["bracket"];
        let (lower, upper) = (number(bracket, "lower"), number(bracket, "upper"));
        assert!(lower <= truth && truth <= upper, "{options}: {lower} {truth} {upper}");
        assert!((number(bracket, "width") - (upper - lower)).abs() < 1e-12);
        let above = bracket["upper_engine"].as_str().unwrap();
        let named = ["trw", "logdet"].into_iter().find(|engine| options.contains(engine));
        assert!(named.map_or(above == "trw" || above == "logdet", |engine| engine == above), "{above}");
        let shown = if named.is_some() { upper } else { lower };
        assert!(named.is_none() || found["engine"] == above);
        assert_eq!(number(&found, "log_z"), shown);
    }
    // What is within the budget is exact, and needs no second bound.
    let exact = room.json("infer m.json --bracket");
    assert_eq!((number(&exact["bracket"], "width"), &exact["guarantee"]), (0.0, &Value::from("exact")));
    let half = room.json("infer m.json --bracket --engine mixture");
    assert_eq!(half["bracket"]["lower_engine"], "mixture");
    assert_eq!(half["bracket"]["upper_engine"], "enumerate");
    assert_eq!(number(&half["bracket"], "upper"), truth);
    let story = room.ok("infer m.json --bracket --engine structured --budget 1MiB");
    assert!(
        story.starts_with("log Z >= ") && story.contains("\nlog Z <= ") && story.contains("(trw)"),
        "{story}"
    );
}

#[test]
fn the_likelihood_of_a_table_is_bracketed_with_hidden_units_and_missing_cells() {
    let room = Room::new();
    room.ok("make two-layer --visible 6 --hidden 5 --visible-links full --hidden-links full --coupling uniform:-0.7,0.7 --bias uniform:-0.5,0.5 -o m.json");
    room.ok("make full --units 6 -o v.json --coupling 0.1");
    room.ok("sample v.json -n 40 -o plain.csv");
    let plain = room.read("plain.csv").replace('x', "v");
    let with_gaps: Vec<String> = plain
        .lines()
        .enumerate()
        .map(|(k, line)| {
            if k > 0 && k % 3 == 0 {
                format!(",{}", line.split_once(',').unwrap().1)
            } else {
                line.to_owned()
            }
        })
        .collect();
    room.write("t.csv", &(with_gaps.join("\n") + "\n"));
    let exact = room.json("score m.json t.csv");
    let truth = number(&exact, "log_likelihood");
    for engine in ["mixture", "structured", "trw"] {
        let found = room.json(&format!("score m.json t.csv --bracket --engine {engine}"));
        let bracket = &found["bracket"];
        let (lower, upper) = (number(bracket, "lower"), number(bracket, "upper"));
        assert!(lower <= truth && truth <= upper, "{engine}: {lower} {truth} {upper}");
        assert!(upper - lower < 2.0, "{engine}: {lower} {upper}");
        assert_eq!(number(&found, "log_likelihood"), lower);
        // The entropy of rows with missing cells is not known, that of cells is.
        assert!(
            (number(&found, "pseudo_log_likelihood") - number(&exact, "pseudo_log_likelihood")).abs() < 1e-12
        );
    }
    let found = room.json("score m.json t.csv --bracket");
    assert_eq!(number(&found["bracket"], "lower"), truth);
    let story = room.ok("score m.json t.csv --bracket --engine trw");
    assert!(story.contains("at least") && story.contains("at most"), "{story}");
}

#[test]
fn importance_sampling_gives_log_z_with_its_error() {
    let room = Room::new();
    let truth = glass(&room);
    let found = room.json("infer m.json --engine ais");
    let error = number(&found, "log_z_error");
    assert_eq!(found["guarantee"], "estimate");
    assert!(error > 0.0 && error < 0.1 && (number(&found, "log_z") - truth).abs() < 4.0 * error, "{found}");
    assert!(number(&found["importance"], "effective_samples") > 100.0);
    assert_eq!(found["importance"]["temperatures"], 1000);
    let short = room.run("infer m.json --engine ais --temperatures 2 --chains 64 --json");
    let note = String::from_utf8(short.stderr).unwrap();
    assert!(note.contains("few runs carry the weight"), "{note}");
    // What such runs show of their errors is no standard error.
    let short: Value = serde_json::from_slice(&short.stdout).unwrap();
    assert_eq!((&short["converged"], &short["log_z_error"]), (&false.into(), &Value::Null));
    assert!(short["log_z"].is_number() && short["means_error"]["x0"].is_null(), "{short}");
    let story = room.ok("infer m.json --engine ais --temperatures 2 --chains 64");
    assert!(story.contains(" ± unknown\n"), "{story}");
    let story = room.ok("infer m.json --engine ais");
    assert!(story.contains("effective runs") && story.contains(" ± "), "{story}");
    assert!(room.ok("infer m.json --engine trw").contains("\nlog Z <= "));
    room.write("t.csv", "x0,x1,x2,x3,x4,x5,x6,x7,x8,x9\n1,1,0,1,0,1,1,0,1,1\n0,1,,1,0,0,1,1,0,0\n");
    let exact = number(&room.json("score m.json t.csv"), "log_likelihood");
    let score = room.json("score m.json t.csv --engine ais");
    let error = number(&score, "log_likelihood_error");
    assert!(error > 0.0 && error < 0.1, "{score}");
    assert!((number(&score, "log_likelihood") - exact).abs() < 4.0 * error, "{score} {exact}");
    assert_eq!(score["log_likelihood_guarantee"], "estimate");
    let one = room.ok("infer m.json --engine ais --seed 3 --threads 1 --json");
    assert_eq!(one, room.ok("infer m.json --engine ais --seed 3 --threads 2 --json"));
}

/// Rows whose free units an exact engine sums out need no sampling, whatever the engine of the free phase.
#[test]
fn rows_are_exact_where_the_free_phase_is_sampled() {
    let room = Room::new();
    room.ok("make rbm --visible 12 --hidden 30 --coupling normal:0,0.2 --bias normal:0,0.2 -o rbm.json");
    let rows = (0..40).map(|row| (0..12).map(move |k| if (row * 7 + k * k) % 3 == 0 { "1" } else { "0" }));
    let rows: Vec<String> = rows.map(|cells| cells.collect::<Vec<_>>().join(",")).collect();
    let names: Vec<String> = (0..12).map(|k| format!("v{k}")).collect();
    room.write("t.csv", format!("{}\n{}\n", names.join(","), rows.join("\n")));
    let exact = room.json("score rbm.json t.csv");
    assert_eq!(exact["log_likelihood_guarantee"], "exact");
    assert_eq!(exact["log_likelihood_error"], Value::Null);
    let found = room.json("score rbm.json t.csv --engine ais --chains 256 --temperatures 200");
    assert_eq!((&found["engine"], &found["clamped_engine"]), (&"ais".into(), &"decimate".into()));
    assert_eq!(
        (&found["guarantee"], &found["log_likelihood_guarantee"]),
        (&"estimate".into(), &"estimate".into())
    );
    // What needs no free phase is exact to the last digit.
    assert_eq!(found["pseudo_log_likelihood"], exact["pseudo_log_likelihood"]);
    let error = number(&found, "log_likelihood_error");
    let difference = number(&found, "log_likelihood") - number(&exact, "log_likelihood");
    assert!(error > 0.0 && difference.abs() < 5.0 * error, "{found} {exact}");
    let story = room.ok("score rbm.json t.csv --engine ais --chains 256 --temperatures 200");
    assert!(story.contains("engine ais, decimate for the rows: estimate"), "{story}");
    // The free phase of gibbs has no log Z; what the rows give is there.
    let gibbs = room.json("score rbm.json t.csv --engine gibbs");
    assert_eq!((&gibbs["log_likelihood"], &gibbs["log_likelihood_guarantee"]), (&Value::Null, &Value::Null));
    assert_eq!(gibbs["pseudo_log_likelihood"], exact["pseudo_log_likelihood"]);
    // Two coupled layers of 40 are beyond every exact engine: the rows are estimates, too.
    room.ok(
        "make two-layer --visible 3 --hidden 40 --hidden-links full --coupling normal:0,0.05 -o deep.json",
    );
    room.write("v.csv", "v0,v1,v2\n1,0,1\n");
    let found = room.json("score deep.json v.csv --engine ais --chains 64 --temperatures 50");
    assert_eq!((&found["engine"], &found["clamped_engine"]), (&"ais".into(), &"ais".into()));
    let fit = room.json(
        "fit t.csv --init rbm.json --engine ais --chains 64 --temperatures 20 --iterations 2 -o f.json",
    );
    assert_eq!((&fit["engine"], &fit["clamped_engine"]), (&"ais".into(), &"decimate".into()));
}

#[test]
fn a_mixture_learns_and_tells_what_its_components_do() {
    let room = Room::new();
    room.write("t.csv", "a,\"b,c\"\n1,1\n1,1\n0,0\n");
    let found = room.json(
        "fit t.csv -o m.json --engine mixture --components 2 --anneal 60:8 --optimizer momentum --rate 0.25 --momentum 0 --iterations 30 --history h.csv --component-history c.csv",
    );
    assert_eq!((&found["engine"], &found["clamped_engine"]), (&Value::from("mixture"), &Value::Null));
    let components = room.read("c.csv");
    let mut lines = components.lines();
    assert_eq!(lines.next().unwrap(), "iteration,component,weight,a,\"b,c\"");
    let rows: Vec<Vec<f64>> =
        lines.map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect()).collect();
    let steps = room.read("h.csv").lines().count() - 1;
    assert_eq!(rows.len(), 2 * steps);
    for pair in rows.chunks(2) {
        assert_eq!((pair[0][0], pair[0][1], pair[1][1]), (pair[1][0], 0.0, 1.0));
        assert!((pair[0][2] + pair[1][2] - 1.0).abs() < 1e-9);
    }
    let hidden = "fit t.csv -o m.json --hidden 1 --engine mixture --iterations 3";
    assert_eq!(room.json(hidden)["clamped_engine"], "mean-field");
    assert_eq!(room.json(&format!("{hidden} --clamped-engine mixture"))["clamped_engine"], "mixture");
    let bounded =
        room.json("fit t.csv -o m.json --hidden 1 --engine trw --clamped-engine mean-field --iterations 5");
    assert_eq!(
        (&bounded["engine"], &bounded["clamped_engine"]),
        (&Value::from("trw"), &Value::from("mean-field"))
    );
    assert!(["lower-bound", "exact"].contains(&bounded["guarantee"].as_str().unwrap()), "{bounded}");
}

#[test]
fn what_does_not_go_together_is_refused() {
    let room = Room::new();
    room.ok("make full --units 5 -o m.json");
    room.write("t.csv", "a,b\n1,1\n0,1\n");
    for (arguments, message) in [
        ("infer m.json --components 3", "--components belongs to --engine mixture"),
        ("infer m.json --engine mixture --width 2", "--width belongs to --engine structured, trw"),
        ("infer m.json --engine trw --width 4", "expected 1, 2 or 3"),
        ("infer m.json --engine trw --anneal 60:8", "--anneal belongs to --engine mixture"),
        ("infer m.json --engine structured --damping 0.5", "--damping belongs to"),
        ("infer m.json --engine mixture --components 0", "at least 1"),
        ("infer m.json --engine mean-field --samples 100", "--samples belongs to --engine gibbs"),
        ("infer m.json --temperatures 10", "--temperatures: expected temperatures such as 4,2,1.4,1"),
        ("infer m.json --engine gibbs --temperatures 10", "--temperatures belongs to --engine temper, ais"),
        ("infer m.json --bracket --engine bethe", "gives no bound on log Z"),
        ("infer m.json --bracket --engine gibbs", "gives no bound on log Z"),
        ("infer m.json --bracket --cumulants x0", "cannot be used with"),
        ("fit t.csv -o o.json --component-history c.csv", "--component-history belongs to --engine mixture"),
        (
            "fit t.csv -o o.json --learner factorized --clamped-engine tap",
            "--clamped-engine belongs to --learner likelihood",
        ),
        ("fit t.csv -o o.json --engine mixture --component-history o.json", "name the same file"),
        ("fit t.csv -o o.json --engine mixture --component-history c.csv --inputs a", "without inputs"),
    ] {
        let output = room.run(arguments);
        let note = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments}: {note}");
        assert!(note.contains(message), "{arguments}: {note}");
    }
}
